"""The operation counts of kernels.bt.work against the kernels run with numbers that count."""

import numpy as np
import pytest

from supercomputers_rerun.kernels import bt
from supercomputers_rerun.kernels.bt import differences as differences_module
from supercomputers_rerun.kernels.bt import elimination as elimination_module
from supercomputers_rerun.kernels.bt.lines import Direction, Ends, Lines


class Counting:
    """A number that counts its operations; what a compiler folds away (zeros, signs) is free."""

    operations = 0

    def __init__(self, zero=False):
        self.zero = zero

    def _sum(self, other):
        Counting.operations += not (self.zero or other.zero)
        return Counting(self.zero and other.zero)

    __add__ = __sub__ = _sum

    def __mul__(self, other):
        Counting.operations += not (self.zero or other.zero)
        return Counting(self.zero or other.zero)

    def __truediv__(self, other):
        Counting.operations += 1
        return Counting()

    def __neg__(self):
        return Counting(self.zero)


def counted(monkeypatch, module, name, arguments):
    """Operations per cell of one kernel, from lines of 12 and 11 cells."""
    for key, value in list(vars(module).items()):
        if hasattr(value, "py_func"):
            monkeypatch.setattr(module, key, value.py_func)
    monkeypatch.setattr(module, "load", lambda array, place: Counting())
    if hasattr(module, "load_as"):
        monkeypatch.setattr(module, "load_as", lambda array, place, like: tuple(Counting() for _ in like))
    monkeypatch.setattr(module, "store", lambda *_: None)
    monkeypatch.setattr(module, "prefetch", lambda *_: None)
    monkeypatch.setattr(module, "spread", lambda number: Counting(number == 0.0))
    totals = []
    for points in (12, 11):
        Counting.operations = 0
        getattr(module, name)(*arguments(points))
        totals.append(Counting.operations)
    return totals[0] - totals[1]


WHOLE = Ends(True, True)


def lines(points):
    return Lines(*(np.uint64(n) for n in (0, 5, *range(5), points, 0)))


def direction(points):
    return Direction(0.1, np.ones(5 * points), 0.75, 1.0 / (points - 1.0))


@pytest.mark.parametrize(
    ("part", "module", "name", "arguments"),
    [
        (
            "differences",
            differences_module,
            "differences",
            lambda n: (None, None, None, lines(n), direction(n)),
        ),
        (
            "elimination",
            elimination_module,
            "eliminate",
            lambda n: (None, None, lines(n), direction(n), WHOLE, elimination_module.Scratch(None, None, None)),
        ),
        ("substitution", elimination_module, "substitute", lambda n: (None, lines(n), WHOLE, None, None)),
    ],
)
def test_counts_are_those_of_the_kernels(monkeypatch, part, module, name, arguments):
    problem = bt.Problem(N=10, NS=7, dt=1e-3)
    inner = (10 - 2) ** 3 * 7
    assert dict(bt.work(problem).parts)[part] == 3 * counted(monkeypatch, module, name, arguments) * inner


def test_total_and_bytes():
    problem = bt.Problem(N=10, NS=7, dt=1e-3)
    work = bt.work(problem)
    assert work.flops == sum(count for _, count in work.parts)
    assert dict(work.parts)["update"] == 5 * 8**3 * 7  # one addition a component
    assert (work.bytes_read, work.bytes_written) == (5 * 40 * 10**3 * 7, 3 * 40 * 10**3 * 7)


def test_npb_credits_more_than_the_algorithm_does():
    """Full blocks, as NPB's formula assumes, cost more than sparse ones."""
    problem = bt.Problem.preset("A")
    assert bt.npb_flops(problem) == pytest.approx(168.3e9, rel=1e-3)  # the count NPB prints for A
    assert 0.4 < bt.work(problem).flops / bt.npb_flops(problem) < 0.9
