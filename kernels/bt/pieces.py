"""Elimination and substitution on a piece of eight lines: the rest of each line belongs to somebody else.

The arithmetic is that of ``elimination``.  What a piece needs of its neighbours is handed on: X and y of the last
cell before it, the solution of the first cell behind it.

``u`` and ``r`` are the field and the right-hand side (float64, flat), ``lines`` the ``lines.Lines`` of eight lines,
``direction`` their ``lines.Direction``, ``ends`` says at which ends they reach the boundary of the grid, ``upper``
keeps the blocks from ``start`` on, and ``ring`` is the scratch of the elimination, all in doubles.
"""

import numpy as np

from kernels.bt.elimination import (
    _CELL,
    UPPER,
    _constants,
    _describe,
    _eliminate_cell,
    _load_five,
    _store_five,
    _substitute_cell,
)
from kernels.runtime.jit import FINITE, kernel
from kernels.runtime.vector import LANES, load, store

#: Words that eight lines hand on in the forward and in the backward sweep.
FORWARD, BACKWARD = 30 * LANES, 5 * LANES
_V, _ZERO, _ONE = (np.uint64(n) for n in (LANES, 0, 1))
_V25 = np.uint64(25 * LANES)
_UPPER = np.uint64(UPPER)


@kernel(fastmath=FINITE)
def eliminate_piece(u, r, lines, direction, ends, upper, start, ring, carry, word):
    """Elimination on the cells of a box; X of cell n goes to ``upper[start + (n + 1)·UPPER]``.

    ``lines.at`` is the box's first cell and ``lines.points`` counts its cells; ``carry[word:]`` holds X and y of
    the cell before the box and receives those of its last.
    """
    cell, constants = lines.cell, _constants(direction)
    begin, stop = (_ONE if ends.low else _ZERO), (lines.points - _ONE if ends.high else lines.points)
    x = start + begin * _UPPER
    for entry in range(np.uint64(25)):
        store(upper, x + entry * _V, load(carry, word + entry * _V))
    y = _load_five(carry, word + _V25, _V)
    behind, middle, front = _ZERO, _CELL, _CELL + _CELL
    first = lines.at + begin * cell
    _describe(u, first - cell, lines, ring, behind, constants)
    _describe(u, first, lines, ring, middle, constants)
    for n in range(begin, stop):
        here = lines.at + n * cell
        _describe(u, here + cell, lines, ring, front, constants)
        before, x = x, x + _UPPER
        y = _eliminate_cell(r, here, lines, ring, (behind, middle, front), constants, upper, before, x, y)
        behind, middle, front = middle, front, behind
    for entry in range(np.uint64(25)):
        store(carry, word + entry * _V, load(upper, x + entry * _V))
    _store_five(carry, word + _V25, _V, y)


@kernel(fastmath=FINITE)
def substitute_piece(r, lines, ends, upper, start, carry, word):
    """Back substitution: ``carry[word:]`` holds Δ of the cell after the box and receives that of its first."""
    begin, stop = (_ONE if ends.low else _ZERO), (lines.points - _ONE if ends.high else lines.points)
    y = _load_five(carry, word, _V)
    for step in range(_ONE, stop - begin + _ONE):
        n = stop - step
        y = _substitute_cell(r, lines.at + n * lines.cell, lines, upper, start + (n + _ONE) * _UPPER, y)
    _store_five(carry, word, _V, y)
