"""Chapter 4: outputs of made-up times, the arithmetic of its figures, and what each experiment measures."""

from types import SimpleNamespace

import numpy as np
import pytest
from drawing import cases

from companion import experiments, tables
from companion.chapters.p5plus import binding, jobs, loops, messages, monitoring, systems
from companion.host import doctor, machine
from companion.host.doctor import Finding


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
        assert found[name] == [pytest.approx(value)] * 5, name


def test_without_smt_or_a_second_core_nothing_is_invented():
    alone = factors({kind: TIMES[kind] for kind in ("one thread", "two fused streams")})
    assert all(alone[name] == [None] * 5 for name in ("S", "f", "speedup", "speedup_timed"))
    one_core = factors({kind: seconds for kind, seconds in TIMES.items() if "twice" not in kind})
    assert one_core["f"] == one_core["speedup"] == [None] * 5 and one_core["S"] == [pytest.approx(1.35)] * 5


@pytest.mark.parametrize("smt", [True, False])
def test_two_threads_a_core_are_measured_only_where_cores_have_them(monkeypatch, smt):
    monkeypatch.setattr(doctor, "smt", lambda: Finding("SMT", smt, ""))
    monkeypatch.setattr(machine, "usable_cpus", lambda: 2)
    monkeypatch.setattr(loops, "cores", lambda: 1)
    kinds = {case.parameters["kind"] for case in loops.loops.cases("quick", 1)}
    assert ({"one thread", "two fused streams"} < kinds) is smt and ("SMT" in kinds) is smt
    for case in loops.loops.cases("quick", 1):
        assert (case.problem.streams == 2) == ("fused" in case.parameters["kind"])
    assert {bool(case.parameters["doubled"]) for case in binding.binding.cases("quick", 1)} == {False, smt}


@pytest.mark.parametrize(("siblings", "cores"), [([[0, 2], [1, 3]], 2), ([[0, 1], [2, 3]], 1), (None, 2)])
def test_cores_count_what_this_process_may_use(monkeypatch, siblings, cores):
    monkeypatch.setattr(machine, "affinity_cpus", lambda: [0, 1])
    monkeypatch.setattr(machine, "smt_siblings", lambda: siblings)
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
    about = {"label": "a case", "truncation": 63, "flops": 8}
    rows = [
        {**about, "ranks": 1, "scaling": "strong", "seconds": [4.0] * 3},
        {**about, "ranks": 2, "scaling": "strong", "seconds": [2.5] * 3},
        {**about, "ranks": 4, "scaling": "strong", "seconds": [2.0] * 3, "flags": "oversubscribed"},
        {**about, "ranks": 2, "scaling": "weak", "flops": 4, "seconds": [1.25] * 3},
    ]
    found = jobs.speeds(cases(rows)).set_index(["scaling", "ranks"])["speed"]
    assert found["strong"].to_dict() == {1: pytest.approx(0.625), 2: 1.0, 4: pytest.approx(1.25)}
    assert found["weak"].to_dict() == {2: 1.0, 4: pytest.approx(0.625)}


def test_performance_keeps_the_printed_powers():
    printed, frame = tables.printed("p5plus", "power_performance"), systems.performance()
    direct = frame.iloc[: len(printed)]
    # power for equal performance, recomputed: the printed values are rounded to two or three digits
    np.testing.assert_allclose(printed["power"].iloc[0] / direct["performance of a kW"], printed["power"], rtol=0.02)
    assert frame["performance of a kW"].isna().sum() == 1  # no power of Power4+ is printed


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
    """A second for 1e6 bytes of one pair, twice as long for each further pair; a report's message of 2 MB."""
    rows = [
        {"label": "a case", "ranks": 2, "nbytes": nbytes, "pairs": pairs, "seconds": 3 * [pairs * nbytes / 1e6]}
        for pairs in (1, 4)
        for nbytes in (10**6, 2 * 10**6)
    ]
    shown = messages.exchanged([cases(rows, then_message=2e6, then_tasks=128)])
    assert shown.data.groupby("pairs")["MB_per_s"].max().tolist() == pytest.approx([1.0, 0.25])
    assert "1 pair 1; 4 pairs 1 MB/s" in shown.alt and "between 128 tasks, counted" in shown.html
