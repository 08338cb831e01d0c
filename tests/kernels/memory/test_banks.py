"""The bank simulator: Oed and Lange's theorems, the plain simulation and closed forms."""

from dataclasses import replace
from fractions import Fraction
from math import gcd

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from supercomputers_rerun.kernels.memory import banks
from supercomputers_rerun.kernels.memory.banks import Job, Loop, Problem

BANKS = st.sampled_from((4, 8, 16, 32, 64))
STRIDES = st.integers(0, 70)
COUNTED = 3840  # cycles over which grants are counted, at most


def streams(count, busy, *jobs, sections=None):
    return Problem(banks=count, busy=busy, sections=sections or count, jobs=jobs, limit=4096)


def simulated(problem):
    return banks.run(problem, banks.setup(problem))


def settled(problem, period):
    """Grants a cycle over whole periods after the transient, by the compiled simulator."""
    more = replace(problem, limit=problem.limit + period * (COUNTED // period))
    grants = simulated(more).granted.sum() - simulated(problem).granted.sum()
    return Fraction(int(grants), more.limit - problem.limit)


def one_stream(banks: int, busy: int, stride: int) -> Fraction:
    """Elements a cycle of one stream: min(1, r / busy), the banks it visits being r = m / gcd(m, d)."""
    return min(Fraction(1), Fraction(banks // gcd(banks, stride), busy))


def two_streams(banks: int, busy: int, strides: tuple[int, int], apart: int) -> Fraction | None:
    """Elements a cycle of two streams of different CPUs, ``apart`` banks from each other, or None if no theorem says.

    With f = gcd(m, d₁, d₂): streams that start in different classes modulo f never meet, and each has its own
    rate.  Otherwise, where each visits at least ``busy`` banks: conflict-free (2) from any start if
    gcd(m/f, (d₂ − d₁)/f) ≥ 2·busy; less than 2 if not.  The last is returned as None.
    """
    d1, d2 = strides
    f = gcd(banks, gcd(d1, d2))
    if apart % f:
        return one_stream(banks, busy, d1) + one_stream(banks, busy, d2)
    visited = min(banks // gcd(banks, d1), banks // gcd(banks, d2))
    if visited >= busy and gcd(banks // f, (d2 - d1) // f) >= 2 * busy:
        return Fraction(2)
    return None


@settings(max_examples=60, deadline=None)
@given(BANKS, st.integers(1, 12), STRIDES, st.integers(0, 63))
def test_one_stream_has_the_bandwidth_of_the_theorem(count, busy, stride, start):
    problem = streams(count, busy, banks.stream(stride, start))
    expected = one_stream(count, busy, stride)
    assert banks.bandwidth(problem) == expected
    visited = count // gcd(count, stride)
    assert settled(problem, max(visited, busy)) == expected


@settings(max_examples=100, deadline=None)
@given(BANKS, st.integers(1, 6), STRIDES, STRIDES, st.integers(0, 63))
def test_two_streams_have_the_bandwidth_of_the_theorems(count, busy, d1, d2, apart):
    problem = streams(count, busy, banks.stream(d1), banks.stream(d2, apart))
    expected = two_streams(count, busy, (d1, d2), apart)
    found = banks.bandwidth(problem)
    if expected is None:
        assert (
            found < one_stream(count, busy, d1) + one_stream(count, busy, d2)
            or min(count // gcd(count, d1), count // gcd(count, d2)) < busy
        )
    else:
        assert found == expected


@settings(max_examples=60, deadline=None)
@given(st.sampled_from((16, 32, 64)), st.integers(1, 4), STRIDES, st.integers(0, 8), st.integers(0, 63))
def test_the_compiled_streams_settle_to_what_the_theorems_say(count, busy, d1, eights, apart):
    d2 = d1 + 8 * eights
    expected = two_streams(count, busy, (d1, d2), apart)
    if expected is None:
        expected = banks.bandwidth(streams(count, busy, banks.stream(d1), banks.stream(d2, apart)))
        assume(COUNTED % expected.denominator == 0)
    problem = streams(count, busy, banks.stream(d1), banks.stream(d2, apart))
    assert abs(settled(problem, COUNTED) - expected) <= Fraction(2 * count, COUNTED)
    if expected == 2:
        assert settled(problem, COUNTED) == 2


LOOPS = st.builds(
    Loop,
    strides=st.tuples(*3 * [st.one_of(st.none(), st.integers(0, 40))]),
    vector=st.integers(1, 70),
    overhead=st.integers(0, 40),
    latency=st.integers(0, 40),
    overlap=st.booleans(),
    strips=st.integers(1, 3),
)
JOBS = st.builds(
    Job,
    loops=st.lists(LOOPS, min_size=1, max_size=3).map(tuple),
    starts=st.tuples(*3 * [st.integers(0, 63)]),
    passes=st.integers(1, 12),
)
PROBLEMS = st.builds(
    Problem,
    banks=st.sampled_from((8, 16, 32, 64)),
    busy=st.integers(1, 8),
    sections=st.sampled_from((1, 4, 8)),
    lines=st.integers(1, 3),
    priority=st.sampled_from(("fixed", "alternating")),
    jobs=st.lists(JOBS, min_size=1, max_size=4).map(tuple),
    limit=st.sampled_from((0, 0, 500)),
)


@settings(max_examples=50, deadline=None)
@given(PROBLEMS)
def test_the_packed_simulator_is_the_plain_one(problem):
    state = banks.setup(problem)
    ours, plain = banks.run(problem, state), banks.reference(problem, state)
    np.testing.assert_array_equal(ours.ends, plain.ends)
    np.testing.assert_array_equal(ours.granted, plain.granted)
    assert ours.cycles == plain.cycles


def test_a_loop_alone_without_conflicts_takes_the_time_of_its_parts():
    """Loads of a strip, the overhead, and after the last strip the rest of its chained store."""
    loop, passes = Loop(strides=(1, None, 1), overhead=10, latency=20), 7
    result = simulated(Problem(banks=64, jobs=(Job(loops=(loop,), starts=(0, 0, 33), passes=passes),)))
    assert result.ends[0] == passes * (loop.overhead + loop.vector) + loop.latency


def test_the_trace_says_who_waits_and_why():
    two = Problem(banks=8, busy=4, sections=8, jobs=(banks.stream(0), banks.stream(0)))
    found = banks.trace(two, 40)
    busy, simultaneous, section = ((found.waits == kind).sum() for kind in range(len(banks.WAITS)))
    assert busy > simultaneous > 0 == section
    assert set(np.unique(found.holder)) == {-1, 0}  # fixed priority: the second CPU never gets the bank
    one = Problem(banks=8, busy=1, sections=1, jobs=(Job(starts=(0, 1, 2)),))
    assert (banks.trace(one, 40).waits == banks.WAITS.index("section")).any()


def test_work_counts_the_words_moved():
    problem = Problem.preset("quick")
    result = simulated(problem)
    assert banks.work(problem).bytes_read == 8 * result.granted[:, :2].sum()
    assert banks.work(problem).bytes_written == 8 * result.granted[:, 2].sum()
