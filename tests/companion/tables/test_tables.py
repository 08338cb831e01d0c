"""Tables: valid by frictionless, as printed, in the layouts that analysis wants, and as downloads."""

import json
import math
import re
import zipfile
from decimal import Decimal

import frictionless
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from supercomputers_rerun.companion import tables

PACKAGES = [*tables.documents(), "machines"]


def is_number(cell: str) -> bool:
    try:
        return math.isfinite(float(cell))
    except ValueError:
        return False


@pytest.mark.parametrize("document", PACKAGES)
def test_a_package_is_valid_and_describes_every_file(document):
    """Header, types, required cells, limits, patterns and keys by frictionless; rows by the descriptor."""
    report = frictionless.validate(str(tables.DATA / document / "datapackage.json"))
    assert report.valid, report.flatten(["name", "rowNumber", "fieldName", "note"])[:5]
    resources = tables.package(document)["resources"]
    assert [task.stats["rows"] for task in report.tasks] == [resource["rows"] for resource in resources]
    assert {resource["path"] for resource in resources} == {p.name for p in (tables.DATA / document).glob("*.csv")}


@pytest.mark.parametrize("document", PACKAGES)
def test_cells_are_printable_and_every_column_says_what_it_is(document):
    for name in tables.names(document):
        resource, cells = tables.describe(document, name), tables.text(document, name)
        fields = resource["schema"]["fields"]
        assert (
            resource["title"] and resource["item"] and resource["schema"]["primaryKey"] and fields[-1]["name"] == "note"
        )
        assert [field["name"] for field in fields] == list(cells)
        for field in fields:
            assert field["description"], (name, field["name"])
            assert field["type"] == "string" or field["type"] == "boolean" or field["unit"], (name, field["name"])
            assert not re.match("(sec|seconds?|[Bb]ytes?|hours?|minutes?)$", field.get("unit", "")), "say s, B, h, min"
        for cell in cells.to_numpy().ravel():
            assert cell == cell.strip() and cell.isprintable(), (name, cell)
        for note in cells["note"]:
            assert not note.startswith("restored") or re.match(r"restored: .{12,}", note), (name, note)
        for column in resource.get("facts", {}).get("values", {}):
            numbers = cells[column][(cells[resource["facts"]["unit"]] != "") & (cells[column] != "")]
            assert numbers.map(is_number).all(), (name, column)


def test_machines_have_known_properties_in_known_units_as_their_document_prints_them():
    properties = tables.package("machines")["properties"]
    for row in tables.text("machines", "machines").itertuples():
        accepted = properties[row.property]["accepts"]
        assert row.unit in accepted and is_number(row.value) if accepted else row.unit == "", row
        if row.unit and (row.machine, row.property) != ("js21", "power_cpus"):  # 14 blades of 4, two numbers in print
            cells = {c for name in tables.names(row.document) for c in tables.text(row.document, name).values.flat}
            assert any(is_number(cell) and float(cell) == float(row.value) for cell in cells), row


def test_an_unknown_table_is_named():
    with pytest.raises(ValueError, match="document 'nht2' is unknown; choose one of aips58, nht1"):
        tables.names("nht2")
    with pytest.raises(ValueError, match="table 'table_2' of nht1 is unknown; choose one of table_1"):
        tables.load("nht1", "table_2")


FIELDS = [
    {"name": "name", "type": "string", "description": "name"},
    {"name": "count", "type": "integer", "unit": "count", "exact": True, "description": "how many"},
    {"name": "rate", "type": "number", "unit": "MB/s", "description": "rate"},
    {"name": "used", "type": "boolean", "trueValues": ["Y"], "falseValues": ["N"], "description": "used"},
]


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A document of one table that prints a dash where it has no rate."""
    schema = {"primaryKey": ["name"], "missingValues": ["", "-"], "fields": FIELDS}
    resource = {"name": "toy", "path": "toy.csv", "title": "Toy", "item": "Table 1", "page": 7, "schema": schema}
    (tmp_path / "toy.csv").write_text("name,count,rate,used\nalpha,1,.42,Y\nbeta,2,-,N\nNA,,10.0,\n")
    monkeypatch.setattr(tables, "DATA", tmp_path.parent)
    monkeypatch.setattr(tables, "_cells", tables._cells.__wrapped__)
    package = {"document": {"citation": "A. Author, Report, 1990"}, "resources": [resource]}
    monkeypatch.setattr(tables, "package", lambda document: package)
    return tmp_path.name


def test_a_table_is_read_as_printed(toy):
    frame = tables.printed(toy, "toy")
    assert frame["name"].tolist() == ["alpha", "beta", "NA"] and tables.text(toy, "toy")["rate"][1] == "-"
    np.testing.assert_array_equal(frame["rate"], [0.42, math.nan, 10.0])
    np.testing.assert_array_equal(frame["count"], [1, 2, math.nan])
    assert frame["used"].tolist()[:2] == [True, False] and pd.isna(frame["used"][2])
    np.testing.assert_allclose(tables.digits(toy, "toy")["rate"], [0.005, math.nan, 0.05])
    np.testing.assert_array_equal(tables.digits(toy, "toy")["count"], [0, 0, math.nan])
    dataset = tables._load.__wrapped__(toy, "toy")
    assert dataset["rate"].attrs == {"long_name": "rate", "units": "MB/s"} and dataset["rate"].dims == ("name",)
    assert dataset.attrs["source"] == "A. Author, Report, 1990, Table 1, page 7"


def test_stacked_columns_become_a_dimension():
    fields = [FIELDS[0], *({**FIELDS[2], "name": name} for name in "abc")]
    stack = {"dim": "size", "labels": ["S", "L"], "variables": {"time": ["a", "b"], "cost": [None, "c"]}}
    frame = pd.DataFrame({"name": ["x", "y"], "a": [1.0, 4.0], "b": [2.0, math.nan], "c": [3.0, 6.0]})
    dataset = tables.cube(frame, {"schema": {"primaryKey": ["name"], "fields": fields}, "stack": stack})
    np.testing.assert_array_equal(dataset["time"], [[1, 2], [4, math.nan]])
    np.testing.assert_array_equal(dataset["cost"], [[math.nan, 3], [math.nan, 6]])


def test_a_hierarchy_has_parents_and_depths():
    rows = [("T", "T"), ("T", "A"), ("T", "B"), ("A", "A"), ("A", "A1"), ("A1", "A11")]
    fields = [{"name": name, "type": "string", "description": name} for name in ("group", "node")]
    about = {"schema": {"fields": fields}, "tree": {"node": "node", "parent": "group"}}
    dataset = tables.tree(pd.DataFrame(rows, columns=["group", "node"]), about)
    assert dataset["node"].values.tolist() == ["T", "A", "B", "A1", "A11"]
    assert dataset["parent"].values.tolist() == ["", "T", "T", "A", "A1"]
    assert dataset["depth"].values.tolist() == [0, 1, 1, 2, 3]


def test_facts_carry_their_own_units():
    frame = pd.DataFrame({"fact": ["clock", "switch"], "old": ["1.9", "A"], "new": ["", "B"], "unit": ["GHz", ""]})
    about = {"key": "fact", "unit": "unit", "values": {"old": "Old", "new": "New"}, "dim": "system"}
    dataset = tables.facts(frame.assign(note=["why", ""]), {"facts": about})
    assert dataset["clock"].attrs == {"long_name": "clock", "units": "GHz", "note": "why"}
    assert float(dataset["clock"].sel(system="Old")) == 1.9 and math.isnan(dataset["clock"].sel(system="New"))
    assert dataset["switch"].values.tolist() == ["A", "B"]


@given(st.decimals(min_value=-(10**9), max_value=10**9, places=3, allow_nan=False))
def test_a_rounded_number_lies_within_half_a_unit(value):
    for places in (0, 1, 2):
        text = f"{value:.{places}f}"
        assert float(abs(Decimal(text) - value)) <= tables.half_unit(text) * (1 + 1e-12)
    assert [tables.half_unit(text) for text in ("815", ".42", "12e15")] == pytest.approx([0.5, 0.005, 5e14])


def test_views_join_tables_of_one_shape():
    view = tables.load("p5plus", "cpi")
    assert view["cycles"].dims == ("routine", "node")
    for routine, table in (("MAIN", "cpi_main"), ("CLOUDSC3", "cpi_cloudsc3")):
        np.testing.assert_array_equal(view["cycles"].sel(routine=routine), tables.load("p5plus", table)["cycles"])


def test_the_catalogue_counts_what_stands_in_the_files():
    catalogue = tables.catalogue().set_index(["document", "table"])
    assert catalogue.index.is_unique and len(catalogue) == sum(len(tables.names(each)) for each in tables.documents())
    row = catalogue.loc[("nht1", "table_1")]
    assert (row["rows"], row["columns"], row["numeric_cells"], row["notes"]) == (3, 4, 9, 3)


def test_machines_come_in_one_unit():
    machines = tables.machines()
    assert machines["clock"].attrs["units"] == "MHz" and float(machines["clock"].sel(machine="power7")) == 3800
    assert float(machines["memory"].sel(machine="cray_ymp")) == 256 * 8
    assert math.isnan(machines["peak"].sel(machine="bluegene_l"))
    assert machines["interconnect"].sel(machine="power7").item() == "IBM HFI"
    machines["clock"].values[:] = 0
    assert not machines.identical(tables.machines()), "who changes them changes them for all"


def test_downloads_carry_what_the_tables_carry(tmp_path):
    written = tables.download(tmp_path)
    assert sorted(written) == sorted(path for path in tmp_path.rglob("*") if path.is_file())
    with xr.open_dataset(tmp_path / "aips58" / "ddt_small.nc", decode_times=False, mask_and_scale=False) as read:
        expected = tables.load("aips58", "ddt_small")
        assert set(read.variables) == set(expected.variables) and read.attrs == expected.attrs
        for key, variable in expected.variables.items():
            np.testing.assert_array_equal(read[key].values, variable.values)
    with zipfile.ZipFile(tmp_path / "data.zip") as archive:
        found = {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}
    for document in PACKAGES:
        assert json.loads(found[f"{document}/datapackage.json"]) == tables.package(document)
        for resource in tables.package(document)["resources"]:
            path = f"{document}/{resource['path']}"
            assert found[path] == (tables.DATA / path).read_bytes()
            if document != "machines":
                assert found[path] == (tmp_path / path).read_bytes()
