"""A proof compares every number of a small result, takes the ways of what is measured, and passes nothing unlike."""

import csv
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernels_found import KERNELS

from kernels.contract import Check, Presets
from kernels.proof import ROUNDING, Proof
from kernels.runtime.resources import usable_cpus


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


def failed(toy, problem=None):
    return [check for check in toy.PROOF.checks(toy, problem or toy.PROOF.problem(Problem())) if not check.ok]


def test_what_agrees_is_proven_and_times_are_left_out():
    toy = kernel()
    assert failed(toy) == []
    names = [check.name for check in toy.PROOF.checks(toy, toy.PROOF.problem(Problem()))]
    assert any(name.startswith("values:") for name in names) and any(name.startswith("parts all") for name in names)
    assert not any("seconds" in name or "note" in name for name in names)


@given(st.floats(1e-9, 1e300), st.booleans())
def test_one_number_that_is_off_is_noticed_with_either_count_of_threads(off, minus):
    for threads in range(1, min(2, usable_cpus()) + 1):
        assert failed(kernel(-off if minus else off, (threads,)))


@pytest.mark.parametrize("off", [np.nan, np.inf])
def test_what_is_no_number_is_noticed(off):
    assert failed(kernel(off, (1,)))


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


def test_threads_beyond_the_first_add_rows():
    found, expected = {"x": np.array([[1.0, 2.0], [5.0, 6.0]])}, {"x": np.array([[1.0, 2.0]])}
    assert all(check.ok for check in Proof().compare(found, expected))
    assert not all(check.ok for check in Proof().compare({"x": found["x"][::-1]}, expected))


def test_the_small_problem_takes_known_ways_of_the_measured_one():
    proof = Proof({"n": 10}, each={"way": ("up", "down")})
    assert proof.problem(Problem(way="down", folder="here")) == Problem(10, "down", "here")
    assert proof.problem(Problem(way="sideways")) == Problem(10, "up")
    assert [problem.way for problem in proof.problems(Problem)] == ["up", "down"]
    idle = Proof({}, {"n": (1, 2), "way": ("up", "down")}, only={"way": ("n", (2,))})
    assert [(problem.n, problem.way) for problem in idle.problems(Problem)] == [(1, "up"), (2, "up"), (2, "down")]


def test_a_kernel_of_one_thread_is_proven_with_one():
    toy = kernel()
    run = toy.run

    def alone(problem, state, threads=1):
        if threads > 1:
            raise ValueError(f"threads = {threads} is outside 1 … 1")
        return run(problem, state)

    toy.run = alone
    assert failed(toy) == []


def test_a_state_may_be_looked_at_too():
    toy = kernel(also=lambda problem, state, found: [Check.near("state", 1.0, 2.0, 0.5)])
    assert [check.name for check in failed(toy)][:1] == ["state"]


def test_what_each_reference_shares_with_its_kernel_is_listed():
    with (Path(__file__).parents[1] / "faults" / "shared.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert sorted(row["kernel"] for row in rows) == sorted(KERNELS)
    assert all(all(row.values()) for row in rows)
