"""Between spectra, degree by degree, and the coefficients that the Legendre sums take, eight fields in lanes.

``P_{m+2l} = even_l p_l + carry_{l-1} p_{l-1}`` and ``P_{m+2l+1} = μ odd_l p_l`` (see ``legendre``) turn the
coefficients of ``P_n`` into those of ``p_l``: even-real, even-imaginary, odd-real, odd-imaginary.
"""

from typing import Any, NamedTuple

from kernels.runtime.jit import kernel
from kernels.runtime.vector import (
    LANES,
    address,
    at,
    fma,
    high_of_two,
    load,
    low_of_two,
    put,
    spread,
    store,
    transpose,
)
from kernels.spectral.quads import SPAN, load4, store4

PAIR = 2 * SPAN  # doubles of two ell: four degrees of eight fields, an 8×8 matrix


class Spectra(NamedTuple):
    """Spectra of up to eight fields."""

    values: Any  # float64, flat: real and imaginary parts in turn, m by m
    columns: Any  # int64, (T + 2,): first coefficient of each wavenumber, and the end
    extra: int  # 0 or 1: degrees go up to the truncation plus this
    lanes: Any  # int64, (8,): offset of the field in each lane, doubles; missing fields share the last one's
    fields: int  # 1 … 8


class Column(NamedTuple):
    """One wavenumber of ``Spectra``."""

    values: Any  # address of ``Spectra.values``
    place: int  # its first coefficient in a field, doubles
    lanes: Any  # address of ``Spectra.lanes``
    fields: int  # 1 … 8
    degrees: int  # coefficients


class Weights(NamedTuple):
    """Factors of one wavenumber; addresses of float64."""

    even: Any
    carry: Any
    odd: Any
    term: int  # place of the first ell in all three


@kernel(inline=True)
def column_of(spectra):
    """``Column`` of no wavenumber yet, of ``spectra`` (``Spectra``); made once a thread, see ``functions_of``."""
    return Column(address(spectra.values), 0, address(spectra.lanes), spectra.fields, 0)


@kernel(inline=True)
def column_at(column, first, degrees):
    """The ``column`` that begins at coefficient number ``first`` and has as many ``degrees``."""
    return Column(column.values, 2 * first, column.lanes, column.fields, degrees)


@kernel(inline=True)
def weights_of(tables):
    """``Weights`` of no wavenumber yet, from the plan's ``tables`` (``Tables``); made once a thread."""
    factors = tables.factors
    return Weights(address(factors[2]), address(factors[3]), address(factors[4]), 0)


@kernel(inline=True)
def weights_at(weights, term):
    """The ``weights`` of the wavenumber whose terms start at ``term`` of the factors."""
    return Weights(weights.even, weights.carry, weights.odd, term)


@kernel(inline=True)
def terms(degrees):
    """Values of ell for ``degrees`` coefficients."""
    return (degrees - 1) // 2 + 1


@kernel(inline=True)
def _four_degrees(values, lanes, place):
    """Real and imaginary parts of four degrees, one vector of eight fields each."""
    return transpose(
        load(values, at(lanes, 0) + place),
        load(values, at(lanes, 1) + place),
        load(values, at(lanes, 2) + place),
        load(values, at(lanes, 3) + place),
        load(values, at(lanes, 4) + place),
        load(values, at(lanes, 5) + place),
        load(values, at(lanes, 6) + place),
        load(values, at(lanes, 7) + place),
    )


@kernel(inline=True)
def _last_degrees(column, last, edge):
    """The same for the degrees from ``last`` on, zero beyond the end; through ``edge``, an 8×8 matrix."""
    for f in range(LANES):
        for i in range(LANES):
            n = 2 * last + i
            inside = n < 2 * column.degrees
            put(edge, LANES * f + i, at(column.values, at(column.lanes, f) + column.place + n) if inside else 0.0)
    return transpose(
        load(edge, 0),
        load(edge, LANES),
        load(edge, 2 * LANES),
        load(edge, 3 * LANES),
        load(edge, 4 * LANES),
        load(edge, 5 * LANES),
        load(edge, 6 * LANES),
        load(edge, 7 * LANES),
    )


@kernel
def to_functions(column, weights, edge, c):
    """Coefficients of ``p_l`` from those of ``P_n``, from the highest degree down, two ell at a time.

    Parameters
    ----------
    column : Column
    weights : Weights
    edge : address of float64, (8, 8)
        Scratch.
    c : address of float64, (ell, 4, 8)
        Receives the coefficients; room for an even number of ell.
    """
    even, carry, odd, term = weights
    last = (column.degrees - 1) // 4 * 4
    r = _last_degrees(column, last, edge)
    above = spread(0.0), spread(0.0)
    top = term + (column.degrees - 1) // 2
    for i in range(last, -1, -4):
        if i < last:
            r = _four_degrees(column.values, column.lanes, column.place + 2 * i)
        place = PAIR // 4 * i
        low, high = term + i // 2, min(term + i // 2 + 1, top)
        u, v, w = spread(at(even, low)), spread(at(carry, low)), spread(at(odd, low))
        store4(c, place, (fma(u, r[0], v * r[4]), fma(u, r[1], v * r[5]), w * r[2], w * r[3]))
        u, v, w = spread(at(even, high)), spread(at(carry, high)), spread(at(odd, high))
        store4(c, place + SPAN, (fma(u, r[4], v * above[0]), fma(u, r[5], v * above[1]), w * r[6], w * r[7]))
        above = r[0], r[1]


@kernel(inline=True)
def _put_four_degrees(values, lanes, place, r):
    # a missing field's lane is written first and to the last field, which then overwrites it
    store(values, at(lanes, 7) + place, r[7])
    store(values, at(lanes, 6) + place, r[6])
    store(values, at(lanes, 5) + place, r[5])
    store(values, at(lanes, 4) + place, r[4])
    store(values, at(lanes, 3) + place, r[3])
    store(values, at(lanes, 2) + place, r[2])
    store(values, at(lanes, 1) + place, r[1])
    store(values, at(lanes, 0) + place, r[0])


@kernel
def from_functions(c, weights, edge, column):
    """Transpose of ``to_functions``: coefficients of ``P_n`` of the fields that there are.

    Parameters
    ----------
    c : address of float64, (ell, 4, 8)
        Coefficients of ``p_l``, an even number of ell.
    weights : Weights
    edge : address of float64, (8, 8)
        Scratch.
    column : Column
        Where to write.
    """
    even, carry, odd, term = weights
    last = (column.degrees - 1) // 4 * 4
    top = term + (column.degrees - 1) // 2
    below = spread(0.0), spread(0.0)
    for i in range(0, last + 4, 4):
        place = PAIR // 4 * i
        s, t = load4(c, place), load4(c, place + SPAN)
        low, high = term + i // 2, min(term + i // 2 + 1, top)
        u, v, w = spread(at(even, low)), spread(at(carry, low)), spread(at(odd, low))
        y, z = spread(at(even, high)), spread(at(odd, high))
        r = transpose(
            fma(u, s[0], below[0]),
            fma(u, s[1], below[1]),
            w * s[2],
            w * s[3],
            fma(y, t[0], v * s[0]),
            fma(y, t[1], v * s[1]),
            z * t[2],
            z * t[3],
        )
        v = spread(at(carry, high))
        below = v * t[0], v * t[1]
        if i < last:
            _put_four_degrees(column.values, column.lanes, column.place + 2 * i, r)
        else:
            store4(edge, 0, (r[0], r[1], r[2], r[3]))
            store4(edge, SPAN, (r[4], r[5], r[6], r[7]))
    for f in range(column.fields):
        for i in range(2 * (column.degrees - last)):
            put(column.values, at(column.lanes, f) + column.place + 2 * last + i, at(edge, LANES * f + i))


@kernel(inline=True)
def _degree_of_two(column, n):
    """Real and imaginary parts of one degree of two fields; zero beyond the end."""
    if n >= column.degrees:
        return spread(0.0), spread(0.0)
    place = column.place + 2 * n
    first = load(column.values, at(column.lanes, 0) + place)
    second = load(column.values, at(column.lanes, 1) + place)
    return low_of_two(first, second), high_of_two(first, second)


@kernel
def _to_functions_of_two(column, weights, edge, c):
    """``to_functions`` of two fields; ``edge`` is not used."""
    even, carry, odd, term = weights
    above = spread(0.0), spread(0.0)
    for ell in range((column.degrees - 1) // 2, -1, -1):
        e, o = _degree_of_two(column, 2 * ell), _degree_of_two(column, 2 * ell + 1)
        u, v, w = spread(at(even, term + ell)), spread(at(carry, term + ell)), spread(at(odd, term + ell))
        store4(c, SPAN * ell, (fma(u, e[0], v * above[0]), fma(u, e[1], v * above[1]), w * o[0], w * o[1]))
        above = e


@kernel(inline=True)
def _put_degree_of_two(column, n, re, im):
    place = column.place + 2 * n
    store(column.values, at(column.lanes, 1) + place, high_of_two(re, im))
    store(column.values, at(column.lanes, 0) + place, low_of_two(re, im))


@kernel
def _from_functions_of_two(c, weights, edge, column):
    """``from_functions`` of two fields; ``edge`` is not used."""
    even, carry, odd, term = weights
    below = spread(0.0), spread(0.0)
    for ell in range(terms(column.degrees)):
        s = load4(c, SPAN * ell)
        u, v, w = spread(at(even, term + ell)), spread(at(carry, term + ell)), spread(at(odd, term + ell))
        _put_degree_of_two(column, 2 * ell, fma(u, s[0], below[0]), fma(u, s[1], below[1]))
        if 2 * ell + 1 < column.degrees:
            _put_degree_of_two(column, 2 * ell + 1, w * s[2], w * s[3])
        below = v * s[0], v * s[1]


if LANES == 2:
    to_functions, from_functions = _to_functions_of_two, _from_functions_of_two
