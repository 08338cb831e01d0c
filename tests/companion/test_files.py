"""Files of companion: whole or absent, and the system's refusals in one sentence."""

import errno
import os

import pytest
import xarray as xr

from companion import files
from companion.files import sentence, write_atomically, write_netcdf


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (
            OSError(errno.ENOSPC, "No space left on device", "/mnt/x"),
            "/mnt/x: No space left on device; free space there or choose another folder",
        ),
        (OSError(errno.EROFS, "Read-only file system"), "Read-only file system; choose a folder that can be written"),
        (OSError(errno.EIO, "Input/output error", "y"), "y: Input/output error"),
        (
            OSError("the solution needs 3 GiB; choose a smaller problem"),
            "the solution needs 3 GiB; choose a smaller problem",
        ),
        (OSError(), "OSError"),
    ],
)
def test_a_refusal_is_a_sentence_with_the_remedy(error, expected):
    assert sentence(error) == expected


def test_the_error_names_the_file_and_not_its_temporary(tmp_path):
    def refuse(path):
        raise OSError(errno.EDQUOT, "Disk quota exceeded", str(path))

    with pytest.raises(OSError, match="quota") as caught:
        write_atomically(tmp_path / "x.csv", refuse)
    assert caught.value.filename == str(tmp_path / "x.csv")
    assert os.listdir(tmp_path) == []


def test_what_is_no_refusal_of_the_system_stays_as_it_is(tmp_path):
    with pytest.raises(ZeroDivisionError):
        write_atomically(tmp_path / "x.csv", lambda path: 1 / 0)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(("full", "number"), [(True, errno.ENOSPC), (False, errno.EIO)])
def test_netcdf_that_cannot_be_written_is_a_refusal(tmp_path, monkeypatch, full, number):
    def fail(self, *arguments, **options):
        raise RuntimeError("NetCDF: HDF error")

    monkeypatch.setattr(xr.Dataset, "to_netcdf", fail)
    monkeypatch.setattr(files, "_full", lambda path: full)
    data = xr.Dataset({"a": ("x", [1.0, 2.0])})
    with pytest.raises(OSError, match="NetCDF: HDF error") as caught:
        write_atomically(tmp_path / "x.nc", lambda path: write_netcdf(data, path))
    assert caught.value.errno == number
    assert ("free space" in sentence(caught.value)) is full
    assert os.listdir(tmp_path) == []


def test_netcdf_is_written_and_reads_back(tmp_path):
    data = xr.Dataset({"a": ("x", [1.0, 2.0])})
    write_netcdf(data, tmp_path / "x.nc")
    with xr.open_dataset(tmp_path / "x.nc", engine="netcdf4") as back:
        assert back.identical(data)
