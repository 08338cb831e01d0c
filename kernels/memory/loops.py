"""Loops that sum over memory, pass after pass, one for each way of reading.

Each sums every ``stride``-th of the first ``items`` of ``a``, ``passes`` times (less than 2³²); some ask for an item
``ahead`` steps before they read it, the others do not use this number.  ``a`` is a C-contiguous uint32 array, ``out``
uint32, of two numbers or more: out[0] becomes the sum, and out[1] counts the passes.
"""

from types import FunctionType

import numpy as np

from kernels.memory.sums import (
    sum_few,
    sum_gathers,
    sum_lines,
    sum_lines_ahead,
    sum_lines_four,
    sum_lines_streams,
    sum_steps,
    sum_steps_ahead,
    sum_steps_four,
    sum_steps_long,
    sum_steps_streams,
)
from kernels.runtime.barriers import barrier
from kernels.runtime.jit import kernel


@kernel(inline=True)
def _reads(items, stride):
    """How many of ``items`` are read where every ``stride``-th is, uint64."""
    return (np.uint64(items) + np.uint64(stride) - np.uint64(1)) // np.uint64(stride)


@kernel(inline=True)
def _all(items, stride):
    """All ``items``, uint64: whole lines are read, whatever the ``stride``."""
    return np.uint64(items)


@kernel(inline=True)
def _counted(a, out, made):
    """The counter of ``out`` after the pass over ``a`` behind the ``made`` ones.

    It stays in a register: a pass of few items would last as long as its way through memory.
    """
    made = np.uint32(made + np.uint32(1))
    out[1] = made
    barrier(a)
    return made


_total, _number = sum_steps, _reads  # names in ``_passes``; each loop has its own


def _passes(a, items, stride, ahead, passes, out):
    """What all loops are: ``passes`` sums by ``_total`` of as many items as ``_number`` says."""
    n = _number(items, stride)
    made, last = out[1], np.uint32(np.int64(out[1]) + passes)
    while made != last:
        out[0] = _total(a, n, np.uint64(stride), np.uint64(ahead))
        made = _counted(a, out, made)


def _loop(name, total, number=_reads):
    """``_passes`` by the sum ``total`` of ``number`` items."""
    # numba keeps machine code by qualified name; a closure would add to the key what each process draws anew
    loop = FunctionType(_passes.__code__, {**globals(), "_total": total, "_number": number}, name)
    loop.__qualname__, loop.__module__, loop.__doc__ = name, __name__, _passes.__doc__
    return kernel(loop)


sum_in_lines = _loop("sum_in_lines", sum_lines, _all)
sum_strided = _loop("sum_strided", sum_steps)
_asking = _loop("strided_ahead", sum_steps_ahead)

#: By name, a loop, and how many steps ahead it asks for items.
METHODS = {
    "lines": (sum_in_lines, 0),
    "lines, a page ahead": (_loop("in_lines_ahead", sum_lines_ahead, _all), 0),
    "lines, two streams": (_loop("in_lines_streams", sum_lines_streams, _all), 0),
    "lines, four streams": (_loop("in_lines_four", sum_lines_four, _all), 0),
    "items": (sum_strided, 0),
    "items, 16 ahead": (_asking, 16),
    "items, 64 ahead": (_asking, 64),
    "items, two streams": (_loop("strided_streams", sum_steps_streams), 0),
    "items, four streams": (_loop("strided_four", sum_steps_four), 0),
    "items, long turns": (_loop("strided_long", sum_steps_long), 0),
    "few items": (_loop("strided_few", sum_few), 0),
    "gathers": (_loop("gathered", sum_gathers), 0),
}
