"""Walks over memory, for intrinsics: addresses that the compiler must take as they are in each turn.

LLVM on its own counts an index and adds it to several addresses.  Loads by such sums split in two inside Intel's cores.
WebAssembly, whose accesses have one address and a constant, needs an addition for each.  Here all accesses of a turn
lie at fixed distances from addresses that move on once a turn.
"""

from llvmlite import ir
from numba.core import cgutils

from kernels.runtime.barriers import unknown
from kernels.runtime.target import WASM

_LONG = ir.IntType(64)
#: Addresses, and what the compiler may know of a sum of them where it would not find it out: it does not wrap around.
ADDRESS, SUM = (ir.IntType(32), ("nuw",)) if WASM else (_LONG, ())


def long(value: int):
    """LLVM's constant of 64 bits."""
    return ir.Constant(_LONG, value)


def gap(builder, value):
    """The number of bytes ``value``, of 64 bits or a constant, as addresses are added."""
    if isinstance(value, int):
        return ir.Constant(ADDRESS, value)
    return builder.trunc(value, ADDRESS) if WASM else value


def beyond(builder, place, distance: int):
    """The address ``distance`` bytes, a constant, after ``place``."""
    return builder.add(place, gap(builder, distance), flags=SUM)


def walk(builder, starts, pace, turns, read):
    """``read(*places)`` in ``turns`` turns, for the addresses ``starts``, then each moved on by ``pace``, and so on.

    Returns the addresses after the last turn.  All are LLVM values, pace in bytes, ``turns`` of 64 bits.
    """
    places = [cgutils.alloca_once_value(builder, start) for start in starts]
    end = builder.add(starts[0], builder.mul(pace, gap(builder, turns)))
    again, turn, done = (builder.append_basic_block(name) for name in ("again", "turn", "done"))
    builder.branch(again)
    builder.position_at_end(again)
    here = [unknown(builder, builder.load(place), "r") for place in places]
    builder.cbranch(builder.icmp_unsigned("!=", here[0], end), turn, done)
    builder.position_at_end(turn)
    read(*here)
    for place, at in zip(places, here, strict=True):
        builder.store(builder.add(at, pace), place)
    builder.branch(again)
    builder.position_at_end(done)
    return here  # not ``end``, whose product the next walk would wait for


def load(builder, place, kind, align: int):
    """The value of an LLVM type at an address that is a multiple of ``align``."""
    return builder.load(builder.inttoptr(place, kind.as_pointer()), align=align)


def store(builder, value, place, align: int) -> None:
    """``value`` to an address that is a multiple of ``align``."""
    builder.store(value, builder.inttoptr(place, value.type.as_pointer()), align=align)
