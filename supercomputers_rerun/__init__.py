"""Kernels, tables, claims and records under one name: ``from supercomputers_rerun.kernels import bt``.

In a wheel the folders lie in this package and their imports carry its name (``setup.py``).  In a checkout, and so in an
editable install, they stand beside it as packages of their own; there this name leads to the same module objects, so
that nothing is imported, compiled or registered twice.
"""

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from pathlib import Path

_HERE = Path(__file__).resolve().parent
_FOLDERS = ("kernels", "companion", "peers")


class _Same(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds ``supercomputers_rerun.kernels.bt`` as the module ``kernels.bt``."""

    @staticmethod
    def _own(name: str) -> str:
        """The name that a module has in a checkout."""
        return name.partition(".")[2]

    def find_spec(self, fullname, path=None, target=None):
        own = self._own(fullname)
        if not fullname.startswith(f"{__name__}.") or own.partition(".")[0] not in _FOLDERS:
            return None
        found = importlib.util.find_spec(own)
        if found is None:
            return None
        if found.origin and _HERE.parent not in Path(found.origin).resolve().parents:
            raise ImportError(
                f"{own} is {found.origin}, of another project; take it off the path, or install the wheel of this one"
            )
        spec = importlib.machinery.ModuleSpec(fullname, self, origin=found.origin)
        spec.submodule_search_locations = found.submodule_search_locations
        return spec

    def create_module(self, spec):
        module = importlib.import_module(self._own(spec.name))
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module):
        """It has run already; the import system has put its own description on it, which goes."""
        module.__spec__ = module.__spec__.loader_state

    def get_code(self, fullname):
        """For ``python -m``."""
        found = importlib.util.find_spec(self._own(fullname))
        return found.loader.get_code(self._own(fullname))


if not (_HERE / "kernels").is_dir():
    sys.meta_path.insert(0, _Same())
