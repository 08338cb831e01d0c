"""The clock at which a core runs at this moment."""

import time

import numpy as np

from supercomputers_rerun.kernels.runtime.jit import kernel, opaque

#: Additions of a chain, some milliseconds; long beside the clock's resolution and short beside a time slice.
LENGTH = 8_000_000


@kernel
def chain(length):
    """Add an unknown number ``length`` times (a multiple of 8), each time to the sum before; uint64.

    The addend is in a register, since processors of today carry out additions of constants without waiting.
    """
    total, addend = opaque(np.uint64(1)), opaque(np.uint64(3))
    for _ in range(length // 8):
        for _ in range(8):
            total = opaque(total + addend)
    return total


def hertz(samples: int = 5) -> float:
    """Clock periods a second of the core that runs this: length of the chain over its shortest time.

    Turbo is included, so it lies above the nominal clock where the processor allows that. ``ArithmeticError`` where the
    chain gave another sum than additions do.
    """
    chain(8)  # compile
    best = float("inf")
    for _ in range(samples):
        start = time.perf_counter()
        total = chain(LENGTH)
        best = min(best, time.perf_counter() - start)
        if total != 1 + 3 * LENGTH:
            raise ArithmeticError(f"a chain of {LENGTH} additions gave {total}, not {1 + 3 * LENGTH}")
    return LENGTH / best
