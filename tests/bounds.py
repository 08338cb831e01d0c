"""Runs calls in a process of their own, where each may take 200 MB and one second of processor time."""

import gc
import json
import os
import re
import resource
import select
import signal
from collections.abc import Callable, Iterable
from pathlib import Path

MEMORY = 200 * 10**6
SECONDS = 1.0
#: Without an answer the call waits for somebody; a machine that is busy with others needs patience.
PATIENCE = 120


def refusal(call: Callable, path) -> str:
    """``TypeName: message`` of what ``call(path)`` raises; the test fails if it returns, takes more, or waits."""
    return refusals(call, [path])[0]


def refusals(call: Callable, paths: Iterable) -> list[str]:
    """:func:`refusal` of one path after the other, in one process: a fork of this one takes longer than a refusal."""
    paths = list(paths)
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        try:
            _each(call, paths, theirs)
        finally:
            os._exit(0)
    os.close(theirs)
    raw = b""
    while select.select([ours], [], [], PATIENCE)[0] and (piece := os.read(ours, 2**16)):
        raw += piece
    os.close(ours)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    said = [json.loads(line) for line in raw.splitlines()]
    assert len(said) == len(paths), f"{paths[len(said)]}: {call} waits, or its process ended with status {status}"
    taken = [path for path, answer in zip(paths, said, strict=True) if answer is None]
    assert not taken, f"{call} took {taken}"
    return said


def _each(call: Callable, paths: list, answers: int) -> None:
    gc.freeze()  # what this process had before is not searched again and again at the call's cost
    used = int(re.search(r"VmData:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024
    resource.setrlimit(resource.RLIMIT_DATA, (used + MEMORY, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)  # ends the process
    for path in paths:
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        said = None
        try:
            call(path)
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        signal.setitimer(signal.ITIMER_PROF, 0)
        os.write(answers, f"{json.dumps(said and said[:20_000])}\n".encode())
