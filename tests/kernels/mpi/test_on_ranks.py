"""Every program answers rightly on 1, 2, 3 and 4 ranks, with every MPI library that is installed here.

Problems share jobs of one library: starting ranks takes longer than these problems.
"""

import functools
import json
from pathlib import Path

import pytest

from companion.experiments import Unavailable
from companion.mpi import launch, libraries, library

SCRIPT = str(Path(__file__).with_name("on_ranks.py"))
PROBLEMS = [
    *[("mpi.exchange", {"bytes": 4096, "ranks": ranks}) for ranks in (2, 4)],
    ("mpi.exchange", {"bytes": 2**20, "ranks": 2}),
    *[("mpi.transposition", {"truncation": 21, "grid": "N32", "fields": 5, "ranks": ranks}) for ranks in (1, 2, 3, 4)],
    ("mpi.transposition", {"truncation": 21, "grid": "F16", "fields": 4, "ranks": 4, "across": 4}),
    ("mpi.transposition", {"truncation": 21, "grid": "O16", "fields": 3, "ranks": 3, "across": 3}),
    *[
        ("files.ranks.groups", {"N": 12, "ranks": ranks, "group": group})
        for ranks, group in ((1, 0), (2, 1), (3, 2), (4, 0))
    ],
    *[
        ("files.ranks.groups", {"N": 9, "ranks": ranks, "way": way})
        for ranks, way in ((1, "collective"), (4, "collective"), (3, "independent"), (2, "elements"), (4, "per-rank"))
    ],
    *[("spectral.ranks", {"truncation": 31, "grid": "F24", "fields": 3, "ranks": ranks}) for ranks in (1, 2, 3, 4)],
    *[
        ("shallow_water.ranks", {"truncation": 21, "grid": "F16", "steps": 6, "output": 3, "ranks": n})
        for n in (1, 2, 3, 4)
    ],
    *[
        ("mpi.overlap", {"truncation": 21, "grid": "F16", "fields": 6, "groups": 3, "ranks": ranks, "way": way})
        for ranks, way in ((1, "ialltoallv"), (2, "progress"), (3, "ialltoallv"), (4, "alltoallv"))
    ],
    *[
        ("mpi.halo", {"grid": "N32", "levels": 2, "ranks": ranks, "way": way})
        for ranks, way in ((1, "on demand"), (2, "fixed"), (3, "part 2 on demand"), (4, "on demand"))
    ],
    *[
        ("mpi.monitoring", {"steps": 16, "period": 8, "ranks": ranks, "way": way})
        for ranks, way in ((1, "none"), (2, "synchronised"), (4, "drifted"))
    ],
    *[("bt.ranks", {"N": 12, "NS": 60, "dt": 0.01, "ranks": ranks}) for ranks in (1, 2, 3, 4)],
    *[("files.ranks.application", {"ranks": 1, "way": way}) for way in ("none", "elements")],
    *[
        ("files.ranks.application", {"N": 8, "NS": 6, "IW": 2, "ranks": ranks, "way": way})
        for ranks, way in ((2, "collective"), (3, "independent"), (4, "per-rank"))
    ],
    ("spectral.ranks", {"truncation": 42, "grid": "N32", "fields": 5, "ranks": 4, "across": 2}),
]
#: What takes longer.
LARGER = [
    ("bt.ranks", {"N": 24, "NS": 200, "dt": 0.0008, "ranks": 2}),
    *[
        ("files.ranks.application", {"ranks": ranks, "way": way})
        for ranks, way in ((2, "collective"), (3, "independent"), (4, "per-rank"))
    ],
]


@functools.cache
def answers(name, larger):
    """What rank 0 told of each problem, or why there was none: from a job of one rank for the problems of one, which
    compiles what the four ranks of the other would compile at once, each for itself."""
    try:
        library(name)
    except Unavailable as error:
        pytest.skip(str(error))
    jobs = {1: [], 4: []}
    for problem in LARGER if larger else PROBLEMS:
        jobs[1 if problem[1]["ranks"] == 1 else 4].append(problem)
    try:
        told = [
            each
            for ranks, given in jobs.items()
            if given
            for each in launch([SCRIPT, json.dumps(given)], ranks, timeout=400, name=name)
        ]
    except Exception as error:  # kept, or the job would start again for each problem
        return error
    return {json.dumps([entry["kernel"], entry["fields"]]): entry["checks"] for entry in told}


@pytest.mark.parametrize("name", ["MPICH", pytest.param("Open MPI", marks=pytest.mark.weekly)])
@pytest.mark.parametrize(
    "problem",
    [*PROBLEMS, *(pytest.param(problem, marks=pytest.mark.weekly) for problem in LARGER)],
    ids=lambda problem: f"{problem[0]}-{'-'.join(map(str, problem[1].values()))}",
)
def test_every_check_holds(name, problem):
    if not libraries():
        pytest.skip("no MPI is installed; install the extra mpi")
    told = answers(name, problem in LARGER)
    if isinstance(told, Exception):
        raise told
    checks = told[json.dumps(list(problem))]
    assert checks
    assert [check for check in checks if not check[3]] == []
