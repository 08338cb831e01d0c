"""Our CRC-32 is zlib's."""

import tracemalloc
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.files.format import crc


@given(
    size=st.integers(0, 12_000), start=st.integers(0, 2**32 - 1), shift=st.integers(0, 70), seed=st.integers(0, 2**32)
)
def test_equal_to_zlib(size, start, shift, seed):
    data = np.random.default_rng(seed).integers(0, 256, size + shift, dtype=np.uint8)[shift:]
    assert crc.crc32(data, start) == zlib.crc32(data, start)
    assert crc.crc32(data.tobytes(), start) == zlib.crc32(data, start)


@given(cut=st.integers(0, 20_000), seed=st.integers(0, 2**32))
def test_continues(cut, seed):
    data = np.random.default_rng(seed).integers(0, 256, 20_000, dtype=np.uint8)
    assert crc.crc32(data[cut:], crc.crc32(data[:cut])) == zlib.crc32(data)


def test_check_value_of_the_standard():
    assert crc.crc32(b"123456789") == 0xCBF43926


@pytest.mark.parametrize("available", [False, crc.AVAILABLE])
def test_arrays_with_and_without_the_instruction(monkeypatch, available):
    monkeypatch.setattr(crc, "AVAILABLE", available)
    data = np.random.default_rng(0).random((9, 11, 13, 5))
    assert crc.crc32(data) == zlib.crc32(data.tobytes())


def test_nothing_is_copied():
    data = np.zeros(2**20)
    crc.crc32(data)
    tracemalloc.start()
    try:
        crc.crc32(data)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20_000


def test_factors_are_powers_of_x():
    """x^32 reduces to the polynomial without its leading term; more powers by multiplication."""

    def power(n):
        return int(f"{crc._factor(n) >> 1:032b}"[::-1], 2)

    assert power(0) == 1 and power(31) == 2**31
    assert power(32) == crc.POLYNOMIAL - 2**32
    product = 0
    for bit in range(32):
        if power(40) >> bit & 1:
            product ^= power(50) << bit
    while product.bit_length() > 32:
        product ^= crc.POLYNOMIAL << (product.bit_length() - 33)
    assert product == power(90)
