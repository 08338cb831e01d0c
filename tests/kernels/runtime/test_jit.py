"""The compile policy, on compiled code."""

import numpy as np
import pytest

from kernels.runtime import jit
from kernels.runtime.jit import FINITE, REDUCE, kernel, versions


@kernel(cache=False)
def strict_sum(values):
    total = 0.0
    for index in range(np.uint64(values.size)):
        total += values[np.uint64(index)]
    return total


@kernel(fastmath=REDUCE, cache=False)
def reduced_sum(values):
    total = 0.0
    for index in range(np.uint64(values.size)):
        total += values[np.uint64(index)]
    return total


@kernel(cache=False)
def quotient(a, b):
    return a / b


@kernel(fastmath=REDUCE, cache=False)
def is_nan(value):
    return value != value


def test_strict_code_adds_in_the_order_written():
    # 1 is lost beside 1e16 in every order but one: the answer tells the order of additions.
    values = np.array([1e16, 1.0, -1e16, 1.0] * 64)
    expected = 0.0
    for value in values:
        expected += value
    assert strict_sum(values) == expected
    assert expected != 128.0


def test_named_flags_change_order_only():
    values = np.random.default_rng(0).random(1000)
    assert reduced_sum(values) == pytest.approx(strict_sum(values), rel=1e-13)
    (code,) = [reduced_sum.inspect_llvm(signature) for signature in reduced_sum.signatures]
    assert "reassoc" in code
    assert " fast " not in code
    assert is_nan(float("nan"))


def test_division_follows_ieee():
    assert quotient(1.0, 0.0) == float("inf")
    assert np.isnan(quotient(0.0, 0.0))


def test_policy_of_a_compiled_function():
    options = strict_sum.targetoptions
    assert options["nogil"] and options["error_model"] == "numpy"
    assert not options["fastmath"]


@pytest.mark.parametrize("flags", [True, False, "reassoc", ["reassoc"], None])
def test_fastmath_that_names_no_set_is_refused(flags):
    with pytest.raises(TypeError, match="set of LLVM flag names"):
        kernel(fastmath=flags)


def test_a_misspelt_flag_is_refused():
    @kernel(fastmath={"reasoc"}, cache=False)
    def double(x):
        return 2 * x

    with pytest.raises(ValueError, match="reasoc"):
        double(1.0)


def test_no_predefined_set_holds_every_flag():
    everything = {"nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc", "fast"}
    for flags in (jit.REDUCE, jit.CONTRACT, FINITE, jit.STRICT):
        assert flags < everything
        assert "fast" not in flags and "afn" not in flags


def test_versions_name_the_compiler_chain():
    assert set(versions()) == {"numba", "llvmlite"}
