"""Sentences of chapter 2: what they compute from made runs, and what its prose says of the printed tables."""

import numpy as np
import pytest
from drawing import runs_of as rows

from companion import tables
from companion.chapters.aips58 import overhead
from companion.chapters.aips58.figures import marks, said, studies

DDT, LOAD = tables.load("aips58", "ddt"), tables.load("aips58", "ddtload")
TASKS = list(DDT["problem"].values)
CLASSES = tables.load("aips58", "problem_classes")
MODEL = overhead.model(DDT, LOAD)


def test_a_typical_problem_is_the_median_of_medians():
    spread = np.linspace(0.9, 1.1, 7)
    above = np.outer([1.0, 2.0, 9.0], spread)
    assert marks.typical(above).startswith("2.00 (1.8") and marks.typical(above, 0.5 * above).startswith("2.00 (")
    assert marks.typical(above[:, :5]) == "1.93"
    above[0, 0] = np.nan  # a round that a problem lacks counts for none
    assert marks.middles(above)[0] == pytest.approx(2.0 * np.median(spread[1:]))


def test_gains_and_classes_name_what_is_larger():
    cpu = np.array([10.0 if kind == "vector" else 1.0 for kind in CLASSES["class"].sel(problem=TASKS).values])
    convex = DDT["cpu"].sel(system="NRAO1", size="large").values
    run = rows(size=["large"] * 13, task=TASKS, cpu=convex * cpu / 1000, real=convex / 1000)
    assert "less than the others: 100 (9" in said.classes(DDT, CLASSES, run, "large")
    text = said.gains(DDT, run)
    assert "10.2 in CPU time and 2.4 in real time" in text and "because the tasks wait less" in text


def moved():
    return rows(
        task=["COMB", "ASCAL"] * 2, size=["large"] * 4, habits=[0, 0, 1, 1], messages=[0, 0, 9, 9],
        cpu=[0.9, 0.9, 0.8, 0.9], real=[1.0, 1.0, 2.0, 1.0],
    )  # fmt: skip


def test_habits_are_compared_problem_by_problem():
    text = said.habits(moved())
    assert text.startswith("Of the 2 problems 1 take measurably longer as AIPS: 2.00") and "for ASCAL." in text
    assert studies.habits(moved(), DDT)["as AIPS/in memory"][0].startswith("2 (1.9")
    shown = said.computing(DDT, moved())
    assert "62 to 80 % was CPU time on the Convex and 18 to 40 % at Toronto" in shown
    assert "is 0.900 (0.900 to 0.900) with files in memory and 0.650 (0.650 to 0.650) as AIPS" in shown


def test_the_cause_of_a_spread_is_in_the_times():
    run = rows(task=["UVMAP"] * 2, beside=[0, 2], cpu=[0.5, 0.5], real=[1.0, 2.0], spread=[0.06, 0.5])
    run["other_load"] = ("case", [0.01, 0.02])
    text = said.spread(run, 5.0)
    assert "spread by UVMAP 6 %" in text and "50 to 50 % of the difference" in text and "the processor itself" in text
    run["observed_cpu"][:] = 0.5
    assert "0 to 0 % of the difference" in said.spread(run, 5.0) and "The rest was waiting" in said.spread(run, 5.0)


def test_messages_are_held_to_a_file_that_stays_open():
    ways = ["reopened", "synced", "late", "kept", "off"]
    run = rows(way=ways, place=["memory"] * 5, cpu=[4.0, 4.0, 60.0, 1.0, 0.5], real=[4.0, 4.0, 600.0, 1.0, 0.5])
    text = said.messages(run)
    assert "In memory" in text and "takes 4.00" in text and "answers late it takes 60.0" in text


def test_what_the_prose_says_of_the_printed_times_holds():
    """Sections 1 to 3: gains, classes, and where the rest of the time goes."""
    gain = DDT[["cpu", "real"]].sel(system="NRAO1") / DDT[["cpu", "real"]]
    toronto, pittsburgh = gain.sel(system="CLSC"), gain["real"].sel(system="PSC")
    assert 9.5 < float(toronto["cpu"].median()) < 10.5 and round(float(toronto["real"].max())) == 8
    slower = pittsburgh.stack(problem_size=("problem", "size"))
    assert list(slower["problem_size"].values[slower.values > 1]) == [("ASCAL", "large")]
    share = (DDT["cpu"] / DDT["real"]).sel(system="CLSC").max("size")
    assert list(share["problem"].values[share > 0.5]) == ["ASCAL"]
    loaded = toronto["real"].sel(problem=["IMLOD", "UVLOD"])
    assert (loaded.sel(size="large") < 1).all() and (loaded.sel(size=["small", "medium"]) > 1).all()


def test_what_the_prose_says_of_pittsburghs_files_holds():
    """Sections 4 to 6: a fixed cost, its exceptions, and CLEAN without it."""
    extra = DDT["cpu"].sel(system="PSC") - DDT["cpu"].sel(system="CLSC")
    assert extra.sel(size="large").idxmax("problem") == "ASCAL"
    assert extra.sel(problem="VTESS").max() < 1.2 * extra.sel(problem="VTESS").min()
    assert extra.sel(problem="ASCAL", size="large") > 6 * extra.sel(problem="ASCAL", size="medium")
    assert "VTESS pays 49, 42, 50 s" in said.exceptions(DDT) and "by a factor of 1.18" in said.growth(DDT)
    left = overhead.table(DDT, MODEL).set_index("problem")["large, without overhead"].drop("IMLOD")
    assert (abs(left - 1) < 0.22).all() and MODEL.problem_seconds < 1.1 and 48 < float(MODEL.overhead.max()) < 49
    cleaned = {"size": ["medium", "large"], "problem": ["APCLN", "MXCLN"]}
    bare = (DDT["cpu"].sel(system="CLSC") / overhead.without(DDT, MODEL)).sel(cleaned)
    assert int((bare > 1).sum()) == 1 and float(bare.sel(size="medium", problem="MXCLN")) > 1.15
    assert (extra.sel(cleaned) > 0).all()
    vector = list(CLASSES["problem"].values[CLASSES["class"].values == "vector"])
    speeds = overhead.hidden(DDT, MODEL, vector)
    ahead = speeds["problem"][speeds["medium, without files"] > speeds["medium, Toronto"]]
    assert list(ahead) == ["MXCLN", "VTESS"] and (speeds["large, without files"] < speeds["large, Toronto"]).all()
    assert (speeds["large, printed"] < speeds["large, without files"]).all()
