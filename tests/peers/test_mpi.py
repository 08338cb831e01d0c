"""Messages in C beside ours: one job, the same buffers, the same answers."""

import pytest

from supercomputers_rerun.companion import host
from supercomputers_rerun.peers import Absent, mpi
from supercomputers_rerun.peers.kit import compiled


def test_one_processor_has_nobody_to_send_to():
    (item,) = mpi.comparisons(1)
    assert isinstance(item, Absent) and "two ranks" in str(item)


@pytest.mark.skipif(not host.mpi().ok or mpi._lack() is not None, reason="no MPI with a compiler is installed here")
def test_both_sides_bring_every_word(monkeypatch):
    monkeypatch.setattr(mpi, "SIZES", (4096, 2**16))
    groups = []
    for comparison in mpi.comparisons(2):
        assert len(comparison.peers) == len(compiled.compilers())
        for peer in comparison.peers.values():
            assert comparison.ours() == peer() == 0
            assert comparison.ours(repeats=3) == peer(repeats=3) == 0
        groups.append(comparison.group)
    assert groups == ["exchange, shorter messages", "exchange, 64 KiB and more"]
    assert len(set(mpi.versions().values())) == len(compiled.compilers())
