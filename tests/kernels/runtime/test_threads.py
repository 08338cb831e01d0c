"""Work shared by threads that stay: every part is done, errors are told, and too many threads are refused."""

import threading

import pytest

from supercomputers_rerun.kernels.runtime.resources import run_parts, run_team, usable_cpus


@pytest.mark.parametrize("threads", sorted({1, min(2, usable_cpus())}))
def test_every_part_is_done_once(threads):
    done = []
    run_parts(lambda what, number: done.append((what, number)), threads, "a")
    assert sorted(done) == [("a", number) for number in range(threads)]


@pytest.mark.skipif(usable_cpus() < 2, reason="needs two usable CPUs")
def test_the_error_of_another_thread_is_told_after_all_have_ended():
    done = []

    def work(number):
        if number == 1:
            raise ArithmeticError("the second part failed")
        done.append(number)

    with pytest.raises(ArithmeticError, match="second part"):
        run_parts(work, 2)
    assert done == [0]


def test_more_threads_than_usable_cpus_are_refused():
    with pytest.raises(ValueError, match="threads"):
        run_parts(print, 10_000)


@pytest.mark.parametrize("threads", [1, 3])
def test_every_member_of_a_team_works_once_and_the_caller_is_one(threads):
    found = run_team(lambda number: (number, threading.get_ident()), threads)
    assert [number for number, _ in found] == list(range(threads)) and found[0][1] == threading.get_ident()
    assert len({ident for _, ident in found}) == threads
    with pytest.raises(ZeroDivisionError):
        run_team(lambda number: 1 / (number + 1 - threads), threads)
