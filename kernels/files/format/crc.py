"""CRC-32 as zlib computes it, at the speed of memory where the CPU multiplies without carries.

A message is a polynomial over GF(2).  Sixty-four bytes at its front can be multiplied by x^512 modulo
the CRC's own polynomial and added to the next sixty-four: the remainder of the whole stays the same
(Gopal et al., *Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction*, Intel, 2009).
So a loop over four 128-bit accumulators shrinks any message to 64 bytes, and zlib does the rest.
On other CPUs zlib does everything.
"""

import zlib

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba.core import cgutils, config, types
from numba.extending import intrinsic

from kernels.runtime.arrays import require_array
from kernels.runtime.jit import kernel

POLYNOMIAL = 0x104C11DB7  # of CRC-32, bit n is the coefficient of x^n
BLOCK = 64  # bytes of the four accumulators
WORTHWHILE = 64  # blocks below which the call costs more than it saves


def _factor(power: int) -> int:
    """x^power modulo the polynomial, in the bit order of the reflected CRC."""
    remainder = 1
    for _ in range(power):
        remainder <<= 1
        if remainder >> 32:
            remainder ^= POLYNOMIAL
    return int(f"{remainder:032b}"[::-1], 2) << 1


def _available() -> bool:
    if config.CPU_NAME not in (None, "host"):  # numba compiles for another processor than this one
        return "+pclmul" in (config.CPU_FEATURES or "")
    try:
        return bool(llvm.get_host_cpu_features().get("pclmul", False))
    except RuntimeError:  # the system does not tell
        return False


AVAILABLE = _available()


@intrinsic
def _fold(_context, address, blocks, initial, out):
    """Fold ``blocks`` × 64 bytes at ``address`` into 64 bytes at ``out``.

    ``initial`` is added to the first 8 bytes: a CRC starts by doing so with its starting value.
    """
    signature = types.void(types.uint64, types.uint64, types.uint64, types.uint64)

    def generate(_context, builder, _signature, arguments):
        start, count, first, target = arguments
        pair = ir.VectorType(ir.IntType(64), 2)
        multiply = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(pair, [pair, pair, ir.IntType(8)]), "llvm.x86.pclmulqdq"
        )
        factors = ir.Constant(pair, [_factor(8 * BLOCK + 32), _factor(8 * BLOCK - 32)])

        def place(base, lane):
            offset = builder.add(base, ir.Constant(base.type, 16 * lane))
            return builder.inttoptr(offset, pair.as_pointer())

        lanes = [cgutils.alloca_once_value(builder, builder.load(place(start, lane), align=1)) for lane in range(4)]
        begin = builder.insert_element(ir.Constant(pair, [0, 0]), first, ir.Constant(ir.IntType(32), 0))
        builder.store(builder.xor(builder.load(lanes[0]), begin), lanes[0])
        with cgutils.for_range(builder, builder.sub(count, ir.Constant(count.type, 1))) as loop:
            done = builder.mul(builder.add(loop.index, ir.Constant(count.type, 1)), ir.Constant(count.type, BLOCK))
            base = builder.add(start, done)
            for lane, kept in enumerate(lanes):
                value = builder.load(kept)
                low = builder.call(multiply, [value, factors, ir.Constant(ir.IntType(8), 0x00)])
                high = builder.call(multiply, [value, factors, ir.Constant(ir.IntType(8), 0x11)])
                data = builder.load(place(base, lane), align=1)
                builder.store(builder.xor(builder.xor(low, high), data), kept)
        for lane, kept in enumerate(lanes):
            builder.store(builder.load(kept), place(target, lane), align=1)
        return _context.get_dummy_value()

    return signature, generate


@kernel
def _shrink(address, blocks, initial, out):
    _fold(np.uint64(address), np.uint64(blocks), np.uint64(initial), np.uint64(out))


def crc32(data, value: int = 0) -> int:
    """CRC-32 of ``data`` (bytes or a C-contiguous array), continuing from ``value``.

    Equal to ``zlib.crc32(data, value)``.  ``ValueError`` for an array that is not contiguous.
    """
    if isinstance(data, np.ndarray):
        words = require_array("data", data, data.dtype, data.shape).reshape(-1).view(np.uint8)
    else:
        words = np.frombuffer(data, np.uint8)
    blocks = words.size // BLOCK
    if not AVAILABLE or blocks < WORTHWHILE:
        return zlib.crc32(words, value)
    shrunk = np.empty(BLOCK, np.uint8)
    _shrink(words.ctypes.data, blocks, ~value & 0xFFFFFFFF, shrunk.ctypes.data)
    # The starting value is in already, and zlib's inversion of its own makes it zero.
    return zlib.crc32(words[blocks * BLOCK :], zlib.crc32(shrunk, 0xFFFFFFFF))
