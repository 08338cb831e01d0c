"""A 27-antenna array and the records of its visibilities.

The test's tape is lost, so an array in the form of the Very Large Array makes the visibilities: three
arms of nine antennas, distances from the centre growing as n^1.716 (Napier, Thompson, Ekers 1983).
Earth's rotation moves each pair of antennas along an ellipse in the (u, v) plane.

A visibility is a record of eight float32, as AIPS and UVFITS keep one Stokes parameter of one channel:
``U V W`` in wavelengths, ``BASELINE`` = 256·i + j for antennas i < j from 1 on, ``TIME`` in days, then
``RE IM`` in Jy and ``WEIGHT``; a weight of zero or less marks a flagged visibility.
"""

import numpy as np

from supercomputers_rerun.kernels.contract import require_range
from supercomputers_rerun.kernels.runtime.arrays import as_writeable, require_array

__all__ = ["ANTENNAS", "BASELINE", "IM", "PAIRS", "RE", "TIME", "U", "V", "W", "WEIGHT", "antennas", "tracks"]

U, V, W, BASELINE, TIME, RE, IM, WEIGHT = range(8)
ANTENNAS = 27
PAIRS = ANTENNAS * (ANTENNAS - 1) // 2
#: Degrees: azimuths of the three arms from north, latitude of the site.
_ARMS = (355.0, 115.0, 236.0)
_LATITUDE = 34.08


def antennas() -> np.ndarray:
    """Equatorial coordinates X (meridian), Y (east), Z (pole) of 27 antennas, float64 (27, 3).

    In units of the longest arm.
    """
    distance = np.arange(1, 10) ** 1.716 / 9**1.716
    east = np.concatenate([distance * np.sin(np.radians(arm)) for arm in _ARMS])
    north = np.concatenate([distance * np.cos(np.radians(arm)) for arm in _ARMS])
    tilt = np.radians(_LATITUDE)
    return np.stack([-north * np.sin(tilt), east, north * np.cos(tilt)], axis=1)


def tracks(times: int, length: float) -> np.ndarray:
    """Records without data, float32 (351·times, 8), in order of time and baseline.

    ``times``: samples a baseline, evenly over eight hours around the meridian, of a source at a declination of 40°;
    ``length``: of the longest baseline, wavelengths.
    """
    require_range("times", times, 1, 1_000_000)
    declination, hours, place = 40.0, 8.0, antennas()
    first, second = np.triu_indices(ANTENNAS, 1)
    difference = place[first] - place[second]
    angle = np.radians(15.0) * (np.arange(times) + 0.5 - times / 2) * hours / times
    x, y, z = (difference[:, n] for n in range(3))
    sin_h, cos_h = np.sin(angle)[:, None], np.cos(angle)[:, None]
    sin_d, cos_d = np.sin(np.radians(declination)), np.cos(np.radians(declination))
    u = sin_h * x + cos_h * y
    v = -sin_d * cos_h * x + sin_d * sin_h * y + cos_d * z
    w = cos_d * cos_h * x - cos_d * sin_h * y + sin_d * z
    records = np.zeros((times, PAIRS, 8), np.float32)
    longest = np.sqrt(u**2 + v**2).max()
    for column, value in ((U, u), (V, v), (W, w)):
        records[:, :, column] = value / longest
    records[:, :, BASELINE] = 256 * (first + 1) + second + 1
    records[:, :, TIME] = (angle / (2 * np.pi))[:, None]
    records[:, :, WEIGHT] = 1
    records[:, :, :3] *= np.float32(length)
    return records.reshape(-1, 8)


def require_form(records) -> np.ndarray:
    """The array, to be read, if it is float32 (n, 8) in C order with a record at least; else ``ValueError``."""
    require_array("visibilities", records, np.float32, (None, 8))
    if not len(records):
        raise ValueError("there are no visibilities: the data set has zero records")
    return records if records.flags.writeable else as_writeable(records)


def require_records(records) -> np.ndarray:
    """The array, if it is what the kernels take.

    ``ValueError``: not float32 (n, 8) in C order, no record at all, all flagged, or something that is not finite in a
    record that is not flagged.
    """
    good = require_form(records)[:, WEIGHT] > 0
    bad = np.flatnonzero(good & ~np.isfinite(records).all(axis=1))
    if bad.size:
        raise ValueError(f"visibility {bad[0]} holds a value that is not finite; flag it by a weight of zero")
    if not good.any():
        raise ValueError(f"all {len(records)} visibilities are flagged (weight not above zero); nothing is left to use")
    return records


def require_cell(records: np.ndarray, cell: float, limit: float = 0.48) -> None:
    """``ValueError`` unless the longest |u| or |v| is at most ``limit`` wavelengths a cell (radians)."""
    longest = float(np.abs(records[records[:, WEIGHT] > 0, : V + 1]).max(initial=0.0))
    if not np.isfinite(cell) or cell <= 0:
        raise ValueError(f"cell = {cell!r} rad must be above zero")
    if longest * cell > limit:
        raise ValueError(
            f"cell = {cell:.4g} rad is too coarse for the longest baseline of {longest:.4g} wavelengths; "
            f"at most {limit / longest:.4g} rad"
        )
