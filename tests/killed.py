"""SIGKILL at a random moment, then the same command again: ``python tests/killed.py --count 50``.

Each command runs once undisturbed, in folders of its own, which says how long it takes and what it leaves.  Then it is
killed as often as asked for, at moments that the seed draws from that time: only the process that a user would kill.
Within a minute all that it had started must have ended; the same command must then succeed in the same folders, and
leave what the undisturbed run left, caches apart: files of the same names (dates apart), no temporary, no shared
memory.  ``--out`` keeps the table.
"""

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import Annotated, NamedTuple

import psutil
import typer
from built import make_small
from tools import ROOT, keep_rows, line, this_host

#: Variable of the environment that all inherit which a command starts.
MARK = "RERUN_KILLED"
PATIENCE = 60.0  # s in which all must have ended
LONGEST = 1800.0  # s that a command may take
DATE = re.compile(r"\d{8}T\d{6}Z(-\d+)?|\d{4}-\d{2}-\d{2}")
CACHES = ("__pycache__", ".cache", ".jupyter_cache", ".ipynb_checkpoints", "environment.pickle")


class Target(NamedTuple):
    """A command, which runs in a folder of its own with ``records`` and ``work`` (TMPDIR) in it."""

    command: list[str]
    prepare: object = None  # prepare(folder): what it needs there


def targets() -> dict[str, Target]:
    python, jobs = [sys.executable, "-m"], shutil.which("make")
    found = {
        "bench": Target([*python, "companion", "bench", "nht1-formats", "aips58-messages", "--out", "records"]),
        "peers": Target([*python, "peers", "files", "--threads", "1", "--rounds", "3", "--out", "records"]),
        "job": Target([*python, "companion", "run", "p5plus-exchange", "--ranks", "2", "--out", "records"]),
    }
    if jobs:
        ready = ["-o", f"{ROOT}/.venv/.ready", f"VENV={ROOT}/.venv"]  # which is not made anew
        # of a small book, since the whole one takes minutes each time
        found["make book"] = Target([jobs, "-f", f"{ROOT}/Makefile", *ready, "book"], make_small)
    return found


def start(target: Target, folder: Path, mark: str) -> subprocess.Popen:
    """The command in ``folder``."""
    environment = {
        **os.environ,
        MARK: mark,
        "TMPDIR": str(folder / "work"),
        "PYTHONPATH": f"{folder}:{ROOT}",
        "RERUN_BUDGET": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "NUMBA_CACHE_DIR": str(ROOT / ".cache" / "numba"),
    }
    return subprocess.Popen(
        target.command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def finished(target: Target, folder: Path, mark: str) -> tuple[float, str]:
    """Seconds of the command in ``folder``, and what it said where it failed."""
    begin = time.monotonic()
    process = start(target, folder, mark)
    said, _ = process.communicate(timeout=LONGEST)
    return time.monotonic() - begin, said[-2000:] if process.returncode else ""


def living(mark: str) -> list[psutil.Process]:
    """Processes that a command started, directly or not."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == mark and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found


def left(folder: Path) -> set[str]:
    """Names of what lies in ``folder``, dates and caches apart."""
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*")}
    return {DATE.sub("DATE", name) for name in names if not any(part in name for part in CACHES)}


def shared(pid: int) -> set[Path]:
    """Marks and segments of shared memory that a launcher of this number has now."""
    from companion.mpi import marks

    found = set()
    for mark in marks.SHARED.glob(f"rerun-mpi-*-{pid}-*") if marks.SHARED.is_dir() else ():
        found.add(mark)
        if words := (mark / "lock").read_text().split() if (mark / "lock").exists() else []:
            found |= {marks.SHARED / name for name in marks.segments(int(words[0]), int(words[1]), words[2])}
    return found


def made(target: Target, folder: Path) -> Path:
    """``folder`` with what a command needs."""
    for name in ("records", "work"):
        (folder / name).mkdir(parents=True)
    if target.prepare is not None:
        target.prepare(folder)
    return folder


def tried(target: Target, folder: Path, moment: float, clean: set[str]) -> str:
    """What fell short after a SIGKILL at ``moment``; empty where nothing did."""
    mark = uuid.uuid4().hex
    process = start(target, made(target, folder), mark)
    time.sleep(moment)
    held = shared(process.pid)
    process.send_signal(signal.SIGKILL)
    process.stdout.close()
    process.wait()
    limit = time.monotonic() + PATIENCE
    while (alive := living(mark)) and time.monotonic() < limit:
        time.sleep(0.1)
    for each in alive:
        each.kill()
    if alive:
        return f"{len(alive)} processes outlive it"
    _, said = finished(target, folder, mark)
    if said:
        return f"the same command fails: {said}"
    found = left(folder)
    if found != clean:
        return f"other files: {sorted(found ^ clean)[:6]}"
    kept = [path.name for path in held if path.exists()]
    return f"shared memory: {kept}" if kept else ""


def main(
    count: Annotated[int, typer.Option(min=1, help="Kills of each command.")] = 50,
    only: Annotated[list[str] | None, typer.Option(help="Only these commands.")] = None,
    seed: Annotated[int, typer.Option(help="Draws the moments.")] = 1,
    out: Annotated[Path | None, typer.Option(help="Keep the table as CSV.")] = None,
) -> None:
    """Kill commands at random moments and run them again; ends with 1 where one falls short."""
    rows, generator = [], random.Random(seed)
    for name, target in targets().items():
        if only and name not in only:
            continue
        short = 0
        with tempfile.TemporaryDirectory(prefix="killed-") as root:
            finished(target, made(target, Path(root) / "warm"), "warm")  # what is compiled is compiled
            seconds, said = finished(target, made(target, Path(root) / "clean"), "clean")
            if said:
                raise SystemExit(f"{name} fails undisturbed: {said}")
            clean = left(Path(root) / "clean")
            for number in range(count):
                moment = generator.uniform(0.0, seconds)
                if reason := tried(target, Path(root) / str(number), moment, clean):
                    short += 1
                    print(f"{name}, killed after {moment:.2f} s of {seconds:.1f} s: {reason}", flush=True)
                shutil.rmtree(Path(root) / str(number))
        rows.append({"command": name, "host": this_host(), "killed": count, "fell short": short})
        print(line(rows[-1]), flush=True)
        if out is not None:
            keep_rows(out, rows[-1:], ("command", "host"))
    raise SystemExit(any(row["fell short"] for row in rows))


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))  # before tests/, whose rooms have the names of those they test
    typer.run(main)
