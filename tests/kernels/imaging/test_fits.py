"""FITS files: what we write astropy reads, both readers agree, and damaged files are refused in one sentence."""

from datetime import date

import numpy as np
import pytest

from kernels.imaging import array, fits, sky

CELL = 2.1e-6
RECORDS = sky.observe(array.scaled(array.tracks(3), 0.36 / CELL), sky.synthetic(64, CELL, points=3))
IMAGE = np.random.default_rng(0).standard_normal((64, 96)).astype(np.float32)


def test_records_count_from_the_first_of_january_1988():
    """Julian date of the midnight that begins a day of the calendar: its ordinal and 1721424.5."""
    assert date(1988, 1, 1).toordinal() + 1721424.5 == fits.DAY == 2447161.5


@pytest.mark.parametrize("reader", fits.READERS)
def test_files_come_back_as_they_went(tmp_path, reader):
    fits.write_image(tmp_path / "image.fits", IMAGE, CELL)
    size = fits.write_visibilities(tmp_path / "data.uvfits", RECORDS)
    assert size % fits.RECORD == 0 and size == (tmp_path / "data.uvfits").stat().st_size
    assert np.array_equal(fits.read_image(tmp_path / "image.fits", reader), IMAGE)
    assert np.array_equal(fits.read_visibilities(tmp_path / "data.uvfits", reader), RECORDS)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.uvfits", "image.fits"]


def test_astropy_finds_the_files_sound(tmp_path):
    astropy = pytest.importorskip("astropy.io.fits")
    fits.write_image(tmp_path / "image.fits", IMAGE, CELL)
    fits.write_visibilities(tmp_path / "data.uvfits", RECORDS)
    with astropy.open(tmp_path / "image.fits") as found:
        found.verify("exception")
        assert found[0].header["CDELT2"] == pytest.approx(np.degrees(CELL))
    with astropy.open(tmp_path / "data.uvfits") as found:
        found.verify("exception")
        seconds = found[0].data.par("UU")
        assert np.allclose(seconds, RECORDS[:, 0] / fits.FREQUENCY, rtol=1e-6)
        assert np.array_equal(found[0].data.par("BASELINE"), RECORDS[:, 3])


def card(data, key, value):
    """The header with another digit at the end of the value of ``key``."""
    at = data.index(key.ljust(8) + b"=") + 29
    return data[:at] + value + data[at + 1 :]


def damaged(tmp_path, name, change):
    path = tmp_path / name
    (fits.write_image(path, IMAGE, CELL) if name == "image" else fits.write_visibilities(path, RECORDS))
    path.write_bytes(change(path.read_bytes()))
    return path


@pytest.mark.parametrize("reader", fits.READERS)
@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("image", lambda data: data[:-6000], "is truncated"),
        ("image", lambda data: data[:1000], "truncated within its header"),
        ("image", lambda data: b"", "no FITS file"),
        ("image", lambda data: card(data, b"NAXIS ", b"1"), "axes"),
        ("image", lambda data: data.replace(b"                 -32", b"                 -64"), "BITPIX"),
        ("image", lambda data: data[:2880] + b"\x7f\xc0\0\0" * 9 + data[2916:], "9 pixels that are not finite"),
        ("data", lambda data: data[: len(data) // 2], "is truncated"),
        ("data", lambda data: card(data, b"NAXIS3", b"4"), "axes"),
        ("data", lambda data: data[:2880] + data[2880:].replace(RECORDS[5:6].astype(">f4").tobytes(),
         b"\x7f\xc0\0\0" * 7 + b"\x3f\x80\0\0"), "visibility 5 holds a value that is not finite"),
    ],
)  # fmt: skip
def test_damaged_files_are_refused(tmp_path, reader, name, change, words):
    path = damaged(tmp_path, name, change)
    with pytest.raises(ValueError, match=words):
        (fits.read_image if name == "image" else fits.read_visibilities)(path, reader)


def test_an_image_is_no_set_of_visibilities(tmp_path):
    fits.write_image(tmp_path / "image", IMAGE, CELL)
    fits.write_visibilities(tmp_path / "data", RECORDS)
    with pytest.raises(ValueError, match="holds no random groups"):
        fits.read_visibilities(tmp_path / "image")
    with pytest.raises(ValueError, match="an image of two dimensions is needed"):
        fits.read_image(tmp_path / "data")
    with pytest.raises(ValueError, match="reader = 'fast' is unknown"):
        fits.read_image(tmp_path / "image", "fast")
