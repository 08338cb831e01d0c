"""One number or eight: arithmetic that is written once and compiled for either width.

A routine is a function of *numbers*.  Called with ``SCALAR`` it works on one float64 after another,
called with ``VECTOR`` on eight at once (``kernels.runtime.lanes``).  The width is the type of an argument, so that
one source gives both builds and both do the same operations in the same order: results agree bit for bit,
whatever the width, and whatever lane of a vector a column falls into.
"""

from typing import NamedTuple

from numba import types
from numba.extending import overload

from kernels.runtime.barriers import opaque
from kernels.runtime.lanes import LANES

#: Widths, passed to compiled functions: only the length counts.
SCALAR, VECTOR = (0,), (0,) * LANES
WIDTHS = {"scalar": SCALAR, "vector": VECTOR}


class Part(NamedTuple):
    """Some blocks of blocked fields (blocks, levels, row), which one call works on."""

    first: int  # the first block
    end: int  # the block after the last
    levels: int
    row: int  # places of a row in memory
    count: int  # places of a row that are computed


def one_by_one(x):
    """x itself; a single float64 becomes unknown to the compiler, so that its loop stays scalar."""
    return x


@overload(one_by_one, inline="never")
def _one_by_one(x):
    if x == types.float64:
        return lambda x: opaque(x)
    return lambda x: x
