"""IMLOD and UVLOD: images and visibilities as FITS files, through astropy.

An image is the primary array.  Visibilities are random groups (UVFITS): parameters of each group, then real part,
imaginary part and weight of one Stokes parameter of one channel.  Lengths are stored in wavelengths with a scale of
1/frequency, so that a reader gets seconds, as the convention asks, and nothing is rounded on the way out and back.
"""

from datetime import date
from pathlib import Path

import numpy as np

from supercomputers_rerun.kernels.imaging.array import require_records
from supercomputers_rerun.kernels.runtime.arrays import require_array
from supercomputers_rerun.kernels.runtime.atomic import atomic_write
from supercomputers_rerun.kernels.runtime.resources import require_memory

FREQUENCY = 4.885e9  # Hz: 6 cm, the band of most maps of the time
#: Julian date of day 0 of the records.
DAY = date(1988, 1, 1).toordinal() + 1721424.5
_PARAMETERS = ("UU", "VV", "WW", "BASELINE", "DATE")


def write_image(path, image: np.ndarray, cell: float) -> None:
    """Write an image, float32 (rows, columns), Jy per beam, with pixels of ``cell`` radians."""
    from astropy.io import fits

    require_array("image", image, np.float32, (None, None))
    rows, columns = image.shape
    cards = {"BUNIT": "JY/BEAM", "OBJECT": "DDT"}
    for number, (kind, value, length) in enumerate((("RA---SIN", 0.0, columns), ("DEC--SIN", 40.0, rows)), 1):
        cards |= {f"CTYPE{number}": kind, f"CRVAL{number}": value, f"CDELT{number}": float(np.degrees(cell))}
        cards |= {f"CRPIX{number}": float(length // 2 + 1)}
    with atomic_write(path, fsync=False) as part:
        fits.PrimaryHDU(image.astype(">f4"), fits.Header(cards)).writeto(part)


def write_visibilities(path, records: np.ndarray) -> None:
    """Write records, float32 (n, 8), as random groups."""
    from astropy.io import fits

    require_records(records)
    cards = {"BUNIT": "JY", "OBJECT": "DDT"}
    axes = (("COMPLEX", 1.0), ("STOKES", 1.0), ("FREQ", FREQUENCY), ("RA", 0.0), ("DEC", 40.0))
    for number, (kind, value) in enumerate(axes, 2):
        cards |= {f"CTYPE{number}": kind, f"CRVAL{number}": value, f"CDELT{number}": 1.0, f"CRPIX{number}": 1.0}
    for number, kind in enumerate(_PARAMETERS, 1):
        cards |= {f"PSCAL{number}": 1.0 / FREQUENCY if number <= 3 else 1.0, f"PZERO{number}": DAY * (kind == "DATE")}
    data, given = records[:, 5:].reshape(-1, 1, 1, 1, 1, 3), list(records[:, :5].T)
    groups = fits.GroupsHDU(fits.GroupData(data, bitpix=-32, parnames=list(_PARAMETERS), pardata=given))
    groups.header.update(cards)
    with atomic_write(path, fsync=False) as part:
        groups.writeto(part)


def _read(path, take) -> np.ndarray:
    """``take`` of the primary part of a file; ``ValueError`` with the path for what it or astropy refuses."""
    from astropy.io import fits

    require_memory(4 * Path(path).stat().st_size, f"reading {path}")
    try:
        with fits.open(path, memmap=False) as found:
            return take(found[0])
    except (OSError, TypeError, ValueError, IndexError, KeyError) as error:
        raise ValueError(f"{path} cannot be used: {error}") from error


def read_image(path) -> np.ndarray:
    """The image of a FITS file, float32 (rows, columns).

    ``ValueError``: no FITS file, truncated, no image of two dimensions, or pixels that are not finite.
    """
    return _read(path, _image)


def _image(part) -> np.ndarray:
    shape = np.shape(part.data)
    if len(shape) < 2 or any(length != 1 for length in shape[:-2]):
        raise ValueError(f"its shape is {shape}; an image of two dimensions is needed")
    image = np.ascontiguousarray(part.data.reshape(shape[-2:]), np.float32)
    if not np.isfinite(image.sum(dtype=np.float64)):
        count = int(np.count_nonzero(~np.isfinite(image)))
        raise ValueError(f"{count} pixels are not finite; blank them before loading")
    return image


def read_visibilities(path) -> np.ndarray:
    """Records of a UVFITS file of one Stokes parameter and channel, float32 (n, 8), lengths in wavelengths.

    Days count from PZERO of the date.  ``ValueError``: no FITS file, truncated, not the parameters and axes that
    :func:`write_visibilities` gives, and what :func:`require_records` refuses.
    """
    return _read(path, _records)


def _records(part) -> np.ndarray:
    data, frequency = part.data, part.header.get("CRVAL4")
    names = [name.partition("-")[0] for name in getattr(data, "parnames", ())]
    if names != list(_PARAMETERS) or data.data.shape[1:] != (1, 1, 1, 1, 3) or part.header.get("CTYPE4") != "FREQ":
        raise ValueError(f"it has no random groups of {', '.join(_PARAMETERS)} and one Stokes parameter and channel")
    records = np.empty((len(data), 8), np.float32)
    for column in range(3):
        records[:, column] = data.par(column).astype(float) * frequency  # scaled to seconds
    records[:, 3] = data.par(3)
    stored = data.view(np.ndarray)[data.names[4]]  # for a Julian date lacks the last bits of a day's part
    records[:, 4] = stored * part.header.get("PSCAL5", 1.0)
    records[:, 5:] = data.data.reshape(len(data), 3)
    return require_records(records)
