"""The process that does the jobs: ``python -m kernels.jobs.serve`` takes orders, and gives answers, as lines of JSON.

=====  ======================================================================================================
order  what is done
=====  ======================================================================================================
bind   the process runs on ``cpus`` from now on, where the system can
run    a program is prepared; ``ready`` is told and a line awaited; write-ups are told as they come, then times
check  answer and failed checks of the last program, which no clock has seen
post   a post-processing job
=====  ======================================================================================================

Accounts of a job, in seconds, of the thread that computes: *executing* is its CPU time, *waiting to execute* is the
scheduler's (``/proc/thread-self/schedstat``), *waiting for transfers* is what waits at the driver took beyond these.
"""

import functools
import itertools
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import astuple, replace
from pathlib import Path

from kernels import gridpoint
from kernels.gridpoint import postprocess, simulator
from kernels.jobs.workers import KINDS, PROGRAMS, answer, in_memory


@functools.cache
def accounts() -> Callable[[], tuple[float, float]] | None:
    """What gives the seconds that this thread has executed and has waited for a CPU; None where nobody counts them."""
    try:
        handle = os.open("/proc/thread-self/schedstat", os.O_RDONLY)
    except OSError:
        return None

    def read() -> tuple[float, float]:
        queued = int(os.pread(handle, 128, 0).split()[1])
        return time.thread_time(), queued / 1e9  # what the scheduler says of executing is up to a tick old

    return read


def _say(told: dict) -> None:
    """One line to the process that asked."""
    print(json.dumps(told), flush=True)


def _ready() -> None:
    _say({"event": "ready"})
    sys.stdin.readline()


@functools.lru_cache(maxsize=2)
def _start(problem):
    return gridpoint.setup(problem)


@functools.lru_cache(maxsize=64)
def _warm(problem, threads: int) -> None:
    """Compile what the configuration takes: a few steps, once."""
    state = _start(in_memory("forecast", problem))
    gridpoint.run(replace(problem, hours=4 * problem.dt / 3600, writeup=0.0), state, threads)


def _announcer(keep: str) -> Callable[[Path], None]:
    """What keeps each write-up under a name of its own, and tells of it."""
    numbers = itertools.count()

    def announce(path: Path) -> None:
        kept = f"{keep}-{next(numbers)}"
        os.link(path, kept)
        _say({"event": "write-up", "path": kept})

    return announce


def _run(order: dict):
    program, threads = order["program"], order["threads"]
    kernel, problem = PROGRAMS[program], KINDS[program](**order["problem"])
    if program == "analysis":
        # its thread's accounts are not asked for: its programs compute and move in turn
        return problem, kernel.run(problem, kernel.setup(problem), threads, on_ready=_ready)
    if program == "forecast":
        _warm(replace(problem, fsync=False), threads)
        state = _start(in_memory(program, problem))
    else:
        state = simulator.Pace(**order["pace"])
    return problem, kernel.run(problem, state, threads, 1, _announcer(order["keep"]), _ready, accounts())


def _times(program: str, result) -> dict:
    """What a run took; ``end`` is on the clock that all processes share."""
    found = {"clock": result.clock, "cpu": result.cpu, "end": time.perf_counter()}
    if program == "analysis":
        return found
    found |= {
        "steps": [astuple(step) for step in result.steps],
        "requests": result.requests,
        "bytes": result.bytes,
        "overlapped": result.overlapped,
    }
    return found | dict(zip(("executing", "queued"), result.accounts or (), strict=False))


def _post(order: dict) -> dict:
    path, device = order["path"], order["device"]
    if order["program"] == "forecast":
        return postprocess.run(path, small=order["small"], device=device)
    return simulator.post(path, KINDS["simulator"](**order["problem"]), simulator.Pace(**order["pace"]), device)


def _serve() -> None:
    last, problem, result = "", None, None
    for line in sys.stdin:
        order = json.loads(line)
        match order["kind"]:
            case "bind":
                if hasattr(os, "sched_setaffinity"):  # elsewhere the system places it
                    os.sched_setaffinity(0, order["cpus"])
                found = {}
            case "run":
                last, result = order["program"], None
                problem, result = _run(order)
                found = _times(last, result)
            case "check":
                failed = [str(check) for check in PROGRAMS[last].verify(problem, result) if not check.ok]
                found = {"answer": answer(last, result), "wrong": failed}
            case "post":
                found = _post(order)
        _say({"event": "done", **found})


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))  # through what removes its folders
    _serve()
