"""The team behind ``run_parts``: every part is done once, whoever else calls, waits, forks, interrupts or is busy."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from supercomputers_rerun.kernels.runtime import team
from supercomputers_rerun.kernels.runtime.jit import kernel
from supercomputers_rerun.kernels.runtime.resources import usable_cpus
from supercomputers_rerun.kernels.runtime.team import meet, run_parts

two = pytest.mark.skipif(usable_cpus() < 2, reason="needs two usable CPUs")
ALL = sorted({1, min(2, usable_cpus())})


@kernel(cache=False)
def count(done, by, number):
    done[number] += by


@kernel(cache=False)
def chain(steps, counter, order, threads, number):
    """Threads in turns: each step adds one to what all have left in the step before."""
    for step in range(1, steps):
        order[step, number] = order[step - 1].sum() + 1
        meet(counter, threads)


@pytest.mark.parametrize("threads", ALL)
def test_every_part_is_done_once_in_every_call(threads):
    done = np.zeros(threads, np.int64)
    for _ in range(1000):
        run_parts(count, threads, done, 3)
    assert list(done) == [3000] * threads


@two
def test_a_thread_that_fell_asleep_is_woken_and_one_that_is_not_asked_for_stays_away():
    done = np.zeros(2, np.int64)
    for pause in (0.0, 0.01, 0.0, 0.02):
        time.sleep(pause)
        run_parts(count, 2, done, 1)
        run_parts(count, 1, done, 1)
    assert list(done) == [8, 4]


@two
def test_arguments_of_other_types_are_other_code():
    for kind in (np.int64, np.float64, np.int32):
        done = np.zeros(2, kind)
        run_parts(count, 2, done, 1)
        assert list(done) == [1, 1]


@two
def test_threads_meet_after_every_step():
    order = np.zeros((200, 2))
    order[0] = 1.0
    run_parts(chain, 2, len(order), np.zeros(1, np.int64), order, 2)
    expected = [1.0]
    for _ in range(1, len(order)):
        expected.append(2 * expected[-1] + 1)
    assert (order == np.array(expected)[:, None]).all()


@two
def test_callers_on_several_threads_take_turns():
    done = np.zeros((4, 2), np.int64)

    def call(own):
        for _ in range(300):
            run_parts(count, 2, own, 1)

    callers = [threading.Thread(target=call, args=(own,)) for own in done]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert (done == 300).all()


@two
def test_beside_a_busy_process_for_each_cpu_all_parts_are_done():
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(usable_cpus())]
    try:
        done, order = np.zeros(2, np.int64), np.ones((50, 2))
        for _ in range(200):
            run_parts(count, 2, done, 1)
        run_parts(chain, 2, len(order), np.zeros(1, np.int64), order, 2)
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert list(done) == [200, 200] and (order[-1] == 2.0**50 - 1).all()  # 1, 3, 7 …


@two
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_after_a_fork_the_child_has_a_team_of_its_own():
    run_parts(count, 2, np.zeros(2, np.int64), 1)
    code = """
import os
import numpy as np
from test_team import count, run_parts
run_parts(count, 2, np.zeros(2, np.int64), 1)
child = os.fork()
done = np.zeros(2, np.int64)
run_parts(count, 2, done, 1)
if child:
    assert os.waitpid(child, 0)[1] == 0 and list(done) == [1, 1]
os._exit(list(done) != [1, 1])
"""
    folder = os.path.dirname(__file__)
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


@two
def test_ctrl_c_reaches_the_caller_and_the_team_goes_on():
    def later():
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGINT)

    done = np.zeros(2, np.int64)
    run_parts(count, 2, done, 1)
    threading.Thread(target=later).start()
    with pytest.raises(KeyboardInterrupt):
        while True:
            run_parts(count, 2, done, 1)
    assert done[0] == done[1]
    run_parts(count, 2, done, 1)
    assert done[0] == done[1]


@pytest.mark.parametrize(("numbers", "threads"), [(0, 1), (199, 1), (200, 2), (399, 3), (10**9, 4)])
def test_small_work_is_given_to_fewer_threads(numbers, threads):
    assert team.worthwhile(4, numbers, fewest=100) == threads


def test_more_threads_than_usable_cpus_are_refused():
    with pytest.raises(ValueError, match="threads"):
        run_parts(count, 10_000, np.zeros(2, np.int64), 1)


@two
def test_work_that_returns_something_is_refused():
    with pytest.raises(TypeError, match="returns nothing"):
        run_parts(kernel(lambda x, number: x + number, cache=False), 2, 1.0)


@two
@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="binding is not offered here")
def test_threads_are_bound_each_to_its_cpu():
    own = os.sched_getaffinity(0)
    cpus = sorted(own)[:2]
    try:
        team.bind(cpus)
        bound = [os.sched_getaffinity(0), os.sched_getaffinity(team._standing().threads[0].native_id)]
        assert bound == [{cpus[0]}, {cpus[1]}]
    finally:
        os.sched_setaffinity(0, own)
        for thread in team._standing().threads:
            os.sched_setaffinity(thread.native_id, own)
