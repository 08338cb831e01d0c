"""Peer records: what is written comes back, what is none is refused, and of several the newest counts."""

import copy
import json
from pathlib import Path

import numpy as np
import pytest
from bs4 import BeautifulSoup
from synthetic import changed

import peers
from companion.figures.rendering import offered, show
from companion.host import machine
from companion.pages import peer_tables, rooflines
from companion.pages import peers as page
from companion.records import limits, peer_records
from companion.records.peer_records import (
    PeerRecordError,
    absent,
    committed,
    dataset,
    load,
    newest,
    read,
    save,
)
from peers.kit import goals

MACHINE = machine.describe() | {
    "usable": {"cpus": 2, "affinity": [0, 1], "quota_cpus": None},
    "software": {"python": "3.12.1", "numba": "0.61", "threading_layer": "omp", "mpi4py": None},
    "provenance": {"commit": "0123456789abcdef", "dirty": False, "lock_sha256": None},
}
MACHINE["cpu"] |= {"model": "Slowpoke 1000", "architecture": "x86_64"}
RECORDS = Path(peer_records.__file__).parent


def row(label, ratios, threads=1, group="g", module="smt", **changes):
    """A row whose peers have the ratios given, of fastest samples, and 1.5 times as much by medians."""
    times = {
        peer: {"fastest": 0.25 * ratio, "median": 0.5 * ratio, "ratio_fastest": ratio, "ratio_median": 1.5 * ratio}
        for peer, ratio in ratios.items()
    }
    return {
        "module": module,
        "group": group,
        "label": label,
        "threads": threads,
        "fastest": 0.25,
        "median": 0.3,
        "peers": times,
        "wrong": {},
        "other_load": 0.0,
        "flags": {},
        **changes,
    }


def made(rows, date="2031-01-01T00:00:00Z", **changes):
    return {
        "schema": peer_records.SCHEMA,
        "version": peer_records.VERSION,
        "date": date,
        "modules": list(dict.fromkeys(each["module"] for each in rows)) or ["smt"],
        "threads": sorted({each["threads"] for each in rows}) or [1],
        "rounds": 3,
        "seed": 0,
        "interrupted": None,
        "machine": copy.deepcopy(MACHINE),
        "peers": {"A": "1.0"},
        "absent": [],
        "rows": rows,
        **changes,
    }


@pytest.fixture
def record():
    return made(
        [
            row("x", {"A": 2.0, "B": 0.5}, wrong={"C": None}, other_load=None),
            row("y", {"A": 4.0, "B": 8.0}, threads=2, flags={"load": "others were busy"}),
            row("z", {"A": 3.0}, group="h", module="memory"),
        ],
        absent=[{"module": "smt", "threads": 1, "name": "D", "reason": "not installed"}],
    )


def test_what_is_saved_comes_back(record, tmp_path):
    path = save(record, tmp_path / "new folder")
    assert path.name == "peers_smt-memory_t1-2_20310101T000000Z.json"
    assert read(path) == record
    again = save(record, path.parent)  # within the same second
    assert again.name == f"{path.stem}-2.json"
    assert sorted(each.name for each in path.parent.iterdir()) == sorted([again.name, path.name])


def test_a_distance_that_is_no_number_is_kept_as_null(record, tmp_path):
    record["rows"][0]["wrong"] = {"C": float("nan"), "D": 0.25}
    assert read(save(record, tmp_path))["rows"][0]["wrong"] == {"C": None, "D": 0.25}


def test_a_record_as_a_dataset(record, tmp_path):
    data = load(save(record, tmp_path))
    assert dict(data.sizes) == {"pair": 6}
    assert list(data.peer.values) == ["A", "B", "C", "A", "B", "A"]
    np.testing.assert_array_equal(data.ratio_fastest, [2, 0.5, np.nan, 4, 8, 3])
    np.testing.assert_array_equal(data.ratio_median, [3, 0.75, np.nan, 6, 12, 4.5])
    np.testing.assert_array_equal(data.ratio_fastest * data.ours_fastest, data.peer_fastest)
    assert data.distance.values[2] == np.inf and np.isnan(data.distance.values[[0, 1, 3, 4, 5]]).all()
    assert np.isnan(data.other_load.values[0])
    assert list(data.flags.values[:4]) == ["", "", "", "others were busy"]
    assert data.peer_fastest.attrs["units"] == "s" and data.newest.values.all()
    assert list(data.machine.values) == ["Slowpoke 1000"] * 6


def test_of_several_records_the_newest_counts_and_the_older_stay():
    first = made([row("x", {"A": 2.0, "B": 3.0}), row("x", {"A": 7.0}, threads=2), row("y", {"A": 5.0})])
    later = made([row("x", {"A": 2.5})], date="2031-02-01T00:00:00Z")
    elsewhere = made([row("x", {"A": 9.0})], date="2030-01-01T00:00:00Z")
    elsewhere["machine"]["cpu"]["model"] = "Quickstep 7"
    for order in ([first, later, elsewhere], [elsewhere, later, first]):
        data = dataset(order)
        assert data.sizes["pair"] == 6
        kept = newest(data)
        columns = (kept[name].values for name in ("label", "threads", "machine", "ratio_fastest"))
        found = {(label, int(threads), where[:5]): ratio for label, threads, where, ratio in zip(*columns, strict=True)}
        assert found == {("x", 1, "Slowp"): 2.5, ("x", 2, "Slowp"): 7.0, ("y", 1, "Slowp"): 5.0, ("x", 1, "Quick"): 9.0}
        assert kept.sizes["pair"] == 4


def test_absent_peers_are_those_of_the_newest_record_of_a_module():
    def gone(name, threads=1):
        return {"module": "smt", "threads": threads, "name": name, "reason": "not installed"}

    first = made([row("x", {"A": 2.0})], absent=[gone("B"), gone("C", 2)])
    later = made([row("x", {"A": 2.0, "B": 1.0})], date="2031-02-01T00:00:00Z", absent=[gone("D")])
    found = {item["name"]: item["threads"] for item in absent([later, first])}
    assert found == {"C": [2], "D": [1]}  # B ran the second time; 2 threads were not asked again
    assert absent([made([row("x", {"A": 1.0})], absent=[gone("D"), gone("D", 2)])])[0]["threads"] == [1, 2]


def test_the_summary_takes_the_fastest_peer_of_each_case():
    rows = [row(str(k), {"A": ratio, "B": 9.0}) for k, ratio in enumerate((0.5, 1.0, 1.5))]
    (line,) = peer_records.summary(dataset([made([*rows, row("none", {}, wrong={"A": 0.5})])]))
    assert (line["group"], line["cases"], line["median"], line["lowest"]) == ("g", 3, 1.0, 0.5)
    assert line["tenth_percentile"] == pytest.approx(0.6) and line["median_of_medians"] == 1.5


REFUSED = [
    (("schema",), "supercomputers-rerun/run-record", "is not a peer record"),
    (("version",), 3, "has version 3, this code reads up to 2"),
    (("date",), "yesterday", "date"),
    (("modules",), ["../etc"], "modules"),
    (("rounds",), 0, "rounds"),
    (("surplus",), 1, "surplus"),
    (("machine",), {}, "machine"),
    (("interrupted",), True, "interrupted"),
    (("rows", 0, "fastest"), 0, "rows.0.fastest"),
    (("rows", 0, "fastest"), "1", "rows.0.fastest"),
    (("rows", 0, "threads"), 0, "rows.0.threads"),
    (("rows", 0, "peers", "A"), {}, "rows.0.peers.A"),
    (("rows", 0, "peers", "A", "ratio_fastest"), 7.0, "the ratio of A does not follow"),
    (("absent", 0, "reason"), "", "absent.0.reason"),
]


@pytest.mark.parametrize(("path", "value", "reason"), REFUSED)
def test_what_does_not_fit_is_refused_by_name_and_reason(record, tmp_path, path, value, reason):
    record = changed(record, path, value)
    file = tmp_path / "some.json"
    file.write_text(json.dumps(record))
    with pytest.raises(PeerRecordError, match=reason) as caught:
        read(file)
    assert "some.json" in str(caught.value) and "\n" not in str(caught.value)
    with pytest.raises(PeerRecordError):
        save(record, tmp_path / "refused")
    assert not (tmp_path / "refused").exists()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, None),
        ({"interrupted": "stopped by hand"}, "the run ended early: stopped by hand"),
        ({"load": {"before": 0.0, "during": 0.26, "after": None}}, "others kept 0.26 CPUs busy during, more than 0.25"),
        ({"load": None}, "the load of the host was not recorded"),
        ({"peers": {"B": "1.0"}}, "the record does not say which version of A ran"),
    ],
)
def test_what_does_not_belong_to_the_book_says_why(changes, reason):
    record = made([row("x", {"A": 2.0})], **{"load": {"before": 0.25, "during": 0.1, "after": 0.0}, **changes})
    assert peer_records.unfit(record) == ([reason] if reason else [])
    record["rows"][0]["flags"] = {"load": "others were busy"}
    record["machine"]["provenance"]["dirty"] = True
    assert len(peer_records.unfit(record)) == (3 if reason else 2)


def test_a_damaged_committed_file_is_no_gap(tmp_path):
    (tmp_path / "foreign.json").write_text("[1]")
    with pytest.raises(PeerRecordError, match="foreign.json is not a peer record"):
        committed(tmp_path)


# Limits

CEILINGS = {
    "1": {
        "flops": 1e10,
        "levels": [
            {"level": "L1", "holds": 1000, "rate": 1e11},
            {"level": "L2", "holds": 50_000, "rate": 4e10},
            {"level": "memory", "holds": None, "rate": 1e10},
        ],
    }
}


@pytest.mark.parametrize(
    ("work", "name", "seconds"),
    [
        ({"flops": 10**9, "bytes": 1000, "size": 1000}, "flops", 0.1),
        ({"flops": 0, "bytes": 10**10, "size": 1000}, "L1", 0.1),
        ({"flops": 10**9, "bytes": 10**10, "size": 1001}, "L2", 0.25),
        ({"flops": 10**9, "bytes": 10**9, "size": 10**9}, "flops", 0.1),
        ({"flops": 10**8, "bytes": 10**9, "size": 10**9}, "memory", 0.1),
    ],
)
def test_the_limit_is_the_larger_of_two_least_times(work, name, seconds):
    found = limits.limit(row("x", {"A": 2.0}, work=work), CEILINGS)
    assert (found.name, found.seconds) == (name, pytest.approx(seconds))
    assert found.share == pytest.approx(seconds / 0.25)


def test_without_a_count_or_a_ceiling_there_is_no_limit():
    work = {"flops": 10, "bytes": 10, "size": 10}
    assert limits.limit(row("x", {"A": 2.0}), CEILINGS) is None
    assert limits.limit(row("x", {"A": 2.0}, threads=2, work=work), CEILINGS) is None
    assert limits.limit(row("x", {"A": 2.0}, work=dict.fromkeys(work, 0)), CEILINGS) is None


def test_ceilings_are_the_best_of_all_records_of_a_host():
    fast, slow = copy.deepcopy(CEILINGS), copy.deepcopy(CEILINGS)
    slow["1"]["flops"] /= 2
    fast["1"]["levels"][0]["rate"] /= 2
    best = limits.best([slow, fast, {}])
    assert best["1"]["flops"] == CEILINGS["1"]["flops"] and best["1"]["levels"] == CEILINGS["1"]["levels"]
    work = {"flops": 10**9, "bytes": 1000, "size": 1000}
    both = [made([row("x", {"A": 2.0}, work=work)], ceilings=each) for each in (fast, slow)]
    np.testing.assert_allclose(dataset(both).share.values, 0.4)  # of the slow record, too


def test_a_row_above_its_limit_has_no_share_and_says_so():
    below, above = ({"flops": flops, "bytes": 0, "size": 0} for flops in (2 * 10**9, 3 * 10**9))
    data = dataset([made([row("a", {"A": 2.0}, work=below), row("b", {"A": 2.0}, work=above)], ceilings=CEILINGS)])
    assert data.share.values[0] == pytest.approx(0.8) and np.isnan(data.share.values[1])
    assert list(data["limit"].values) == ["flops", ""]
    assert data.flags.values[0] == "" and data.flags.values[1].startswith("no limit: its bytes")


def test_a_peer_built_with_other_options_has_a_series_of_its_own():
    def run(day, options, ratio):
        versions = {"NPB Fortran": f"3.4.2, gfortran, {options}", "A": "1.0"}
        peers = {"NPB Fortran": ratio, "A": ratio}
        return made([row("class A", peers, module="bt")], date=f"2031-01-0{day}T00:00:00Z", peers=versions)

    first, second, third = run(1, "-O3 -march=native", 2.0), run(2, "-O3", 3.0), run(3, "-O3", 4.0)
    assert newest(dataset([first, second, third])).ratio_fastest.values.tolist() == [2.0, 4.0, 4.0]
    assert newest(dataset([first, second, third])).options.values.tolist() == ["-O3 -march=native", "-O3", ""]
    fourth = run(4, "-O3 -march=native", 5.0)  # replaces the first, and A; the third is now the series of before
    assert newest(dataset([first, second, third, fourth])).ratio_fastest.values.tolist() == [4.0, 5.0, 5.0]
    text = page.family([first, third], "bt").html
    assert "-O3 -march=native" in text and text.count("class A") >= 2


def limited():
    """A record with ceilings for one thread and two, and rows of both."""
    ceilings = CEILINGS | {"2": copy.deepcopy(CEILINGS["1"]) | {"flops": 2e10}}
    rows = [
        row(f"{module} {flops:g}", {"A": 2.0}, threads=threads, module=module,
            work={"flops": int(flops), "bytes": size, "size": size})
        for threads in (1, 2)
        for module, flops, size in (("smt", 2e9, 0), ("spectral", 1e9, 10**7), ("bt", 3e7, 10**9), ("memory", 0, 10**9))
    ]  # fmt: skip
    return made(rows, ceilings=ceilings)


def test_limits_are_in_dataset_and_table():
    data = dataset([limited()])
    assert list(data["limit"].values[:4]) == ["flops", "flops", "memory", "memory"]
    np.testing.assert_allclose(data.share.values[:4], [0.8, 0.4, 0.4, 0.4])
    cells = [cell.text for cell in soup(page.family([limited()], "bt")).table.tbody.find_all("tr")[1].find_all("td")]
    assert cells == ["bt 3e+071 thread, 250.0 ms", "A", "2.00", "3.00", "memory", "40 %", ""]


def test_a_row_without_peers_has_a_limit_and_no_ratio():
    work = {"flops": 10**9, "bytes": 0, "size": 0}
    record = made([row("x", {"A": 2.0}), row("a part", {}, group="parts", work=work)], ceilings=CEILINGS)
    data = dataset([record])
    assert list(data["peer"].values) == ["A", ""] and np.isnan(data.ratio_fastest.values[1])
    assert data.share.values[1] == pytest.approx(0.4) and len(peer_records.summary(data)) == 1
    where, day = peer_records.machines.label(record["machine"]), record["date"][:10]
    shown = soup(page.family([record], "smt")).find_all("table")
    assert [cell.text for cell in shown[-1].tbody.find_all("td")] == [
        "parts", "a part", "1", "250.0 ms", "300.0 ms", "flops", "40 %", where, day
    ]  # fmt: skip
    assert "a part" not in shown[0].text
    assert "In 1 of 1 cases" in peer_tables.conclusion([record]).text


def test_the_roofline_has_every_case_with_operations_under_its_ceilings(monkeypatch):
    caught = []
    monkeypatch.setattr(rooflines, "show", lambda figure, **rest: caught.append((figure, rest)) or show(figure, **rest))
    shown = rooflines.roofline([limited()])
    ((figure, given),) = caught
    assert len(figure.axes) == 2
    for axis, peak in zip(figure.axes, (10.0, 20.0), strict=True):
        lines = [line for line in axis.get_lines() if line.get_linestyle() != "None"]
        assert [line.get_label() for line in lines] == [f"bandwidth of {name}" for name in ("L1", "L2", "memory")]
        assert all(line.get_ydata().max() == pytest.approx(peak) for line in lines)
        marks = {line.get_label(): line for line in axis.get_lines() if line.get_linestyle() == "None"}
        assert len(marks) == 3 and page.FAMILIES["memory"] not in marks  # no operations, no place
        (x,), (y,) = marks[page.FAMILIES["spectral"]].get_data()
        assert (x, y) == (pytest.approx(100.0), pytest.approx(4.0))
        (x,), _ = marks[page.FAMILIES["smt"]].get_data()
        assert x == pytest.approx(axis.get_xlim()[1])  # no bytes
    assert "peak 10.0 GFLOPS" in shown.alt and "memory 10.0 GB/s" in shown.alt and "40 %" in shown.alt
    assert len(given["data"]) == 6
    assert "measured the ceilings" in repr(rooflines.roofline([made([row("x", {"A": 2.0})])]))


def test_what_a_trial_chose_is_no_part_of_the_case():
    """A later choice replaces an earlier one, and stands beside the peer that it is about."""
    old, new = (
        made([row("x", {"A": 2.0, "B": 3.0}, chosen=f"A: {way}; B: threads")], date=f"203{n}-01-01T00:00:00Z")
        for n, way in enumerate(("rows", "columns"))
    )
    lines = soup(page.family([old, new], "smt")).table.tbody.find_all("tr")[1:]
    assert [line.find_all("td")[-1].text for line in lines] == ["A: columns", "B: threads"]
    assert (
        peer_records.validate(new)
        and list(newest(dataset([old, new]))["chosen"].values) == ["A: columns; B: threads"] * 2
    )


def called(**seconds):
    """Rows of first calls without a peer."""
    return [row(label, {}, module="first_calls", fastest=each, median=each) for label, each in seconds.items()]


def test_goals_say_what_is_met_and_what_holds_the_rest():
    """Of each case the fastest peer that the goal names counts; a case at the goal meets it."""
    full, fields = "spectral transform, inverse, full grid, ", ("one field", "eight fields")
    chosen = "SHTns: latitudes contiguous, padded; ducc0: its own threads"
    rows = [
        row("T159 F80, 1 field, inverse", {"ducc0": 1.8, "SHTns": 0.8}, group=full + fields[0], module="spectral",
            chosen=chosen, work={"flops": 10**9, "bytes": 10, "size": 10}),
        row("T399 F200, 1 field, inverse", {"ducc0": 2.0, "SHTns": 1.1}, group=full + fields[0], module="spectral",
            chosen="SHTns: longitudes contiguous"),
        row("T159 F80, 8 fields, inverse", {"SHTns": 1.4}, group=full + fields[1], module="spectral"),
        row("T399 F200, 8 fields, inverse", {"SHTns": 1.5}, group=full + fields[1], module="spectral", chosen=chosen),
        *(row(f"stride {n}", {"gcc": 2.0, "clang": ratio}, group="stride bandwidth", module="memory", threads=2)
          for n, ratio in enumerate((0.9, 0.97, 0.97, 1.2))),
        *called(**{"numba's registries": 0.25, "BT class S, set up and run, code kept": 0.05,
                   "BT class S, set up and run, compiled anew": 2.5}),
    ]  # fmt: skip
    old = made([row("T639 F320, 1 field, inverse", {"SHTns": 9.0}, group=full + fields[0], module="spectral")])
    every = goals.goals_table([old, made(rows, ceilings=CEILINGS)]).astype(object).fillna("")
    told = {each["goal"]: each for each in every[every["met"] != "not measured"].to_dict("records")}
    assert set(every["goal"]) - set(told) == {goal.name for goal in goals.GOALS} - set(told)
    assert len(every) > len(told)
    one, many = "transforms of one field, full grids: ", "transforms of many fields, "
    assert {goal: (each["met"], each["reached"]) for goal, each in told.items()} == {
        one + "SHTns": ("no", "1 of 2"),
        one + "ducc0": ("yes", "2 of 2"),
        many + "T159: SHTns": ("yes", "1 of 1"),
        many + "T399 on: SHTns": ("no", "0 of 1"),
        "memory, strides: C, median": ("yes", "0.970"),
        "memory, strides: C, tenth percentile": ("no", "0.921"),
        "first call of BT class S, code kept": ("no", "300.0 ms"),
        "first call of BT class S, compiled anew": ("yes", "2.750 s"),
    }
    shtns = told[one + "SHTns"]
    assert shtns["lowest case"] == f"{full}one field: T159 F80, 1 field, inverse; SHTns"
    assert shtns["share and limit of it"] == "40 %, flops"
    assert shtns["cases below it"] == "SHTns's latitudes next to each other in 1 of 1 case"
    assert told[one + "ducc0"]["cases below it"] == "–"
    assert goals.goals_table([old]).empty and "nothing explains" in goals.behind([old]).text


def test_other_vectors_have_a_table_of_their_own():
    """A newer record in shorter vectors replaces nothing of the processor's own."""
    native = made([row("x", {"A": 2.0})])
    short = made([row("x", {"A": 0.5})], date="2031-02-01T00:00:00Z", vectors=256)
    assert peer_records.file_name(short) == "peers_smt_t1_256-bit_20310201T000000Z.json"
    assert newest(dataset([native, short])).sizes["pair"] == 2
    ratios = [page.overview([native, short], *vectors).text.split()[-4:] for vectors in ((), ("256-bit",))]
    assert [float(each[0]) for each in ratios] == [2.0, 0.5]
    assert list(offered(page.family([native, short], "smt"))["ratio_fastest"]) == [2.0]
    assert "python -m peers --vectors 256 --out data/peers" in repr(page.overview([native], "256-bit"))
    assert absent([made([row("x", {"A": 2.0})], vectors=256, absent=[
        {"module": "smt", "threads": 1, "name": "D", "reason": "not built"}])]) == []  # fmt: skip
    text = page.runs([native, short]).text
    assert "256-bit" in text and "native" in text and "not recorded" in text


# The page


def soup(shown):
    return BeautifulSoup(shown.html, "html.parser")


def test_every_module_is_a_family_with_its_place_on_the_page():
    assert set(page.FAMILIES) == set(peers.modules())
    text = (RECORDS.parents[1] / "book" / "peers.md").read_text(encoding="utf-8")
    assert all(f'peers.family(records, "{name}")' in text for name in page.FAMILIES)


def test_without_a_record_the_page_says_so():
    for shown in (page.overview([]), page.absent_table([]), page.runs([]), page.family([], "bt")):
        assert repr(shown).count(".") >= 1 and "\n" not in repr(shown)
        assert soup(shown).p.text == repr(shown)
    assert "python -m peers --out data/peers" in repr(page.overview([]))


def marks(monkeypatch, records, name):
    """Axes of the one figure of a family, and what is shown."""
    caught, show = [], page.show
    monkeypatch.setattr(page, "show", lambda figure, **rest: caught.append(figure) or show(figure, **rest))
    shown = page.family(records, name)
    return [figure.axes[0] for figure in caught], shown


def test_the_figure_draws_every_ratio_on_its_row(monkeypatch, record):
    (axis,), shown = marks(monkeypatch, [record], "smt")
    assert axis.get_xscale() == "log" and axis.get_xlim()[0] <= 0.5 and axis.get_xlim()[1] > 8
    assert [tick.get_text() for tick in axis.get_yticklabels()] == ["1 thread", "2 threads"]
    drawn = [line for line in axis.get_lines() if line.get_marker() in page._MARKERS and len(line.get_xdata())]
    assert sorted(float(x) for line in drawn for x in line.get_xdata()) == [0.5, 2.0, 4.0, 8.0]
    assert len({line.get_marker() for line in drawn}) == len({line.get_color() for line in drawn}) == 2
    heights = [float(line.get_ydata()[0]) for line in drawn]
    assert len(set(heights)) == 4 and axis.get_ylim()[0] > max(heights) > min(heights) > axis.get_ylim()[1]
    assert "1 of them below 1" in shown.alt and "lowest 0.500" in shown.alt and "2031-01-01" in shown.alt
    data = offered(shown)
    assert list(data["ratio_fastest"].dropna()) == [2.0, 0.5, 4.0, 8.0]
    assert list(data["peer_fastest [s]"].dropna()) == [0.5, 0.125, 1.0, 2.0]


def test_many_cases_share_a_row_of_their_group(monkeypatch):
    rows = [row(f"case {k}", {"A": 1.0 + k}, group=f"sums, {group}") for group in "gh" for k in range(6)]
    (axis,), _ = marks(monkeypatch, [made(rows)], "smt")
    assert [len(line.get_xdata()) for line in axis.get_lines() if len(line.get_xdata()) > 2] == [6, 6]
    assert {"g", "h"} <= {text.get_text() for text in axis.texts}  # the common word is in the heading


def test_titles_and_marks_do_not_overlap(monkeypatch):
    """At the width of a phone no two texts of the figure share a place."""
    names = [
        "solution file, ext4 (network or unknown block device), page cache",
        "container, ext4 (network or unknown block device), page cache",
    ]
    rows = [
        row(label, {"A": 0.9, "B": 30.0}, threads=threads, group=name, module="files")
        for name in names
        for label in ("positioned, both with one start of fio", "mapped")
        for threads in (1, 2)
    ]
    (axis,), _ = marks(monkeypatch, [made(rows)], "files")
    figure = axis.figure
    figure.draw_without_rendering()
    low, high = axis.get_xlim()
    ticks = [tick for tick in axis.get_xticklabels(which="both") if low <= tick.get_position()[0] <= high]
    texts = *axis.texts, *axis.get_yticklabels(), *ticks, *figure.legends[0].get_texts(), axis.xaxis.label
    boxes = [text.get_window_extent() for text in texts if text.get_text()]
    assert len(boxes) > 12
    assert all(box.x0 >= 0 and box.x1 <= figure.bbox.width for box in boxes)
    for number, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[number + 1 :]), number


@pytest.mark.parametrize(("letters", "size"), [(10, 9.0), (30, 8.0)])
def test_the_legend_is_no_wider_than_the_figure(monkeypatch, letters, size):
    """Names of builds and ways are long; their letters become smaller, never too small to read."""
    names = [f"{'gcc -O3 fast-math, whole lines'[:letters]} {number}" for number in range(6)]
    (axis,), _ = marks(monkeypatch, [made([row("x", dict.fromkeys(names, 1.0))])], "smt")
    axis.figure.draw_without_rendering()
    legend = axis.figure.legends[0]
    box = legend.get_window_extent()
    assert box.x0 >= 0 and box.x1 <= axis.figure.bbox.width
    assert size <= legend.get_texts()[0].get_size() <= 9.0


def test_each_machine_has_a_figure_and_only_the_newest_is_drawn(monkeypatch, record):
    other = copy.deepcopy(record)
    other["machine"]["cpu"]["model"] = "Quickstep 7"
    later = made([row("x", {"A": 6.0})], date="2031-03-01T00:00:00Z")
    axes, shown = marks(monkeypatch, [record, other, later], "smt")
    assert len(axes) == 2 and "Quickstep 7" in shown.alt and "2031-01-01 to 2031-03-01" in " ".join(shown.alt.split())
    assert list(offered(shown)["ratio_fastest"].dropna()) == [4.0, 8.0, 6.0]


def test_the_table_holds_every_ratio_and_sets_off_those_below_one(record):
    table = soup(page.family([record], "smt")).table
    cells = [[cell.text for cell in each.find_all("td")] for each in table.tbody.find_all("tr")]
    assert cells == [
        [],
        ["x1 thread, 250.0 ms", "A", "2.00", "3.00", "–", "–", ""],
        ["B", "0.500", "0.750", ""],
        ["C", "–", "–", "another answer: not timed"],
        ["y2 threads, 250.0 ms", "A", "4.00", "6.00", "–", "–", "others were busy"],
        ["B", "8.00", "12.0", "others were busy"],
    ]
    assert [cell.text for cell in table.find_all("td", class_="below")] == ["0.500", "0.750"]
    assert all(cell.strong for cell in table.find_all("td", class_="below"))


def test_a_family_of_wrong_answers_alone_has_a_table_and_no_figure():
    shown = page.family([made([row("x", {}, wrong={"A": 0.5})])], "smt")
    assert "svg" not in shown.html and "another answer, distance 0.5" in soup(shown).table.text
    assert "no ratios to show" in repr(page.overview([made([row("x", {}, wrong={"A": 0.5})])]))


def test_overview_absent_and_runs(record):
    first = soup(page.overview([record])).tbody.find_all("tr")
    assert [cell.text for cell in first[1].find_all("td")] == ["g", "1", "1", *["0.500"] * 3, "0.750"]
    assert "not installed" in page.absent_table([record]).html
    record["absent"] = []
    assert repr(page.absent_table([record])) == "Every peer was present."
    record["interrupted"] = "stopped by hand"
    text = page.runs([record]).html
    assert all(
        words in text
        for words in ("ended early: stopped by hand", "1 with other load", "0123456789ab", "3.12.1", "Slowpoke 1000")
    )
    assert "threading_layer" not in text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(1.5, "1.500 s"), (0.0123, "12.30 ms"), (7.856e-6, "7.856 µs"), (3e-9, "3.000 ns"), (2e-10, "0.2000 ns")],
)
def test_times_carry_their_unit(seconds, text):
    assert peer_tables.time_text(seconds) == text


def test_the_conclusion_counts_comparisons_of_codes_by_the_lower_of_both_ratios():
    equal = [row("x", {"A": 2.0, "B": 3.0}), row("y", {"A": 0.5})]
    methods = peer_tables.NO_CODES[0]
    unequal = row("z", {"A": 9.0}, group=methods, module="banks")
    said = peer_tables.conclusion([made([*equal, unequal])]).text
    assert "In 1 of 2 cases" in said and "The weakest case is y of g, with 1 thread: A took 0.50 of our time" in said
