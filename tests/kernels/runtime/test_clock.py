"""The clock of a core, from a chain of additions."""

import numba
import numpy as np
import pytest

from supercomputers_rerun.kernels.runtime import clock


@pytest.mark.parametrize("length", [0, 8, 80, 8000])
def test_the_chain_adds_as_often_as_it_says(length):
    assert clock.chain(length) == 1 + 3 * length


def test_every_addition_waits_for_the_one_before():
    """One addition of two registers a step, and no other arithmetic on the sum that could merge several of them."""
    anew = numba.njit(clock.chain.py_func)  # what comes from the cache cannot be looked at
    anew(8)
    (assembly,) = anew.inspect_asm().values()
    body = assembly[: assembly.index(".size")]
    if "addq" not in body:
        pytest.skip("looks at x86-64 instructions")
    assert body.count("addq") == 8 and not any(word in body for word in ("imul", "shlq", "leaq", "vpadd"))


def test_a_wrong_sum_is_refused(monkeypatch):
    monkeypatch.setattr(clock, "chain", lambda length: np.uint64(length))
    with pytest.raises(ArithmeticError, match="gave 8000000"):
        clock.hertz()


def test_the_clock_is_one_that_processors_have():
    assert 1e8 < clock.hertz(1) < 1e10
