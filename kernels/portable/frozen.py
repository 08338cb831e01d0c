"""Arguments of compiled functions as one block of memory, in which compiled code finds them again.

What a plan of transforms or a forecast prepares are tuples of arrays and numbers.  A browser is given a block with all
the arrays, and code in which their places and the numbers are constants.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import typeof, types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

from supercomputers_rerun.kernels.contract import ceil_div
from supercomputers_rerun.kernels.runtime.arrays import LINE

_WORD = 8  # bytes


class Frozen(NamedTuple):
    """A block."""

    words: np.ndarray  # int64: how it begins; what follows is zero
    length: int  # words in all
    thawed: Any  # the intrinsic ``thawed(block)`` of an address: the arguments


def _arrays(value) -> Iterator[np.ndarray]:
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, tuple):
        for each in value:
            yield from _arrays(each)


def _key(array: np.ndarray) -> tuple[int, int]:
    return array.ctypes.data, array.nbytes


def frozen(arguments: tuple) -> Frozen:
    """A block of ``arguments``: C-contiguous arrays, numbers, and tuples of either, named or not.

    One memory that is there twice, with one length, is one in the block.  What is zero from end to end stands behind
    the rest, and is not kept.
    """
    arrays = {_key(array): array for array in _arrays(arguments)}
    places, end, begin = {}, 0, 0
    for key, array in sorted(arrays.items(), key=lambda each: not each[1].any()):
        places[key] = end
        end += ceil_div(array.nbytes, LINE) * LINE
        begin = end if array.any() else begin
    words = np.zeros(begin // _WORD, np.int64)
    for key, array in arrays.items():
        if array.any():
            words.view(np.uint8)[places[key] :][: array.nbytes] = array.reshape(-1).view(np.uint8)
    kind = typeof(arguments)

    @intrinsic
    def thawed(typingctx, block):
        def code(context, builder, sig, args):
            base = builder.bitcast(args[0], ir.IntType(8).as_pointer())
            return _made(context, builder, kind, arguments, base, places)

        return kind(block), code

    return Frozen(words, end // _WORD, thawed)


def _made(context, builder, kind, value, base, places):
    """The LLVM value of a numba type that stands for ``value``, its arrays in the block at ``base``."""
    if isinstance(kind, types.BaseTuple):
        parts = [_made(context, builder, *each, base, places) for each in zip(kind, value, strict=True)]
        return context.make_tuple(builder, kind, parts)
    if not isinstance(kind, types.Array):
        return context.get_constant(kind, value)
    made = make_array(kind)(context, builder)
    data = builder.gep(base, [context.get_constant(types.intp, places[_key(value)])])
    shape, strides = ([context.get_constant(types.intp, n) for n in each] for each in (value.shape, value.strides))
    size = context.get_constant(types.intp, value.itemsize)
    populate_array(made, builder.bitcast(data, made.data.type), shape, strides, size, meminfo=None)
    return made._getvalue()
