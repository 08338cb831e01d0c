"""Exponential functions on one number or eight.

The C library's ``exp`` takes one number; calling it would keep a loop from being vectorised.  This
one is arithmetic alone (Cody and Waite, *Software Manual for the Elementary Functions*, 1980):

    n = round(x / ln 2),   r = x − n·ln 2  (two fused steps, ln 2 in two parts),   eˣ = 2ⁿ·p(r)

with p the polynomial of degree 11 that interpolates eʳ in the Chebyshev points of |r| ≤ ln 2 / 2; its
truncation error is 4e-18, so that rounding decides: below 1.1 units in the last place.  Even and odd
powers form two chains, so that one of them never waits for the other.

2ˣ = 2ⁿ·p(r) with n = round(x) and r = x − n, which is exact, takes fewer operations after one another: who has a
constant factor in the exponent multiplies it by log₂ e and calls ``exp2``.  Its p has degree 11 as well, on |r| ≤ 1/2,
and adds its last two terms last: below one unit in the last place.
"""

from supercomputers_rerun.kernels.runtime.jit import kernel
from supercomputers_rerun.kernels.runtime.vector import bits, fma, from_bits

#: eˣ and 2ˣ are defined for DOMAIN[0] ≤ x ≤ DOMAIN[1]; outside nothing is promised.
DOMAIN = (-708.0, 709.0)
#: Operations of one ``exp``: thirteen multiply-adds, a difference, a product and a sum.
EXP_FLOPS = 2 * 13 + 3
#: Operations of one ``exp2``: eleven multiply-adds, two differences, a sum and a product.
EXP2_FLOPS = 2 * 11 + 4

LOG2E = float.fromhex("0x1.71547652b82fep+0")
_LN2_HIGH = float.fromhex("0x1.62e42fefa39efp-1")
_LN2_LOW = float.fromhex("0x1.abc9e3b39803fp-56")
_ROUND = 1.5 * 2.0**52  # adding it leaves the nearest whole number in the last bits


@kernel(inline=True)
def exp(x):
    """eˣ for −708 ≤ x ≤ 709, x a float64 or a vector."""
    n = fma(x, LOG2E, _ROUND)
    whole = n - _ROUND
    r = fma(whole, -_LN2_HIGH, x)
    r = fma(whole, -_LN2_LOW, r)
    r2 = r * r
    even = fma(r2, 2.763265472252779e-07, 2.4801485441561313e-05)
    odd = fma(r2, 2.5110049204818658e-08, 2.755724088722987e-06)
    even = fma(even, r2, 0.0013888888952352863)
    odd = fma(odd, r2, 0.00019841269890076403)
    even = fma(even, r2, 0.04166666666648795)
    odd = fma(odd, r2, 0.008333333333319589)
    even = fma(even, r2, 0.5000000000000019)
    odd = fma(odd, r2, 0.1666666666666668)
    p = fma(r2, fma(odd, r, even), r) + 1.0
    return from_bits(bits(p) + (bits(n) << 52))


@kernel(inline=True)
def exp2(x):
    """2ˣ for −708 ≤ x ≤ 709, x a float64 or a vector."""
    n = x + _ROUND
    r = x - (n - _ROUND)
    r2 = r * r
    even = fma(r2, 7.074194297288521e-09, 1.3215432535912375e-06)
    odd = fma(r2, 4.4558179083360645e-10, 1.0178057087733941e-07)
    even = fma(even, r2, 0.00015403530463724353)
    odd = fma(odd, r2, 1.5252733841556773e-05)
    even = fma(even, r2, 0.009618129107587256)
    odd = fma(odd, r2, 0.001333355814640647)
    even = fma(even, r2, 0.24022650695910158)
    odd = fma(odd, r2, 0.055504108664821625)
    p = fma(r, fma(r, fma(odd, r, even), 0.6931471805599453), 1.0)
    return from_bits(bits(p) + (bits(n) << 52))
