"""Processes that write parts of one field out of shared memory: what ``nodes`` sets to work.

They load no compiler, since a hundred of them would fill the memory with it.
"""

import errno
import os

import numpy as np

from kernels.decomposition import box, cut
from kernels.files.format.layout import DTYPE, Layout
from kernels.files.groups import ELEMENT, serve, write_box


def part_of(problem, rank: int) -> tuple[tuple[int, int], ...]:
    """Half-open ranges of i, j and k that process ``rank`` writes.

    Rows belong to boxes, cut along three dimensions; elements to slabs of i, so that no two neighbours in the
    file belong to one process.
    """
    if problem.unit == "row":
        return box(problem.N, problem.P, rank)
    return cut(problem.N, problem.P, rank), (0, problem.N), (0, problem.N)


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


def worker(connection, rank, problem, barrier, gates, *buffers):
    """One process: writes its part of whichever dump it is told of, inside the gate of the group size."""
    limits, layout = part_of(problem, rank), Layout(problem.N, problem.NS, problem.IW)
    fields = [np.frombuffer(buffer, DTYPE).reshape(layout.shape) for buffer in buffers]

    def write(handle, g, dump):
        with gates[g]:
            WRITERS[problem.unit](handle, layout, dump, fields[dump % len(fields)], limits)

    serve(connection, write)
