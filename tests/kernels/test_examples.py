"""The examples of the README, and in the docstrings of the kernels that a reader may use as a library."""

import doctest
import importlib

from listings import KERNELS, blocks

NAMES = ("analysis", "bt", "gridpoint", "imaging", "memory.stride", "routines", "spectral")


def test_examples_give_what_they_say():
    modules = [importlib.import_module(f"supercomputers_rerun.kernels.{name}") for name in NAMES]
    found = [doctest.testfile(str(KERNELS), module_relative=False), *map(doctest.testmod, modules)]
    assert all(each.attempted and not each.failed for each in found)


def test_the_kernel_that_is_read_line_by_line_has_these_lines():
    lines, source = blocks("python", KERNELS), (KERNELS.parent / "memory" / "stride.py").read_text(encoding="utf-8")
    assert lines and [each for each in lines if each not in source] == []
