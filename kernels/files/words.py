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

from kernels.runtime.jit import kernel

__all__ = ["copy_words", "decode_pairs", "encode_pairs", "swap_words"]

_SIGN = np.uint64(1 << 63)
_IEEE_FRACTION = np.uint64((1 << 52) - 1)
_IEEE_ONE = np.uint64(1 << 52)
_IEEE_LARGEST = np.uint64(2046)  # exponent field of the largest finite numbers
_CRAY_FRACTION = np.uint64((1 << 48) - 1)
_CRAY_TOP = np.uint64(1 << 47)
_CRAY_EXPONENT = np.uint64(0x7FFF)
#: difference of the exponent fields of one value: (e - 1023) + 1 = E - 16384
_SHIFT = np.uint64(16384 + 1 - 1023)
_REST = np.uint64(31)  # of IEEE's significand, what a fraction of 48 bits has no room for
_LEAST_NORMAL = np.uint64(1 + 16384 + 1 - 1023)  # Cray exponent field of IEEE's least normal number
_LARGEST_NORMAL = np.uint64(2046 + 16384 + 1 - 1023)
#: from this exponent field on the Cray signals a range error; NaN and infinity are written as it
CRAY_RANGE = 0o60000


@kernel
def _to_pair(bits):
    """Two Cray words of one IEEE word ``bits``, any value; NaN and infinity become the Cray's out-of-range exponent."""
    sign, field = bits & _SIGN, (bits >> np.uint64(52)) & np.uint64(0x7FF)
    fraction, none = bits & _IEEE_FRACTION, np.uint64(0)
    if field > _IEEE_LARGEST:
        return sign | (np.uint64(CRAY_RANGE) << np.uint64(48)) | _CRAY_TOP, none
    if field == 0:
        if fraction == 0:
            return none, none
        exponent = np.uint64(1) + _SHIFT
        while fraction < _IEEE_ONE:  # a subnormal number is a normal one on the Cray
            fraction <<= np.uint64(1)
            exponent -= np.uint64(1)
    else:
        fraction |= _IEEE_ONE
        exponent = field + _SHIFT
    return sign | (exponent << np.uint64(48)) | (fraction >> np.uint64(5)), (fraction & _REST) << np.uint64(43)


@kernel
def _from_pair(word, second):
    """Cray words ``word`` and ``second``, any value; beyond IEEE's range infinity, below it a subnormal or zero."""
    sign, exponent = word & _SIGN, (word >> np.uint64(48)) & _CRAY_EXPONENT
    fraction, rest = word & _CRAY_FRACTION, second & _CRAY_FRACTION
    if fraction | rest == 0:
        return np.uint64(0)
    while fraction < _CRAY_TOP:
        if exponent == 0:
            return np.uint64(0)
        fraction = (fraction << np.uint64(1)) | (rest >> np.uint64(47))
        rest = (rest << np.uint64(1)) & _CRAY_FRACTION
        exponent -= np.uint64(1)
    if exponent > _LARGEST_NORMAL:
        return sign | np.uint64(0x7FF << 52)
    # 64 bits, the last of which says whether any bit follows, then those that fit, to nearest and even
    found = (fraction << np.uint64(16)) | (rest >> np.uint64(32)) | np.uint64(rest & np.uint64(0xFFFFFFFF) != 0)
    normal = exponent >= _LEAST_NORMAL
    down = np.uint64(11) if normal else np.uint64(11) + _LEAST_NORMAL - exponent
    if down > np.uint64(63):  # half of the least subnormal number or less
        return sign | np.uint64(down == np.uint64(64) and found > _SIGN)
    kept, rest = found >> down, found & ((np.uint64(1) << down) - np.uint64(1))
    half = np.uint64(1) << (down - np.uint64(1))
    if rest > half or (rest == half and kept & np.uint64(1)):
        kept += np.uint64(1)
    return sign | (((exponent - _SHIFT - np.uint64(1)) << np.uint64(52)) + kept if normal else kept)


@kernel
def encode_pairs(native, foreign):
    """IEEE words, ``native``, to pairs of Cray words, ``foreign``, exactly."""
    if foreign.size != 2 * native.size:
        raise ValueError("native and the pairs of foreign must be of one length")
    for i in range(native.size):
        foreign[2 * i], foreign[2 * i + 1] = _to_pair(native[i])


@kernel
def decode_pairs(foreign, native):
    """Pairs of Cray words, ``foreign``, to IEEE words, ``native``."""
    if foreign.size != 2 * native.size:
        raise ValueError("native and the pairs of foreign must be of one length")
    for i in range(native.size):
        native[i] = _from_pair(foreign[2 * i], foreign[2 * i + 1])


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
