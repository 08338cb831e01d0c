"""The memo's ``RUN DDTLOAD``: procedures translated and stored, with a message about each line appended to a file.

By the memo the run accesses the message file at high frequency.  Pittsburgh's system put a layer between, which the
memo suspects of costing CPU time; with messages to the terminal alone CPU time was "considerably less".
Lines are statements of procedures; each is translated into reverse Polish, and a procedure is stored in a file of its
own.  Four ways to hand the messages over:

    reopened   open, append, close for every message
    late       the same, but a broker, another process, must first answer each opening, and takes ``delay`` seconds
    kept       the file stays open
    off        no file: lines go to the null device, as to a terminal nobody reads
"""

import ast
import math
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np

from supercomputers_rerun.kernels.contract import Check, Footprint, Presets, Work, one_of, real, whole
from supercomputers_rerun.kernels.files.work_folder import WorkFolder
from supercomputers_rerun.kernels.runtime.resources import require_memory

__all__ = ["NO_OUTPUT", "WAYS", "Problem", "Result", "State", "broker", "footprint", "hand_over", "polish", "reference"]
__all__ += ["run", "setup", "value", "verify", "work"]

WAYS = ("reopened", "late", "kept", "off")
#: Lines of a procedure, and the argument with which a stored one is checked.
STATEMENTS, AT = 16, 3
_SIGNS: dict[type, str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}


@dataclass(frozen=True)
class Problem(Presets):
    """``messages`` lines of ``line_bytes`` bytes, handed over in one of WAYS."""

    messages: whole(1, 1_000_000) = 100  # the memo says hundreds
    line_bytes: whole(16, 4096, "bytes") = 80  # a line of a terminal (an assumption: the memo has no length)
    way: one_of(*WAYS) = "reopened"
    delay: real(0.0, 10.0, "s") = 0.0005  # s that the broker of "late" takes to answer
    folder: str | None = None  # where the file lies; None: the system's temporary folder

    PRESETS: ClassVar = {"quick": {}, "paper": {"messages": 400}, "modern": {"messages": 4000}}


@dataclass(frozen=True)
class Result:
    """Times of one repeat, and what the file then holds."""

    cpu_s: float  # CPU seconds of this process, without the broker's
    real_s: float  # elapsed seconds
    lines: int  # whole lines handed over that can be read back; for "off", written
    sums: int  # sum of all bytes read back
    expected: int  # sum of all bytes handed over
    values: int  # sum of what the stored procedures give for AT
    due: int  # the same from what they were made of
    keep: WorkFolder | None = field(repr=False)


@dataclass(frozen=True)
class State:
    """What is handed over and stored."""

    lines: list[bytes]  # one per message
    statements: list[str]  # of the procedures, one per message
    factors: np.ndarray  # int64 (messages, 3): what the statements are made from


def footprint(problem: Problem) -> Footprint:
    """The lines, twice (Python's own share included), and the file; statements and procedures."""
    size, stored = problem.messages * problem.line_bytes, 176 * problem.messages
    memory = 3 * size + 200 * problem.messages + 12 * stored + 2**16
    return Footprint(memory, stored + (0 if problem.way == "off" else size))


def setup(problem: Problem, seed: int = 0) -> State:
    """The lines: number, time and letters, each ``line_bytes`` long."""
    require_memory(footprint(problem).memory, f"{problem.messages} messages")
    letters = np.random.default_rng(seed).integers(65, 91, (problem.messages, problem.line_bytes), np.uint8)
    letters[:, -1] = 10
    lines = [f"DDT {n:8d} ".encode() + bytes(letters[n, 13:]) for n in range(problem.messages)]
    factors = np.random.default_rng([seed, 1]).integers(1, 1000, (problem.messages, 3))
    statements = [f"x * {a} + {b} - (x + {c}) * 2" for a, b, c in factors.tolist()]
    return State(lines, statements, factors)


def polish(statement: str) -> str:
    """A statement in x and whole numbers in reverse Polish."""

    def after(node) -> str:
        if isinstance(node, ast.BinOp):
            return f"{after(node.left)} {after(node.right)} {_SIGNS[type(node.op)]}"
        return "x" if isinstance(node, ast.Name) else str(node.value)

    return after(ast.parse(statement, mode="eval").body)


def value(stored: str, x: int) -> int:
    """What statements in reverse Polish, one after the other, leave: the sum of their values."""
    stack: list[int] = []
    for word in stored.split():
        if word in _SIGNS.values():
            right, left = stack.pop(), stack.pop()
            stack.append(left * right if word == "*" else left + right if word == "+" else left - right)
        else:
            stack.append(x if word == "x" else int(word))
    return sum(stack)


def _loaded(state: State, folder: Path):
    """Every line, once its statement is translated; procedures are stored as they end."""
    stored: list[str] = []
    for number, line in enumerate(state.lines):
        stored.append(polish(state.statements[number]))
        yield line
        if (number + 1) % STATEMENTS == 0 or number + 1 == len(state.lines):
            (folder / f"procedure{number // STATEMENTS}").write_text("\n".join(stored))
            stored = []


@contextmanager
def broker(problem: Problem):
    """``ask()`` returns when another process has slept ``delay`` seconds and answered; None unless way is "late"."""
    if problem.way != "late":
        yield None
        return
    serve = f"import os, time\nwhile os.read(0, 1):\n    time.sleep({problem.delay})\n    os.write(1, b'y')"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "bufsize": 0}
    with subprocess.Popen([sys.executable, "-IS", "-c", serve], **pipes, start_new_session=True) as process:

        def ask():
            os.write(process.stdin.fileno(), b"?")
            if not os.read(process.stdout.fileno(), 1):
                raise OSError("the broker of messages ended early; run it again")

        ask()  # it has started when it answers
        yield ask


def _append(path, lines) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        for line in lines:
            os.write(handle, line)
    finally:
        os.close(handle)


def hand_over(problem: Problem, path: Path, lines, ask=None) -> None:
    """Append ``lines`` to ``path`` in the way of ``problem``; ``ask`` is its :func:`broker`'s."""
    if problem.way in ("off", "kept"):
        _append(os.devnull if problem.way == "off" else path, lines)
        return
    for line in lines:
        if ask is not None:
            ask()
        _append(path, (line,))


def run(problem: Problem, state: State, threads: int = 1, repeats: int = 1) -> Result:
    """Hand all lines over ``repeats`` times, each time to a new file; one thread writes.

    ``OSError`` where the folder cannot take the file.
    """
    keep = WorkFolder(problem.folder, "messages", footprint(problem).disk, f"{problem.messages} messages")
    path = keep.path / "messages"
    with broker(problem) as ask:
        cpu, real = time.process_time(), time.perf_counter()
        for _ in range(repeats):
            path.unlink(missing_ok=True)
            hand_over(problem, path, _loaded(state, keep.path), ask)
        cpu, real = time.process_time() - cpu, time.perf_counter() - real
    given = b"".join(state.lines)
    data = given if problem.way == "off" else path.read_bytes()
    values = sum(value(path.read_text(), AT) for path in keep.path.glob("procedure*"))
    return Result(cpu / repeats, real / repeats, data.count(b"\n"), sum(data), sum(given), values, _due(state), keep)


def _due(state: State) -> int:
    a, b, c = state.factors.T
    return int((AT * a + b - 2 * (AT + c)).sum())


def reference(problem: Problem, state: State) -> Result:
    """What must be there at the end: all lines once."""
    data = b"".join(state.lines)
    due = _due(state)
    return Result(math.nan, math.nan, data.count(b"\n"), sum(data), sum(data), due, due, None)


def verify(problem: Problem, result: Result) -> list[Check]:
    """Every line is there, none twice, and their bytes add up."""
    return [
        Check.near("lines", result.lines, problem.messages, 0),
        Check.near("sum of all bytes", result.sums, result.expected, 0),
        Check.near("values of the stored procedures", result.values, result.due, 0),
    ]


NO_OUTPUT = dict.fromkeys(("cpu_s", "real_s"), "seconds that were measured")


def work(problem: Problem, threads: int = 1) -> Work:
    """Bytes written; no arithmetic."""
    return Work(bytes_written=problem.messages * problem.line_bytes)
