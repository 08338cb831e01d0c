"""The bank simulator's clock: a few register operations for a port and a cycle, no list of banks walked.

A set of banks is one 64-bit word.  The pattern of ``banks`` bits is repeated until the word is full,
so a request for bank b is the word with bits b, b + banks, b + 2 banks … set, and the next element of
a vector is that word rotated by the stride: one machine instruction, whatever the number of banks.  The
section of a bank is another such word.  A port's request is granted where its word and the word of
what is busy or taken have no bit in common.  Between two beginnings of strips two CPUs live in registers.

Functions share ``memory``, ``states``, ``programs``, ``rows``, ``strips``, ``books``, ``out`` and ``room`` of
:func:`simulate`, and these: ``job``, a number; ``cpu``, the sixteen numbers of a row of ``states``; ``t``, the cycle;
``busy``, the banks that are busy as it begins; ``now``, those granted in it so far; ``ring``, as in :class:`Room`.
"""

from typing import NamedTuple

import numpy as np

from kernels.runtime.jit import kernel

U = np.uint64
ZERO, ONE, FULL, HALF = U(0), U(1), U(63), U(64)
ALL = U(2**64 - 1)
RING = U(15)  # index mask of the ring of grants
NEVER = U(2**63)
IDLE_WORTH_A_LEAP = U(16)

#: Columns of a CPU's state: banks and sections that the ports ask for next, elements left (of C those of
#: the strip before and of this strip), strides, first cycle of the chained store, all ones where the next
#: strip waits for the store, cycle before which the next strip need not be looked at.
BANK_A, BANK_B, BANK_C, SECTION_A, SECTION_B, SPARE, LEFT_A, LEFT_B, OLD_C, LEFT_C = range(10)
BY_A, BY_B, BY_C, CHAINED, HOLDS, READY = range(10, 16)
#: Columns of a program's rows: strides and elements of the ports, cycles, HOLDS, strips of the row.
STRIDE_A, STRIDE_B, STRIDE_C, LOAD_A, LOAD_B, STORE, OVERHEAD, LATENCY, HOLD, STRIPS = range(10)
#: Columns of a job's book: row, strips left in it, passes left, whether in the overhead, strips begun.
ROW, LEFT, PASSES, IN_GAP, BEGUN = range(5)


class Memory(NamedTuple):
    """What does not change."""

    busy: np.uint64  # cycles for which a granted bank stays busy, 1 … 15
    one_line: np.uint64  # all ones where a CPU has one line to a section, else zero
    two_lines: np.uint64  # all ones where it has two, else zero
    alternating: np.uint64  # 1 where the order of the CPUs is reversed in every other cycle
    leap: bool  # whether whole periods are leapt over
    limit: np.uint64  # cycle at which to stop, NEVER for the end of the jobs


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
def _rotated(word, by):
    """The set of banks ``word`` moved on ``by`` 0 … 63 banks."""
    return (word << by) | (word >> ((HALF - by) & FULL))


@kernel(inline=True)
def _clock(cpu, t, busy, now, one_line, two_lines):
    """One cycle of one CPU's three ports: its new state, and the banks granted so far in this cycle.

    ``one_line`` and ``two_lines`` as in :class:`Memory`.
    """
    a, b, c, sa, sb, spare, na, nb, no, nc, by_a, by_b, by_c, chained, holds, ready = cpu

    line_a = line_b = ZERO
    if na != ZERO:
        granted = a & ~(busy | now)
        if granted != ZERO:
            line_a = sa
            a, sa = _rotated(a, by_a), _rotated(sa, by_a)
            na -= ONE
            now |= granted
    if nb != ZERO:
        granted = b & ~(busy | now | (line_a & one_line))
        if granted != ZERO:
            line_b = sb
            b, sb = _rotated(b, by_b), _rotated(sb, by_b)
            nb -= ONE
            now |= granted
    if no != ZERO or (nc > max(na, nb) and t >= chained):
        taken = ((line_a | line_b) & one_line) | (line_a & line_b & two_lines)
        granted = c & ~(busy | now | taken)
        if granted != ZERO:
            c = _rotated(c, by_c)
            now |= granted
            if no != ZERO:
                no -= ONE
            else:
                nc -= ONE
    return (a, b, c, sa, sb, spare, na, nb, no, nc, by_a, by_b, by_c, chained, holds, ready), now


@kernel(inline=True)
def _load(states, job):
    """A CPU's row as sixteen values; no view of the row, which would count references."""
    s, k = states, job
    return (
        s[k, 0], s[k, 1], s[k, 2], s[k, 3], s[k, 4], s[k, 5], s[k, 6], s[k, 7],
        s[k, 8], s[k, 9], s[k, 10], s[k, 11], s[k, 12], s[k, 13], s[k, 14], s[k, 15],
    )  # fmt: skip


@kernel(inline=True)
def _store(states, job, cpu):
    """The row of a job becomes ``cpu``, without what no cycle changes."""
    s, k = states, job
    s[k, 0], s[k, 1], s[k, 2], s[k, 3], s[k, 4] = cpu[0], cpu[1], cpu[2], cpu[3], cpu[4]
    s[k, 6], s[k, 7], s[k, 8], s[k, 9] = cpu[6], cpu[7], cpu[8], cpu[9]


@kernel(inline=True)
def _due(cpu, t):
    """Whether nothing is left that the next strip has to wait for."""
    return ((cpu[LEFT_A] | cpu[LEFT_B] | cpu[OLD_C] | (cpu[LEFT_C] & cpu[HOLDS])) == ZERO) & (t >= cpu[READY])


@kernel(inline=True)
def _asks(cpu):
    """Whether a port has elements left to ask for."""
    return (cpu[LEFT_A] | cpu[LEFT_B] | cpu[OLD_C] | cpu[LEFT_C]) != ZERO


@kernel(inline=True)
def _to_next_strip(states, t, busy, ring, memory, second):
    """Cycles of the first CPU, and of the ``second`` where there is one, in fixed order up to the next beginning of a
    strip, at least one; the cycle and the busy banks then."""
    length, one_line, two_lines, limit = memory.busy, memory.one_line, memory.two_lines, memory.limit
    a, b = _load(states, 0), _load(states, 1)
    more = True
    while more:
        busy &= ~ring[(t - length) & RING]
        a, now = _clock(a, t, busy, ZERO, one_line, two_lines)
        if second:
            b, now = _clock(b, t, busy, now, one_line, two_lines)
        ring[t & RING] = now
        busy |= now
        t += ONE
        more = not (_due(a, t) or _due(b, t) or t >= limit or (now == ZERO and not (_asks(a) or _asks(b))))
    _store(states, 0, a)
    _store(states, 1, b)
    return t, busy


@kernel
def _one(states, t, busy, ring, memory):
    """``_to_next_strip`` of one CPU."""
    return _to_next_strip(states, t, busy, ring, memory, False)


@kernel
def _two(states, t, busy, ring, memory):
    """``_to_next_strip`` of two CPUs."""
    return _to_next_strip(states, t, busy, ring, memory, True)


@kernel
def _four(states, t, busy, ring, memory):
    """One cycle of up to four CPUs, in either order; the next cycle and the busy banks."""
    busy &= ~ring[(t - memory.busy) & RING]
    now = ZERO
    for k in range(4):
        job = k if (t & memory.alternating) == ZERO else 3 - k
        cpu, now = _clock(_load(states, job), t, busy, now, memory.one_line, memory.two_lines)
        _store(states, job, cpu)
    ring[t & RING] = now
    return t + ONE, busy | now


@kernel
def _next_strip(states, job, t, programs, books, rows):
    """Where the next strip is due: its overhead first, then the strip.  True where a strip begins."""
    s, k, row = states, job, books[job, ROW]
    if books[k, PASSES] == 0:  # all strips are loaded: the rest of the store is left
        s[k, HOLDS] = ALL
        return False
    if books[k, IN_GAP] == 0:
        books[k, IN_GAP] = 1
        if programs[k, row, OVERHEAD] > ZERO:
            s[k, READY] = t + programs[k, row, OVERHEAD]
            return False
    books[k, IN_GAP] = 0
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
    return True


@kernel(inline=True)
def _strips(jobs, states, t, programs, books, rows, out):
    """Begin what is due of ``jobs``.  The job that began a strip, or −1, and whether all jobs have ended."""
    began, ended = -1, True
    for job in range(jobs - 1, -1, -1):
        if out[job, 0] == ZERO:
            if _due(_load(states, job), t):
                if _next_strip(states, job, t, programs, books, rows):
                    began = job
                elif books[job, PASSES] == 0 and not _asks(_load(states, job)) and books[job, IN_GAP] == 0:
                    out[job, 0] = t
                    states[job, READY] = NEVER
            ended = ended and out[job, 0] != ZERO
    return began, ended


@kernel(inline=True)
def _idle_until(jobs, states, t):
    """Cycle before which none of the CPUs of ``jobs`` asks for anything; ``t`` where one may ask now."""
    least = NEVER
    for job in range(jobs):
        if _asks(_load(states, job)):
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
            snap[at + 16] = (U(books[job, ROW]) << U(48)) | (U(books[job, LEFT]) << ONE) | U(books[job, IN_GAP])
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
    books : (4, 5) int64
        Where each job is in its program.
    out : (5, 5) uint64
        Of each job: cycle in which it ended, strips begun, elements left in A, in B and in C;
        in the last row the cycles simulated, and how many of them by leaps over periods.
    room : Room
    """
    ring, _, kept, here, begun = room
    ring[:] = ZERO
    t, then, busy, leapt = ZERO, ZERO, ZERO, ZERO
    taken, wanted = 0, 1
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
            t, busy = _four(states, t, busy, ring, memory)
        elif jobs == 2:
            t, busy = _two(states, t, busy, ring, memory)
        else:
            t, busy = _one(states, t, busy, ring, memory)
    for job in range(4):
        out[job, 1] = U(books[job, BEGUN])
        out[job, 2], out[job, 3] = states[job, LEFT_A], states[job, LEFT_B]
        out[job, 4] = states[job, OLD_C] + states[job, LEFT_C]
    out[4, 0], out[4, 1] = t, leapt
