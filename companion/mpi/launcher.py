"""Starting ranks on this machine: which MPI, how its launcher is called, and how a job ends."""

import functools
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from companion.bench import UnverifiedError
from companion.bench.sampling import progress_bar
from companion.host import limits
from companion.labels import plural
from companion.mpi.processes import Group, environment
from companion.records import runs
from kernels.files.work_folder import WorkFolder
from kernels.runtime.interrupts import Deferred

#: What a rank writes to speak to the launcher; anything else is for people.
PREFIX = "@rerun "
#: Environment variable that names the file in which ranks of this machine leave their errors.
ERRORS = "RERUN_MPI_ERRORS"
#: Lines of a job's other output that are kept for the error message.
_KEPT_LINES = 60
#: A rank is one thread unless it starts more itself; libraries that would start their own are told.
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": 1, "OMP_NUM_THREADS": 1}


class JobError(RuntimeError):
    """An MPI job did not end as it should; the message is one sentence, ``output`` what the job said."""

    def __init__(self, message: str, output: str = ""):
        super().__init__(message)
        self.output = output

    @property
    def is_defect(self) -> bool:
        """Whether the job failed by itself, so that its output is needed: a traceback, or a crash in a library."""
        return "Traceback" in self.output or bool(re.search("SIG(ABRT|BUS|FPE|ILL|SEGV)", str(self)))


@dataclass(frozen=True)
class Library:
    """One MPI: its launcher, and how mpi4py is told to load it."""

    name: str  # "MPICH" or "Open MPI"
    launcher: str  # path of mpiexec
    variables: dict[str, str] = field(default_factory=dict)  # environment of the ranks
    options: tuple[str, ...] = ()  # always given to the launcher

    def command(self, ranks: int) -> list[str]:
        """The launcher's part of a command line."""
        return [self.launcher, *self.options, "-n", str(ranks)]


def _says(launcher: str) -> str:
    try:
        return subprocess.run([launcher, "--version"], capture_output=True, text=True, timeout=20).stdout
    except (OSError, subprocess.SubprocessError):
        return ""


def _shared_object(launcher: str) -> str | None:
    """The ``libmpi`` that belongs to a launcher, None where it is not in the usual places."""
    root = Path(launcher).resolve().parent.parent
    for folder in (root / "lib", root / "lib64", *sorted((root / "lib").glob("*-linux-gnu*"))):
        found = sorted(folder.glob("libmpi.so.[0-9]*"))
        if found:
            return str(found[0])
    return None


def _loading(launcher: str) -> dict[str, str]:
    """What makes mpi4py load the library of a launcher; nothing where mpi4py has to find it."""
    shared = _shared_object(launcher)
    return {"MPI4PY_LIBMPI": shared} if shared else {}


def _described(launcher: str) -> Library | None:
    said = _says(launcher)
    if "HYDRA" in said or "MPICH" in said:
        # an empty name: hydra would write one outside the folder for temporary files, and leave it if it is killed
        topology = {"HWLOC_XMLFILE": os.environ.get("HWLOC_XMLFILE", "")}
        return Library("MPICH", launcher, {**_loading(launcher), **topology})
    if "Open MPI" in said or "OpenRTE" in said or "PRTE" in said:
        variables = {
            **_loading(launcher),
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "PRTE_ALLOW_RUN_AS_ROOT": "1",
            "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_mpi_yield_when_idle": "1",
            # no kernel shares file pointers, and this component of 4.1 writes a name over the end of its buffer
            "OMPI_MCA_sharedfp": "^lockedfile",
        }
        return Library("Open MPI", launcher, variables, ("--oversubscribe", "--bind-to", "none"))
    return None


@functools.cache
def libraries() -> tuple[Library, ...]:
    """The MPI libraries with a launcher here: that of this environment first, then those on the path."""
    folders = [os.path.dirname(sys.executable), *os.environ.get("PATH", "").split(os.pathsep)]
    found: dict[str, Library] = {}
    for folder in folders:
        for name in ("mpiexec", "mpiexec.openmpi", "mpirun.openmpi", "mpiexec.mpich"):
            launcher = shutil.which(name, path=folder)
            described = _described(launcher) if launcher else None
            if described:
                found.setdefault(described.name, described)
    return tuple(found.values())


def library(name: str | None = None) -> Library:
    """The library of that name, or the first one.

    ``companion.host.doctor.Unavailable`` where there is none (of that name); the message says how to get it.
    """
    from companion.host import doctor
    from companion.host.doctor import Unavailable
    from kernels.mpi.world import HOW_TO_GET_IT

    finding = doctor.mpi()
    known = libraries() if finding.ok else ()
    for entry in known:
        if name in (None, entry.name):
            return entry
    if name is not None and known:
        names = ", ".join(repr(entry.name) for entry in known)
        raise Unavailable(f"library = {name!r} is not installed; choose of {names} or install it")
    raise Unavailable(f"MPI is missing ({finding.detail}); {HOW_TO_GET_IT}")


def _reader(stream, lines: queue.Queue) -> None:
    try:
        for line in stream:
            lines.put(line)
    except ValueError:  # closed by the end of the group
        pass
    lines.put(None)


def _messages(group: Group, timeout: float | None, what: str, kept: list[str]):
    """Yield what ranks say to the launcher until their output ends; other lines go to ``kept``."""
    lines: queue.Queue = queue.Queue()
    threading.Thread(target=_reader, args=(group.process.stdout, lines), daemon=True).start()
    end = None if timeout is None else time.monotonic() + timeout
    while True:
        left = None if end is None else end - time.monotonic()
        try:
            line = lines.get(timeout=None if left is None else max(0.0, left))
        except queue.Empty:
            raise JobError(
                f"{what} was ended after {timeout:g} s without a result; allow more time or ask for less"
            ) from None
        if line is None:
            return
        place = line.find(PREFIX)  # a launcher may put "[0] " before a rank's line
        if place < 0:
            kept.append(line.rstrip())
            del kept[:-_KEPT_LINES]
            continue
        try:
            yield json.loads(line[place + len(PREFIX) :])
        except ValueError:
            kept.append(line.rstrip())


def _cause(code: int, output: str) -> str:
    """Why the launcher says that a job ended."""
    found = re.search(r"rank (\d+) with PID \d+ on node \S+ exited on signal (\d+)", output)
    if found:
        return f"rank {found[1]} was killed by signal {found[2]} ({_signal_name(int(found[2]))})"
    found = re.search(r"KILLED BY SIGNAL: (\d+)|EXIT STRING: .*\(signal (\d+)\)|EXIT CODE: (\d+)", output)
    number = int(next(text for text in found.groups() if text)) if found else code
    if 0 < number < 65 and _signal_name(number) and number != 1:
        return f"a rank was killed by signal {number} ({_signal_name(number)})"
    return f"the launcher ended with exit code {code}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return ""


_KINDS = {"ValueError": ValueError, "MemoryError": MemoryError, "OSError": OSError, "UnverifiedError": UnverifiedError}


def _raised(message: dict) -> dict:
    """An error message of a rank: raised here if it is of a kind that a caller knows, else returned."""
    if message["error"] in _KINDS:
        raise _KINDS[message["error"]](message["text"])
    return message


def _left(path: Path) -> dict | None:
    """The first error that ranks left in their file, raised where :func:`_raised` raises; None without one."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    return _raised(json.loads(lines[0])) if lines else None


@contextmanager
def _sigterm_raises():
    """SIGTERM ends the job before it ends us (in the main thread; elsewhere it cannot be caught)."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def leave(number, frame):
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def launch(
    arguments, ranks: int, timeout: float | None = None, name: str | None = None, hear=None, oversubscribe: bool = False
) -> list[dict]:
    """Run ``python arguments…`` on ``ranks`` ranks and return the messages that were no progress.

    Temporary files of the ranks lie in a folder of their own, which is removed whatever happens; nobody of the job is
    left when this returns or raises. ``JobError`` where a rank died, the time ran out, or the job ended without saying
    why. ``ValueError`` or ``MemoryError`` or ``OSError`` where this machine cannot take so many ranks
    (:func:`companion.host.limits.require_ranks`); nothing was started. ``ValueError`` or ``MemoryError`` or ``OSError``
    or ``UnverifiedError`` as a rank raised it.

    ``arguments`` are for the interpreter: ``["-m", module, …]`` or a script.  ``timeout``: seconds for everything.
    ``name``: of an MPI library (:func:`libraries`).  ``hear`` gets every message as it comes, as a dictionary.
    ``oversubscribe``: more ranks than four a CPU are wanted.
    """
    limits.require_seconds("timeout", timeout)
    limits.require_integer("ranks", ranks, 1, limits.MOST_RANKS)
    limits.require_ranks(ranks, oversubscribe=oversubscribe)
    chosen = library(name)
    what = f"the job of {plural(ranks, 'rank')}"
    kept: list[str] = []
    heard: list[dict] = []
    failed: dict | None = None
    with WorkFolder(None, "rerun") as folder, _sigterm_raises():
        errors, group = folder.path / "errors.jsonl", None
        known = {"TMPDIR": folder.path, ERRORS: errors, **_ONE_THREAD, **chosen.variables}
        try:
            with Deferred():
                command = [*chosen.command(ranks), sys.executable, *arguments]
                group = Group(command, environment(**known), os.getcwd())
            for message in _messages(group, timeout, what, kept):
                if hear is not None:
                    hear(message)
                if "error" in message:  # it ends the job; perhaps only because another rank was killed: see ``_cause``
                    failed = failed or _raised(message)
                    continue
                heard.append(message)
            code = group.process.wait()
            if code and not failed:
                failed = _left(errors)
        finally:
            if group is not None:
                group.end()
    output = "\n".join(kept)
    if failed and "killed by signal" not in _cause(code, output):
        raise JobError(f"{what} failed on rank {failed['rank']}: {failed['error']}: {failed['text']}", output)
    if code or failed:
        raise JobError(f"{what} ended early: {_cause(code, output)}; its temporary files are removed", output)
    return heard


def run_record(
    id: str, ranks: int, timeout: float | None, name: str | None, progress: bool, oversubscribe: bool = False, **options
):
    """The record of one experiment, run on ``ranks`` ranks of this machine.

    ``options`` are those of ``python -m companion.mpi.job``; errors as :func:`launch`.
    """
    arguments = ["-m", f"supercomputers_rerun.{__package__}.job", id]
    for key, value in options.items():
        if value is not None:
            arguments += [f"--{key}", str(value)]
    with progress_bar(1, "measuring", progress) as bar:

        def hear(message):
            if "total" in message:
                bar.total = message["total"]
                bar.update(message["done"] - bar.n)

        heard = launch(arguments, ranks, timeout, name, hear, oversubscribe)
    record = json.loads("".join(message.get("piece", "") for message in heard))
    record["machine"]["filesystem"]["source"], _ = limits.temporary()  # the ranks have a folder of their own in it
    return runs.validate(record)
