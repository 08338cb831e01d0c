"""``jsonschema``, imported without its checker of internationalised addresses.

Where the package ``rfc3987_syntax`` is installed, as JupyterLab has it installed, jsonschema builds its grammar at
import, which takes a second and a half of every process that reads a table.  No schema here asks for such an address.
"""

import sys

_GRAMMAR = "rfc3987_syntax"
_hidden = not {_GRAMMAR, "jsonschema"} & set(sys.modules)
if _hidden:
    sys.modules[_GRAMMAR] = None  # type: ignore[assignment]
try:
    import jsonschema
finally:
    if _hidden:
        del sys.modules[_GRAMMAR]

__all__ = ["jsonschema"]
