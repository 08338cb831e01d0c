"""Strided sums: exact at every size, stride, thread count and page policy."""

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.memory import stride
from kernels.memory.sums import LARGEST_FEW, turn_lines
from kernels.runtime import pages
from kernels.runtime.jit import kernel
from kernels.runtime.resources import usable_cpus


def all_ok(problem, result):
    return all(check.ok for check in stride.verify(problem, result))


@settings(deadline=None, max_examples=60)
@given(
    items=st.integers(1024, 6000),
    step=st.integers(1, 10) | st.integers(1, 1024),
    loads=st.sampled_from(stride.LOADS),
    seed=st.integers(0, 100),
    repeats=st.integers(1, 3),
)
def test_sum_is_exact(items, step, loads, seed, repeats):
    problem = stride.Problem(nbytes=4 * items, stride=step, loads=loads)
    state = stride.setup(problem, seed)
    result = stride.run(problem, state, repeats=repeats)
    assert result.sums.tolist() == stride.reference(problem, state).sums.tolist()
    assert all_ok(problem, result)


@pytest.mark.parametrize("method", stride.METHODS)
@pytest.mark.parametrize("step", [*range(1, stride.LARGEST_IN_LINE + 2), 100])
def test_every_method_sums_every_rest(method, step):
    """What is left over behind whole turns, of two streams and of one, has every length; the array ends there."""
    if method.startswith("lines") and step > stride.LARGEST_IN_LINE:
        pytest.skip("whole lines are summed up to stride 8")
    turn = 16 * max(16, turn_lines(step)) if method.startswith("lines") else 32 * step
    function, ahead = stride.METHODS[method]
    whole = np.empty(LARGEST_FEW * step if method.startswith("few") else 3 * turn, np.uint32)
    stride.fill(whole, 5)
    for items in range(1, whole.size + 1, 3):
        a, out = whole[-items:], np.zeros(16, np.uint32)
        function(a, items, step, ahead, 2, out)
        assert out[:3].tolist() == [a[::step].sum(dtype=np.uint32), 2, 0]


@pytest.mark.parametrize("interrupted", [0, 2])
@pytest.mark.parametrize("fastest", ["items", "gathers"])
def test_a_state_keeps_the_fastest_method_of_each_problem_and_team(monkeypatch, fastest, interrupted):
    """Slower ones leave the trial after two rounds and after four; one sample that was interrupted decides nothing."""
    now, tried, read = [0.0], [], stride._read

    def timed(problem, a, method, repeats):
        tried.append(method)
        slow = method != fastest or tried.count(method) == interrupted
        now[0] += 0.002 if slow else 0.001
        return read(problem, a, method, repeats)

    monkeypatch.setattr(stride, "_read", timed)
    monkeypatch.setattr(stride.time, "perf_counter", lambda: now[0])
    problem = stride.Problem(nbytes=2**14, stride=8, loads="any")
    state = stride.setup(problem)
    assert stride.run(problem, state).method == fastest
    assert set(tried) == set(problem.methods)
    rounds = sorted(tried.count(method) for method in problem.methods)
    assert rounds[0] == 2 and rounds[len(problem.methods) - 8] >= 4 and rounds[-1] >= 8
    tried.clear()
    assert stride.run(problem, state, repeats=2).method == fastest and tried == [fastest]
    assert set(state.methods) == {(problem, 1)}


@pytest.mark.parametrize("step", [1, 7])
def test_every_thread_has_its_own_exact_sum(step):
    problem = stride.Problem(nbytes=40_000, stride=step)
    alone = stride.run(problem, stride.setup(problem))
    state = stride.setup(problem)
    team = stride.run(problem, state, threads=usable_cpus(), repeats=3)
    assert len(team.sums) == usable_cpus()
    assert team.sums[0] == alone.sums[0]
    assert team.sums.tolist() == stride.reference(problem, state).sums.tolist()
    assert all_ok(problem, team)
    if usable_cpus() > 1:
        assert len(set(team.sums.tolist())) > 1, "threads read one and the same array"


@pytest.mark.parametrize("pages", pages.POLICIES)
@pytest.mark.parametrize("binding", [False, hasattr(os, "sched_setaffinity")])
def test_pages_and_binding_change_no_result(pages, binding):
    plain = stride.Problem(nbytes=2**22, stride=3)
    problem = stride.Problem(nbytes=2**22, stride=3, pages=pages, binding=binding)
    result = stride.run(problem, stride.setup(problem))
    assert result.sums.tolist() == stride.run(plain, stride.setup(plain)).sums.tolist()
    assert result.huge is None or 0 <= result.huge <= 1


@pytest.mark.skipif(not pages.can_advise(), reason="this system takes no wish for a page size")
def test_small_pages_are_small_and_alignment_holds():
    small = pages.allocate(2**20, np.uint32, "small")
    small[:] = 1
    assert pages.huge_fraction(small) in (0, None)
    huge = pages.allocate(2**20, np.uint32, "huge")
    assert huge.ctypes.data % 2**21 == 0
    assert pages.allocate(100, np.float64).ctypes.data % 64 == 0


def test_passes_are_not_optimised_away(method="items"):
    """The compiled loops, which are one with other sums, load and add in every pass: the barrier stands in the code."""
    function, ahead = stride.METHODS[method]
    fresh = kernel(cache=False)(function.py_func)
    fresh(np.zeros(1024, np.uint32), 1024, 3, ahead, 2, np.zeros(16, np.uint32))
    text = next(iter(fresh.inspect_llvm().values()))
    assert "asm sideeffect" in text and "~{memory}" in text


def test_counted_reads():
    for items, step in ((1024, 1), (1024, 16), (1025, 16), (5000, 7)):
        problem = stride.Problem(nbytes=4 * items, stride=step)
        places = np.arange(0, items, step)
        assert stride.work(problem).bytes == 4 * places.size
