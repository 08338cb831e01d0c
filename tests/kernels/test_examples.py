"""The examples in the docstrings of the kernels that a reader may use as a library."""

import doctest
import importlib

import pytest


@pytest.mark.parametrize("name", ["bt", "spectral"])
def test_examples_give_what_they_say(name):
    found = doctest.testmod(importlib.import_module(f"kernels.{name}"))
    assert found.attempted and not found.failed
