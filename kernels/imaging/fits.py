"""IMLOD and UVLOD: images and visibilities as FITS files, read by our own code and through astropy.

An image is the primary array of 32-bit floats.  Visibilities are random groups (UVFITS): five
parameters, then real part, imaginary part and weight of one Stokes parameter of one channel.  Lengths
are stored in wavelengths with a scale of 1/frequency, so that a reader gets seconds, as the
convention asks, and nothing is rounded on the way out and back.
"""

from pathlib import Path

import numpy as np

from kernels.contract import require_choice
from kernels.files.pending import whole
from kernels.imaging.array import require_records
from kernels.runtime.jit import kernel
from kernels.runtime.resources import require_disk

RECORD = 2880
FREQUENCY = 4.885e9  # Hz: 6 cm, the band of most maps of the time
#: Julian date of day 0 of the records.
DAY = 2447161.5
READERS = ("raw", "astropy")
_PARAMETERS = ("UU", "VV", "WW", "BASELINE", "DATE")


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
    with whole(path) as part, open(part, "wb") as file:
        file.write(header)
        data.tofile(file)
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

    Raises
    ------
    ValueError
        No FITS file, or one that ends within its header.
    """
    path = Path(path)
    found, blocks = {}, 0
    with open(path, "rb") as file:
        while True:
            block = file.read(RECORD)
            if not blocks and not block.startswith(b"SIMPLE  ="):
                raise ValueError(f"{path.name} is no FITS file: it does not begin with SIMPLE")
            if len(block) < RECORD:
                raise ValueError(f"{path.name} is truncated within its header; copy it again")
            blocks += 1
            for start in range(0, RECORD, 80):
                card = block[start : start + 80].decode("ascii", "replace")
                if card.startswith("END "):
                    return found, blocks * RECORD
                if card[8:10] == "= ":
                    found[card[:8].strip()] = _value(card[10:])


def _value(text: str):
    text = text.strip()
    if text.startswith("'"):
        return text[1:].split("'")[0].rstrip()
    text = text.split("/")[0].strip()
    if text in ("T", "F"):
        return text == "T"
    try:
        return float(text) if any(mark in text for mark in ".ED") else int(text)
    except ValueError:
        return text


@kernel
def _swap(words):
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
    path = Path(path)
    held = (path.stat().st_size - start) // 4
    if held < count:
        raise ValueError(f"{path.name} is truncated: its header promises {count} numbers, {held} are there")
    data = np.fromfile(path, np.uint32, count, offset=start)
    if np.little_endian:
        _swap(data)
    return data.view(np.float32)


def _require_floats(keys: dict, path) -> None:
    if keys.get("BITPIX") != -32:
        raise ValueError(f"{Path(path).name} holds BITPIX = {keys.get('BITPIX')!r}; 32-bit floats (-32) are needed")


def read_image(path, reader: str = "raw") -> np.ndarray:
    """The image of a FITS file, float32 (rows, columns).

    Raises
    ------
    ValueError
        Truncated, no image of two dimensions, other than 32-bit floats, or pixels that are not finite.
    """
    require_choice("reader", reader, READERS)
    keys, start = header(path)
    axes = [keys.get(f"NAXIS{number}", 0) for number in range(1, keys.get("NAXIS", 0) + 1)]
    if len(axes) < 2 or any(length != 1 for length in axes[2:]) or min(axes[:2]) < 1:
        raise ValueError(f"{Path(path).name} has axes {axes}; an image of two dimensions is needed")
    _require_floats(keys, path)
    if reader == "raw":
        image = _words(path, start, axes[0] * axes[1]).reshape(axes[1], axes[0])
    else:
        image = _astropy_image(path, axes)
    if not np.isfinite(image.sum(dtype=np.float64)):
        count = int(np.count_nonzero(~np.isfinite(image)))
        raise ValueError(f"{Path(path).name} has {count} pixels that are not finite; blank them before loading")
    return image


def _astropy_image(path, axes) -> np.ndarray:
    from astropy.io import fits

    if Path(path).stat().st_size < header(path)[1] + 4 * axes[0] * axes[1]:
        raise ValueError(f"{Path(path).name} is truncated: the image is not whole")
    with fits.open(path, memmap=False) as found:
        return np.ascontiguousarray(found[0].data.reshape(axes[1], axes[0]), np.float32)


def read_visibilities(path, reader: str = "raw") -> np.ndarray:
    """Records of a UVFITS file of one Stokes parameter and channel, float32 (n, 8), lengths in wavelengths.

    Raises
    ------
    ValueError
        Truncated, no random groups of this form, and what :func:`require_records` refuses.
    """
    require_choice("reader", reader, READERS)
    keys, start = header(path)
    if keys.get("GROUPS") is not True or keys.get("NAXIS1") != 0:
        raise ValueError(f"{Path(path).name} holds no random groups; visibilities in UVFITS form are needed")
    axes = [keys.get(f"NAXIS{number}", 0) for number in range(2, keys.get("NAXIS", 0) + 1)]
    names = tuple(keys.get(f"PTYPE{number}", "").split("-")[0] for number in range(1, 6))
    if axes[:1] != [3] or any(length != 1 for length in axes[1:]) or keys.get("PCOUNT") != 5 or names != _PARAMETERS:
        raise ValueError(f"{Path(path).name} has axes {axes} and parameters {names}; one Stokes and channel is needed")
    _require_floats(keys, path)
    count = keys.get("GCOUNT", 0)
    if reader == "raw":
        records = _words(path, start, 8 * count).reshape(count, 8)
    else:
        records = _astropy_visibilities(path, start, count)
    return require_records(records)


def _astropy_visibilities(path, start: int, count: int) -> np.ndarray:
    from astropy.io import fits

    if Path(path).stat().st_size < start + 32 * count:
        raise ValueError(f"{Path(path).name} is truncated: the groups are not whole")
    records = np.empty((count, 8), np.float32)
    with fits.open(path, memmap=False) as found:
        groups, keys = found[0].data, found[0].header
        for column in range(5):
            value = groups.par(column).astype(np.float64)
            unit = FREQUENCY if column < 3 else 1.0
            zero = keys[f"PZERO{column + 1}"]
            records[:, column] = (value - zero) * (unit if column != 3 else 1.0)
        records[:, 5:] = groups.data.reshape(count, 3)
    return records
