"""Measurement sets: they come back as they went, and wsclean's image of one is ours."""

import shutil
import subprocess

import numpy as np
import pytest

from kernels.imaging import array, dirty, fits, measurement_set, sky

SIDE, CELL = 128, 2.1e-6
RECORDS = sky.observe(array.scaled(array.tracks(4), 0.36 / CELL), sky.synthetic(SIDE, CELL, points=5))


def read(path) -> np.ndarray:
    """Records of a measurement set that a test has written itself: no program of this house reads one."""
    from casacore import tables

    with tables.table(str(path), ack=False) as main, tables.table(f"{path}::SPECTRAL_WINDOW", ack=False) as window:
        frequency, data = window.getcol("CHAN_FREQ"), main.getcol("DATA")
        assert frequency.shape == (1, 1) and data.shape[1:] == (1, 1)
        records = np.zeros((len(data), 8), np.float32)
        records[:, :3] = main.getcol("UVW") * (-float(frequency[0, 0]) / measurement_set.LIGHT)
        records[:, 3] = 256 * (main.getcol("ANTENNA1") + 1) + main.getcol("ANTENNA2") + 1
        records[:, array.TIME] = main.getcol("TIME") / 86400 + measurement_set._DAY_0 - fits.DAY
        records[:, array.RE], records[:, array.IM] = data[:, 0, 0].real, data[:, 0, 0].imag
        records[:, array.WEIGHT] = np.where(main.getcol("FLAG")[:, 0, 0], 0, main.getcol("WEIGHT")[:, 0])
    return records


def test_visibilities_come_back(tmp_path):
    pytest.importorskip("casacore.tables", reason="python-casacore is not installed")
    records = RECORDS.copy()
    records[3, array.WEIGHT] = 0
    measurement_set.write(tmp_path / "data.ms", records)
    found = read(tmp_path / "data.ms")
    exact = [array.BASELINE, array.RE, array.IM, array.WEIGHT]
    assert np.array_equal(found[:, exact], records[:, exact])
    assert np.allclose(found[:, [array.U, array.V]], records[:, [array.U, array.V]], rtol=1e-6)
    assert np.abs(found[:, array.TIME] - records[:, array.TIME]).max() < 1e-6


@pytest.mark.skipif(shutil.which("wsclean") is None, reason="wsclean is not installed")
def test_wscleans_image_is_ours(tmp_path):
    pytest.importorskip("casacore.tables", reason="python-casacore is not installed")
    measurement_set.write(tmp_path / "data.ms", RECORDS)
    size = ["-size", str(SIDE), str(SIDE), "-scale", f"{CELL!r}rad", "-weight", "natural", "-pol", "i"]
    gridder = ["-use-wgridder", "-wgridder-accuracy", "1e-5", "-no-small-inversion", "-no-update-model-required"]
    command = [
        "wsclean",
        "-quiet",
        "-j",
        "1",
        *size,
        *gridder,
        "-name",
        str(tmp_path / "out"),
        str(tmp_path / "data.ms"),
    ]
    subprocess.run(command, check=True, capture_output=True)
    ours = dirty.dirty(RECORDS, SIDE, CELL)
    theirs = fits.read_image(tmp_path / "out-image.fits")[:, :0:-1]  # its right ascension falls with the column
    assert np.abs(ours[:, 1:] - theirs).max() < 1e-5 * ours.max()
