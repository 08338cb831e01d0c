"""Peer records: what is written comes back, and of several the newest counts."""

import copy
from pathlib import Path

import numpy as np
import pytest

import peers
from companion.figures.rendering import offered
from companion.host import machine
from companion.pages import peer_tables
from companion.pages import peers as page
from companion.records import limits, peer_records
from companion.records.peer_records import (
    dataset,
    load,
    newest,
    read,
    save,
)

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


def test_the_summary_takes_the_fastest_peer_of_each_case():
    rows = [row(str(k), {"A": ratio, "B": 9.0}) for k, ratio in enumerate((0.5, 1.0, 1.5))]
    (line,) = peer_records.summary(dataset([made([*rows, row("none", {}, wrong={"A": 0.5})])]))
    assert (line["group"], line["cases"], line["median"], line["lowest"]) == ("g", 3, 1.0, 0.5)
    assert line["tenth_percentile"] == pytest.approx(0.6) and line["median_of_medians"] == 1.5


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


# The page


def test_every_module_is_a_family_with_its_place_on_the_page():
    assert set(page.FAMILIES) == set(peers.modules())
    text = (RECORDS.parents[1] / "book" / "peers.md").read_text(encoding="utf-8")
    assert all(f'peers.family(records, "{name}")' in text for name in page.FAMILIES)


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


def test_the_conclusion_counts_comparisons_of_codes_by_the_lower_of_both_ratios():
    equal = [row("x", {"A": 2.0, "B": 3.0}), row("y", {"A": 0.5})]
    methods = peer_tables.NO_CODES[0]
    unequal = row("z", {"A": 9.0}, group=methods, module="banks")
    said = peer_tables.conclusion([made([*equal, unequal])]).text
    assert "In 1 of 2 cases" in said and "The weakest case is y of g, with 1 thread: A took 0.50 of our time" in said
