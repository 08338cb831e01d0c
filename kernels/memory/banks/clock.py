"""The bank simulator's clock: a few register operations for a port and a cycle, no list of banks walked.

A set of banks is one 64-bit word.  The pattern of ``banks`` bits is repeated until the word is full,
so a request for bank b is the word with bits b, b + banks, b + 2 banks … set, and the next element of
a vector is that word rotated by the stride: one machine instruction, whatever the number of banks.  The
section of a bank is another such word.  A port's request is granted where its word and the word of
what is busy or taken have no bit in common.  A port that asks for nothing asks for the empty set of banks, so that a
cycle looks at no counter but those that it changes.

Functions share ``states`` and ``memory`` of :func:`kernels.memory.banks.compiled.simulate`, and these: ``job``, a
number; ``cpu`` and ``row``, the sixteen numbers of a row of ``states``; ``asked``, the twelve of :func:`_asked`;
``later``, the three of :func:`_later`; ``t``, the cycle; ``until``, the one before which the walk need not stop;
``busy``, the banks that are busy; ``ring``, uint64 (16,), the banks granted in each of the last cycles; ``single``,
whether a CPU has one line to a section.
"""

from typing import NamedTuple

import numpy as np

from kernels.runtime.jit import kernel

U = np.uint64
ZERO, ONE, FULL, HALF = U(0), U(1), U(63), U(64)
ALL = U(2**64 - 1)
RING = U(15)  # index mask of the ring of grants
NEVER = U(2**63)
BEYOND = U(2**62)  # more than elements of a strip; added to those of the strip before, which wait for no load

#: Columns of a CPU's state: banks and sections that the ports ask for next, cycles from the end of this strip to
#: the next one, elements left (of C those of the strip before and of this strip), strides, first cycle of the
#: chained store, all ones where the next strip waits for the store, cycle before which the next strip need not be
#: looked at.
BANK_A, BANK_B, BANK_C, SECTION_A, SECTION_B, GAP, LEFT_A, LEFT_B, OLD_C, LEFT_C = range(10)
BY_A, BY_B, BY_C, CHAINED, HOLDS, READY = range(10, 16)


class Memory(NamedTuple):
    """What does not change."""

    busy: np.uint64  # cycles for which a granted bank stays busy, 1 … 15
    one_line: np.uint64  # all ones where a CPU has one line to a section, else zero
    two_lines: np.uint64  # all ones where it has two, else zero
    alternating: np.uint64  # 1 where the order of the CPUs is reversed in every other cycle
    leap: bool  # whether whole periods are leapt over
    limit: np.uint64  # cycle at which to stop, NEVER for the end of the jobs


@kernel(inline=True)
def _rotated(word, by):
    """The set of banks ``word`` moved on ``by`` 0 … 63 banks."""
    return (word << by) | (word >> ((HALF - by) & FULL))


@kernel(inline=True)
def load_row(states, job):
    """A CPU's row as sixteen values; no view of the row, which would count references."""
    s, k = states, job
    return (
        s[k, 0], s[k, 1], s[k, 2], s[k, 3], s[k, 4], s[k, 5], s[k, 6], s[k, 7],
        s[k, 8], s[k, 9], s[k, 10], s[k, 11], s[k, 12], s[k, 13], s[k, 14], s[k, 15],
    )  # fmt: skip


@kernel(inline=True)
def due(cpu, t):
    """Whether nothing is left that the next strip has to wait for."""
    return ((cpu[LEFT_A] | cpu[LEFT_B] | cpu[OLD_C] | (cpu[LEFT_C] & cpu[HOLDS])) == ZERO) & (t >= cpu[READY])


@kernel(inline=True)
def asks(cpu):
    """Whether a port has elements left to ask for."""
    return (cpu[LEFT_A] | cpu[LEFT_B] | cpu[OLD_C] | cpu[LEFT_C]) != ZERO


@kernel(inline=True)
def _asked(row):
    """What the CPU of a ``row`` asks for: the banks of A, B and C, sections of A and B, elements left of each, strides,
    and where the elements of C end.  A port without elements asks for nothing, and C for nothing before
    :func:`_chained`."""
    a = row[BANK_A] if row[LEFT_A] != ZERO else ZERO
    b = row[BANK_B] if row[LEFT_B] != ZERO else ZERO
    end = BEYOND if row[OLD_C] != ZERO else ZERO
    left = row[OLD_C] + BEYOND if row[OLD_C] != ZERO else row[LEFT_C]
    asked = a, b, ZERO, row[SECTION_A], row[SECTION_B], row[LEFT_A], row[LEFT_B], left
    return (*asked, row[BY_A], row[BY_B], row[BY_C], end)


@kernel(inline=True)
def _later(row):
    """The bank that C asks for next, the cycle before which no strip begins, and cycles between strips that are yet to
    begin."""
    return row[BANK_C], row[READY], row[GAP]


@kernel(inline=True)
def _due(row, asked, later, t):
    """As :func:`due`, of a CPU that is being walked."""
    _, _, _, _, _, na, nb, nc, _, _, _, end = asked
    return ((na | nb | end | (nc & row[HOLDS])) == ZERO) & (t >= later[1])


@kernel(inline=True)
def _chained(row, asked, later, t, until):
    """``asked`` with the bank of C where it may store, and the next cycle in which that changes though nothing is
    granted, or ``until``."""
    a, b, c, sa, sb, na, nb, nc, by_a, by_b, by_c, end = asked
    bank_c, ready, _ = later
    c = bank_c if (end | nc) != ZERO and (end != ZERO or t >= row[CHAINED]) else ZERO
    if row[CHAINED] > t:
        until = min(until, row[CHAINED])
    if ready > t:
        until = min(until, ready)
    elif _due(row, asked, later, t):
        until = min(until, t + ONE)
    return (a, b, c, sa, sb, na, nb, nc, by_a, by_b, by_c, end), until


@kernel(inline=True)
def _settled(row, asked, later, t):
    """``asked`` and ``later`` after some cycles: where the store of the strip before is done, that of this strip is
    next; where the loads are, the cycles before the next strip begin."""
    a, b, c, sa, sb, na, nb, nc, by_a, by_b, by_c, end = asked
    bank_c, ready, gap = later
    if c != ZERO:
        bank_c = c
    if end != ZERO and nc == end:
        nc, end = row[LEFT_C], ZERO
    asked = a, b, c, sa, sb, na, nb, nc, by_a, by_b, by_c, end
    if gap != ZERO and _due(row, asked, later, t):
        ready, gap = t + gap, ZERO
    return asked, (bank_c, ready, gap)


@kernel(inline=True)
def _left(asked):
    """Above 0 where a CPU that is being walked has elements left."""
    return asked[5] | asked[6] | asked[7]


@kernel(inline=True)
def _keep(states, job, asked, later):
    """The row of a job after a walk: where A and B stand follows from how many elements they have moved."""
    s, k = states, job
    _, _, _, _, _, na, nb, nc, by_a, by_b, _, end = asked
    far = by_a * (s[k, LEFT_A] - na) & FULL
    s[k, BANK_A], s[k, SECTION_A], s[k, LEFT_A] = _rotated(s[k, BANK_A], far), _rotated(s[k, SECTION_A], far), na
    far = by_b * (s[k, LEFT_B] - nb) & FULL
    s[k, BANK_B], s[k, SECTION_B], s[k, LEFT_B] = _rotated(s[k, BANK_B], far), _rotated(s[k, SECTION_B], far), nb
    s[k, BANK_C], s[k, READY], s[k, GAP] = later
    s[k, OLD_C] = nc - end if end != ZERO else ZERO
    s[k, LEFT_C] = nc if end == ZERO else s[k, LEFT_C]


@kernel(inline=True)
def _ports(asked, busy, until, memory, single):
    """One cycle of one CPU's three ports: what it asks for and the busy banks then, and 0 in place of ``until`` where
    the CPU may ask for something else now."""
    a, b, c, sa, sb, na, nb, nc, by_a, by_b, by_c, end = asked
    one_line = ALL if single else memory.one_line
    line_a = line_b = ZERO
    if a & ~busy != ZERO:
        busy |= a
        line_a = sa
        a, sa = _rotated(a, by_a), _rotated(sa, by_a)
        na -= ONE
        if na == ZERO:
            a = ZERO
            if nb == ZERO:
                until = ZERO
    if b & ~(busy | (line_a & one_line)) != ZERO:
        busy |= b
        line_b = sb
        b, sb = _rotated(b, by_b), _rotated(sb, by_b)
        nb -= ONE
        if nb == ZERO:
            b = ZERO
            if na == ZERO:
                until = ZERO
    if nc > na and nc > nb:
        taken = (line_a | line_b) & one_line
        if not single:
            taken |= line_a & line_b & memory.two_lines
        if c & ~(busy | taken) != ZERO:
            busy |= c
            c = _rotated(c, by_c)
            nc -= ONE
            if nc == end:
                until = ZERO
    return (a, b, c, sa, sb, na, nb, nc, by_a, by_b, by_c, end), busy, until


@kernel(inline=True)
def _cycle(all_asked, busy, until, memory, jobs, single, reverse):
    """One cycle of the CPUs of ``jobs``, one, two or four, the last one first where ``reverse``; ``all_asked`` holds
    the ``asked`` of each.  Returns as :func:`_ports` does."""
    a, b, c, d = all_asked
    if reverse:
        d, busy, until = _ports(d, busy, until, memory, single)
        c, busy, until = _ports(c, busy, until, memory, single)
        b, busy, until = _ports(b, busy, until, memory, single)
    a, busy, until = _ports(a, busy, until, memory, single)
    if jobs > 1 and not reverse:
        b, busy, until = _ports(b, busy, until, memory, single)
    if jobs > 2 and not reverse:
        c, busy, until = _ports(c, busy, until, memory, single)
        d, busy, until = _ports(d, busy, until, memory, single)
    return (a, b, c, d), busy, until


@kernel(inline=True)
def _to_next_strip(states, t, busy, ring, memory, jobs, single):
    """Cycles of the CPUs of ``jobs``, one, two or four, up to the next beginning of a strip, at least one; the cycle
    and the busy banks then."""
    begins, alive = False, True
    row_a = row_b = row_c = row_d = load_row(states, 0)
    if jobs > 1:
        row_b = load_row(states, 1)
    if jobs > 2:
        row_c, row_d = load_row(states, 2), load_row(states, 3)
    a, b, c, d = _asked(row_a), _asked(row_b), _asked(row_c), _asked(row_d)
    later_a, later_b, later_c, later_d = _later(row_a), _later(row_b), _later(row_c), _later(row_d)
    while alive and not begins and t < memory.limit:
        a, until = _chained(row_a, a, later_a, t, memory.limit)
        if jobs > 1:
            b, until = _chained(row_b, b, later_b, t, until)
        if jobs > 2:
            c, until = _chained(row_c, c, later_c, t, until)
            d, until = _chained(row_d, d, later_d, t, until)
        cpus = a, b, c, d
        more = True
        while more:
            busy &= ~ring[(t - memory.busy) & RING]
            before = busy
            if jobs > 2 and (t & memory.alternating) != ZERO:
                cpus, busy, until = _cycle(cpus, busy, until, memory, jobs, single, True)
            else:
                cpus, busy, until = _cycle(cpus, busy, until, memory, jobs, single, False)
            ring[t & RING] = busy ^ before
            t += ONE
            more = t < until
        a, b, c, d = cpus
        a, later_a = _settled(row_a, a, later_a, t)
        begins, left = _due(row_a, a, later_a, t), _left(a)
        if jobs > 1:
            b, later_b = _settled(row_b, b, later_b, t)
            begins, left = begins | _due(row_b, b, later_b, t), left | _left(b)
        if jobs > 2:
            c, later_c = _settled(row_c, c, later_c, t)
            d, later_d = _settled(row_d, d, later_d, t)
            begins, left = begins | _due(row_c, c, later_c, t), left | _left(c)
            begins, left = begins | _due(row_d, d, later_d, t), left | _left(d)
        alive = left != ZERO
    _keep(states, 0, a, later_a)
    if jobs > 1:
        _keep(states, 1, b, later_b)
    if jobs > 2:
        _keep(states, 2, c, later_c)
        _keep(states, 3, d, later_d)
    return t, busy


@kernel
def one_to_next_strip(states, t, busy, ring, memory):
    """``_to_next_strip`` of one CPU with one line to a section."""
    return _to_next_strip(states, t, busy, ring, memory, 1, True)


@kernel
def two_to_next_strip(states, t, busy, ring, memory):
    """``_to_next_strip`` of two CPUs with one line each to a section, in fixed order."""
    return _to_next_strip(states, t, busy, ring, memory, 2, True)


@kernel
def two_by_lines_to_next_strip(states, t, busy, ring, memory):
    """``_to_next_strip`` of one or two CPUs with any number of lines, in fixed order."""
    return _to_next_strip(states, t, busy, ring, memory, 2, False)


@kernel
def four_to_next_strip(states, t, busy, ring, memory):
    """``_to_next_strip`` of up to four CPUs, in either order."""
    return _to_next_strip(states, t, busy, ring, memory, 4, False)
