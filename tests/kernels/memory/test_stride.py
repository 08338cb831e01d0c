"""Strided sums: exact at every size, stride, thread count and page policy."""

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.contract import Kernel
from kernels.memory import stride
from kernels.memory.sums import turn_lines
from kernels.runtime import pages, resources
from kernels.runtime.jit import kernel
from kernels.runtime.resources import usable_cpus


def all_ok(problem, result):
    return all(check.ok for check in stride.verify(problem, result))


def test_answers_to_the_contract():
    assert isinstance(stride, Kernel)
    for name in stride.Problem.PRESETS:
        assert stride.Problem.preset(name).nbytes >= 2**20


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


@pytest.mark.parametrize("loads", stride.LOADS)
@pytest.mark.parametrize("step", range(1, stride.LARGEST_IN_LINE + 2))
def test_every_rest_behind_whole_turns_is_summed(step, loads):
    """What is left over behind the last whole turn of cache lines has every length."""
    turn = 16 * max(16, turn_lines(step)) if step <= stride.LARGEST_IN_LINE else 8 * step
    state = stride.setup(stride.Problem(nbytes=4 * (1024 + turn), stride=step))
    for items in range(1024, 1024 + turn + 1, 3):
        problem = stride.Problem(nbytes=4 * items, stride=step, loads=loads)
        stride.serve(problem, state)
        assert all_ok(problem, stride.run(problem, state))


@pytest.mark.parametrize("step", [1024, 1025, 4000])
def test_a_long_walk_asks_for_its_items_ahead(step):
    for nbytes, ahead in ((2**24, True), (2**24 + 4 * 12345, True), (2**23, False)):
        problem = stride.Problem(nbytes=nbytes, stride=step)
        assert problem.ahead is ahead
        state = stride.setup(problem)
        result = stride.run(problem, state)
        assert result.sums.tolist() == stride.reference(problem, state).sums.tolist()
        assert all_ok(problem, result)
    assert not stride.Problem(nbytes=2**24, stride=1023).ahead


def test_vectors_of_whole_lines_up_to_the_largest_stride_that_shares_them():
    for step in (1, 2, 8):
        assert stride.Problem(nbytes=2**14, stride=step).in_lines
        assert not stride.Problem(nbytes=2**14, stride=step, loads="scalar").in_lines
    assert not stride.Problem(nbytes=2**14, stride=9).in_lines


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


@pytest.mark.parametrize("broken", ["sums", "passes"])
def test_verify_sees_a_wrong_result(broken):
    problem = stride.Problem(nbytes=4096)
    result = stride.run(problem, stride.setup(problem))
    getattr(result, broken)[0] += 1
    assert not all_ok(problem, result)


def test_passes_are_not_optimised_away():
    """The compiled loops load and add in every pass: the barrier stands in the machine code."""
    for function, arguments in (
        (stride.sum_in_lines, (1024, 1, 2)),
        (stride.sum_strided, (1024, 3, False, 2)),
        (stride.sum_strided, (1024, 3, True, 2)),
    ):
        fresh = kernel(cache=False)(function.py_func)
        fresh(np.zeros(1024, np.uint32), *arguments, np.zeros(16, np.uint32))
        text = next(iter(fresh.inspect_llvm().values()))
        assert "asm sideeffect" in text and "~{memory}" in text


def test_counted_reads():
    for items, step in ((1024, 1), (1024, 16), (1025, 16), (5000, 7)):
        problem = stride.Problem(nbytes=4 * items, stride=step)
        places = np.arange(0, items, step)
        assert stride.work(problem).bytes == 4 * places.size


def test_grid_leaves_out_strides_beyond_the_set():
    sweep = stride.grid("paper", pages="huge")
    assert len(sweep) == 18 * 11
    assert {problem.pages for problem in sweep} == {"huge"}
    assert all(problem.stride <= problem.items for problem in sweep)
    assert max(problem.nbytes for problem in sweep) == 2**29


def test_bad_input():
    with pytest.raises(ValueError, match=r"stride = 2000 .*1 … 1024"):
        stride.Problem(nbytes=4096, stride=2000)
    with pytest.raises(ValueError, match="nbytes"):
        stride.Problem(nbytes=100)
    with pytest.raises(ValueError, match="loads = 'half'"):
        stride.Problem(loads="half")
    with pytest.raises(ValueError, match="pages = 'giant'"):
        stride.Problem(pages="giant")
    with pytest.raises(ValueError, match="preset = 'tiny'"):
        stride.Problem.preset("tiny")
    with pytest.raises(ValueError, match="preset = 'tiny'"):
        stride.grid("tiny")
    problem = stride.Problem(nbytes=4096)
    with pytest.raises(ValueError, match="threads"):
        stride.run(problem, stride.setup(problem), threads=usable_cpus() + 1)


def test_a_set_beyond_the_memory_is_refused(monkeypatch):
    monkeypatch.setattr(resources, "available_memory", lambda: 2**20)
    with pytest.raises(MemoryError, match="working set.*choose a smaller problem"):
        stride.setup(stride.Problem(nbytes=2**21))
