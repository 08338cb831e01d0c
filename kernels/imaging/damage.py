"""What wrong results look like in the test's bits: arithmetic and parameters damaged on purpose.

The memo's APCLN was wrong on both X-MPs, and VTESS did not converge.  Each function here runs a piece of
work that is wrong in one known way; :func:`cases` tells what the bits say of it.
"""

from typing import NamedTuple

import numpy as np

from kernels.imaging import clean, dirty, entropy, hogbom, masters, tasks
from kernels.imaging.array import IM, RE, WEIGHT, U, V
from kernels.imaging.bits import agreement
from kernels.imaging.masters import CELL, SIZES
from kernels.runtime.jit import STRICT, kernel


class Case(NamedTuple):
    what: str
    maximum: float  # bits of the largest difference
    rms: float  # bits of the root-mean-square difference
    accepted: bool  # whether the test accepts it


@kernel(fastmath=STRICT)
def _in_single(u, v, re, im, pixels, cell, middle, out):
    """The direct sum with phases and sums in float32, one visibility after the other."""
    turn = np.float32(2 * np.pi)
    for p in range(pixels.shape[0]):
        total = np.float32(0)
        left, up = np.float32((pixels[p, 1] - middle) * cell), np.float32((pixels[p, 0] - middle) * cell)
        for n in range(u.size):
            phase = np.float32(turn * np.float32(u[n] * left + v[n] * up))
            total += np.float32(re[n] * np.cos(phase) - im[n] * np.sin(phase))
        out[p] = total


def summed_in_single(records, pixels, side: int) -> np.ndarray:
    """The dirty image at pixels with every step rounded to float32."""
    out = np.empty(len(pixels), np.float32)
    weight = records[:, WEIGHT]
    columns = (np.ascontiguousarray(records[:, U]), np.ascontiguousarray(records[:, V]))
    data = records[:, RE] * weight, records[:, IM] * weight
    _in_single(*columns, *data, np.asarray(pixels), CELL, side // 2, out)
    return out / weight.sum(dtype=np.float64)


def cases(size_name: str = "small") -> list[Case]:
    """Sound and damaged runs side by side."""
    made, size = masters.masters(size_name), SIZES[size_name]
    generator = np.random.default_rng(1)
    pixels = generator.integers(size.skip, size.side - size.skip, (100, 2))
    expected = dirty.direct(made.records, size.side, CELL, pixels)
    peak = float(made.dirty.max())
    found = [_case("dirty image", made.dirty[pixels[:, 0], pixels[:, 1]], expected, peak, 16.6)]
    single = summed_in_single(made.records, pixels, size.side)
    found.append(_case("dirty image, direct sum in float32 throughout", single, expected, peak, 16.6))
    strength = -np.hypot(made.records[:, RE], made.records[:, IM]) * made.records[:, WEIGHT]
    wrong_way = summed_in_single(np.ascontiguousarray(made.records[np.argsort(strength)]), pixels, size.side)
    found.append(_case("dirty image, the same in the wrong order, strongest first", wrong_way, expected, peak, 16.6))
    shifted = np.roll(made.dirty, 1, axis=0)[pixels[:, 0], pixels[:, 1]]
    found.append(_case("dirty image, one pixel off", shifted, expected, peak, 16.6))
    for gain in (0.1, 2.2):
        limits = clean.Limits(40, gain=gain, list_length=size.list_length)
        done = hogbom.clean(made.dirty, made.beam, limits)
        left = np.abs(done.residual).max() / peak
        # gain, not rounding, decides here: a sound CLEAN leaves less than it found
        what = f"CLEAN, gain {gain:g}: peak left {left:.3g} of the first"
        residual = made.dirty - clean.convolve(made.beam, done.model.astype(float))
        found.append(_case(what, done.residual, residual, peak, 20.0 if left < 1 else np.inf))
    noise = tasks.noise_of(size.visibilities)
    restored = entropy.restore(made.dirty, made.beam, noise, None, tasks.ITERATIONS)
    what = f"VTESS, {tasks.ITERATIONS} iterations: residual {restored.rms[-1] / noise:.0f} times the noise"
    residual = made.dirty - clean.convolve(made.beam, restored.model.astype(float))
    found.append(_case(what, restored.residual, residual, peak, 20.0 if restored.converged else np.inf))
    return found


def _case(what, ours, expected, peak, least) -> Case:
    found = agreement(ours, expected, peak=peak)
    return Case(what, found.maximum, found.rms, bool(min(found) >= least))
