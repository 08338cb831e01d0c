"""Sums over memory, written as machine code would be: every so many items, or whole cache lines with masks.

Both walk by an address that the compiler must take as it is in each turn, with all loads at fixed distances from it.
LLVM on its own counts an index and adds it to several addresses: such loads split in two inside Intel's cores, which
made these sums up to 1.6 times as slow in the first-level cache and 1.1 times from memory.  It also gathers, or takes
half of the vector length on CPUs whose early models slowed their clock for the whole.
"""

import math

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from kernels.runtime.barriers import unknown
from kernels.runtime.target import LANES, WASM
from kernels.runtime.vector import ask_for

#: 4-byte items of a cache line of 64 bytes, which is one vector here.
LINE_ITEMS = 16
_ITEM = 4  # bytes
_LINE = 64  # bytes
_LINES_AT_ONCE = 16  # lines of a longer turn at most: from memory, 0.95 of the time of turns of four
_WORD, _LONG, _BYTES = ir.IntType(32), ir.IntType(64), ir.IntType(8).as_pointer()
#: Addresses, and what the compiler may know of a sum of them where it would not find it out: it does not wrap around.
_ADDRESS, _SUM = (_WORD, ("nuw",)) if WASM else (_LONG, ())
_VECTOR = ir.VectorType(_WORD, LINE_ITEMS)


def turn_lines(step: int) -> int:
    """Cache lines that one turn of ``sum_lines`` with this step reads: at least four, and a whole number of steps.

    At least two where a line takes four registers: their sums are all that sixteen hold.
    """
    period = step // math.gcd(step, LINE_ITEMS)
    return period * -(-(4 if LANES == 8 else 2) // period)


def _long(value: int):
    return ir.Constant(_LONG, value)


def _gap(builder, value):
    """The number of bytes ``value``, of 64 bits or a constant, as addresses are added."""
    if isinstance(value, int):
        return ir.Constant(_ADDRESS, value)
    return builder.trunc(value, _ADDRESS) if WASM else value


def _walk(builder, start, pace, turns, read):
    """``read(p)`` for p = start, start + pace, … in ``turns`` turns; returns the address after the last.

    All are LLVM values, addresses and paces in bytes, ``turns`` of 64 bits.
    """
    place = cgutils.alloca_once_value(builder, start)
    end = builder.add(start, builder.mul(pace, _gap(builder, turns)))
    again, turn, done = (builder.append_basic_block(name) for name in ("again", "turn", "done"))
    builder.branch(again)
    builder.position_at_end(again)
    here = unknown(builder, builder.load(place), "r")
    builder.cbranch(builder.icmp_unsigned("!=", here, end), turn, done)
    builder.position_at_end(turn)
    read(here)
    builder.store(builder.add(here, pace), place)
    builder.branch(again)
    builder.position_at_end(done)
    return here  # not ``end``, whose product the next walk would wait for


def _load(builder, place, kind):
    loaded = builder.load(builder.inttoptr(place, kind.as_pointer()))
    loaded.align = _ITEM
    return loaded


def _add_to(builder, slot, value) -> None:
    builder.store(builder.add(builder.load(slot), value), slot)


def _sums(builder, kind, count: int) -> list:
    """``count`` sums of zero."""
    sums = [cgutils.alloca_once(builder, kind) for _ in range(count)]
    for slot in sums:
        builder.store(ir.Constant(kind, None), slot)
    return sums


def _address(context, builder, array, value):
    return builder.ptrtoint(cgutils.create_struct_proxy(array)(context, builder, value).data, _ADDRESS)


def _is_items(array) -> bool:
    return isinstance(array, types.Array) and array.dtype == types.uint32 and array.layout == "C"


def _lines_summed(step: int):
    """``sum_lines(a, n) -> uint32``: sum modulo 2³² of every ``step``-th of the first ``n`` items of a uint32 array.

    Whole lines are read by turns of ``turn_lines(step)``, each line of a turn into a sum of its own, in which the
    wanted items have fixed lanes; only these are added up at the end.  Items after the last turn are read one by one.
    ``a`` is C-contiguous, ``n`` a uint64 that is at most its size.
    """
    lines = turn_lines(step)
    together = max(1, _LINES_AT_ONCE // lines)

    @intrinsic
    def sum_lines(typingctx, array, items):
        if not (_is_items(array) and items == types.uint64):
            return None

        def codegen(context, builder, signature, args):
            sums = _sums(builder, _VECTOR, lines)

            def read(count):
                def turns(here):
                    for line in range(count * lines):
                        value = _load(builder, builder.add(here, _gap(builder, _LINE * line), flags=_SUM), _VECTOR)
                        _add_to(builder, sums[line % lines], value)

                return turns

            turns = builder.udiv(args[1], _long(LINE_ITEMS * lines))
            longer = builder.udiv(turns, _long(together))
            rest = builder.urem(turns, _long(together))
            here = _address(context, builder, array, args[0])
            here = _walk(builder, here, _gap(builder, _LINE * lines * together), longer, read(together))
            here = _walk(builder, here, _gap(builder, _LINE * lines), rest, read(1))
            both = ir.Constant(_VECTOR, None)
            for line, slot in enumerate(sums):
                lanes = [2**32 - 1 if (LINE_ITEMS * line + lane) % step == 0 else 0 for lane in range(LINE_ITEMS)]
                both = builder.add(both, builder.and_(builder.load(slot), ir.Constant(_VECTOR, lanes)))
            kind = ir.FunctionType(_WORD, [_VECTOR])
            reduce = cgutils.get_or_insert_function(builder.module, kind, f"llvm.vector.reduce.add.v{LINE_ITEMS}i32")
            total = cgutils.alloca_once_value(builder, builder.call(reduce, [both]))
            left = builder.urem(args[1], _long(LINE_ITEMS * lines))
            single = builder.udiv(builder.add(left, _long(step - 1)), _long(step))
            one = _gap(builder, _ITEM * step)
            _walk(builder, here, one, single, lambda p: _add_to(builder, total, _load(builder, p, _WORD)))
            return builder.load(total)

        return types.uint32(array, items), codegen

    return sum_lines


sum_lines_1, sum_lines_2, sum_lines_3, sum_lines_4 = (_lines_summed(step) for step in (1, 2, 3, 4))
sum_lines_5, sum_lines_6, sum_lines_7, sum_lines_8 = (_lines_summed(step) for step in (5, 6, 7, 8))


def _steps_summed(ahead: int):
    """``sum_steps(a, n, step) -> uint32``: Σ a[k·step] modulo 2³² for k < ``n``, a load for each item.

    Eight sums, so that loads overlap; with ``ahead``, each item is asked for that many steps before it is read, into
    the second-level cache.  ``a`` is uint32 and C-contiguous, ``n`` and ``step`` are uint64.
    """

    @intrinsic
    def sum_steps(typingctx, array, count, step):
        if not (_is_items(array) and count == step == types.uint64):
            return None

        def codegen(context, builder, signature, args):
            pace = _gap(builder, builder.mul(args[2], _long(_ITEM)))
            together = 4 if WASM else 8  # browsers load all before they add, and have twelve registers or fewer
            sums = _sums(builder, _WORD, together)

            def read(number):
                def items(here):
                    # fewer distances, or some would not stay in registers
                    middle = builder.add(here, builder.mul(pace, _gap(builder, 4)))
                    for k in range(number):
                        place = builder.add(middle if k > 3 else here, builder.mul(pace, _gap(builder, k % 4)))
                        if ahead:
                            far = builder.add(place, builder.mul(pace, _gap(builder, ahead)))
                            ask_for(builder, builder.inttoptr(far, _BYTES))
                        _add_to(builder, sums[k], _load(builder, place, _WORD))

                return items

            here, left = _address(context, builder, array, args[0]), args[1]
            for number in [each for each in (8, 4, 1) if each <= together]:
                turns = builder.udiv(left, _long(number))
                here = _walk(builder, here, builder.mul(pace, _gap(builder, number)), turns, read(number))
                left = builder.urem(left, _long(number))
            total = ir.Constant(_WORD, 0)
            for slot in sums:
                total = builder.add(total, builder.load(slot))
            return total

        return types.uint32(array, count, step), codegen

    return sum_steps


sum_steps, sum_steps_ahead = _steps_summed(0), _steps_summed(32)
