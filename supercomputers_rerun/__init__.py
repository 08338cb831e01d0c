"""Kernels, tables, claims and records under one name: ``from supercomputers_rerun.kernels import bt``.

The modules import each other as ``kernels``, ``companion`` and ``peers``.  In a checkout these folders lie beside this
one, in a wheel inside it.  This package puts the folder that holds them first on the path, and leads its own names, as
``supercomputers_rerun.kernels.bt``, to the same module objects: nothing is imported, compiled or registered twice.
"""

import importlib.abc
import importlib.util
import sys
from pathlib import Path

_ROOMS = ("kernels", "companion", "peers")
_HERE = Path(__file__).resolve().parent
_HOME = _HERE if (_HERE / "kernels").is_dir() else _HERE.parent


class _Same(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads ``supercomputers_rerun.kernels.bt`` as the module ``kernels.bt``."""

    def find_spec(self, fullname, path=None, target=None):
        before, _, own = fullname.partition(".")
        found = importlib.util.find_spec(own) if before == __name__ and own.partition(".")[0] in _ROOMS else None
        package = found and found.submodule_search_locations is not None
        return found and importlib.util.spec_from_loader(fullname, self, origin=found.origin, is_package=package)

    def create_module(self, spec):
        module = importlib.import_module(spec.name.partition(".")[2])
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module):
        """It has run already; the import system has put another description on it, which goes."""
        module.__spec__ = module.__spec__.loader_state

    def get_code(self, fullname):
        """For ``python -m``."""
        own = fullname.partition(".")[2]
        return importlib.util.find_spec(own).loader.get_code(own)


sys.path.insert(0, str(_HOME))
for _room in _ROOMS:
    if str(_HOME) not in importlib.util.find_spec(_room).origin:
        raise ImportError(f"{_room} has been imported from another project; import {__name__} in another process")
sys.meta_path.insert(0, _Same())
