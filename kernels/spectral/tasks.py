"""Which rows travel together through the Fourier transforms, and where their wavenumbers stand.

A task is one transform of eight lanes: a row pair of eight fields, or those of eight neighbouring row
pairs of one field that have the same length.
"""

from typing import NamedTuple

import numpy as np

from kernels.runtime.vector import LANES
from kernels.spectral.quads import ALL, BLOCK, SPAN


class Task(NamedTuple):
    """A row of ``Rows.where``; offsets and steps in doubles."""

    length: int  # number of the row's length
    count: int  # wavenumbers
    place: int  # of its first wavenumber in the latitude-major buffer
    row: int  # number of its row, or block of rows, in the wavenumber-major buffer
    active: int  # bits of the lanes that are wanted; another task may have the others of the same block
    begin: int  # first lane
    end: int  # behind the last lane
    north: int  # offset of the northern row of lane 0 in the grid-point values
    north_step: int  # to that of the next lane
    south: int  # the same of its mirror image
    south_step: int


class Rows(NamedTuple):
    """What compiled code is told of the tasks."""

    where: np.ndarray  # int64, (tasks, 11), see ``Task``
    scales: np.ndarray  # float64, (tasks, 16): of the even, then of the odd parts, lane by lane


class Buffer(NamedTuple):
    """A Fourier buffer: quads of every (latitude or block, wavenumber), in either order."""

    values: np.ndarray  # float64, flat
    places: np.ndarray  # int64: where each latitude or block starts, or where each wavenumber's first would, doubles
    counts: np.ndarray  # int64: wavenumbers of each latitude or block
    streaming: bool  # write past the caches


class Tasks(NamedTuple):
    """Tables of all tasks of one kind; buffers hold ``SPAN`` doubles for a wavenumber of a row or block."""

    where: np.ndarray  # int64, (tasks, 11), see ``Task``
    rows: np.ndarray  # int64, (tasks, 8): row pair of every lane
    counts: np.ndarray  # wavenumbers of a row, or of a block of eight
    places: np.ndarray  # where a row or block starts in the latitude-major buffer, doubles
    waves: np.ndarray  # where row or block 0 would stand for each wavenumber in the other buffer, doubles
    size: int  # doubles of the latitude-major buffer
    waves_size: int  # doubles of the wavenumber-major buffer


def _places(counts):
    """Where each of several pieces of ``counts`` times ``SPAN`` starts, and the end of the last."""
    places = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64) * SPAN
    return places[:-1], int(places[-1])


def of_eight_fields(ids, grid, counts, first_row, fields) -> Tasks:
    """One task a row pair, of up to eight ``fields``.

    ``ids`` and ``counts`` are the number of the length and that of wavenumbers of every row, ``first_row`` is the first
    row that carries each wavenumber.
    """
    row, north, south = np.arange(grid.N), grid.starts[: grid.N], grid.starts[::-1][: grid.N]
    places, size = _places(counts)
    starts, _ = _places(grid.N - first_row)
    parts = ids, counts, places, row, ALL, 0, fields, north, grid.points, south, grid.points
    where = np.stack(np.broadcast_arrays(*parts), axis=1).astype(np.int64)
    return Tasks(where, np.repeat(row[:, None], LANES, 1), counts, places, starts - first_row * SPAN, size, size)


def of_one_field(ids, grid, counts, first_row) -> Tasks:
    """One task for each row length in a block of eight rows; arguments as above."""
    blocks, row = -(-grid.N // BLOCK) * BLOCK // LANES, np.arange(grid.N)
    north, south = grid.starts[: grid.N], grid.starts[::-1][: grid.N]
    most = np.zeros(blocks, dtype=np.int64)
    np.maximum.at(most, row // LANES, counts)
    places, size = _places(most)
    low = first_row // BLOCK * (BLOCK // LANES)
    starts, waves_size = _places(blocks - low)
    where, rows = [], []
    for first in np.flatnonzero(np.diff(ids, prepend=-1) | (row % LANES == 0)):  # of its length, or of its block
        block, lane = divmod(first, LANES)
        end = lane + int((ids[first : LANES * (block + 1)] == ids[first]).sum())
        step, active = grid.pl[first], 2**end - 2**lane
        most_waves = counts[first : first + end - lane].max()
        there = north[first] - lane * step, step, south[first] + lane * step, -step
        where.append([ids[first], most_waves, places[block], block, active, lane, end, *there])
        rows.append(np.clip(np.arange(LANES), lane, end - 1) + LANES * block)
    tables = (np.array(each, dtype=np.int64) for each in (where, rows))
    return Tasks(*tables, most, places, starts - low * SPAN, size, waves_size)
