"""Chapter 4: outputs of made-up times, the arithmetic of its figures, and what each experiment measures."""

from types import SimpleNamespace

import numpy as np
import pytest
from drawing import cases

from companion import experiments, host, tables
from companion.chapters.p5plus import binding, jobs, loops, messages, monitoring
from companion.host import Finding


def measurement(median, **parameters):
    return SimpleNamespace(median=median, parameters=parameters)


#: Seconds of every loop on a machine with two threads a core: S = 2 · 1/T2 and f = T(n)/T(2n) are the report's.
TIMES = {
    "one thread": 1.0,
    "two fused streams": 1.25,
    "SMT": 2 / 1.35,
    "shared work": 1.8,
    "shared work, two threads on one core": 1.5,
    "shared work, twice the threads": 1.0,
}


def factors(times):
    found = [measurement(seconds, loop=loop, kind=kind) for loop in loops.LOOPS for kind, seconds in times.items()]
    return {name: output["value"] for name, output in experiments.find("p5plus-smt").outputs(found).items()}


def test_the_model_with_smt_is_the_reports_arithmetic():
    found = factors(TIMES)
    for name, value in {"S": 1.35, "S_fused": 1.6, "f": 1.8, "speedup": 1.35 * 1.8 / 2, "speedup_timed": 1.2}.items():
        assert found[name] == pytest.approx(5 * [value]), name


def test_without_smt_or_a_second_core_nothing_is_invented():
    alone = factors({kind: TIMES[kind] for kind in ("one thread", "two fused streams")})
    assert np.isnan([alone[name] for name in ("S", "f", "speedup", "speedup_timed")]).all()
    one_core = factors({kind: seconds for kind, seconds in TIMES.items() if "twice" not in kind})
    assert np.isnan([one_core["f"], one_core["speedup"]]).all() and one_core["S"] == pytest.approx(5 * [1.35])


@pytest.mark.parametrize("smt", [True, False])
def test_two_threads_a_core_are_measured_only_where_cores_have_them(monkeypatch, smt):
    monkeypatch.setattr(host, "smt", lambda: Finding("SMT", smt, ""))
    monkeypatch.setattr(host, "usable_cpus", lambda: 2)
    monkeypatch.setattr(loops, "cores", lambda: 1)
    kinds = {case.parameters["kind"] for case in loops.loops.cases("quick", 1)}
    assert ({"one thread", "two fused streams"} < kinds) is smt and ("SMT" in kinds) is smt
    for case in loops.loops.cases("quick", 1):
        assert (case.problem.streams == 2) == ("fused" in case.parameters["kind"])
    assert {bool(case.parameters["doubled"]) for case in binding.binding.cases("quick", 1)} == {False, smt}


@pytest.mark.parametrize(("siblings", "cores"), [([[0, 2], [1, 3]], 2), ([[0, 1], [2, 3]], 1), (None, 2)])
def test_cores_count_what_this_process_may_use(monkeypatch, siblings, cores):
    monkeypatch.setattr(host, "affinity_cpus", lambda: [0, 1])
    monkeypatch.setattr(host, "smt_siblings", lambda: siblings)
    assert loops.cores() == cores


def test_latency_outputs_find_the_plateaus_of_a_made_up_curve():
    sizes = [2**power for power in range(12, 25)]
    steps = [1e-6 if size <= 2**15 else 4e-6 if size <= 2**19 else 80e-6 for size in sizes]
    curve = [
        measurement(seconds, nbytes=size, pattern="random", pages="huge", loads=1000)
        for size, seconds in zip(sizes, steps, strict=True)
    ]
    others = [("random", "small"), ("stride", "huge"), ("stride", "small")]
    rest = [measurement(1.0, nbytes=n, pattern=way, pages=kind, loads=1000) for n in sizes for way, kind in others]
    found = experiments.find("p5plus-latency").outputs(curve + rest)
    assert found["plateau_ns"]["value"] == [pytest.approx(1.0), pytest.approx(4.0), pytest.approx(80.0)]
    assert 2**15 <= found["plateau_capacity"]["value"][0] <= 2**16
    assert found["plateau_capacity"]["value"][-1] is None


def test_the_parts_of_a_job_add_up_to_its_wall_time_and_the_model_of_speed_has_its_limits():
    times = tables.load("p5plus", "ifs_times")
    for job in times["job"].values:
        assert sum(jobs.split(job).values()) == pytest.approx(float(times["wall"].sel(job=job)), abs=4)
    parts = {"compute": 80.0, "communicate": 10.0, "serial": 10.0}
    assert jobs.model_speed(parts, 1, 0.5) == 1
    assert jobs.model_speed(parts, 1e9, 1.0) == pytest.approx(10)  # Amdahl: 100 over the serial 10
    low, high = (jobs.model_speed(parts, 4, exponent) for exponent in (0.0, 1.0))
    assert low < jobs.model_speed(parts, 4, 0.5) < high


def test_speed_is_one_where_each_rank_has_a_processor():
    about = {"label": "a case", "threads": 1}
    rows = [
        {**about, "ranks": 1, "seconds": [4.0] * 3},
        {**about, "ranks": 2, "seconds": [2.5] * 3},
        {**about, "ranks": 4, "seconds": [2.0] * 3, "flags": "oversubscribed"},
    ]
    found = jobs.speeds(cases(rows)).set_index("ranks")["speed"]
    assert found.to_dict() == {1: pytest.approx(0.625), 2: 1.0, 4: pytest.approx(1.25)}


def test_what_the_chapter_says_of_power_is_printed():
    equal, error = tables.printed("p5plus", "power_performance").set_index("system"), tables.load("p5plus", "prose")
    low, high = (equal["power"] * (1 + sign * float(error["power_error"]) / 100) for sign in (-1, 1))
    assert equal["power"].idxmin() == equal["cpus"].idxmax() == "BlueGene L" and equal["power"].idxmax() == "JS21 Blade"
    assert high["BlueGene L"] > low["Power5+"]


def test_the_simulation_recovers_n_dt_while_moments_are_few():
    found = {name: output["value"] for name, output in monitoring.simulation.outputs([]).items()}
    count = np.array(found["processors"])
    for steps, row in zip(found["barriers"], np.array(found["lost"]), strict=True):
        few = count <= steps / 50
        np.testing.assert_allclose(row[few], count[few], rtol=0.03)
        assert (row <= count * (1 + 1e-9)).all()
    after = np.array(found["lost_after"])
    assert np.allclose(after[:, 0], 1) and (np.diff(after, axis=1) > 0).all()


def test_exchange_counts_all_pairs_together():
    about = {"label": "a case", "threads": 1, "ranks": 2}
    rows = [{**about, "nbytes": k * 10**6, "pairs": n, "seconds": 3 * [float(k * n)]} for n in (1, 4) for k in (1, 2)]
    shown = messages.exchanged([cases(rows, then_message=2e6, then_tasks=128)])
    assert shown.data["MB_per_s"].tolist() == [1.0, 1.0, 0.25, 0.25] and set(shown.data["all_pairs_MB_per_s"]) == {1.0}
    assert "between 128 tasks, counted" in shown.html
