"""A team of threads that start together, each on a CPU of its own where that is asked for.

Compiled kernels release the interpreter lock, so plain threads run them side by side.  Creating and joining a thread
costs about 0.1 ms: :func:`run_team` wants work for 10 ms, :func:`run_parts`, whose threads stay, for one.
"""

import os
import threading
from collections.abc import Callable, Sequence
from functools import cache, wraps

from kernels.runtime.resources import affinity_cpus, require_threads


class Team:
    """Threads that wait between calls, for work too short to create threads for each time.

    ``run(work)`` does ``work(0) … work(threads − 1)``, the caller being member 0.  Use as a context manager, or
    ``close`` it.
    """

    def __init__(self, threads: int):
        self._work, self._errors, self._open = None, [], True
        self._begin = [threading.Semaphore(0) for _ in range(1, threads)]
        self._done = threading.Semaphore(0)
        self._threads = [
            threading.Thread(target=self._serve, args=(number, gate), daemon=True)
            for number, gate in enumerate(self._begin, start=1)
        ]
        for thread in self._threads:
            thread.start()

    def _serve(self, number: int, gate: threading.Semaphore) -> None:
        while gate.acquire() and self._open:
            self._member(number)
            self._done.release()

    def _member(self, number: int) -> None:
        try:
            self._work(number)
        except BaseException as error:
            self._errors.append(error)

    def run(self, work: Callable[[int], object]) -> None:
        """All members do ``work(number)``; raises the first exception of any, after all have ended."""
        self._work = work
        for gate in self._begin:
            gate.release()
        self._member(0)
        for _ in self._begin:
            self._done.acquire()
        if self._errors:
            error, self._errors = self._errors[0], []
            raise error

    def close(self) -> None:
        """End the threads."""
        self._open = False
        for gate in self._begin:
            gate.release()
        for thread in self._threads:
            thread.join()
        self._begin, self._threads = [], []

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()


def run_team(work: Callable[[int], object], threads: int, cpus: Sequence[int] | None = None) -> list:
    """Results of ``work(0) … work(threads − 1)``, each on a thread of its own, started together.

    The caller is member 0, and keeps its own CPUs afterwards.  ``cpus`` are those of each thread; None leaves the
    placement to the system.  Raises the first exception of any thread, after all have ended, and ``OSError`` where
    threads cannot be bound.
    """
    if cpus is not None and not hasattr(os, "sched_setaffinity"):
        raise OSError("binding threads to CPUs is not offered by this system; ask for no binding")
    results, gate = [None] * threads, threading.Barrier(threads)
    own = os.sched_getaffinity(0) if cpus is not None else None

    def member(number: int) -> None:
        if cpus is not None:
            os.sched_setaffinity(0, {cpus[number]})  # 0 names the calling thread, not the process
        gate.wait(timeout=60)  # s: one that cannot be bound does not come
        results[number] = work(number)

    try:
        with Team(threads) as team:
            team.run(member)
    finally:
        if own is not None:
            os.sched_setaffinity(0, own)
    return results


@cache
def _standing(threads: int) -> tuple[Team, threading.Lock]:
    return Team(threads), threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_standing.cache_clear)  # threads do not survive a fork


def run_parts(work: Callable, threads: int, *arguments) -> None:
    """``work(*arguments, 0) … work(*arguments, threads − 1)`` side by side; the caller's thread is number 0.

    ``work`` is a compiled function that takes its own part by the number. The team stays for later calls.
    ``ValueError``: more threads than usable CPUs. Raises the first exception of any thread, after all have ended.
    """
    if threads == 1:
        work(*arguments, 0)
        return
    require_threads(threads)
    team, lock = _standing(threads)
    with lock:
        team.run(lambda number: work(*arguments, number))


def alone(method: Callable) -> Callable:
    """``method`` for one thread at a time, where an object has one work space: it holds the object's ``lock``."""

    @wraps(method)
    def locked(self, *arguments, **options):
        with self.lock:
            return method(self, *arguments, **options)

    return locked


def team_cpus(threads: int, binding: bool = hasattr(os, "sched_setaffinity")) -> list[int] | None:
    """The first usable CPUs, one a thread; None without ``binding``, which leaves the placement to the system.

    ``ValueError`` if there are more threads than usable CPUs.
    """
    require_threads(threads)
    return affinity_cpus()[:threads] if binding else None
