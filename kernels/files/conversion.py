"""Words of another machine's format: big-endian IEEE 754 and the 64-bit floating point of the Cray.

A solution written on one machine and verified on another has to be converted when the formats differ
(NHT-1, section 3.2: IEEE on the CM-2, Cray on the Y-MP).

    IEEE 754    1 bit sign, 11 bits exponent + 1023, 52 bits fraction:    (-1)^s 1.f 2^(e - 1023)
    Cray        1 bit sign, 15 bits exponent + 16384, 48 bits fraction:   (-1)^s 0.f 2^(e - 16384)

The Cray has no hidden bit, no infinity, no NaN and no negative zero; its exponent reaches further and
its fraction is 4 bits shorter.  Converting to it rounds to nearest, ties to even, and is exact where the
lowest 5 of IEEE's 53 bits of significand are zero; converting back is exact where the exponent fits.

Source of the format: Cray Research, *CRAY-1 Computer System Hardware Reference Manual*, HR-0004.
"""

import struct
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import numpy as np

from kernels.contract import Check, Footprint, Presets, Work, require_choice, require_range
from kernels.files.formulas import COMPONENTS, WORD
from kernels.proof import Proof
from kernels.runtime.jit import kernel
from kernels.runtime.resources import require_memory, require_threads
from kernels.runtime.states import Notes
from kernels.runtime.threads import run_team

FORMATS = ("native", "big-endian", "cray")
#: Words of one block: converted by the loop without branches first, again one by one if a word is unusual.
BLOCK = 1024

_SIGN = np.uint64(1 << 63)
_IEEE_FRACTION = np.uint64((1 << 52) - 1)
_IEEE_ONE = np.uint64(1 << 52)
_IEEE_LARGEST = np.uint64(2046)  # exponent field of the largest finite numbers
_CRAY_FRACTION = np.uint64((1 << 48) - 1)
_CRAY_TOP = np.uint64(1 << 47)
_CRAY_CARRY = np.uint64(1 << 48)
_CRAY_EXPONENT = np.uint64(0x7FFF)
#: difference of the exponent fields of one value: (e - 1023) + 1 = E - 16384
_SHIFT = np.uint64(16384 + 1 - 1023)
_LEAST_NORMAL = np.uint64(1 + 16384 + 1 - 1023)  # Cray exponent field of IEEE's least normal number
_LARGEST_NORMAL = np.uint64(2046 + 16384 + 1 - 1023)
#: from this exponent field on the Cray signals a range error; NaN and infinity are written as it
CRAY_RANGE = 0o60000


@kernel
def _to_cray(bits):
    """One word, any value; NaN and infinity become the Cray's out-of-range exponent."""
    sign, field = bits & _SIGN, (bits >> np.uint64(52)) & np.uint64(0x7FF)
    fraction = bits & _IEEE_FRACTION
    if field > _IEEE_LARGEST:
        return sign | (np.uint64(CRAY_RANGE) << np.uint64(48)) | _CRAY_TOP
    if field == 0:
        if fraction == 0:
            return np.uint64(0)
        exponent = np.uint64(1) + _SHIFT
        while fraction < _IEEE_ONE:  # a subnormal number is a normal one on the Cray
            fraction <<= np.uint64(1)
            exponent -= np.uint64(1)
    else:
        fraction |= _IEEE_ONE
        exponent = field + _SHIFT
    rounded = (fraction + np.uint64(15) + ((fraction >> np.uint64(5)) & np.uint64(1))) >> np.uint64(5)
    if rounded == _CRAY_CARRY:
        rounded >>= np.uint64(1)
        exponent += np.uint64(1)
    return sign | (exponent << np.uint64(48)) | rounded


@kernel
def _from_cray(word):
    """One word, any value; beyond IEEE's range it becomes infinity, below it rounds to a subnormal or zero."""
    sign, exponent = word & _SIGN, (word >> np.uint64(48)) & _CRAY_EXPONENT
    fraction = word & _CRAY_FRACTION
    if fraction == 0:
        return np.uint64(0)
    while fraction < _CRAY_TOP:
        if exponent == 0:
            return np.uint64(0)
        fraction <<= np.uint64(1)
        exponent -= np.uint64(1)
    if exponent > _LARGEST_NORMAL:
        return sign | np.uint64(0x7FF << 52)
    if exponent >= _LEAST_NORMAL:
        return sign | ((exponent - _SHIFT) << np.uint64(52)) | ((fraction << np.uint64(5)) & _IEEE_FRACTION)
    # subnormal: the significand in units of 2^-1074, to nearest and even
    fraction <<= np.uint64(5)
    down = _LEAST_NORMAL - exponent
    if down > np.uint64(53):
        return np.uint64(0)
    kept, rest = fraction >> down, fraction & ((np.uint64(1) << down) - np.uint64(1))
    half = np.uint64(1) << (down - np.uint64(1))
    if rest > half or (rest == half and kept & np.uint64(1)):
        kept += np.uint64(1)
    return sign | kept


@kernel
def encode_cray(native, foreign):
    """IEEE words to Cray words.

    Parameters
    ----------
    native, foreign : uint64 (n,)
        Bits of float64 values; bits of Cray words, written.
    """
    if foreign.size != native.size:
        raise ValueError("native and foreign must be of one length")
    n = native.size
    for start in range(0, n, BLOCK):
        end = min(start + BLOCK, n)
        unusual = np.uint64(0)
        for i in range(start, end):
            bits = native[i]
            magnitude = bits & ~_SIGN
            field = magnitude >> np.uint64(52)
            fraction = (magnitude & _IEEE_FRACTION) | _IEEE_ONE
            # a carry out of the fraction makes it 2^48: added to the exponent field it is 1 with fraction 0,
            # and the leading bit that it lost is the top bit again
            rounded = (fraction + np.uint64(15) + ((fraction >> np.uint64(5)) & np.uint64(1))) >> np.uint64(5)
            carry = rounded >> np.uint64(48)
            rounded >>= carry
            foreign[i] = (bits & _SIGN) | ((field + _SHIFT + carry) << np.uint64(48)) | rounded
            unusual |= np.uint64(field - np.uint64(1) > np.uint64(2045))
        if unusual:
            for i in range(start, end):
                foreign[i] = _to_cray(native[i])


@kernel
def decode_cray(foreign, native):
    """Cray words to IEEE words; ``foreign`` and ``native`` as for :func:`encode_cray`, the second is written."""
    if native.size != foreign.size:
        raise ValueError("foreign and native must be of one length")
    n = native.size
    for start in range(0, n, BLOCK):
        end = min(start + BLOCK, n)
        unusual = np.uint64(0)
        for i in range(start, end):
            word = foreign[i]
            exponent = (word >> np.uint64(48)) & _CRAY_EXPONENT
            fraction = (word & _CRAY_FRACTION) << np.uint64(5)
            native[i] = (word & _SIGN) | ((exponent - _SHIFT) << np.uint64(52)) | (fraction & _IEEE_FRACTION)
            outside = exponent - _LEAST_NORMAL > _LARGEST_NORMAL - _LEAST_NORMAL
            unusual |= np.uint64(outside) | np.uint64(fraction < _IEEE_ONE)
        if unusual:
            for i in range(start, end):
                native[i] = _from_cray(foreign[i])


@kernel
def swap_words(source, target):
    """Bytes of every word in reverse order.

    Parameters
    ----------
    source, target : uint64 (n,)
        Read; written.
    """
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


ENCODE = {"native": copy_words, "big-endian": swap_words, "cray": encode_cray}
DECODE = {"native": copy_words, "big-endian": swap_words, "cray": decode_cray}


@dataclass(frozen=True)
class Problem(Presets):
    """One dump of U converted to a foreign format, or back when it is verified."""

    N: int = 12  # grid points in each direction
    format: str = "cray"  # "native" (a copy), "big-endian" or "cray"
    direction: str = "decode"  # "encode" (when written) or "decode" (when verified)

    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {
        "quick": {"N": 12},
        "small": {"N": 12},
        "medium": {"N": 64},
        "paper": {"N": 102},
        "modern": {"N": 162},
    }

    def __post_init__(self):
        require_range("N", self.N, 5, 1000, "grid points")
        require_choice("format", self.format, FORMATS)
        require_choice("direction", self.direction, ("encode", "decode"))

    @property
    def words(self) -> int:
        """Words of one dump, 5 N³."""
        return COMPONENTS * self.N**3


class State(NamedTuple):
    """Words before conversion and room for them afterwards, both uint64 (5 N³,)."""

    source: np.ndarray
    target: np.ndarray


class Result(NamedTuple):
    """What :class:`State` holds after a run."""

    source: np.ndarray  # uint64 (5 N³,)
    target: np.ndarray  # uint64 (5 N³,)


def footprint(problem: Problem) -> Footprint:
    """Both arrays, and the solution from which they are made."""
    return Footprint(4 * WORD * problem.words)


_NOTES = Notes()


@_NOTES.made
def setup(problem: Problem, seed: int = 0) -> State:
    """The initial field of BT as ``source``, in the foreign format if it is to be decoded."""
    from kernels.bt.problem import initial_field

    require_memory(footprint(problem).memory, f"converting a dump with N = {problem.N}")
    source = np.ascontiguousarray(initial_field(problem.N)).reshape(-1).view(np.uint64).copy()
    target = np.zeros_like(source)
    if problem.direction == "decode":
        ENCODE[problem.format](source, target)
        source, target = target, source
        target[:] = 0
    return State(source, target)


@_NOTES.given
def run(problem: Problem, state: State, threads: int = 1, repeats: int = 1) -> Result:
    """Convert ``repeats`` times, the words shared out over ``threads``."""
    require_threads(threads)
    convert = (ENCODE if problem.direction == "encode" else DECODE)[problem.format]
    cuts = [problem.words * n // threads for n in range(threads + 1)]

    def member(n):
        part = slice(cuts[n], cuts[n + 1])
        for _ in range(repeats):
            convert(state.source[part], state.target[part])

    run_team(member, threads)
    return Result(state.source, state.target)


def cray_value(word: int) -> Fraction:
    """Exact value of one Cray word."""
    sign, exponent, fraction = word >> 63, (word >> 48) & 0x7FFF, word & ((1 << 48) - 1)
    return (-1) ** sign * Fraction(fraction) * Fraction(2) ** (exponent - 16384 - 48)


def _nearest_cray(value: float) -> int:
    """The Cray word next to a finite number, by exact arithmetic; ties to even."""
    if value == 0.0:
        return 0
    exact = abs(Fraction(value))
    exponent = exact.numerator.bit_length() - exact.denominator.bit_length()
    if exact >= Fraction(2) ** exponent:
        exponent += 1
    scaled = round(exact / Fraction(2) ** (exponent - 48))  # Fraction rounds half to even
    if scaled == 1 << 48:
        scaled, exponent = scaled >> 1, exponent + 1
    return (int(value < 0) << 63) | ((exponent + 16384) << 48) | scaled


def reference(problem: Problem, state: State) -> Result:
    """Word by word with exact fractions and ``struct``."""
    words = [int(word) for word in state.source]
    values = [struct.unpack("<d", struct.pack("<Q", word))[0] for word in words]
    if problem.format == "native":
        found = words
    elif problem.format == "big-endian":
        found = [struct.unpack(">Q", struct.pack("<Q", word))[0] for word in words]
    elif problem.direction == "encode":
        found = [_nearest_cray(value) for value in values]
    else:
        found = [struct.unpack("<Q", struct.pack("<d", float(cray_value(word))))[0] for word in words]
    return Result(state.source, np.array(found, np.uint64))


def verify(problem: Problem, result: Result) -> list[Check]:
    """A hundred words against the exact reference, and the way there and back for all of them."""
    some = np.linspace(0, problem.words - 1, 100).astype(int)
    sample = State(result.source[some], result.target[some])
    wrong = int((reference(problem, sample).target != sample.target).sum())
    back = np.empty_like(result.source)
    (DECODE if problem.direction == "encode" else ENCODE)[problem.format](result.target, back)
    lossy = problem.format == "cray" and problem.direction == "encode"
    before, after = result.source.view(np.float64), back.view(np.float64)
    if not lossy:
        different = int((back != result.source).sum())
        return [
            Check.near("words unlike the exact reference, of 100", wrong, 0, 0),
            Check.near("words changed on the way there and back", different, 0, 0),
        ]
    error = float(np.max(np.abs(after - before) / np.where(before == 0.0, 1.0, np.abs(before))))
    return [
        Check.near("words unlike the exact reference, of 100", wrong, 0, 0),
        Check.near("relative change there and back, at most half a unit in the 48th place", error, 0.0, 2.0**-48),
    ]


def work(problem: Problem, threads: int = 1) -> Work:
    """Bytes of one conversion, which threads share; no floating-point operation."""
    nbytes = WORD * problem.words
    return Work(bytes_read=nbytes, bytes_written=nbytes)


def _unusual_words(problem: Problem, state: State, result: Result) -> list[Check]:
    """Words that no solution has: zeros, the least and the largest numbers, ties of the rounding."""
    values = np.array([0.0, -0.0, 5e-324, -3e-310, 2.0**-1022, -1.7e308, 1.0, 2.0 - 2.0**-52, 2.0**60 - 2.0**7])
    source = np.tile(np.concatenate([values, 1.0 + np.arange(64) * 2.0**-52]), 9).view(np.uint64)
    if problem.direction == "decode":
        ENCODE[problem.format](source.copy(), source)
    expected = reference(problem, State(source, source)).target
    found = np.zeros_like(source)
    (ENCODE if problem.direction == "encode" else DECODE)[problem.format](source, found)
    wrong = int(np.count_nonzero((found != expected) & (found << np.uint64(1) != 0)))  # a zero may keep its sign
    return [Check.near("unusual words unlike the exact reference's", wrong, 0, 0)]


PROOF = Proof({"N": 6}, each={"format": FORMATS, "direction": ("encode", "decode")}, also=_unusual_words)
