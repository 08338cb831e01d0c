"""One dump of a solution converted to the words of another machine, or back when it is verified (NHT-1, section 3.2).

The formats and their compiled loops are in :mod:`kernels.files.words`.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from supercomputers_rerun.kernels.contract import Check, Footprint, Presets, Work, one_of, whole
from supercomputers_rerun.kernels.files.format.layout import COMPONENTS, WORD
from supercomputers_rerun.kernels.files.words import copy_words, decode_pairs, encode_pairs, swap_words
from supercomputers_rerun.kernels.proof import Proof
from supercomputers_rerun.kernels.runtime.resources import require_memory, require_threads, run_team
from supercomputers_rerun.kernels.runtime.team import worthwhile

__all__ = ["DECODE", "ENCODE", "FORMATS", "PROOF", "Problem", "Words", "footprint", "plain", "reference", "run"]
__all__ += ["setup", "verify", "work"]

FORMATS = ("native", "big-endian", "Cray 128")

ENCODE = dict(zip(FORMATS, (copy_words, swap_words, encode_pairs), strict=True))
DECODE = dict(zip(FORMATS, (copy_words, swap_words, decode_pairs), strict=True))
#: Words that are worth a thread, which is started for them.  One thread's time over that of two, by the words of both
#: together (EPYC, Zen 3, two CPUs): a copy .87 at 1.3 million, 1.23 at 2.6; bytes in reverse order .87 and 1.27; to
#: pairs and back .73 and .91 at 0.16 million, 1.26 and 1.44 at 0.55.
FEWEST = dict(zip(FORMATS, (2**20, 2**20, 2**17), strict=True))


@dataclass(frozen=True)
class Problem(Presets):
    """One dump of U converted to a foreign format, or back when it is verified."""

    N: whole(5, 1000, "grid points") = 12  # grid points in each direction
    format: one_of(*FORMATS) = "Cray 128"  # "native" (a copy), "big-endian" or "Cray 128"
    direction: one_of("encode", "decode") = "decode"  # "encode" (when written) or "decode" (when verified)

    PRESETS: ClassVar = {
        "quick": {"N": 12},
        "small": {"N": 12},
        "medium": {"N": 64},
        "paper": {"N": 102},
        "modern": {"N": 162},
    }

    @property
    def words(self) -> int:
        """Numbers of one dump, 5 N³."""
        return COMPONENTS * self.N**3

    @property
    def foreign(self) -> int:
        """Words of one dump in the format."""
        return self.words * (2 if self.format == "Cray 128" else 1)


class Words(NamedTuple):
    """Words before conversion, and after it."""

    source: np.ndarray  # uint64 (5 N³,), or (10 N³,) where they are pairs
    target: np.ndarray  # likewise
    threads: int = 1  # that converted


def footprint(problem: Problem) -> Footprint:
    """Both arrays, and the solution from which they are made."""
    return Footprint(WORD * (3 * problem.words + problem.foreign))


def setup(problem: Problem, seed: int = 0) -> Words:
    """The initial field of BT as ``source``, in the foreign format if it is to be decoded."""
    require_memory(footprint(problem).memory, f"converting a dump with N = {problem.N}")
    from supercomputers_rerun.kernels.bt.problem import initial_field

    source = np.ascontiguousarray(initial_field(problem.N)).reshape(-1).view(np.uint64).copy()
    target = np.zeros(problem.foreign, np.uint64)
    if problem.direction == "decode":
        ENCODE[problem.format](source, target)
        source, target = target, source
        target[:] = 0
    return Words(source, target)


def run(problem: Problem, state: Words, threads: int = 1, repeats: int = 1) -> Words:
    """Convert ``repeats`` times, the words shared out over ``threads``; ``ValueError``: more than usable CPUs.

    Few words take fewer threads; ``Words.threads`` says how many.
    """
    threads = worthwhile(require_threads(threads), problem.words, FEWEST[problem.format])
    convert = (ENCODE if problem.direction == "encode" else DECODE)[problem.format]
    cuts = [problem.words * n // threads for n in range(threads + 1)]

    def member(n):
        source, target = (
            a[cuts[n] * a.size // problem.words : cuts[n + 1] * a.size // problem.words] for a in state[:2]
        )
        for _ in range(repeats):
            convert(source, target)

    run_team(member, threads)
    return state._replace(threads=threads)


def plain(problem: Problem, source: np.ndarray) -> np.ndarray:
    """All words of a conversion by NumPy's ``frexp`` and ``ldexp``, whose steps are exact but for one rounding.

    ``source`` and the result are uint64 (words of the format,), pairs one after the other.
    """
    if problem.format in ("native", "big-endian"):
        return source if problem.format == "native" else source.byteswap()
    places, low = np.uint64(48), np.uint64((1 << 48) - 1)
    if problem.direction == "encode":
        values = source.view(np.float64)
        part, exponent = np.frexp(np.abs(values))
        scaled = np.ldexp(part, 48)
        whole = np.floor(scaled)
        sign = np.signbit(values).astype(np.uint64) << np.uint64(15)
        first = (sign | (exponent + 16384).astype(np.uint64)) << places | whole.astype(np.uint64)
        first = np.where(values == 0.0, np.uint64(0), first)
        return np.stack([first, np.ldexp(scaled - whole, 48).astype(np.uint64)], 1).reshape(-1)
    words = source.reshape(-1, 2)
    exponent = ((words[:, 0] >> places) & np.uint64(0x7FFF)).astype(np.int64) - 16384
    value = np.ldexp((words[:, 0] & low).astype(np.float64), exponent - 48)
    value += np.ldexp((words[:, 1] & low).astype(np.float64), exponent - 96)
    return np.where(words[:, 0] >> np.uint64(63), -value, value).view(np.uint64)


def reference(problem: Problem, state: Words) -> Words:
    """The same by :func:`plain`."""
    return Words(state.source, plain(problem, state.source))


def verify(problem: Problem, result: Words) -> list[Check]:
    """Every word against NumPy's, and by NumPy the way back."""
    other = "decode" if problem.direction == "encode" else "encode"
    back = plain(replace(problem, direction=other), result.target)
    return [
        Check.near("words unlike NumPy's", int((result.target != plain(problem, result.source)).sum()), 0, 0),
        Check.near("words changed on the way there and back", int((back != result.source).sum()), 0, 0),
    ]


def work(problem: Problem, threads: int = 1) -> Work:
    """Bytes of one conversion, which threads share; no floating-point operation."""
    read, written = WORD * problem.words, WORD * problem.foreign
    if problem.direction == "decode":
        read, written = written, read
    return Work(bytes_read=read, bytes_written=written)


def _unusual_words(problem: Problem, state: Words, result: Words) -> list[Check]:
    """Words that no solution has: zeros, the least and the largest numbers."""
    values = np.array([0.0, -0.0, 2.0**-1022, -1.7e308, 1.0, 2.0 - 2.0**-52, 2.0**60 - 2.0**7])
    source = np.tile(np.concatenate([values, 1.0 + np.arange(64) * 2.0**-52]), 9).view(np.uint64)
    if problem.direction == "decode":
        native, source = source, np.zeros(source.size * problem.foreign // problem.words, np.uint64)
        ENCODE[problem.format](native, source)
    found = np.zeros_like(plain(problem, source))
    (ENCODE if problem.direction == "encode" else DECODE)[problem.format](source, found)
    return [Check.near("unusual words unlike NumPy's", int((found != plain(problem, source)).sum()), 0, 0)]


PROOF = Proof({"N": 6}, each={"format": FORMATS, "direction": ("encode", "decode")}, also=_unusual_words)
