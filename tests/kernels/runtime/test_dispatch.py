"""What only compiled code calls has no wrappers; Python may call it all the same, and what is kept serves both."""

import importlib
import sys

import numpy as np
import pytest
from numba import prange

from kernels.runtime import cache
from kernels.runtime.dispatch import bare
from kernels.runtime.jit import kernel

MADE = """
from kernels.runtime.jit import kernel

@kernel
def inner(x):
    return x + 1.0

@kernel
def outer(x):
    return 2.0 * inner(x)

@kernel
def refused(x):
    if x < 0:
        raise ValueError("no root of", x)
    return x ** 0.5

@kernel
def root(x):
    return refused(x)
"""


def results(function):
    """Whether each compiled form of a function is bare."""
    return [bare(result) for result in function.overloads.values()]


def test_an_inner_function_has_no_wrappers_until_python_calls_it():
    @kernel
    def inner(x):
        return x + 1.0

    @kernel
    def outer(x):
        return 2.0 * inner(x)

    assert outer(1.0) == 4.0
    assert (results(inner), results(outer)) == ([True], [False])
    assert inner(1.0) == 2.0 and inner(2.0) == 3.0
    assert results(inner) == [False] and outer(2.0) == 6.0

    @kernel
    def later(x):
        return inner(x)

    assert later(1.0) == 2.0 and results(inner) == [False]


def test_what_compiled_code_alone_calls_is_no_machine_code():
    @kernel
    def inner(x):
        return x + 1.0

    @kernel(parallel=True)
    def outer(x, many):
        for i in prange(many.size):
            many[i] = inner(x)

    many = np.empty(3)
    outer(1.0, many)
    made = [library(function)._get_compiled_object() != b"" for function in (inner, outer)]
    assert list(many) == [2.0] * 3 and made == [False, True]
    assert inner(2.0) == 3.0 and library(inner)._get_compiled_object()


def library(function):
    """Of the only compiled form of a function."""
    (result,) = function.overloads.values()
    return result.library


def test_one_that_calls_itself_and_one_with_threads():
    @kernel
    def factorial(n):
        if n < 2:
            return 1
        return n * factorial(n - 1)

    @kernel(parallel=True)
    def doubled(values):
        return values + values

    @kernel
    def outer(values, n):
        return doubled(values).sum() + factorial(n)

    assert outer(np.arange(4.0), 4) == 36.0
    assert factorial(5) == 120
    assert list(doubled(np.arange(3.0))) == [0.0, 2.0, 4.0]


def test_what_takes_an_address_and_what_raises_has_wrappers():
    @kernel
    def refused(x):
        if x < 0:
            raise ValueError("below zero")
        return x

    @kernel
    def outer(x):
        return refused(x)

    with pytest.raises(ValueError, match="below zero"):
        outer(-1.0)
    (signature,) = refused.nopython_signatures
    assert results(refused) == [True]
    assert not bare(refused.get_compile_result(signature))
    with pytest.raises(ValueError, match="below zero"):
        refused(-1.0)


@pytest.fixture
def made(tmp_path, monkeypatch):
    """``made()`` imports a module of two functions anew, as another process would; its cache stays."""
    monkeypatch.setattr(cache, "CACHE_FOLDER", tmp_path / "cache")
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "made_here.py").write_text(MADE)

    def anew():
        sys.modules.pop("made_here", None)
        return importlib.import_module("made_here")

    yield anew
    sys.modules.pop("made_here", None)


def hits(function):
    return sum(function.stats.cache_hits.values())


def test_both_forms_are_kept_and_neither_answers_for_the_other(made):
    first = made()
    assert first.outer(1.0) == 4.0
    second = made()
    assert second.inner(1.0) == 2.0 and hits(second.inner) == 0  # kept without wrappers alone
    third = made()
    assert third.inner(1.0) == 2.0 and third.outer(1.0) == 4.0
    assert (hits(third.inner), hits(third.outer)) == (1, 1)
    inner = made().inner

    @kernel(cache=False)
    def another(x):
        return inner(x)

    assert another(1.0) == 2.0 and hits(inner) == 1 and results(inner) == [False]  # the one that serves both


def test_what_raises_says_so_from_the_cache_too(made):
    """A message with a number comes by way of an environment, which each function has a variable for."""
    for _ in range(2):
        modules = made()
        with pytest.raises(ValueError, match="no root of") as caught:
            modules.root(-1.0)
        assert caught.value.args == ("no root of", -1.0)
    another = made()
    with pytest.raises(ValueError, match="no root of"):
        another.refused(-1.0)
