"""The Dirty Dozen Test: counted work, damaged runs, and the habits of AIPS."""

import dataclasses

import numpy as np
import pytest

from supercomputers_rerun.kernels.imaging import ddt, masters


def test_work_counts_what_moves():
    size = masters.SIZES["small"]
    found = ddt.work(ddt.Problem(task="COMB"), 2)
    assert (found.flops, found.bytes_read, found.bytes_written) == (3 * 256**2, 8 * 256**2, 4 * 256**2)
    assert ddt.work(ddt.Problem(task="ASCAL"), 1).flops == 32 * size.visibilities * size.components


def test_damaged_runs_are_told_from_sound_ones():
    from supercomputers_rerun.kernels.imaging import damage

    found = damage.cases("small")
    accepted = {case.what.split(":")[0]: case.accepted for case in found}
    assert accepted["truth"] and accepted["CLEAN, gain 0.1"]
    assert not accepted["CLEAN, gain 2.2"] and not accepted["VTESS, 10 iterations"] and accepted["VTESS, converged"]
    sound = [case for case in found if case.accepted]
    assert len(sound) == 3 and all(case.flux == pytest.approx(sound[0].flux, rel=0.1) for case in sound)


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
        stored = np.fromfile(state.out / name, np.uint8)
        np.testing.assert_array_equal(stored, np.ascontiguousarray(value).reshape(-1).view(np.uint8))
    lost = dataclasses.replace(result, lines=19)
    assert not all(check.ok for check in ddt.verify(problem, lost))
    state.keep.close()
    other.keep.close()
    assert list(tmp_path.iterdir()) == []
