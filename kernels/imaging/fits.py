"""IMLOD and UVLOD: images and visibilities as FITS files, read by our own code and through astropy.

An image is the primary array of 32-bit floats.  Visibilities are random groups (UVFITS): five
parameters, then real part, imaginary part and weight of one Stokes parameter of one channel.  Lengths
are stored in wavelengths with a scale of 1/frequency, so that a reader gets seconds, as the
convention asks, and nothing is rounded on the way out and back.
"""

import contextlib
import math
import os
from datetime import date
from pathlib import Path

import numpy as np

from kernels.contract import require_choice
from kernels.imaging.array import require_records
from kernels.runtime import optional
from kernels.runtime.atomic import atomic_write
from kernels.runtime.jit import kernel
from kernels.runtime.resources import require_disk, require_memory

RECORD = 2880
FREQUENCY = 4.885e9  # Hz: 6 cm, the band of most maps of the time
#: Julian date of day 0 of the records.
DAY = date(1988, 1, 1).toordinal() + 1721424.5
READERS = ("raw", "astropy")
_PARAMETERS = ("UU", "VV", "WW", "BASELINE", "DATE")
#: Cards by which a library would change what it reads, and the values that change nothing.
_PLAIN = {"BITPIX": -32, "BSCALE": 1, "BZERO": 0}


def _card(key: str, value, comment: str = "") -> str:
    if isinstance(value, bool):
        text = f"{'T' if value else 'F':>20}"
    elif isinstance(value, str):
        text = f"'{value:<8}'".ljust(20)
    else:
        text = f"{value!r:>20}" if isinstance(value, int) else f"{value:>20.14G}"
    return f"{key:<8}= {text}{' / ' + comment if comment else ''}".ljust(80)[:80]


def _header(cards: list[tuple]) -> bytes:
    text = "".join(_card(*card) for card in cards) + "END".ljust(80)
    return text.ljust(-(-len(text) // RECORD) * RECORD).encode("ascii")


def _write(path: Path, header: bytes, data: np.ndarray) -> int:
    """The file under its own name once it is whole; its bytes."""
    path = Path(path)
    size = len(header) + -(-data.nbytes // RECORD) * RECORD
    require_disk(path.parent, size, f"FITS file {path.name}")
    with atomic_write(path, fsync=False) as part, open(part, "wb") as file:
        file.write(header)
        file.write(np.ascontiguousarray(data))
        file.write(b"\0" * (size - len(header) - data.nbytes))
    return size


def write_image(path, image: np.ndarray, cell: float, name: str = "DDT") -> int:
    """An image, float32 (side, side), cells of ``cell`` radians; returns the bytes written."""
    if image.ndim != 2 or image.dtype != np.float32:
        raise ValueError(f"image of {image.dtype} {image.shape} must be float32 of two dimensions")
    rows, columns = image.shape
    degrees = float(np.degrees(cell))
    axes = (("RA---SIN", 0.0, columns), ("DEC--SIN", 40.0, rows))
    cards = [("SIMPLE", True), ("BITPIX", -32), ("NAXIS", 2), ("NAXIS1", columns), ("NAXIS2", rows)]
    for number, (kind, value, length) in enumerate(axes, 1):
        cards += [
            (f"CTYPE{number}", kind),
            (f"CRVAL{number}", value, "degrees"),
            (f"CDELT{number}", degrees, "degrees"),
            (f"CRPIX{number}", float(length // 2 + 1)),
        ]
    cards += [("BUNIT", "JY/BEAM"), ("OBJECT", name)]
    return _write(path, _header(cards), image.astype(">f4"))


def write_visibilities(path, records: np.ndarray, name: str = "DDT") -> int:
    """Records, float32 (n, 8), as random groups; returns the bytes written."""
    require_records(records)
    cards = [("SIMPLE", True), ("BITPIX", -32), ("NAXIS", 6), ("NAXIS1", 0), ("NAXIS2", 3)]
    cards += [(f"NAXIS{number}", 1) for number in range(3, 7)]
    cards += [("GROUPS", True), ("PCOUNT", 5), ("GCOUNT", len(records))]
    axes = (("COMPLEX", 1.0), ("STOKES", 1.0), ("FREQ", FREQUENCY), ("RA", 0.0), ("DEC", 40.0))
    for number, (kind, value) in enumerate(axes, 2):
        cards += [(f"CTYPE{number}", kind), (f"CRVAL{number}", value), (f"CDELT{number}", 1.0), (f"CRPIX{number}", 1.0)]
    for number, kind in enumerate(_PARAMETERS, 1):
        scale = 1.0 / FREQUENCY if number <= 3 else 1.0
        zero = DAY if kind == "DATE" else 0.0
        cards += [(f"PTYPE{number}", kind), (f"PSCAL{number}", scale), (f"PZERO{number}", zero)]
    cards += [("BUNIT", "JY"), ("OBJECT", name)]
    return _write(path, _header(cards), records.astype(">f4"))


def header(path) -> tuple[dict, int]:
    """Keywords of the primary header and the byte at which the data begin.

    ``ValueError``: no FITS file, or one that ends within its header.
    """
    found: dict = {}
    with open(path, "rb") as file:
        while block := file.read(RECORD):
            if not found and not block.startswith(b"SIMPLE  ="):
                break
            for start in range(0, len(block), 80):
                card = block[start : start + 80].decode("ascii", "replace")
                if card.startswith("END "):
                    return found, file.tell()
                if card[8:10] == "= ":
                    found[card[:8].strip()] = _value(card[10:])
    if found:
        raise ValueError(f"{path} is truncated within its header; copy it again")
    raise ValueError(f"{path} is no FITS file: it does not begin with SIMPLE")


def _value(text: str):
    text = text.strip()
    if text.startswith("'"):
        return text[1:].split("'")[0].rstrip()
    text = text.split("/")[0].strip()
    if text in ("T", "F"):
        return text == "T"
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text.replace("D", "E"))
    return text


@kernel
def _swap(words):
    """Turn the order of the bytes of every one of ``words``, uint32, in place."""
    for n in range(np.uint64(words.size)):
        x = words[n]
        words[n] = (
            (x >> np.uint32(24))
            | ((x >> np.uint32(8)) & np.uint32(0xFF00))
            | ((x << np.uint32(8)) & np.uint32(0xFF0000))
            | (x << np.uint32(24))
        )


def _words(path, start: int, count: int) -> np.ndarray:
    """Float32 of the data, in this machine's order."""
    data = np.empty(count, np.uint32)
    with open(path, "rb") as file:
        file.seek(start)
        file.readinto(data.view(np.uint8))
    if np.little_endian:
        _swap(data)
    return data.view(np.float32)


def _axes(keys: dict) -> list[int]:
    """Lengths of all axes."""
    return [keys.get(f"NAXIS{number}", 0) for number in range(1, 1 + keys.get("NAXIS", 0))]


def _require_plain(keys: dict, path) -> None:
    """``ValueError`` unless the data are 32-bit floats that mean what they say."""
    for name, value in _PLAIN.items():
        if keys.get(name, value) != value:
            raise ValueError(f"{path} has {name} = {keys[name]!r}; 32-bit floats that mean what they say are needed")


def _require_held(path, start: int, count: int) -> None:
    """``ValueError`` unless the file has ``count`` numbers; ``MemoryError`` if they do not fit."""
    held = (os.stat(path).st_size - start) // 4
    if held < count:
        raise ValueError(f"{path} is truncated: its header promises {count} numbers, {held} are there; copy it again")
    require_memory(2 * 4 * count, f"reading {path}")


def read_image(path, reader: str = "raw") -> np.ndarray:
    """The image of a FITS file, float32 (rows, columns).

    ``ValueError``: truncated, no image of two dimensions, other than 32-bit floats, or pixels that are not finite.
    """
    require_choice("reader", reader, READERS)
    keys, start = header(path)
    axes = _axes(keys)
    if len(axes) < 2 or any(length != 1 for length in axes[2:]) or keys.get("GROUPS") is True:
        raise ValueError(f"{path} has axes {axes}; an image of two dimensions is needed")
    _require_plain(keys, path)
    _require_held(path, start, axes[0] * axes[1])
    if reader == "raw":
        image = _words(path, start, axes[0] * axes[1]).reshape(axes[1], axes[0])
    else:
        image = _by_astropy(path, lambda part: np.ascontiguousarray(part.data.reshape(axes[1], axes[0]), np.float32))
    if not np.isfinite(image.sum(dtype=np.float64)):
        count = int(np.count_nonzero(~np.isfinite(image)))
        raise ValueError(f"{path} has {count} pixels that are not finite; blank them before loading")
    return image


def _by_astropy(path, take) -> np.ndarray:
    """``take`` of the primary part of a file, as astropy reads it."""
    fits = optional.library("astropy.io.fits", "this reader of FITS files")
    with fits.open(path, memmap=False, do_not_scale_image_data=True) as found:
        return take(found[0])


def read_visibilities(path, reader: str = "raw") -> np.ndarray:
    """Records of a UVFITS file of one Stokes parameter and channel, float32 (n, 8), lengths in wavelengths.

    ``ValueError``: truncated, no random groups of this form, and what :func:`require_records` refuses.
    """
    require_choice("reader", reader, READERS)
    keys, start = header(path)
    if keys.get("GROUPS") is not True or keys.get("NAXIS1") != 0:
        raise ValueError(f"{path} holds no random groups; visibilities in UVFITS form are needed")
    axes = _axes(keys)[1:]
    names = tuple(str(keys.get(f"PTYPE{number}", "")).split("-")[0] for number in range(1, 6))
    if axes[:1] != [3] or any(length != 1 for length in axes[1:]) or names != _PARAMETERS:
        raise ValueError(f"{path} has axes {axes} and parameters {names}; one Stokes parameter and channel are needed")
    _require_plain(keys, path)
    _require_scales(keys, path)
    count = keys.get("GCOUNT", 0)
    _require_held(path, start, 8 * count)
    if reader == "raw":
        records = _words(path, start, 8 * count).reshape(count, 8)
    else:
        records = _by_astropy(path, lambda part: _groups(part, count))
    try:
        return require_records(records)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _require_scales(keys: dict, path) -> None:
    """``ValueError`` unless lengths are in wavelengths and days count as :func:`write_visibilities` has them."""
    for number, kind in enumerate(_PARAMETERS, 1):
        wanted = {"PSCAL": 1.0 / FREQUENCY if number <= 3 else 1.0, "PZERO": DAY if kind == "DATE" else 0.0}
        for word, value in wanted.items():
            found = keys.get(f"{word}{number}", math.nan)
            if not math.isclose(found, value, rel_tol=1e-12):
                raise ValueError(
                    f"{path} has {word}{number} = {found!r}; {value:.14G} is needed: lengths in wavelengths"
                )


def _groups(part, count: int) -> np.ndarray:
    """Records of astropy's random groups."""
    records = np.empty((count, 8), np.float32)
    for column in range(5):
        value = part.data.par(column).astype(np.float64)
        unit = FREQUENCY if column < 3 else 1.0
        records[:, column] = (value - part.header[f"PZERO{column + 1}"]) * unit
    records[:, 5:] = part.data.data.reshape(count, 3)
    return records
