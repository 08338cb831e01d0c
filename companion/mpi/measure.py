"""Measuring on many ranks: the rules of :mod:`companion.bench`, agreed on by all of them.

Every rank takes part in every step.  A sample begins at a barrier and lasts until the slowest rank is
done; whatever depends on a clock is decided from numbers that all ranks share, or they would part ways.
Ranks that a case leaves out sleep meanwhile.
"""

import math
import time
from dataclasses import asdict
from typing import Any

from companion import bench
from companion.bench.sampling import QUIET, Deadline, OtherLoad, UnverifiedError, orders, shortest_sample
from companion.bench.statistics import trend
from companion.host import machine


class _Runner:
    """One case on this rank."""

    def __init__(self, case, world, seed):
        self.case, self.world, self.seed = case, world, seed
        self.team = world.team(case.problem.ranks)
        self.samples, self.observed, self.after = [], {}, []
        self.repeats, self.expected = 1, 0.0

    def _timed(self, repeats):
        """Seconds of the slowest rank, and this rank's result."""
        case = self.case
        self.team.Barrier()
        start = time.perf_counter()
        result = case.kernel.run(case.problem, self.state, threads=case.threads, repeats=repeats)
        return self.world.largest(self.team, time.perf_counter() - start), result

    def _verified(self, result, when) -> list[dict[str, Any]]:
        checks = self.case.kernel.verify(self.case.problem, result)
        found = self.world.share(self.team, [bench.plain(asdict(check)) for check in checks])
        wrong = [check for check in found if not check["ok"]]
        if not found or wrong:
            reason = (
                f"{wrong[0]['name']} is {wrong[0]['value']:.6g}, expected {wrong[0]['expected']:.6g}"
                if wrong
                else "no check"
            )
            raise UnverifiedError(f"{self.case.label}: {when} timing, {reason}; its time is not reported")
        return found

    def prepare(self, shortest):
        start = time.perf_counter()
        self.state = self.case.kernel.setup(self.case.problem, seed=self.seed)
        self.setup_s = self.world.largest(self.team, time.perf_counter() - start)
        self.compile_s, result = self._timed(1)
        self.before = self._verified(result, "before")
        for _ in range(40):
            self.expected = min(self._timed(self.repeats)[0] for _ in range(2 if self.expected < 0.2 else 1))
            if self.expected >= shortest:
                return
            growth = 1.3 * shortest / self.expected
            self.repeats = math.ceil(self.repeats * min(100.0, max(1.3, growth)))
        raise RuntimeError(f"{self.case.label}: {self.repeats} repeats are too short for the clock")

    def sample(self, final):
        seconds, result = self._timed(self.repeats)
        self.samples.append(seconds / self.repeats)
        if self.case.observe is not None:  # called by all ranks: it may ask the others
            for name, value in self.case.observe(result).items():
                self.observed.setdefault(name, []).append(float(value))
        if final:
            self.after = self._verified(result, "after")


class _Load:
    """CPUs of this host that nobody of the job kept busy."""

    def __init__(self, world, comm):
        self.world, self.comm, self.watch = world, comm, OtherLoad()
        self.hosts = world.describe(comm)["host_of_rank"]

    def value(self):
        before, now = self.watch._start, self.watch._read()
        wall, busy, mine, cpus = now[0] - before[0], now[1] - before[1], now[2] - before[2], now[3]
        ranks = self.world.gather(self.comm, mine)
        ours = sum(seconds for seconds, host in zip(ranks, self.hosts, strict=True) if host == self.hosts[0])
        return max(0.0, (busy - ours) / wall) if wall >= 0.2 else None, cpus

    def flags(self, other, cpus, ranks, threads):
        here = sum(host == self.hosts[0] for host in self.hosts[:ranks]) * threads
        found = {}
        if here > cpus:
            found["oversubscribed"] = f"{here} threads of {ranks} ranks share {cpus} CPUs of a host"
        if other is not None and other > QUIET + max(0, cpus - here):
            found["load"] = f"others kept {other:.2f} CPUs busy beside {here} threads on {cpus} usable CPUs"
        return found


def _measurement(runner, other, flags, cut):
    case = runner.case
    counted = case.kernel.work(case.problem, case.threads)
    change = trend(runner.samples)
    if change is not None:
        flags["drift"] = f"the samples move by {change:+.0%} from first to last"
    if cut:
        flags["budget"] = cut
    return bench.Measurement(
        case.label,
        getattr(case.kernel, "__name__", type(case.kernel).__name__),
        case.problem,
        case.threads,
        bench.plain({"ranks": case.problem.ranks, **case.parameters}),
        runner.setup_s,
        runner.compile_s,
        runner.repeats,
        runner.samples,
        {
            "flops": int(counted.flops),
            "bytes_read": int(counted.bytes_read),
            "bytes_written": int(counted.bytes_written),
            "parts": {name: int(value) for name, value in counted.parts},
        },
        runner.before,
        runner.after,
        flags,
        other,
        0,
        runner.observed,
    )


def measure(cases, world, rounds: int, seed: int, budget: float | None, tell) -> list:
    """Measurements of ``cases``, on rank 0; the other ranks get an empty list.

    Parameters
    ----------
    cases : sequence of companion.bench.Case
        Their problems have ``ranks``, at most those of the job.
    world : module
        ``kernels.mpi.world``.
    tell : callable
        Gets progress as dictionaries, on rank 0.

    Raises
    ------
    UnverifiedError, ValueError, MemoryError, OSError
        As :func:`companion.bench.measure`; the ranks end together.
    """
    comm = world.mpi().COMM_WORLD
    machine.require_threads(cases[0].threads if cases else 1)
    shortest = world.largest(comm, shortest_sample())
    runners = [_Runner(case, world, seed) for case in cases]
    total = len(runners) * (rounds + 1)
    done = 0

    def step(runner, action, *arguments):
        nonlocal done
        if runner.team is not None:
            action(*arguments)
        world.wait_aside(comm)
        done += 1
        if comm.rank == 0:
            tell({"done": done, "total": total})

    load, deadline, cut = _Load(world, comm), Deadline(budget), None
    for runner in runners:
        step(runner, runner.prepare, shortest)
    expected = sum(world.share(comm, [runner.expected for runner in runners]))
    for number, order in enumerate(orders(len(runners), rounds, seed), start=1):
        last = world.share(comm, number == rounds or deadline.last(expected))
        for index in order:
            step(runners[index], runners[index].sample, last)
        if last:
            cut = None if number == rounds else f"the time budget ended after {number} of {rounds} rounds"
            break
    other, cpus = load.value()
    if comm.rank:
        return []
    return [
        _measurement(runner, other, load.flags(other, cpus, runner.case.problem.ranks, runner.case.threads), cut)
        for runner in runners
    ]
