"""Exchange and transposition between ranks beside the same in C, where MPI has its compiler here.

Both sides run in one job of ``threads`` ranks and use the same buffers, so that pages, places and the library's own
state are the same; the C functions are compiled with the library's ``mpicc``, by each C compiler in turn, and called
in the ranks of :mod:`peers._ranks`.  An order to the ranks goes through a pipe, which adds some ten microseconds to a
sample of more than ten milliseconds, on either side.
"""

import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from companion.bench import Case
from companion.host import doctor, limits
from companion.mpi import JobError
from companion.mpi.launcher import mpiexec, started
from peers import Absent, Comparison
from peers.kit import compiled

OPTIONS = ("-O3", "-march=native")
#: Messages from here on are summarised apart from shorter ones.
LONG = 2**16
#: Truncation, grid and fields of the transpositions, by the size of the messages between two ranks.
_SPACES = ((42, "F32", 2), (63, "F48", 3), (63, "F48", 16), (159, "N80", 8), (399, "N200", 8), (399, "N200", 32))


def _compiler() -> str | None:
    """The ``mpicc`` that belongs to the launcher, or None."""
    return shutil.which("mpicc", path=Path(mpiexec()).parent)


def _by(path: str) -> dict[str, str]:
    """The environment in which ``mpicc`` runs the compiler at ``path``."""
    return {**os.environ, "OMPI_CC": path, "MPICH_CC": path}


def _lack() -> str | None:
    """What MPI needs for a program in C and does not have here."""
    compiler, others = _compiler(), list(compiled.compilers().values())
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


def _built(path: str, made: Path) -> str:
    """Compile ``c/mpi.c`` into the shared object ``made``."""
    command = [_compiler(), *OPTIONS, "-shared", "-fPIC", "-o", made, compiled.SOURCES / "mpi.c"]
    subprocess.run(command, check=True, env=_by(path))
    return str(made)


@contextmanager
def _job(ranks: int, problems: list):
    """Ranks that wait for orders: ``ask(problem, side, repeats, check)`` has all of them carry one out, and returns the
    number of wrong values where it asks for a check.

    They end by themselves where nothing failed.  An mpiexec that is made to end has not waited for its ranks, and what
    they used would count as other programs' load.
    """
    with tempfile.TemporaryDirectory(prefix="peers-mpi-") as folder, ExitStack() as stack:
        made = [_built(path, Path(folder) / f"{n}.so") for n, path in enumerate(_peers().values())]
        pipes, handles = [f"{folder}/orders", f"{folder}/answers"], []
        for pipe in pipes:
            os.mkfifo(pipe)
            handles.append(os.open(pipe, os.O_RDWR))
            stack.callback(os.close, handles[-1])
        arguments = ["-m", f"supercomputers_rerun.{__package__}._ranks", json.dumps(made), *pipes, json.dumps(problems)]
        process = stack.enter_context(started(arguments, ranks, folder))

        def ask(*order: int) -> int:
            os.write(handles[0], f"{' '.join(map(str, order))}\n".encode())
            while not select.select([handles[1]], [], [], 1.0)[0]:
                if process.poll() is not None:
                    raise JobError("the ranks of the MPI comparisons ended; run them with fewer threads")
            return int(os.read(handles[1], 64))

        yield ask
        os.write(handles[0], b"-1 0 0 0\n")
        process.wait()


def _side(ask, number: int, side: int):
    def call(repeats=None):
        return ask(number, side, repeats or 1, int(repeats is None))

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


def _on(ranks: int) -> Iterator[Comparison]:
    from kernels.mpi import exchange, transposition

    listed, names = list(_problems(ranks)), list(_peers())
    kernels = {"exchange": exchange, "transposition": transposition}
    cases = [Case(label, kernels[name], kernels[name].Problem(**asked)) for *_, label, (name, asked) in listed]
    limits.require_ranks(ranks, cases=cases)
    with _job(ranks, [problem for *_, problem in listed]) as ask:
        for number, (kind, nbytes, label, _) in enumerate(listed):
            yield Comparison(
                group=f"{kind}, {'64 KiB and more' if nbytes >= LONG else 'shorter messages'}",
                label=label,
                ours=_side(ask, number, 0),
                peers={name: _side(ask, number, side) for side, name in enumerate(names, start=1)},
                check=lambda ours, theirs: float(ours + theirs),  # wrong values of either side
                tolerance=0,
                builds=names,
            )


def _library() -> str:
    """What the MPI library that ranks load says of itself, in one line."""
    command = [sys.executable, "-c", "from mpi4py import MPI; print(MPI.Get_library_version())"]
    said = subprocess.run(command, check=False, capture_output=True, text=True).stdout
    return " ".join(said.partition("\n")[0].split())


def versions() -> dict[str, str]:
    """Compiler and options of each C build."""
    found: dict[str, str] = {}
    if doctor.mpi().ok and (compiler := _compiler()) is not None:
        for name, path in _peers().items():
            asked = subprocess.run([compiler, "--version"], check=False, capture_output=True, text=True, env=_by(path))
            said = next(iter(asked.stdout.splitlines()), "mpicc")
            found[name] = f"{_library()}: {said}, {' '.join(OPTIONS)}"
    return found


def comparisons(threads: int) -> Iterator[Comparison | Absent]:
    """Exchange and transposition on ``threads`` ranks, an even number of them."""
    ranks = threads - threads % 2
    if ranks < 2:
        yield Absent("MPI in C on one processor", "messages need two ranks; ask for two threads")
        return
    if not doctor.mpi().ok:
        yield Absent("MPI in C", "no MPI is installed; install the extra mpi")
    elif lack := _lack():
        yield Absent("MPI in C", f"{lack} of the MPI here is missing; install its development package")
    else:
        yield from _on(ranks)
