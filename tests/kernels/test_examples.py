"""The examples of the README, and in the docstrings of the kernels that a reader may use as a library."""

import doctest
import importlib

NAMES = ("analysis", "bt", "gridpoint", "imaging", "memory.stride", "routines", "spectral")


def test_examples_give_what_they_say():
    modules = [importlib.import_module(f"kernels.{name}") for name in NAMES]
    found = [doctest.testfile("../../kernels/README.md"), *map(doctest.testmod, modules)]
    assert all(each.attempted and not each.failed for each in found)
