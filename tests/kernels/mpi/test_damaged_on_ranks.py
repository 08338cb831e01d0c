"""A number that is wrong on one rank of two fails ``verify`` on every rank, or the page says why not."""

import json
import secrets
from pathlib import Path

import damaged_results
import pytest
from cases import tried

from companion.mpi import launch, libraries

SCRIPT = str(Path(__file__).with_name("damaged_on_ranks.py"))
PROBLEMS = [
    ("mpi.exchange", {"bytes": 4096}),
    ("mpi.transposition", {"truncation": 21, "grid": "N32", "fields": 5}),
    ("spectral.ranks", {"truncation": 31, "grid": "F24", "fields": 3}),
    ("spectral.ranks", {"truncation": 31, "grid": "N32", "fields": 3}),
    ("shallow_water.ranks", {"truncation": 21, "grid": "F16", "steps": 6}),
    ("mpi.overlap", {"truncation": 21, "grid": "F16", "fields": 6, "groups": 3, "way": "progress"}),
    ("mpi.halo", {"grid": "N32", "levels": 2, "way": "on demand"}),
    ("bt.ranks", {"N": 12, "NS": 60, "dt": 0.01}),
    ("files.ranks.application", {"way": "none"}),
]


@pytest.mark.parametrize("places", [1, pytest.param(3, marks=pytest.mark.weekly)])
def test_every_damaged_number_is_noticed(places):
    if not libraries():
        pytest.skip("no MPI is installed; install the extra mpi")
    given = [(name, {**fields, "ranks": 2}) for name, fields in PROBLEMS]
    seed = secrets.randbits(32)
    told = launch([SCRIPT, json.dumps(given), str(seed), str(places)], 2, timeout=400)
    tried(sum(each["tried"] for each in told))
    assert len(told) == len(PROBLEMS)
    assert [f"{each['kernel']}: {taken}" for each in told for taken in each["taken"]] == [], f"seed {seed}"
    # the least is one array of whole numbers, in exchange and halo: of a zero only the smallest change is one
    assert all(each["tried"] >= places for each in told)


@pytest.mark.parametrize("name", sorted(set(damaged_results.KERNELS) - set(damaged_results.SINGLE)))
def test_the_page_says_what_is_not_noticed(name):
    assert damaged_results.printed(name) == damaged_results.reasons(name, damaged_results.undamaged(name))
