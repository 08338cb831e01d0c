"""The compiled bank simulator: beginnings of strips, leaps over whole periods, and between them the clock.

Functions share ``memory``, ``states``, ``programs``, ``rows``, ``strips``, ``books``, ``out`` and ``room`` of
:func:`simulate`, and these: ``job``, a number; ``t``, the cycle; ``ring``, as in :class:`Room`.
"""

from typing import NamedTuple

import numpy as np
from numba import carray

from kernels.memory.banks.clock import (
    ALL,
    BY_A,
    BY_B,
    BY_C,
    CHAINED,
    GAP,
    HOLDS,
    LEFT_A,
    LEFT_B,
    LEFT_C,
    NEVER,
    OLD_C,
    ONE,
    READY,
    RING,
    ZERO,
    U,
    asks,
    due,
    four_to_next_strip,
    load_row,
    one_to_next_strip,
    two_by_lines_to_next_strip,
    two_to_next_strip,
)
from kernels.runtime.jit import kernel
from kernels.runtime.vector import address

IDLE_WORTH_A_LEAP = U(16)

#: Columns of a program's rows: strides and elements of the ports, cycles, HOLDS, strips of the row.
STRIDE_A, STRIDE_B, STRIDE_C, LOAD_A, LOAD_B, STORE, OVERHEAD, LATENCY, HOLD, STRIPS = range(10)
#: Columns of a job's book: row, strips left in it, passes left, strips begun.
ROW, LEFT, PASSES, BEGUN = range(4)


class Room(NamedTuple):
    """Work space of a simulation."""

    ring: np.ndarray  # uint64 (16,): banks granted in each of the last cycles
    turned: np.ndarray  # uint64 (16,): the ring while it is turned
    kept: np.ndarray  # uint64 (96,): a state that may come again
    here: np.ndarray  # uint64 (96,): the present state
    begun: np.ndarray  # int64 (4,): strips that each job had begun in the state that is kept

    @classmethod
    def new(cls) -> "Room":
        """Work space in which nothing was granted yet."""
        return cls(*(np.zeros(size, np.uint64) for size in (16, 16, 96, 96)), np.zeros(4, np.int64))


@kernel(inline=True)
def _borrowed(array):
    """``array`` without a count of its references, which inlined functions would change: the caller keeps it."""
    return carray(address(array), array.shape)


@kernel
def _next_strip(states, job, t, programs, books, rows):
    """Begin the next strip, which is due.  True where a strip begins."""
    s, k, row = states, job, books[job, ROW]
    if books[k, PASSES] == 0:  # all strips are loaded: the rest of the store is left
        s[k, HOLDS] = ALL
        return False
    books[k, BEGUN] += 1
    books[k, LEFT] -= 1
    if books[k, LEFT] == 0:
        books[k, ROW] += 1
        if books[k, ROW] == rows[k]:
            books[k, ROW] = 0
            books[k, PASSES] -= 1
        books[k, LEFT] = np.int64(programs[k, books[k, ROW], STRIPS])
    s[k, OLD_C] = s[k, LEFT_C]
    s[k, LEFT_A], s[k, LEFT_B], s[k, LEFT_C] = (
        programs[k, row, LOAD_A],
        programs[k, row, LOAD_B],
        programs[k, row, STORE],
    )
    s[k, BY_A], s[k, BY_B] = programs[k, row, STRIDE_A], programs[k, row, STRIDE_B]
    s[k, BY_C], s[k, HOLDS] = programs[k, row, STRIDE_C], programs[k, row, HOLD]
    s[k, CHAINED], s[k, READY] = t + programs[k, row, LATENCY], ZERO
    s[k, GAP] = programs[k, books[k, ROW], OVERHEAD] if books[k, PASSES] > 0 else ZERO
    return True


@kernel(inline=True)
def _strips(jobs, states, t, programs, books, rows, out):
    """Begin what is due of ``jobs``.  The job that began a strip, or −1, and whether all jobs have ended."""
    began, ended = -1, True
    for job in range(jobs - 1, -1, -1):
        if out[job, 0] == ZERO:
            if due(load_row(states, job), t):
                if _next_strip(states, job, t, programs, books, rows):
                    began = job
                elif books[job, PASSES] == 0 and not asks(load_row(states, job)):
                    out[job, 0] = t
                    states[job, READY] = NEVER
            ended = ended and out[job, 0] != ZERO
    return began, ended


@kernel(inline=True)
def _idle_until(jobs, states, t):
    """Cycle before which none of the CPUs of ``jobs`` asks for anything; ``t`` where one may ask now."""
    least = NEVER
    for job in range(jobs):
        if asks(load_row(states, job)):
            return t
        least = min(least, states[job, READY])
    return least


@kernel
def _write(snap, states, books, out, ring, t, memory):
    """The whole state relative to the cycle into ``snap``, uint64 (96,), as words: equal words have equal futures.
    Returns how many words."""
    at = 0
    for job in range(4):
        snap[at : at + 17] = ZERO
        if out[job, 0] == ZERO:
            snap[at] = ONE
            for k in range(13):
                snap[at + 1 + k] = states[job, k]
            snap[at + 14] = max(states[job, CHAINED], t) - t
            snap[at + 15] = max(states[job, READY], t) - t
            snap[at + 16] = (U(books[job, ROW]) << U(48)) | U(books[job, LEFT])
        at += 17
    for back in range(1, np.int64(memory.busy)):
        snap[at] = ring[(t - U(back)) & RING]
        at += 1
    snap[at] = t & memory.alternating
    return at + 1


@kernel
def _equal(a, b, n):
    """Whether the first ``n`` words of ``a`` and ``b`` are the same."""
    for i in range(n):
        if a[i] != b[i]:
            return False
    return True


@kernel
def _periods(books, begun, strips, out):
    """Whole periods that can be leapt over before any job comes near its end.

    ``begun``, int64 (4,): strips that each job had begun a period ago; ``strips``: that it has in all.
    """
    least = NEVER
    for job in range(4):
        made = books[job, BEGUN] - begun[job]
        if out[job, 0] == ZERO and made > 0:
            left = strips[job] - books[job, BEGUN] - 2 * made
            least = min(least, U(max(left, 0) // made))
    return ZERO if least == NEVER else least


@kernel
def _leap(states, books, programs, rows, strips, periods, by, room, out):
    """Move clock, books and ring on by so many ``periods``, which are ``by`` cycles."""
    for job in range(4):
        if out[job, 0] == ZERO:
            of_a_pass = 0
            books[job, BEGUN] += np.int64(periods) * (books[job, BEGUN] - room.begun[job])
            for row in range(rows[job]):
                of_a_pass += np.int64(programs[job, row, STRIPS])
            books[job, PASSES] = strips[job] // of_a_pass - books[job, BEGUN] // of_a_pass
            states[job, CHAINED] += by
            states[job, READY] += by if states[job, READY] > ZERO else ZERO
    for i in range(16):
        room.turned[i] = room.ring[i]
    for i in range(16):
        room.ring[(U(i) + by) & RING] = room.turned[i]


@kernel
def simulate(memory, jobs, states, programs, rows, strips, books, out, room):
    """Run all jobs to their end or to ``memory.limit``.

    Parameters
    ----------
    memory : Memory
    jobs : int
        CPUs that have a job.
    states : (4, 16) uint64
        The CPUs; those without a job have ``out[job, 0]`` above 0 and ``READY`` at ``NEVER``.
    programs : (4, loops, 10) uint64
        Loops of each job.
    rows, strips : (4,) int64
        Loops and strips of each job.
    books : (4, 4) int64
        Where each job is in its program.
    out : (5, 5) uint64
        Of each job: cycle in which it ended, strips begun, elements left in A, in B and in C;
        in the last row the cycles simulated, and how many of them by leaps over periods.
    room : Room
    """
    states, books, out = _borrowed(states), _borrowed(books), _borrowed(out)
    programs, rows, strips = _borrowed(programs), _borrowed(rows), _borrowed(strips)
    ring, turned, kept, here, begun = room
    ring, kept, here, begun = _borrowed(ring), _borrowed(kept), _borrowed(here), _borrowed(begun)
    room = Room(ring, _borrowed(turned), kept, here, begun)
    ring[:] = ZERO
    t, then, busy, leapt = ZERO, ZERO, ZERO, ZERO
    taken, wanted = 0, 1
    for job in range(jobs):
        states[job, READY] = programs[job, 0, OVERHEAD]
    many = jobs > 2 or memory.alternating != ZERO
    while t < memory.limit:
        began, ended = _strips(jobs, states, t, programs, books, rows, out)
        if ended:
            break
        until = min(_idle_until(jobs, states, t), memory.limit)
        if until > t + IDLE_WORTH_A_LEAP:  # nobody asks for anything: on to the next event
            t, busy = until, ZERO
            ring[:] = ZERO
            continue
        if memory.leap and began >= 0:
            size = _write(here, states, books, out, ring, t, memory)
            if taken > 0 and _equal(here, kept, size):
                period = t - then
                periods = min(_periods(books, begun, strips, out), (memory.limit - t) // period)
                by = periods * period
                if periods > ZERO:
                    _leap(states, books, programs, rows, strips, periods, by, room, out)
                t, leapt, taken, wanted = t + by, leapt + by, 0, 1
            taken += 1
            if taken >= wanted:
                for i in range(size):
                    kept[i] = here[i]
                then, taken, wanted = t, 1, 2 * wanted
                for job in range(4):
                    begun[job] = books[job, BEGUN]
        if many:
            t, busy = four_to_next_strip(states, t, busy, ring, memory)
        elif memory.one_line == ZERO:
            t, busy = two_by_lines_to_next_strip(states, t, busy, ring, memory)
        elif jobs == 2:
            t, busy = two_to_next_strip(states, t, busy, ring, memory)
        else:
            t, busy = one_to_next_strip(states, t, busy, ring, memory)
    for job in range(4):
        out[job, 1] = U(books[job, BEGUN])
        out[job, 2], out[job, 3] = states[job, LEFT_A], states[job, LEFT_B]
        out[job, 4] = states[job, OLD_C] + states[job, LEFT_C]
    out[4, 0], out[4, 1] = t, leapt
