"""Exchange between ranks beside the same in C, where MPI has its compiler here.

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
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from supercomputers_rerun.companion import host
from supercomputers_rerun.companion.bench import Case
from supercomputers_rerun.companion.mpi import JobError
from supercomputers_rerun.companion.mpi.launcher import mpiexec, started
from supercomputers_rerun.kernels.mpi import exchange
from supercomputers_rerun.peers import Absent, Comparison
from supercomputers_rerun.peers.kit import compiled

OPTIONS = ("-O3", "-march=native")
#: Messages from here on are summarised apart from shorter ones.
LONG = 2**16
#: Bytes of a message.
SIZES = exchange.SIZES["paper"][::2]


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
def _job(ranks: int):
    """Ranks that wait for orders: ``ask(nbytes, side, repeats, check)`` has all of them carry one out, and returns the
    number of wrong words where it asks for a check.

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
        arguments = ["-m", f"{__package__}._ranks", json.dumps(made), *pipes]
        process = stack.enter_context(started(arguments, ranks, folder))

        def ask(*order: int) -> int:
            os.write(handles[0], f"{' '.join(map(str, order))}\n".encode())
            while not select.select([handles[1]], [], [], 1.0)[0]:
                if process.poll() is not None:
                    raise JobError("the ranks of the MPI comparisons ended; run them with fewer threads")
            return int(os.read(handles[1], 64))

        yield ask
        os.write(handles[0], b"0 0 0 0\n")
        process.wait()


def _side(ask, nbytes: int, side: int):
    def call(repeats=None):
        return ask(nbytes, side, repeats or 1, int(repeats is None))

    return call


def _on(ranks: int, sizes: Iterable[int]) -> Iterator[Comparison]:
    names = list(_peers())
    cases = [Case(f"{nbytes:,} bytes", exchange, exchange.Problem(nbytes, ranks)) for nbytes in sizes]
    host.require_ranks(ranks, cases=cases)
    with _job(ranks) as ask:
        for case in cases:
            nbytes = case.problem.bytes
            yield Comparison(
                group=f"exchange, {'64 KiB and more' if nbytes >= LONG else 'shorter messages'}",
                label=case.label,
                ours=_side(ask, nbytes, 0),
                peers={name: _side(ask, nbytes, side) for side, name in enumerate(names, start=1)},
                check=lambda ours, theirs: float(ours + theirs),  # wrong words of either side
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
    if host.mpi().ok and (compiler := _compiler()) is not None:
        for name, path in _peers().items():
            asked = subprocess.run([compiler, "--version"], check=False, capture_output=True, text=True, env=_by(path))
            said = next(iter(asked.stdout.splitlines()), "mpicc")
            found[name] = f"{_library()}: {said}, {' '.join(OPTIONS)}"
    return found


def comparisons(threads: int) -> Iterator[Comparison | Absent]:
    """Exchange on ``threads`` ranks, an even number of them."""
    ranks = threads - threads % 2
    if ranks < 2:
        yield Absent("MPI in C on one processor", "messages need two ranks; ask for two threads")
        return
    if not host.mpi().ok:
        yield Absent("MPI in C", "no MPI is installed; install the extra mpi")
    elif lack := _lack():
        yield Absent("MPI in C", f"{lack} of the MPI here is missing; install its development package")
    else:
        yield from _on(ranks, SIZES)
