"""The memory of the Cray X-MP, cycle by cycle, in compiled code: a set of banks is one word of 64 bits, and no list of
banks is walked.

No equation is solved; these rules are followed, in every cycle and in this order (the package's docstring has their
source, and how long a cycle is):

1. a strip, a piece of a vector loop, begins when its overhead has passed, and asks in the same cycle; the overhead
   begins to run when the strip before has ended its loads (and its store, where the loop does not let a store overlap
   the next strip) and the strip before that its store;
2. banks that were granted ``busy_time`` cycles ago become free;
3. CPUs ask in order of priority, and of each CPU its ports in the order A, B (loads), C (store), each for the bank of
   its next element;
4. a request is granted unless the bank is busy, any port took it in this cycle, or the CPU has used its lines to the
   section of the bank; a port that is refused asks again in the next cycle;
5. a store moves first what is left of the strip before, and then an element once both loads have delivered it, not
   before the strip's ``store_from``.

The pattern of ``banks`` bits is repeated until the word is full (``banks`` divides 64, and ``sections`` divides
``banks``), so a request for bank b is the word with bits b, b + banks, b + 2 banks … set, and the next element of a
vector is that word rotated by the stride: one machine instruction, whatever the number of banks.  The section of a bank
is another such word: the set of all banks of that section.  A request is granted where its word and the word of what is
busy or taken have no bit in common::

    16 banks, request for bank 3:       bits 3, 19, 35, 51
    4 sections, the section of bank 3:  bits 3, 7, 11 … 63

The plain simulation, ``machine``, takes 110 times as long for two CPUs, 180 times for four (the first 5000 cycles of
``quick`` and ``modern``, Zen 3).
"""

from typing import NamedTuple

import numpy as np

from supercomputers_rerun.kernels.runtime.jit import kernel

_U = np.uint64
ZERO = _U(0)
ONE = _U(1)
ALL = _U(2**64 - 1)  # all bits set
#: Number of the port that stores; ports 0 and 1 load.
_STORE = 2

#: A CPU: what its ports have still to move, and when its next strip begins.
CPU = np.dtype(
    [
        ("bank", np.uint64, 3),  # of each port: the bank that it asks for next, as a word
        ("section", np.uint64, 2),  # of each loading port: the section of that bank, as a word; the store needs none
        ("left", np.uint64, 3),  # of each port: elements left of the present strip
        ("old", np.uint64),  # elements that the store of the strip before has still to move
        ("stride", np.uint64, 3),  # of each port, in banks, 0 … 63
        ("moved", np.uint64, 3),  # of each port: elements moved since the beginning
        ("store_from", np.uint64),  # first cycle of the chained store
        ("holds", np.uint64),  # all bits set where the next strip waits for the store, else 0
        ("ready", np.uint64),  # cycle in which the next strip begins; all bits set: its overhead does not run yet
    ]
)
#: A vector loop, see ``problem.Loop``.  A job with fewer loops than others ends with one that has no strips.
LOOP = np.dtype(
    [
        ("stride", np.uint64, 3),  # of each port, in banks, 0 … 63
        ("elements", np.uint64, 3),  # of each port, in a strip
        ("overhead", np.uint64),  # cycles that pass before a strip begins, see rule 1
        ("latency", np.uint64),  # cycles from there to ``store_from`` of the strip
        ("holds", np.uint64),  # as in ``CPU``
        ("strips", np.uint64),
    ]
)
#: Where a job is in its program: the loops of one CPU, one after the other, and all of them ``passes`` times.
PROGRESS = np.dtype(
    [
        ("loop", np.int64),  # loop of the next strip
        ("strips", np.int64),  # strips left of it
        ("passes", np.int64),  # passes left
    ]
)


@kernel(inline=True)
def _rotated(word, by):
    """The set of banks ``word`` moved on ``by`` 0 … 63 banks."""
    # & 63, because a shift by all 64 bits is not defined; LLVM makes one rotation of it
    return (word << by) | (word >> ((_U(64) - by) & _U(63)))


@kernel(inline=True)
def _waits(cpu):
    """Whether the next strip of ``cpu`` (``CPU``) has to wait: for the loads of the present strip, for the store of the
    strip before that, or, where the present one ``holds``, for its store."""
    # bits joined, so that it is one test and not four
    return (cpu.left[0] | cpu.left[1] | cpu.old | (cpu.left[_STORE] & cpu.holds)) != ZERO


@kernel
def _begin(cpu, job, loops, t):
    """Begin the next strip of a ``job`` (``PROGRESS``) that waits for nothing, if it is time in cycle ``t``; ``cpu``
    (``CPU``) and ``loops`` (``LOOP``) are the job's.

    Returns whether the job has ended.
    """
    if job.passes == 0:
        return cpu.left[_STORE] == ZERO
    loop = loops[job.loop]
    if cpu.ready == ALL:
        cpu.ready = t + loop.overhead
    if t < cpu.ready:
        return False
    # As in ``machine``, what is left of the old store goes on with the stride of the new loop, 0 if that has no store:
    # a simplification where strides differ.  Ports go on at the bank that they have come to, in a new loop too.
    cpu.old = cpu.left[_STORE]
    for port in range(3):
        cpu.stride[port] = loop.stride[port]
        cpu.left[port] = loop.elements[port]
    cpu.store_from = t + loop.latency
    cpu.holds = loop.holds
    cpu.ready = ALL
    job.strips -= 1
    if job.strips == 0:
        job.loop += 1
        if job.loop == len(loops) or loops[job.loop].strips == ZERO:
            job.loop = 0
            job.passes -= 1
        job.strips = np.int64(loops[job.loop].strips)
    return False


class Memory(NamedTuple):
    """The memory, in uint64; ``simulate`` takes it as a plain tuple."""

    #: cycles for which a bank that was granted refuses everybody: 1 … 16, the length of the ring in ``simulate``
    #: (``problem.Problem`` allows 15)
    busy_time: np.uint64
    lines: np.uint64  # requests that a CPU may send to one section in a cycle, 1 … 3
    alternating: np.uint64  # bits of a cycle's number that reverse the order of the CPUs: 1, odd cycles, or 0, none
    limit: np.uint64  # cycle at which to stop


@kernel
def simulate(memory, cpus, loops, jobs, ends):
    """Run all jobs to their end or to cycle ``limit`` of the ``memory``, a tuple of what ``Memory`` has; returns the
    number of cycles.

    Parameters
    ----------
    cpus : (jobs,) CPU
        The CPUs before the first cycle; changed in place to what they are after the last.
    loops : (jobs, loops) LOOP
    jobs : (jobs,) PROGRESS
        Where the jobs are, with one pass or more; changed in place, a job that has ended has none left.
    ends : (jobs,) int64
        Zero before the call; written: the cycle in which each job ended, zero still where it has not.
    """
    busy_time, lines, alternating, limit = memory
    # Banks granted in each of the last 16 cycles, the longest ``busy_time``: cycle t is word t modulo 16.
    granted = np.zeros(16, np.uint64)
    busy = ZERO
    t = ZERO
    running = len(cpus)
    # Which sections refuse a port: with one line to a section those that its CPU has in use, with two those used twice,
    # with three, a line for every port, none.
    one_line = ALL if lines == ONE else ZERO
    two_lines = ALL if lines == _U(2) else ZERO
    while t < limit:
        for number in range(len(cpus)):
            if _waits(cpus[number]) or ends[number] != 0:
                continue
            if _begin(cpus[number], jobs[number], loops[number], t):
                ends[number] = np.int64(t)
                running -= 1
        if running == 0:
            break
        busy &= ~granted[(t - busy_time) & _U(15)]
        before = busy
        for number in range(len(cpus)):
            cpu = cpus[len(cpus) - 1 - number if (t & alternating) != ZERO else number]
            used = ZERO  # sections to which a request of this CPU was granted in this cycle
            used_twice = ZERO
            for port in range(2):
                bank = cpu.bank[port]
                section = cpu.section[port]
                if cpu.left[port] != ZERO and (bank & (busy | (used & one_line))) == ZERO:
                    busy |= bank
                    # used twice means by both loads, so that only the store, which asks after them, can be refused
                    used_twice = used & section
                    used |= section
                    cpu.bank[port] = _rotated(bank, cpu.stride[port])
                    cpu.section[port] = _rotated(section, cpu.stride[port])
                    cpu.left[port] -= ONE
                    cpu.moved[port] += ONE
            bank = cpu.bank[_STORE]
            left = cpu.left[_STORE]
            # A store chains to its loads: it moves an element once both have delivered it.
            delivered = left > cpu.left[0] and left > cpu.left[1] and t >= cpu.store_from
            taken = busy | (used & one_line) | (used_twice & two_lines)
            if (cpu.old != ZERO or delivered) and (bank & taken) == ZERO:
                busy |= bank
                cpu.bank[_STORE] = _rotated(bank, cpu.stride[_STORE])
                if cpu.old != ZERO:
                    cpu.old -= ONE
                else:
                    cpu.left[_STORE] -= ONE
                cpu.moved[_STORE] += ONE
        granted[t & _U(15)] = busy ^ before  # what this cycle added
        t += ONE
    return t
