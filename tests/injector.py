"""Lets each system call of a writer fail, one run a call: ``python tests/injector.py --every 1``.

``tests/injector.c``, loaded before the system's library, counts the calls that touch one folder.  A writer runs once
to find how many there are, then once for each, in a process of its own, where that call

    fails        the disk is full, over its quota, read-only or defective, once
    stays        the same, from that call on
    half         a write takes half of the bytes
    vanishes     the folder has another name from then on

A run falls short if it ends with a traceback or more than a sentence, if it claims success and its file does not read
back, if anything but the old file or the new one has the name that was asked for, or if temporaries stay behind
although the disk would let them be removed.

``power`` notes what reached the disk with every call and, after each, looks at what a power cut there may leave.
"""

import atexit
import contextlib
import ctypes
import errno
import itertools
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from tools import ROOT, keep_rows, line, this_host

PATIENCE = 20  # s
#: mode of injector.c and error number of each fault
FAULTS = {
    "full": (0, errno.ENOSPC),
    "quota": (0, errno.EDQUOT),
    "read-only": (0, errno.EROFS),
    "defective": (0, errno.EIO),
    "stays full": (1, errno.ENOSPC),
    "stays read-only": (1, errno.EROFS),
    "half a write": (2, errno.ENOSPC),
    "vanishes": (3, 0),
}
HEAD = struct.Struct("=c7xQqQQQ")


class Writer(NamedTuple):
    """Something that writes one file or folder into a folder; ``read`` raises unless what it is given is whole."""

    write: Callable[[Path], object]
    read: Callable[[Path], object]
    synced: bool = True  # whether it promises anything for a power cut


def compiler() -> str | None:
    """The C compiler, None where there is none or the system has no LD_PRELOAD."""
    return shutil.which("cc") if sys.platform == "linux" else None


def build(folder: Path) -> Path:
    """``injector.c`` as a library in ``folder``."""
    library = folder / "injector.so"
    subprocess.run(
        [compiler(), "-O1", "-shared", "-fPIC", "-o", str(library), str(ROOT / "tests/injector.c")], check=True
    )
    return library


def _export(record: Path, suffix: str) -> Writer:
    """``python -m companion export`` of a record, replacing what is there."""
    import xarray as xr
    from typer.testing import CliRunner

    from companion.cli import app

    def write(folder):
        done = CliRunner().invoke(app, ["export", str(record), "--to", str(folder / f"x{suffix}"), "--force"])
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        if done.exit_code:
            raise OSError(done.output.strip())

    def read(path):
        if suffix == ".nc":
            return xr.load_dataset(path)["seconds"].sum().item()
        whole = path.read_bytes()
        if not whole.endswith(b"\n"):
            raise ValueError("ends within a line")
        return whole

    return Writer(write, read)


def _solution(way: str) -> Writer:
    import numpy as np

    from kernels.files.format.solution import SolutionWriter
    from kernels.files.format.verification import verify_file

    dump = np.ones((4, 4, 4, 5))

    def write(folder):
        with SolutionWriter(folder / "x", 4, 10, 5, way=way) as writer:
            for step in (5, 10):
                writer.write(step, dump)

    def read(path):
        if verify_file(path).crc_errors:
            raise ValueError("wrong checksums")

    return Writer(write, read, synced=False)


def _smallest_record(module) -> Writer:
    """The smallest committed record of a kind, written into a folder of records."""
    records = sorted(module.COMMITTED.glob("*.json"), key=lambda path: path.stat().st_size)
    record = module.read(records[0])
    return Writer(lambda folder: module.save(record, folder), module.read)


def _of_the_forecast() -> dict[str, Writer]:
    """Write-ups, those that are kept, and what the post-processing job makes of one."""
    import numpy as np

    from kernels.gridpoint import postprocess, writeup

    ni, nj, levels = 12, 8, 3
    rows = np.linspace(1.0, 2.0, nj * writeup.row_words(ni, levels)).reshape(nj, -1)

    def write(folder):
        one = writeup.Writer(folder / "x", ni, nj, levels, 7, 0.5)
        try:
            one.rows(0, rows[:3])
            one.rows(3, rows[3:])
            one.commit(fsync=True)
        finally:
            one.discard()

    place = tempfile.TemporaryDirectory(prefix="writeup-")
    atexit.register(place.cleanup)
    source = Path(place.name)
    write(source)
    packed = len(postprocess.NAMES) * len(postprocess.PRESSURES) * (16 + 2 * nj * ni)

    def of_length(path):
        if path.stat().st_size != packed:
            raise ValueError("not every field at every pressure")

    kept = writeup.store_in
    return {
        "write-up": Writer(write, writeup.read, synced=False),
        "write-up, kept": Writer(lambda folder: kept(folder)(source / "x"), writeup.read, synced=False),
        "fields packed": Writer(lambda folder: postprocess.run(source / "x", folder / "x"), of_length, synced=False),
    }


def _step_of_the_model() -> Writer:
    """Height and vorticity of the shallow-water model, as every output step writes them."""
    from types import SimpleNamespace

    import numpy as np

    from kernels.shallow_water.model import _write

    fields = np.linspace(1.0, 2.0, 20000)

    def read(path):
        if not np.array_equal(np.fromfile(path, np.float32), fields.astype(np.float32)):
            raise ValueError("not the fields")

    stepper = SimpleNamespace(height_and_vorticity=lambda: fields)
    return Writer(lambda folder: _write(stepper, folder, 3), read, synced=False)


def _package() -> Writer:
    """The zip of every table."""
    import zipfile

    from companion.tables import downloads

    def read(path):
        with zipfile.ZipFile(path) as archive:
            if archive.testzip() is not None:
                raise ValueError("wrong checksum")

    return Writer(lambda folder: downloads.package_zip(folder / "x.zip"), read)


def writers() -> dict[str, Writer]:
    """Every writer, by name."""
    import numpy as np

    from companion.files import write_text
    from companion.records import peer_records, runs
    from kernels.files.ways import NAMES
    from kernels.imaging import fits

    def long_text(path):
        if path.read_text() != "x" * 70000:
            raise ValueError("not the text")

    record = min(runs.COMMITTED.glob("*.json"), key=lambda path: path.stat().st_size)
    image = np.ones((32, 32), np.float32)
    return {
        "text": Writer(lambda folder: write_text(folder / "x", "x" * 70000, True), long_text),
        "run record": _smallest_record(runs),
        "peer record": _smallest_record(peer_records),
        "CSV": _export(record, ".csv"),
        "NetCDF": _export(record, ".nc"),
        "FITS": Writer(lambda folder: fits.write_image(folder / "x", image, 1.0), fits.read_image, synced=False),
        **{f"solution, {way}": _solution(way) for way in NAMES},
        **_of_the_forecast(),
        "step of the shallow-water model": _step_of_the_model(),
        "package of the tables": _package(),
    }


class Injector:
    """The library that :func:`build` made, in a process started with it."""

    def __init__(self):
        self.library = ctypes.CDLL(None)

    def arm(self, folder: Path, at: int = 0, mode: int = 0, error: int = 0, log: int = -1) -> None:
        """Count calls below ``folder`` from now on, and let number ``at`` go wrong."""
        self.library.injector_arm(os.fsencode(folder), at, error, mode, log)

    def count(self) -> int:
        """Calls since."""
        return self.library.injector_count()


def alone(action: Callable[[], str]) -> str:
    """What ``action`` returns in a process of its own; "crash" or "hang" where it returns nothing."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(PATIENCE)
        try:
            os.write(write, action().encode()[:4000])
        finally:
            os._exit(0)
    os.close(write)
    with open(read, "rb") as pipe:
        text = pipe.read().decode()
    _, status = os.waitpid(child, 0)
    return text or ("hang" if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM else "crash")


def outcome(write: Callable[[Path], object], folder: Path) -> str:
    """``done``, ``refused: SENTENCE`` or ``traceback: …``."""
    from companion.files import sentence
    from kernels.files.format.layout import SolutionError

    try:
        write(folder)
    except SolutionError as error:  # what was written is read back before it takes its name
        return f"refused: {error}" if "\n" not in str(error) else f"traceback: {error}"
    except OSError as error:
        text = sentence(error)
        return f"refused: {text}" if text and "\n" not in text and "Traceback" not in text else f"traceback: {text}"
    except Exception as error:
        return f"traceback: {type(error).__name__}: {' '.join(str(error).split())}"
    return "done"


def wholes(writer: Writer, folder: Path) -> tuple[list[str], list[str]]:
    """Names in ``folder`` that a reader looks for: all, and those that read back whole."""
    names = sorted(name for name in os.listdir(folder) if not name.startswith("."))
    good = []
    for name in names:
        with contextlib.suppress(Exception):
            writer.read(folder / name)
            good.append(name)
    return names, good


def empty(folder: Path) -> Path:
    """``folder`` with nothing in it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


class Bench:
    """A folder in which one writer is tried, begun with nothing or with what it wrote before."""

    def __init__(self, injector: Injector, writer: Writer, folder: Path, old: bool):
        self.injector, self.writer, self.old = injector, writer, old
        self.folder, self.gone = folder / "w", folder / "w.gone"
        self.log = folder / "log"
        self.begin()
        writer.write(self.folder)  # imports what it imports late, before calls are counted
        self.calls = int(alone(self._all_calls))

    def begin(self) -> None:
        shutil.rmtree(self.gone, ignore_errors=True)
        empty(self.folder)
        if self.old:
            self.writer.write(self.folder)

    def _all_calls(self) -> str:
        self.begin()
        self.injector.arm(self.folder)
        self.writer.write(self.folder)
        return str(self.injector.count())

    def one_fault(self, fault: str, at: int) -> str:
        """What is short about a run with that call going wrong; empty where nothing is."""
        self.begin()

        def act():
            self.injector.arm(self.folder, at, *FAULTS[fault])
            return outcome(self.writer.write, self.folder)

        found = alone(act)
        if not found.startswith(("done", "refused")):
            return found
        if self.gone.exists():
            there = [
                good for place in (self.gone, self.folder) if place.exists() for good in wholes(self.writer, place)[1]
            ]
            return "success without a file" if found == "done" and not there else ""
        names, good = wholes(self.writer, self.folder)
        if names != good:
            return f"{found}; {set(names) - set(good)} does not read back"
        if not good and (self.old or found == "done"):
            return f"{found}; there is no file"
        left = [name for name in os.listdir(self.folder) if name.startswith(".")]
        return f"{found}; leaves {left}" if left and fault != "stays read-only" else ""

    def power(self) -> Counter:
        """Every state that a power cut may leave after any call of one whole write; at its end the name is certain."""
        self.begin()
        begun = {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}
        handle = os.open(self.log, os.O_CREAT | os.O_RDWR | os.O_TRUNC | os.O_CLOEXEC)

        def act():
            self.injector.arm(self.folder, log=handle)
            return outcome(self.writer.write, self.folder)

        found, counts = alone(act), Counter()
        os.close(handle)
        if found != "done":
            raise RuntimeError(found)
        place, log, disk = empty(self.folder.with_name("cut")), list(entries(self.log.read_bytes())), Disk(begun)
        for entry in log:
            disk.call(*entry)
        counts["short"] += len(disk.history) != 1  # a name that may be lost after the writer returned
        for state in states(log, begun, self.folder):
            empty(place)
            for path, data in state.items():
                target = place / path.relative_to(self.folder)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)
            names, good = wholes(self.writer, place)
            counts["tried"] += 1
            if names != good or (self.old and not good):
                counts["short"] += 1
        return counts


def entries(raw: bytes):
    """``(kind, inode, offset, first name, second name, data)`` of each call that ``injector.c`` noted."""
    at = 0
    while at < len(raw):
        kind, inode, offset, size, a, b = HEAD.unpack_from(raw, at)
        at += HEAD.size
        names = raw[at : at + a].decode(), raw[at + a : at + a + b].decode()
        at += a + b
        has_data = kind == b"w"
        yield kind.decode(), inode, offset, *names, raw[at : at + size] if has_data else b""
        at += size if has_data else 0


class Disk:
    """Names and contents as programs see them, and as they are known to be on the disk."""

    def __init__(self, begun: dict[Path, bytes]):
        self.names: dict[Path, int] = {path: -number for number, path in enumerate(begun, 1)}
        self.now = {self.names[path]: bytearray(data) for path, data in begun.items()}
        self.synced = {inode: bytes(data) for inode, data in self.now.items()}
        self.history = [dict(self.names)]  # names after each change since the folder was synced last

    def call(self, kind: str, inode: int, offset: int, first: str, second: str, data: bytes) -> None:
        """One call of the log."""
        here, there = Path(first), Path(second)
        content = self.now.setdefault(inode, bytearray()) if inode else bytearray()
        if kind in "co":
            self.names[here] = inode
            if kind == "o":
                content.clear()
        elif kind == "w":
            content.extend(bytes(max(0, offset - len(content))))
            content[offset : offset + len(data)] = data
        elif kind == "t":
            content.extend(bytes(max(0, offset - len(content))))
            del content[offset:]
        elif kind == "a":
            content.extend(bytes(max(0, offset - len(content))))
        elif kind == "s":
            self.synced[inode] = bytes(content)
            if here not in self.names:
                self.history = [dict(self.names)]
        elif kind == "u":
            self.names.pop(here, None)
        elif kind == "l":
            self.names[there] = self.names[here]
        elif kind in "rx":
            moved = {path: there / path.relative_to(here) for path in self.names if path.is_relative_to(here)}
            back = {path: here / path.relative_to(there) for path in self.names if path.is_relative_to(there)}
            inodes = {path: self.names.pop(path) for path in [*moved, *back]}
            self.names |= {new: inodes[old] for old, new in moved.items()}
            self.names |= {new: inodes[old] for old, new in back.items()} if kind == "x" else {}
        if self.names != self.history[-1]:
            self.history.append(dict(self.names))


def states(log, begun: dict[Path, bytes], folder: Path):
    """Names and contents that a power cut after any call may leave, each once.

    Of names, any number of changes since the last sync of the folder has reached the disk, in their order; of each
    file all of them what was synced, what was written, or half of what was written since.
    """
    disk, seen = Disk(begun), set()
    for entry in [("-", 0, 0, "", "", b""), *log]:
        disk.call(*entry)
        for names in disk.history:
            for how in ("synced", "written", "half"):
                state = {}
                for path, inode in names.items():
                    old, new = disk.synced.get(inode, b""), bytes(disk.now.get(inode, b""))
                    state[path] = {"synced": old, "written": new, "half": new[: (len(old) + len(new)) // 2]}[how]
                key = tuple(sorted((str(path), data) for path, data in state.items()))
                if key not in seen:
                    seen.add(key)
                    yield state


def run(chosen: list[str], every: int, power: bool) -> list[dict]:
    """Counts of each writer and kind of fault, in a process that was started with the library."""
    injector, rows = Injector(), []
    for (name, writer), old in itertools.product(writers().items(), (False, True)):
        if chosen and name not in chosen:
            continue
        with tempfile.TemporaryDirectory(prefix="faults-") as folder:
            bench = Bench(injector, writer, Path(folder), old)
            counts = Counter()
            for fault, at in itertools.product(FAULTS, range(1 + bool(old) % every, bench.calls + 1, every)):
                counts["tried"] += 1
                if short := bench.one_fault(fault, at):
                    counts["short"] += 1
                    print(f"{name}{', over an older one' * old}: {fault} at call {at} of {bench.calls}: {short}")
            rows.append({"writer": name, "old": old, "fault": "calls", "calls": bench.calls, **counts})
            if power and writer.synced:
                rows.append({"writer": name, "old": old, "fault": "power cut", "calls": bench.calls, **bench.power()})
    return rows


def started(chosen: list[str], every: int, power: bool) -> list[dict]:
    """:func:`run` in a process with the library loaded; what fell short goes to the standard error."""
    with tempfile.TemporaryDirectory(prefix="injector-") as folder:
        environment = os.environ | {
            "LD_PRELOAD": str(build(Path(folder))),
            "PYTHONPATH": str(ROOT),
            "TMPDIR": folder,
        }
        command = [sys.executable, __file__, "--inner", "--every", str(every), *chosen]
        command += [] if power else ["--no-power"]
        done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    lines = done.stdout.splitlines()
    print("\n".join(lines[:-1]), end="\n" if lines[:-1] else "", file=sys.stderr)
    return json.loads(lines[-1])


def table(rows: list[dict]) -> list[dict]:
    """Rows of :func:`run` under the names that a reader of the table knows."""
    host = this_host()
    return [
        {
            "writer": row["writer"],
            "host": host,
            "begun with": "an older file" if row["old"] else "nothing",
            "fault": "each call fails" if row["fault"] == "calls" else "power cut after each call",
            "calls": row["calls"],
            "cases": row["tried"],
            "fell short": row.get("short", 0),
        }
        for row in rows
    ]


def main(
    writer: Annotated[list[str] | None, typer.Argument(help="Writers; all if none is named.")] = None,
    every: Annotated[int, typer.Option(min=1, help="Try every so many-th call.")] = 1,
    power: Annotated[bool, typer.Option(help="Look at power cuts, too.")] = True,
    out: Annotated[Path | None, typer.Option(help="Keep the counts as a table (CSV).")] = None,
    inner: Annotated[bool, typer.Option(hidden=True)] = False,
) -> None:
    """Let system calls of writers fail."""
    if inner:
        print(json.dumps(run(writer or [], every, power)))
        return
    if compiler() is None:
        raise SystemExit("system calls are intercepted with LD_PRELOAD and a C compiler; one of them is missing here")
    rows = started(writer or [], every, power)
    found = table(rows)
    for row in found:
        print(line(row))
    if out is not None:
        keep_rows(out, found, ("writer", "host", "begun with", "fault"))
    raise SystemExit(any(row.get("short") for row in rows))


if __name__ == "__main__":
    typer.run(main)
