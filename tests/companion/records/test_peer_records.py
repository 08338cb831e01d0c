"""Records of kind "peer" and the page that shows them: what is read, and of several records the newest."""

import copy

import pytest

from supercomputers_rerun import peers
from supercomputers_rerun.companion.pages import peers as page
from supercomputers_rerun.companion.records import runs


def side(name, samples, case="x", threads=1, family="g", **changes):
    return {
        "label": f"{family}: {case}, {threads}, {name}",
        "threads": threads,
        "parameters": {"family": family, "case": case, "side": name},
        "samples": samples,
        "checks": [] if name == "ours" else [dict(name="d", value=0.0, expected=0.0, tolerance=0.0, ok=True)],
        "flags": {},
        "other_load": 0.0,
        "observed": {},
        **changes,
    }


@pytest.fixture
def made(record):
    """``made(sides, date)``: a record of kind "peer"."""

    def make(sides, date="2031-01-01T00:00:00Z", **changes):
        fields = {"experiment": "peers-smt", "document": "peers", "item": "smt", "preset": "native", "kind": "peer"}
        parts = {"measurements": sides, "outputs": {}, "software": {"A": "1.0, -O3"}, "absent": []}
        return copy.deepcopy(record) | fields | parts | {"date": date, "version": runs.VERSION} | changes

    return make


def test_a_record_comes_back_and_a_run_does_not_read_as_one(made, record, tmp_path):
    whole = made([side("ours", [1.0, 2.0, 3.0]), side("A, fast", [2.0, 2.0, 2.0])])
    path = runs.save(whole, tmp_path)
    assert path.name.startswith("peers-smt_native_t") and runs.read(path) == whole == runs.peers(tmp_path)[0]
    with pytest.raises(ValueError, match="page Peers"):
        runs.load(path)
    with pytest.raises(ValueError, match="does not fit"):
        runs.validate(whole | {"measurements": record["measurements"]})
    whole["measurements"][1]["checks"][0]["ok"] = False
    with pytest.raises(ValueError, match="does not fit"):
        runs.validate(whole)


def test_ratios_are_of_the_newest_record_of_each_case_and_host(made):
    old = made([side("ours", [1.0]), side("A", [9.0]), side("ours", [1.0], "y"), side("A", [5.0], "y")])
    new = made([side("ours", [1.0, 2.0, 3.0]), side("A, fast", [0.5, 2.5, 3.0])], "2031-02-01T00:00:00Z")
    seen = {"fastest": [0.25], "median": [0.5], "ratio of rounds": [2.0]}  # what a record without samples keeps
    wide = made([side("ours", [], observed=seen), side("A", [], observed=seen)], preset="256-bit")
    frame = page.ratios([old, wide, new], "smt")
    assert list(zip(frame["size"], frame["fastest"], frame["median"], strict=True)) == [
        ("x", 0.5, 1.25),
        ("y", 5.0, 5.0),
        ("x", 1.0, 1.0),
    ]
    assert list(frame["version and build"]) == ["1.0, -O3"] * 3
    assert frame["host"].iloc[2] == f"{frame['host'].iloc[0]}, 256-bit vectors"


def test_the_page_shows_the_fastest_build_of_each_program(made):
    sides = [side("ours", [1.0]), *(side(f"{name} -O3", [time]) for name, time in (("gcc", 3.0), ("clang", 0.9)))]
    shown = page.family([made([*sides, side("SHTns", [2.0])])], "smt")
    assert "clang -O3" in shown.html and "gcc -O3" not in shown.html.partition("</table>")[0] and "SHTns" in shown.html
    assert shown.html.count('class="below"') == 2 and "1 row with" in shown.alt
    assert "make peers ARGS=bt" in page.family([], "bt").alt


def test_causes_stand_only_where_a_row_is_under_1(made, monkeypatch):
    monkeypatch.setattr(page, "_host", lambda record: "F")
    for time, said in ((0.9, True), (1.1, False)):
        sides = [
            side("ours", [1.0], family="g"),
            side("gcc", [time], family="g"),
            side("clang", [2 * time], family="g"),
        ]
        shown = page.family([made(sides, item="mpi")], "mpi").alt
        assert ("up to 100 % apart" in shown) is said


def test_every_module_has_its_place_on_the_page(request):
    assert set(page.TITLES) == set(peers.modules())
    text = (request.config.rootpath / "book" / "peers.md").read_text(encoding="utf-8")
    assert all(f'peers.family(records, "{name}")' in text for name in page.TITLES)
