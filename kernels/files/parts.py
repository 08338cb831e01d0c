"""Processes that write parts of one field out of shared memory: what ``nodes`` sets to work.

They load no compiler, since a hundred of them would fill the memory with it: what they are told (``Task``) is
nothing of ``nodes``, which runs the solver.
"""

import errno
import os
from typing import NamedTuple

import numpy as np

from kernels.decomposition import box, cut
from kernels.files.format.layout import DTYPE, Layout
from kernels.files.groups import ELEMENT, serve, write_box


class Task(NamedTuple):
    """What a process is told of the problem, under the names that it has there."""

    N: int
    NS: int
    IW: int
    P: int
    unit: str
    sizes: tuple[int, ...]

    @classmethod
    def of(cls, problem) -> "Task":
        """That of a problem."""
        return cls(*(getattr(problem, name) for name in cls._fields))


def part_of(task, rank: int) -> tuple[tuple[int, int], ...]:
    """Half-open ranges of i, j and k that process ``rank`` writes.

    Rows belong to boxes, cut along three dimensions; elements to slabs of i, so that no two neighbours in the
    file belong to one process.
    """
    if task.unit == "row":
        return box(task.N, task.P, rank)
    return cut(task.N, task.P, rank), (0, task.N), (0, task.N)


def write_rows(handle, layout, dump, field, limits):
    """Rows along i of a box, a positioned write each."""
    (i0, i1), (j0, j1), (k0, k1) = limits
    write_box(handle, layout, dump, field[k0:k1, j0:j1, i0:i1], limits)


def write_elements(handle, layout, dump, field, limits):
    """A seek and a write of 40 bytes for every point, column i after column i."""
    data, start, N = memoryview(field.reshape(-1).view(np.uint8)), layout.offset(dump), layout.N
    for i in range(*limits[0]):
        for place in range(i * ELEMENT, N**3 * ELEMENT, N * ELEMENT):
            os.lseek(handle, start + place, os.SEEK_SET)
            if os.write(handle, data[place : place + ELEMENT]) != ELEMENT:
                raise OSError(errno.ENOSPC, "a point was written only in part")


WRITERS = {"row": write_rows, "element": write_elements}


def worker(connection, rank, task, barrier, gates, *buffers):
    """One process: writes its part of whichever dump it is told of, inside the gate of the group size."""
    limits, layout = part_of(task, rank), Layout(task.N, task.NS, task.IW)
    fields = [np.frombuffer(buffer, DTYPE).reshape(layout.shape) for buffer in buffers]

    def write(handle, g, dump):
        with gates[g]:
            WRITERS[task.unit](handle, layout, dump, fields[dump % len(fields)], limits)

    serve(connection, write)
