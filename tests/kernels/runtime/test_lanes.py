"""Vectors of any type and length against NumPy, lane by lane."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import types
from numba.core.errors import TypingError

from supercomputers_rerun.kernels.runtime import vector
from supercomputers_rerun.kernels.runtime.jit import kernel
from supercomputers_rerun.kernels.runtime.vector import load, store

SINGLES = vector.SINGLES
FLOATS = st.floats(-100, 100, width=32)
SIXTEEN = st.lists(FLOATS, min_size=SINGLES, max_size=SINGLES).map(lambda values: np.array(values, np.float32))


@pytest.mark.parametrize("dtype, count", [(types.float64, 8), (types.float32, 16), (types.int32, 16), (types.int64, 8)])
def test_vectors_fill_the_same_registers(dtype, count):
    assert vector.vector_of(dtype) == vector.Lanes(dtype, count * vector.LANES // 8)
    assert vector.Lanes(dtype, 2) != vector.Lanes(dtype, 4) == vector.Lanes(dtype, 4)


def test_there_are_no_vectors_of_complex_numbers_or_in_memory_of_truth_values():
    assert vector.vector_of(types.complex128) is None and vector.vector_of(types.boolean) is None


@kernel(cache=False)
def compute(a, b, number, out):
    x, y = load(a, 0), load(b, 0)
    store(out[0], 0, x + y * number)
    store(out[1], 0, -x)
    store(out[2], 0, vector.fmax(x, vector.fabs(y)))
    store(out[3], 0, vector.floor(x))
    store(out[4], 0, vector.sqrt(vector.fabs(x)))
    store(out[5], 0, vector.select(vector.less(x, y), x, number))
    store(out[6], 0, vector.select(vector.less(x, y) & vector.less(number, y), number, number + number))
    store(out[7], 0, vector.wide(number, x))
    store(out[8], 0, vector.spread_lane(x, 3))
    return vector.any_true(vector.less(x, y)), vector.largest(x), vector.total(x), vector.even_odd_totals(x)


@given(SIXTEEN, SIXTEEN, FLOATS.map(np.float32))
def test_single_precision(a, b, number):
    out = np.zeros((9, SINGLES), np.float32)
    some, most, total, halves = compute(a, b, number, out)
    chosen = np.where((a < b) & (number < b), number, number + number)
    expected = [a + b * number, -a, np.maximum(a, abs(b)), np.floor(a), np.sqrt(abs(a)), np.where(a < b, a, number)]
    np.testing.assert_array_equal(out, [*expected, chosen, np.full(SINGLES, number), np.full(SINGLES, a[3])])
    assert some == np.any(a < b) and most == a.max()
    np.testing.assert_allclose([total, *halves], [a.sum(dtype=float), *(a[k::2].sum(dtype=float) for k in (0, 1))],
                               rtol=1e-5, atol=1e-3)  # fmt: skip


@kernel(cache=False)
def choose(a, b):
    return vector.select(vector.less(a, b), a, b), vector.any_true(vector.less(a, b) & vector.less(b, a))


def test_numbers_choose_as_vectors_do():
    assert choose(2.0, 3.0) == (2.0, False) and choose(3.0, 2.0) == (2.0, False)


@kernel(cache=False)
def whole(a, b, number, out):
    x, y = load(a, 0), load(b, 0)
    store(out[0], 0, x + y)
    store(out[1], 0, x - y)
    store(out[2], 0, x * y)
    store(out[3], 0, x & y)
    store(out[4], 0, x ^ y)
    store(out[5], 0, x << 3)
    store(out[6], 0, x * number)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_whole_numbers_wrap_around(dtype):
    ends = np.iinfo(dtype)
    generator = np.random.default_rng(3)
    a, b = generator.integers(ends.min, ends.max, (2, SINGLES), dtype, endpoint=True)
    out, number = np.zeros((7, SINGLES), dtype), dtype(2**29 + 7)
    whole(a, b, number, out)
    expected = np.array([a + b, a - b, a * b, a & b, a ^ b, a << 3, a * number])
    count = SINGLES * 4 // a.itemsize
    np.testing.assert_array_equal(out[:, :count], expected[:, :count])
    assert not out[:, count:].any()


@pytest.mark.parametrize("floats", [np.float32, np.float64])
def test_bits(floats):
    ints = np.int32 if floats is np.float32 else np.int64

    @kernel(cache=False)
    def code(a, bits, back, numbers):
        store(bits, 0, vector.bits(load(a, 0)))
        store(back, 0, vector.from_bits(load(bits, 0)))
        store(numbers, 0, vector.as_float(load(bits, 0)))
        bits[-1] = vector.bits(a[0])

    a = np.random.default_rng(4).standard_normal(SINGLES + 1).astype(floats)
    count = SINGLES * 4 // a.itemsize
    bits, back, numbers = np.zeros_like(a, ints), np.zeros_like(a), np.zeros_like(a)
    code(a, bits, back, numbers)
    np.testing.assert_array_equal(bits[:count], a.view(ints)[:count])
    np.testing.assert_array_equal(back[:count], a[:count])
    np.testing.assert_array_equal(numbers[:count], a.view(ints)[:count].astype(floats))
    assert bits[-1] == a.view(ints)[0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blocks_are_transposed(dtype):
    @kernel(cache=False)
    def turn(source, target):
        vector.transpose_block(source, (3, 40), target, (1, 20))

    count = SINGLES * 4 // np.dtype(dtype).itemsize
    source, target = np.arange(40.0 * SINGLES, dtype=dtype), np.full(20 * SINGLES + 1, -1, dtype)
    turn(source, target)
    found = target[1:].reshape(SINGLES, 20)[:count, :count]
    np.testing.assert_array_equal(found, source.reshape(SINGLES, 40)[:count, 3 : 3 + count].T)
    assert np.count_nonzero(target >= 0) == count**2


@pytest.mark.parametrize("numbers, places", [(np.float32, np.int32), (np.float64, np.int64)])
def test_gather_takes_each_lane_from_its_place(numbers, places):
    @kernel(cache=False)
    def collect(table, index, out):
        store(out, 0, vector.gather(table, 5, index, 2))

    table = np.random.default_rng(5).standard_normal(100).astype(numbers)
    index = np.random.default_rng(6).integers(-5, 95, SINGLES + 2).astype(places)
    out = np.zeros(SINGLES * 4 // table.itemsize, numbers)
    collect(table, index, out)
    np.testing.assert_array_equal(out, table[5 + index[2:][: out.size]])


def test_types_do_not_mix():
    @kernel(cache=False)
    def mixed(a, b, out):
        store(out, 0, vector.fma(load(a, 0), load(b, 0), load(b, 0)))

    @kernel(cache=False)
    def copy(a, out):
        store(out, 0, load(a, 0))

    singles, doubles = np.zeros(SINGLES, np.float32), np.zeros(SINGLES)
    for arguments in ((singles, doubles, doubles), (doubles, singles, doubles)):
        with pytest.raises(TypingError):
            mixed(*arguments)
    for arguments in ((singles, doubles), (doubles, singles), (singles.astype(complex), doubles)):
        with pytest.raises(TypingError):
            copy(*arguments)
