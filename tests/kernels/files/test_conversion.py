"""Foreign words: known constants, exact arithmetic, order, and the way there and back."""

import struct
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from supercomputers_rerun.kernels.files import conversion
from supercomputers_rerun.kernels.files import words as loops
from supercomputers_rerun.kernels.runtime.resources import usable_cpus

WORDS = {  # value: Cray word, by hand from the format
    0.0: 0x0000000000000000,
    1.0: 0x4001800000000000,
    -1.0: 0xC001800000000000,
    0.5: 0x4000800000000000,
    2.0: 0x4002800000000000,
    -3.0: 0xC002C00000000000,
    1024.0: 0x400B800000000000,
}


def cray_value(word: int, second: int = 0) -> Fraction:
    """Exact value of one Cray word, or of two."""
    sign, exponent, fraction = word >> 63, (word >> 48) & 0x7FFF, word & ((1 << 48) - 1)
    whole = (fraction << 48) + (second & ((1 << 48) - 1))
    return (-1) ** sign * Fraction(whole) * Fraction(2) ** (exponent - 16384 - 96)


finite = st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=False)


def encode(*values):
    out = np.zeros(2 * len(values), np.uint64)
    loops.encode_pairs(np.array(values, np.float64).view(np.uint64), out)
    return out


def decode(*words):
    out = np.zeros(len(words) // 2)
    loops.decode_pairs(np.array(words, np.uint64), out.view(np.uint64))
    return out


@pytest.mark.parametrize(("value", "word"), WORDS.items())
def test_known_words(value, word):
    assert encode(value).tolist() == [word, 0] and decode(word, 0)[0] == value


@given(st.lists(st.tuples(st.integers(-1000, 1000), st.integers(2**95, 2**96 - 1)), min_size=1, max_size=40))
def test_every_pair_of_cray_words_becomes_the_nearest_ieee_number(pairs):
    words = [((16384 + exponent) << 48 | whole >> 48, whole & (2**48 - 1)) for exponent, whole in pairs]
    assert decode(*sum(words, ())).tolist() == [float(cray_value(*pair)) for pair in words]


def test_ties_of_the_rounding_go_to_the_even_number():
    words = [(0x4001 << 48 | 1 << 47 | low, rest << 42) for low in (0, 1) for rest in range(64)]
    assert decode(*sum(words, ())).tolist() == [float(cray_value(*pair)) for pair in words]


@given(st.lists(finite, min_size=1, max_size=40))
def test_two_cray_words_hold_every_finite_number_and_give_it_back(values):
    native = np.array(values, np.float64)
    foreign, back = np.zeros(2 * native.size, np.uint64), np.zeros(native.size, np.uint64)
    loops.encode_pairs(native.view(np.uint64), foreign)
    for value, high, low in zip(values, foreign[::2], foreign[1::2], strict=True):
        assert cray_value(int(high), int(low)) == Fraction(value) and int(low) >> 48 == 0
    loops.decode_pairs(foreign, back)
    assert back.view(np.float64).tolist() == values


def test_one_third_by_hand():
    """IEEE 0x3FD5555555555555 is 0.1010…101 of 53 bits times 2^-1: 48 of them in one word, 10101 begin the next."""
    native, pair = np.array([1 / 3]).view(np.uint64), np.zeros(2, np.uint64)
    loops.encode_pairs(native, pair)
    assert [hex(word) for word in pair] == ["0x3fffaaaaaaaaaaaa", "0xa80000000000"]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 5e-324])
def test_what_no_solution_holds_is_refused(value):
    with pytest.raises(ValueError, match="subnormal or not finite"):
        encode(1.0, value)


@pytest.mark.parametrize("word", [0x4001 << 48 | 1, 0x7FFF << 48 | 1 << 47, 1 << 47, 0xC001 << 48])
def test_a_word_beyond_ieee_is_refused(word):
    with pytest.raises(ValueError, match="no normalised number"):
        decode(word, 0)


@given(st.lists(st.integers(0, 2**64 - 1), max_size=50))
def test_swapping_is_that_of_the_standard_library(words):
    source = np.array(words, np.uint64)
    out = np.zeros_like(source)
    loops.swap_words(source, out)
    assert out.tobytes() == source.byteswap().tobytes()
    assert out.tolist() == [struct.unpack(">Q", struct.pack("<Q", word))[0] for word in words]


@pytest.mark.skipif(usable_cpus() < 2, reason="needs two usable CPUs")
@pytest.mark.parametrize("direction", ["encode", "decode"])
@pytest.mark.parametrize("form", conversion.FORMATS)
def test_threads_share_the_words_of_a_large_dump(form, direction, monkeypatch):
    problem = conversion.Problem(N=7, format=form, direction=direction)
    one = conversion.run(problem, conversion.setup(problem))
    assert conversion.run(problem, conversion.setup(problem), threads=2).threads == 1  # too small for more
    monkeypatch.setitem(conversion.FEWEST, form, 1)
    state = conversion.setup(problem)
    two = conversion.run(problem, state, threads=2)
    assert two.threads == 2 and np.array_equal(one.target, two.target)
    if form == "Cray 128":
        state.source[-1:] = state.source[-2:-1] = 2**63 - 1  # what neither format holds, in the second thread's part
        with pytest.raises(ValueError, match="not finite|no normalised"):
            conversion.run(problem, state, threads=2)
