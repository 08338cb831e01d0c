"""Experiments of chapter 1: what they ask for, and their figures from a record of a few steps."""

from dataclasses import replace

import numpy as np
import pytest

from companion import bench, experiments, tables
from companion.chapters.xmp1982.experiments import forecast, overlap, pairs, studies
from companion.chapters.xmp1982.figures import live, overlapping, studied, summary, together
from companion.records import runs
from kernels import gridpoint
from kernels.runtime.resources import usable_cpus


def record(id, cases, outputs=None):
    """A record of the cases, by the way that every record goes, but with one round."""
    measured = bench.measure(cases, rounds=1, progress=False) if cases else []
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


@pytest.fixture
def brief(monkeypatch):
    """Forecasts of two hours with write-ups every hour and radiation each second step."""
    small = gridpoint.Problem(hours=2.5, writeup=1.0, physics=True, radiation=1.5)
    for module in (forecast, overlap, pairs, studies):
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


def test_forecasts_alone_and_their_simulator(brief):
    alone = read(record("xmp1982-forecast", forecast._alone("quick", 1), forecast._posts))
    assert (alone["observed_net"] > 0).all() and len(alone["case"]) >= len(forecast.CONFIGURATIONS) + 2
    stood_in = read(record("xmp1982-simulator", forecast._simulated("quick", 1)))
    names = [tables.load("xmp1982", name) for name in ("fig4_1", "fig4_2", "fig4_4", "write_ups", "sec4_5", "fig5_1")]
    times, ups, parts, both, listed, simulated = names
    shown = [
        live.forecast_times(times, alone),
        live.write_steps(ups, alone),
        live.net_times(both, alone),
        live.cpu_parts(parts, alone),
        live.simulators(both, alone, stood_in),
    ]
    assert all("nan" not in figure.alt and len(figure.alt) > 60 for figure in shown)
    texts = [
        live.times_table(times, alone, name="a", figure="Fig. 4.1"),
        live.times_table(simulated, stood_in, name="b", figure="Fig. 5.1"),
        live.write_steps_table(ups, alone, name="c", figure="Fig. 4.2"),
        live.ratios_table(listed, ups, alone),
        live.parts_table(parts, alone),
    ]
    assert all("nan" not in each.text for each in texts)
    assert summary.day(ups, alone).startswith("Without") and "factor" in summary.places(ups, alone)


@pytest.mark.weekly  # the chapter runs the same experiment and draws the same figures
def test_paced_and_measured_devices(brief):
    made = read(record("xmp1982-overlap", overlap._cases("quick", 1)))
    shown = overlapping.paced_costs(tables.load("xmp1982", "prose"), made)
    assert "paced" in shown.alt and "nan" not in shown.alt
    frame = overlapping.device_costs(made)
    assert {"memory", "page cache"} <= set(frame["device"]) and (frame["efficiency"] > 0).all()
    assert (frame["both overlapped"] > 0).all() and "SSD" in overlapping.paced_table(made).text
    assert overlapping.devices(made).text and "memory" in summary.overlap(made)


@pytest.mark.skipif(usable_cpus() < 2, reason="two CPUs are needed")
def test_pairs_share_a_queue_and_two_processors(brief, monkeypatch):
    from kernels.gridpoint import jobs

    problem = replace(brief, physics=False)
    monkeypatch.setattr(pairs, "PAIRINGS", (("ssd1-async", "bmr1"),))
    monkeypatch.setattr(pairs, "ACCOUNTED", (("ssd1-async",), ("bmr1",)))
    cases = [replace(case, problem=problem) for case in pairs._cases("quick", 1)]
    answer = gridpoint.run(problem, gridpoint.setup(problem)).digest
    with jobs.Pool() as pool:
        forced = pool.pair([forecast.places(problem, "ssd1-async")] * 2, posts=False, one_cpu=True)
    assert {each["digest"] for each in forced.forecasts} == {answer}
    together_ = read(record("xmp1982-pairs", cases, pairs._pairs))
    assert (together_["complete"] >= together_["forecast_clock"].max("job")).all()
    assert (together_["degraded_jobs_beside"] >= 1).all()
    kept = read(record("xmp1982-accounts", cases, pairs._accounts))
    frame = together.overheads(kept)
    assert list(frame["forced"]) == [False, False, True, True] and np.isfinite(frame["transfers"]).all()
    fig5_3, fig5_4, fig5_2, fig5_5 = (tables.load("xmp1982", f"fig{n}") for n in ("5_3", "5_4", "5_2", "5_5"))
    assert "nan" not in together.throughput(fig5_3, together_).alt
    assert "nan" not in together.write_steps(fig5_4, fig5_2, together_).alt
    assert "waits for" in together.accounts(fig5_5, kept).alt and together.accounts_table(kept).text
    assert "one CPU" in together.accounts_table(kept).text and together.pairs_table(fig5_3, together_).text
    assert "gained" in summary.pairs(fig5_3, together_)


def test_published_cases():
    cases = studies._published("quick", 1)
    measured = bench.study(cases, progress=False)
    made = record("xmp1982-baroclinic", [], None) | {"outputs": studies._series(measured)}
    data = read(made)
    assert data["daily_lowest"].sizes == {"test_number": len(studies.CASES), "day": 2}
    assert "hPa" in studied.lowest_pressure(data).alt and "wave" in studied.published_table(data).text


def test_builds_are_drawn_from_their_differences(brief, monkeypatch):
    from kernels.gridpoint import builds

    hours = np.array([0.0, 3.0, 6.0])
    none, some = np.zeros(3), np.array([0.0, 1e-14, 1e-12])
    fields = {name: some for name in builds.FIELDS}
    found = {
        "same": builds.Difference(hours, none, {name: none for name in builds.FIELDS}),
        "other": builds.Difference(hours, np.array([0.0, 0.4, 0.9]), fields),
    }
    monkeypatch.setattr(builds, "differences", lambda problem: found)
    (case,) = studies._one_build("quick", 1)
    made = record("xmp1982-builds", [], None) | {"outputs": studies._others([case])}
    shown = studied.builds(read(made))
    assert "not drawn: same" in shown.alt and "1e-12 K" in shown.alt


def test_a_process_that_dies_is_one_error():
    from kernels.gridpoint import jobs

    pool = jobs.Pool(1)
    try:
        pool.workers[0].process.kill()
        pool.workers[0].process.wait()
        with pytest.raises((RuntimeError, OSError)):
            pool.pair([gridpoint.Problem(hours=1.0)])
    finally:
        for worker in pool.workers:
            worker.process.wait()
