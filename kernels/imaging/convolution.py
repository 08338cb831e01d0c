"""Convolution of an image with a beam of twice its side, by transforms of sixteen lines.

    out(q) = Σ_p beam(q − p) image(p),      q − p from −side to side − 1

The image is padded with zeros to the beam's side, so that nothing wraps around.  Along columns, along
rows, times the beam's transform, and back along both; the rows never leave the vectors between.
"""

import numpy as np
import scipy.fft
from numba import float32, prange

from kernels.imaging.dirty import SIDES, _column, _columns_in, _columns_out, _Shape
from kernels.imaging.fourier import flops, plan, transform
from kernels.imaging.lanes import fma, fnma, load, store, transpose
from kernels.runtime.jit import CONTRACT, kernel
from kernels.runtime.resources import require_memory
from kernels.runtime.threads import numba_threads


@kernel(fastmath=CONTRACT)
def _times(done, out, response, first, cells):
    """Products with the beam's transform; ``done`` has its parts exchanged, ``out`` has not."""
    for cell in range(cells):
        re, im = load(done, 32 * cell + 16), load(done, 32 * cell)
        br, bi = load(response, first + 32 * cell), load(response, first + 32 * cell + 16)
        store(out, 32 * cell, fnma(im, bi, re * br))
        store(out, 32 * cell + 16, fma(im, br, re * bi))


@kernel(parallel=True)
def _rows_through(half, response, shape, passes, factors):
    """Along rows, times the beam, and back, on blocks of sixteen rows of ``half``."""
    blocks = (shape.rows + 15) // 16
    for thread in prange(shape.threads):
        x, other = np.empty(shape.grid * 32, np.float32), np.empty(shape.grid * 32, np.float32)
        for block in range(thread, blocks, shape.threads):
            x[:] = float32(0)
            base = 16 * block * 2 * shape.side
            for i in range(0, shape.side, 16):
                place = _column(i, shape.side, shape.grid)
                for part in range(2):
                    transpose(half, base + part * shape.side + i, 2 * shape.side, x, (2 * place + 1 - part) * 16, 32)
            turn = transform(x, other, shape.grid, passes, factors)
            done, spare = (x, other) if turn == 0 else (other, x)
            _times(done, spare, response, block * shape.grid * 32, shape.grid)
            turn = transform(spare, done, shape.grid, passes, factors)
            back = spare if turn == 0 else done
            for i in range(0, shape.side, 16):
                place = _column(i, shape.side, shape.grid)
                for part in range(2):
                    transpose(back, (2 * place + part) * 16, 32, half, base + part * shape.side + i, 2 * shape.side)


class Convolver:
    """``Convolver(beam)(image)``: the convolution, float32 (side, side).

    Parameters
    ----------
    beam : ndarray, float32 (2·side, 2·side)
        Its middle, (side, side), belongs to no shift.
    threads : int
    """

    def __init__(self, beam: np.ndarray, threads: int = 1):
        grid = beam.shape[0]
        side = grid // 2
        if beam.shape != (2 * side, 2 * side) or side not in SIDES:
            raise ValueError(f"beam of shape {beam.shape} must be square, of twice the side of an image")
        require_memory(24 * grid * grid, f"the transform of a beam of {grid}²")
        self.side, self.threads = side, threads
        rows = side + 1
        self.shape = _Shape(side, grid, rows, 0, threads)
        self.half = np.zeros((-(-rows // 16) * 16, 2, side), np.float32)
        middle = np.roll(beam.astype(np.float64), (-side, -side), (0, 1))
        spectrum = scipy.fft.fft(scipy.fft.rfft(middle, axis=0), axis=1) / grid**2
        blocks = self.half.shape[0] // 16
        self.response = np.zeros((blocks, grid, 2, 16), np.float32)
        padded = np.zeros((blocks * 16, grid), complex)
        padded[:rows] = spectrum
        self.response[:, :, 0] = padded.real.reshape(blocks, 16, grid).transpose(0, 2, 1)
        self.response[:, :, 1] = padded.imag.reshape(blocks, 16, grid).transpose(0, 2, 1)
        self.ones = np.ones(side, np.float32)

    def __call__(self, image: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        out = np.empty((self.side, self.side), np.float32) if out is None else out
        tables, half = plan(self.shape.grid), self.half.reshape(-1)
        with numba_threads(self.threads):
            source = np.ascontiguousarray(image, np.float32).reshape(-1)
            _columns_out(source, half, self.shape, self.ones, self.ones, *tables)
            _rows_through(half, self.response.reshape(-1), self.shape, *tables)
            _columns_in(half, out.reshape(-1), self.shape, self.ones, self.ones, *tables)
        return out

    @property
    def flops(self) -> int:
        return (2 * (self.side // 2) + 2 * self.shape.rows) * flops(self.shape.grid)


def convolve(beam: np.ndarray, image: np.ndarray) -> np.ndarray:
    """The same by scipy's transforms in float64: what results are checked with."""
    side = image.shape[0]
    padded = np.zeros_like(beam, dtype=np.float64)
    padded[:side, :side] = image
    product = scipy.fft.rfft2(padded) * scipy.fft.rfft2(beam.astype(np.float64))
    return scipy.fft.irfft2(product, s=beam.shape)[side:, side:]
