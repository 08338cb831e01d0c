"""The examples of the README, and in the docstrings of the kernels that a reader may use as a library."""

import doctest
import importlib
import re
from pathlib import Path

KERNELS = Path(__file__).parents[2] / "kernels"

NAMES = ("analysis", "bt", "gridpoint", "imaging", "memory.stride", "routines", "spectral")


def test_examples_give_what_they_say():
    modules = [importlib.import_module(f"supercomputers_rerun.kernels.{name}") for name in NAMES]
    found = [doctest.testfile("../../kernels/README.md"), *map(doctest.testmod, modules)]
    assert all(each.attempted and not each.failed for each in found)


def test_the_kernel_that_is_read_line_by_line_has_these_lines():
    blocks = re.findall(r"```python\n(?!>>>)(.*?)```", (KERNELS / "README.md").read_text(encoding="utf-8"), re.S)
    source = (KERNELS / "memory" / "stride.py").read_text(encoding="utf-8")
    assert blocks and [each for each in blocks if each not in source] == []
