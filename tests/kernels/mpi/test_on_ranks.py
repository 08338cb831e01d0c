"""Every program answers rightly on 1, 2, 3 and 4 ranks, with every MPI library that is installed here.

All problems share one job a library: starting ranks takes longer than these problems.
"""

import functools
import json
from pathlib import Path

import pytest

from companion.experiments import Unavailable
from companion.mpi import launch, libraries, library

SCRIPT = str(Path(__file__).with_name("on_ranks.py"))
PROBLEMS = [
    *[("exchange", {"bytes": 4096, "ranks": ranks}) for ranks in (2, 4)],
    ("exchange", {"bytes": 2**20, "ranks": 2}),
    *[("transposition", {"T": 21, "grid": "N32", "fields": 5, "ranks": ranks}) for ranks in (1, 2, 3, 4)],
    ("transposition", {"T": 21, "grid": "F16", "fields": 4, "ranks": 4, "across": 4}),
    ("transposition", {"T": 21, "grid": "O16", "fields": 3, "ranks": 3, "across": 3}),
]


@functools.cache
def answers(name):
    """What rank 0 told of each problem, from one job of four ranks."""
    try:
        library(name)
    except Unavailable as error:
        pytest.skip(str(error))
    told = launch([SCRIPT, json.dumps(PROBLEMS)], 4, timeout=240, name=name)
    return {json.dumps([entry["kernel"], entry["fields"]]): entry["checks"] for entry in told}


@pytest.mark.parametrize("name", ["MPICH", "Open MPI"])
@pytest.mark.parametrize(
    "problem", PROBLEMS, ids=lambda problem: f"{problem[0]}-{'-'.join(map(str, problem[1].values()))}"
)
def test_every_check_holds(name, problem):
    if not libraries():
        pytest.skip("no MPI is installed; install the extra mpi")
    checks = answers(name)[json.dumps(list(problem))]
    assert checks
    assert [check for check in checks if not check[3]] == []
