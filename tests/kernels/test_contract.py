"""What a kernel answers with: checks, work, ranges of fields, and a proof that passes nothing unlike."""

import math
import subprocess
import sys
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import ClassVar, NamedTuple, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from supercomputers_rerun.kernels.contract import (
    Check,
    Presets,
    Work,
    one_of,
    real,
    require_choice,
    require_range,
    whole,
    worst,
)
from supercomputers_rerun.kernels.proof import ROUNDING, Proof
from supercomputers_rerun.kernels.runtime.resources import usable_cpus

FINITE = st.floats(-1e9, 1e9)
FLOATS = st.lists(st.floats(allow_infinity=True), max_size=9)


@given(FINITE, FINITE, st.floats(0, 1e6))
def test_near_is_an_absolute_comparison(value, expected, tolerance):
    assert Check.near("x", value, expected, tolerance).ok == (abs(value - expected) <= tolerance)


@given(FINITE, st.floats(1e-3, 1e9), st.floats(0, 1))
def test_relative_scales_with_the_expected_value(value, expected, tolerance):
    found = Check.relative("x", value, -expected, tolerance)
    assert found.ok == (abs(value + expected) <= tolerance * expected)


def test_nan_never_passes():
    assert not Check.near("x", math.nan, 0.0, math.inf).ok
    assert not Check.near("x", 0.0, math.nan, 1.0).ok
    assert not Check.relative("x", math.nan, 1.0, 1.0).ok


@given(FLOATS, FLOATS)
def test_worst_is_the_largest_magnitude_and_nan_where_there_is_one(some, others):
    found, numbers = worst(np.array(some), *others), [abs(each) for each in some + others]
    assert math.isnan(found) if any(map(math.isnan, numbers)) else found == max(numbers, default=0.0)


def test_the_worst_of_complex_numbers_is_their_magnitude():
    assert worst(np.array([3.0 - 4.0j, 1.0])) == 5.0 and math.isnan(worst(0.0, complex("nan")))


def test_work_adds_its_bytes():
    assert Work(bytes_read=3, bytes_written=4).bytes == 7
    assert Work(1, 2, 3, (("a", 4),)).times(2) == Work(2, 4, 6, (("a", 8),))


def test_a_range_wants_numbers_of_its_kind_within_it():
    require_range("N", np.int64(3), 0, 5)
    require_range("x", np.float32(0.5), 0.0, 1.0)
    for value in (1.0, True, "1", None, math.nan, -1, 6):
        with pytest.raises(ValueError, match="N = "):
            require_range("N", value, 0, 5)
    for value in ("1", None, True, 1j, math.nan, math.inf, -0.1, 2):
        with pytest.raises(ValueError, match="x = "):
            require_range("x", value, 0.0, 1.0)
    with pytest.raises(ValueError, match="order = 'zz' is unknown; choose one of 'xy', 'yx'"):
        require_choice("order", "zz", ("xy", "yx"))


@dataclass(frozen=True)
class Problem(Presets):
    n: int = 1000
    way: str = "up"
    folder: str | None = None
    PRESETS: ClassVar = {"quick": {}}


class Part(NamedTuple):
    sums: np.ndarray
    note: str


@dataclass(frozen=True)
class Result:
    values: np.ndarray
    count: int
    seconds: float
    parts: dict = field(default_factory=dict)


def result(problem, off=0.0, seconds=1.0):
    values = np.arange(1.0, problem.n + 1.0) * (1 if problem.way == "up" else -1)
    values[problem.n // 2] += off
    return Result(values, problem.n, seconds, {"all": [Part(values.cumsum(), "free text")]})


def kernel(off=0.0, wrong=(), **proof):
    """A toy whose run is off by ``off`` with the numbers of threads in ``wrong``."""
    return SimpleNamespace(
        PROOF=Proof({"n": 10}, **proof),
        Problem=Problem,
        setup=lambda problem: None,
        run=lambda problem, state, threads=1: result(problem, off if threads in wrong else 0.0),
        reference=lambda problem, state: result(problem, seconds=np.nan),
        verify=lambda problem, found: [Check.near("count", found.count, problem.n, 0)],
    )


def failed(toy):
    return [check for check in toy.PROOF.checks(toy, toy.PROOF.problem(Problem())) if not check.ok]


def test_what_agrees_is_proven_and_times_are_left_out():
    toy = kernel()
    names = [check.name for check in toy.PROOF.checks(toy, toy.PROOF.problem(Problem()))]
    assert failed(toy) == []
    assert any(name.startswith("values:") for name in names) and any(name.startswith("parts all") for name in names)
    assert not any("seconds" in name or "note" in name for name in names)


@given(st.floats(1e-9, 1e300) | st.sampled_from([math.nan, math.inf]), st.booleans())
def test_one_number_that_is_off_is_noticed_with_either_count_of_threads(off, minus):
    for threads in range(1, min(2, usable_cpus()) + 1):
        assert failed(kernel(-off if minus else off, (threads,)))


def test_rounding_passes_and_a_kernel_may_allow_more():
    assert failed(kernel(10 * ROUNDING / 4, (1,))) == []
    assert failed(kernel(1e-9, (1,))) and failed(kernel(1e-9, (1,), within={"values": 1e-6, "parts": 1e-6})) == []
    assert failed(kernel(1.0, (1,), not_compared=("values", "parts"))) == []


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (np.arange(3), np.arange(4)),
        (np.arange(4), np.array([0, 1, 2, 4])),
        ([1, 2], [1]),
        (np.zeros((2, 2)), np.zeros(4)),
    ],
)
def test_whole_numbers_are_equal_and_arrays_have_one_shape(found, expected):
    assert not all(check.ok for check in Proof().compare({"x": found}, {"x": expected}))


def test_the_small_problem_takes_known_ways_of_the_measured_one():
    proof = Proof({"n": 10}, each={"way": ("up", "down")})
    assert proof.problem(Problem(way="down", folder="here")) == Problem(10, "down", "here")
    assert proof.problem(Problem(way="sideways")) == Problem(10, "up")
    assert [problem.way for problem in proof.problems(Problem)] == ["up", "down"]


@dataclass(frozen=True)
class Mixed(Presets):
    either: int | complex = 1
    perhaps: int | None = None


def test_a_field_of_several_types_takes_each_of_them():
    assert Mixed(2j, 3) == Mixed(either=2j, perhaps=3) and Mixed(2).perhaps is None
    with pytest.raises(ValueError, match="perhaps = '3' must be a whole number"):
        Mixed(perhaps="3")


def test_what_a_field_may_hold_is_said_in_words():
    assert [repr(get_args(kind)[1]) for kind in (whole(1, 4, "B"), real(0.5, 2), one_of("a", "b"))] == [
        "1 to 4 B",
        "0.5 to 2",
        "one of 'a', 'b'",
    ]


def test_a_notebook_shows_what_a_problem_refuses_as_one_sentence(tmp_path):
    """IPython shows the sentence in place of the traceback."""
    source = "from supercomputers_rerun.kernels.memory import stride; stride.Problem(stride=0)"
    told = subprocess.run(
        [sys.executable, "-m", "IPython", "--no-banner", "--colors=NoColor", f"--ipython-dir={tmp_path}", "-c", source],
        capture_output=True,
        text=True,
    )
    said = (told.stdout + told.stderr).split("\n")
    (line,) = [line for line in said if line.strip()]
    assert line.startswith("ValueError: stride = 0 is outside 1 … ")
