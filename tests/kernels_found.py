"""Every kernel of the package, found by its words, and a small problem of each."""

import importlib
import os
import pkgutil
from dataclasses import replace

import pytest

from supercomputers_rerun import kernels


def _kernels():
    """Every module or package below ``kernels`` with a Problem that it runs; rooms of a kernel are none, but
    ``ranks``, the same work over MPI."""
    found = {}
    for entry in pkgutil.walk_packages(kernels.__path__, f"{kernels.__name__}."):
        short = entry.name.removeprefix("supercomputers_rerun.")
        if short.endswith(".ranks") or not any(short.startswith(f"{name}.") for name in found):
            module = importlib.import_module(entry.name)
            if hasattr(module, "Problem") and hasattr(module, "run"):
                found[short] = module
    return found


KERNELS = _kernels()
#: Changes of the preset ``quick`` where the reference, slow and obvious, would take long.
SMALLER = {
    "kernels.gridpoint": {"ni": 32, "nj": 12, "files": 2},
    # not the jet, which truncation 21 resolves too coarsely to conserve its energy
    "kernels.shallow_water": {
        "case": "williamson5",
        "truncation": 21,
        "grid": "F32",
        "hours": 3.0,
        "dt": 1200.0,
        "output": 1.0,
    },
    "kernels.spectral": {"truncation": 63, "grid": "N32", "fields": 9},
    "kernels.routines.cloud": {"columns": 200},
    "kernels.analysis": {"ni": 24, "nj": 16, "sondes": 80, "aircraft": 20},
    # their presets bind threads as the report did, which some systems cannot
    "kernels.processor.product": {"binding": hasattr(os, "sched_setaffinity")},
    "kernels.processor.smt": {"binding": hasattr(os, "sched_setaffinity")},
}
every_kernel = pytest.mark.parametrize("name", KERNELS)
#: Kernels of one process; those with ``ranks`` run under mpiexec, and tests/kernels/mpi runs them there.
SINGLE = [name for name in KERNELS if not hasattr(KERNELS[name].Problem, "ranks")]
every_single = pytest.mark.parametrize("name", SINGLE)


def small(name, folder):
    problem = KERNELS[name].Problem.preset("quick", **SMALLER.get(name, {}))
    return replace(problem, folder=str(folder)) if hasattr(problem, "folder") else problem
