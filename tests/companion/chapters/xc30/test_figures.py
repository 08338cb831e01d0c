"""The figures of chapter 5 draw what the tables and records say."""

import numpy as np
import pytest
import xarray as xr
from drawing import cases

from companion import tables
from companion.chapters.xc30 import figures
from companion.figures.rendering import offered


def table(name):
    return tables.load("xc30", name)


def test_systems_are_drawn_as_ratios_of_printed_cells():
    frame = offered(figures.systems(table("machines"))).set_index("fact")["ratio"]
    cells = tables.printed("xc30", "machines").set_index("fact")
    for fact, name in (("cores", "cores"), ("peak", "peak"), ("clock", "clock")):
        assert frame[name] == pytest.approx(float(cells.loc[fact, "cray"]) / float(cells.loc[fact, "ibm"]))
    assert frame["peak of a core"] == pytest.approx(frame["peak"] / frame["cores"])


def test_the_rate_of_a_core_is_the_printed_share_of_its_peak():
    frame = figures.printed_cores(table("runs"), table("machines"))
    np.testing.assert_allclose(frame["rate"], frame["peak"] * frame["share"] / 100)
    rate = 1e-3 * frame["rate"].to_numpy() * table("runs")["cores"].values  # the slide prints 4 TFLOPS for both
    np.testing.assert_allclose(rate, float(table("forecast")["tflops"]), atol=0.05)


@pytest.mark.parametrize(
    "text, expected", [("2011-06", 2011 + 5.5 / 12), ("2015", 2015.5), ("10-19", 2014 + (9 + 18 / 30.5) / 12)]
)
def test_dates_become_years(text, expected):
    assert figures._when(text, 2014) == pytest.approx(expected)


# --- figures of run records, from records made up here ---------------------------------------------


def record(**variables) -> xr.Dataset:
    """A record that holds these outputs: ``name=(dims, values)`` or a scalar."""
    return xr.Dataset(variables, attrs={"machine": "a machine", "preset": "quick", "date": "2026-01-02T03:04:05Z"})


def rate(what, value, scale=1e9, **coordinates):
    """A case of one kind that reaches ``value`` times ``scale`` flop/s in its median sample."""
    each = {"truncation": 0, "fields": 0, "threads": 1, "routine": "", "build": "", "nproma": 0}
    return {**each, "what": what, **coordinates, "flops": int(value * scale), "seconds": [1.0, 1.25, 0.8]}


def transformed(*rows):
    return cases(
        [rate("peak", 100.0)] + [rate("transforms", value, truncation=T, fields=8) for T, value in rows],
        fourier_share=("transform", [17.0] * len(rows)),
    )


def test_transforms_stand_beside_the_printed_shares():
    made = transformed((159, 40.0), (319, 50.0))
    shown = figures.transforms(made, table("runs"), 1279)
    frame = offered(shown)
    assert list(frame["share"]) == pytest.approx([40.0, 50.0])
    assert list(frame["rate_low"]) == pytest.approx([32.0, 40.0])
    for share in table("runs")["peak_percent"].values:
        assert f"{share:g} %" in shown.alt


def test_cores_divide_each_rate_by_the_peak_of_a_thread():
    """Each program over the peak of its own run, though another machine's peak is four times as high."""
    frame = figures.measured_cores(transformed((1279, 40.0)), forecasted(), 1279)
    assert list(frame["share"]) == pytest.approx([20.0, 40.0]) and list(frame["peak"]) == pytest.approx([25.0, 100.0])
    assert list(frame["rate_low"]) == pytest.approx([4.0, 32.0])
    assert "20 % (13 to 31)" in figures.shares_now(transformed((1279, 40.0)), forecasted(), 1279)
    shown = figures.cores(table("runs"), table("machines"), transformed((1279, 40.0)), forecasted(), 1279)
    assert len(offered(shown)) == 4 and "5 of 25 GFLOPS, 20 %" in shown.alt


def forecasted():
    """Two threads that reach 10 of 50 GFLOPS for ten days of forecast."""
    named = {"truncation": 319, "days": 10, "steps": 9, "time_step": 140.0, "threads": 2}
    return cases([rate("forecast", 10.0, **named), rate("peak", 50.0, threads=2)])


def test_without_a_stored_forecast_the_transforms_are_alone():
    assert len(figures.measured_cores(transformed((1279, 40.0)), None, 1279)) == 1
    assert "spectral transforms alone reach 40 %" in figures.shares_now(transformed((1279, 40.0)), None, 1279)
    assert "run xc30-forecast" in figures.whole_said(None, table("forecast"), table("runs"))


def test_a_whole_forecast_is_told_beside_the_talks():
    (row,) = figures.whole_forecasts(forecasted()).itertuples()
    assert (row.elapsed, row.rate, row.share) == pytest.approx((1.0, 10.0, 20.0))
    said = figures.whole_said(forecasted(), table("forecast"), table("runs"))
    assert "319, 1/4 of the talk's 1279, a forecast of 10 days takes 1 s (1 to 1) on 2 threads" in said
    assert "in steps of 140 s" in said and "20 % (13 to 31) of their peak" in said
    assert "steps of 600 s, took about 3000 s on 1920 or 2400 cores" in said
    assert "truncation 319, and spectral transforms alone at truncation 1279" in figures.cores(
        table("runs"), table("machines"), transformed((1279, 40.0)), forecasted(), 1279
    ).html  # fmt: skip


def step_case(resolution, label, seconds):
    parts = {name: [0.25 * seconds] * 3 for name in ("inverse transforms", "grid-point", "direct transforms")}
    observed = {**parts, "spectral": [0.25 * seconds, 0.3 * seconds, 0.2 * seconds], "output": [9.0] * 3}
    return {"resolution": resolution, "label": label, "steps": 1, "seconds": [seconds] * 3, "observed": observed}


def test_measured_and_modelled_costs_never_share_a_column():
    made = cases(
        [step_case("TL1279", "TL159 on N80", 0.1), step_case("TC1279", "TC159 on N160", 0.2)],
        model_resolution=("resolution_model", ["TL1279", "TL2047", "TC1279"]),
        model_step=("resolution_model", [3.0, 9.0, 7.0]),
        model_from="TC159 on N160",
    )
    shown = figures.costs(made)
    frame = offered(shown)
    assert frame["measured_step"].notna().sum() == 2 and list(frame["model_step"]) == [3.0, 9.0, 7.0]
    assert frame["measured_step_high"][0] == pytest.approx(0.105)
    assert "least TL159 on N80 (0.1 s), most TC159 on N160 (0.2 s)" in shown.alt
    assert "Nothing in the lower panel is measured" in shown.alt


def test_sections_name_the_longest():
    rows = (("one", 3.0, 1.0), ("two", 1.0, 2.0))
    made = cases(
        [{"label": name, "seconds": [a + b] * 3, "observed": {"a": [a] * 3, "b": [b] * 3}} for name, a, b in rows]
    )
    alt = figures.sections(made).alt
    assert "one: a 75 %" in alt and "two: a 33 %" in alt and "b 67 %" in alt


def test_aliasing_draws_both_maps_and_states_how_far_they_differ():
    latitude, longitude = np.linspace(75, 25, 6), np.arange(0.0, 360.0, 30.0)
    base = np.ones((6, 12))
    made = record(
        matching=("matching_grid", ["linear", "quadratic", "cubic"]),
        matching_name=("matching_grid", ["F32", "F48", "F64"]),
        latitude=("row", latitude),
        longitude=("column", longitude),
        forecast_hours=("case", [144.0]),
        degree=("wave", np.arange(4)),
        vorticity=(("matching_grid", "row", "column"), 1e-5 * np.stack([1.5 * base, base, base])),
        product_error=(("matching_grid", "wave"), [[0, 1e-3, 1e-2, 1e-1], [0, 1e-16, 1e-16, 1e-16], [0, 0, 0, 0]]),
    )
    shown = figures.aliasing(made)
    assert "differ by 50 % RMS, quadratic and cubic grid by 0 %" in shown.alt and "6 days" in shown.alt
    assert "1e-01 on the linear grid and 1e-16 on the quadratic grid" in figures.tendency(made).alt
    frame = offered(shown)
    assert len(frame) == 72 and (frame["linear [1e-5/s]"] == 1.5).all()


def test_routines_stand_beside_the_profile_of_2006():
    profile = tables.load("p5plus", "drhook")
    rates = {
        ("CLOUDSC", "vector"): 8e3,
        ("CLOUDSC", "scalar"): 4e3,
        ("VERINT", "vector"): 3e4,
        ("VERINT", "scalar"): 6e3,
    }
    made = [rate("routine", value, 1e6, routine=name, build=build) for (name, build), value in rates.items()]
    shown = figures.routines(cases([rate("peak", 1e5, 1e6), *made]), profile)
    frame = offered(shown).set_index("routine_name")
    for routine in frame.index:
        assert frame.loc[routine, "document_mflops"] == float(profile["mflops"].sel(routine=routine))
    assert "most in VERINT (5.0 times) and least in CLOUDSC (2.0 times)" in shown.alt


def test_nproma_names_the_fastest_block():
    sweep = [rate("NPROMA", value, 1e6, routine="CUADJTQ", nproma=n) for n, value in ((1, 1.0), (8, 9.0), (64, 8.0))]
    assert "Fastest: CUADJTQ at 8; slowest: CUADJTQ at 1 with 11 % of that" in figures.nproma(cases(sweep)).alt


def test_storm_states_the_ratio_of_medians():
    made = cases(
        [{"seconds": [1.0, 1.0]}],
        variant_name=("variant", ["with small files", "without"]),
        step_seconds=(("variant", "step"), [[4e-3, 6e-3, 9e-3], [1e-3, 2e-3, 3e-3]]),
        calls_per_step=("variant", [100.0, 4.0]),
        system_per_step=("variant", [2e-3, 1e-3]),
        user_per_step=("variant", [1e-3, np.nan]),
    )
    assert "3 times as long" in figures.storm(made).alt
    rows = figures.storm_table(made)
    assert list(rows["median time"]) == [6.0, 2.0] and list(rows["system calls"]) == [100.0, 4.0]
    assert list(rows["calls a second"]) == pytest.approx([100 / 6e-3, 4 / 2e-3])


def known(**changes):
    base = dict(
        truncation_scored=("scored", [21, 42]),
        points=("scored", [2048, 8192]),
        height_error=("scored", [2e-3, 1e-3]),
        vorticity_error=("scored", [0.2, 0.05]),
        day=15.0,
        tilt=("tilt", [0.0, 1.52]),
        steady_error=(("scored", "tilt"), [[1e-15, 2e-15], [3e-15, 4e-15]]),
        published_points=("published", [10242, 40962, 92162]),
        published_height=("published", [1.4e-3, 7e-4, 6e-4]),
        published_vorticity=("published", [0.17, 0.07, 0.04]),
    )
    return record(**{**base, **changes})


def test_errors_stand_beside_the_published_ones_in_columns_of_their_own():
    shown = figures.cases(known())
    frame = offered(shown)
    assert list(frame["published_vorticity"]) == [0.17, 0.07, 0.04]
    assert list(frame["vorticity_error"].dropna()) == [0.2, 0.05]
    assert "8192 points, T42: height 1.0e-03, vorticity 5.0e-02" in shown.alt
    assert "10242 to 92162 points" in shown.alt


def test_steady_errors_are_named_by_their_tilt():
    frame = figures.steady_table(known()).set_index("truncation")
    assert frame.loc["T42", "tilted by 87°"] == 4e-15 and frame.loc["T21", "tilted by 0°"] == 1e-15


def routine_record():
    rates = {
        ("CLOUDSC", "vector"): 8e3,
        ("CLOUDSC", "scalar"): 4e3,
        ("MXMAOP", "vector"): 3e4,
        ("MXMAOP", "scalar"): 6e3,
    }
    rows = [rate("routine", value, 1e6, routine=name, build=build) for (name, build), value in rates.items()]
    return cases(
        [rate("peak", 1e5, 1e6), *rows],
        routine_name=("name", ["CLOUDSC", "MXMAOP"]),
        divides=("name", [6.0, 0.0]),
    )


def test_routines_in_numbers_have_both_shares_of_peak():
    profile = tables.load("p5plus", "drhook")
    frame = figures.routine_table(routine_record(), profile, 7600.0).set_index("routine")
    assert frame.loc["CLOUDSC", "share 2006"] == pytest.approx(100 * 589 / 7600, abs=0.05)
    assert frame.loc["CLOUDSC", "divisions 2006"] == 4.3 and frame.loc["CLOUDSC", "divisions"] == 6.0
    assert list(frame["vectorised over scalar"]) == [2.0, 5.0]
    assert list(frame["share, vectorised"]) == [8.0, 30.0]


def test_cycles_of_2006_stand_beside_those_counted_here():
    trees = {"LAITLI": tables.load("p5plus", "cpi_laitli"), "CLOUDSC": tables.load("p5plus", "cpi_cloudsc3")}
    counted = {
        "LAITLI": {
            "cpi": 0.5,
            "flops": 110.0,
            "work": 100,
            "shares": {"completing": 0.6, "no instructions": 0.1, "stalled": 0.3},
        }
    }
    frame = figures.cycle_table(trees, counted).set_index(["routine", "where"])
    assert frame.loc[("LAITLI", "Power5, 2006"), "stalled"] == 73.6
    here = frame.loc[("LAITLI", "here")]
    assert list(here) == [60.0, 10.0, 30.0, 0.5, 1.1]
    assert ("CLOUDSC", "here") not in frame.index
    parts = frame[["completing", "no instructions", "stalled"]].sum(axis=1)
    np.testing.assert_allclose(parts, 100.0, atol=0.2)
    assert not figures.cycle_table(trees, {}).isna().any(axis=None)


def test_records_are_a_step_with_small_files_over_one_without():
    each = {"files": 6, "tasks": 24, "steps": 2, "seconds": [1.0, 1.0, 1.0]}
    made = cases([
        {**each, "record_bytes": 10**5, "latency": 0.0}, {**each, "record_bytes": 8 * 10**7, "latency": 0.0},
        {**each, "record_bytes": 8 * 10**7, "latency": 0.01}, {**each, "record_bytes": 10**5, "latency": 0.01},
    ])  # fmt: skip
    made["observed_without"] = (("case", "sample"), [[1e-3] * 3, [1.0] * 3, [1.0] * 3, [1e-3] * 3])
    made["observed_small"] = (("case", "sample"), [[2e-3] * 3, [2e-3] * 3, [0.72] * 3, [0.72] * 3])
    assert list(offered(figures.opens(made))["times"]) == pytest.approx([3.0, 1.002, 1.72, 721.0])
    assert list(offered(figures.records(made))["times"]) == pytest.approx([3.0, 1.002])
    said = figures.small_files_cost(made)
    assert "1.00 times (1.00 to 1.00)" in said and "1.72 times" in said


def test_classes_are_shares_of_the_clock():
    made = record(
        label=("case", ["1 thread", "2 threads"]),
        flags=("case", ["", ""]),
        run_label=("run", ["1 thread", "2 threads"]),
        class_name=("class", ["computing", "waiting at barriers", "serial work"]),
        class_seconds=(("run", "class"), [[8.0, 0.0, 2.0], [4.0, 0.5, 0.5]]),
        class_low=(("run", "class"), [[8.0, 0.0, 2.0], [4.0, 0.5, 0.5]]),
        class_high=(("run", "class"), [[9.0, 0.0, 2.0], [5.0, 0.5, 0.5]]),
    )
    assert "2 threads: computing 80.0 %, waiting at barriers 10.0 %" in figures.classes(made).alt
