"""Runs a call in a process of its own that may take 200 MB and one second of processor time."""

import gc
import os
import re
import resource
import select
import signal
from pathlib import Path

import pytest

MEMORY = 200 * 10**6
#: Whole seconds are what the system counts.
SECONDS = 1
#: Without an answer the call waits for somebody; a machine that is busy with others needs patience.
PATIENCE = 120


def refusal(call, *arguments) -> str:
    """``TypeName: message`` of what ``call(*arguments)`` raises; the test fails if it returns, takes more, or waits."""
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.write(theirs, _tried(call, arguments).encode()[:60_000])
        finally:
            os._exit(0)
    os.close(theirs)
    try:
        if not select.select([ours], [], [], PATIENCE)[0]:
            os.kill(child, signal.SIGKILL)
            pytest.fail(f"{call} waits")
        said = os.read(ours, 60_000).decode()
    finally:
        os.close(ours)
        _, status = os.waitpid(child, 0)
    assert said and not status, f"the process ended with status {status}"
    assert not said.startswith("None"), "it was taken"
    return said


def _tried(call, arguments) -> str:
    gc.freeze()  # what this process had before is not searched again and again at the call's cost
    used = int(re.search(r"VmData:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024
    for kind, limit in ((resource.RLIMIT_DATA, used + MEMORY), (resource.RLIMIT_CPU, SECONDS)):
        resource.setrlimit(kind, (limit, resource.getrlimit(kind)[1]))
    try:
        return f"None: {call(*arguments)}"
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
