"""What the engine does on ranks, with a communicator that is not there; real ones run in ``test_launcher.py``."""

from collections import namedtuple
from types import SimpleNamespace

import pytest

from supercomputers_rerun.companion import bench
from supercomputers_rerun.companion.bench import Case, measure
from supercomputers_rerun.companion.mpi.ranks import Ranks

Problem = namedtuple("Problem", "n ranks")


class World:
    """``kernels.mpi.world`` as rank 0 of three sees it: two ranks on its host, the third on another."""

    def __init__(self):
        self.said, self.waits = [], 0
        self.comm = SimpleNamespace(rank=0, size=3, Barrier=lambda: None)

    def mpi(self):
        return SimpleNamespace(COMM_WORLD=self.comm)

    def describe(self, comm):
        return {"host_of_rank": [0, 0, 1]}

    def team(self, ranks):
        return None if ranks == 0 else self.comm  # 0: a case that this rank has no part in

    def broadcast(self, comm, value):
        return value

    def gather(self, comm, value):
        return [value, [7], [9]] if isinstance(value, list) else [value, value + 20.0, 1e6]

    def largest(self, comm, value):
        return 2 * value  # another rank takes twice as long

    def wait_aside(self, comm):
        self.waits += 1


def test_a_sample_is_that_of_the_slowest_rank(toy):
    world = World()
    cases = [Case(f"{n}", toy, Problem(100 + n, ranks=3), parameters={"n": n}) for n in range(2)]
    by = Ranks(world)
    found = measure(cases, rounds=2, by=by)
    assert [m.parameters for m in found] == [{"ranks": 3, "n": 0}, {"ranks": 3, "n": 1}]
    assert [len(m.samples) for m in found] == [2, 2] and all(m.checks_after for m in found)
    assert world.waits == 8
    assert by.clock(cases[0], lambda _: "result", 1)[1] == "result"


def test_a_rank_without_a_part_in_a_case_waits_and_does_nothing(toy):
    world = World()
    by = Ranks(world)
    with by.steps(5):
        by.step(SimpleNamespace(case=SimpleNamespace(problem=SimpleNamespace(ranks=0))), pytest.fail, "took part")
    assert world.waits == 1


def test_other_ranks_of_the_host_are_not_others(monkeypatch):
    monkeypatch.setattr(bench.OtherLoad, "ours", lambda self: 3.0)
    monkeypatch.setattr(bench.OtherLoad, "usable", lambda self: [3, 4])
    load = Ranks(World()).load()
    assert load.ours() == 3.0 + 23.0
    assert load.usable() == [3, 4, 7]  # each rank may be bound to CPUs of its own


def test_more_threads_than_cpus_are_flagged(monkeypatch):
    monkeypatch.setattr("supercomputers_rerun.companion.mpi.ranks.host.usable_cpus", lambda: 2)
    by = Ranks(World())
    case = SimpleNamespace(problem=SimpleNamespace(ranks=3), threads=1)
    assert by.described(case) == ({"ranks": 3}, {})  # two of the three are here
    case.threads = 2
    assert by.described(case)[1]["oversubscribed"] == "4 threads of 3 ranks share 2 CPUs of a host"
