"""Signals wait until a block has ended, and none is lost."""

import signal
import threading
import time

import pytest

from kernels.runtime.interrupts import Deferred


@pytest.fixture
def heard():
    """Numbers of the signals that reached the handlers set before the block."""
    numbers = []
    before = {
        number: signal.signal(number, lambda n, _: numbers.append(n)) for number in (signal.SIGINT, signal.SIGTERM)
    }
    yield numbers
    for number, handler in before.items():
        signal.signal(number, handler)


def test_a_signal_waits_for_the_end_of_the_block(heard):
    handler = signal.getsignal(signal.SIGINT)
    with Deferred():
        signal.raise_signal(signal.SIGTERM)
        with Deferred():
            signal.raise_signal(signal.SIGINT)
        assert heard == []
    assert heard == [signal.SIGTERM, signal.SIGINT]
    assert signal.getsignal(signal.SIGINT) is handler


def test_where_exceptions_are_dropped_it_comes_a_moment_later(heard):
    with Deferred(ignored=True):
        signal.raise_signal(signal.SIGINT)
    deadline = time.monotonic() + 10
    while not heard and time.monotonic() < deadline:
        time.sleep(0.01)
    assert heard == [signal.SIGINT]


def test_signals_that_are_ignored_stay_ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Deferred():
            signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_change_no_handler():
    found = []

    def work():
        with Deferred():
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [signal.getsignal(signal.SIGINT)]
