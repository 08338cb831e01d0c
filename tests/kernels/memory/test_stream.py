"""STREAM: closed form, plain and non-temporal, at every thread count."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from supercomputers_rerun.kernels.memory import stream
from supercomputers_rerun.kernels.runtime.jit import kernel
from supercomputers_rerun.kernels.runtime.resources import usable_cpus


def all_ok(problem, result):
    return all(check.ok for check in stream.verify(problem, result))


@settings(deadline=None, max_examples=60)
@given(
    lines=st.integers(1, 400),
    operation=st.sampled_from(stream.OPERATIONS),
    nontemporal=st.booleans(),
    threads=st.integers(1, usable_cpus()),
    repeats=st.integers(1, 4),
)
def test_closed_form(lines, operation, nontemporal, threads, repeats):
    problem = stream.Problem(n=8 * lines, operation=operation, nontemporal=nontemporal)
    result = stream.run(problem, stream.setup(problem), threads=threads, repeats=repeats)
    assert all_ok(problem, result)


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 2**32 - 1), lines=st.integers(1, 30), past=st.booleans())
def test_kernels_on_arbitrary_data(seed, lines, past):
    """The constants of STREAM would hide an element taken from the wrong place."""
    generator, n = np.random.default_rng(seed), 8 * lines
    found = [stream.allocate(n, np.float64) for _ in range(3)]
    for name, function in stream.KERNELS.items():
        for array in found:
            array[:] = generator.standard_normal(n)
        expected = [array.copy() for array in found]
        stream.plain(name, *expected)
        function(*found, stream.SCALAR, 1, past)
        np.testing.assert_allclose(found, expected, rtol=1e-15, atol=1e-15)


def test_the_cycle_stays_where_it_is():
    problem = stream.Problem(n=64, operation="cycle")
    a, _b, _c = stream.expected_values(problem, repeats=1000)
    assert a == pytest.approx(1, abs=1e-12)
    assert all_ok(problem, stream.run(problem, stream.setup(problem), repeats=1000))


def test_counted_bytes_and_flops():
    """McCalpin's counts: 16, 16, 24 and 24 bytes an iteration, 0, 1, 1 and 2 flops."""
    counts = {name: stream.work(stream.Problem(n=800, operation=name)) for name in stream.OPERATIONS}
    assert [counts[name].bytes // 800 for name in ("copy", "scale", "add", "triad")] == [16, 16, 24, 24]
    assert [counts[name].flops // 800 for name in ("copy", "scale", "add", "triad")] == [0, 1, 1, 2]
    assert counts["cycle"].bytes == 80 * 800 and counts["cycle"].flops == 4 * 800


@pytest.mark.parametrize("function", stream.KERNELS.values())
def test_stores_are_non_temporal_where_they_are_asked_for(function):
    """Which a loop tells from its argument, outside of its turns."""
    fresh = kernel(cache=False)(function.py_func)
    fresh(*(stream.allocate(8, np.float64) for _ in range(3)), 0.5, 1, True)
    text = next(iter(fresh.inspect_llvm().values()))
    assert {"!nontemporal" in line for line in text.splitlines() if "store <8 x double>" in line} == {True, False}
