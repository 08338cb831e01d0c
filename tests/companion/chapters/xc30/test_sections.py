"""The experiments of 2014: what is measured, what records hold of given measurements, and that each run is drawn."""

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr
from drawing import cases

from supercomputers_rerun.companion import bench, tables
from supercomputers_rerun.companion.chapters.xc30 import (
    common,
    communication,
    compilers,
    peak,
    resolutions,
    small_files,
)
from supercomputers_rerun.kernels import spectral
from supercomputers_rerun.kernels.files import storm
from supercomputers_rerun.kernels.mpi import halo, mesh


def test_the_seven_resolutions_are_those_of_the_talk():
    printed = tables.load("xc30", "resolutions")["truncation"].to_series().dropna()
    pairs = {(int(points), int(truncation)) for (points, _), truncation in printed.items()}
    full = [common.named(name, 1, 1) for name in resolutions.RESOLUTIONS]
    assert {(spectral.grid(problem.grid).points, problem.truncation) for problem in full} == pairs


def rate(what, value, threads=1, **coordinates):
    """A case of one kind that reaches ``value`` GFLOPS in its median sample."""
    each = {"truncation": 0, "fields": 0, "threads": threads}
    return {**each, "what": what, **coordinates, "flops": int(value * 1e9), "seconds": [1.0, 1.25, 0.8]}


def test_a_share_is_of_the_peak_of_as_many_threads():
    run = cases(
        [rate("peak", 100.0), rate("peak", 150.0, 2)]
        + [rate("transforms", 25.0, truncation=9, fields=1), rate("transforms", 75.0, 2, truncation=9, fields=8)]
    )
    assert peak.shares(run, "transforms")["share"].tolist() == [25.0, 50.0]


def test_without_a_run_of_the_transforms_the_forecast_is_alone(monkeypatch):
    monkeypatch.setattr(peak, "partner", lambda run, experiment: None)
    run = cases([rate("peak", 100.0, 2), rate("forecast", 40.0, 2, truncation=255)])
    (row,) = peak.cores_now(run).itertuples()
    assert (row.share, row.rate, row.peak) == (40.0, 20.0, 50.0)


def test_three_builds_are_judged_by_the_paired_test():
    (case,) = compilers.scored.cases("quick", 1)
    problem = replace(case.problem, truth=replace(case.problem.truth, dt=900.0), members=3, leads=(6.0, 12.0))
    (found,) = bench.study([replace(case, problem=problem)], progress=False)
    checked = {check["name"].split(",")[0] for check in found.checks_after}
    assert {"truth: mass", "strict: energy", "fast: enstrophy", "wrong 1: mass"} <= checked
    outputs = compilers.scores([replace(found, parameters={"members": 3})])
    last, fast, seventh = np.abs(outputs["difference"].value).max(axis=1)
    assert max(last, fast) < outputs["rounding"].value < 1e-3 * seventh
    # Student's t of three pairs, 95 %: 4.30265
    pairs = found.result.fast - found.result.strict
    half = 4.302653 * pairs.std(axis=0, ddof=1) / np.sqrt(3)
    np.testing.assert_allclose(outputs["difference_high"].value[1], pairs.mean(axis=0) + half, rtol=1e-6)


def test_records_keep_the_talks_share_of_small_files_and_reach_its_size():
    whole, asked = storm.Problem.preset("paper"), small_files.records.cases("paper", 1)
    assert {case.problem.tasks / case.problem.files for case in asked} == {whole.tasks / whole.files}
    talk = tables.load("xc30", "hres_io")
    volume = max(case.problem.record_bytes for case in asked) * float(talk["steps"] * talk["files"])
    assert volume == pytest.approx(1e12 * float(talk["volume"]))
    result = storm.run(problem := replace(asked[0].problem, steps=2, latency=1e-3), storm.setup(problem))
    opens = problem.tasks * small_files.by_task()
    assert small_files.middle_steps(result)["small"] > 1e-3 * opens and all(c.ok for c in storm.verify(problem, result))


def test_the_talks_forecast_is_counted_on_its_grid_for_all_its_steps(monkeypatch):
    """T1279 on N640; ten days of steps of 600 s are 1440. A GB each for transpositions, 2 and 4 for halos of a third
    and two thirds of the fields: 1.44 · (1 + 2/3 + 8/3) TB."""
    grids = set()

    def sent(grid, *_):
        grids.add(grid)
        return mesh.Count(1, 10**9)

    monkeypatch.setattr(mesh, "forecast", sent)
    monkeypatch.setattr(halo, "count_messages", lambda p, _: mesh.Count(1, {"fixed": 2, "on demand": 4}[p.way] * 10**9))
    found = communication.counted().iloc[0]
    assert grids == {"N640"} and found.tolist() == pytest.approx([1.44, 2.88, 5.76, 6.24])


def test_steps_of_small_records_fill_half_a_gigabyte_at_most_and_slow_opens_have_two():
    for preset in ("quick", "paper"):
        for case in small_files.records.cases(preset, 1):
            p = case.problem
            most = min(25, max(2, 2**29 // (p.record_bytes * p.files)))
            assert p.steps == (2 if p.latency else most) and p.record_bytes in (2**16, 80_000_000)


def test_as_many_threads_on_fewer_ranks_are_cases_of_their_own_and_compared(monkeypatch):
    monkeypatch.setattr(communication.host, "usable_cpus", lambda: 8)
    found = [(case.problem.ranks, case.threads) for case in communication.ranks.cases("quick", 1, 16)]
    assert found == [(1, 1), (2, 1), (2, 8), (4, 1), (4, 4), (8, 1), (8, 2), (16, 1)]  # 16 threads are more than usable
    about = {"ranks": ("case", [1, 1, 2]), "threads": ("case", [1, 2, 1])}
    seconds = np.array([10.0, 6.0, 5.0])[:, None] * np.linspace(0.99, 1.01, 7)
    run = xr.Dataset({"seconds": (("case", "sample"), seconds)}, about)
    said = communication.divided(run)
    assert "1 rank of 2 threads takes 1.200 times (95 %" in said and "as long as 2 ranks." in said
    assert "takes companion run xc30-ranks" in communication.divided(run.isel(case=[0, 2]))


def test_a_forecast_has_the_same_bits_where_all_its_checksums_agree():
    checksums = np.array([[5.0, 5.0], [5.0, np.nan]])
    about = {"ranks": ("case", [1, 2]), "steps": ("case", [6, 6])}
    run = xr.Dataset({"observed_checksum": (("case", "sample"), checksums)}, about)
    assert "the same bits after 6 steps on 2 ranks as on 1" in communication.same_bits(run)
    checksums[1, 0] = 6.0
    other = xr.Dataset({"observed_checksum": (("case", "sample"), checksums)}, about)
    assert "ours is not" in communication.same_bits(other)
    assert communication.same_bits(run.drop_vars("observed_checksum")) == ""
