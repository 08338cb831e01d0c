"""IMLOD and UVLOD: images and visibilities as FITS files, through astropy.

An image is the primary array.  Visibilities are random groups (UVFITS): parameters of each group, then real part,
imaginary part and weight of one Stokes parameter of one channel.  Lengths are stored in wavelengths with a scale of
1/frequency, so that a reader gets seconds, as the convention asks, and nothing is rounded on the way out and back.
"""

import bz2
import gzip
import io
import lzma
import math
import zipfile
from datetime import date
from typing import IO

import numpy as np

from supercomputers_rerun.kernels.imaging.array import require_records
from supercomputers_rerun.kernels.runtime.arrays import require_array
from supercomputers_rerun.kernels.runtime.atomic import atomic_write
from supercomputers_rerun.kernels.runtime.resources import require_memory

FREQUENCY = 4.885e9  # Hz: 6 cm, the band of most maps of the time
#: Julian date of day 0 of the records.
DAY = date(1988, 1, 1).toordinal() + 1721424.5
#: Most axes, words and bytes of a header that are looked at: FITS has at most 999 axes.
_MOST_AXES, _MOST_WORDS, _MOST_HEADER = 999, 2**40, 2**20
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


def _opened(path) -> IO[bytes]:
    """A file, uncompressed on the way where it is compressed as astropy knows it."""
    file = open(path, "rb")
    with file:
        start = file.read(6)
    for magic, way in ((b"\x1f\x8b", gzip.open), (b"BZh", bz2.open), (b"\xfd7zXZ", lzma.open)):
        if start.startswith(magic):
            return way(path, "rb")
    if start.startswith(b"\x1f\x9d"):
        raise ValueError("it is compressed by compress; give what uncompress makes of it")
    if start.startswith(b"PK"):
        archive = zipfile.ZipFile(path)
        return archive.open(archive.namelist()[0])
    return open(path, "rb")


def _number(header, name: str, default: float | None = None) -> float:
    """The finite number of a card; ``ValueError`` that names the card."""
    value = header.get(name, default)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError(f"{name} = {value!r} is no number")
    return value


def _count(header, name: str, least: int, most: int, default: int | None = None) -> int:
    """The whole number of a card from ``least`` to ``most``; ``ValueError`` that names the card."""
    value = _number(header, name, default)
    if not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"{name} = {value!r} is no whole number from {least} to {most}")
    return value


def _data_bytes(header) -> int:
    """Bytes of the primary array or of its groups.

    ``ValueError`` where one of the numbers that say so cannot be: astropy would believe them.
    """
    groups = header.get("GROUPS") is True
    bits = _count(header, "BITPIX", -64, 64)
    if bits not in (8, 16, 32, 64, -32, -64):
        raise ValueError(f"BITPIX = {bits} is no type of FITS")
    axes = _count(header, "NAXIS", 0, _MOST_AXES)
    lengths = [_count(header, f"NAXIS{n}", 0 if groups and n == 1 else 1, _MOST_WORDS) for n in range(1, axes + 1)]
    words = math.prod(lengths[1:] if groups else lengths) if axes else 0
    if groups:
        words = _count(header, "GCOUNT", 1, _MOST_WORDS, 1) * (_count(header, "PCOUNT", 0, _MOST_WORDS, 0) + words)
    for name in ("BSCALE", "BZERO"):
        _number(header, name, 1.0)
    return abs(bits) // 8 * words


def _read(path, take) -> np.ndarray:
    """``take`` of the primary part of a file; ``ValueError`` with the path for what it or astropy refuses.

    The header comes first: what it claims is looked at before astropy reads, or counts, anything.
    """
    from astropy.io import fits

    try:
        with _opened(path) as file:
            start = io.BytesIO(file.read(_MOST_HEADER))
            nbytes = _data_bytes(fits.Header.fromfile(start))
            if file.seek(0, io.SEEK_END) < start.tell() + nbytes:
                raise ValueError(f"it is truncated: {nbytes} bytes should follow its header")
            require_memory(4 * nbytes, f"reading {path}")
            file.seek(0)
            with fits.open(file, memmap=False) as found:
                return take(found[0])
    except MemoryError:
        raise
    except Exception as error:  # of damaged cards astropy raises whatever its own code meets
        raise ValueError(f"{path} cannot be used: {' '.join(str(error).split())}") from error


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
    if part.header.get("GROUPS") is not True or part.header.get("CTYPE4") != "FREQ":
        raise ValueError("it has no random groups with a frequency as fourth axis")
    frequency = _number(part.header, "CRVAL4")
    if frequency <= 0:
        raise ValueError(f"CRVAL4 = {frequency!r} is no frequency")
    for n in range(1, len(_PARAMETERS) + 1):
        _number(part.header, f"PZERO{n}", 0.0)
        if _number(part.header, f"PSCAL{n}", 1.0) == 0:
            raise ValueError(f"PSCAL{n} = 0 leaves nothing of what it scales")
        if not isinstance(kind := part.header.get(f"PTYPE{n}"), str):
            raise ValueError(f"PTYPE{n} = {kind!r} is no name")
    data = part.data
    names = [name.partition("-")[0] for name in getattr(data, "parnames", ())]
    if names != list(_PARAMETERS) or data.data.shape[1:] != (1, 1, 1, 1, 3):
        raise ValueError(f"it has no random groups of {', '.join(_PARAMETERS)} and one Stokes parameter and channel")
    records = np.empty((len(data), 8), np.float32)
    for column in range(3):
        records[:, column] = data.par(column).astype(float) * frequency  # scaled to seconds
    records[:, 3] = data.par(3)
    stored = data.view(np.ndarray)[data.names[4]]  # for a Julian date lacks the last bits of a day's part
    records[:, 4] = stored * part.header.get("PSCAL5", 1.0)
    records[:, 5:] = data.data.reshape(len(data), 3)
    return require_records(records)
