"""Cache levels read off a latency curve.

A random chase over a working set of ``x`` bytes that has outgrown a cache of capacity ``C`` finds
its line there with probability C/x and has to go to the next level otherwise, so that

    t(x) = t1 · C/x + t2 · (1 − C/x),    hence    C = x · (t2 − t(x)) / (t2 − t1),

with t1 and t2 the latencies of both levels.  Plateaus of the curve give the latencies, the points
between two plateaus one estimate of C each, and their median is kept.  Replacement in real caches is
neither random nor perfect, and pages fall on cache sets by chance: a capacity found this way is an
estimate of what a chase can use, often less than what the cache holds.  Where the estimates between two
plateaus differ by more than a factor of 4, another level without a plateau lies between them (a last
cache that other programs share often has none), and no capacity is given.

A larger working set cannot be faster to chase, while other load on the host makes single points
slow.  The curve is therefore first replaced by its lower envelope, min over x' ≥ x of t(x').
"""

from dataclasses import dataclass

import numpy as np

#: Largest over smallest estimate of one capacity; one level's estimates differ by the curve's noise alone.
ONE_LEVEL = 4


@dataclass(frozen=True)
class Plateau:
    """One level of the memory system as a chase sees it."""

    ns: float  # latency: median of the plateau's points, ns
    first: int  # smallest working set on the plateau, bytes
    last: int  # largest working set on the plateau, bytes
    capacity: float | None  # estimated capacity, bytes; None if it has no end or levels without a plateau follow


def _flat_runs(ns: np.ndarray, tolerance: float) -> list[tuple[int, int]]:
    """Longest runs [i, j) whose values stay within a factor 1 + tolerance, longest first taken."""
    candidates = []
    for start in range(ns.size):
        stop = start + 1
        low = high = ns[start]
        while stop < ns.size:
            low, high = min(low, ns[stop]), max(high, ns[stop])
            if high > low * (1 + tolerance):
                break
            stop += 1
        candidates.append((start, stop))
    taken: list[tuple[int, int]] = []
    for start, stop in sorted(candidates, key=lambda run: run[0] - run[1]):
        if all(stop <= other or start >= end for other, end in taken):
            taken.append((start, stop))
    return sorted(taken)


def _capacity(sizes, ns, before: tuple[int, int], after: tuple[int, int], levels: tuple[float, float], tolerance):
    """Capacity of the level that ends between two plateaus; None if more than one level ends there."""
    inside = slice(before[1], after[0])
    (t1, t2), x, t = levels, sizes[inside], ns[inside]
    rising = (t > (1 + tolerance) * t1) & (t < t1 + 0.9 * (t2 - t1))
    if rising.any():
        estimates = x[rising] * (t2 - t[rising]) / (t2 - t1)
        if estimates.max() > ONE_LEVEL * estimates.min():
            return None
        estimate = float(np.median(estimates))
    else:
        estimate = float(np.sqrt(sizes[before[1] - 1] * sizes[after[0]]))
    # A set that still fits, and one that no longer does, bound what the model says.
    return float(np.clip(estimate, sizes[before[1] - 1], sizes[after[0]]))


def plateaus(sizes, ns, tolerance: float = 0.25, step: float = 1.4, doublings: float = 0.9) -> list[Plateau]:
    """Levels of a latency curve by increasing size, none if it has no flat part.

    ``sizes`` are working sets, bytes, strictly increasing, and ``ns`` the latency of a load at each, (n,) both.  Points
    of one plateau differ by at most the share ``tolerance``, plateaus whose latencies differ by less than the factor
    ``step`` are one, and a plateau spans at least so many ``doublings`` of the working set.
    """
    sizes, ns = np.asarray(sizes, dtype=float), np.asarray(ns, dtype=float)
    ns = np.minimum.accumulate(ns[::-1])[::-1]
    runs = [(i, j) for i, j in _flat_runs(ns, tolerance) if np.log2(sizes[j - 1] / sizes[i]) >= doublings]
    merged: list[tuple[int, int]] = []
    for i, j in runs:
        if merged and np.median(ns[i:j]) < step * np.median(ns[slice(*merged[-1])]):
            merged[-1] = merged[-1][0], j
        else:
            merged.append((i, j))
    levels = [float(np.median(ns[i:j])) for i, j in merged]
    found = []
    for k, (i, j) in enumerate(merged):
        capacity = None
        if k + 1 < len(merged):
            capacity = _capacity(sizes, ns, (i, j), merged[k + 1], (levels[k], levels[k + 1]), tolerance)
        found.append(Plateau(levels[k], int(sizes[i]), int(sizes[j - 1]), capacity))
    return found
