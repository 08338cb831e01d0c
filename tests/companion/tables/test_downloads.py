"""Downloads: CSV, NetCDF and zip carry what the tables carry."""

import json
import zipfile

import numpy as np
import pytest
import xarray as xr

from companion import tables
from companion.tables import downloads


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("downloads")
    written = downloads.write(folder)
    assert sorted(written) == sorted(path for path in folder.rglob("*") if path.is_file())
    return folder


def test_every_table_is_there_as_csv_and_netcdf(folder):
    for document in tables.documents():
        for name in tables.names(document):
            original = (tables.DATA / document / f"{name}.csv").read_bytes()
            assert (folder / document / f"{name}.csv").read_bytes() == original
            with xr.open_dataset(
                folder / document / f"{name}.nc", engine="netcdf4", decode_times=False, mask_and_scale=False
            ) as read:
                expected = tables.load(document, name)
                assert set(read.variables) == set(expected.variables)
                assert read.attrs == expected.attrs
                for key, variable in expected.variables.items():
                    np.testing.assert_array_equal(read[key].values, variable.values, err_msg=f"{document}/{name} {key}")
                    assert read[key].attrs.get("units") == variable.attrs.get("units")


def test_the_zip_is_the_package(folder):
    with zipfile.ZipFile(folder / "data.zip") as archive:
        assert archive.testzip() is None
        found = {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}
    assert json.loads(found["datapackage.json"]) == tables.package()
    for resource in tables.package()["resources"]:
        assert found[resource["path"]] == (tables.DATA / resource["path"]).read_bytes()
