"""UVSRT: visibilities in the order of baselines or of tiles of the (u, v) plane; a counting sort.

Both orders keep records with equal keys in the order in which they came.  A record is moved once, as
one vector of eight numbers, after one pass that counts keys.
"""

from typing import NamedTuple

import numpy as np

from kernels.contract import Check, require_choice
from kernels.imaging.array import BASELINE, TIME, WEIGHT, U, V, require_form
from kernels.runtime.arrays import require_array
from kernels.runtime.jit import kernel
from kernels.runtime.threads import run_parts
from kernels.runtime.vector import address, load_as, store

ORDERS = ("baseline", "tile", "time")
#: Tiles of the order "tile" along u and v, of the plane that the data fill.
TILES = 32
_LONGEST = 10**8  # s, about three years: a count is kept of each second
_RECORD = (0,) * 8  # one vector


class _Rule(NamedTuple):
    """How a record's key follows from its values."""

    order: int  # number in ORDERS
    start: np.float32  # added to u and v in tiles, or taken from the time
    scale: np.float32  # tiles of a wavelength, or seconds of a day
    keys: int  # that there are


@kernel(inline=True)
def _key(records, n, rule):
    """Key of record ``n`` of ``records`` by ``rule`` (:class:`_Rule`); ``rule.keys``, which is none, where a value
    gives no place."""
    none = np.uint64(rule.keys)
    if rule.order == 0:
        name = records[n, np.uint64(BASELINE)]
        if not np.float32(0) <= name < np.float32(8192):
            return none
        first, second = np.uint64(name) >> np.uint64(8), np.uint64(name) & np.uint64(255)
        return first * np.uint64(32) + second if second < np.uint64(32) else none
    if rule.order == 1:
        # what is no number becomes the smallest or largest one of 32 bits, far from every key, or zero
        x = np.int64(np.int32(records[n, np.uint64(U)] * rule.scale + rule.start))
        y = np.int64(np.int32(records[n, np.uint64(V)] * rule.scale + rule.start))
        return np.uint64(y * TILES + (TILES - 1 - x if y & 1 else x))
    return min(np.uint64((records[n, np.uint64(TIME)] - rule.start) * rule.scale), none - np.uint64(1))


@kernel
def _largest_baseline(records, most, threads, thread):
    """Largest |u| or |v| of this ``thread``'s part of ``records``, wavelengths, into ``most``, float32 (threads,)."""
    numbers, count = records.shape[0], np.float32(0)
    for n in range(np.uint64(numbers * thread // threads), np.uint64(numbers * (thread + 1) // threads)):
        count = max(count, max(abs(records[n, np.uint64(U)]), abs(records[n, np.uint64(V)])))
    most[thread] = count


@kernel
def _count(records, rule, counts, threads, thread):
    """How many ``records`` of this ``thread``'s part of ``threads`` have each key of ``rule``, into its row of
    ``counts``, int64 (threads, keys); −1 first if one has no key."""
    numbers, mine = records.shape[0], counts[thread]
    for n in range(np.uint64(numbers * thread // threads), np.uint64(numbers * (thread + 1) // threads)):
        key = _key(records, n, rule)
        if key >= np.uint64(mine.size):
            mine[0] = -1
            return
        mine[key] += 1


@kernel
def _places(counts):
    """``counts`` turned into the place of the first record of each key and thread."""
    place = 0
    for key in range(counts.shape[1]):
        for thread in range(counts.shape[0]):
            count = counts[thread, key]
            counts[thread, key] = place
            place += count


@kernel
def _move(records, rule, places, out, threads, thread):
    """Copy this ``thread``'s part of ``records`` to ``out``, each to the place that ``places``, of :func:`_places`, has
    for its key by ``rule``, and count that place on; ``threads`` have parts."""
    numbers, mine = records.shape[0], places[thread]
    source, target = address(records), address(out)
    for n in range(np.uint64(numbers * thread // threads), np.uint64(numbers * (thread + 1) // threads)):
        key = _key(records, n, rule)
        to = mine[key]
        mine[key] = to + 1
        store(target, 8 * to, load_as(source, 8 * np.int64(n), _RECORD))


def sort(records: np.ndarray, order: str, out: np.ndarray | None = None, threads: int = 1) -> np.ndarray:
    """The records in another order, float32 (n, 8).

    ``ValueError``: an unknown order, or ``out`` of another shape or the same memory.

    Parameters
    ----------
    records : ndarray, float32 (n, 8)
    order : str
        ``"baseline"``: by antennas; ``"tile"``: by tile of the plane, rows of tiles to and fro;
        ``"time"``: by time in steps of a second.
    out : ndarray, optional
        Where to write; not ``records`` itself.
    threads : int
        Each counts and moves one part of the records.
    """
    require_choice("order", order, ORDERS)
    require_form(records)
    out = np.empty_like(records) if out is None else out
    require_array("out", out, np.float32, records.shape, writable=True, apart=(records,))
    rule = _rule(records, order, threads)
    if rule.keys > len(records):  # counts of each thread would take more memory than records
        threads = 1
    counts = np.zeros((threads, rule.keys), np.int64)
    run_parts(_count, threads, records, rule, counts, threads)
    if counts[:, 0].min() < 0:  # keys become places in memory
        raise ValueError(f"a visibility has a value that gives no place in the order {order!r}; leave the record out")
    _places(counts)
    run_parts(_move, threads, records, rule, counts, out, threads)
    return out


def _rule(records, order, threads) -> _Rule:
    number = ORDERS.index(order)
    if order == "baseline":
        return _Rule(number, np.float32(0), np.float32(0), 32 * 32)
    if order == "tile":
        most = np.empty(threads, np.float32)
        run_parts(_largest_baseline, threads, records, most, threads)
        return _Rule(number, np.float32(TILES / 2), np.float32(TILES * 0.499 / max(float(most.max()), 1e-30)), TILES**2)
    start, end = records[:, TIME].min(), records[:, TIME].max()
    span = (float(end) - float(start)) * 86400
    if not span < _LONGEST:
        raise ValueError(f"times from {start} to {end} days span no finite time below {_LONGEST} s")
    return _Rule(number, start, np.float32(86400), int(span) + 2)


def keys_of(records: np.ndarray, order: str) -> np.ndarray:
    """The keys by NumPy alone, int64, for verification and as the slow way."""
    require_choice("order", order, ORDERS)
    if order == "baseline":
        return records[:, BASELINE].astype(np.int64)
    if order == "time":
        return ((records[:, TIME] - records[:, TIME].min()) * np.float32(86400)).astype(np.int64)
    scale = np.float32(TILES * 0.499 / np.abs(records[:, : V + 1]).max())
    x, y = ((records[:, column] * scale + np.float32(TILES / 2)).astype(np.int64) for column in (U, V))
    return y * TILES + np.where(y % 2 == 0, x, TILES - 1 - x)


def reference(records: np.ndarray, order: str) -> np.ndarray:
    """The same by NumPy's stable sort."""
    return records[np.argsort(keys_of(records, order), kind="stable")]


def verify(before: np.ndarray, after: np.ndarray, order: str) -> list[Check]:
    """Keys ascend; the multiset of records is what it was, by sums of their bits."""
    falls = int(np.count_nonzero(np.diff(keys_of(after, order)) < 0))
    sums = [np.sort(part.view(np.uint32).sum(axis=1, dtype=np.uint64) * 2654435761) for part in (before, after)]
    moved = int(np.count_nonzero(sums[0] != sums[1])) if before.shape == after.shape else len(before)
    return [
        Check.near(f"{order}: keys that fall", falls, 0, 0),
        Check.near(f"{order}: records lost or changed", moved, 0, 0),
        Check.near(f"{order}: weight kept", after[:, WEIGHT].sum(dtype=float), before[:, WEIGHT].sum(dtype=float), 0),
    ]
