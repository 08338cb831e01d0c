"""A barrier: nobody passes before all have arrived, and one who did would be noticed."""

import numpy as np
import pytest

from supercomputers_rerun.kernels.processor import barrier
from supercomputers_rerun.kernels.processor.barrier import Problem, Result, meet
from supercomputers_rerun.kernels.runtime.resources import usable_cpus


@pytest.mark.parametrize("threads", range(1, 1 + min(2, usable_cpus())))
def test_all_pass_together(threads):
    problem = Problem(2000)
    found = barrier.run(problem, None, threads, repeats=3)
    assert found.passed.tolist() == threads * [6000] and found.early.tolist() == threads * [0]
    assert all(check.ok for check in barrier.verify(problem, found))


def test_one_who_does_not_wait_is_early():
    """Arrivals of the other are counted beforehand, as if the barrier let this one through."""
    words = np.zeros(3 * 16, np.int64)
    words[0] = 1000
    assert meet(words, 0, 2, 5) == 5


def test_what_is_not_a_whole_repeat_is_noticed():
    wrong = [Result(np.array(passed), np.array(early)) for passed, early in (([9], [0]), ([0], [0]), ([10], [1]))]
    assert not any(all(check.ok for check in barrier.verify(Problem(10), each)) for each in wrong)
