"""Messages in C beside ours: one job, the same buffers, the same answers."""

import pytest

from companion.bench.sampling import OtherLoad
from companion.mpi import libraries
from peers import Absent, mpi
from peers.kit import compiled

SMALL = [
    ("exchange", 4096, "4,096 bytes", ["exchange", {"bytes": 4096, "ranks": 2}]),
    (
        "transposition",
        2**16,
        "T21",
        ["transposition", {"truncation": 21, "grid": "F16", "fields": 3, "ranks": 2, "across": 2}],
    ),
    ("transposition", 2**16, "T15", ["transposition", {"truncation": 15, "grid": "F16", "fields": 3, "ranks": 2}]),
]
CAN = [library for library in libraries() if not mpi._lack(library)]
EACH = [pytest.param(each, id=each.name, marks=[pytest.mark.weekly] * (number > 0)) for number, each in enumerate(CAN)]


def test_one_processor_has_nobody_to_send_to():
    (item,) = mpi.comparisons(1)
    assert isinstance(item, Absent) and "two ranks" in str(item)


@pytest.mark.parametrize("library", EACH)
def test_both_sides_bring_every_value_and_what_ranks_used_is_ours(library, monkeypatch):
    """A launcher that is made to end leaves its ranks' CPU time to nobody, and a record then counts it as others'."""
    load, used, groups = OtherLoad(), [], []
    before = load.ours()

    class Job(mpi._Job):
        def __exit__(self, *exception):
            used.append(sum(sum(process.cpu_times()[:2]) for process in self.group.members()))
            super().__exit__(*exception)
            assert self.group.process.returncode == 0

    monkeypatch.setattr(mpi, "_Job", Job)
    monkeypatch.setattr(mpi, "libraries", lambda: (library,))
    monkeypatch.setattr(mpi, "_problems", lambda ranks: iter(SMALL))
    for comparison in mpi.comparisons(2):
        assert len(comparison.peers) == len(compiled.compilers())
        for peer in comparison.peers.values():
            assert comparison.ours() == peer() == 0
            assert comparison.ours(repeats=3) == peer(repeats=3) == 0
        groups.append(comparison.group)
    assert groups[0].startswith("exchange") and groups[0].endswith("shorter messages")
    assert groups[1].startswith("transposition") and groups[1].endswith("64 KiB and more")
    assert used[0] > 0 and load.ours() - before > 0.9 * used[0]
    said = mpi.versions()
    assert len(said) == len(set(said.values())) == len(compiled.compilers())
