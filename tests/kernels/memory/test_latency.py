"""Pointer chases: one cycle through all nodes, followed exactly; plateaus found in known curves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.memory import latency
from kernels.memory.plateaus import plateaus
from kernels.runtime.resources import usable_cpus


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


def curve(capacities, levels, noise=0.0, seed=0, per_doubling=4, top=29):
    """Latency of a chase through caches that keep a random share of what they cannot hold."""
    sizes = 2.0 ** np.arange(12, top + 1 / 8, 1 / per_doubling)
    ns = np.full(sizes.size, levels[0])
    for capacity, below, above in zip(capacities, levels, levels[1:], strict=False):
        ns += (above - below) * np.maximum(0, 1 - capacity / sizes)
    return sizes, ns * np.exp(noise * np.random.default_rng(seed).standard_normal(sizes.size))


@settings(deadline=None, max_examples=40)
@given(
    l1=st.integers(32, 64),
    l2=st.integers(1024, 2048),
    seed=st.integers(0, 99),
    noise=st.sampled_from([0.0, 0.01, 0.02]),
)
def test_two_caches_and_memory_are_found(l1, l2, seed, noise):
    levels = (1.2, 4.5, 90.0)
    sizes, ns = curve((l1 * 2**10, l2 * 2**10), levels, noise, seed)
    found = plateaus(sizes, ns)
    assert len(found) == 3
    assert found[0].ns == pytest.approx(levels[0], rel=0.1)
    assert found[1].ns == pytest.approx(levels[1], rel=0.2)
    assert found[2].ns == pytest.approx(levels[2], rel=0.15)
    assert found[0].capacity == pytest.approx(l1 * 2**10, rel=0.3)
    assert found[1].capacity == pytest.approx(l2 * 2**10, rel=0.3)
    assert found[2].capacity is None
    assert found[0].last <= found[0].capacity * 1.3


def test_points_slowed_by_other_load_are_ignored():
    levels, capacities = (1.2, 4.5, 90.0), (48 * 2**10, 2**20)
    sizes, ns = curve(capacities, levels)
    slowed = ns.copy()
    slowed[[3, 14, 15, 22, 45, 60]] *= 3
    assert [level.ns for level in plateaus(sizes, slowed)] == pytest.approx(
        [level.ns for level in plateaus(sizes, ns)], rel=0.05
    )


def test_sharp_steps_put_the_capacity_between_their_points():
    sizes = 2.0 ** np.arange(12, 22)
    found = plateaus(sizes, np.where(sizes <= 2**15, 1.0, 10.0))
    assert [level.ns for level in found] == [1.0, 10.0]
    assert 2**15 <= found[0].capacity <= 2**16
    assert (found[0].last, found[1].first) == (2**15, 2**16)


def test_a_level_without_a_plateau_leaves_no_capacity():
    """A last cache that others share: the latency climbs from the second cache to memory without a rest."""
    sizes, ns = curve((48 * 2**10, 2**20, 8 * 2**20), (1.2, 4.5, 18.0, 150.0))
    resting = np.abs(ns / 18 - 1) < 0.25
    first, second, _memory = plateaus(sizes[~resting], ns[~resting])
    assert first.capacity == pytest.approx(48 * 2**10, rel=0.3)
    assert second.capacity is None


def test_a_flat_curve_is_one_level_and_a_slope_none():
    sizes = 2.0 ** np.arange(12, 22)
    (only,) = plateaus(sizes, np.full(sizes.size, 3.0))
    assert (only.ns, only.capacity) == (3.0, None)
    assert plateaus(sizes, 2.0 ** np.arange(sizes.size)) == []
