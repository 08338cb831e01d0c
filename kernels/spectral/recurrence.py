"""Legendre functions of one wavenumber, 24 latitudes at a time, while the sums are computed that need them.

``p_{l+1} = (a_l μ² + b_l) p_l - p_{l-1}`` (see ``legendre``), three vectors of eight latitudes a block.  In the
functions below a ``state`` holds two values of ``p`` for every latitude of a block, 2·BLOCK doubles: the
earlier ones, then the later ones.
"""

from typing import Any, NamedTuple

from kernels.runtime.jit import kernel
from kernels.runtime.vector import LANES, address, at, fma, fms, load, prefetch, spread, store
from kernels.spectral.legendre import BLOCK


class Functions(NamedTuple):
    """The functions ``p_l`` of one wavenumber; addresses are of float64 unless it says otherwise."""

    count: int  # values of ell: 0 … count - 1
    a: Any  # address of the recurrence's first factors, 1
    b: Any  # address of its second factors, 1
    term: int  # where this wavenumber's factors start in ``a`` and ``b``
    squares: Any  # address of μ² of every latitude, padded to whole blocks
    first: Any  # address, int64: first ell that matters, of every block of every wavenumber
    seeds: Any  # address of the two values to start from, 2·BLOCK for every block of every wavenumber
    block: int  # number of this wavenumber's first block in ``first`` and ``seeds``
    blocks: int  # blocks of a wavenumber
    following: int  # doubles from the seeds of a block to those of the thread's next wavenumber


@kernel(inline=True)
def functions_of(tables, threads):
    """``Functions`` of no wavenumber yet; ``tables`` are the plan's ``Tables``.

    Each of ``threads`` threads takes every ``threads``-th wavenumber.  Made once a thread: numba counts the
    references to an array with locked instructions wherever its address is taken.
    """
    blocks, factors = tables.first.shape[1], tables.factors
    a, b = address(factors[0]), address(factors[1])
    squares, first, seeds = address(tables.squares), address(tables.first), address(tables.seeds)
    return Functions(0, a, b, 0, squares, first, seeds, 0, blocks, threads * blocks * 2 * BLOCK)


@kernel(inline=True)
def functions_at(functions, m, term, count):
    """``functions`` of wavenumber ``m``, whose ``count`` terms start at ``term`` of the factors."""
    _, a, b, _, squares, first, seeds, _, blocks, following = functions
    return Functions(count, a, b, term, squares, first, seeds, m * blocks, blocks, following)


@kernel(inline=True)
def first_of(functions, block):
    """First ell of ``functions`` that matters to a ``block`` of latitudes, by number."""
    return at(functions.first, functions.block + block)


@kernel(inline=True)
def load_block(values, place):
    """BLOCK numbers as a tuple of three vectors, from ``place`` of ``values`` (address of float64)."""
    return load(values, place), load(values, place + LANES), load(values, place + 2 * LANES)


@kernel(inline=True)
def store_block(values, place, three):
    """Write ``three`` vectors to ``values`` (address of float64) from ``place`` on."""
    store(values, place, three[0])
    store(values, place + LANES, three[1])
    store(values, place + 2 * LANES, three[2])


@kernel(inline=True)
def step(functions, ell, x, q, p):
    """``p_l, p_{l+1}`` from ``q`` = ``p_{l-1}`` and ``p`` = ``p_l``, ``l = ell``; ``x`` = μ², three vectors
    each, with the factors of ``functions`` (``Functions``)."""
    a, b = spread(at(functions.a, functions.term + ell)), spread(at(functions.b, functions.term + ell))
    return p, (
        fms(fma(a, x[0], b), p[0], q[0]),
        fms(fma(a, x[1], b), p[1], q[1]),
        fms(fma(a, x[2], b), p[2], q[2]),
    )


@kernel(inline=True)
def step_one(functions, ell, x, q, p):
    """``step`` of one vector each: ``functions``, ``ell``, ``x``, ``q`` and ``p`` are as there."""
    a, b = spread(at(functions.a, functions.term + ell)), spread(at(functions.b, functions.term + ell))
    return p, fms(fma(a, x, b), p, q)


@kernel(inline=True)
def begin(functions, block, state, place):
    """Seeds of a ``block`` of latitudes of ``functions`` (``Functions``) to ``state[place:]``.

    Meanwhile the seeds of the same block of the thread's next wavenumber are asked for.
    """
    here = 2 * BLOCK * (functions.block + block)
    for i in range(0, 2 * BLOCK, LANES):
        store(state, place + i, load(functions.seeds, here + i))
        prefetch(functions.seeds, here + i + functions.following)


@kernel(inline=True)
def build(functions, block, ell, count, panel, width, state):
    """``p_l`` of 24 latitudes for ``count`` values of ell from ``ell`` on; ``state`` carries two values on.

    Parameters
    ----------
    functions : Functions
    block : int
        Number of the block of latitudes.
    ell, count : int
    panel : (address of float64, int)
        Where to write, with the place of the first value in doubles.
    width : int
        Doubles from the values of one ell to those of the next.
    state : (address of float64, int)
        Two values of every latitude, with their place in doubles.
    """
    x = load_block(functions.squares, block * BLOCK)
    q, p = load_block(state[0], state[1]), load_block(state[0], state[1] + BLOCK)
    for i in range(count):
        store_block(panel[0], panel[1] + i * width, p)
        q, p = step(functions, ell + i, x, q, p)
    store_block(state[0], state[1], q)
    store_block(state[0], state[1] + BLOCK, p)


@kernel
def build_or_zero(functions, block, ell, end, panel, width, state):
    """As ``build``, ``functions``, ``panel`` and ``width`` too, for ``ell … end - 1``, with zeros where ``p_l``
    does not matter yet; the state of block
    number ``block`` is the ``block``-th of ``state`` (address of float64)."""
    start, kept = first_of(functions, block), 2 * BLOCK * block
    low = min(max(start, ell), end) - ell
    for i in range(low):
        for lane in range(0, BLOCK, LANES):
            store(panel[0], panel[1] + i * width + lane, spread(0.0))
    if start < end:
        if start >= ell:
            begin(functions, block, state, kept)
        build(functions, block, ell + low, end - ell - low, (panel[0], panel[1] + low * width), width, (state, kept))
