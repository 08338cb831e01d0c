"""The runs of chapter 2: what is measured, the model of Pittsburgh's overhead, and the figures of both."""

import numpy as np
import pytest
import xarray as xr
from drawing import runs_of as rows

from companion import tables
from companion.chapters.aips58 import figures, overhead
from companion.chapters.aips58.figures import live, said, studies
from kernels.imaging import damage

DDT = tables.load("aips58", "ddt")
LOAD = tables.load("aips58", "ddtload")


def record(sizes=("small",)):
    rows = [(size, task) for size in sizes for task in DDT["problem"].values]
    data = {
        "run_task": [task for _, task in rows],
        "run_size": [size for size, _ in rows],
        "run_cpu": np.full(len(rows), 0.5),
        "run_real": np.full(len(rows), 1.0),
        "run_bits_maximum": np.full(len(rows), 20.0),
        "run_bits_rms": np.full(len(rows), 24.0),
        "run_memory": np.full(len(rows), 8e6),
        "run_threads": np.full(len(rows), 1),
    }
    attributes = {"machine": "a machine", "preset": "quick", "date": "2026-01-01T00:00:00Z"}
    samples = {
        "observed_real": (("case", "sample"), np.ones((len(rows), 3))),
        "observed_cpu": (("case", "sample"), np.full((len(rows), 3), 0.5)),
        "flags": ("case", np.full(len(rows), "")),
    }
    return xr.Dataset({name: ("run", np.array(value)) for name, value in data.items()} | samples, attrs=attributes)


def test_the_table_has_the_memos_columns_and_ratios():
    frame = live.memo_table(DDT, record(), "small").set_index("problem")
    assert len(frame) == 13 and (frame["C/R"] == 0.5).all()
    old = DDT.sel(size="small", system="PSC", problem="VTESS")
    assert frame.loc["VTESS", "real, PSC/here"] == float(old["real"])
    assert frame.loc["VTESS", "CPU, PSC/here"] == 2 * float(old["cpu"])


def test_the_overhead_is_recovered_from_made_times():
    clsc = DDT["cpu"].sel(system="CLSC", drop=True)
    cost = xr.DataArray(1.0 + np.arange(13), dims="problem", coords={"problem": DDT["problem"]})
    made = DDT.copy(deep=True)
    made["cpu"].loc[{"system": "PSC"}] = (clsc + cost).transpose(*made["cpu"].sel(system="PSC").dims)
    found = overhead.model(made, LOAD)
    frame = overhead.table(made, found)
    assert found.problem_seconds == pytest.approx(1)
    assert np.allclose(found.overhead, cost)
    assert overhead.error(frame) < 1e-12
    assert np.allclose(frame["large, without overhead"], 1)


def test_the_memos_own_overhead_predicts_the_larger_problems():
    found = overhead.model(DDT, LOAD)
    assert overhead.error(overhead.table(DDT, found)) < 0.06
    costs = overhead.message_costs(DDT, LOAD)
    assert np.allclose(costs["messages"] * costs["cost"], costs["messages"][0] * costs["cost"][0])


def test_figures_say_what_they_show():
    table = overhead.table(DDT, overhead.model(DDT, LOAD))
    assert "IMLOD" in live.overhead(table).alt
    image = np.random.default_rng(0).random((64, 64)).astype(np.float32)
    assert "dirty" in live.images({"dirty": image, "CLEAN": image}, "small").alt


def test_the_memos_conclusions_stand_beside_its_tables_and_the_runs():
    bare = overhead.without(DDT, overhead.model(DDT, LOAD))
    found = {
        "ddt": record(("small", "large")),
        "ddtload": rows(way=["late", "off"], cpu=[0.3, 0.1], real=[1.0, 0.1]),
        "load": rows(task=["UVMAP"] * 2, beside=[0, 2], cpu=[1.0, 1.0], real=[1.0, 1.5]),
        "gather": rows(task=["APCLN"] * 2, method=["scalar", "gather"], cpu=[3.0, 2.0], real=[3.0, 2.0]),
        "habits": rows(task=["COMB"] * 2, habits=[0, 1], cpu=[0.9, 0.4], real=[1.0, 2.0], messages=[0, 10]),
    }
    frame = live.conclusions(DDT, tables.load("aips58", "prose"), bare, found)
    # the memo's ratios by hand: small SUBIM, large ASCAL, and the medians of 39 cells
    assert frame["its tables"][0] == pytest.approx(3.16 / 0.25) and frame["its tables"][1] == pytest.approx(4840 / 602)
    assert 2 < frame["its tables"][2] < 3 and frame["its tables"][3] > 7
    assert [text.partition(" (")[0] for text in frame["here"]][3:] == ["1.50", "1.50", "0.900", "0.200"]
    assert frame["here"][0].startswith("3.00 (2.9") and float(frame["here"][1]) == DDT["real"].sel(system="NRAO1").max()


def test_scalar_problems_gain_as_much_processor_time_as_vector_ones_and_loading_least_in_real():
    means = figures.summary(DDT, tables.load("aips58", "problem_classes")).set_index("class")
    assert means.loc["scalar", "cpu, CLSC"] <= means.loc["vectorises", "cpu, CLSC"]
    assert (means["real, CLSC"] > means["cpu, CLSC"]).all() and (means["real, PSC"] > means["cpu, PSC"]).all()
    assert 0.9 < means.loc["reads tape, scalar", "real, CLSC"] < 1


def test_wrong_images_say_flux_and_bits():
    image = np.random.default_rng(0).random((32, 32))
    cases = [
        damage.Case("dirty image", 22.0, 24.0, True),
        damage.Case("truth", 32.0, 32.0, True, 8.85, image),
        damage.Case("CLEAN, gain 2.2: 40", 14.0, 20.0, False, -1449.0, image),
    ]
    shown = live.wrong(cases)
    assert "-1449.00 Jy, 14 bits, refused" in shown.alt and "dirty" not in shown.alt


def test_habits_and_ddtload_as_tables():
    run = rows(task=["COMB"] * 2, size=["large"] * 2, habits=[0, 1], messages=[0, 10], cpu=[0.9, 0.4], real=[1.0, 2.0])
    frame = studies.habits(run, DDT).iloc[0]
    assert (frame["C/R, in memory"], frame["C/R, as AIPS"], frame["messages"]) == (0.9, 0.2, 10)
    assert frame["C/R, Toronto"] == pytest.approx(0.57 / 11.13)
    run = rows(way=["late", "off"], cpu=[0.1, 0.1], real=[1.0, 0.1])
    assert studies.ddtload(run)["C/R"].tolist() == pytest.approx([0.1, 1.0])


def test_full_tables_with_and_without_a_record():
    assert "No run at the memo's sizes" in live.full_tables(DDT, None).text
    text = live.full_tables(DDT, record(("small", "large"))).text
    assert "The small problems" in text and "The large problems" in text and "The medium" not in text


def test_the_files_hid_the_speed_of_vectors():
    found = overhead.model(DDT, LOAD)
    frame = overhead.hidden(DDT, found, ["VTESS"]).iloc[0]
    old = DDT["cpu"].sel(size="large", problem="VTESS")
    bare = float(old.sel(system="PSC") - found.overhead.sel(problem="VTESS"))
    assert frame["large, without files"] == pytest.approx(float(old.sel(system="NRAO1")) / bare)
    assert frame["large, printed"] < frame["large, without files"]


def test_the_model_gives_back_ddtload_and_its_run_without_a_file():
    frame = overhead.systems_ratios(DDT, LOAD, overhead.model(DDT, LOAD)).set_index("run")
    psc, clsc = (float(LOAD["cpu"].sel(system=name)) for name in ("PSC", "CLSC"))
    assert frame.loc["PSC, messages to the file, model", "cpu"] == pytest.approx(psc)
    assert clsc < frame.loc["PSC, MSGKIL, model", "cpu"] < 1.2 * clsc


def test_tables_of_the_smaller_studies():
    methods = ["scalar", "gather", "blocks"]
    run = rows(task=["APCLN"] * 3, method=methods, cpu=[4.0, 2.0, 1.0])
    bare = overhead.without(DDT, overhead.model(DDT, LOAD)).sel(size="large")
    assert studies.gather(run, DDT, bare)["loop/instruction"].tolist() == [2]
    run = rows(task=["UVMAP"] * 2, beside=[0, 2], cpu=[1.0, 1.1], real=[1.0, 2.0], spread=[0.05, 0.5])
    frame = studies.loaded(run).iloc[0]
    assert frame["spread alone"] == pytest.approx(5) and frame["real, loaded/alone"] == 2
    run = rows(way=["one", "striped"], place=["p", "p"], write=[10.0, 5.0], read=[4.0, 8.0], cold=[1.0, 0.0])
    assert studies.stripes(run)["write, over one file"].tolist() == [1, 0.5]
    assert studies.resources(record())["small"].tolist() == [1.0] * 13
    whole = studies.totals(DDT, record()).iloc[0]
    assert whole["here"] == 13 and whole["CLSC"] == pytest.approx(
        float(DDT["real"].sel(size="small", system="CLSC").sum())
    )


def test_findings_are_computed_and_name_the_machine():
    moved = rows(task=["COMB"] * 2, size=["large"] * 2, habits=[0, 1], messages=[0, 9], cpu=[0.9, 0.4], real=[1.0, 2.0])
    moved["observed_real"] = (("case", "sample"), np.outer([1.0, 2.0], np.linspace(1, 1.01, 7)))
    first, second, third = said.findings(DDT, LOAD, moved)
    assert "over the Convex is 10.2 in CPU time and 2.4 in real time" in first
    assert "1 to 49 s of CPU time" in second and "within 5 %" in second
    assert "took 27 s on the Convex, 11 s at Toronto, and 1.00 s (1.00 to 1.01) on a machine" in third
    assert "There they take 2.000 times (95 % interval" in third
    assert "No run of this kind is committed" in studies.shown(None, None, name="x", caption="A table").text
