"""Threads that are started for one piece of work: each works once, errors are told, the caller is one of them."""

import threading

import pytest

from supercomputers_rerun.kernels.runtime.resources import run_team


@pytest.mark.parametrize("threads", [1, 3])
def test_every_member_of_a_team_works_once_and_the_caller_is_one(threads):
    found = run_team(lambda number: (number, threading.get_ident()), threads)
    assert [number for number, _ in found] == list(range(threads)) and found[0][1] == threading.get_ident()
    assert len({ident for _, ident in found}) == threads
    with pytest.raises(ZeroDivisionError):
        run_team(lambda number: 1 / (number + 1 - threads), threads)
