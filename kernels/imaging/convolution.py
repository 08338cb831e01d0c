"""Convolution of an image with a beam of twice its side, by transforms of sixteen lines.

    out(q) = Σ_p beam(q − p) image(p),      q − p from −side to side − 1

The image is padded with zeros to the beam's side, so that nothing wraps around.  Along columns, along
rows, times the beam's transform, and back along both; the rows never leave the vectors between.  SciPy's transforms of
the same rows and columns alone take 2.3 times as long for 256 pixels a side, 2.7 times for 1024.
"""

import threading

import numpy as np
import scipy.fft
from numba import float32

from supercomputers_rerun.kernels.contract import ceil_div
from supercomputers_rerun.kernels.imaging.dirty import (
    PAIR,
    SIDES,
    Way,
    _blocks,
    _cell,
    _columns_in,
    _columns_out,
    scratch,
    tables,
    transform,
)
from supercomputers_rerun.kernels.runtime.arrays import aligned, zeros
from supercomputers_rerun.kernels.runtime.jit import CONTRACT, kernel
from supercomputers_rerun.kernels.runtime.resources import alone, require_memory, require_threads
from supercomputers_rerun.kernels.runtime.team import run_parts, worthwhile
from supercomputers_rerun.kernels.runtime.vector import SINGLES, fma, fnma, load, store, transpose_block


@kernel(fastmath=CONTRACT)
def _times(done, out, response, first, cells):
    """Products of ``cells`` numbers of sixteen lines with those of ``response`` from place ``first`` on; ``done`` has
    its parts exchanged, ``out`` has not."""
    for cell in range(cells):
        re = load(done, PAIR * cell + SINGLES)
        im = load(done, PAIR * cell)
        br = load(response, first + PAIR * cell)
        bi = load(response, first + PAIR * cell + SINGLES)
        store(out, PAIR * cell, fnma(im, bi, re * br))
        store(out, PAIR * cell + SINGLES, fma(im, br, re * bi))


@kernel
def _rows_through(half, response, way, thread):
    """Along rows, times the beam's transform ``response``, and back, on blocks of sixteen rows of ``half``."""
    x, other = _blocks(thread, way)
    for block in range(thread, way.blocks, way.threads):
        x[:] = float32(0)
        base = SINGLES * block * 2 * way.side
        for i in range(0, way.side, SINGLES):
            for part in range(2):
                target = PAIR * _cell(i, way) + SINGLES * (1 - part)
                transpose_block(half, (base + part * way.side + i, 2 * way.side), x, (target, PAIR))
        turn = transform(x, other, way.grid, way.radices, way.roots)
        done, spare = (x, other) if turn == 0 else (other, x)
        _times(done, spare, response, block * way.grid * PAIR, way.grid)
        turn = transform(spare, done, way.grid, way.radices, way.roots)
        back = spare if turn == 0 else done
        for i in range(0, way.side, SINGLES):
            for part in range(2):
                source = PAIR * _cell(i, way) + SINGLES * part
                transpose_block(back, (source, PAIR), half, (base + part * way.side + i, 2 * way.side))


class Convolver:
    """``Convolver(beam)(image)``: the convolution, float32 (side, side); ``Convolver.threads`` are those that compute.

    ``beam``: float32 (2·side, 2·side); its middle, (side, side), belongs to no shift.  ``ValueError``: another shape, a
    side that the transforms do not take. ``MemoryError`` where it does not fit.
    """

    def __init__(self, beam: np.ndarray, threads: int = 1):
        grid = len(beam) if np.ndim(beam) else 0
        side = grid // 2
        if np.shape(beam) != (2 * side, 2 * side) or side not in SIDES:
            raise ValueError(f"beam of shape {np.shape(beam)} must be square, of twice the side of an image")
        require_threads(threads)
        require_memory(24 * grid * grid, f"the transform of a beam of {grid}²")
        self.side = side
        self.threads = worthwhile(threads, grid * grid)
        self.lock = threading.RLock()  # calls share the buffers: those of other threads wait
        rows = side + 1
        blocks = ceil_div(rows, SINGLES)
        self.half = zeros((blocks * SINGLES, 2, side), np.float32)
        radices, roots = tables(grid)
        self.way = Way(
            side=side,
            grid=grid,
            rows=rows,
            blocks=blocks,
            step=0,
            across=np.ones(side, np.float32),
            up=np.ones(side, np.float32),
            radices=radices,
            roots=roots,
            scratch=scratch(self.threads, grid),
            threads=self.threads,
        )
        spectrum = scipy.fft.rfft2(np.asarray(beam, np.float32), axes=(1, 0), workers=threads)
        # the beam's middle belongs to no shift: half a turn a step, in both directions, and the scale of the way back
        turn = np.float32(1 / grid**2) * (1 - 2 * (np.arange(grid) % 2)).astype(np.float32)
        spectrum *= turn * (1 - 2 * (np.arange(rows) % 2)).astype(np.float32)[:, None]
        self.response = zeros((blocks, grid, 2, SINGLES), np.float32)
        padded = np.zeros((blocks * SINGLES, grid), np.complex64)
        padded[:rows] = spectrum
        self.response[:, :, 0] = padded.real.reshape(blocks, SINGLES, grid).transpose(0, 2, 1)
        self.response[:, :, 1] = padded.imag.reshape(blocks, SINGLES, grid).transpose(0, 2, 1)

    @alone
    def __call__(self, image: np.ndarray) -> np.ndarray:
        shape = self.side, self.side
        if np.shape(image) != shape:
            raise ValueError(f"image of shape {np.shape(image)} must be of shape {shape}, half the beam's side")
        out = aligned(shape, np.float32)
        source = np.ascontiguousarray(image, np.float32).reshape(-1)
        half = self.half.reshape(-1)
        run_parts(_columns_out, self.threads, source, half, self.way)
        run_parts(_rows_through, self.threads, half, self.response.reshape(-1), self.way)
        run_parts(_columns_in, self.threads, half, out.reshape(-1), self.way)
        return out


def convolve(beam: np.ndarray, image: np.ndarray) -> np.ndarray:
    """The same by scipy's transforms in float64: what results are checked with."""
    side = image.shape[0]
    padded = np.zeros_like(beam, dtype=np.float64)
    padded[:side, :side] = image
    product = scipy.fft.rfft2(padded) * scipy.fft.rfft2(beam.astype(np.float64))
    return scipy.fft.irfft2(product, s=beam.shape)[side:, side:]
