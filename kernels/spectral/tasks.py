"""Which rows travel together through the Fourier transforms, and where their wavenumbers stand.

A task is one transform of eight lanes: a row pair of eight fields, or those of eight neighbouring row
pairs of one field that have the same length.
"""

from typing import NamedTuple

import numpy as np

from kernels.runtime.vector import LANES
from kernels.spectral.quads import ALL, BLOCK, SPAN


class Rows(NamedTuple):
    """What compiled code is told of the tasks."""

    where: np.ndarray  # int64, (tasks, 5), see ``Tasks``
    north: np.ndarray  # int64, (tasks, 8): offset of the northern row of each lane in the grid, doubles; -1: idle
    south: np.ndarray  # int64, (tasks, 8): its mirror image
    factors: np.ndarray  # float64, (tasks, 16): scales of the even, then of the odd parts, lane by lane


class Buffer(NamedTuple):
    """A Fourier buffer: quads of every (latitude or block, wavenumber), in either order."""

    values: np.ndarray  # float64, flat
    places: np.ndarray  # int64: where each latitude or block starts, or where each wavenumber's first would, doubles
    counts: np.ndarray  # int64: wavenumbers of each latitude or block
    streaming: bool  # write past the caches


class Tasks(NamedTuple):
    """Tables of all tasks of one kind; buffers hold ``SPAN`` doubles for a wavenumber of a row or block.

    ``where[task]`` is: number of the length; wavenumbers; offset in the latitude-major buffer, doubles; row or
    block in the wavenumber-major buffer; bits of the active lanes.  An idle lane works on a row that nobody
    reads.
    """

    where: np.ndarray  # int64[task, 5]
    north: np.ndarray  # offsets of the northern rows in the grid-point array, int64[task, 8]
    south: np.ndarray  # offsets of their mirror images, int64[task, 8]
    rows: np.ndarray  # row pair of every lane, int64[task, 8]
    counts: np.ndarray  # wavenumbers of a row, or of a block of eight
    places: np.ndarray  # where a row or block starts in the latitude-major buffer, doubles
    waves: np.ndarray  # where row or block 0 would stand for each wavenumber in the other buffer, doubles
    size: int  # doubles of the latitude-major buffer
    waves_size: int  # doubles of the wavenumber-major buffer


def _places(counts):
    """Where each of several pieces of ``counts`` times ``SPAN`` starts, and the end of the last."""
    places = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64) * SPAN
    return places[:-1], int(places[-1])


def of_eight_fields(ids, north, south, counts, first_row) -> Tasks:
    """One task a row pair.

    Parameters
    ----------
    ids, counts : int64[nlat]
        Length id and number of wavenumbers of every row.
    north, south : int64[nlat]
        Offsets of the rows and of their mirror images in the grid-point array.
    first_row : int64[T + 1]
        First row that carries a wavenumber.
    """
    row = np.arange(len(ids))
    places, size = _places(counts)
    starts, _ = _places(len(ids) - first_row)
    where = np.stack([ids, counts, places, row, np.full(len(ids), ALL)], axis=1).astype(np.int64)
    eight = np.zeros(LANES, dtype=np.int64)
    return Tasks(
        where,
        north[:, None] + eight,
        south[:, None] + eight,
        row[:, None] + eight,
        counts,
        places,
        starts - first_row * SPAN,
        size,
        size,
    )


def of_one_field(ids, north, south, counts, first_row, padded) -> Tasks:
    """One task for each row length in a block of eight rows; arguments as above.

    ``padded`` is the number of rows with those that fill the last block.
    """
    blocks, row = padded // LANES, np.arange(len(ids))
    most = np.zeros(blocks, dtype=np.int64)
    np.maximum.at(most, row // LANES, counts)
    places, size = _places(most)
    low = first_row // BLOCK * (BLOCK // LANES)
    starts, waves_size = _places(blocks - low)
    where, to_north, to_south, members = [], [], [], []
    for block in range(-(-len(ids) // LANES)):
        mine = row[LANES * block : LANES * (block + 1)]
        for n in np.unique(ids[mine]):
            chosen = mine[ids[mine] == n]
            lanes = chosen - LANES * block
            where.append([n, counts[chosen].max(), places[block], block, (1 << lanes).sum()])
            for table, values, idle in ((to_north, north, -1), (to_south, south, -1), (members, row, chosen[0])):
                table.append(np.full(LANES, idle))
                table[-1][lanes] = values[chosen]
    tables = (np.array(table, dtype=np.int64) for table in (where, to_north, to_south, members))
    return Tasks(*tables, most, places, starts - low * SPAN, size, waves_size)
