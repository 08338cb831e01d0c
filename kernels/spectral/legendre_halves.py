"""Sums over latitudes of one field where a vector of eight lanes takes two registers.

Two values of ell are summed over all latitudes at a time.  Their eight sums, of half the lanes, and the factors of the
recurrence are twelve vectors; four latitudes take seven loads and two stores for twelve fused operations.  Two ``p_l``
of every latitude wait in memory for the next two ell, so no latitude waits for itself.

Layouts as in ``legendre_one``, blocks of ``quads.TALL`` latitudes.  Functions share ``functions``
(:class:`kernels.spectral.functions.Functions`) of a wavenumber; ``ell``, an even one; ``state``, the address of two
values of ``p`` of every latitude; ``data``, the address of the Fourier buffer, and the ``place`` of block 0 in it;
``out``, the address of the projections.
"""

from kernels.runtime.jit import kernel
from kernels.runtime.vector import LANES, at, fma, fms, load_as, shuffle, spread, store
from kernels.spectral.quads import SPAN, TALL

HALF = LANES // 2
PARTS = 4  # numbers of one ell: even-real, even-imaginary, odd-real, odd-imaginary
_WIDTH = (0.0,) * HALF
# of halves of vectors: neighbours, and pairs
low_pair, high_pair = shuffle(0, 4, 2, 6), shuffle(1, 5, 3, 7)
low_two, high_two = shuffle(0, 1, 4, 5), shuffle(2, 3, 6, 7)
_half = shuffle(*range(HALF))


@kernel(inline=True)
def _add(p, values, place, sums):
    """``sums``, of half the lanes, and ``p`` times half of the quad that begins at ``place`` of ``values``."""
    return (
        fma(p, load_as(values, place, _WIDTH), sums[0]),
        fma(p, load_as(values, place + LANES, _WIDTH), sums[1]),
        fma(p, load_as(values, place + 2 * LANES, _WIDTH), sums[2]),
        fma(p, load_as(values, place + 3 * LANES, _WIDTH), sums[3]),
    )


@kernel(inline=True)
def _put_total(out, place, sums, fresh):
    """Write the totals of the four ``sums`` to ``place`` of ``out``, or add them if it is not ``fresh``."""
    a, b, c, d = sums
    a, b = low_pair(a, b) + high_pair(a, b), low_pair(c, d) + high_pair(c, d)
    a = low_two(a, b) + high_two(a, b)
    store(out, place, a if fresh else a + load_as(out, place, _WIDTH))


@kernel(inline=True)
def _four_latitudes(squares, factors, state, kept, data, there, sums):
    """``sums`` of two ell and four latitudes more, whose two values of ``p`` at ``state[kept]`` go two ell on.

    Their μ² are ``squares``; ``factors`` of the recurrence; their data begin at ``there``.
    """
    a, b, c, d = factors
    q, p = load_as(state, kept, _WIDTH), load_as(state, kept + TALL, _WIDTH)
    r = fms(fma(a, squares, b), p, q)
    store(state, kept, r)
    store(state, kept + TALL, fms(fma(c, squares, d), r, p))
    return _add(p, data, there, sums[0]), _add(r, data, there, sums[1])


@kernel(inline=True)
def two_ell(functions, ell, blocks, state, data, place, out, fresh):
    """Sums of ``ell`` and the next over ``blocks`` (the first and the end), whose ``state`` goes two ell on, to
    ``out[8 + 4 ell …]``, added to what is there unless it is ``fresh``."""
    k, zero, x = functions.term + ell, _half(spread(0.0), spread(0.0)), functions.squares
    factors = at(functions.a, k), at(functions.b, k), at(functions.a, k + 1), at(functions.b, k + 1)
    sums = (zero, zero, zero, zero), (zero, zero, zero, zero)
    for block in range(blocks[0], blocks[1]):
        i, kept, there = TALL * block, 2 * TALL * block, place + SPAN * block
        sums = _four_latitudes(load_as(x, i, _WIDTH), factors, state, kept, data, there, sums)
        x4 = load_as(x, i + HALF, _WIDTH)
        sums = _four_latitudes(x4, factors, state, kept + HALF, data, there + HALF, sums)
    _put_total(out, LANES + PARTS * ell, sums[0], fresh)
    _put_total(out, LANES + PARTS * (ell + 1), sums[1], fresh)
