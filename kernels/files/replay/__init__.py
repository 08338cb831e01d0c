"""Programs of another machine replayed at its ratio of computing to moving, all of it faster by one factor.

A *forecast* goes through its steps.  Each step scans its work files in bands: a band is read, computed and written,
and with a driver that overlaps, the next band is read and the last one written meanwhile.  Some steps write up as
well: words go to the device for output, one band behind the computing, and a post-processing job joins a queue.  A
worker whose own forecast is done takes jobs from the queue, its own and those of others, until none will come.

Computing is a chain of multiply-adds that lasts until its thread has had as much CPU time as the problem says.
Devices are paced (``paced``): requests take the time that they are told to, one after another on each channel, and no
words move; every band bears the number of its step, by which reads find what was written.  Every worker is a thread
that wants a CPU.  What programs lose beside each other is not given: it comes from channels that are busy.

=======  =====================================================================================
overlap  what goes on while a band is computed
=======  =====================================================================================
none     nothing: reads and writes are waited for
one      the next band is read; writes are waited for
both     the next band is read, and the last one written
=======  =====================================================================================

``reference`` sends the same programs through a clock of its own, on which computing and devices take exactly their
time: what a host would show that has nothing else to do.
"""

import heapq
from dataclasses import dataclass
from typing import Any, NamedTuple

from kernels.contract import Check, Footprint, Work, require_range
from kernels.files.paced import Device, collisions
from kernels.files.replay.problem import Job, Problem, Program
from kernels.files.replay.programs import BUSY, TAKE, Post, Site, worker
from kernels.files.replay.workers import Going, links
from kernels.proof import Proof
from kernels.runtime.resources import require_memory, require_threads

__all__ = ["Device", "Job", "Post", "Problem", "Program", "Result", "State", "footprint", "reference", "run", "setup"]
__all__ += ["verify", "work"]

#: Bytes that a request leaves in the logs of its channel and its trunk.
LOGGED = 400


class State(NamedTuple):
    """What the host was found to be."""

    links: int  # of the chain, in a piece of computing


@dataclass(frozen=True)
class Result:
    """What all of it did and took; times in seconds of the replay, from the start."""

    scans: tuple[int, ...]  # of each job
    wrong: tuple[int, ...]  # bands of each job that were read before they were written, or of another step
    posted: tuple[int, ...]  # write-ups of each job that were post-processed
    words: tuple[float, ...]  # of each device
    requests: tuple[int, ...]  # of each device
    collisions: tuple[int, ...]  # of each device: requests that a channel or a trunk served at once
    ends: tuple[float, ...]  # of each forecast
    steps: tuple[tuple[float, ...], ...]  # of each forecast, what each of its steps took
    net: tuple[float, ...]  # of each forecast, the steps that write nothing up
    posts: tuple[Post, ...]  # in the order in which they ended
    complete: float  # until the last is done


def _result(site: Site) -> Result:
    problem, found = site.problem, list(site.devices.values())
    posted = tuple(sum(post.job == n for post in site.posts) for n in range(len(problem.jobs)))
    clashes = []
    for each in found:
        trunks = {id(channel.trunk): channel.trunk for channel in each if channel.trunk is not None}
        spans = [channel.served for channel in each] + [trunk.passed for trunk in trunks.values()]
        clashes.append(sum(map(collisions, spans)))
    return Result(
        tuple(map(len, site.steps)),
        tuple(site.wrong),
        posted,
        tuple(sum(channel.words for channel in each) for each in found),
        tuple(sum(channel.requests for channel in each) for each in found),
        tuple(clashes),
        tuple(site.ends),
        tuple(map(tuple, site.steps)),
        tuple(sum(took for n, took in enumerate(steps) if n not in problem.program.writing) for steps in site.steps),
        tuple(site.posts),
        max(site.ends + [post.end for post in site.posts]),
    )


def _bands(problem: Problem) -> int:
    """Requests of bands of all jobs, posts included."""
    program, each = problem.program, 3 * problem.program.write_ups
    return program.bands * sum(2 * program.scans * max(1, job.files // 2) + each for job in problem.jobs)


def footprint(problem: Problem) -> Footprint:
    """Logs of the channels."""
    return Footprint(LOGGED * _bands(problem))


def setup(problem: Problem, seed: int = 0) -> State:
    """How many links of the chain last as long as a piece of computing; the best of a few (``seed`` is not used).

    ``MemoryError`` if memory cannot hold the logs.
    """
    require_memory(footprint(problem).memory, "the logs of the replay")
    return State(links())


def run(problem: Problem, state: State, threads: int = 1, repeats: int = 1) -> Result:
    """All jobs at once, ``repeats`` times; times of the last.  Every job is a thread, whatever ``threads`` says.

    ``ValueError`` if ``threads`` or ``repeats`` is out of range.
    """
    require_threads(threads)
    require_range("repeats", repeats, 1, 2**40)
    for _ in range(repeats - 1):
        Going(problem, state.links).run()
    return _result(Going(problem, state.links).run())


def reference(problem: Problem, state: State | None = None) -> Result:
    """The same programs on a clock of their own, where everything takes exactly its time; one CPU for each."""
    now = [0.0]
    site = Site(problem, lambda: now[0])
    running = [worker(site, n) for n in range(len(problem.jobs))]
    due: list[tuple[float, int, Any]] = [(0.0, n, None) for n in range(len(running))]
    parked: list[int] = []
    while due:
        now[0], n, given = heapq.heappop(due)
        try:
            kind, amount = running[n].send(given)
        except StopIteration:
            continue
        if kind == TAKE:
            parked.append(n)
        else:
            heapq.heappush(due, (now[0] + amount if kind == BUSY else max(now[0], amount), n, None))
        while parked and (site.waiting or not site.open):
            heapq.heappush(due, (now[0], parked.pop(0), site.taken()))
    return _result(site)


def _expected_counts(problem: Problem) -> dict[str, tuple[float, int]]:
    """Words and requests of each device, from the algorithm."""
    program = problem.program
    found = {device.name: (0.0, 0) for device in problem.devices}
    for job in problem.jobs:
        for name, words, passes in (
            (job.device, 2 * program.scans * program.words, 2 * program.scans * max(1, job.files // 2)),
            (problem.output, program.write_ups * (program.written + program.post_words), 3 * program.write_ups),
        ):
            found[name] = found[name][0] + words, found[name][1] + passes * program.rows
    return found


def verify(problem: Problem, result: Result) -> list[Check]:
    """All was done, each band read as it was written, one request at a time; no CPU was faster than it may be."""
    program, checks = problem.program, []
    for n in range(len(problem.jobs)):
        for what, found, due in (
            ("steps", result.scans[n], program.scans),
            ("bands read too early or of another step", result.wrong[n], 0),
            ("write-ups post-processed", result.posted[n], program.write_ups),
        ):
            checks.append(Check.near(f"job {n}: {what}", found, due, 0))
        cpu = (program.cpu + program.scans * problem.jobs[n].system) / problem.scale
        late = 0.99 * cpu <= result.ends[n] <= result.complete
        checks.append(Check(f"job {n}: ends no earlier than it can have computed", result.ends[n], cpu, 0.0, late))
    for n, (name, (words, requests)) in enumerate(_expected_counts(problem).items()):
        checks.append(Check.near(f"{name}: words", result.words[n], words, 1e-9 * words))
        checks.append(Check.near(f"{name}: requests", result.requests[n], requests, 0))
        checks.append(Check.near(f"{name}: requests served at once", result.collisions[n], 0, 0))
    return checks


NO_OUTPUT = dict.fromkeys(("ends", "steps", "net", "posts", "complete"), "seconds that were measured")


def work(problem: Problem, threads: int = 1) -> Work:
    """The numbers that bands bear, which are read and written; no words move."""
    each = 8 * len(problem.jobs) * problem.program.scans * problem.program.bands
    return Work(0, each, each)


PROOF = Proof(not_compared=("ends", "steps", "net", "posts", "complete"))  # times are the host's
