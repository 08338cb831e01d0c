"""FITS files: they come back as they went, are sound, and others' are read or refused in a sentence."""

import bz2
import gzip
import lzma
from datetime import date

import numpy as np
import pytest
from astropy.io import fits as astropy

from supercomputers_rerun.kernels.imaging import array, fits, sky
from supercomputers_rerun.kernels.runtime import resources

CELL = 2.1e-6
RECORDS = sky.observe(array.tracks(3, 0.36 / CELL), sky.synthetic(64, CELL, points=3))
IMAGE = np.random.default_rng(0).standard_normal((64, 96)).astype(np.float32)


def test_records_count_from_the_first_of_january_1988():
    """Julian date of the midnight that begins a day of the calendar: its ordinal and 1721424.5."""
    assert date(1988, 1, 1).toordinal() + 1721424.5 == fits.DAY == 2447161.5


def test_files_come_back_as_they_went(tmp_path):
    fits.write_image(tmp_path / "image.fits", IMAGE, CELL)
    records = np.where(np.arange(8) == 4, np.float32(1e-7), RECORDS)  # a time that a Julian date has no bits for
    fits.write_visibilities(tmp_path / "data.uvfits", records)
    assert (tmp_path / "data.uvfits").stat().st_size % 2880 == 0
    assert np.array_equal(fits.read_image(tmp_path / "image.fits"), IMAGE)
    assert np.array_equal(fits.read_visibilities(tmp_path / "data.uvfits"), records)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.uvfits", "image.fits"]


def test_astropy_finds_the_files_sound(tmp_path):
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


def test_visibilities_of_others_are_read(tmp_path):
    """Names of a projection, another frequency."""
    names = ["UU---SIN", "VV---SIN", "WW---SIN", "BASELINE", "DATE"]
    columns = [*(RECORDS[:, :3] / 1.4e9).T, *RECORDS[:, 3:5].T]
    data = RECORDS[:, 5:].reshape(-1, 1, 1, 1, 1, 3)
    part = astropy.GroupsHDU(astropy.GroupData(data, bitpix=-32, parnames=names, pardata=columns))
    part.header.update({"CTYPE4": "FREQ", "CRVAL4": 1.4e9, "PZERO5": 2450000.0})
    part.writeto(tmp_path / "wild.uvfits")
    np.testing.assert_allclose(fits.read_visibilities(tmp_path / "wild.uvfits"), RECORDS, rtol=1e-6)


@pytest.mark.parametrize("damage", ["text", "short", "empty", "other"])
def test_what_is_no_file_of_the_kind_is_refused_in_a_sentence(tmp_path, damage):
    path = tmp_path / "file.fits"
    fits.write_image(path, IMAGE, CELL)
    whole = path.read_bytes()
    path.write_bytes({"text": b"hello", "short": whole[:6000], "empty": b"", "other": whole}[damage])
    with pytest.raises(ValueError, match="file.fits cannot be used"):
        (fits.read_visibilities if damage == "other" else fits.read_image)(path)


def with_card(path, name, text):
    """Put ``text`` in place of the value of a card."""
    whole = path.read_bytes()
    place = whole.index(f"{name:8s}=".encode())
    path.write_bytes(whole[:place] + f"{name:8s}= {text:>20s}".encode().ljust(80) + whole[place + 80 :])


@pytest.mark.parametrize("kind", ["image", "visibilities"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        *(("NAXIS1", "-1"), ("NAXIS1", "-16"), ("NAXIS2", "0"), ("NAXIS2", "'many'"), ("NAXIS2", "1099511627776")),
        *(("NAXIS", "999999999"), ("NAXIS", "-1"), ("NAXIS", "2.5"), ("BITPIX", "-33"), ("BITPIX", "T")),
        *(("CRVAL4", "0.0"), ("CRVAL4", "-1.4E9"), ("CRVAL4", "NaN"), ("CRVAL4", "'S band'"), ("CRVAL4", "1E999")),
        *(("PSCAL1", "NaN"), ("PSCAL2", "0.0"), ("PSCAL5", "'one'"), ("PZERO5", "NaN"), ("PZERO1", "'zero'")),
        *(("PTYPE1", "1"), ("PTYPE3", "NaN"), ("GCOUNT", "-5"), ("GCOUNT", "99999999"), ("PCOUNT", "'five'")),
    ],
)
def test_a_card_that_cannot_be_is_refused_in_a_sentence_that_names_it(tmp_path, kind, name, text):
    path = tmp_path / "file.fits"
    image = kind == "image"
    fits.write_image(path, IMAGE, CELL) if image else fits.write_visibilities(path, RECORDS)
    if f"{name:8s}=".encode() not in path.read_bytes():
        return  # of the other kind
    with_card(path, name, text)
    counted = name == "GCOUNT" and text == "99999999" or text == "1099511627776"
    with pytest.raises(ValueError, match=f"file.fits cannot be used: .*{'truncated' if counted else name}") as caught:
        (fits.read_image if image else fits.read_visibilities)(path)
    assert "\n" not in str(caught.value)


@pytest.mark.filterwarnings("ignore::astropy.utils.exceptions.AstropyWarning")
def test_of_damaged_headers_each_is_read_or_refused_by_a_value_error(tmp_path):
    """Three bytes of a header at random: whatever astropy raises, a reader of files of others has one kind to catch."""
    path, generator, refused = tmp_path / "file.fits", np.random.default_rng(3), 0
    for number in range(200):
        image = bool(number % 2)
        fits.write_image(path, IMAGE, CELL) if image else fits.write_visibilities(path, RECORDS)
        whole = bytearray(path.read_bytes())
        for place in generator.integers(0, 25 * 80, 3):
            whole[place] = generator.integers(32, 127)
        path.write_bytes(whole)
        try:
            (fits.read_image if image else fits.read_visibilities)(path)
        except ValueError as error:
            refused += "cannot be used" in str(error)
    assert refused > 20


@pytest.mark.parametrize(("ending", "way"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)])
def test_compressed_files_are_read(tmp_path, ending, way):
    fits.write_image(tmp_path / "plain.fits", IMAGE, CELL)
    packed = tmp_path / f"image.fits.{ending}"
    packed.write_bytes(way((tmp_path / "plain.fits").read_bytes()))
    assert np.array_equal(fits.read_image(packed), IMAGE)
    packed.write_bytes(b"\x1f\x9d\x90" + bytes(100))
    with pytest.raises(ValueError, match="compressed by compress"):
        fits.read_image(packed)


def test_what_a_header_claims_is_asked_of_the_memory_first(tmp_path, monkeypatch):
    fits.write_image(tmp_path / "image.fits", IMAGE, CELL)
    monkeypatch.setattr(resources, "available_memory", lambda: 90_000)  # 4 copies of 64 by 96 words of 4 bytes: 98304
    with pytest.raises(MemoryError, match="reading .*image.fits needs 0.1 MiB"):
        fits.read_image(tmp_path / "image.fits")
