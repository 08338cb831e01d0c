"""The MPI libraries of this machine as parameters of tests: the first every day, the others weekly."""

import time

import psutil
import pytest

from companion.mpi import libraries

NAMES = [entry.name for entry in libraries()]
EACH = [pytest.param(name, marks=[pytest.mark.weekly] if number else []) for number, name in enumerate(NAMES)]


def gone(pid: int) -> bool:
    """Whether a process has ended; one that nobody has waited for yet has."""
    for _ in range(100):
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.05)
    return False
