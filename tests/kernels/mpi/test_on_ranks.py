"""Every program answers rightly on 1, 2, 3 and 4 ranks, and notices a wrong number on one of two."""

import json
from pathlib import Path

import pytest

from supercomputers_rerun.companion import host
from supercomputers_rerun.companion.mpi import launch
from supercomputers_rerun.kernels.mpi import overlap
from supercomputers_rerun.kernels.runtime import resources

SCRIPT = str(Path(__file__).with_name("on_ranks.py"))
SMALL = {
    "mpi.exchange": {"bytes": 4096},
    "mpi.overlap": {"truncation": 21, "grid": "F16", "fields": 6, "groups": 3, "way": "ialltoallv"},
    "mpi.halo": {"grid": "N32", "levels": 2, "way": "on demand"},
    "mpi.monitoring": {"steps": 16, "period": 8, "way": "drifted"},
    "spectral.ranks": {"truncation": 31, "grid": "F24", "fields": 3},
    "shallow_water.ranks": {"truncation": 21, "grid": "F16", "steps": 6, "output": 3},
    "bt.ranks": {"N": 12, "NS": 60, "dt": 0.01},
    "files.ranks": {"N": 8, "NS": 6, "IW": 2, "way": "collective"},
}
#: Other ways and shapes, each on the number of ranks where it differs.
MORE = {
    1: [],
    2: [
        ("spectral.ranks", {"grid": "N32"}),
        ("mpi.halo", {"way": "fixed"}),
        ("mpi.monitoring", {"way": "synchronised"}),
        ("mpi.monitoring", {"way": "drifting"}),
        ("files.ranks", {"way": "elements"}),
    ],
    3: [
        ("spectral.ranks", {"truncation": 21, "grid": "O16"}),
        ("mpi.halo", {"way": "part 2 on demand"}),
        ("files.ranks", {"way": "independent"}),
    ],
    4: [
        ("bt.ranks", {"layout": "slabs"}),
        ("mpi.overlap", {"way": "alltoallv"}),
        ("spectral.ranks", {"truncation": 42, "grid": "N32", "fields": 5}),
    ],
}


@pytest.mark.skipif(not host.mpi().ok, reason="no MPI is installed; install the extra mpi")
@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_every_program_answers_rightly_and_notices_damage(ranks):
    """One job; that of one rank comes first and compiles what the others would compile at once, each for itself."""
    legal = [name for name in SMALL if name != "mpi.exchange" or ranks % 2 == 0]
    problems = [(name, {**SMALL[name], "ranks": ranks}, ranks == 2) for name in legal]
    problems += [(name, {**SMALL[name], **other, "ranks": ranks}, False) for name, other in MORE[ranks]]
    told = launch([SCRIPT, json.dumps(problems)], ranks)
    assert len(told) == len(problems)
    assert [each for each in told if each["found"]] == []


def test_the_truncations_of_the_talk_are_refused_where_memory_does_not_hold_them(monkeypatch):
    monkeypatch.setattr(resources, "available_memory", lambda: 2**34)
    for truncation, grid, least in ((1198, "N640", 2.9e9), (2047, "N1024", 13.4e9)):
        problem = overlap.Problem(truncation, grid, fields=64, groups=8, ranks=1)
        assert overlap.footprint(problem).memory > least  # the Legendre functions alone
    with pytest.raises(MemoryError, match=r"share of T2047 needs 26.28 GiB of memory, 16.00 GiB are available"):
        overlap.setup(problem)
