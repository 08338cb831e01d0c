"""Work shared by threads that stay: every part is done, errors are told, and too many threads are refused."""

import threading

import pytest

from kernels.runtime.resources import usable_cpus
from kernels.runtime.threads import Team, run_parts


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
def test_every_member_works_once_a_call_and_the_caller_is_one(threads):
    seen = []
    with Team(threads) as team:
        for _ in range(5):
            team.run(lambda number: seen.append((number, threading.get_ident())))
    assert sorted(number for number, _ in seen) == sorted(5 * list(range(threads)))
    assert {ident for number, ident in seen if number == 0} == {threading.get_ident()}
    assert len({ident for _, ident in seen}) == threads


def test_an_error_of_any_member_is_raised_and_the_team_goes_on():
    with Team(2) as team:
        with pytest.raises(ZeroDivisionError):
            team.run(lambda number: 1 / (1 - number))
        team.run(lambda number: None)
