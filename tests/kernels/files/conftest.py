"""For the tests of writers that are interrupted: Ctrl-C at any step of what they do."""

import signal
import sys
import traceback

import pytest


def interrupted_at(number, action, traced, event) -> tuple[int, str, str]:
    """Run ``action`` and send the signal before step ``number`` of it: its steps, where the signal came, what came out.

    A step is an ``event`` of tracing, ``line`` or ``opcode``, in a file that ``traced`` is true of.
    """
    steps, place = 0, ""

    def trace(frame, what, argument):
        nonlocal steps, place
        if not traced(frame.f_code.co_filename):
            return trace if event == "line" else None
        frame.f_trace_opcodes = event == "opcode"
        if what == event:
            steps += 1
            if steps == number:
                sys.settrace(None)
                stack = reversed(traceback.extract_stack(frame))
                place = " < ".join(f"{each.filename}:{each.lineno}" for each in stack)
                signal.raise_signal(signal.SIGINT)
        return trace

    before = sys.gettrace()
    try:
        sys.settrace(trace)
        action()
        return steps, place, "nothing"
    except BaseException as error:
        return steps, place, type(error).__name__
    finally:
        sys.settrace(before)


@pytest.fixture
def ctrl_c():
    """:func:`interrupted_at`.  The signal raises, whatever the test run was started with; afterwards the handler is as
    it was."""
    kept = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield interrupted_at
    signal.signal(signal.SIGINT, kept)
