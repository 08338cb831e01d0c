"""The words of a kernel: checks, work, presets, refusals."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.contract import Check, Kernel, Presets, Work, require_choice, require_range

FINITE = st.floats(-1e9, 1e9)


@given(FINITE, FINITE, st.floats(0, 1e6))
def test_near_is_an_absolute_comparison(value, expected, tolerance):
    assert Check.near("x", value, expected, tolerance).ok == (abs(value - expected) <= tolerance)


@given(FINITE, st.floats(1e-3, 1e9), st.floats(0, 1))
def test_relative_scales_with_the_expected_value(value, expected, tolerance):
    found = Check.relative("x", value, -expected, tolerance)
    assert found.ok == (abs(value + expected) <= tolerance * expected)


@pytest.mark.parametrize(
    "check",
    [
        Check.near("x", math.nan, 0.0, math.inf),
        Check.near("x", 0.0, math.nan, 1.0),
        Check.relative("x", math.nan, 1.0, 1.0),
    ],
)
def test_nan_never_passes(check):
    assert check.ok is False
    assert "FAILED" in str(check)


def test_checks_hold_plain_numbers():
    check = Check.near("x", np.float32(1.0), np.int64(1), 0)
    assert type(check.value) is type(check.expected) is float
    assert check.ok is True
    assert str(check) == "x: 1, expected 1 ± 0: ok"


def test_work_adds_its_bytes():
    assert Work(bytes_read=3, bytes_written=4).bytes == 7
    assert Work() == Work(0, 0, 0, ())


def test_a_kernel_is_recognised_by_its_words(toy):
    assert isinstance(toy, Kernel)
    assert not isinstance(math, Kernel)


@dataclass(frozen=True)
class Grid(Presets):
    N: int
    NS: int = 200
    PRESETS: ClassVar = {"quick": {"N": 12, "NS": 60}, "paper": {"N": 64}}


def test_presets():
    assert Grid.preset("quick") == Grid(12, 60)
    assert Grid.preset("paper", NS=5) == Grid(64, 5)
    with pytest.raises(ValueError, match="preset = 'huge' is unknown.*'quick', 'paper'"):
        Grid.preset("huge")
    with pytest.raises(ValueError, match="no field 'M'"):
        Grid.preset("quick", M=1)


@given(st.integers(-100, 100), st.integers(-50, 0), st.integers(0, 50))
def test_whole_ranges(value, low, high):
    if low <= value <= high:
        require_range("N", value, low, high)
    else:
        with pytest.raises(ValueError, match=f"N = {value} is outside {low} … {high}"):
            require_range("N", value, low, high)


@pytest.mark.parametrize("value", [1.0, True, "1", None, math.nan])
def test_a_whole_range_wants_whole_numbers(value):
    with pytest.raises(ValueError, match="must be a whole number in 0 … 5 MB"):
        require_range("size", value, 0, 5, "MB")


@pytest.mark.parametrize("value", ["1", None, True, 1j])
def test_a_range_wants_numbers(value):
    with pytest.raises(ValueError, match="x = .* must be a number in 0.0 … 1.0"):
        require_range("x", value, 0.0, 1.0)


@pytest.mark.parametrize("value", [math.nan, math.inf, -0.1, 2])
def test_a_range_excludes_nan_and_what_lies_beyond(value):
    with pytest.raises(ValueError, match="x = .* s is outside"):
        require_range("x", value, 0.0, 1.0, "s")


def test_numpy_numbers_are_numbers():
    require_range("N", np.int64(3), 0, 5)
    require_range("x", np.float32(0.5), 0.0, 1.0)


def test_choices():
    require_choice("order", "xy", ("xy", "yx"))
    with pytest.raises(ValueError, match="order = 'zz' is unknown; choose one of 'xy', 'yx'"):
        require_choice("order", "zz", ("xy", "yx"))
