"""The clock of compiled code, and the account that threads' stamps make."""

import time

import numpy as np
import pytest

from kernels.runtime.clock import Account, now


def test_it_is_the_clock_of_python():
    before, inside, after = time.clock_gettime(time.CLOCK_MONOTONIC), now(), time.clock_gettime(time.CLOCK_MONOTONIC)
    assert before - 1e-6 <= inside <= after + 1e-6


def test_an_account_adds_up_to_the_clock():
    account, stamps = Account(), np.zeros((2, 2))

    def region(pause, stamps):
        begin = now()
        time.sleep(pause)
        stamps[:] = (begin, now()), (begin, begin)  # the second thread had nothing to do

    started = now()
    for _ in range(3):
        account.region(region, stamps, 0.002)
    seconds = now() - started
    split = account.split(seconds)
    assert account.parts["region"] == (3, pytest.approx(split["computing"] + split["waiting"]))
    assert sum(split.values()) == pytest.approx(seconds)
    assert split["computing"] == pytest.approx(split["waiting"], rel=0.2) and split["computing"] >= 0.003
