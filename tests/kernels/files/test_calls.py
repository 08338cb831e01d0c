"""Small calls: what they leave, and what is noticed."""

import numpy as np
import pytest

from supercomputers_rerun.kernels.files import calls
from supercomputers_rerun.kernels.files.calls import CALLS, Problem


@pytest.mark.parametrize("call", CALLS)
def test_compiled_calls_do_what_the_plain_ones_do(tmp_path, call):
    problem = Problem(call, 24, 50, str(tmp_path))
    state = calls.setup(problem)
    found = calls.run(problem, state, repeats=2)
    assert found[1:] == calls.reference(problem, state)[1:] == (50, 24 * 0x5A * (50 if call == "write" else 1))
    assert all(check.ok for check in calls.verify(problem, found)) and found.seconds > 0
    state.keep.close()
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_gone_is_an_error(tmp_path):
    problem = Problem("open", 24, 5, str(tmp_path))
    state = calls.setup(problem)
    state.path.unlink()
    with pytest.raises(FileNotFoundError):
        calls.run(problem, state)


def test_calls_that_did_less_are_noticed(tmp_path, monkeypatch):
    problem = Problem("write", 24, 5, str(tmp_path))
    state = calls.setup(problem)
    write = calls.write_calls
    monkeypatch.setattr(calls, "write_calls", lambda handle, at, nbytes, count: write(handle, at, nbytes, count - 1))
    failed = [check for check in calls.verify(problem, calls.run(problem, state)) if not check.ok]
    assert len(failed) == 2
    assert calls._sum(state.path) == 4 * 24 * 0x5A and np.all(state.data == 0x5A)
