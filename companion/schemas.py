"""``jsonschema``, imported without its checker of internationalised addresses.

Where the package ``rfc3987_syntax`` is installed, as JupyterLab has it installed, jsonschema builds its grammar at
import, which takes a second and a half of every process that reads a table.  No schema here asks for such an address.
"""

import sys

sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
import jsonschema  # noqa: E402

__all__ = ["jsonschema"]
