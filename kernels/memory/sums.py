"""Sums over memory, written as machine code would be: items one by one, whole cache lines with masks, or gathers.

All go by ``kernels.runtime.walks``, with loads at fixed distances from addresses: without, these sums are up to 1.6
times as slow in the first-level cache and 1.1 times from memory on Intel's cores.  LLVM on its own also gathers, or
takes half of the vector length on CPUs whose early models slowed their clock for the whole.

``a`` is a C-contiguous uint32 array; ``n`` (of its first items, or of the items to be read), ``step`` and ``ahead``,
which most do not use, are uint64.  All sums are modulo 2³².  ``kernels.memory.loops`` has the loops that call them.
"""

import functools
import math

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from kernels.runtime.barriers import unknown
from kernels.runtime.target import LANES
from kernels.runtime.vector import ask_for, repeated
from kernels.runtime.walks import ADDRESS, SUM, beyond, gap, load, long, walk

#: 4-byte items of a cache line of 64 bytes, which is one vector here.
LINE_ITEMS = 16
#: Stride up to which whole lines are summed; beyond, a line holds one item or two.
LARGEST_IN_LINE = 8
#: Items of a pass that are loaded without a loop.
LARGEST_FEW = 8
_ITEM = 4  # bytes
_LINE = 64  # bytes
_LINES_AT_ONCE = 16  # lines of a longer turn at most: from memory, 0.95 of the time of turns of four
_LINES_OF_STREAM = 4  # and at most of one of several streams
_LINES_AHEAD = 64  # lines that are asked for before they are read, a page of 4 KiB
_AT_ONCE = 4  # items of a turn, each into a sum of its own: eight took 1.15 times as long in the first-level cache
_LONG_TURN = 32  # and of a long turn, of which each load has so long a stride that AMD's Zen 3 foresees no lines
_WORD, _LONG, _BYTES = ir.IntType(32), ir.IntType(64), ir.IntType(8).as_pointer()
_VECTOR = ir.VectorType(_WORD, LINE_ITEMS)


def turn_lines(step: int) -> int:
    """Cache lines that one turn of ``sum_lines`` with this step reads: at least four, and a whole number of steps.

    At least two where a line takes four registers: their sums are all that sixteen hold.
    """
    period = step // math.gcd(step, LINE_ITEMS)
    return period * -(-(4 if LANES == 8 else 2) // period)


def _walk(builder, start, pace, turns, read, streams=1):
    """``walk`` from one address, calling ``read(place, number)`` with each; returns the address after the last.

    With ``streams``, as many equal parts of the way, by number, are walked side by side, then the turns that are left.
    """
    if streams == 1:
        return walk(builder, [start], pace, turns, lambda place: read(place, 0))[0]
    part = builder.udiv(turns, long(streams))
    way = builder.mul(pace, gap(builder, part))
    starts = [start]
    for _ in range(1, streams):
        starts.append(builder.add(starts[-1], way))

    def read_all(*places):
        for number, place in enumerate(places):
            read(place, number)

    *_, here = walk(builder, starts, pace, part, read_all)
    return _walk(builder, here, pace, builder.urem(turns, long(streams)), read)


def _ask_for(builder, place) -> None:
    """Ask for the cache line of an address, into the first-level cache: up to 1.2 times as fast as into the second."""
    ask_for(builder, builder.inttoptr(place, _BYTES), level=1)


def _add_to(builder, slot, value) -> None:
    builder.store(builder.add(builder.load(slot), value), slot)


def _sums(builder, kind, count: int) -> list:
    """``count`` sums of zero."""
    return [cgutils.alloca_once_value(builder, ir.Constant(kind, None)) for _ in range(count)]


def _total(builder, slots):
    """The sum of all lanes of the sums."""
    first, *others = (builder.load(slot) for slot in slots)
    for other in others:
        first = builder.add(first, other)
    if isinstance(first.type, ir.VectorType):
        kind = ir.FunctionType(_WORD, [first.type])
        name = f"llvm.vector.reduce.add.v{first.type.count}i32"
        first = builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [first])
    return first


def _one_by_one(builder, here, pace, count, total):
    """``total`` and ``count`` items from ``here``."""
    slot = cgutils.alloca_once_value(builder, total)
    _walk(builder, here, pace, count, lambda place, _: _add_to(builder, slot, load(builder, place, _WORD, _ITEM)))
    return builder.load(slot)


def _summing(code):
    """The intrinsic of a uint32 array and three uint64 numbers: ``code(context, builder, address, *numbers)``."""

    @intrinsic
    def function(typingctx, array, n, step, ahead):
        good = isinstance(array, types.Array) and array.dtype == types.uint32 and array.layout == "C"
        if not (good and n == step == ahead == types.uint64):
            return None

        def codegen(context, builder, signature, args):
            data = cgutils.create_struct_proxy(array)(context, builder, args[0]).data
            return code(context, builder, builder.ptrtoint(data, ADDRESS), *args[1:])

        return types.uint32(array, n, step, ahead), codegen

    return function


def _of_lines(builder, here, items, step, ahead, streams):
    """Each line of a turn into a sum of its own, in which the wanted items have fixed lanes; the rest one by one."""
    lines = turn_lines(step)
    together = max(1, (_LINES_AT_ONCE if streams == 1 else _LINES_OF_STREAM) // lines)
    sums = _sums(builder, _VECTOR, lines)

    def read(count):
        def turns(here, _):
            for line in range(count * lines):
                if ahead:
                    _ask_for(builder, beyond(builder, here, _LINE * (line + _LINES_AHEAD)))
                value = load(builder, beyond(builder, here, _LINE * line), _VECTOR, _ITEM)
                _add_to(builder, sums[line % lines], value)

        return turns

    turns = builder.udiv(items, long(LINE_ITEMS * lines))
    longer, rest = builder.udiv(turns, long(together)), builder.urem(turns, long(together))
    here = _walk(builder, here, gap(builder, _LINE * lines * together), longer, read(together), streams)
    if together > 1:
        here = _walk(builder, here, gap(builder, _LINE * lines), rest, read(1))
    for line, slot in enumerate(sums):
        lanes = [2**32 - 1 if (LINE_ITEMS * line + lane) % step == 0 else 0 for lane in range(LINE_ITEMS)]
        builder.store(builder.and_(builder.load(slot), ir.Constant(_VECTOR, lanes)), slot)
    left = builder.urem(items, long(LINE_ITEMS * lines))
    single = builder.udiv(builder.add(left, long(step - 1)), long(step))
    return _one_by_one(builder, here, gap(builder, _ITEM * step), single, _total(builder, sums))


def _choice(builder, number, most, code):
    """The word ``code(number)`` for a number from 1 to ``most``, of which each has a branch."""
    found = cgutils.alloca_once(builder, _WORD)
    done = builder.append_basic_block("summed")
    ways = [builder.append_basic_block(f"of{each}") for each in range(1, most + 1)]
    chosen = builder.switch(number, ways[-1])
    for each, way in enumerate(ways, 1):
        chosen.add_case(long(each), way)
        builder.position_at_end(way)
        builder.store(code(each), found)
        builder.branch(done)
    builder.position_at_end(done)
    return builder.load(found)


def _lines(ahead=False, streams=1):
    """Code that sums whole lines, with a branch for each step."""

    def code(context, builder, here, items, step, _):
        def lines(each):
            return _of_lines(builder, here, items, each, ahead, streams)

        return _choice(builder, step, LARGEST_IN_LINE, lines)

    return code


def _steps(streams=1, asking=False, at_once=_AT_ONCE, turn=None):
    """Code that loads each item by itself, where it is asked for ``ahead`` steps before; ``turn`` items in a turn."""
    turn = turn or at_once

    def code(context, builder, here, count, step, ahead):
        pace = gap(builder, builder.mul(step, long(_ITEM)))
        sums = _sums(builder, _WORD, at_once * streams)

        def read(place, number):
            far = builder.add(place, builder.mul(pace, gap(builder, ahead)))
            at = place
            for k in range(turn):
                distance = builder.mul(pace, gap(builder, k))
                if asking:
                    _ask_for(builder, builder.add(far, distance))
                if turn == at_once:
                    at = builder.add(place, distance, flags=SUM)
                elif k:  # each from the one before: LLVM loads from so many distances in an order of its own
                    at = unknown(builder, builder.add(at, pace, flags=SUM), "r")
                _add_to(builder, sums[at_once * number + k % at_once], load(builder, at, _WORD, _ITEM))

        turns, left = builder.udiv(count, long(turn)), builder.urem(count, long(turn))
        here = _walk(builder, here, builder.mul(pace, gap(builder, turn)), turns, read, streams)
        return _one_by_one(builder, here, pace, left, _total(builder, sums))

    return code


def _few(context, builder, here, count, step, _):
    """One item to ``LARGEST_FEW``, for each count a chain of loads: code that falls through took 1.2 times as long."""
    pace = gap(builder, builder.mul(step, long(_ITEM)))

    def chain(number):
        places = [builder.add(here, builder.mul(pace, gap(builder, k)), flags=SUM) for k in range(number)]
        return functools.reduce(builder.add, [load(builder, place, _WORD, _ITEM) for place in places])

    return _choice(builder, count, LARGEST_FEW, chain)


def _gather(context, builder, here, where, lanes):
    """The vector of the items whose numbers from the address ``here`` are ``where``; one instruction where there is."""
    kind, bits = ir.VectorType(_WORD, lanes), ir.VectorType(ir.IntType(1), lanes)
    if lanes == 8:
        call = ir.FunctionType(kind, [kind, _BYTES, kind, kind, ir.IntType(8)])
        function = cgutils.get_or_insert_function(builder.module, call, "llvm.x86.avx2.gather.d.d.256")
        every, zero = ir.Constant(kind, [2**32 - 1] * lanes), ir.Constant(kind, None)
        scale = ir.Constant(ir.IntType(8), _ITEM)
        return builder.call(function, [zero, builder.inttoptr(here, _BYTES), where, every, scale])
    base = repeated(builder, builder.inttoptr(here, _WORD.as_pointer()), lanes)
    pointers = builder.gep(base, [builder.sext(where, ir.VectorType(_LONG, lanes))], source_etype=_WORD)
    call = ir.FunctionType(kind, [pointers.type, _WORD, bits, kind])
    function = cgutils.get_or_insert_function(builder.module, call, f"llvm.masked.gather.v{lanes}i32.v{lanes}p0")
    every, none = ir.Constant(bits, [1] * lanes), ir.Constant(kind, ir.Undefined)
    return builder.call(function, [pointers, ir.Constant(_WORD, _ITEM), every, none])


def _gathers(context, builder, here, count, step, _):
    """Registers of items into two sums in turn; where the processor has no such instruction, item by item."""
    features = context.codegen().magic_tuple()[2].split(",")
    lanes = 8 if "+avx2" in features and "+avx512f" not in features else LINE_ITEMS
    kind = ir.VectorType(_WORD, lanes)
    sums = _sums(builder, kind, 2)
    where = ir.Constant(kind, ir.Undefined)
    for lane in range(lanes):
        item = builder.trunc(builder.mul(step, long(lane)), _WORD)
        where = builder.insert_element(where, item, ir.Constant(_WORD, lane))
    pace = gap(builder, builder.mul(step, long(_ITEM)))
    second = builder.mul(pace, gap(builder, lanes))

    def read(place, _):
        for slot, at in zip(sums, (place, builder.add(place, second)), strict=True):
            _add_to(builder, slot, _gather(context, builder, at, where, lanes))

    turns, left = builder.udiv(count, long(2 * lanes)), builder.urem(count, long(2 * lanes))
    here = _walk(builder, here, builder.mul(pace, gap(builder, 2 * lanes)), turns, read)
    return _one_by_one(builder, here, pace, left, _total(builder, sums))


#: (a, n, step, ahead): sum of every ``step``-th of the first ``n`` items, 1 ≤ step ≤ 8, of whole lines by turns of
#: ``turn_lines``; each line asked for a page before it is read; and two or four parts of the way side by side.
sum_lines = _summing(_lines())
sum_lines_ahead = _summing(_lines(ahead=True))
sum_lines_streams = _summing(_lines(streams=2))
sum_lines_four = _summing(_lines(streams=4))
#: (a, n, step, ahead): Σ a[k·step] for k < ``n``, a load for each item, four sums, so that loads overlap; each item
#: asked for ``ahead`` steps before, into the first-level cache; four or two sums for each half or quarter of the way;
#: in long turns; without a loop, n ≤ ``LARGEST_FEW``; and a register of items with one instruction, where 16 · step
#: has 31 bits.
sum_steps = _summing(_steps())
sum_steps_ahead = _summing(_steps(asking=True))
sum_steps_streams = _summing(_steps(streams=2))
sum_steps_four = _summing(_steps(streams=4, at_once=2))
sum_steps_long = _summing(_steps(turn=_LONG_TURN))
sum_few = _summing(_few)
sum_gathers = _summing(_gathers)
