"""Words of another machine's format: big-endian IEEE 754 and the floating point of the Cray in 128 bits.

A solution written on one machine and verified on another has to be converted when the formats differ
(NHT-1, section 3.2: IEEE on the CM-2, Cray on the Y-MP, in 128 bits so that nothing is lost).

    IEEE 754    1 bit sign, 11 bits exponent + 1023, 52 bits fraction:    (-1)^s 1.f 2^(e - 1023)
    Cray, 64    1 bit sign, 15 bits exponent + 16384, 48 bits fraction:   (-1)^s 0.f 2^(e - 16384)
    Cray, 128   the same word, and a second one whose last 48 bits carry the fraction on to 96; its first 16 are 0

The Cray has no hidden bit, no infinity, no NaN and no negative zero; its exponent reaches further.  The fraction of
one word is 5 bits shorter than IEEE's significand.  Converting to two words is always exact; converting back is exact
where the exponent fits and no more than 53 bits are used.

Compiled loops take the bits of float64 values as uint64 (n,) and pairs of Cray words as uint64 (2 n,), and write the
second argument; ``ValueError`` where the lengths do not fit.

Source of the formats: Cray Research, *CRAY-1 Computer System Hardware Reference Manual*, HR-0004; *CF77 Fortran
Language Reference Manual*, SR-3772, appendix F.
"""

import numpy as np

from supercomputers_rerun.kernels.runtime.jit import kernel

__all__ = ["copy_words", "decode_pairs", "encode_pairs", "swap_words"]

_SIGN = np.uint64(1 << 63)
_IEEE_FRACTION = np.uint64((1 << 52) - 1)
_IEEE_ONE = np.uint64(1 << 52)
_IEEE_EXPONENT = np.uint64(0x7FF)
_CRAY_FRACTION = np.uint64((1 << 48) - 1)
_CRAY_TOP = np.uint64(1 << 47)
_CRAY_EXPONENT = np.uint64(0x7FFF)
#: difference of the exponent fields of one value: (e - 1023) + 1 = E - 16384
_SHIFT = np.uint64(16384 + 1 - 1023)
_REST = np.uint64(31)  # of IEEE's significand, what a fraction of 48 bits has no room for
_ONE, _5, _11, _16, _32, _43, _48, _52 = (np.uint64(n) for n in (1, 5, 11, 16, 32, 43, 48, 52))


@kernel
def encode_pairs(native, foreign):
    """IEEE words, ``native``, to pairs of Cray words, ``foreign``, exactly; zero loses its sign.

    ``ValueError`` for subnormal numbers, infinity and NaN, which no solution holds.
    """
    if foreign.size != 2 * native.size:
        raise ValueError("native and the pairs of foreign must be of one length")
    for i in range(native.size):
        bits = native[i]
        field, fraction = (bits >> _52) & _IEEE_EXPONENT, (bits & _IEEE_FRACTION) | _IEEE_ONE
        if bits & ~_SIGN == 0:
            foreign[2 * i] = foreign[2 * i + 1] = np.uint64(0)
        elif field == 0 or field == _IEEE_EXPONENT:
            raise ValueError("a number is subnormal or not finite; the Cray's words are not made for it")
        else:
            foreign[2 * i] = (bits & _SIGN) | ((field + _SHIFT) << _48) | (fraction >> _5)
            foreign[2 * i + 1] = (fraction & _REST) << _43


@kernel
def decode_pairs(foreign, native):
    """Pairs of Cray words, ``foreign``, to the nearest IEEE words, ``native``, ties to even.

    ``ValueError`` for numbers that are not normalised, or that IEEE's exponent does not reach.
    """
    if foreign.size != 2 * native.size:
        raise ValueError("native and the pairs of foreign must be of one length")
    for i in range(native.size):
        word, second = foreign[2 * i], foreign[2 * i + 1]
        field, fraction = ((word >> _48) & _CRAY_EXPONENT) - _SHIFT, word & _CRAY_FRACTION
        if word | second == 0:
            native[i] = np.uint64(0)
        elif fraction < _CRAY_TOP or field - _ONE >= _IEEE_EXPONENT - _ONE:  # below zero it is large
            raise ValueError("a word is no normalised number of the Cray that IEEE's 64 bits can hold")
        else:
            # 64 bits, the last of which says whether any bit follows, and then the 53 that fit
            found = (fraction << _16) | ((second & _CRAY_FRACTION) >> _32)
            found |= np.uint64(second << _32 != 0)
            kept = found >> _11
            kept += np.uint64((found & np.uint64(2047)) + (kept & _ONE) > np.uint64(1024))
            native[i] = (word & _SIGN) | (((field - _ONE) << _52) + kept)  # a carry raises the exponent


@kernel
def swap_words(source, target):
    """The words of ``source`` with their bytes in reverse order into ``target``, uint64 (n,) each."""
    if target.size != source.size:
        raise ValueError("source and target must be of one length")
    low8, low16 = np.uint64(0x00FF00FF00FF00FF), np.uint64(0x0000FFFF0000FFFF)
    for i in range(source.size):
        w = source[i]
        w = ((w >> np.uint64(8)) & low8) | ((w & low8) << np.uint64(8))
        w = ((w >> np.uint64(16)) & low16) | ((w & low16) << np.uint64(16))
        target[i] = (w >> np.uint64(32)) | (w << np.uint64(32))


@kernel
def copy_words(source, target):
    """``target[:] = source``, uint64 (n,): what converting costs is held against it."""
    if target.size != source.size:
        raise ValueError("source and target must be of one length")
    for i in range(source.size):
        target[i] = source[i]
