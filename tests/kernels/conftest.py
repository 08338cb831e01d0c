"""For the tests of kernels: memory that nobody has written holds no zeros."""

import contextlib
import ctypes

import pytest


def fill_fresh_memory(byte: int) -> None:
    """Let the C library fill each piece of memory that it gives out with ``byte``; 255 ends this."""
    with contextlib.suppress(AttributeError, OSError):  # other libraries than glibc have no such call
        ctypes.CDLL(None).mallopt(-6, byte ^ 255)


@pytest.fixture(autouse=True, scope="module")
def no_answer_comes_from_unwritten_memory():
    """It is full of large numbers, −5e303, or −2e38 in 32 bits."""
    fill_fresh_memory(0xFE)
    yield
    fill_fresh_memory(255)
