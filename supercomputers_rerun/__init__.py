"""Kernels, tables, claims and records under one name: ``from supercomputers_rerun.kernels import bt``.

In a wheel all folders lie inside this one.  In a checkout ``kernels``, ``data`` and ``notebooks`` lie beside it, and
the search path of this package, and of nothing else, has that place too.  (The link ``kernels`` here is for editors and
type checkers, which do not see this; where a system has no links, nothing is lost.)
"""

from pathlib import Path

#: The folder that holds ``kernels``, ``data`` and ``notebooks``: this one in a wheel, the one above in a checkout.
HOME = Path(__file__).resolve().parent
if not (HOME / "data").is_dir():
    HOME = HOME.parent
    __path__.append(str(HOME))
