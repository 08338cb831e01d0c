"""The MPI libraries of this machine as parameters of tests: the first every day, the others weekly."""

import pytest

from companion.mpi import libraries

NAMES = [entry.name for entry in libraries()]
EACH = [pytest.param(name, marks=[pytest.mark.weekly] if number else []) for number, name in enumerate(NAMES)]
