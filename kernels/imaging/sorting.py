"""UVSRT: visibilities in the order of baselines or of tiles of the (u, v) plane; a counting sort.

Both orders keep records with equal keys in the order in which they came.  A pass counts keys (:func:`plain` shows the
whole), another moves each record as one vector of eight numbers, and asks in good time for the lines that it will
write: hundreds of places in turn are no stream that a processor would foresee.  That takes 1.5 times as long without.
"""

import numpy as np

from supercomputers_rerun.kernels.contract import require_choice
from supercomputers_rerun.kernels.imaging.array import BASELINE, U, V, require_form
from supercomputers_rerun.kernels.runtime.jit import kernel
from supercomputers_rerun.kernels.runtime.team import run_parts, worthwhile
from supercomputers_rerun.kernels.runtime.vector import address, load_as, prefetch, store

__all__ = ["ORDERS", "keys_of", "plain", "reference", "sort"]

ORDERS = ("baseline", "tile")
#: Tiles of the order "tile" along u and v, of the plane that the data fill.
TILES = 32
_KEYS = 32**2  # of either order: two antennas of at most 32, or a row and column of tiles
_RECORD = (0,) * 8  # one vector
_AHEAD = 16  # records from asking for a place to writing it


@kernel
def plain(records, keys, out):
    """A counting sort: ``records`` float32 (n, 8) by their ``keys``, whole numbers below 1024, into ``out``."""
    first = np.zeros(_KEYS + 1, np.int64)
    for n in range(keys.size):
        first[keys[n] + 1] += 1
    for key in range(_KEYS):
        first[key + 1] += first[key]
    for n in range(keys.size):
        out[first[keys[n]]] = records[n]
        first[keys[n]] += 1


@kernel
def _largest_baseline(records, most, threads, thread):
    """Largest |u| or |v| of this ``thread``'s part of ``records``, wavelengths, into ``most``, float32 (threads,)."""
    numbers, across, up = records.shape[0], np.float32(0), np.float32(0)  # two, since each step waits for the last
    for n in range(np.uint64(numbers * thread // threads), np.uint64(numbers * (thread + 1) // threads)):
        across, up = max(across, abs(records[n, np.uint64(U)])), max(up, abs(records[n, np.uint64(V)]))
    most[thread] = max(across, up)


@kernel
def _count_baselines(records, scale, keys, counts, threads, thread):
    """The key of each of this ``thread``'s part of ``records`` into ``keys``, uint16 (n + _AHEAD,), and how many have
    it into its row of ``counts``, int64 (threads, _KEYS + 1); the last are those without a key.

    No branch depends on a value; what is no number becomes the smallest one of 32 bits, far from every key, or zero.
    """
    numbers, mine = records.shape[0], counts[thread]
    for n in range(np.uint64(numbers * thread // threads), np.uint64(numbers * (thread + 1) // threads)):
        name = np.uint64(np.int64(np.int32(records[n, np.uint64(BASELINE)])))
        key = (name >> np.uint64(8)) * np.uint64(32) + (name & np.uint64(255))
        key = key if name & ~np.uint64(0x1F1F) == 0 else np.uint64(_KEYS)
        keys[n] = key
        mine[key] += 1


@kernel
def _count_tiles(records, scale, keys, counts, threads, thread):
    """As :func:`_count_baselines` in the order of tiles, of which a wavelength has ``scale``."""
    numbers, mine, start = records.shape[0], counts[thread], np.float32(TILES / 2)
    for n in range(np.uint64(numbers * thread // threads), np.uint64(numbers * (thread + 1) // threads)):
        x = np.int32(records[n, np.uint64(U)] * scale + start)
        y = np.int32(records[n, np.uint64(V)] * scale + start)
        key = np.int32(y * np.int32(TILES)) + (x ^ np.int32((y & np.int32(1)) * np.int32(TILES - 1)))
        key = key if np.uint32(x | y) < np.uint32(TILES) else np.int32(_KEYS)
        keys[n] = key
        mine[np.uint64(key)] += 1


@kernel
def _move(records, keys, places, out, threads, thread):
    """Copy this ``thread``'s part of ``records`` to ``out``, each to the place that its key of ``keys`` has in
    ``places``, and count that place on; ``threads`` have parts."""
    numbers, mine = records.shape[0], places[thread]
    source, target = address(records), address(out)
    for n in range(np.uint64(numbers * thread // threads), np.uint64(numbers * (thread + 1) // threads)):
        prefetch(target, 8 * mine[keys[n + np.uint64(_AHEAD)]] + 7)
        key = keys[n]
        to = mine[key]
        mine[key] = to + 1
        store(target, 8 * to, load_as(source, 8 * np.int64(n), _RECORD))


def sort(records: np.ndarray, order: str, threads: int = 1) -> np.ndarray:
    """The records, float32 (n, 8), in another ``order``: ``"baseline"``, by antennas, or ``"tile"``, by tile of the
    plane, rows of tiles to and fro.

    ``ValueError``: an unknown order, or a value that gives no place in it.
    """
    require_choice("order", order, ORDERS)
    records = require_form(records)
    threads = worthwhile(threads, records.size)
    counts, keys = np.zeros((threads, _KEYS + 1), np.int64), np.zeros(len(records) + _AHEAD, np.uint16)
    count, scale = _count_baselines, np.float32(0)
    if order == "tile":
        most = np.empty(threads, np.float32)
        run_parts(_largest_baseline, threads, records, most, threads)
        count, scale = _count_tiles, np.float32(TILES * 0.499 / max(float(most.max()), 1e-30))
    run_parts(count, threads, records, scale, keys, counts, threads)
    if counts[:, -1].any():  # keys become places in memory
        raise ValueError(f"a visibility has a value that gives no place in the order {order!r}; leave the record out")
    each = counts.T.ravel()  # of the keys in turn, of each the threads
    places = np.ascontiguousarray((np.cumsum(each) - each).reshape(-1, threads).T)
    out = np.empty_like(records)
    run_parts(_move, threads, records, keys, places, out, threads)
    return out


def keys_of(records: np.ndarray, order: str) -> np.ndarray:
    """The keys by NumPy alone, int64, for verification and as the slow way."""
    if order == "baseline":
        return records[:, BASELINE].astype(np.int64)
    scale = np.float32(TILES * 0.499 / np.abs(records[:, : V + 1]).max())
    x, y = ((records[:, column] * scale + np.float32(TILES / 2)).astype(np.int64) for column in (U, V))
    return y * TILES + np.where(y % 2 == 0, x, TILES - 1 - x)


def reference(records: np.ndarray, order: str) -> np.ndarray:
    """The same by NumPy's stable sort."""
    return records[np.argsort(keys_of(records, order), kind="stable")]
