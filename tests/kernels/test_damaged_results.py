"""``verify`` notices any damaged number of a result, and takes the largest of anything by ``worst`` alone."""

import ast
import math
from pathlib import Path

import damaged_results
import numpy as np
import pytest
from cases import tried
from hypothesis import given
from hypothesis import strategies as st

import kernels
from kernels.contract import extremes, worst

FLOATS = st.lists(st.floats(allow_infinity=True), max_size=9)
ROOT = Path(kernels.__file__).parent
#: Calls that lose a NaN, or may, in the hands of Python's ``max``.
REDUCTIONS = {f"{prefix}{way}" for prefix in ("", "a", "nan", "f") for way in ("max", "min")}


@given(FLOATS, FLOATS)
def test_worst_is_the_largest_magnitude_and_nan_where_there_is_one(some, others):
    found, numbers = worst(np.array(some), *others), [abs(each) for each in some + others]
    assert math.isnan(found) if any(map(math.isnan, numbers)) else found == max(numbers, default=0.0)


def test_worst_of_complex_numbers_whole_numbers_and_none():
    assert worst(np.array([3.0 - 4.0j, 1.0])) == 5.0
    assert worst(np.array([-7, 2]), 3) == 7.0
    assert worst() == worst(np.zeros(0)) == 0.0
    assert math.isnan(worst(0.0, complex("nan")))
    assert extremes([2.0, -1.0]) == (-1.0, 2.0) and extremes([]) == (0.0, 0.0)
    assert all(map(math.isnan, extremes([1.0, math.nan, 2.0])))


def _checking():
    """Every function of the package that makes checks, with its file."""
    for path in sorted(ROOT.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "Check" in text else ():
            if isinstance(node, ast.FunctionDef):
                names = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
                if "Check" in names:
                    yield path.relative_to(ROOT), node


def _reductions(function):
    """Calls of ``max``, ``np.max``, ``x.max()`` and their like, but of the problem's own numbers."""
    for call in ast.walk(function):
        if not isinstance(call, ast.Call):
            continue
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if (
            all(isinstance(each, ast.Call) and getattr(each.func, "id", "") == "len" for each in call.args)
            and call.args
        ):
            continue  # whole numbers
        inside = [call.func, *call.args, *(each.value for each in call.keywords)]
        names = {node.id for each in inside for node in ast.walk(each) if isinstance(node, ast.Name)}
        if name in REDUCTIONS and {each for each in names - {"max", "min", "np", "problem"} if not each.isupper()}:
            yield f"{function.name}, line {call.lineno}: {ast.unparse(call)}"


def test_what_verifies_takes_the_largest_by_worst_alone():
    functions = list(_checking())
    assert {"verify"} < {function.name for _, function in functions} and len(functions) > 60
    assert [f"{path} {found}" for path, function in functions for found in _reductions(function)] == []


def test_other_reductions_are_found():
    tree = ast.parse("def verify(x, problem):\n    a = max(0, x), np.max(x), x.min(), max(1.0, problem.n / 2)")
    assert len(list(_reductions(tree.body[0]))) == 3


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.weekly] * (name in damaged_results.LONG))
        for name in damaged_results.SINGLE
    ],
)
def test_every_damaged_number_is_noticed_or_the_page_says_why_not(name):
    found = damaged_results.damage_kernel(name)
    assert found.taken == []
    assert found.tried or found.no_output
    tried(found.tried)
    assert damaged_results.printed(name) == damaged_results.reasons(name, found)
