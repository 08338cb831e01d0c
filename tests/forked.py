"""Calls in a fork of this process, which has their modules, and commands of this project run so.

Starting an interpreter and importing the command line takes a second or more; a fork takes some milliseconds.  What
depends on how an interpreter starts (locale, signals while it imports) needs one of its own.
"""

import io
import json
import os
import runpy
import select
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterable
from functools import partial
from subprocess import CompletedProcess
from typing import Any

#: Without an answer a call waits for somebody; a machine that is busy with others needs patience.
PATIENCE = 120  # s


def answers(call: Callable, items: Iterable, before: Callable[[], Any] = lambda: None) -> list:
    """What ``call(item)`` returns, which JSON can hold, of one item after the other in one fork.

    ``before()`` comes first there.  The test fails if a call waits, or ends its process.
    """
    items = list(items)
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        try:
            before()
            for item in items:
                os.write(theirs, f"{json.dumps(call(item))}\n".encode())
        finally:
            os._exit(0)
    os.close(theirs)
    raw = b""
    while select.select([ours], [], [], PATIENCE)[0] and (piece := os.read(ours, 2**16)):
        raw += piece
    os.close(ours)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    found = [json.loads(line) for line in raw.splitlines()]
    assert len(found) == len(items), f"{items[len(found)]}: {call} waits, or its process ended with status {status}"
    return found


def _entered(place: str, before: str, command: tuple) -> int:
    """The status of a command whose streams, in UTF-8, are files in ``place`` with statements ``before`` it."""
    module, *arguments = map(str, command)
    for number, (name, mode) in enumerate(((os.devnull, "r"), (f"{place}/out", "w"), (f"{place}/err", "w"))):
        with open(name, mode) as file:
            os.dup2(file.fileno(), number)
    sys.stdin = open(0, closefd=False)
    for number, name, errors in ((1, "stdout", "strict"), (2, "stderr", "backslashreplace")):
        file = open(number, "wb", buffering=0, closefd=False)
        setattr(sys, name, io.TextIOWrapper(file, "utf-8", errors, write_through=True))
    sys.argv = [module, *arguments]
    for name in (f"{module}.__main__", *([] if hasattr(sys.modules.get(module), "__path__") else [module])):
        sys.modules.pop(name, None)  # or runpy warns that it was imported before
    try:
        exec(before, {})
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        return 1 if isinstance(end.code, str) else end.code or 0
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def _done(place: str, before: str, command: tuple) -> tuple[int, str, str]:
    status = _entered(place, before, command)
    out, err = (open(f"{place}/{name}", encoding="utf-8", errors="surrogateescape").read() for name in ("out", "err"))
    return status, out, err


def run(*commands: tuple, cwd, before: str = "pass") -> list[CompletedProcess[str]]:
    """``python -m module arguments`` of each command, in the folder ``cwd``: status, and what it wrote on its streams.

    All are run by one fork, one after the other; ``before`` has statements that come before each.
    """
    with tempfile.TemporaryDirectory() as place:
        found = answers(partial(_done, place, before), commands, partial(os.chdir, cwd))
    return [CompletedProcess(list(command), *done) for command, done in zip(commands, found, strict=True)]
