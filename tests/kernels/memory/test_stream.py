"""STREAM: closed form, plain and non-temporal, at every thread count."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.memory import stream
from kernels.runtime.jit import kernel
from kernels.runtime.resources import usable_cpus


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


@kernel
def triad_of_two_lanes(a, b, c, s, repeats):
    for _ in range(repeats):
        stream.triad_by_address(a, b, c, s)


@settings(deadline=None, max_examples=30)
@given(data=st.data(), lines=st.integers(1, 30))
def test_kernels_on_arbitrary_data(data, lines):
    """The constants of STREAM would hide an element taken from the wrong place."""
    generator = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    n = 8 * lines
    a, b, c = (stream.pages.allocate(n, np.float64) for _ in range(3))
    for functions in (stream.PLAIN, stream.NONTEMPORAL, {"triad": triad_of_two_lanes}):
        for name, function in functions.items():
            for array in (a, b, c):
                array[:] = generator.standard_normal(n)
            expected = {"copy": a.copy(), "scale": 0.3 * c, "add": a + b, "triad": b + 0.3 * c}[name]
            function(a, b, c, 0.3, 1)
            target = {"copy": c, "scale": b, "add": c, "triad": a}[name]
            np.testing.assert_allclose(target, expected, rtol=1e-15, atol=1e-15)


@pytest.mark.parametrize("n", [2**21 - 8, 2**21, 2**21 + 8])
def test_long_arrays_have_the_closed_form(n):
    """On some processors the triad goes another way from 2²¹ elements on."""
    problem = stream.Problem(n=n)
    assert all_ok(problem, stream.run(problem, stream.setup(problem), repeats=2))


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


def test_stores_are_non_temporal():
    for function in stream.NONTEMPORAL.values():
        fresh = kernel(cache=False)(function.py_func)
        fresh(*(stream.pages.allocate(8, np.float64) for _ in range(3)), 0.5, 1)
        assert "!nontemporal" in next(iter(fresh.inspect_llvm().values()))
    fresh = kernel(cache=False)(stream.triad.py_func)
    fresh(*(np.ones(8) for _ in range(3)), 0.5, 1)
    assert "!nontemporal" not in next(iter(fresh.inspect_llvm().values()))
