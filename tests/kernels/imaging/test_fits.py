"""FITS files: what we write astropy reads, and both readers agree."""

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
