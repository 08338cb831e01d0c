"""A team that waits between calls."""

import threading

import pytest

from kernels.runtime.threads import Team


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
