"""One time step of BT: first x and y in planes of constant k (``planes``), then z and the update in slabs of constant
j, with all k (``slabs``).

U = (ρ, ρu, ρv, ρw, E): density ρ, momenta (velocities u, v, w along x, y, z), total energy E of a unit of volume; dt is
the time step, and nothing has a physical unit.  Without forcing ∂U/∂t is R(U): three parts, one for each direction,
which ``differences`` adds.  A_x, A_y and A_z are minus these parts linearised in U, without the fourth differences δ⁴
of the dissipation.  Δ is the update::

    (I + dt·A_x) (I + dt·A_y) (I + dt·A_z) Δ = dt·(R(U) + forcing),    U ← U + Δ

    x part of R = −∂f/∂x + ∂²g/∂x² + d ∂²U/∂x² − e δ⁴U,    A_x Δ = ∂(F Δ)/∂x − ∂²(G Δ)/∂x²

    f = (ρu, ρu² + p, ρuv, ρuw, (E + p)u)     p = C2 (E − ρV²/2),  V² = u² + v² + w²
    g = (0, 4/3 μu, μv, μw, g_E)              g_E = μ((1 − C1²) V²/2 + u²/6) + C1345 E/ρ

f is the convective flux, g what viscosity and conduction of heat take second differences of.  In y and z, p and 4/3
belong to the momentum of that direction: in y f = (ρv, ρuv, ρv² + p, ρvw, (E + p)v), and g has 4/3 μv and v²/6.
Differences are central, on the unit cube, N points a side, h = 1/(N − 1) apart.  On the boundary U keeps the values of
a polynomial (``problem.exact_solution``), and the forcing is −R of it, so that it is the steady state.  Dissipation: d
is 0.75 in x and y and 1 in z, e is 0.25; δ⁴, not divided by h, has the weights 1, −4, 6, −4, 1, and others beside the
boundary (``differences.weights``).  C1 = C5 = 1.4, C2 = 0.4, μ = C3·C4 = 0.1, C1345 = C1·C5·μ = 0.196 (``problem``).
F = ∂f/∂U and G = ∂g/∂U + d·I are 5×5 Jacobians, taken at U before the update (``elimination``).

The factors are solved one after the other, each on the answer of the one before, and all of it in one array::

    rhs      dt·(forcing + z part of R)        left by the slabs of the step before
    plane    + dt·(y part), + dt·(x part)      rhs is complete: b = dt·(R + forcing)
             solve along x, along y            rhs is (I + dt·A_y)⁻¹ (I + dt·A_x)⁻¹ b
    slab     solve along z                     rhs is Δ
             U ← U + Δ
             rhs ← dt·(forcing + z part)       of the new U, for the next step

So a step passes over memory twice, and not seven times (for three parts of R, three solutions and the update): all that
is done to a plane, or to eight lines of a slab, is done while they are in the cache, and the z part of the *next* step
goes with the slabs because it, too, runs along k.  Planes do not depend on each other, nor do slabs: threads share them
out and meet in between.  What two passes, the strides below and prefetching gain has no number; ``book/peers.md``,
*What our solver waits for*, has the times of a step's parts, and why memory is not what it waits for.

Fields are flat float64 arrays, which ``solver.State`` owns, in the layout of ``solver.Box``; components have rows of
their own, so that eight points of one are one load.  u[k, j, m, i] lies at ``base + k·plane + (5·j + m)·row + i``, with
``base`` that of the box's first point; ``plane`` and ``row`` are odd numbers of cache lines, so that lines of any
direction spread over all sets of a cache::

    plane k    row j      ρ    i = 0 1 2 … ni − 1, then padding: ``row`` doubles
                          ρu   …
                          ρv, ρw, E
               row j+1    ρ    …                       5·``row`` behind ρ of row j

Functions share

``fields``     ``u``, the conserved variables; ``rhs``, first dt times the right-hand side, then solutions, at last Δ;
               after ``planes`` zero on the boundary of the grid and in the padding behind it; ``forcing``, dt times it
``geometry``   of a box (the whole grid, or the part of it that one rank has): its ``Place``, and of x, y and z the
               ``Direction`` and the ``Ends`` (:mod:`.lines`)
``solves``     of x, y and z: whether lines are solved here.  Such a line lies in this box from boundary to boundary;
               where boxes share a line, ``ranks`` passes it from one to the next
``work``       scratch, float64 (threads, work_size(cells) or more), with ``cells`` as in ``_most_cells``
``thread``     which of ``threads`` this is; it takes a contiguous share

Lanes are points along i for y and z.  Lines along x run along i themselves, and lanes must not depend on each other:
for x a lane is a row, and eight rows are turned into a tile and back::

    tile    cell i:  ρ of rows j … j+7 | ρu … | ρv … | ρw … | E …      5 · 8 doubles (``TILE``), then cell i+1
"""

from typing import NamedTuple

import numpy as np

from supercomputers_rerun.kernels.bt.differences import differences
from supercomputers_rerun.kernels.bt.elimination import FORWARD, RING, UPPER, Scratch, solve
from supercomputers_rerun.kernels.bt.lines import TILE, Rows, along, inner, vectors_of, visited
from supercomputers_rerun.kernels.contract import ceil_div
from supercomputers_rerun.kernels.runtime.jit import FINITE, kernel
from supercomputers_rerun.kernels.runtime.team import meet
from supercomputers_rerun.kernels.runtime.vector import LANES, load, spread, store, transpose_block

_V = np.uint64(LANES)
_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_TWO = np.uint64(2)
_FIVE = np.uint64(5)


class Parts(NamedTuple):
    """One thread's scratch, cut into flat float64 arrays, which lie in it in this order.

    Unpack the tuple before any loop: numba counts a reference, with a locked instruction, whenever an array is taken
    out of a tuple, and with ``parts.tile_u`` in the loops a step of class W takes 1.17 times as long.
    """

    upper: np.ndarray  # X of ``elimination``, of every cell of eight lines and of the one before the first
    ring: np.ndarray  # ``Terms`` of ``elimination``, of three cells in turn
    carry: np.ndarray  # for the next piece of a line (in ``ranks`` in another box): X and y, on the way back Δ
    tile_u: np.ndarray  # eight rows of u as eight lines along x
    tile_rhs: np.ndarray  # and of rhs
    block: np.ndarray  # 8 · 8 numbers: a transposed block of which some lanes are written


def work_size(cells: int) -> int:
    """Doubles of scratch, all ``Parts`` together, for lines of ``cells`` cells, those beside a tile's included."""
    padded = ceil_div(cells, LANES) * LANES
    return (padded + 1) * UPPER + RING + FORWARD + 2 * padded * int(TILE) + LANES * LANES


@kernel
def parts_of_work(work, cells):
    """The ``Parts`` of ``work``, one thread's scratch for lines of ``cells`` cells."""
    padded = vectors_of(cells) * _V
    ring = (padded + _ONE) * np.uint64(UPPER)
    carry = ring + np.uint64(RING)
    tile_u = carry + np.uint64(FORWARD)
    tile_rhs = tile_u + padded * TILE
    block = tile_rhs + padded * TILE
    return Parts(
        upper=work[:ring],
        ring=work[ring:carry],
        carry=work[carry:tile_u],
        tile_u=work[tile_u:tile_rhs],
        tile_rhs=work[tile_rhs:block],
        block=work[block:],
    )


@kernel(inline=True)
def rows_to_tile(source, rows, tile):
    """Eight ``rows`` (``Rows``) of ``source`` transposed into ``tile``, so that lanes are rows."""
    for m in range(_FIVE):
        for vector in range(rows.vectors):
            at = rows.at + m * rows.row + vector * _V
            transpose_block(source, (at, _FIVE * rows.row), tile, (vector * _V * TILE + m * _V, TILE))


@kernel(fastmath=FINITE)
def tile_to_rows(tile, first, target, rows, lanes, block):
    """A ``tile`` from its cell ``first`` on, turned back into the ``rows`` (``Rows``) of ``target``.

    ``lanes`` is a pair: the first lane that is written, and the end; the rows of the others keep what they have.
    ``block`` is scratch, flat, 8 · 8 doubles.
    """
    first_lane, end = lanes
    next_j = _FIVE * rows.row
    # next_j // row is five, which the compiler is not to know: it would unroll, with ten copies of the transposition.
    for m in range(next_j // rows.row):
        for vector in range(rows.vectors):
            source = (first + vector * _V) * TILE + m * _V
            at = rows.at + m * rows.row + vector * _V
            if end - first_lane == _V:
                transpose_block(tile, (source, TILE), target, (at, next_j))
            else:
                transpose_block(tile, (source, TILE), block, (_ZERO, _V))
                for lane in range(first_lane, end):
                    store(target, at + lane * next_j, load(block, lane * _V))


@kernel(inline=True)
def _clear(tile, cell):
    """Zero in a ``cell`` of a ``tile``."""
    for m in range(_FIVE):
        store(tile, cell * TILE + m * _V, spread(0.0))


@kernel(inline=True)
def _share(first, stop, threads, thread):
    """The part of ``first`` … ``stop`` − 1 that belongs to a ``thread``: its own first and stop, uint64."""
    count = stop - first
    threads = np.uint64(threads)
    thread = np.uint64(thread)
    return first + thread * count // threads, first + (thread + _ONE) * count // threads


@kernel(inline=True)
def _most_cells(place):
    """Cells for which scratch is laid out: those of the longest line of a box and those that a tile has beside it.

    Enough also for the cells of neighbours that ``visited`` adds.
    """
    return _TWO * place.beside + max(place.ni, place.nj, place.nk)


@kernel(fastmath=FINITE)
def planes(fields, geometry, solves, work, threads, thread):
    """In inner planes, adds y and x part of the right-hand side to ``rhs``, which holds forcing and z part; where lines
    are solved, the solution along x and then along y replaces it."""
    u, rhs, _ = fields
    place, directions, ends = geometry
    next_j = _FIVE * place.row  # from one j to the next
    vectors = vectors_of(place.ni)
    wide = vectors + _TWO * place.beside // _V  # vectors of a row, its neighbours' points included
    upper, ring, carry, tile_u, tile_rhs, block = parts_of_work(work[thread], _most_cells(place))
    line_scratch = Scratch(upper, ring, carry)
    # ``visited``: how many cells before the box differences begin, and how many they visit; ``inner``: first and stop
    # of the points that are not on the boundary of the grid
    before_x, points_x = visited(place.ni, ends[0])
    before_y, points_y = visited(place.nj, ends[1])
    low, high = inner(place.nj, ends[1])
    first, stop = inner(place.nk, ends[2])
    first, stop = _share(first, stop, threads, thread)  # of these, what the thread computes
    for k in range(first, stop):
        at = place.base + k * place.plane
        # y part first: once x is solved, rhs is no right-hand side any more to which a part could be added.  The call
        # ``differences(u, source, target, …)`` makes target = source + part, here in place.  No prefetch (last argument
        # of ``along``: 0): where y is solved, ``solve`` in the plane before has prefetched these lines of u and rhs.
        for vector in range(vectors):
            lines = along(1, at + vector * _V - before_y * next_j, place, points_y, _ZERO)
            differences(u, rhs, rhs, lines, directions[1])
        # x, eight rows at once.  Where the inner rows are no multiple of eight the last group is moved back until it
        # fits: it overlaps its predecessor, and the lanes that are done already are not written again::
        #
        #     19 rows     0 … 7 │ 8 … 15 │ 11 … 18, of which 16, 17 and 18 are written
        #
        # With fewer than eight inner rows the group begins at the first and reaches beyond them, in lanes that are not
        # written.
        j = low
        while j < high:  # as a range with a step, a step of class W takes 1.05 times as long (Zen 3)
            start = j
            if j + _V > high:
                start = max(high, _V + low) - _V
            first_row = at + start * next_j
            with_halo = Rows(first_row - place.beside, place.row, wide)
            rows_to_tile(u, with_halo, tile_u)
            rows_to_tile(rhs, with_halo, tile_rhs)
            lines = along(0, (place.beside - before_x) * TILE, place, points_x, _ZERO)
            differences(tile_u, tile_rhs, tile_rhs, lines, directions[0])
            if solves[0]:
                lines = along(0, place.beside * TILE, place, place.ni, _ZERO)
                solve(tile_u, tile_rhs, lines, directions[0], ends[0], line_scratch)
            # The boundary of the grid and the padding behind it become zero: y, z and the update then leave u there as
            # it is.  In boundary rows and planes nothing writes rhs, which began as zero.
            if ends[0].low:
                _clear(tile_rhs, place.beside)
            if ends[0].high:
                for cell in range(place.ni - _ONE, vectors * _V):
                    _clear(tile_rhs, place.beside + cell)
            lanes = j - start, min(_V, high - start)
            own_rows = Rows(first_row, place.row, vectors)
            tile_to_rows(tile_rhs, place.beside, rhs, own_rows, lanes, block)
            j = start + _V
        if solves[1]:
            for vector in range(vectors):
                # last: how far ahead to prefetch, a plane: the same lines of the next k
                lines = along(1, at + vector * _V, place, place.nj, place.plane)
                solve(u, rhs, lines, directions[1], ends[1], line_scratch)


@kernel(fastmath=FINITE)
def slabs(fields, geometry, solves, work, threads, thread):
    """For each inner j, with all k: where z is solved, its solution and the update of ``u``; then into ``rhs`` forcing
    and z part of the next right-hand side."""
    u, rhs, forcing = fields
    place, directions, ends = geometry
    next_j = _FIVE * place.row  # from one j to the next
    upper, ring, carry = parts_of_work(work[thread], _most_cells(place))[:3]
    line_scratch = Scratch(upper, ring, carry)
    before, points = visited(place.nk, ends[2])
    first, stop = inner(place.nj, ends[1])
    first, stop = _share(first, stop, threads, thread)  # of these, what the thread computes
    for j in range(first, stop):
        for vector in range(vectors_of(place.ni)):
            at = place.base + j * next_j + vector * _V
            if solves[2]:
                # last: how far ahead to prefetch, the five rows of a j: the same lines of the next j
                lines = along(2, at, place, place.nk, next_j)
                solve(u, rhs, lines, directions[2], ends[2], line_scratch)
                for k in range(_ONE, place.nk - _ONE):
                    for m in range(_FIVE):
                        entry = at + k * place.plane + m * place.row
                        store(u, entry, load(u, entry) + load(rhs, entry))
            lines = along(2, at - before * place.plane, place, points, next_j)
            differences(u, forcing, rhs, lines, directions[2])


@kernel(fastmath=FINITE)
def sweeps(task, fields, geometry, work, team, thread):
    """``planes`` and ``slabs`` in turn, as the ``task`` says: how many times, which of the two, and ``solves``.

    ``team``: where the threads count their arrivals (``meet``), and how many they are.
    """
    count, (with_planes, with_slabs), solves = task
    counter, threads = team
    for _ in range(count):
        if with_planes:
            planes(fields, geometry, solves, work, threads, thread)
            meet(counter, threads)
        if with_slabs:
            slabs(fields, geometry, solves, work, threads, thread)
            meet(counter, threads)
