"""The experiments of 2014: what is measured, and the outputs computed from given times."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from companion import bench, experiments, tables
from companion.chapters.xc30 import experiments as xc30
from companion.chapters.xc30.experiments import builds, forecast, output
from companion.chapters.xc30.experiments import cases as known_cases
from companion.chapters.xc30.experiments import counters as hardware
from companion.chapters.xc30.experiments import model as small_model
from kernels import shallow_water, spectral
from kernels.files import storm
from kernels.routines import PROFILE


def measurement(minimum=1.0, threads=1, work=None, observed=None, **parameters):
    work = work or {"flops": 0, "parts": {}}
    return SimpleNamespace(
        minimum=minimum,
        threads=threads,
        parameters=parameters,
        work=work,
        repeats=2,
        samples=[minimum],
        flop_rate=work["flops"] / minimum,
        observed=observed or {},
        label=str(parameters),
    )


def test_the_seven_resolutions_are_those_of_the_talk():
    printed = tables.load("xc30", "resolutions")
    pairs = {
        (int(points), int(truncation)) for (points, _), truncation in printed["truncation"].to_series().dropna().items()
    }
    full = [small_model.named(name, 1, 1) for name in small_model.RESOLUTIONS]
    assert {(spectral.grid(problem.grid).points, problem.truncation) for problem in full} == pairs


def test_an_eighth_keeps_the_relation_of_grid_and_truncation():
    letters = {"TL": "linear", "TQ": "quadratic", "TC": "cubic"}
    for case in small_model.resolutions("quick", 1):
        assert case.problem.relation == letters[case.parameters["resolution"][:2]]
        assert case.problem.steps == case.parameters["steps"]


def test_what_does_not_fit_is_left_out(monkeypatch):
    monkeypatch.setattr(small_model.machine, "available_memory", lambda: 10**9)
    left = [case.parameters["resolution"] for case in small_model.resolutions("paper", 1)]
    assert "TL2559" not in left and len(left) < len(small_model.RESOLUTIONS)


def steps_of(name, seconds_by_part):
    """A measurement of the named resolution, with sections of given seconds for all its steps."""
    problem = small_model.named(name, 8, 4)
    parts = dict(shallow_water.work(problem).parts)
    return measurement(
        resolution=name,
        steps=4,
        truncation=problem.truncation,
        work={"flops": sum(parts.values()), "parts": parts},
        observed={part: [2 * seconds] for part, seconds in seconds_by_part.items()},
    )


def test_the_work_model_is_operations_over_measured_rates():
    seconds = {"inverse transforms": 0.3, "direct transforms": 0.5, "grid-point": 0.1, "spectral": 0.02}
    ran = steps_of("TC1279", seconds)
    model = small_model.work_model(ran)
    here, full = (dict(shallow_water.work(small_model.named("TL2559", part, 1)).parts) for part in (8, 1))
    same = dict(shallow_water.work(small_model.named("TC1279", 8, 1)).parts)
    expected = (
        0.8 / 4 * (full["Legendre"] + full["FFT"]) / (same["Legendre"] + same["FFT"])
        + 0.1 / 4 * full["grid-point"] / same["grid-point"]
        + 0.02 / 4 * full["spectral"] / same["spectral"]
    )
    assert model["TL2559"] == pytest.approx(expected)
    assert set(model) == set(small_model.RESOLUTIONS) and here["Legendre"] < full["Legendre"]


def test_costs_keep_measured_and_modelled_apart():
    seconds = {"inverse transforms": 0.3, "direct transforms": 0.5, "grid-point": 0.1, "spectral": 0.02}
    found = small_model.costs([steps_of("TL1279", seconds), steps_of("TL2559", seconds)])
    assert found["measured_step"]["value"] == [pytest.approx(0.92 / 4)] * 2
    assert "TL2559" in found["model_from"]["value"]  # the larger of the two
    assert found["measured_step"]["dims"] != found["model_step"]["dims"]


def test_sections_come_from_the_best_sample_and_leave_a_rest():
    observed = {name: [2.0, 4.0] for name in (*small_model.STEP_SECTIONS, "output", *small_model.SPLIT)}
    one = measurement(observed=observed)
    one.samples = [6.0, 20.0]
    found = small_model.section_table([one])
    assert found["section_seconds"]["value"] == [[1.0] * 5 + [1.0]]
    assert found["section_name"]["value"][-1] == "rest"
    assert found["class_low"]["value"] == [[1.0] * 3] and found["class_seconds"]["value"] == [[1.5] * 3]


def test_share_of_peak_divides_by_the_peak_of_as_many_threads():
    work = {"flops": 100, "parts": {"Legendre": 75, "FFT": 25}}
    found = xc30._share_of_peak(
        [
            measurement(1.0, 1, {"flops": 400, "parts": {}}, what="peak"),
            measurement(1.0, 2, {"flops": 600, "parts": {}}, what="peak"),
            measurement(1.0, 1, work, what="transforms", truncation=9, fields=1),
            measurement(0.5, 2, work, what="transforms", truncation=9, fields=4),
        ]
    )
    assert found["transform_share"]["value"] == [pytest.approx(25.0), pytest.approx(100 * 200 / 600)]
    assert found["fourier_share"]["value"] == [pytest.approx(25.0)] * 2
    assert found["transform_time"]["value"] == [1.0, 0.125]


def test_mean_interval_is_students():
    # textbook: n = 4, s = 1.29099, t(0.975, 3) = 3.18245
    mean, low, high = builds.mean_interval([1.0, 2.0, 3.0, 4.0])
    assert mean == 2.5 and high - mean == pytest.approx(3.182446 * 1.2909944 / 2, rel=1e-6)
    assert mean - low == pytest.approx(high - mean)
    with pytest.raises(ValueError, match="at least 2 values"):
        builds.mean_interval([1.0])


def test_the_interval_covers_its_mean_as_often_as_it_says():
    samples = np.random.default_rng(1).normal(3.0, 2.0, (8, 4000))
    _, low, high = builds.mean_interval(samples)
    assert ((low < 3.0) & (high > 3.0)).mean() == pytest.approx(0.95, abs=0.015)


def test_maps_are_those_of_the_grids_that_ran():
    problem = shallow_water.Problem(truncation=21, case="williamson5", dt=1800.0, hours=6.0, diffusion=48.0)
    cases = [
        bench.Case(
            relation,
            shallow_water,
            replace(problem, grid=shallow_water.grid_for(21, relation)),
            parameters={"relation": relation},
        )
        for relation in ("linear", "cubic")
    ]
    found = small_model.maps(bench.study(cases, progress=False))
    assert found["matching"]["value"] == ["linear", "cubic"]
    rows, columns = len(found["latitude"]["value"]), len(found["longitude"]["value"])
    assert np.shape(found["vorticity"]["value"]) == (2, rows, columns)
    assert found["product_error"]["value"][1].max() == 0.0 < found["product_error"]["value"][0].max()


def small_ensemble(members=2):
    (case,) = builds._cases("quick", 1)
    problem = replace(case.problem, truth=replace(case.problem.truth, dt=900.0), members=members, leads=(6.0, 12.0))
    return replace(case, problem=problem)


def test_scores_come_from_an_ensemble_that_conserves():
    (found,) = bench.study([small_ensemble()], progress=False)
    assert {"truth: mass", "strict: energy", "fast: enstrophy", "wrong 1: mass"} <= {
        check["name"].split(",")[0] for check in found.checks_after
    }
    whole = replace(found.problem.model, hours=12.0)
    truth = replace(found.problem.truth, hours=12.0)
    assert found.work["flops"] == 2 * (shallow_water.work(truth).flops + 4 * shallow_water.work(whole).flops)


def test_storm_counts_the_calls_of_its_steps():
    record = experiments.run("xc30-storm", rounds=1, progress=False)
    problem = storm.Problem(steps=int(record["steps"][0]), tasks=int(record["tasks"][0]), files=int(record["files"][0]))
    calls = storm.expected_calls(problem)
    expected = [sum(calls[name].values()) / problem.steps for name in ("before", "after")]
    np.testing.assert_allclose(record["calls_per_step"], 2 * expected)  # alone, and beside another process
    assert record["step_seconds"].shape == (4, problem.steps)
    assert (record["other_sets"].values > 0).tolist() == [False, False, True, True]
    assert problem.tasks == storm.Problem.preset("paper").tasks


def test_routines_by_build_and_block():
    cases = xc30._routines("quick", 1)
    found = [measurement(2.0, 1, {"flops": 10, "parts": {"divides": 1}}, **case.parameters) for case in cases]
    table = xc30._routine_rates(found)
    assert table["divides"]["value"][0] == pytest.approx(10.0)
    assert table["share_of_peak"]["value"] == [pytest.approx(100.0)] * len(table["routine_name"]["value"])
    assert np.shape(table["nproma_mflops"]["value"]) == (len(xc30.BLOCKED), len(xc30.NPROMA))


def scored(truncations, hours):
    """The study of these truncations, with a truth of truncation 31."""
    return bench.study(known_cases.integrations(truncations, 1200.0, 31, hours, 1), progress=False)


def test_known_cases_are_scored_against_truth_and_start():
    found = known_cases.errors(scored((12, 21), 12.0))
    coarse, fine = found["vorticity_error"]["value"]
    assert 0 < fine < coarse < 1 and found["day"]["value"] == 0.5
    assert found["points"]["value"] == [
        spectral.grid(f"F{shallow_water.rows_for(T, 'quadratic')}").points for T in (12, 21)
    ]
    assert 0 < np.max(found["steady_error"]["value"]) < 1e-12
    assert np.shape(found["steady_error"]["value"]) == (2, len(known_cases.TILTS))
    assert found["published_points"]["value"] == [one.points for one in shallow_water.MOUNTAIN]


def test_published_grids_have_the_points_of_an_icosahedron():
    for one in shallow_water.MOUNTAIN:
        side = round(((one.points - 2) / 10) ** 0.5)
        assert 10 * side**2 + 2 == one.points


def test_counters_of_a_routine_are_ratios_of_its_counts(monkeypatch):
    asked = []

    def per_repeat(source, many):
        asked.append(source)
        return {
            "cycles": 200.0,
            "instructions": 400.0,
            "stalled-cycles-frontend": 20.0,
            "stalled-cycles-backend": 60.0,
            "flops": 1e6,
        }

    monkeypatch.setattr(hardware.counters, "per_repeat", per_repeat)
    found = hardware.routine_counters()
    assert set(found) == set(hardware.ROUTINES) and len(asked) == 2
    for name, one in found.items():
        module, fields = PROFILE[name]
        assert one["cpi"] == 0.5 and one["shares"]["stalled"] == pytest.approx(0.3)
        assert one["work"] == module.work(module.Problem.preset(hardware.PRESET, **fields)).flops > 0
    monkeypatch.setattr(hardware.counters, "per_repeat", lambda source, many: None)
    assert hardware.routine_counters() == {}


@pytest.mark.parametrize("name", hardware.ROUTINES)
def test_the_counted_program_runs(name):
    exec(hardware._PROGRAM.format(name=name, preset="quick"), {"repeats": 1})


def test_a_forecast_books_its_regions_and_has_a_peak_beside_it():
    cases = {case.label: case for case in forecast._cases("quick", 1)}
    assert [case.parameters["what"] for case in cases.values()] == ["forecast", "peak"]
    (case, _) = cases.values()
    short = replace(case.problem, hours=0.5)
    found = forecast._accounted(case.kernel.run(short, case.kernel.setup(short)))
    assert found["calls of advance_strict"] == short.steps > 0
    regions = sum(seconds for name, seconds in found.items() if name.startswith("seconds of "))
    assert regions == pytest.approx(found["computing"] + found["waiting"])


def test_records_keep_the_talks_share_of_small_files_and_reach_its_size():
    whole, cases = storm.Problem.preset("paper"), output._records("paper", 1)
    assert {case.problem.tasks / case.problem.files for case in cases} == {whole.tasks / whole.files}
    talk = tables.load("xc30", "hres_io")
    volume = max(case.problem.record_bytes for case in cases) * float(talk["steps"] * talk["files"])
    assert volume == pytest.approx(1e12 * float(talk["volume"]))
    result = storm.run(problem := replace(cases[0].problem, steps=2, latency=1e-3), storm.setup(problem))
    opens = problem.tasks * len(storm.READ_BY_EVERY_TASK)
    assert output._middle_steps(result)["small"] > 1e-3 * opens and all(c.ok for c in storm.verify(problem, result))


def test_three_builds_are_judged_by_the_paired_test():
    (found,) = bench.study([small_ensemble(3)], progress=False)
    outputs = builds._scores([found])
    assert outputs["build_name"]["value"] == list(builds.BUILDS)
    last, fast, seventh = np.abs(outputs["difference"]["value"]).max(axis=1)
    assert max(last, fast) < float(outputs["rounding"]["value"]) < 1e-3 * seventh
