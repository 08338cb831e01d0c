"""Tables as printed, the layouts and the printed precision."""

import json
import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion import tables

FIELDS = [
    {"name": "name", "type": "string", "description": "name", "constraints": {"required": True}},
    {
        "name": "count",
        "type": "integer",
        "unit": "count",
        "exact": True,
        "description": "how many",
        "constraints": {"minimum": 0, "maximum": 99},
    },
    {"name": "rate", "type": "number", "unit": "MB/s", "description": "rate"},
    {"name": "used", "type": "boolean", "trueValues": ["Y"], "falseValues": ["N"], "description": "used"},
    {"name": "note", "type": "string", "description": "our remark"},
]
GOOD = 'name,count,rate,used,note\nalpha,1,.42,Y,\nbeta,2,10.0,N,"one, two"\n'
RESOURCE = {
    "name": "toy",
    "title": "Toy",
    "item": "Table 1",
    "page": 7,
    "rows": 2,
    "schema": {"primaryKey": ["name"], "fields": FIELDS},
}


@pytest.fixture
def house(tmp_path, monkeypatch):
    """A data folder of its own; ``put`` writes tables into it."""
    monkeypatch.setattr(tables, "DATA", tmp_path)
    (tmp_path / "doc").mkdir()
    tables.forget()

    def put(raw=GOOD, views=(), **changes):
        tables.forget()
        resource = RESOURCE | changes
        description = {
            "document": {"id": "doc", "citation": "A. Author, Report, 1990"},
            "resources": [resource],
            "views": list(views),
        }
        (tmp_path / "doc" / "resources.json").write_text(json.dumps(description))
        raw = raw if isinstance(raw, bytes) else raw.encode()
        (tmp_path / "doc" / f"{resource['name']}.csv").write_bytes(raw)
        return tmp_path / "doc" / f"{resource['name']}.csv"

    yield put
    tables.forget()


def test_a_good_table_is_read_as_printed(house):
    house()
    frame = tables.printed("doc", "toy")
    assert frame["count"].tolist() == [1, 2] and frame["count"].dtype == np.int64
    assert frame["rate"].tolist() == [0.42, 10.0] and frame["used"].tolist() == [True, False]
    assert tables.text("doc", "toy")["rate"].tolist() == [".42", "10.0"]
    assert frame["note"].tolist() == ["", "one, two"]
    half = tables.digits("doc", "toy")
    assert half["count"].tolist() == [0, 0] and half["rate"].tolist() == pytest.approx([0.005, 0.05])
    assert half[["name", "used", "note"]].isna().all(axis=None)


def test_load_labels_dimensions_units_and_source(house):
    house()
    dataset = tables.load("doc", "toy")
    assert dict(dataset.sizes) == {"name": 2} and dataset["rate"].attrs == {
        "long_name": "rate",
        "units": "MB/s",
    }
    assert dataset.attrs["source"] == "A. Author, Report, 1990, Table 1, page 7"
    assert float(dataset["rate"].sel(name="beta")) == 10.0


def test_stacked_columns_become_a_dimension(house):
    fields = [FIELDS[0], FIELDS[2] | {"name": "a"}, FIELDS[2] | {"name": "b"}, FIELDS[2] | {"name": "c"}]
    house(
        "name,a,b,c\nx,1,2,3\ny,4,,6\n",
        schema={"primaryKey": ["name"], "fields": fields},
        stack={"dim": "size", "labels": ["S", "L"], "variables": {"time": ["a", "b"], "cost": [None, "c"]}},
    )
    dataset = tables.load("doc", "toy")
    assert dataset["time"].dims == ("name", "size")
    np.testing.assert_array_equal(dataset["time"], [[1, 2], [4, math.nan]])
    np.testing.assert_array_equal(dataset["cost"], [[math.nan, 3], [math.nan, 6]])


def tree(rows):
    names = ("group", "node", "cycles")
    fields = [{"name": n, "type": "integer" if n == "cycles" else "string", "description": n} for n in names]
    return dict(
        raw="group,node,cycles\n" + "".join(f"{g},{n},1\n" for g, n in rows),
        rows=len(rows),
        schema={"primaryKey": ["group", "node"], "fields": fields},
        tree={"node": "node", "parent": "group"},
    )


def test_a_hierarchy_has_parents_and_depths(house):
    house(**tree([("T", "T"), ("T", "A"), ("T", "B"), ("A", "A"), ("A", "A1"), ("A1", "A11")]))
    dataset = tables.load("doc", "toy")
    assert dataset["node"].values.tolist() == ["T", "A", "B", "A1", "A11"]
    assert dataset["parent"].values.tolist() == ["", "T", "T", "A", "A1"]
    assert dataset["depth"].values.tolist() == [0, 1, 1, 2, 3]


FACTS = [{"name": n, "type": "string", "description": n} for n in ("fact", "old", "new", "unit", "note")]


def test_facts_carry_their_own_units(house):
    house(
        "fact,old,new,unit,note\nclock,1.9,,GHz,why\nswitch,A,B,,\n",
        schema={"primaryKey": ["fact"], "fields": FACTS},
        facts={"key": "fact", "unit": "unit", "values": {"old": "Old", "new": "New"}, "dim": "system"},
    )
    dataset = tables.load("doc", "toy")
    assert dataset["clock"].attrs == {"long_name": "clock", "units": "GHz", "note": "why"}
    assert float(dataset["clock"].sel(system="Old")) == 1.9 and math.isnan(dataset["clock"].sel(system="New"))
    assert dataset["switch"].values.tolist() == ["A", "B"]
    assert tables.digits("doc", "toy")["old"].tolist()[0] == 0.05
    assert math.isnan(tables.digits("doc", "toy")["old"][1])


@pytest.mark.parametrize(
    "text, half",
    [
        ("815", 0.5),
        ("0.354", 0.0005),
        (".42", 0.005),
        ("10.0", 0.05),
        ("12e15", 0.5e15),
        ("1.71e6", 0.005e6),
        ("-3", 0.5),
    ],
)
def test_half_a_unit_in_the_last_place(text, half):
    assert tables.half_unit(text) == pytest.approx(half, rel=1e-12)


@given(st.decimals(min_value=-(10**9), max_value=10**9, places=3, allow_nan=False))
def test_a_rounded_number_lies_within_half_a_unit(value):
    for places in (0, 1, 2):
        text = f"{value:.{places}f}"
        assert float(abs(Decimal(text) - value)) <= tables.half_unit(text) * (1 + 1e-12)


def test_views_join_tables_of_one_shape():
    view = tables.load("p5plus", "cpi")
    assert view["cycles"].dims == ("routine", "node")
    for routine, table in (("MAIN", "cpi_main"), ("CLOUDSC3", "cpi_cloudsc3")):
        np.testing.assert_array_equal(view["cycles"].sel(routine=routine), tables.load("p5plus", table)["cycles"])


def test_the_cube_of_smt_binding_and_affinity_is_full():
    times = tables.load("p5plus", "smt_binding")["time"]
    assert times.dims == ("smt", "bind", "memory_affinity") and times.shape == (2, 2, 2)
    printed = tables.printed("p5plus", "smt_binding")
    for row in printed.itertuples():
        assert float(times.sel(smt=row.smt, bind=row.bind, memory_affinity=row.memory_affinity)) == row.time
    assert bool(times.notnull().all())


def test_catalogue_counts_what_stands_in_the_files():
    catalogue = tables.catalogue()
    assert set(catalogue["document"]) == set(tables.documents())
    assert not catalogue.duplicated(["document", "table"]).any()
    row = catalogue.set_index(["document", "table"]).loc[("nht1", "table_1")]
    assert (row["rows"], row["columns"], row["numeric_cells"], row["notes"]) == (3, 4, 9, 3)


def test_machines_come_in_one_unit():
    machines = tables.machines()
    assert machines["clock"].attrs["units"] == "MHz"
    assert float(machines["clock"].sel(machine="power7")) == 3800
    assert float(machines["memory"].sel(machine="cray_ymp")) == 256 * 8
    assert math.isnan(machines["peak"].sel(machine="bluegene_l"))
    assert machines["interconnect"].sel(machine="power7").item() == "IBM HFI"
    assert set(tables.machines(long=True)["machine"]) == set(machines["machine"].values)
    machines["clock"].values[:] = 0
    assert not machines.identical(tables.machines()), "who changes them changes them for all"
