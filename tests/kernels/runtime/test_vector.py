"""The vector type of compiled kernels against NumPy and exact arithmetic, lane by lane."""

import operator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from supercomputers_rerun.kernels.runtime import vector
from supercomputers_rerun.kernels.runtime.arrays import zeros
from supercomputers_rerun.kernels.runtime.jit import kernel
from supercomputers_rerun.kernels.runtime.vector import address, at, fence, fma, fms, fnma, load, spread, store

# No product of two is subnormal, so that exact references need one rounding only.
DOUBLES = st.floats(1e-100, 1e100) | st.floats(-1e100, -1e-100) | st.just(0.0)
EIGHT = st.lists(DOUBLES, min_size=8, max_size=8).map(np.array)


@kernel(cache=False)
def operate(a, b, number, out):
    x, y = load(a, 0), load(b, 0)
    store(out, 0, x + y)
    store(out, 8, x - y)
    store(out, 16, x * y)
    store(out, 24, x / y)
    store(out, 32, x + number)
    store(out, 40, x - number)
    store(out, 48, x * number)
    store(out, 56, x / number)
    store(out, 64, number + y)
    store(out, 72, number - y)
    store(out, 80, number * y)
    store(out, 88, number / y)
    store(out, 96, -x)
    store(out, 104, spread(number))


@given(EIGHT, EIGHT, DOUBLES)
def test_operators_work_lane_by_lane(a, b, number):
    out, number = np.zeros((14, 8)), np.float64(number)
    operate(a, b, number, out.reshape(-1))
    with np.errstate(all="ignore"):
        expected = [
            function(x, y)
            for x, y in ((a, b), (a, number), (number, b))
            for function in (operator.add, operator.sub, operator.mul, operator.truediv)
        ]
    expected = np.array([*expected, -a, np.full(8, number)])
    np.testing.assert_array_equal(out, expected)
    known = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(out[known]), np.signbit(expected[known]))  # of zeros too


@kernel(cache=False)
def fuse(a, b, c, number, out):
    x, y, z = load(a, 0), load(b, 0), load(c, 0)
    store(out, 0, fma(x, y, z))
    store(out, 8, fms(x, y, z))
    store(out, 16, fnma(x, y, z))
    store(out, 24, fma(number, y, z))
    store(out, 32, fms(x, number, z))
    store(out, 40, fnma(x, y, number))
    for i in range(8):
        out[48 + i] = fma(a[i], b[i], c[i])
        out[56 + i] = fms(a[i], b[i], c[i])
        out[64 + i] = fnma(a[i], b[i], c[i])


def exactly(a, b, c):
    """a b + c rounded once."""
    return [float(Fraction(x) * Fraction(y) + Fraction(z)) for x, y, z in np.broadcast(a, b, c)]


@given(EIGHT, EIGHT, EIGHT, DOUBLES)
def test_fused_operations_round_once(a, b, c, number):
    out = np.zeros((9, 8))
    fuse(a, b, c, number, out.reshape(-1))
    plain = [exactly(a, b, c), exactly(a, b, -c), exactly(-a, b, c)]
    mixed = [exactly(number, b, c), exactly(a, number, -c), exactly(-a, b, number)]
    np.testing.assert_array_equal(out, np.array([*plain, *mixed, *plain]))


def test_rounding_twice_would_be_noticed():
    a, out = np.full(8, 1.0 + 2.0**-30), np.zeros((9, 8))
    rounded = a * a
    fuse(a, a, rounded, 1.0, out.reshape(-1))
    assert np.all(out[1] == 2.0**-60) and np.all(out[2] == -(2.0**-60)) and np.all(out[7] == 2.0**-60)


@kernel(cache=False)
def add_up(a):
    return vector.total(load(a, 0))


@given(EIGHT)
def test_total_adds_by_halves(a):
    half = a[:4] + a[4:]
    assert add_up(a) == (half[0] + half[2]) + (half[1] + half[3])


@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_total_adds_whole_numbers(kind):
    lanes = 64 // np.dtype(kind).itemsize
    a = np.random.default_rng(lanes).integers(-(2**24), 2**24, lanes).astype(kind)
    assert add_up(a) == a.sum()


@kernel(cache=False)
def move(source, target, offset, active, streaming):
    vector.prefetch(source, 1 << 40)  # far outside: never a fault
    if streaming:
        vector.stream(target, offset, load(source, offset))
        fence()
    else:
        vector.store_some(target, offset, load(source, offset), active)


@kernel(cache=False)
def move_by_address(source, target, offset, active, streaming):
    move(address(source), address(target), offset, active, streaming)


@pytest.mark.parametrize("function", [move, move_by_address], ids=["arrays", "addresses"])
@given(offset=st.integers(0, 24), active=st.integers(0, 2**12 - 1))
def test_masked_store_writes_the_active_lanes_only(function, offset, active):
    source, target = np.arange(32.0), -np.ones(32)
    function(source, target, offset, active, False)
    expected = -np.ones(32)
    for lane in range(8):
        if active >> lane & 1:
            expected[offset + lane] = source[offset + lane]
    np.testing.assert_array_equal(target, expected)


@pytest.mark.parametrize("function", [move, move_by_address], ids=["arrays", "addresses"])
@pytest.mark.parametrize("offset", [0, 8, 24])
def test_streams_write_one_cache_line(function, offset):
    source, target = np.arange(32.0) + 1.0, zeros((32,))
    function(source, target, offset, 0, True)
    expected = np.zeros(32)
    expected[offset : offset + 8] = source[offset : offset + 8]
    np.testing.assert_array_equal(target, expected)


@kernel(cache=False)
def reverse(numbers, out):
    source, target = address(numbers), address(out)
    for i in range(numbers.size):
        store(target, i, at(source, numbers.size - 1 - i))


@pytest.mark.parametrize("dtype", [np.float64, np.int64])
def test_addresses_read_and_write_elements(dtype):
    numbers, out = np.arange(11, dtype=dtype), np.zeros(11, dtype)
    reverse(numbers, out)
    np.testing.assert_array_equal(out, numbers[::-1])


THREE = ((0.0,) * 4,) * 3


@kernel(cache=False)
def copy(source, target):
    store(target, 2, vector.load_as(source, 1, THREE))


def test_a_tuple_of_vectors_lies_one_behind_the_other():
    source, target = np.arange(20.0), np.zeros(20)
    copy(source, target)
    np.testing.assert_array_equal(target[2:14], source[1:13])
    assert not target[:2].any() and not target[14:].any()
