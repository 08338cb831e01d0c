"""The five loops: sums, placement of threads, and the model S·f/2."""

import os
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from supercomputers_rerun.kernels.processor import smt
from supercomputers_rerun.kernels.runtime.jit import CONTRACT, kernel
from supercomputers_rerun.kernels.runtime.resources import smt_siblings, usable_cpus

CAN_BIND = hasattr(os, "sched_setaffinity")
HAS_SMT = any(len(core) > 1 for core in smt_siblings())


def problem_of(**fields):
    return smt.Problem(**{"binding": False, **fields})


def all_ok(problem, result):
    return all(check.ok for check in smt.verify(problem, result))


@settings(deadline=None, max_examples=60)
@given(
    loop=st.sampled_from(list(smt.LOOPS)),
    n=st.integers(20, 3000),
    streams=st.sampled_from([1, 2]),
    shared=st.booleans(),
    threads=st.integers(1, usable_cpus()),
    repeats=st.integers(1, 3),
)
def test_sums(loop, n, streams, shared, threads, repeats):
    problem = problem_of(loop=loop, n=n, streams=streams, shared=shared)
    state = smt.setup(problem)
    result = smt.run(problem, state, threads=threads, repeats=repeats)
    assert all_ok(problem, result)
    np.testing.assert_allclose(result.sums[-1, -1], smt.reference(problem, state).sums[0, 0], rtol=1e-12)


@pytest.mark.skipif(not CAN_BIND, reason="this system cannot bind threads")
def test_binding_changes_no_sum_and_is_undone():
    before = os.sched_getaffinity(0)
    for loop in smt.LOOPS:
        bound, free = (problem_of(loop=loop, n=500, binding=binding) for binding in (True, False))
        sums = [smt.run(problem, smt.setup(problem)).sums for problem in (bound, free)]
        np.testing.assert_array_equal(*sums)
    assert os.sched_getaffinity(0) == before


def test_chains_are_neither_merged_nor_made_vectors():
    """Ten opaque scalars stay ten scalar additions, two streams of them twenty; no addition may be reordered."""
    for loop, additions in ((smt.chains, 10), (smt.chains_fused, 20)):
        fresh = kernel(cache=False)(loop.py_func)
        fresh(5, 1, (0.0,) * 10, np.zeros(20))
        text = next(iter(fresh.inspect_llvm().values()))
        assert len(re.findall(r"fadd .*double", text)) >= additions
        assert not re.search(r"fadd .*<\d+ x double>", text)
        assert "reassoc" not in text
    fresh = kernel(cache=False, fastmath=CONTRACT)(smt.array_loop.py_func)
    fresh(np.zeros(20), 2, 10, 1, np.zeros(8))
    assert "reassoc" not in next(iter(fresh.inspect_llvm().values()))


def test_counted_work():
    """Flops of the table's loops, one a chain and two where a product belongs to it."""
    expected = {"s1": 1000, "s2": 2000, "s10": 10000, "streaming": 2000, "skipping": 400}
    assert {loop: smt.work(problem_of(loop=loop, n=1000)).flops for loop in smt.LOOPS} == expected
    assert smt.work(problem_of(loop="skipping", n=1000)).bytes == 1600
    assert smt.work(problem_of(loop="s2", n=1000, streams=2)).flops == 4000


def test_placement_on_a_host_with_smt(monkeypatch):
    monkeypatch.setattr(smt, "smt_siblings", lambda: [[0, 4], [1, 5], [2, 6]])
    assert smt.thread_cpus(smt.Problem(), 3) == [0, 1, 2]
    assert smt.thread_cpus(smt.Problem(threads_per_core=2), 4) == [0, 4, 1, 5]
    assert smt.thread_cpus(smt.Problem(threads_per_core=2, binding=False), 4) is None
    with pytest.raises(ValueError, match="threads = 3 is odd.*ask for 4"):
        smt.thread_cpus(smt.Problem(threads_per_core=2), 3)
    with pytest.raises(ValueError, match="needs 4 cores, 3 are usable"):
        smt.thread_cpus(smt.Problem(), 4)


def test_the_lists_are_those_of_the_report():
    """Front loaded for sixteen logical processors, as the report prints it; turns where a core has one thread."""
    paired, single = [[2 * k, 2 * k + 1] for k in range(8)], [[0], [1]]
    assert smt.list_cpus("no_smt", paired, 8) == list(range(0, 16, 2))
    assert smt.list_cpus("smt", paired, 16) == list(range(16))
    assert smt.list_cpus("smt_front_loaded", paired, 16) == [*range(0, 16, 2), *range(1, 16, 2)]
    assert smt.list_cpus("smt", single, 4) == [0, 0, 1, 1]
    assert smt.list_cpus("smt_front_loaded", single, 4) == [0, 1, 0, 1]
    with pytest.raises(ValueError, match="needs 3 cores, 2 are usable"):
        smt.list_cpus("smt", single, 6)
    with pytest.raises(ValueError, match="threads = 3 is odd"):
        smt.list_cpus("smt", paired, 3)


@pytest.mark.skipif(not (HAS_SMT and CAN_BIND), reason="cores here have one hardware thread")
def test_two_threads_on_one_core():
    problem = smt.Problem(loop="streaming", n=1000, threads_per_core=2)
    assert all_ok(problem, smt.run(problem, smt.setup(problem), threads=2))


def test_model():
    """S·f/2 and both factors from times; a job that gains nothing from more threads loses."""
    assert smt.speedup(2, 2) == 2
    assert smt.speedup(1, 1) == 0.5
    assert smt.smt_factor(1.0, 2.0) == 1
    assert smt.scaling_factor(1.0, 0.5) == 2
    # one copy takes T, two copies 2T/S, the job with doubled threads 2T/S/f: T over that is S f / 2
    T, S, f = 7.0, 1.3, 1.7
    assert smt.speedup(smt.smt_factor(T, 2 * T / S), smt.scaling_factor(T, T / f)) == pytest.approx(T / (2 * T / f / S))
