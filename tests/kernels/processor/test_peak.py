"""Chains of multiply-adds: every step counted, every chain independent, vector registers used."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from supercomputers_rerun.kernels.processor import peak
from supercomputers_rerun.kernels.runtime.jit import kernel
from supercomputers_rerun.kernels.runtime.resources import usable_cpus


@settings(deadline=None, max_examples=30)
@given(n=st.integers(1, 3000), b=st.integers(-5, 5))
def test_every_step_is_counted(n, b):
    problem = peak.Problem(n=n, b=float(b))
    state = peak.setup(problem)
    np.testing.assert_array_equal(peak.run(problem, state).last[0], state.start + n * b)
    assert all(check.ok for check in peak.verify(problem, peak.run(problem, state, repeats=3)))


@settings(deadline=None, max_examples=30)
@given(a=st.floats(-0.99, 0.99), b=st.floats(-10, 10), n=st.integers(1, 200))
def test_chains_follow_the_recurrence(a, b, n):
    problem = peak.Problem(n=n, a=a, b=b)
    state = peak.setup(problem)
    value = state.start.copy()
    for _ in range(n):
        value = value + a * b if peak.HERE.sums else a * value + b
    np.testing.assert_allclose(peak.run(problem, state).last[0], value, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(peak.reference(problem, state).last[0], value, rtol=1e-9, atol=1e-9)
    assert all(check.ok for check in peak.verify(problem, peak.run(problem, state)))


def test_every_thread_runs_its_own_chains():
    threads = min(2, usable_cpus())
    result = peak.run(peak.Problem(n=10), peak.setup(peak.Problem()), threads=threads)
    assert result.last.shape == (threads, peak.CHAINS * peak.LANES)
    assert len(peak.verify(peak.Problem(n=10), result)) == threads


def test_work_counts_two_operations_a_multiply_add():
    assert peak.work(peak.Problem(n=7)).flops == 2 * 7 * peak.CHAINS * peak.LANES
    assert peak.work(peak.Problem()).bytes == 0


def test_the_loop_holds_every_chain_in_a_register():
    """One fused multiply-add for each chain and no memory operand between the loop's label and jump."""
    loop = kernel(peak.chains_loop.py_func, cache=False)  # a cached one keeps no assembly
    start = peak.setup(peak.Problem()).start
    loop(start, 1.0, 1.0, 1, 1, np.zeros_like(start))
    text = next(iter(loop.inspect_asm().values()))
    register = {8: "zmm", 4: "ymm"}.get(peak.LANES)
    if register is None or "vfmadd" not in text:
        pytest.skip("no AVX with fused multiply-add here")
    loops = re.findall(rf"((?:\tvfmadd[^\n]*\n){{{peak.CHAINS},}})", text)
    assert loops and all(register in line and "(" not in line for line in loops[0].splitlines())
