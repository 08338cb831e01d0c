"""The Dirty Dozen Test at its small size: every task runs, is verified, and agrees with its reference."""

import dataclasses

import numpy as np
import pytest

from kernels.contract import Kernel
from kernels.imaging import ddt, masters, tasks
from kernels.runtime.resources import usable_cpus


def test_the_test_answers_to_the_words_of_a_kernel():
    assert isinstance(ddt, Kernel)
    assert ddt.Problem.preset("paper", task="APCLN").size == "large"


@pytest.mark.parametrize("task", tasks.TASKS)
def test_a_small_problem_is_verified_and_agrees_with_its_reference(task):
    problem = ddt.Problem(task=task)
    state = ddt.setup(problem)
    result = ddt.run(problem, state, threads=min(2, usable_cpus()))
    for check in ddt.verify(problem, result):
        assert check.ok, str(check)
    expected = ddt.reference(problem, state)
    assert type(expected) is type(result) and expected.products.keys() == result.products.keys()
    for name, value in result.products.items():
        ours, slow = np.asarray(value), np.asarray(expected.products[name])
        assert ours.shape == slow.shape
        if name not in ("places", "fluxes") and task != "MXCLN":  # equal peaks may come in another order
            assert np.abs(ours - slow).max() <= 2e-5 * max(np.abs(slow).max(), 1e-30)
    assert {path.name for path in state.files.out.iterdir()} == set(result.products)
    assert result.cpu_s >= 0 and result.real_s > 0  # the system counts processor time by ticks
    folder = state.files.out.parent
    state.files.close()
    assert not folder.exists()


@pytest.mark.parametrize("task", tasks.TASKS)
def test_a_damaged_product_is_noticed(task):
    problem = ddt.Problem(task=task)
    state = ddt.setup(problem)
    result = ddt.run(problem, state)
    noticed = []
    for name, value in result.products.items():
        if name in ("clean", "largest", "entropy", "places", "response", "records") and task not in ("UVLOD",):
            continue
        broken = np.array(value, copy=True)
        broken[...] = broken + 7 if name != "rms" else broken[::-1]
        changed = dataclasses.replace(result, products=result.products | {name: broken})
        noticed.append(not all(check.ok for check in ddt.verify(problem, changed)))
    assert noticed and all(noticed)


def test_work_counts_what_moves():
    size = masters.SIZES["small"]
    found = ddt.work(ddt.Problem(task="COMB"), 2)
    assert (found.flops, found.bytes_read, found.bytes_written) == (3 * 256**2, 8 * 256**2, 4 * 256**2)
    assert ddt.work(ddt.Problem(task="ASCAL"), 1).flops == 32 * size.visibilities * size.components


@pytest.mark.parametrize(
    ("field", "value"), [("task", "UVMOP"), ("size", "huge"), ("method", "fast"), ("reader", "tape")]
)
def test_nonsense_is_refused(field, value):
    with pytest.raises(ValueError, match=f"{field} = '{value}' is unknown"):
        ddt.Problem(**{field: value})


def test_masters_cannot_be_written():
    with pytest.raises(ValueError, match="read-only"):
        masters.masters("small").dirty[0] = 1


def test_damaged_runs_are_told_from_sound_ones():
    from kernels.imaging import damage

    found = damage.cases("small")
    accepted = {case.what.split(":")[0]: case.accepted for case in found}
    assert accepted["dirty image"] and accepted["CLEAN, gain 0.1"]
    assert not accepted["dirty image, one pixel off"]
    assert not accepted["CLEAN, gain 2.2"] and not accepted["VTESS, 10 iterations"]
    assert found[1].maximum < found[0].maximum  # rounding every step costs bits


def test_a_loaded_machine_and_a_paced_file(tmp_path):
    problem = ddt.Problem(task="UVLOD", folder=str(tmp_path), beside=1, pace=2.0)
    state = ddt.setup(problem)
    result = ddt.run(problem, state)
    assert all(check.ok for check in ddt.verify(problem, result))
    assert result.real_s > 32 * 8073 / 2e6  # no faster than its pace
    state.files.close()
    assert list(tmp_path.iterdir()) == []
