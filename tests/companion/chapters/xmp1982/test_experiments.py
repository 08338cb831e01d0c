"""Experiments of chapter 1: what they ask for, and their figures from a record of a few steps."""

import numpy as np
import pandas as pd
import pytest

from companion import bench, experiments, tables
from companion.chapters.xmp1982.experiments import devices, forecast, overlap, pairs, sharing, studies
from companion.chapters.xmp1982.figures import live, studied, summary, together
from companion.figures.rendering import offered
from companion.host import limits
from companion.records import runs
from kernels import gridpoint, jobs
from kernels.jobs import workers
from kernels.runtime import resources
from kernels.runtime.resources import usable_cpus


def record(id, cases, outputs=None):
    """A record of the cases, by the way that every record goes, but with one sample."""
    measured = bench.measure(cases, rounds=1, budget=0.0, progress=False) if cases else []
    return {
        "schema": runs.SCHEMA,
        "version": runs.VERSION,
        "experiment": id,
        "document": "xmp1982",
        "item": "X2",
        "title": "t",
        "preset": "quick",
        "threads": 1,
        "seed": 0,
        "date": runs.now(),
        "simulated": False,
        "machine": experiments.machine.describe(),
        "measurements": [each.recorded() for each in measured],
        "outputs": outputs(measured) if outputs else {},
    }


@pytest.fixture(scope="module", autouse=True)
def pool():
    """The processes of jobs live from one test to the next: each start reads all compiled code."""
    yield workers.shared()


@pytest.fixture
def brief(monkeypatch):
    """Forecasts of two hours with write-ups every hour and radiation each second step."""
    small = gridpoint.Problem(hours=2.5, writeup=1.0, physics=True, radiation=1.5)
    for module in (forecast, overlap, pairs):
        monkeypatch.setattr(module, "sized", lambda preset: small)
    return small


def read(made):
    return runs.dataset([runs.validate(runs.finite(bench.plain(made)))])


def test_every_configuration_of_the_report_has_its_place():
    printed = tables.load("xmp1982", "write_ups")["configuration"].values
    assert set(printed) - {"cray1a-disk4"} == set(forecast.CONFIGURATIONS)
    tests = {name.replace("-async", "") for name in map("+".join, pairs.PAIRINGS)}
    assert tests == set(tables.load("xmp1982", "fig5_3")["test"].values) - {"ecmwf"}
    kept = {name.replace("-async", "") for name in map("+".join, pairs.ACCOUNTED)}
    assert {
        "disk4" if name.startswith("disk4-") else name for name in tables.load("xmp1982", "fig5_5")["test"].values
    } == kept


def test_balance_is_that_of_the_report():
    share = overlap.balance()
    assert share["SSD"] == pytest.approx(0.048, abs=0.002)
    assert share["BMR"] / share["SSD"] == pytest.approx(245.76 / 43.50)


@pytest.mark.skipif(usable_cpus() < 2, reason="two CPUs are needed")
def test_what_pairs_are_worth_is_held_to_the_same_jobs_alone(brief, monkeypatch):
    monkeypatch.setattr(pairs, "PAIRINGS", (("ssd1-async", "bmr1"),))
    monkeypatch.setattr(pairs, "HOURS", {"quick": brief.hours})
    measured = bench.measure(pairs._pairs("one each", "synchronous")("quick", 1), rounds=1, budget=0.0, progress=False)
    assert [each.parameters["test"] for each in measured] == ["ssd1-async", "bmr1", "ssd1-async+bmr1"]
    assert all(job.problem.overlap == "none" for each in measured for job in each.problem.jobs)
    found = pairs.worth(measured)
    one, other, both = (np.array(each.observed["complete"]) for each in measured)
    np.testing.assert_allclose(found["throughput"]["value"], ((one + other) / both)[:, None])
    made = read(
        record("xmp1982-pairs", [], None) | {"measurements": [each.recorded() for each in measured], "outputs": found}
    )
    (worth,) = together.measured_worth(made).itertuples()
    assert (worth.Index, worth.middle) == ("ssd1+bmr1", pytest.approx(np.median((one + other) / both)))
    fig5_1, fig5_2, fig5_3, fig5_4 = (tables.load("xmp1982", f"fig5_{n}") for n in (1, 2, 3, 4))
    monkeypatch.setattr(together, "printed_worth", lambda *_: pd.Series({"ssd1+bmr1": 1.9}))
    assert "1.90 to 1.90 in 1982" in together.worth(fig5_1, fig5_3, made, made).alt
    assert "nan" not in together.write_steps(fig5_4, fig5_2, made).alt
    assert together.pairs_table(fig5_3, made).text and worth.said in summary.pairs(fig5_1, fig5_3, made, made)[1]
    lost = together.lost(together.printed_parts(*(tables.printed("xmp1982", f"fig5_{n}") for n in (1, 2, 3, 4))), made)
    assert list(offered(lost)["row"]) == [f"{part}, no disk" for part in together.PARTS]


def test_the_second_cpu_of_1982_is_held_to_the_same_places():
    alone, both = tables.load("xmp1982", "fig5_1"), tables.load("xmp1982", "fig5_3")
    found = together.printed_worth(alone, both)
    assert found["disk4+disk4"] == pytest.approx(2 * (779 + 5 * 42.2) / 1176)
    assert found["ssd1+disk4"] == pytest.approx((679 + 5 * 41.5 + 779 + 5 * 42.2) / 1172)
    assert (round(found.min(), 2), round(found.max(), 2)) == (1.60, 1.92)
    assert found.max() < 2 < together.printed_worth(alone, both, "async").max()
    assert "would give up to 2.03" in summary.references(alone, both)
    paired, usual = together.printed_parts(*(tables.printed("xmp1982", f"fig5_{n}") for n in (1, 2, 3, 4)))
    first = (paired - usual).iloc[0]
    assert list(first) == [770 - 675, 156 - 104, pytest.approx(230 - 5 * 42.2)]
    lost = (paired - usual)[paired.index.str.contains("disk")].sum()
    assert lost["post-processing"] > lost["net forecast"] > lost["write-up steps"]


@pytest.mark.skipif(usable_cpus() < 2, reason="two CPUs are needed")
def test_what_takes_the_rest_is_measured_step_by_step(brief, monkeypatch):
    monkeypatch.setattr(pairs, "HOURS", {"quick": 1.0})
    made = read(record("xmp1982-limits", pairs._limits("quick", 1), pairs.worth))
    assert "registers" in together.limits(made).alt and "The other 5 pairs share" in together.limits_said(made)
    less = read(record("xmp1982-degraded", forecast._less("quick", 1)))
    fig4_1, fig4_3 = tables.load("xmp1982", "fig4_1"), tables.load("xmp1982", "fig4_3_times")
    assert "second CPU" in live.degraded(fig4_1, fig4_3, less).text and "as in 1982" in live.degraded_said(
        fig4_1, fig4_3, less
    )
    shown = live.completed(fig4_1, fig4_3, less)
    assert "took 0.92; medians" in shown.alt and "usual, in turn 1.00" in shown.alt and "nan" not in shown.alt


MODERN = ("forecast", "pairs", "pairs-synchronous", "pairs-free", "overlap", "devices", "sharing")


@pytest.mark.skipif(usable_cpus() < 2, reason="two CPUs are needed")
def test_modern_forecasts_take_less_memory_than_their_state(monkeypatch):
    entries = [entry for entry in experiments.REGISTER.values() if entry.document == "xmp1982"]
    offered_by = {entry.id.removeprefix("xmp1982-"): entry for entry in entries if "modern" in entry.presets}
    assert set(offered_by) == set(MODERN)
    for name in MODERN[:5]:
        cases = offered_by[name].cases("modern", 1)
        assert len(cases) > 2
        for case in cases:
            problems = [job.problem for job in case.problem.jobs] if case.kernel is jobs else [case.problem]
            for problem in problems:
                assert problem.place in ("cache", "direct")
                assert gridpoint.footprint(problem).memory <= problem.allowed < gridpoint.record_bytes(problem)
        monkeypatch.setattr(resources, "available_memory", lambda *_, **__: 2**27)
        with pytest.raises(MemoryError, match=f"^{name}, .* needs .* are available"):
            limits.require_cases(name, cases)
        monkeypatch.undo()


@pytest.mark.skipif(usable_cpus() < 2, reason="two CPUs are needed")
def test_forecasts_of_bounded_memory_are_measured_like_others(monkeypatch):
    bounded = gridpoint.Problem(
        hours=1.5, writeup=0.0, physics=True, files=2, place="cache", overlap="both", lines=3, allowed=1e8
    )
    for module in (forecast, overlap, pairs):
        monkeypatch.setattr(module, "sized", lambda preset: bounded)
    monkeypatch.setattr(pairs, "HOURS", {"modern": bounded.hours})
    made = read(record("xmp1982-forecast", forecast._alone("modern", 1), forecast._posts))
    assert list(made["label"].values) == [
        "in the page cache", "in the page cache, two threads", "disk4", "bmr1", "bmr1-overlapped"
    ]  # fmt: skip
    found = record("xmp1982-pairs", pairs._pairs("one each", "overlapped")("modern", 1), pairs.worth)
    assert found["outputs"]["pairing"]["value"] == ["disk4+disk4", "bmr1+disk4"]
    waited = record("xmp1982-overlap", overlap._cases("modern", 1))["measurements"]
    assert [each["label"] for each in waited][:4] == [f"page cache, {way}" for way in ("none", "one", "both", "alone")]


def test_published_cases():
    cases = studies._published("quick", 1)
    measured = bench.study(cases, progress=False)
    made = record("xmp1982-baroclinic", [], None) | {"outputs": studies._series(measured)}
    data = read(made)
    assert data["daily_lowest"].sizes == {"test_number": len(studies.CASES), "day": 2}
    assert "hPa" in studied.lowest_pressure(data).alt and "wave" in studied.published_table(data).text
    for number, label in enumerate(("wave", "wave, half as fine")):
        *_, pressure, warmth = studied._map(data, number)
        lowest = data["daily_lowest"].values[list(studies.CASES).index(label), 1]
        assert pressure.min() == pytest.approx(lowest, abs=0.1) and 200 < warmth.min() < warmth.max() < 330
    assert "on day 1 of" in studied.weather(data).alt


def test_builds_are_drawn_from_their_differences():
    from types import SimpleNamespace

    from kernels.jobs import builds

    hours = np.array([0.0, 3.0, 6.0])
    none, some = np.zeros(3), np.array([0.0, 1e-14, 1e-12])
    fields = {name: some for name in builds.FIELDS}
    found = {
        "same": builds.Difference(hours, none, {name: none for name in builds.FIELDS}),
        "other": builds.Difference(hours, np.array([0.0, 0.4, 0.9]), fields),
    }
    measured = SimpleNamespace(result=builds.Builds(found, ()))
    made = record("xmp1982-builds", [], None) | {"outputs": studies._others([measured])}
    shown = studied.builds(read(made))
    assert "not drawn: same" in shown.alt and "1e-12 K" in shown.alt


def test_records_and_transfers_are_the_report_s():
    printed = tables.printed("xmp1982", "fig7_2").set_index("test")
    compared = 0
    for case in devices._cases("paper", 1):
        name = case.parameters["test"]
        if name in printed.index and not name.startswith("disks"):
            jobs = devices.TESTS[name]
            assert case.problem.jobs[0].record == float(printed.loc[name, "record_length"])
            assert sum(job[2] for job in jobs if job[0] == jobs[0][0]) == float(printed.loc[name, "transfers"])
            compared += 1
    assert compared >= 4
    pair = [transfers for _place, _factor, transfers in devices.TESTS["disks-both"]]
    assert pair == [float(printed.loc[f"disks-{each}", "transfers"]) for each in ("diop", "biop")]


def test_halves_of_a_forecast_are_told_apart():
    class Step:
        def __init__(self, number):
            self.number, self.kind, self.clock = number, "normal", 2.0 if number < 10 else 3.0

    found = sharing.steps_of(type("Result", (), {"steps": [Step(n) for n in range(20)]}))
    assert found["first_day"] == 2.0 and found["second_day"] == 3.0
