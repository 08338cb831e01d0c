"""The figures of chapter 4 draw what the tables and records say."""

import numpy as np
import pytest
import xarray as xr
from drawing import cases

from companion import tables
from companion.chapters.p5plus import figures as p5
from companion.chapters.p5plus.figures import profile, threads
from companion.figures.rendering import offered as drawn
from companion.records import runs
from kernels import shallow_water

pytestmark = pytest.mark.usefixtures("alone")


def table(name):
    return tables.load("p5plus", name)


def latest(name):
    """The book's run; the chapter draws one of the host."""
    return runs.latest(f"p5plus-{name}")


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


def accounted():
    """A forecast of two repeats of 10 s: three of them Legendre, one serial, the rest grid points; and a peak."""
    named = profile.REGIONS
    seconds = {name: 0.0 for name in named} | {"inverse_legendre": 6.0, "products_strict": 12.0}
    observed = {f"seconds of {name}": 3 * [value] for name, value in seconds.items()} | {"serial": [2.0, 1.0, 4.0]}
    observed |= {f"calls of {name}": 3 * [8] for name in named}
    forecast = {"what": "forecast", "threads": 2, "truncation": 31, "repeats": 2, "seconds": 3 * [10.0]}
    return cases([{**forecast, "observed": observed}, {**forecast, "what": "peak", "seconds": 3 * [1.0]}])


def test_regions_of_the_small_model_stand_beside_the_printed_profile():
    frame = p5.regions(accounted()).set_index("region")
    assert frame["middle"]["Legendre transform, inverse"] == pytest.approx(30)
    assert list(frame.loc[profile.SERIAL, ["low", "middle", "high"]]) == pytest.approx([5, 10, 20])
    assert frame["middle"].is_monotonic_decreasing and (frame["calls"].drop(profile.SERIAL) == 4).all()
    shown = p5.profiles(table("drhook"), accounted())
    assert "CLOUDSC leads with 8.94 %" in shown.alt and "products at grid points 60 %" in shown.alt
    assert len(drawn(shown)) == 20 and drawn(shown)["share"].count() == len(profile.REGIONS) + 1
    assert "measured" not in p5.profiles(table("drhook"), None).html


def test_every_compiled_region_of_the_model_has_a_name():
    problem = shallow_water.Problem(truncation=15, grid="F12", hours=0.5, dt=900.0, accounts=True)
    result = shallow_water.run(problem, shallow_water.setup(problem))
    assert set(result.parts) == set(profile.REGIONS)


def test_blades_split_adds_up_to_the_time():
    printed = tables.printed("p5plus", "blades")
    frame = drawn(p5.blades(printed))
    assert frame.set_index("run").loc["JS21, 48 CPUs"].sum() == pytest.approx(printed["js21_time"].iloc[1])


def test_power_draws_the_printed_columns():
    printed = tables.printed("p5plus", "power_performance")
    assert (drawn(p5.power(printed, 10.0))["power"] == printed["power"]).all()


def test_gains_draw_every_change():
    assert len(drawn(p5.gains(tables.printed("p5plus", "changes")))) == len(tables.text("p5plus", "changes"))


def test_smt_sets_the_node_rate_per_processor_beside_the_host():
    printed = table("smt_benefit")
    frame = drawn(p5.smt(printed, 16, latest("smt")))
    np.testing.assert_allclose(frame["document_gflops_per_cpu"] * 16, printed["gflops"].sel(mode="no SMT"))
    assert (frame["host_gflops"] > 0).all()
    smt_measured = "SMT" in latest("smt")["kind"].values
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


def test_latency_draws_time_per_load():
    frame = drawn(p5.latency(latest("latency")))
    np.testing.assert_allclose(frame["ns"], 1e9 * frame["median"] / frame["loads"])
    assert len(p5.plateaus(latest("latency"))) == latest("latency").sizes["plateau"]


def test_stream_counts_reads_and_writes():
    frame = drawn(p5.stream(latest("stream")))
    np.testing.assert_allclose(frame["rate"], (frame["bytes_read"] + frame["bytes_written"]) / frame["median"] / 1e9)


def test_loads_set_lines_beside_loads_of_one_item():
    """Both ways at the same strides and sizes, and the sentence has their quotient."""
    record = runs.latest("p5plus-bandwidth")
    frame = drawn(p5.loads(record))
    counts = frame.groupby(["stride", "nbytes"])["loads"].agg(set)
    assert len(counts) > 10 and all(kinds == {"vector", "scalar"} for kinds in counts)
    np.testing.assert_allclose(frame["rate"], frame["bytes_read"] / 4 / frame["median"] / 1e9)
    least = frame[frame["nbytes"] == frame["nbytes"].min()].pivot(index="stride", columns="loads", values="rate")
    assert f"In 4 KB: stride 2, {least.loc[2, 'vector'] / least.loc[2, 'scalar']:.2f} times" in p5.loads_gain(record)
    assert set(drawn(p5.bandwidth(record))["loads"]) == {"vector"}


def exchanged(*pairs):
    """A second for 1e6 bytes of one pair, twice as long for each further pair; a report's message of 2 MB."""
    each = {"label": "a case", "ranks": 2}
    rows = [{**each, "nbytes": nbytes, "pairs": count, "seconds": 3 * [count * nbytes / 1e6]}
            for count in pairs for nbytes in (10**6, 2 * 10**6)]  # fmt: skip
    return cases(rows, then_message=2e6, then_tasks=128)


def test_exchange_has_the_panels_of_the_report_where_there_are_four_pairs():
    shown = p5.exchange(exchanged(1, 4))
    assert drawn(shown).groupby("pairs")["MB_per_s"].max().tolist() == pytest.approx([1.0, 0.25])
    assert (
        "1 pair 1; 4 pairs 1 MB/s" in shown.alt
        and "between 128 tasks, counted from its decomposition: 2 MB" in shown.html
    )
    assert (
        shown.html.count("4 tasks on each side") == 1 and "4 tasks on each side" not in p5.exchange(exchanged(1)).html
    )


def test_fused_gains_are_rates_over_one_thread():
    """The same work in half the time, from medians."""
    rows = [{"loop": "s1", "kind": kind, "threads": 1, "flops": 10, "seconds": 8 * [seconds]}
            for kind, seconds in (("one thread", 2.0), ("two fused streams", 1.0))]  # fmt: skip
    assert "1 accumulator 2.00" in p5.fused_gains(cases(rows))


def test_times_of_a_load_have_their_spread():
    rows = [{"nbytes": 2**20, "pattern": pattern, "pages": pages, "loads": 100, "seconds": [1e-6, 2e-6, 4e-6]}
            for pattern in ("stride", "random") for pages in ("small", "huge")]  # fmt: skip
    assert "20 ns (10 to 40)" in p5.load_times(cases(rows))


def test_what_binding_gains_stands_beside_the_promise():
    each = {"loop": "streaming", "doubled": False, "threads": 2}
    rows = [{**each, "kind": "bound", "order": "0 1", "seconds": 8 * [1.0]},
            {**each, "kind": "not bound", "order": "", "seconds": 8 * [1.1]}]  # fmt: skip
    said = p5.binding_said(cases(rows), tables.printed("p5plus", "changes"))
    assert "streaming (bound) 1.1" in said and "5 to 30 % from binding" in said
