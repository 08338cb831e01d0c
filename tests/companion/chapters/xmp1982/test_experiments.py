"""Experiments of chapter 1: what they ask for, and their figures from a record of a few steps."""

from dataclasses import replace

import numpy as np
import pytest

from companion import bench, experiments, tables
from companion.chapters.xmp1982.experiments import forecast, pairs
from companion.chapters.xmp1982.figures import live
from companion.records import runs
from kernels import gridpoint
from kernels.runtime.resources import usable_cpus


def record(id, cases, outputs=None):
    """A record of the cases, by the way that every record goes, but with one round."""
    measured = bench.measure(cases, rounds=1, progress=False)
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
    monkeypatch.setattr(forecast, "sized", lambda preset: small)
    monkeypatch.setattr(pairs, "sized", lambda preset: small)
    return small


def test_every_configuration_of_the_report_has_its_place():
    printed = tables.load("xmp1982", "write_ups")["configuration"].values
    assert set(printed) - {"cray1a-disk4"} == set(forecast.CONFIGURATIONS)
    tests = {name.replace("-async", "") for name in map("+".join, pairs.PAIRINGS)}
    assert tests == set(tables.load("xmp1982", "fig5_3")["test"].values) - {"ecmwf"}


def test_balance_is_that_of_the_report():
    share = forecast.balance()
    assert share["SSD"] == pytest.approx(0.048, abs=0.002)
    assert share["BMR"] / share["SSD"] == pytest.approx(245.76 / 43.50)


def test_forecasts_alone(brief):
    made = record("xmp1982-forecast", forecast._alone("quick", 1), forecast._posts)
    data = runs.dataset([runs.validate(runs.finite(bench.plain(made)))])
    assert (data["observed_net"] > 0).all() and len(data["case"]) == len(forecast.CONFIGURATIONS) + 2
    table = live.forecast_table(data)
    assert len(table) == len(data["case"]) and (table["forecast"] >= table["net"]).all()
    shown = live.net_times(tables.load("xmp1982", "write_ups"), data)
    assert shown is not None


def test_paced_forecasts(brief):
    made = record("xmp1982-overlap", forecast._paced("quick", 1))
    table = live.overlap_table(runs.dataset([runs.validate(runs.finite(bench.plain(made)))]))
    assert list(table["overlap"][1:]) == [overlap for _, overlap in forecast.PACED]
    assert (table["net time [s]"] > 0).all()


@pytest.mark.skipif(usable_cpus() < 2, reason="two CPUs are needed")
def test_pairs_share_a_queue_and_two_processors(brief):
    from kernels.gridpoint import jobs

    problem = replace(brief, physics=False)
    with jobs.Pool() as pool:
        together = pool.pair([forecast.places(problem, "ssd1-async"), forecast.places(problem, "bmr1")])
        forced = pool.pair([forecast.places(problem, "ssd1-async")] * 2, posts=False, one_cpu=True)
    assert [len(each) for each in together.posts] == [len(problem.writeup_steps)] * 2
    digests = {each["digest"] for each in (*together.forecasts, *forced.forecasts)}
    assert digests == {gridpoint.run(problem, gridpoint.setup(problem)).digest}
    assert together.complete >= max(each["clock"] for each in together.forecasts)
    assert np.isfinite([each["transfers"] for each in forced.forecasts]).all()


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
