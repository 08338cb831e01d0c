"""The programs: what a forecast and a post-processing job ask for, one thing after another, on any clock."""

import threading
from collections.abc import Callable, Generator
from typing import Any, NamedTuple

from kernels.files.paced import Channel, channels
from kernels.files.replay.problem import Problem


class Post(NamedTuple):
    """One post-processing job; times in seconds from the start."""

    job: int  # whose write-up it took
    worker: int  # who did it
    begin: float
    end: float


#: What a program asks of its worker: be busy for so many seconds, wait until a time, take a post-processing job.
BUSY, UNTIL, TAKE = range(3)
Asked = tuple[int, float]
Running = Generator[Asked, Any, None]


class Site:
    """Devices, files and queue that the programs share, on a clock."""

    def __init__(self, problem: Problem, clock: Callable[[], float]):
        self.problem, self.clock, self.lock = problem, clock, threading.Condition()
        self.devices = {each.name: channels(each, problem.scale) for each in problem.devices}
        self.bands: dict[tuple[int, int, int], tuple[int, float]] = {}  # job, file, band: step, and when it is written
        self.waiting: list[tuple[int, int]] = []
        self.open = len(problem.jobs)
        self.steps: list[list[float]] = [[] for _ in problem.jobs]
        self.ends, self.wrong = [0.0] * self.open, [0] * self.open
        self.posts: list[Post] = []

    def ask(self, device: str, number: int, words: float) -> float:
        """A request of a band to channel ``number`` of a device: when it will be done."""
        found = self.devices[device]
        channel: Channel = found[number % len(found)]
        with self.lock:
            return channel.serve(self.clock(), words, self.problem.program.rows // self.problem.program.bands)

    def move(self, n: int, step: int, band: int, reading: bool) -> float:
        """Read or write one band of the work files of job ``n``: when that will be done."""
        job, words = self.problem.jobs[n], self.problem.program.words / self.problem.program.bands
        side = 0 if job.files == 1 else (step + (not reading)) % 2
        halves = max(1, job.files // 2)
        done = max(self.ask(job.device, 4 * n + halves * side + half, words / halves) for half in range(halves))
        if reading:
            found, written = self.bands.get((n, side, band), (0, 0.0))
            self.wrong[n] += found != step or written > self.clock()
        else:
            self.bands[n, side, band] = step + 1, done
        return done

    def put(self, n: int, number: int) -> None:
        """A write-up waits to be post-processed."""
        with self.lock:
            self.waiting.append((n, number))
            self.lock.notify_all()

    def end(self, n: int) -> None:
        """A forecast is done."""
        with self.lock:
            self.ends[n] = self.clock()
            self.open -= 1
            self.lock.notify_all()

    def taken(self) -> tuple[int, int] | None:
        """The next write-up, or None where none waits and none will come; whoever calls has seen to that."""
        return self.waiting.pop(0) if self.waiting else None


def _scan(site: Site, n: int, step: int) -> Running:
    """One step of a forecast."""
    problem, program = site.problem, site.problem.program
    job, up = problem.jobs[n], program.writing.get(step)
    cpu = program.step + job.system + program.radiation * (step in program.radiating)
    cpu += program.write_up * (up is not None)
    share, written, behind = cpu / program.bands / problem.scale, 0.0, 0.0
    ahead = site.move(n, step, 0, True)
    for band in range(program.bands):
        last = band + 1 == program.bands
        yield UNTIL, ahead
        if job.overlap != "none" and not last:
            ahead = site.move(n, step, band + 1, True)
        yield BUSY, share
        if up is not None:
            yield UNTIL, written
            written = site.ask(problem.output, 4 * n + up, program.written / program.bands)
        yield UNTIL, behind
        behind = site.move(n, step, band, False)
        if job.overlap != "both":
            yield UNTIL, behind
        if job.overlap == "none" and not last:
            ahead = site.move(n, step, band + 1, True)
    yield UNTIL, max(behind, written)


def _post(site: Site, worker: int, n: int, number: int) -> Running:
    """A post-processing job: each of its bands is read, computed, and written to the next channel."""
    problem, program = site.problem, site.problem.program
    words, share = program.post_words / 2 / program.bands, program.post / program.bands / problem.scale
    begin = site.clock()
    for _ in range(program.bands):
        yield UNTIL, site.ask(problem.output, 4 * n + number, words)
        yield BUSY, share
        yield UNTIL, site.ask(problem.output, 4 * n + number + 1, words)
    site.posts.append(Post(n, worker, begin, site.clock()))


def worker(site: Site, n: int) -> Running:
    """A forecast, and then post-processing jobs until there are none."""
    writing = site.problem.program.writing
    for step in range(site.problem.program.scans):
        begin = site.clock()
        yield from _scan(site, n, step)
        site.steps[n].append(site.clock() - begin)
        if step in writing:
            site.put(n, writing[step])
    site.end(n)
    while (found := (yield TAKE, 0.0)) is not None:
        yield from _post(site, n, *found)
