"""The figures of chapter 4 draw what the tables and records say."""

import numpy as np
import pytest
import xarray as xr

from companion import experiments, tables
from companion.chapters.p5plus import figures as p5
from companion.chapters.p5plus.figures import threads
from companion.figures.rendering import offered as drawn
from companion.records import runs


def table(name):
    return tables.load("p5plus", name)


@pytest.fixture(scope="module")
def records():
    options = {"preset": "quick", "rounds": 2, "budget": 5.0, "progress": False}
    names = ("latency", "stream", "smt")
    return {name: experiments.run(f"p5plus-{name}", **options) for name in names}


def test_time_shares_come_from_times_and_wall():
    shown = p5.ifs_times(table("ifs_times"))
    frame = drawn(shown)
    row = frame[(frame["job"] == "4D-Var") & (frame["section"] == "barrier")]
    assert row["time [s]"].item() == table("ifs_times")["time"].sel(job="4D-Var", section="barrier").item()
    assert 'role="img"' in shown.html and "4D-Var parallel 48 %" in shown.alt


def test_cpi_tree_refuses_children_that_exceed_their_parent():
    cpi = table("cpi_main").copy(deep=True)
    cpi["cycles"].loc[{"node": "C1"}] = 2 * cpi["cycles"].sel(node="C").item()
    with pytest.raises(ValueError, match="children of 'Stalls' exceed it"):
        p5.cpi_tree(cpi, "MAIN")


def test_cpi_leaves_add_up_to_all_cycles():
    frame = drawn(p5.cpi_leaves(table("cpi_main"), table("cpi_laitli"), table("cpi_cloudsc3")))
    np.testing.assert_allclose(frame[["MAIN", "LAITLI", "CLOUDSC3"]].sum(), 100, atol=0.3)


def test_drhook_names_the_leading_routine():
    assert "CLOUDSC leads" in p5.drhook(table("drhook")).alt


def test_binding_cube_names_its_extremes():
    time = table("smt_binding")["time"]
    alt = p5.smt_binding(table("smt_binding")).alt
    assert f"{time.max().item():.0f} s without any" in alt and f"to {time.min().item():.0f} s" in alt


def test_blades_split_adds_up_to_the_time():
    printed = tables.printed("p5plus", "blades")
    frame = drawn(p5.blades(printed))
    assert frame.set_index("run").loc["JS21, 48 CPUs"].sum() == pytest.approx(printed["js21_time"].iloc[1])


def test_power_draws_the_printed_columns():
    printed = tables.printed("p5plus", "power_performance")
    assert (drawn(p5.power(printed, 10.0))["power"] == printed["power"]).all()


def test_gains_draw_every_change():
    assert len(drawn(p5.gains(tables.printed("p5plus", "changes")))) == len(tables.text("p5plus", "changes"))


def test_smt_sets_the_node_rate_per_processor_beside_the_host(records):
    printed = table("smt_benefit")
    frame = drawn(p5.smt(printed, 16, records["smt"]))
    np.testing.assert_allclose(frame["document_gflops_per_cpu"] * 16, printed["gflops"].sel(mode="no SMT"))
    assert (frame["host_gflops"] > 0).all()
    smt_measured = "SMT" in records["smt"]["kind"].values
    assert set(frame["host_gain_from"]) == {"SMT" if smt_measured else "two fused streams"}


def test_the_model_is_the_documents_until_a_machine_with_smt_sends_a_run():
    alone = p5.model(table("smt_model"), [])
    assert len(alone) == 2 and alone.iloc[-1, -1] == threads.UNMEASURED
    outputs = {"S": [1.35], "f": [1.8], "speedup": [1.215], "speedup_timed": [1.2]}
    record = xr.Dataset({name: ("loop", value) for name, value in outputs.items()} | {"loop_name": ("loop", ["s1"])})
    record.attrs["machine"] = "Some CPU, 2 usable CPUs"
    here = p5.model(table("smt_model"), [record]).iloc[1:]
    np.testing.assert_allclose(here["S f/2"], here["S"] * here["f"] / 2)
    assert len(here) == 1 and here.iloc[0, -1] == 1.2


def test_latency_draws_time_per_load(records):
    frame = drawn(p5.latency(records["latency"]))
    np.testing.assert_allclose(frame["ns"], 1e9 * frame["median"] / frame["loads"])
    assert len(p5.plateaus(records["latency"])) == records["latency"].sizes["plateau"]


def test_stream_counts_reads_and_writes(records):
    frame = drawn(p5.stream(records["stream"]))
    np.testing.assert_allclose(frame["rate"], (frame["bytes_read"] + frame["bytes_written"]) / frame["median"] / 1e9)


def test_loads_set_lines_beside_loads_of_one_item():
    """Both ways at the same strides and sizes, and the sentence has their quotient."""
    record = runs.latest("p5plus-bandwidth")
    frame = drawn(p5.loads(record))
    counts = frame.groupby(["stride", "nbytes"])["loads"].agg(set)
    assert len(counts) > 10 and all(kinds == {"vector", "scalar"} for kinds in counts)
    np.testing.assert_allclose(frame["rate"], frame["bytes_read"] / 4 / frame["median"] / 1e9)
    least = frame[frame["nbytes"] == frame["nbytes"].min()].pivot(index="stride", columns="loads", values="rate")
    assert f"in 4 KB {least.loc[2, 'vector'] / least.loc[2, 'scalar']:.3g} at stride 2" in p5.loads_gain(record)
    assert set(drawn(p5.bandwidth(record))["loads"]) == {"vector"}
