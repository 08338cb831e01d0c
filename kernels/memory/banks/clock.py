"""The bank simulator's clock: a few register operations for a port and a cycle, no list of banks walked.

A set of banks is one 64-bit word.  The pattern of ``banks`` bits is repeated until the word is full,
so a request for bank b is the word with bits b, b + banks, b + 2 banks … set, and the next element of
a vector is that word rotated by the stride: one machine instruction, whatever the number of banks.  The
section of a bank is another such word.  A port's request is granted where its word and the word of
what is busy or taken have no bit in common.  A port that asks for nothing asks for the empty set of banks, so that a
cycle looks at no counter but those that it changes.

Functions share ``states`` and ``memory`` of :func:`kernels.memory.banks.compiled.simulate`, and these: ``job``, a
number; ``cpu``, the sixteen numbers of a row of ``states``; ``asked``, the twelve of :func:`_asked`; ``t``, the cycle;
``until``, the one before which the walk need not stop; ``busy``, the banks that are busy; ``ring``, uint64 (16,), the
banks granted in each of the last cycles; ``single``, whether a CPU has one line to a section.
"""

from typing import NamedTuple

import numpy as np

from kernels.runtime.barriers import opaque
from kernels.runtime.jit import kernel

U = np.uint64
ZERO, ONE, FULL, HALF = U(0), U(1), U(63), U(64)
ALL = U(2**64 - 1)
RING = U(15)  # index mask of the ring of grants
NEVER = U(2**63)
BEYOND = U(2**62)  # more than elements of a strip; added to those of the strip before, which wait for no load

#: Columns of a CPU's state: banks and sections that the ports ask for next, elements left (of C those of
#: the strip before and of this strip), strides, first cycle of the chained store, all ones where the next
#: strip waits for the store, cycle before which the next strip need not be looked at.
BANK_A, BANK_B, BANK_C, SECTION_A, SECTION_B, SPARE, LEFT_A, LEFT_B, OLD_C, LEFT_C = range(10)
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
def _asked(states, job, t, until):
    """What a CPU asks for: the banks of A, B and C, sections of A and B, elements left of each, strides, and where the
    elements of C end.  And the next cycle in which that changes though nothing is granted, or ``until``."""
    s, k = states, job
    a = s[k, BANK_A] if s[k, LEFT_A] != ZERO else ZERO
    b = s[k, BANK_B] if s[k, LEFT_B] != ZERO else ZERO
    c, left, end = s[k, BANK_C], s[k, LEFT_C], ZERO
    if s[k, OLD_C] != ZERO:
        left, end = s[k, OLD_C] + BEYOND, BEYOND
    elif left == ZERO or t < s[k, CHAINED]:
        c = ZERO
    if s[k, CHAINED] > t:
        until = min(until, s[k, CHAINED])
    if s[k, READY] > t:
        until = min(until, s[k, READY])
    elif due(load_row(s, k), t):
        until = min(until, t + ONE)
    asked = a, b, c, s[k, SECTION_A], s[k, SECTION_B], s[k, LEFT_A], s[k, LEFT_B], left
    return (*asked, s[k, BY_A], s[k, BY_B], s[k, BY_C], end), until


@kernel(inline=True)
def _keep(states, job, asked):
    """The row of a job after a walk: where a port stands follows from how many elements it has moved."""
    s, k = states, job
    _, _, _, _, _, na, nb, nc, by_a, by_b, by_c, end = asked
    far = by_a * (s[k, LEFT_A] - na) & FULL
    s[k, BANK_A], s[k, SECTION_A], s[k, LEFT_A] = _rotated(s[k, BANK_A], far), _rotated(s[k, SECTION_A], far), na
    far = by_b * (s[k, LEFT_B] - nb) & FULL
    s[k, BANK_B], s[k, SECTION_B], s[k, LEFT_B] = _rotated(s[k, BANK_B], far), _rotated(s[k, SECTION_B], far), nb
    column = OLD_C if end != ZERO else LEFT_C
    s[k, BANK_C] = _rotated(s[k, BANK_C], by_c * (s[k, column] - (nc - end)) & FULL)
    s[k, column] = nc - end


@kernel(inline=True)
def _ports(asked, busy, until, memory, single):
    """One cycle of one CPU's three ports: what it asks for and the busy banks then, and 0 in place of ``until`` where
    the CPU may ask for something else now.  ``opaque`` makes a branch of what would otherwise be computed each time."""
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
                until = opaque(ZERO)
    if b & ~(busy | (line_a & one_line)) != ZERO:
        busy |= b
        line_b = sb
        b, sb = _rotated(b, by_b), _rotated(sb, by_b)
        nb -= ONE
        if nb == ZERO:
            b = ZERO
            if na == ZERO:
                until = opaque(ZERO)
    if nc > na and nc > nb:
        taken = (line_a | line_b) & one_line
        if not single:
            taken |= line_a & line_b & memory.two_lines
        if c & ~(busy | taken) != ZERO:
            busy |= c
            c = _rotated(c, by_c)
            nc -= ONE
            if nc == end:
                until = opaque(ZERO)
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
    while alive and not begins and t < memory.limit:
        a, until = _asked(states, 0, t, memory.limit)
        b = c = d = a
        if jobs > 1:
            b, until = _asked(states, 1, t, until)
        if jobs > 2:
            c, until = _asked(states, 2, t, until)
            d, until = _asked(states, 3, t, until)
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
        _keep(states, 0, a)
        if jobs > 1:
            _keep(states, 1, b)
        if jobs > 2:
            _keep(states, 2, c)
            _keep(states, 3, d)
        alive = False
        for job in range(jobs):
            alive = alive or asks(load_row(states, job))
            begins = begins or due(load_row(states, job), t)
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
