"""The strict reader, the layouts and the printed precision."""

import json
import math
import tempfile
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion import tables
from companion.tables import csv
from companion.tables.csv import TableError

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


@pytest.mark.parametrize(
    "raw, place, problem",
    [
        (GOOD.replace("alpha,1,", "alpha,1,7,"), "row 2, column '6'", "6 cells"),
        (GOOD.replace("alpha,1,.42", "alpha,1"), "row 2, column 'note'", "4 cells"),
        (GOOD.replace("used,note", "used,extra,note"), "row 1, column 'note'", "'extra'"),
        (GOOD.replace("note\n", "note,extra\n"), "row 1, column 'extra'", "no such column"),
        (GOOD.replace("count,rate", "rate,count"), "row 1, column 'count'", "'rate'"),
        (GOOD.replace("beta", "alpha"), "row 3, column 'name'", "alpha stands in row 2"),
        (GOOD.replace("beta", ""), "row 3, column 'name'", "empty but required"),
        (GOOD.replace(",2,", ",2x,"), "row 3, column 'count'", "not of type integer"),
        (GOOD.replace(",2,", ",2.5,"), "row 3, column 'count'", "not of type integer"),
        (GOOD.replace(",2,", ",200,"), "row 3, column 'count'", "above the greatest"),
        (GOOD.replace(",2,", ",-2,"), "row 3, column 'count'", "below the least"),
        (GOOD.replace("10.0", "1O.0"), "row 3, column 'rate'", "not of type number"),
        (GOOD.replace("10.0", "nan"), "row 3, column 'rate'", "not of type number"),
        (GOOD.replace("10.0", " 10.0"), "row 3, column 'rate'", "white space"),
        (GOOD.replace("10.0", "1_0.0"), "row 3, column 'rate'", "not of type number"),
        (GOOD.replace(",N,", ",n,"), "row 3, column 'used'", "not of type boolean"),
        (GOOD.replace('two"', "two"), "row 3", "unexpected end of data"),
        (GOOD.replace('two"', 'tw\no"'), "row 3, column 'note'", "runs over the end"),
        (GOOD[:-1], "row 3", "cut short"),
        (GOOD[: GOOD.index("beta")], "row 2", "1 rows stand where the descriptor expects 2"),
        ("", "row 1", "cut short"),
        ("\n", "row 1, column 'name'", "header"),
        ("\ufeff" + GOOD, "row 1", "byte-order mark"),
        (GOOD.replace("beta", "be\0ta"), "row 3", "NUL"),
        (GOOD.replace("one", "ön").encode("latin-1"), "row 3, column 'note'", "byte 0xf6 is not UTF-8"),
        (GOOD.encode("utf-16"), "row 1, column '1'", "not UTF-8"),
    ],
)
def test_a_damaged_table_is_refused_with_file_row_and_column(house, raw, place, problem):
    house(raw)
    with pytest.raises(TableError) as caught:
        tables.load("doc", "toy")
    message = str(caught.value)
    assert message.startswith(f"doc/toy.csv, {place}"), message
    assert problem in message and "\n" not in message and message.endswith(".")


def test_who_changes_a_table_changes_no_other(house):
    house()
    first, second = tables.load("doc", "toy"), tables.load("doc", "toy")
    name = next(iter(first.data_vars))
    first[name].values.flat[0] = first[name].values.flat[-1]
    first.attrs.clear(), first[name].attrs.clear()
    assert second.attrs and not first.identical(second) and tables.load("doc", "toy").identical(second)


def test_windows_line_ends_are_accepted(house):
    house(GOOD.replace("\n", "\r\n"))
    assert tables.printed("doc", "toy")["name"].tolist() == ["alpha", "beta"]


def test_unknown_names_list_the_known_ones():
    with pytest.raises(TableError, match=r"document 'p4' is unknown; choose one of .*p5plus"):
        tables.load("p4", "systems")
    with pytest.raises(TableError, match=r"table 'nothing' of nht1 is unknown; choose one of table_1"):
        tables.load("nht1", "nothing")


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


@pytest.mark.parametrize(
    ("dims", "words"),
    [
        (["count"], "table toy, columns count: 1 stands twice"),
        (["name", "count", "name"], "table toy, column 'name': it stands twice in dims"),
    ],
)
def test_what_stands_twice_is_refused(house, dims, words):
    house(GOOD.replace(",2,", ",1,"), dims=dims)
    assert words in refusal(lambda: tables.load("doc", "toy"))


def test_a_fact_with_a_unit_must_be_a_number_and_not_too_large(house):
    for cell in ("fast", "1e999", "0e999", "1e" + "9" * 5000):
        house(
            f"fact,old,new,unit,note\nclock,1.9,{cell},GHz,\n",
            rows=1,
            schema={"primaryKey": ["fact"], "fields": FACTS},
            facts={"key": "fact", "unit": "unit", "values": {"old": "Old", "new": "New"}, "dim": "system"},
        )
        assert f"row 2, column 'new': {cell!r} has the unit GHz" in refusal(lambda: tables.load("doc", "toy"))


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


@pytest.mark.parametrize(
    "rows, problem",
    [
        ([("T", "T"), ("T", "A"), ("B", "A")], "node A has two parents"),
        ([("T", "T"), ("B", "A"), ("A", "B")], "node A does not hang on the root T"),
        ([("T", "T"), ("X", "A")], "node A does not hang on the root T"),
    ],
)
def test_a_broken_hierarchy_is_refused(house, rows, problem):
    house(**tree(rows))
    with pytest.raises(TableError, match=problem):
        tables.load("doc", "toy")


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


CELLS = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zs", "Zl", "Zp")), min_size=1)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(CELLS, st.integers(0, 10**6)), min_size=1, max_size=8, unique_by=lambda row: row[0]))
def test_what_pandas_writes_is_read_back(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("csv") / "toy.csv"
    pd.DataFrame(rows, columns=["name", "count"]).to_csv(path, index=False, lineterminator="\n")
    fields = [{"name": "name", "type": "string"}, {"name": "count", "type": "integer"}]
    body = csv.read(path, {"rows": len(rows), "schema": {"primaryKey": ["name"], "fields": fields}})
    assert body == [[name, str(count)] for name, count in rows]


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


@pytest.mark.parametrize(
    "row, problem",
    [
        ("speed,3,GHz,p5plus,here,", "column 'property': 'speed' is none of"),
        ("clock,3,THz,p5plus,here,", "column 'unit': 'THz' is no unit of clock; choose one of MHz, GHz"),
        ("clock,fast,GHz,p5plus,here,", "column 'value': 'fast' has the unit GHz"),
        ("clock,3,GHz,elsewhere,here,", "column 'document': 'elsewhere' is none of"),
    ],
)
def test_a_machine_out_of_its_vocabulary_is_refused(tmp_path, monkeypatch, row, problem):
    (tmp_path / "machines").mkdir()
    source = tables.DATA / "machines" / "resources.json"
    (tmp_path / "machines" / "resources.json").write_text(source.read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "machines" / "toy.csv").write_text(f"property,value,unit,document,item,note\n{row}\n")
    monkeypatch.setattr(tables, "DATA", tmp_path)
    tables.forget()
    try:
        with pytest.raises(TableError) as caught:
            tables.machines()
        assert f"machines/toy.csv, row 2, {problem}" in str(caught.value)
    finally:
        tables.forget()


# Damage of any kind


def refusal(call):
    """The sentence of the ``TableError`` that ``call`` raises, or None if it is accepted."""
    try:
        call()
    except TableError as error:
        return str(error)
    return None


@pytest.mark.parametrize(
    "cell", ["１", "٣", "1٠", "².0", "½", "1_0", "0x1", "inf", "nan", "1e400", "0e999", "1e-999", "--1"]
)
@pytest.mark.parametrize("column", ["count", "rate"])
def test_only_plain_digits_are_numbers(house, cell, column):
    house(GOOD.replace(",1,.42", f",{cell},.42" if column == "count" else f",1,{cell}"))
    assert f"doc/toy.csv, row 2, column '{column}'" in refusal(lambda: tables.printed("doc", "toy"))


def test_a_folder_or_a_missing_file_in_place_of_a_csv_is_named(house):
    house()
    path = tables.DATA / "doc" / "toy.csv"
    path.unlink()
    assert "doc/toy.csv: the file is missing" in refusal(lambda: tables.printed("doc", "toy"))
    path.mkdir()
    assert "doc/toy.csv: the file cannot be read (it is a folder and no regular file" in refusal(
        lambda: tables.printed("doc", "toy")
    )


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\xff\xfe{}", "byte 0xff is not UTF-8"),
        (b"{", "resources.json, row 1"),
        (b'{"document": }', "resources.json, row 1, column 14"),
        (b"[]", "at the top"),
        (b"null", "at the top"),
        (b"{}", "at the top"),
        (b"[" * 100_000, "resources.json"),
        (b'{"document": {"citation": "A"}, "resources": [{"name": "toy", "title": "T", "item": "1"}]}', "'schema'"),
        (b'{"document": {"citation": "A"}, "resources": [{"name": "../toy"}]}', "'../toy' does not match"),
        (b'{"document": {"citation": "A"}, "resources": {"name": "toy"}}', "at resources"),
        (b'{"document": {}, "resources": []}', "'citation'"),
    ],
)
def test_a_damaged_descriptor_is_refused_in_a_sentence(house, content, words):
    house()
    (tables.DATA / "doc" / "resources.json").write_bytes(content)
    tables.forget()
    sentence = refusal(lambda: tables.printed("doc", "toy"))
    assert "doc/resources.json" in sentence and words in sentence and "\n" not in sentence


@pytest.mark.parametrize("name", ["../toy", "..", "", "a/b", "/etc/passwd", "toy\0", "TOY"])
def test_no_name_leads_out_of_the_data(house, name):
    house()
    assert refusal(lambda: tables.load("doc", name)) and refusal(lambda: tables.load(name, "toy"))


@settings(max_examples=100)
@given(place=st.integers(0, len(GOOD.encode()) - 1), byte=st.integers(0, 255))
def test_any_byte_of_a_table_is_read_or_refused_with_its_place(place, byte):
    raw = bytearray(GOOD.encode())
    raw[place] = byte
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "doc" / "toy.csv"
        path.parent.mkdir()
        path.write_bytes(raw)
        sentence = refusal(lambda: csv.read(path, RESOURCE))
        if sentence is None:  # it never moves cells between columns or rows
            good = [["alpha", "1", ".42", "Y", ""], ["beta", "2", "10.0", "N", "one, two"]]
            assert (np.array(csv.read(path, RESOURCE)) != good).sum() <= 1
        else:
            assert "doc/toy.csv" in sentence and "row" in sentence


@pytest.mark.parametrize(("kind", "word"), [("facts", "values"), ("facts", "unit")])
def test_a_descriptor_that_lacks_a_word_is_refused_in_a_sentence(monkeypatch, kind, word):
    document, resource = next(
        (document, each)
        for document in tables.documents()
        for each in tables._fragment(document)["resources"]
        if kind in each
    )
    monkeypatch.delitem(resource[kind], word)  # of the descriptor that is kept
    for kept in (tables._cells, tables._load):
        kept.cache_clear()
    with pytest.raises(tables.TableError, match="resources.json: .* mend the descriptor"):
        tables.load(document, resource["name"])
    tables.forget()


def test_a_number_has_a_last_place_that_float64_holds():
    """Half a unit of the last place, which bounds a rounded number, would else become zero or infinite."""
    texts = ["1e300", "1e-300", "1.5e301", "1e301", "1e-301", "1.5e-300", "1e999"]
    assert [csv.is_number(text) for text in texts] == [True, True, True, False, False, False, False]
