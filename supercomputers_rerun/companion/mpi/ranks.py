"""The processes of a job to the engine of :mod:`companion.bench`, which samples what all of them do together.

Every rank takes part in every step.  A sample begins at a barrier and lasts until the slowest rank is
done; whatever depends on a clock is decided from numbers that all ranks share, or they would part ways.
Ranks that a case leaves out sleep meanwhile.
"""

from typing import Any

from supercomputers_rerun.companion import host
from supercomputers_rerun.companion.bench import Alone, OtherLoad, timed


class Ranks(Alone):
    """The ranks of a job; ``world`` is ``kernels.mpi.world``.

    An error on any rank is one of that rank alone: who catches it has to end the others.
    """

    def __init__(self, world):
        super().__init__(progress=False)
        self.world, self.comm = world, world.mpi().COMM_WORLD
        self.hosts = world.describe(self.comm)["host_of_rank"]
        self.reports = self.comm.rank == 0

    def step(self, sampler, action, *arguments):
        if self.world.team(sampler.case.problem.ranks) is not None:
            action(*arguments)
        self.world.wait_aside(self.comm)
        self.advance()

    def clock(self, case, call, repeats):
        team = self.world.team(case.problem.ranks)
        team.Barrier()
        seconds, result = timed(call, repeats)
        return self.world.largest(team, seconds), result

    def shared(self, case, value):
        return self.world.broadcast(self.world.team(case.problem.ranks), value)

    def decided(self, value):
        return self.world.broadcast(self.comm, value)

    def load(self):
        return _Load(self)

    def memory(self):
        return None

    def described(self, case) -> tuple[dict[str, Any], dict[str, str]]:
        ranks, cpus = case.problem.ranks, host.usable_cpus()
        here = case.threads * sum(host == self.hosts[0] for host in self.hosts[:ranks])
        text = f"{here} threads of {ranks} ranks share {cpus} CPUs of a host"
        return {"ranks": ranks}, {"oversubscribed": text} if here > cpus else {}


class _Load(OtherLoad):
    """CPUs of this host that nobody of the job kept busy; all ranks read at once."""

    def __init__(self, ranks: Ranks):
        self.ranks = ranks
        super().__init__()

    def _of_host(self, value) -> list:
        """The values of all ranks of this host."""
        hosts, found = self.ranks.hosts, self.ranks.world.gather(self.ranks.comm, value)
        return [each for each, host in zip(found, hosts, strict=True) if host == hosts[self.ranks.comm.rank]]

    def usable(self) -> list[int]:  # launchers bind each rank to CPUs of its own
        return sorted(set().union(*self._of_host(super().usable())))

    def ours(self) -> float:
        return sum(self._of_host(super().ours()))
