"""FITS files: they come back as they went, are sound, and others' are read or refused in a sentence."""

from datetime import date

import numpy as np
import pytest
from astropy.io import fits as astropy

from supercomputers_rerun.kernels.imaging import array, fits, sky

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
