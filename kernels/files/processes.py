"""Processes that are started once, are told things and answer: writers of parts of a field, disturbers, jobs.

The processes of a :class:`Team` write parts of one field out of shared memory, at most g of them at a time: those of
``nodes``.  U is cut along three dimensions, so every process writes rows of a few hundred bytes, each at its own
place: the pattern for which NHT-1's iPSC/860 code needed groups of 16 out of 128 nodes.  Its first code cut U along i
alone, and its nodes wrote point by point.

:class:`Disturbers` load a file system: each makes, reads and removes small files until it is told to stop, once at
least, and touches only a folder of its own.

What they do here loads no compiler, since a hundred of them would fill the memory with it.
"""

import contextlib
import multiprocessing
import os
import signal
import weakref
from collections.abc import Callable, Sequence
from multiprocessing import connection, resource_tracker
from pathlib import Path
from typing import Any

import numpy as np

from supercomputers_rerun.kernels.decomposition import box, cut
from supercomputers_rerun.kernels.files.filesystem import pwrite_all
from supercomputers_rerun.kernels.files.format.layout import COMPONENTS, DTYPE, WORD, Layout

__all__ = ["PROCESS_BYTES", "SPAWN", "Disturbers", "Processes", "Team", "rows_of", "write_points"]

SPAWN = multiprocessing.get_context("spawn")  # forking after threads exist is not safe
ELEMENT = COMPONENTS * WORD  # bytes of U at a point
PROCESS_BYTES = 40 * 2**20  # memory of a Python process with NumPy
_TOGETHER = 50  # small files between two looks at the clock of the starter


@contextlib.contextmanager
def _starting(variables: dict[str, str]):
    """Processes that are started inside have ``variables``, and never hear Ctrl-C: who started them ends them."""
    resource_tracker.ensure_running()  # or it would start inside, and let the signal in again
    environment, signals = dict(os.environ), signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    os.environ.update(variables)
    try:
        yield
    finally:
        for name in variables:
            del os.environ[name]
        os.environ.update(environment)
        signal.pthread_sigmask(signal.SIG_SETMASK, signals)


def _begin(target: Callable, here, *arguments) -> None:
    """Do ``target`` until it ends, or nobody is at the other end of its pipe."""
    with contextlib.suppress(EOFError, ConnectionError):
        target(here, *arguments)


def _end(connections, processes) -> None:
    for process in processes:
        process.kill()
    for process in processes:
        process.join()
    for each in connections:
        each.close()


class Processes:
    """A process for each of ``arguments``: ``target(connection, *arguments)``, with a pipe to this one.

    ``variables``: what each has in its environment beside this one's, if anything.  The processes are killed when this
    object goes, or ``close`` is called; one that loses its starter gets ``EOFError``.
    """

    def __init__(self, target: Callable, arguments: list[tuple], variables: Sequence[dict[str, str]] = ()):
        self.connections: list = []
        processes: list = []
        self.close = weakref.finalize(self, _end, self.connections, processes)
        for each, own in zip(arguments, variables or len(arguments) * [{}], strict=True):
            here, there = SPAWN.Pipe()
            self.connections.append(here)
            process = SPAWN.Process(target=_begin, args=(target, there, *each), daemon=True)
            with _starting(own):
                process.start()
            processes.append(process)
            there.close()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def send(self, message: Any) -> None:
        """Tell every process the same; one that has ended is missed when its answer is due."""
        for each in self.connections:
            with contextlib.suppress(BrokenPipeError):
                each.send(message)

    def answers(self) -> list:
        """The next answer of each.  ``OSError`` as soon as one has ended without; the others are ended then."""
        found, waiting = {}, list(self.connections)
        while waiting:
            for each in connection.wait(waiting):
                waiting.remove(each)
                try:
                    found[each] = each.recv()
                except (EOFError, ConnectionResetError):
                    self.close()
                    raise OSError("a process ended early (standard error may have its message); run it again") from None
        return [found[each] for each in self.connections]


def rows_of(layout: Layout, dump: int, part: np.ndarray, limits):
    """Every row along i of a box, and its place in the file, bytes.

    ``part`` is float64 [k, j, i, m] of the half-open ranges ``limits`` of i, j and k.
    """
    (i0, _), (j0, j1), (k0, k1) = limits
    N, start = layout.N, layout.offset(dump)
    for k in range(k0, k1):
        for j in range(j0, j1):
            yield start + ((k * N + j) * N + i0) * ELEMENT, part[k - k0, j - j0].reshape(-1)


def write_points(handle: int, layout: Layout, dump: int, field: np.ndarray, columns) -> None:
    """Dump ``dump`` point by point: a seek to the 40 bytes of each, and a write.

    ``columns``: those of i to write, one after the other, each along j, then k; ``field``: all of U, float64
    (N, N, N, 5) as [k, j, i, m].
    """
    data, start, N = memoryview(field.reshape(-1).view(np.uint8)), layout.offset(dump), layout.N
    for i in columns:
        for place in range(i * ELEMENT, N**3 * ELEMENT, N * ELEMENT):
            os.lseek(handle, start + place, os.SEEK_SET)
            os.write(handle, data[place : place + ELEMENT])


def _writer(here, rank: int, P: int, layout: Layout, points: bool, gates, buffer) -> None:
    """Process ``rank`` of P: writes its part of each dump that it is told of, inside the gate of the group size."""
    (i0, i1), (j0, j1), (k0, k1) = limits = box(layout.N, P, rank)
    field = np.frombuffer(buffer, DTYPE).reshape(layout.shape)
    while True:
        here.send(None)
        path, g, dump = here.recv()
        with open(path, "r+b", buffering=0) as file, gates[g]:
            if points:
                write_points(file.fileno(), layout, dump, field, range(*cut(layout.N, P, rank)))
            else:
                for place, row in rows_of(layout, dump, field[k0:k1, j0:j1, i0:i1], limits):
                    pwrite_all(file.fileno(), row.view(np.uint8), place)


class Team(Processes):
    """P processes, started once and used for every group size of ``sizes``; ``buffer`` is the shared field, of which
    they write rows of boxes, or ``points``."""

    def __init__(self, P: int, layout: Layout, sizes: tuple[int, ...], buffer, points: bool = False):
        gates = {g: SPAWN.Semaphore(g) for g in sizes}
        super().__init__(_writer, [(rank, P, layout, points, gates, buffer) for rank in range(P)])
        self.answers()

    def write(self, path: Path, g: int, dump: int) -> None:
        """All processes write their parts of a dump, ``g`` at a time.  ``OSError`` if one of them cannot."""
        self.send((path, g, dump))
        self.answers()


def _make_read_remove(path: str, body: bytes) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.write(handle, body)
    os.close(handle)
    handle = os.open(path, os.O_RDONLY)
    os.read(handle, len(body))
    os.close(handle)
    os.unlink(path)


def _disturb(here, folder: Path, nbytes: int) -> None:
    body, sets = b"x" * nbytes, 0
    here.send(0)
    while sets == 0 or not here.poll():  # a word, or the end of the starter
        for number in range(_TOGETHER):
            _make_read_remove(f"{folder}/{number}", body)
        sets += 2 * _TOGETHER  # one that writes a file, one that reads it
    here.recv()
    here.send(sets)


class Disturbers(Processes):
    """``count`` processes that storm small files of ``nbytes`` bytes, each in a folder of its own in ``folder``."""

    def __init__(self, folder: Path, count: int, nbytes: int):
        folders = [folder / f"others-{number}" for number in range(count)]
        for each in folders:
            each.mkdir(exist_ok=True)
        super().__init__(_disturb, [(each, nbytes) for each in folders])
        self.answers()

    def stop(self) -> int:
        """End them; sets of open, read or write, close that they did together.

        ``OSError`` if one of them could not go on.
        """
        with self:
            self.send(None)
            return sum(self.answers())
