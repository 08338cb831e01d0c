"""Loops that sum over memory, pass after pass, one for each way of reading.

Each sums every ``stride``-th of the first ``items`` of ``a``, ``passes`` times (less than 2³²); some ask for an item
``ahead`` steps before they read it, the others do not use this number.  ``a`` is a C-contiguous uint32 array, ``out``
uint32, of two numbers or more: out[0] becomes the sum, and out[1] counts the passes.
"""

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
def _counted(a, out, made):
    """The counter of ``out`` after the pass over ``a`` behind the ``made`` ones.

    It stays in a register: a pass of few items would last as long as its way through memory.
    """
    made = np.uint32(made + np.uint32(1))
    out[1] = made
    barrier(a)
    return made


@kernel
def sum_in_lines(a, items, stride, ahead, passes, out):
    """Whole lines, ``stride`` up to 8."""
    made, last = out[1], np.uint32(np.int64(out[1]) + passes)
    while made != last:
        out[0] = sum_lines(a, np.uint64(items), np.uint64(stride), np.uint64(ahead))
        made = _counted(a, out, made)


@kernel
def _in_lines_ahead(a, items, stride, ahead, passes, out):
    """Whole lines, asked for a page ahead."""
    made, last = out[1], np.uint32(np.int64(out[1]) + passes)
    while made != last:
        out[0] = sum_lines_ahead(a, np.uint64(items), np.uint64(stride), np.uint64(ahead))
        made = _counted(a, out, made)


@kernel
def _in_lines_streams(a, items, stride, ahead, passes, out):
    """Whole lines, two streams of them."""
    made, last = out[1], np.uint32(np.int64(out[1]) + passes)
    while made != last:
        out[0] = sum_lines_streams(a, np.uint64(items), np.uint64(stride), np.uint64(ahead))
        made = _counted(a, out, made)


@kernel
def _in_lines_four(a, items, stride, ahead, passes, out):
    """Whole lines, four streams of them."""
    made, last = out[1], np.uint32(np.int64(out[1]) + passes)
    while made != last:
        out[0] = sum_lines_four(a, np.uint64(items), np.uint64(stride), np.uint64(ahead))
        made = _counted(a, out, made)


@kernel
def sum_strided(a, items, stride, ahead, passes, out):
    """A load for each item."""
    n = _reads(items, stride)
    made, last = out[1], np.uint32(np.int64(out[1]) + passes)
    while made != last:
        out[0] = sum_steps(a, n, np.uint64(stride), np.uint64(ahead))
        made = _counted(a, out, made)


@kernel
def _strided_ahead(a, items, stride, ahead, passes, out):
    """A load for each item, asked for ``ahead`` steps before."""
    n = _reads(items, stride)
    made, last = out[1], np.uint32(np.int64(out[1]) + passes)
    while made != last:
        out[0] = sum_steps_ahead(a, n, np.uint64(stride), np.uint64(ahead))
        made = _counted(a, out, made)


@kernel
def _strided_streams(a, items, stride, ahead, passes, out):
    """A load for each item, two streams of them."""
    n = _reads(items, stride)
    made, last = out[1], np.uint32(np.int64(out[1]) + passes)
    while made != last:
        out[0] = sum_steps_streams(a, n, np.uint64(stride), np.uint64(ahead))
        made = _counted(a, out, made)


@kernel
def _strided_four(a, items, stride, ahead, passes, out):
    """A load for each item, four streams of them."""
    n = _reads(items, stride)
    made, last = out[1], np.uint32(np.int64(out[1]) + passes)
    while made != last:
        out[0] = sum_steps_four(a, n, np.uint64(stride), np.uint64(ahead))
        made = _counted(a, out, made)


@kernel
def _strided_long(a, items, stride, ahead, passes, out):
    """A load for each item, in long turns."""
    n = _reads(items, stride)
    made, last = out[1], np.uint32(np.int64(out[1]) + passes)
    while made != last:
        out[0] = sum_steps_long(a, n, np.uint64(stride), np.uint64(ahead))
        made = _counted(a, out, made)


@kernel
def _strided_few(a, items, stride, ahead, passes, out):
    """A load for each of at most ``LARGEST_FEW`` items."""
    n = _reads(items, stride)
    made, last = out[1], np.uint32(np.int64(out[1]) + passes)
    while made != last:
        out[0] = sum_few(a, n, np.uint64(stride), np.uint64(ahead))
        made = _counted(a, out, made)


@kernel
def _gathered(a, items, stride, ahead, passes, out):
    """A register of items with one instruction."""
    n = _reads(items, stride)
    made, last = out[1], np.uint32(np.int64(out[1]) + passes)
    while made != last:
        out[0] = sum_gathers(a, n, np.uint64(stride), np.uint64(ahead))
        made = _counted(a, out, made)


#: By name, a loop, and how many steps ahead it asks for items.
METHODS = {
    "lines": (sum_in_lines, 0),
    "lines, a page ahead": (_in_lines_ahead, 0),
    "lines, two streams": (_in_lines_streams, 0),
    "lines, four streams": (_in_lines_four, 0),
    "items": (sum_strided, 0),
    "items, 16 ahead": (_strided_ahead, 16),
    "items, 64 ahead": (_strided_ahead, 64),
    "items, two streams": (_strided_streams, 0),
    "items, four streams": (_strided_four, 0),
    "items, long turns": (_strided_long, 0),
    "few items": (_strided_few, 0),
    "gathers": (_gathered, 0),
}
