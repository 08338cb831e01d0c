"""Run records: what is written comes back; what is no record is refused with the reason."""

import json
import os
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from jsonschema import Draft202012Validator
from synthetic import changed

from supercomputers_rerun.companion.records import runs
from supercomputers_rerun.companion.records.runs import committed, dataset, load, read, save, validate


def test_what_is_saved_comes_back(record, tmp_path):
    path = save(record, tmp_path / "new folder")
    assert path.name == f"toy-sum_quick_t1_{record['date'].replace('-', '').replace(':', '')}.json"
    assert read(path) == json.loads(json.dumps(record))
    assert os.listdir(path.parent) == [path.name]
    assert not path.stat().st_mode & 0o111


def test_a_record_as_a_dataset(record, tmp_path):
    data = load(save(record, tmp_path))
    assert data.sizes["case"] == 2 and data.sizes["sample"] == 3
    assert list(data.label.values) == ["n = 10", "n = 20"]
    assert list(data.n.values) == [10, 20]
    np.testing.assert_array_equal(data.seconds, [case["samples"] for case in record["measurements"]])
    np.testing.assert_array_equal(data["minimum"], data.seconds.min("sample"))
    np.testing.assert_array_equal(data["median"], data.seconds.median("sample"))
    assert np.isnan(data.median_low).all()  # three samples give no interval
    assert list(data.flops.values) == [10, 20]
    assert data.cases.item() == 2 and data.cases.attrs["units"] == "1"
    assert list(data.lengths.values) == [10, 20] and data.lengths.dims == ("size",)
    assert data.attrs["experiment"] == "toy-sum" and data.attrs["simulated"] == 0
    assert data.seconds.attrs["units"] == "s"


def test_a_dataset_goes_to_netcdf_and_back(record, tmp_path):
    data = dataset(record)
    data.to_netcdf(tmp_path / "x.nc", engine="netcdf4")
    with xr.open_dataset(tmp_path / "x.nc", engine="netcdf4") as back:
        np.testing.assert_array_equal(back.seconds, data.seconds)
        assert list(back.label.values) == list(data.label.values)


def test_observations_and_output_forms(record):
    odd = changed(record, ("measurements", 0, "observed"), {"wait": [0.5, None, 0.25]})
    odd["outputs"] = {
        "zeta": {"value": 0.5, "units": "1", "long_name": "overhead"},
        "levels": {"value": [1.0, None, 3.0], "units": "byte", "dims": ["level"]},
        "names": {"value": ["a", "b"], "units": None},
        "unknown": {"value": None, "units": "s"},
    }
    data = dataset(validate(odd))
    np.testing.assert_array_equal(data.observed_wait, [[0.5, np.nan, 0.25], [np.nan] * 3])
    assert data.zeta.attrs == {"units": "1", "long_name": "overhead"}
    np.testing.assert_array_equal(data.levels, [1.0, np.nan, 3.0])
    assert data.levels.dims == ("level",)
    assert list(data.names.values) == ["a", "b"]
    assert np.isnan(data.unknown)


def test_outputs_alone_make_a_record(record):
    simulated = changed(record, ("measurements",), [])
    simulated["simulated"] = True
    data = dataset(validate(simulated))
    assert data.sizes["case"] == 0 and data.cases == 2


def test_nan_in_a_result_is_written_as_null(record, tmp_path):
    odd = changed(record, ("outputs", "cases", "value"), float("nan"))
    path = save(odd, tmp_path)
    assert "NaN" not in path.read_text()
    assert np.isnan(load(path).cases)


def test_outputs_that_disagree_are_refused_by_name(record):
    odd = changed(record, ("outputs", "b"), {"value": [1.0, 2.0, 3.0], "units": "1", "dims": ["size"]})
    with pytest.raises(ValueError, match="record: conflicting sizes for dimension 'size'"):
        validate(odd)


REFUSED = [
    (("schema",), "someone-else/v1", "is not a run record"),
    (("version",), 5, "has version 5, this code reads up to 4"),
    (("version",), "1", "version"),
    (("version",), 1, "version"),
    (("experiment",), "../../etc/passwd", "experiment"),
    (("experiment",), ..., "must contain .'experiment'"),
    (("date",), "yesterday", "date"),
    (("threads",), 0, "threads"),
    (("threads",), "two", "threads"),
    (("surplus",), 1, "surplus"),
    (("simulated",), "no", "simulated"),
    (("machine",), {}, "machine"),
    (("machine", "cpu", "logical_cpus"), ..., "logical_cpus"),
    (("machine", "cpu", "logical_cpus"), "2", "machine.cpu.logical_cpus"),
    (("machine", "caches"), ..., "caches"),
    (("machine", "memory", "total_bytes"), [], "machine.memory.total_bytes"),
    (("measurements",), {}, "measurements"),
    (("measurements", 0, "samples"), [], "measurements.0.samples"),
    (("measurements", 0, "samples"), [1.0, "2"], "measurements.0.samples.1"),
    (("measurements", 0, "samples"), [-1.0], "measurements.0.samples.0"),
    (("measurements", 0, "samples"), [1.0, 0.0], "measurements.0.samples.1"),
    (("measurements", 0, "checks_after"), [], "checks_after"),
    (("measurements", 0, "checks_before", 0, "ok"), False, "checks_before.0.ok"),
    (("measurements", 1, "problem"), ..., "problem"),
    (("outputs", "cases", "units"), ..., "units"),
    (("outputs", "cases", "value"), [[1], [1, 2]], "output 'cases': .*inhomogeneous"),
    (("outputs", "cases", "value"), {"a": 1}, "output 'cases'"),
    (("outputs", "cases", "dims"), ["x"], "output 'cases'"),
    (("outputs", "bad name"), {"value": 1, "units": "1"}, "outputs: must be named"),
]


@pytest.mark.parametrize(("path", "value", "reason"), REFUSED)
def test_what_does_not_fit_is_refused_by_name_and_reason(record, tmp_path, path, value, reason):
    file = tmp_path / "some.json"
    file.write_text(json.dumps(changed(record, path, value)))
    with pytest.raises(ValueError, match=reason) as caught:
        read(file)
    assert "some.json" in str(caught.value) and "\n" not in str(caught.value)
    with pytest.raises(ValueError):
        save(changed(record, path, value), tmp_path / "refused")
    assert not (tmp_path / "refused").exists()


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('"seed": 0', '"seed": 1e400', "1e400 is more than a number can be"),
        ('"seed": 0', '"seed": -1e999', "-1e999 is more than a number can be"),
        ('"seed": 0', f'"seed": {"9" * 400}', "a whole number has 400 digits"),
        ('"seed": 0', f'"seed": {"9" * 5000}', "a whole number has 5000 digits"),
        ('"seed": 0', '"seed": 0, "seed": 1', "'seed' stands twice in one object"),
        ('"flops": 10', '"flops": 10, "flops": 10', "'flops' stands twice in one object"),
        ('"seed": 0', '"seed": 0, "x": Infinity', "Infinity is not JSON"),
    ],
)
def test_json_that_says_two_things_or_no_number_is_refused(record, tmp_path, old, new, reason):
    text, file = json.dumps(record), tmp_path / "some.json"
    assert old in text
    file.write_text(text.replace(old, new, 1))
    with pytest.raises(ValueError, match=f"some.json is no run record: .*{reason}"):
        read(file)
    file.write_text(text.replace('"seed": 0', f'"seed": {2**63 - 1}', 1))
    assert read(file)["seed"] == 2**63 - 1  # the largest that may be asked for


def test_a_file_larger_than_any_record_is_not_read_to_its_end(tmp_path):
    file = tmp_path / "huge.json"
    with file.open("wb") as handle:
        handle.truncate(10 * runs._MOST_BYTES)
    tracemalloc.start()
    with pytest.raises(ValueError, match="huge.json is no run record: .*more than 32 MiB"):
        read(file)
    assert tracemalloc.get_traced_memory()[1] < 3 * runs._MOST_BYTES
    tracemalloc.stop()


def test_nothing_is_replaced_silently(record, tmp_path):
    path = save(record, tmp_path)
    before = path.read_bytes()
    others = [save(changed(record, ("seed",), seed), tmp_path) for seed in (7, 8)]  # within the same second
    assert path.read_bytes() == before
    assert [other.name for other in others] == [f"{path.stem}-2.json", f"{path.stem}-3.json"]
    assert [read(other)["seed"] for other in others] == [7, 8]


def test_committed_records_stay_apart_and_the_newest_is_that_of_the_latest_date(record, tmp_path):
    assert committed("toy-sum", folder=tmp_path) == [] and runs.latest("toy-sum", folder=tmp_path) is None
    save(changed(record, ("experiment",), "toy-sum-other"), tmp_path)
    # by file name the order would be paper, quick
    save(changed(record, ("date",), "2031-01-01T00:00:00Z") | {"preset": "paper"}, tmp_path)
    save(changed(record, ("date",), "2030-01-01T00:00:00Z"), tmp_path)
    found = committed("toy-sum", folder=tmp_path)
    assert [one.attrs["preset"] for one in found] == ["quick", "paper"]
    assert [one.sizes["case"] for one in found] == [2, 2]
    assert runs.latest("toy-sum", folder=tmp_path).attrs["date"] == "2031-01-01T00:00:00Z"
    (tmp_path / "toy-sum_quick_broken.json").write_text("{")
    with pytest.raises(ValueError, match="broken"):
        committed("toy-sum", folder=tmp_path)
    with runs.beside(tmp_path):  # what is broken there is somebody else's
        assert [one.attrs["date"][:7] for one in runs.own("toy-sum")] == ["2030-01", "2031-01"]


@pytest.mark.parametrize("path", sorted(Path(runs.__file__).parent.glob("*.schema.json")), ids=lambda path: path.stem)
def test_the_schemas_are_themselves_valid(path):
    Draft202012Validator.check_schema(json.loads(path.read_text()))
