"""The clock of compiled code."""

import time

from kernels.runtime.barriers import monotonic
from kernels.runtime.jit import kernel


@kernel
def now():
    return monotonic()


def test_it_is_the_clock_of_python():
    before, inside, after = time.clock_gettime(time.CLOCK_MONOTONIC), now(), time.clock_gettime(time.CLOCK_MONOTONIC)
    assert before - 1e-6 <= inside <= after + 1e-6
