"""Processes that write parts of one field out of shared memory, at most g of them at a time: those of ``nodes``.

U is cut along three dimensions, so every process writes rows of a few hundred bytes, each at its own place: the
pattern for which NHT-1's iPSC/860 code needed groups of 16 out of 128 nodes.  The processes load no compiler, since a
hundred of them would fill the memory with it.
"""

import multiprocessing
import os

import numpy as np

from kernels.decomposition import box
from kernels.files.format.layout import DTYPE, Layout
from kernels.files.formulas import COMPONENTS, WORD
from kernels.files.processes import Processes
from kernels.files.ways import pwrite_all

ELEMENT = COMPONENTS * WORD  # bytes of U at a point
PROCESS_BYTES = 40 * 2**20  # memory of a Python process with NumPy


def rows_of(layout, dump, part, limits):
    """Every row along i of a box, and its place in the file, bytes."""
    (i0, _), (j0, j1), (k0, k1) = limits
    N, start = layout.N, layout.offset(dump)
    for k in range(k0, k1):
        for j in range(j0, j1):
            yield start + ((k * N + j) * N + i0) * ELEMENT, part[k - k0, j - j0].reshape(-1)


def write_box(handle, layout, dump, part, limits):
    """Rows along i, each at its own place in the file."""
    for place, row in rows_of(layout, dump, part, limits):
        pwrite_all(handle, row.view(np.uint8), place)


def worker(connection, rank, P, layout, gates, buffer):
    """Process ``rank`` of P: writes its box of each dump that it is told of, inside the gate of the group size.

    An answer is None, or the words of an error.
    """
    (i0, i1), (j0, j1), (k0, k1) = limits = box(layout.N, P, rank)
    part = np.frombuffer(buffer, DTYPE).reshape(layout.shape)[k0:k1, j0:j1, i0:i1]
    connection.send(None)
    while message := _told(connection):
        path, g, dump = message
        try:
            handle = os.open(path, os.O_WRONLY)
            try:
                with gates[g]:
                    write_box(handle, layout, dump, part, limits)
            finally:
                os.close(handle)
            connection.send(None)
        except Exception as error:
            connection.send(f"{type(error).__name__}: {error}")


def _told(connection):
    """The next message; None when nobody will send one."""
    try:
        return connection.recv()
    except (EOFError, ConnectionResetError):
        return None


class Team:
    """P processes, started once and used for every group size of ``sizes``; ``buffer`` is the shared field."""

    def __init__(self, P: int, layout: Layout, sizes: tuple[int, ...], buffer):
        context = multiprocessing.get_context("spawn")
        gates = {g: context.Semaphore(g) for g in sizes}
        self.processes = Processes(worker, [(rank, P, layout, gates, buffer) for rank in range(P)])
        self.close = self.processes.close
        self._collect()

    def write(self, path, g: int, dump: int) -> None:
        """All processes write their parts of a dump, ``g`` at a time.  ``OSError`` if one of them cannot."""
        self.processes.send((str(path), g, dump))
        self._collect()

    def _collect(self) -> None:
        errors = [answer for answer in self.processes.answers() if answer]
        if errors:
            raise OSError(f"writing in groups failed: {errors[0]}")
