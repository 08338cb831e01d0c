"""The Dirty Dozen Test: every product of a task is looked at, files go, and what is no result is refused."""

import dataclasses

import numpy as np
import pytest

from kernels.imaging import ddt, habits, masters, tasks
from kernels.runtime.resources import usable_cpus


def unnoticed(problem, result):
    """Products whose damage ``verify`` does not see; there is at least one that it looks at."""
    own = ("clean", "largest", "places", "response", "records")
    names = [name for name in result.products if name not in own or problem.task == "UVLOD"]
    assert names
    for name in names:
        value = np.array(result.products[name], copy=True)
        value[...] = value + 7 if name != "rms" else value[::-1]
        changed = dataclasses.replace(result, products=result.products | {name: value})
        if all(check.ok for check in ddt.verify(problem, changed)):
            yield name


@pytest.mark.parametrize("task", tasks.TASKS)
def test_every_product_is_looked_at_and_its_files_go(task):
    problem = ddt.Problem(task=task, size="tiny")
    state = ddt.setup(problem)
    result = ddt.run(problem, state, threads=min(2, usable_cpus()))
    assert {path.name for path in state.files.out.iterdir()} == set(result.products)
    assert result.cpu_s >= 0 and result.real_s > 0  # the system counts processor time by ticks
    assert list(unnoticed(problem, result)) == []
    folder = state.files.out.parent
    state.files.close()
    assert not folder.exists()


def test_work_counts_what_moves():
    size = masters.SIZES["small"]
    found = ddt.work(ddt.Problem(task="COMB"), 2)
    assert (found.flops, found.bytes_read, found.bytes_written) == (3 * 256**2, 8 * 256**2, 4 * 256**2)
    assert ddt.work(ddt.Problem(task="ASCAL"), 1).flops == 32 * size.visibilities * size.components


def test_masters_cannot_be_written():
    with pytest.raises(ValueError, match="read-only"):
        masters.masters("small").dirty[0] = 1


def test_damaged_runs_are_told_from_sound_ones():
    from kernels.imaging import damage

    found = damage.cases("small")
    accepted = {case.what.split(":")[0]: case.accepted for case in found}
    assert accepted["dirty image"] and accepted["CLEAN, gain 0.1"]
    assert not accepted["dirty image, one pixel off"]
    assert not accepted["CLEAN, gain 2.2"] and not accepted["VTESS, 10 iterations"] and accepted["VTESS, converged"]
    sound = [case for case in found if case.accepted and case.image is not None]
    assert len(sound) == 3 and all(case.flux == pytest.approx(sound[0].flux, rel=0.1) for case in sound)
    assert found[1].maximum < found[0].maximum  # rounding every step costs bits


def test_a_loaded_machine_and_a_paced_file(tmp_path):
    problem = ddt.Problem(task="UVLOD", folder=str(tmp_path), beside=1, pace=2.0)
    state = ddt.setup(problem)
    result = ddt.run(problem, state)
    assert all(check.ok for check in ddt.verify(problem, result))
    assert result.real_s > 32 * 8073 / 2e6  # no faster than its pace
    state.files.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("task", ["IMLOD", "UVLOD", "COMB", "UVSRT", "ASCAL", "VTESS"])
def test_a_task_with_aips_habits_gives_the_same_from_the_same_bytes(task, tmp_path):
    problem = ddt.Problem(task=task, size="tiny", folder=str(tmp_path), scratch=True, messages=20)
    state = ddt.setup(problem)
    result = ddt.run(problem, state, repeats=2)
    assert all(check.ok for check in ddt.verify(problem, result))
    assert result.real_s > 20 * 0.0005 and result.lines == 20  # the broker answers late
    plain = ddt.Problem(task=task, size="tiny", folder=str(tmp_path))
    other = ddt.setup(plain)
    expected = ddt.run(plain, other)
    for name, value in expected.products.items():
        np.testing.assert_array_equal(result.products[name], value)
        stored = np.fromfile(state.files.out / name, np.uint8)
        np.testing.assert_array_equal(stored, np.ascontiguousarray(value).reshape(-1).view(np.uint8))
    lost = dataclasses.replace(result, lines=19)
    assert not all(check.ok for check in ddt.verify(problem, lost))
    state.files.close()
    other.files.close()
    assert list(tmp_path.iterdir()) == []


def test_inputs_that_came_otherwise_are_noticed():
    problem = ddt.Problem(task="COMB", size="tiny")
    state = ddt.setup(problem)
    result = ddt.run(problem, state)
    state.files.close()
    other = dataclasses.replace(result, inputs=[result.inputs[0], result.inputs[1] + np.float32(1e-3)])
    assert "inputs that came otherwise" in " ".join(check.name for check in ddt.verify(problem, other) if not check.ok)


def test_pieces_come_back_whole_and_a_short_file_is_refused(tmp_path, monkeypatch):
    data = np.arange(3 * habits.PIECE // 4 + 5, dtype=np.float32)
    habits.put(data, tmp_path / "image")
    back = habits.through_scratch(tmp_path / "image", tmp_path / "scratch").view(np.float32)
    np.testing.assert_array_equal(back, data)
    assert [path.name for path in tmp_path.iterdir()] == ["image"]
    monkeypatch.setattr(habits.os, "preadv", lambda *given: 0)
    with pytest.raises(OSError, match="image ends at byte 0"):
        habits.fetch(tmp_path / "image")
