"""Runs calls in a process of their own, where each may take 200 MB and one second of processor time."""

import gc
import re
import resource
import signal
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import forked

MEMORY = 200 * 10**6
SECONDS = 1.0


def refusal(call: Callable, path) -> str:
    """``TypeName: message`` of what ``call(path)`` raises; the test fails if it returns, takes more, or waits."""
    return refusals(call, [path])[0]


def refusals(call: Callable, paths: Iterable) -> list[str]:
    """:func:`refusal` of one path after the other, in one process: a fork of this one takes longer than a refusal."""
    paths = list(paths)
    said = forked.answers(partial(_said, call), paths, _limit)
    taken = [path for path, answer in zip(paths, said, strict=True) if answer is None]
    assert not taken, f"{call} took {taken}"
    return said


def _limit() -> None:
    gc.freeze()  # what this process had before is not searched again and again at the call's cost
    used = int(re.search(r"VmData:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024
    resource.setrlimit(resource.RLIMIT_DATA, (used + MEMORY, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)  # ends the process


def _said(call: Callable, path) -> str | None:
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    said = None
    try:
        call(path)
    except BaseException as error:
        said = f"{type(error).__name__}: {error}"
    signal.setitimer(signal.ITIMER_PROF, 0)
    return said and said[:20_000]
