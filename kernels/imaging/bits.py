"""Accuracy as the Dirty Dozen Test printed it: bits, of the largest and of the root-mean-square difference.

    bits = −log2(difference / peak)

Pixels near the edges are left out (4, 8 and 16 at the three sizes, after AIPS's later run files).
"""

from typing import NamedTuple

import numpy as np

#: More than float32 can hold; what equal results are given.
EXACT = 32.0


class Bits(NamedTuple):
    maximum: float
    rms: float


def agreement(ours, expected, skip: int = 0, peak: float | None = None) -> Bits:
    """Bits of ``ours`` against ``expected``, arrays of one shape; 0 bits where something is not finite."""
    ours, expected = np.asarray(ours), np.asarray(expected)
    if ours.shape != expected.shape:
        raise ValueError(f"shapes {ours.shape} and {expected.shape} cannot be compared")
    if skip and ours.ndim == 2:
        ours, expected = (part[skip:-skip, skip:-skip] for part in (ours, expected))
    difference = np.abs(ours - expected)
    peak = float(np.abs(expected).max()) if peak is None else peak
    values = difference.max(initial=0.0), np.sqrt(np.mean(difference.astype(np.float64) ** 2))
    return Bits(*(_bits(float(value), peak) for value in values))


def _bits(difference: float, peak: float) -> float:
    if not np.isfinite(difference) or not np.isfinite(peak) or peak <= 0:
        return 0.0
    return EXACT if difference == 0 else float(min(EXACT, max(0.0, -np.log2(difference / peak))))
