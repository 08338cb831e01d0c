"""Sums of every ``stride``-th 4-byte item of an array: as one writes it, by whole cache lines, and item by item.

The two fast forms are made of LLVM's instructions, with loads at fixed distances from one address that moves on once a
turn.  LLVM on its own counts an index, gathers, or takes half of the vector length; see each form for what that costs.

``a`` is a C-contiguous uint32 array, of which the first ``items`` count; sums are modulo 2³².
"""

import math

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from kernels.runtime.barriers import barrier, unknown
from kernels.runtime.jit import kernel
from kernels.runtime.target import LANES, WASM

#: Items of a cache line of 64 bytes, which is one vector here.
LINE_ITEMS = 16
#: Stride up to which whole lines are summed; beyond, a line holds one item or two.
LARGEST_IN_LINE = 8
_ITEM, _LINE = 4, 64  # bytes
_SUMS = 4  # of single items, so that loads overlap
_WORD, _VECTOR = ir.IntType(32), ir.VectorType(ir.IntType(32), LINE_ITEMS)
#: Addresses, and what LLVM would not find out of a sum of them in WebAssembly: it does not wrap around.
_ADDRESS, _SUM = (ir.IntType(32), ("nuw",)) if WASM else (ir.IntType(64), ())


@kernel
def plain(a, items, stride):
    """The sum, as one writes it."""
    total = np.uint32(0)
    for i in range(0, items, stride):
        total = np.uint32(total + a[i])
    return total


def turn_lines(stride: int) -> int:
    """Cache lines of a turn: a whole number of strides, and enough for additions to wait for none before them."""
    period = stride // math.gcd(stride, LINE_ITEMS)
    return period * -(-max(1, LANES // 2) // period)


def _number(value: int):
    return ir.Constant(_ADDRESS, value)


def _walk(builder, start, pace, turns, read):
    """``read(place)`` in so many ``turns``, from the address ``start`` on by ``pace`` bytes; the address after the
    last."""
    slot = cgutils.alloca_once_value(builder, start)
    end = builder.add(start, builder.mul(pace, turns))
    again, turn, done = (builder.append_basic_block(name) for name in ("again", "turn", "done"))
    builder.branch(again)
    builder.position_at_end(again)
    place = unknown(builder, builder.load(slot), "r")  # or LLVM would make of it the sum of a base and an index
    builder.cbranch(builder.icmp_unsigned("!=", place, end), turn, done)
    builder.position_at_end(turn)
    read(place)
    builder.store(builder.add(place, pace), slot)
    builder.branch(again)
    builder.position_at_end(done)
    return place


def _add_from(builder, place, slot) -> None:
    """Add to a sum what lies at an address."""
    kind = builder.load(slot).type
    value = builder.load(builder.inttoptr(place, kind.as_pointer()), align=_ITEM)
    builder.store(builder.add(builder.load(slot), value), slot)


def _zeros(builder, kind, count: int) -> list:
    return [cgutils.alloca_once_value(builder, ir.Constant(kind, None)) for _ in range(count)]


def _total(builder, slots, place, pace, left):
    """The sum of all sums, and of the ``left`` items from ``place`` on, which filled no turn."""
    rest = cgutils.alloca_once_value(builder, ir.Constant(_WORD, 0))
    _walk(builder, place, pace, left, lambda here: _add_from(builder, here, rest))
    total, *others = (builder.load(slot) for slot in slots)
    for other in others:
        total = builder.add(total, other)
    if total.type == _VECTOR:
        reduce = ir.FunctionType(_WORD, [_VECTOR])
        name = f"llvm.vector.reduce.add.v{LINE_ITEMS}i32"
        total = builder.call(cgutils.get_or_insert_function(builder.module, reduce, name), [total])
    return builder.add(total, builder.load(rest))


def _in_lines(builder, start, items, stride: int):
    """Each line of a turn goes into a sum of its own, in which the wanted items have fixed lanes."""
    lines = turn_lines(stride)
    sums, size = _zeros(builder, _VECTOR, lines), _number(LINE_ITEMS * lines)

    def read(place):
        for line, slot in enumerate(sums):
            _add_from(builder, builder.add(place, _number(_LINE * line), flags=_SUM), slot)

    place = _walk(builder, start, _number(_LINE * lines), builder.udiv(items, size), read)
    for line, slot in enumerate(sums):
        wanted = [-((LINE_ITEMS * line + lane) % stride == 0) for lane in range(LINE_ITEMS)]
        builder.store(builder.and_(builder.load(slot), ir.Constant(_VECTOR, wanted)), slot)
    left = builder.udiv(builder.add(builder.urem(items, size), _number(stride - 1)), _number(stride))
    return _total(builder, sums, place, _number(_ITEM * stride), left)


def _lines(builder, start, items, stride):
    """A branch for each stride, whose lanes are then known."""
    found = cgutils.alloca_once(builder, _WORD)
    done = builder.append_basic_block("summed")
    ways = [builder.append_basic_block(f"stride{each}") for each in range(1, LARGEST_IN_LINE + 1)]
    chosen = builder.switch(stride, ways[-1])
    for each, way in enumerate(ways, 1):
        chosen.add_case(_number(each), way)
        builder.position_at_end(way)
        builder.store(_in_lines(builder, start, items, each), found)
        builder.branch(done)
    builder.position_at_end(done)
    return builder.load(found)


def _items(builder, start, items, stride):
    """Eight items a turn into four sums in turn, the later four at distances from an address of their own.

    Of 4 to 32 KiB it takes 0.77 to 0.9 of the time of turns of four (AMD's Zen 4), beyond the first cache as long.
    """
    sums, pace = _zeros(builder, _WORD, _SUMS), builder.mul(stride, _number(_ITEM))
    count = builder.udiv(builder.add(items, builder.sub(stride, _number(1))), stride)
    half, turn = builder.mul(pace, _number(_SUMS)), _number(2 * _SUMS)

    def read(place):
        for here in (place, unknown(builder, builder.add(place, half, flags=_SUM), "r")):
            for k, slot in enumerate(sums):
                _add_from(builder, builder.add(here, builder.mul(pace, _number(k)), flags=_SUM), slot)

    place = _walk(builder, start, builder.mul(pace, turn), builder.udiv(count, turn), read)
    return _total(builder, sums, place, pace, builder.urem(count, turn))


def _summing(code):
    """The intrinsic ``f(a, items, stride)`` of an array and two uint64: ``code(builder, address, items, stride)``."""

    @intrinsic
    def function(typingctx, a, items, stride):
        if not (a.dtype == types.uint32 and a.layout == "C" and items == stride == types.uint64):
            return None

        def codegen(context, builder, signature, args):
            data = cgutils.create_struct_proxy(a)(context, builder, args[0]).data
            numbers = [builder.trunc(each, _ADDRESS) if WASM else each for each in args[1:]]
            return code(builder, builder.ptrtoint(data, _ADDRESS), *numbers)

        return types.uint32(a, items, stride), codegen

    return function


_sum_of_lines, _sum_of_items = _summing(_lines), _summing(_items)


@kernel
def sum_lines(a, items, stride, passes, out):
    """``passes`` sums with a ``stride`` of 1 to 8, of vectors of whole cache lines with the other items masked out.

    ``out``, uint64 (2,) or longer, gets the sum and the number of passes made.
    """
    for made in range(passes):
        out[0] = _sum_of_lines(a, np.uint64(items), np.uint64(stride))
        out[1] = made + 1
        barrier(a)


@kernel
def sum_items(a, items, stride, passes, out):
    """``passes`` sums with any ``stride``, a load for each item; ``out`` as in :func:`sum_lines`."""
    for made in range(passes):
        out[0] = _sum_of_items(a, np.uint64(items), np.uint64(stride))
        out[1] = made + 1
        barrier(a)
