"""Periodic disturbance of a loop with barriers: the simulation against known cases."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.processor import disturbance


def test_known_cases():
    # together: dt once; apart in steps of their own: dt each; one that begins in another's wait: its rest only
    assert disturbance.simulate(np.full(50, 10.2), 0.25, 1.0, 60.0) == pytest.approx(0.25)
    assert disturbance.simulate(np.arange(40) + 0.5 + 0.25 * np.arange(40), 0.25, 1.0, 60.0) == pytest.approx(10.0)
    assert disturbance.simulate([0.5, 1.1], 0.25, 1.0, 60.0) == pytest.approx(0.25 + 0.1)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 300), st.integers(0, 2**31), st.sampled_from([1e-3, 0.02, 0.3]))
def test_the_loss_lies_between_one_and_all_disturbances(processors, seed, dt):
    phases = np.random.default_rng(seed).uniform(0, 50, processors)
    lost = disturbance.simulate(phases, dt, 0.1, 60.0)
    assert dt * (1 - 1e-9) <= lost <= processors * dt * (1 + 1e-9)


def test_many_processors_lose_what_the_steps_that_are_hit_say():
    # short disturbances: the loss is dt for each different step that is hit
    step, period, dt = 0.06, 60.0, 1e-9
    draws = [np.random.default_rng(seed).uniform(0, period, 500) for seed in range(20)]
    lost = np.mean([disturbance.simulate(phases, dt, step, period) for phases in draws]) / dt
    # different steps of a period that N random moments hit, of S steps: S (1 − (1 − 1/S)^N)
    steps = 1000
    assert lost == pytest.approx(steps * -np.expm1(500 * np.log1p(-1.0 / steps)), rel=0.02)
