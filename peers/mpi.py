"""Exchange and transposition between ranks beside the same in C, with every MPI library that has a compiler here.

Both sides run in one job of ``threads`` ranks and use the same buffers, so that pages, places and the library's own
state are the same; the C functions are compiled with the library's ``mpicc``, by each C compiler in turn, and called
in the ranks of :mod:`peers._ranks`.  An order to the ranks goes through a pipe, which adds some ten microseconds to a
sample of more than ten milliseconds, on either side.
"""

import contextlib
import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from companion.bench import Case
from companion.host import limits
from companion.mpi import JobError, Library, libraries
from companion.mpi.processes import Group, environment
from kernels.files.work_folder import WorkFolder
from peers import Absent, Comparison
from peers.kit import compiled

OPTIONS = ("-O3", "-march=native")
#: Messages from here on are summarised apart from shorter ones.
LONG = 2**16
_PATIENCE = 120.0  # seconds after which ranks that do not answer are given up
_PARTING = 20.0  # seconds in which ranks that were asked to end have to do so
#: Truncation, grid and fields of the transpositions, by the size of the messages between two ranks.
_SPACES = ((42, "F32", 2), (63, "F48", 3), (63, "F48", 16), (159, "N80", 8), (399, "N200", 8), (399, "N200", 32))


def _compiler(library: Library) -> str | None:
    """The ``mpicc`` that belongs to a launcher, or None."""
    place = Path(library.launcher)
    suffix = place.suffix if place.suffix in (".openmpi", ".mpich") else ""
    return next(
        (found for name in (f"mpicc{suffix}", "mpicc") if (found := shutil.which(name, path=place.parent))), None
    )


def _by(path: str) -> dict[str, str]:
    """The environment in which either library's ``mpicc`` runs the compiler at ``path``."""
    return {**os.environ, "OMPI_CC": path, "MPICH_CC": path}


def _lack(library: Library) -> str | None:
    """What a library needs for a program in C and does not have here."""
    compiler, others = _compiler(library), list(compiled.compilers().values())
    if compiler is None or not others:
        return "mpicc"
    command = [compiler, "-E", "-x", "c", "-"]
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, input="#include <mpi.h>", env=_by(others[0])
    )
    return "mpi.h" if done.returncode else None


def _peers() -> dict[str, str]:
    """Paths of the compilers by the name of the peer that each makes."""
    return {f"{name} -O3, same buffers": path for name, path in compiled.compilers().items()}


def _built(compiler: str, path: str, made: Path) -> str:
    """Compile ``c/mpi.c`` into the shared object ``made``."""
    command = [compiler, *OPTIONS, "-shared", "-fPIC", "-o", made, compiled.SOURCES / "mpi.c"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=_by(path))
    if done.returncode:
        lines = done.stderr.splitlines() or ["it gave no reason"]
        raise RuntimeError(f"mpicc: {next((line for line in lines if 'error' in line), lines[0]).strip()}")
    return str(made)


class _Job:
    """Ranks that wait for orders; to be used in a ``with`` statement, which ends them.

    They end by themselves where nothing failed.  A launcher that is made to end has not waited for its ranks, and what
    they used would count as other programs' load.
    """

    def __init__(self, library: Library, ranks: int, problems: list):
        self.folder = WorkFolder(None, "peers-mpi")
        try:
            place = self.folder.path
            mpicc = _compiler(library)
            made = [_built(mpicc, path, place / f"{n}.so") for n, path in enumerate(_peers().values())]
            pipes = [place / "orders", place / "answers"]
            for pipe in pipes:
                os.mkfifo(pipe)
            self.orders, self.answers = (os.open(pipe, os.O_RDWR) for pipe in pipes)
            self.group = Group(
                [
                    *library.command(ranks),
                    sys.executable,
                    "-m",
                    f"{__package__}._ranks",
                    json.dumps(made),
                    *pipes,
                    json.dumps(problems),
                ],
                environment(TMPDIR=place, OPENBLAS_NUM_THREADS=1, OMP_NUM_THREADS=1, **library.variables),
                Path(__file__).parents[1],
            )
        except BaseException:
            self.folder.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, kind, *exception):
        if kind is None:
            os.write(self.orders, b"-1 0 0 0\n")
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.group.process.wait(_PARTING)
        self.group.end()
        os.close(self.orders)
        os.close(self.answers)
        self.folder.close()

    def ask(self, *order: int) -> int:
        """Carry out one order on all ranks; the number of wrong values where it asks for a check."""
        os.write(self.orders, f"{' '.join(map(str, order))}\n".encode())
        end = time.monotonic() + _PATIENCE
        while not select.select([self.answers], [], [], 1.0)[0]:
            if self.group.process.poll() is not None or time.monotonic() > end:
                raise JobError("the ranks of the MPI comparisons ended or do not answer; run them with fewer threads")
        return int(os.read(self.answers, 64))


def _side(job: _Job, number: int, side: int):
    def call(repeats=None):
        return job.ask(number, side, repeats or 1, int(repeats is None))

    return call


def _problems(ranks: int):
    """Group, label and problem of every comparison."""
    from kernels.mpi import exchange, scale, transposition

    for nbytes in exchange.SIZES["paper"][::2]:
        yield "exchange", nbytes, f"{nbytes:,} bytes", ["exchange", {"bytes": nbytes, "ranks": ranks}]
    for T, grid, fields in _SPACES:
        asked = {"truncation": T, "grid": grid, "fields": fields, "ranks": ranks}
        counted = scale.transposition(transposition.Problem(**asked).mesh)
        mean = counted.bytes // counted.messages
        yield "transposition", mean, f"T{T}, {fields} fields, {mean:,} bytes a message", ["transposition", asked]


def _on(library: Library, ranks: int) -> Iterator[Comparison]:
    from kernels.mpi import exchange, transposition

    listed, names = list(_problems(ranks)), list(_peers())
    kernels = {"exchange": exchange, "transposition": transposition}
    cases = [Case(label, kernels[name], kernels[name].Problem(**asked)) for *_, label, (name, asked) in listed]
    limits.require_ranks(ranks, cases=cases)
    with _Job(library, ranks, [problem for *_, problem in listed]) as job:
        for number, (kind, nbytes, label, _) in enumerate(listed):
            yield Comparison(
                group=f"{kind}, {library.name}, {'64 KiB and more' if nbytes >= LONG else 'shorter messages'}",
                label=label,
                ours=_side(job, number, 0),
                peers={name: _side(job, number, side) for side, name in enumerate(names, start=1)},
                check=lambda ours, theirs: float(ours + theirs),  # wrong values of either side
                tolerance=0,
                builds=names,
            )


def versions() -> dict[str, str]:
    """Compiler and options of each C build, for each library."""
    found: dict[str, list[str]] = {}
    for library in libraries():
        if (compiler := _compiler(library)) is not None:
            for name, path in _peers().items():
                asked = subprocess.run(
                    [compiler, "--version"], check=False, capture_output=True, text=True, env=_by(path)
                )
                said = next(iter(asked.stdout.splitlines()), "mpicc")
                found.setdefault(name, []).append(f"{library.name}: {said}, {' '.join(OPTIONS)}")
    return {name: "; ".join(parts) for name, parts in found.items()}


def comparisons(threads: int) -> Iterator[Comparison | Absent]:
    """Exchange and transposition on ``threads`` ranks, an even number of them."""
    ranks = threads - threads % 2
    if ranks < 2:
        yield Absent("MPI in C on one processor", "messages need two ranks; ask for two threads")
        return
    known = libraries()
    if not known:
        yield Absent("MPI in C", "no MPI is installed; install the extra mpi")
    for library in known:
        if lack := _lack(library):
            yield Absent(f"{library.name} in C", f"its {lack} is missing; install its development package")
        else:
            yield from _on(library, ranks)
