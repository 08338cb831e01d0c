"""Scalability, monitoring and the other systems: models against known limits, tables against printed numbers."""

import numpy as np
import pytest
import xarray as xr
from drawing import cases

from companion import tables
from companion.chapters.p5plus import figures as p5
from companion.chapters.p5plus.experiments import monitoring
from companion.chapters.p5plus.figures import evidence, profile, threads
from companion.figures.rendering import offered as drawn
from kernels import shallow_water


def test_the_parts_of_a_job_add_up_to_its_wall_time():
    times = tables.load("p5plus", "ifs_times")
    for job in times["job"].values:
        total = sum(evidence.split(times, job).values())
        assert total == pytest.approx(float(times["wall"].sel(job=job)), abs=4)


def test_the_model_of_speed_has_its_limits():
    parts = {"compute": 80.0, "communicate": 10.0, "serial": 10.0}
    assert evidence.model_speed(parts, 1, 0.5) == 1
    assert evidence.model_speed(parts, 1e9, 1.0) == pytest.approx(10)  # Amdahl: 100 over the serial 10
    assert evidence.model_speed({"compute": 5.0, "communicate": 0.0, "serial": 0.0}, 3, 0.5) == pytest.approx(3)
    low, high = (evidence.model_speed(parts, 4, e) for e in (0.0, 1.0))
    assert low < evidence.model_speed(parts, 4, 0.5) < high


def test_performance_keeps_the_printed_powers():
    printed = tables.printed("p5plus", "power_performance")
    frame = evidence.performance(printed, tables.printed("p5plus", "blades"), tables.load("p5plus", "p4_p5"))
    direct = frame.iloc[: len(printed)]
    # power for equal performance, recomputed: the printed values are rounded to two or three digits
    np.testing.assert_allclose(printed["power"].iloc[0] / direct["performance of a kW"], printed["power"], rtol=0.02)
    assert frame["performance of a kW"].isna().sum() == 1  # no power of Power4+ is printed


def test_the_simulation_recovers_n_dt_while_moments_are_few():
    found = monitoring._simulated([])
    lost, count = np.array(found["lost"]["value"]), np.array(found["processors"]["value"])
    for steps, row in zip(found["barriers"]["value"], lost, strict=True):
        few = count <= steps / 50
        np.testing.assert_allclose(row[few], count[few], rtol=0.03)
        assert (row <= count * (1 + 1e-9)).all()
    after = np.array(found["lost_after"]["value"])
    assert np.allclose(after[:, 0], 1) and (np.diff(after, axis=1) > 0).all()


def test_outputs_of_made_up_times():
    def measured(threads, pattern, seconds):
        parameters = {"pattern": pattern, "steps": 8, "period": 4}
        return type("M", (), {"threads": threads, "parameters": parameters, "minimum": seconds,
                              "observed": {"waiting": [0.5]}})  # fmt: skip

    times = {(1, "undisturbed"): 8, (1, "synchronised"): 10, (1, "drifted"): 10,
             (2, "undisturbed"): 8, (2, "synchronised"): 10, (2, "drifted"): 12}  # fmt: skip
    found = monitoring._lost([measured(*key, float(value)) for key, value in times.items()])
    assert found["dt"]["value"] == 1 and found["lost_synchronised"]["value"] == [1, 1]
    assert found["lost_drifted"]["value"] == [1, 2]


def test_every_compiled_region_of_the_model_has_a_name():
    problem = shallow_water.Problem(truncation=15, grid="F12", hours=0.5, dt=900.0, accounts=True)
    result = shallow_water.run(problem, shallow_water.setup(problem))
    assert set(result.parts) == set(profile.REGIONS)


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


def test_the_model_is_the_documents_until_a_machine_with_smt_sends_a_run():
    alone = p5.model(tables.load("p5plus", "smt_model"), [])
    assert len(alone) == 2 and alone.iloc[-1, -1] == threads.UNMEASURED
    outputs = {"S": [1.35], "f": [1.8], "speedup": [1.215], "speedup_timed": [1.2]}
    record = xr.Dataset({name: ("loop", value) for name, value in outputs.items()} | {"loop_name": ("loop", ["s1"])})
    record.attrs["machine"] = "Some CPU, 2 usable CPUs"
    here = p5.model(tables.load("p5plus", "smt_model"), [record]).iloc[1:]
    np.testing.assert_allclose(here["S f/2"], here["S"] * here["f"] / 2)
    assert len(here) == 1 and here.iloc[0, -1] == 1.2


def test_fused_gains_are_rates_over_one_thread():
    """The same work in half the time, from medians."""
    rows = [{"loop": "s1", "kind": kind, "threads": 1, "flops": 10, "seconds": 8 * [seconds]}
            for kind, seconds in (("one thread", 2.0), ("two fused streams", 1.0))]  # fmt: skip
    assert "1 accumulator 2.00" in p5.fused_gains(cases(rows))
