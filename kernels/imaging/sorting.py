"""UVSRT: visibilities in the order of baselines or of tiles of the (u, v) plane; a counting sort.

Both orders keep records with equal keys in the order in which they came.  A record is moved once, as
one vector of eight numbers, after one pass that counts keys.
"""

import numpy as np

from kernels.contract import Check, require_choice
from kernels.imaging.array import BASELINE, TIME, WEIGHT, U, V, require_form
from kernels.runtime.arrays import require_array
from kernels.runtime.jit import kernel

ORDERS = ("baseline", "tile", "time")
#: Tiles of the order "tile" along u and v, of the plane that the data fill.
TILES = 32
_LONGEST = 10**8  # s, about three years: a count is kept of each second


@kernel
def _baseline_keys(records, keys):
    names = records.shape[0]
    for n in range(np.uint64(names)):
        name = np.int32(records[n, np.uint64(BASELINE)])
        keys[n] = np.int32((name >> 8) * 32 + (name & 255))


@kernel
def _tile_keys(records, keys, scale, tiles):
    half = np.float32(tiles) * np.float32(0.5)
    for n in range(np.uint64(records.shape[0])):
        x = np.int32(records[n, np.uint64(U)] * scale + half)
        y = np.int32(records[n, np.uint64(V)] * scale + half)
        keys[n] = y * tiles + (x if y % 2 == 0 else tiles - 1 - x)


@kernel
def _time_keys(records, keys, start, scale, steps):
    for n in range(np.uint64(records.shape[0])):
        keys[n] = min(np.int32((records[n, np.uint64(TIME)] - start) * scale), steps)


@kernel
def _largest_baseline(records):
    most = np.float32(0)
    for n in range(np.uint64(records.shape[0])):
        most = max(most, max(abs(records[n, np.uint64(U)]), abs(records[n, np.uint64(V)])))
    return most


@kernel
def _starts(keys, counts):
    """Counts of the keys turned into the place of the first record of each; False where a key has no count."""
    counts[:] = 0
    for n in range(np.uint64(keys.size)):
        key = np.uint64(keys[n])  # a negative one becomes the largest
        if key >= np.uint64(counts.size):
            return False
        counts[key] += 1
    place = 0
    for key in range(counts.size):
        count = counts[key]
        counts[key] = place
        place += count
    return True


@kernel
def _move(records, keys, places, out):
    for n in range(np.uint64(keys.size)):
        key = np.uint64(keys[n])
        to = np.uint64(places[key])
        places[key] += 1
        for column in range(np.uint64(8)):
            out[to, column] = records[n, column]


def sort(records: np.ndarray, order: str, out: np.ndarray | None = None) -> np.ndarray:
    """The records in another order, float32 (n, 8).

    Parameters
    ----------
    records : ndarray, float32 (n, 8)
    order : str
        ``"baseline"``: by antennas; ``"tile"``: by tile of the plane, rows of tiles to and fro;
        ``"time"``: by time in steps of a second.
    out : ndarray, optional
        Where to write; not ``records`` itself.

    Raises
    ------
    ValueError
        An unknown order, or ``out`` of another shape or the same memory.
    """
    require_choice("order", order, ORDERS)
    require_form(records)
    out = np.empty_like(records) if out is None else out
    require_array("out", out, np.float32, records.shape, writable=True, apart=(records,))
    keys = np.empty(len(records), np.int32)
    if order == "baseline":
        _baseline_keys(records, keys)
        count = 32 * 32
    elif order == "tile":
        scale = np.float32(TILES * 0.499 / max(float(_largest_baseline(records)), 1e-30))
        _tile_keys(records, keys, scale, np.int32(TILES))
        count = TILES * TILES
    else:
        start, end = records[:, TIME].min(), records[:, TIME].max()
        span = (float(end) - float(start)) * 86400
        if not span < _LONGEST:
            raise ValueError(f"times from {start} to {end} days span no finite time below {_LONGEST} s")
        count = int(span) + 2
        _time_keys(records, keys, start, np.float32(86400), np.int32(count - 1))
    places = np.empty(count, np.int64)
    if not _starts(keys, places):  # keys become places in memory
        raise ValueError(f"a visibility has a value that gives no place in the order {order!r}; leave the record out")
    _move(records, keys, places, out)
    return out


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
