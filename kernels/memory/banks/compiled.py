"""The machine in compiled code: a set of banks is one word of 64 bits, and no list of banks is walked.

The pattern of ``banks`` bits is repeated until the word is full, so a request for bank b is the word with bits b,
b + banks, b + 2 banks … set, and the next element of a vector is that word rotated by the stride: one machine
instruction, whatever the number of banks.  The section of a bank is another such word.  A request is granted where its
word and the word of what is busy or taken have no bit in common.  The plain simulation takes some hundred times as
long.
"""

import numpy as np

from supercomputers_rerun.kernels.runtime.jit import kernel

U = np.uint64
ZERO, ONE = U(0), U(1)
NONE = U(2**64 - 1)
#: Columns of a CPU: banks that the ports ask for next, sections of two of them, elements left of each and of the store
#: of the strip before, strides, elements moved, first cycle of the chained store, all ones where the next strip waits
#: for the store, cycle in which the next strip begins (``NONE``: its overhead does not run yet).
BANK_A, BANK_B, BANK_C, SECTION_A, SECTION_B, LEFT_A, LEFT_B, LEFT_C, OLD_C, BY_A, BY_B, BY_C = range(12)
MOVED_A, MOVED_B, MOVED_C, CHAINED, HOLDS, READY = range(12, 18)
#: Columns of a loop: strides and elements of the ports, cycles, HOLDS, strips.
STRIDE_A, STRIDE_B, STRIDE_C, LOAD_A, LOAD_B, STORE, OVERHEAD, LATENCY, HOLD, STRIPS = range(10)
#: Columns of a job's book: loop of the next strip, strips left of it, passes left.
LOOP, LEFT, PASSES = range(3)


@kernel(inline=True)
def _rotated(word, by):
    """The set of banks ``word`` moved on ``by`` 0 … 63 banks."""
    return (word << by) | (word >> ((U(64) - by) & U(63)))


@kernel
def _begin(cpu, job, t, loops, book):
    """Begin the next strip of a ``job`` that waits for nothing, if it is time in cycle ``t``; whether it has ended."""
    k = job
    if book[k, PASSES] == 0:
        return cpu[k, LEFT_C] == ZERO
    loop = book[k, LOOP]
    if cpu[k, READY] == NONE:
        cpu[k, READY] = t + loops[k, loop, OVERHEAD]
    if t < cpu[k, READY]:
        return False
    cpu[k, OLD_C] = cpu[k, LEFT_C]
    for port in range(3):
        cpu[k, BY_A + port] = loops[k, loop, STRIDE_A + port]
        cpu[k, LEFT_A + port] = loops[k, loop, LOAD_A + port]
    cpu[k, CHAINED], cpu[k, HOLDS], cpu[k, READY] = t + loops[k, loop, LATENCY], loops[k, loop, HOLD], NONE
    book[k, LEFT] -= 1
    if book[k, LEFT] == 0:
        book[k, LOOP] += 1
        if book[k, LOOP] == loops.shape[1] or loops[k, book[k, LOOP], STRIPS] == ZERO:
            book[k, LOOP] = 0
            book[k, PASSES] -= 1
        book[k, LEFT] = np.int64(loops[k, book[k, LOOP], STRIPS])
    return False


@kernel
def simulate(length, lines, alternating, limit, cpu, loops, book, ends):
    """Run all jobs to their end or to cycle ``limit``; returns the cycles.

    Parameters
    ----------
    length, lines, alternating, limit : uint64
        Cycles for which a bank is busy, lines of a CPU to a section, 1 where the order of the CPUs is reversed in every
        other cycle, cycle at which to stop.
    cpu : (jobs, 18) uint64
        The CPUs before the first cycle, and afterwards.
    loops : (jobs, loops, 10) uint64
        Loops of each job; one without strips is none.
    book : (jobs, 3) int64
        Where each job is in its program.
    ends : (jobs,) int64
        Written: the cycle in which each job ended; zero before.
    """
    ring, busy, t = np.zeros(16, np.uint64), ZERO, ZERO
    jobs, left = len(cpu), len(cpu)
    one = NONE if lines == ONE else ZERO
    two = NONE if lines == U(2) else ZERO
    while t < limit:
        for k in range(jobs):
            waits = cpu[k, LEFT_A] | cpu[k, LEFT_B] | cpu[k, OLD_C] | (cpu[k, LEFT_C] & cpu[k, HOLDS])
            if waits == ZERO and ends[k] == 0 and _begin(cpu, k, t, loops, book):
                ends[k] = np.int64(t)
                left -= 1
        if left == 0:
            break
        busy &= ~ring[(t - length) & U(15)]
        before = busy
        for place in range(jobs):
            k = jobs - 1 - place if t & alternating != ZERO else place
            in_line = in_both = ZERO  # sections of which this CPU's lines are in use
            for port in range(2):
                bank, section = cpu[k, BANK_A + port], cpu[k, SECTION_A + port]
                if cpu[k, LEFT_A + port] != ZERO and bank & (busy | in_line & one) == ZERO:
                    busy |= bank
                    in_both = in_line & section
                    in_line |= section
                    cpu[k, BANK_A + port] = _rotated(bank, cpu[k, BY_A + port])
                    cpu[k, SECTION_A + port] = _rotated(section, cpu[k, BY_A + port])
                    cpu[k, LEFT_A + port] -= ONE
                    cpu[k, MOVED_A + port] += ONE
            bank, old, elements = cpu[k, BANK_C], cpu[k, OLD_C], cpu[k, LEFT_C]
            chained = elements > cpu[k, LEFT_A] and elements > cpu[k, LEFT_B] and t >= cpu[k, CHAINED]
            if (old != ZERO or chained) and bank & (busy | in_line & one | in_both & two) == ZERO:
                busy |= bank
                cpu[k, BANK_C] = _rotated(bank, cpu[k, BY_C])
                if old != ZERO:
                    cpu[k, OLD_C] -= ONE
                else:
                    cpu[k, LEFT_C] -= ONE
                cpu[k, MOVED_C] += ONE
        ring[t & U(15)] = busy ^ before
        t += ONE
    return t
