"""Pointer chases: one cycle through all nodes, followed exactly."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from supercomputers_rerun.kernels.memory import latency
from supercomputers_rerun.kernels.runtime.resources import usable_cpus


def all_ok(problem, result):
    return all(check.ok for check in latency.verify(problem, result))


def cycle_length(state):
    """Loads until the chase that starts at the first node returns there."""
    start, length = int(state.order[0]), 1
    p = int(state.next_item[start])
    while p != start and length <= state.next_item.size:
        p, length = int(state.next_item[p]), length + 1
    return length


@settings(deadline=None, max_examples=60)
@given(
    blocks=st.integers(1024, 3000),
    spacing=st.sampled_from([4, 8, 64, 256, 4096]),
    pattern=st.sampled_from(latency.PATTERNS),
    seed=st.integers(0, 1000),
)
def test_one_cycle_visits_every_node(blocks, spacing, pattern, seed):
    problem = latency.Problem(nbytes=4 * blocks, spacing=min(spacing, 4 * blocks), pattern=pattern)
    state = latency.setup(problem, seed)
    assert cycle_length(state) == problem.nodes
    # each node lies in a block of its own
    assert np.unique(state.order // (problem.spacing // 4)).size == problem.nodes


@settings(deadline=None, max_examples=30)
@given(loads=st.integers(1, 5000), repeats=st.integers(1, 4), seed=st.integers(0, 100))
def test_the_chase_follows_the_cycle(loads, repeats, seed):
    problem = latency.Problem(nbytes=2**16, loads=loads)
    state = latency.setup(problem, seed)
    for _ in range(3):  # each run goes on where the last one stopped
        expected = latency.reference(problem, state).items[0]
        result = latency.run(problem, state)
        assert state.positions[0] == expected
        assert all_ok(problem, result)
    assert latency.run(problem, state, repeats=repeats).advance[0] == repeats * loads % problem.nodes


def test_stride_1024_steps_by_4096_bytes():
    state = latency.setup(latency.Problem(nbytes=2**16, pattern="stride", spacing=4096))
    assert state.order.tolist() == list(range(0, 2**14, 1024))


def test_random_nodes_spread_over_the_offsets_of_a_page():
    """At one offset of all pages they would fall into few sets of the caches."""
    state = latency.setup(latency.Problem(nbytes=2**22, spacing=4096))
    assert np.unique(state.order % 1024 // 16).size > 56  # of 64 lines of a page


def test_threads_move_equally_far():
    problem = latency.Problem(nbytes=2**16, loads=777)
    result = latency.run(problem, latency.setup(problem), threads=usable_cpus(), repeats=2)
    assert result.advance.tolist() == [2 * 777 % problem.nodes] * usable_cpus()
    assert all_ok(problem, result)


def test_counted_loads():
    assert latency.work(latency.Problem(loads=1000)).bytes == 4000
