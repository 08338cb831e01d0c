"""VTESS: deconvolution by maximum entropy (Cornwell and Evans 1985).

The image I maximises

    J = −Σ I ln(I/(M e)) − α Σ r²/σ² − β Σ I,      r = dirty − beam ∗ I

where M is a level image and α, β are raised until the residual is noise and the flux is right.  A step
divides the gradient by the diagonal of its derivative, 1/I + 2 α q, in which q is the norm of the
beam's operator, so that no step overshoots:

    ΔI = I (−ln(I/M) + 2 α r − β) / (1 + 2 α q I)

The memo's problem makes ten such iterations whether or not they converge.
"""

from typing import NamedTuple

import numpy as np
from numba import float32

from kernels.contract import require_range
from kernels.imaging.clean import Limits, require_images
from kernels.imaging.convolution import Convolver
from kernels.runtime.jit import REDUCE, kernel
from kernels.runtime.threads import share


class Restored(NamedTuple):
    model: np.ndarray  # float32 (side, side)
    residual: np.ndarray  # float32 (side, side): dirty − beam ∗ model
    rms: np.ndarray  # float64 (iterations + 1,): of the residual within the box, Jy per beam
    entropy: np.ndarray  # float64 (iterations,)
    converged: bool  # the last rms is at most the noise asked for


@kernel(fastmath=REDUCE)
def _step(model, residual, box, numbers, sums, threads, thread):
    """One step in every ``threads``-th row of the box; ``numbers``: level, α, β, norm.

    Per row: entropy, flux, I²-weighted gradient for β.
    """
    level, alpha, beta, norm = numbers
    for y in range(box[0] + thread, box[1] + 1, threads):
        entropy = flux = lean = float32(0)
        for x in range(box[2], box[3] + 1):
            value = model[y, x]
            slope = -np.log(value / level)
            entropy += value * (slope + float32(1))
            pull = value / (float32(1) + float32(2) * alpha * norm * value)
            step = pull * (slope + float32(2) * alpha * residual[y, x] - beta)
            new = min(max(value + step, float32(0.3) * value), float32(8) * value + level)
            model[y, x] = new
            flux += new
            lean += pull
        sums[y, 0], sums[y, 1], sums[y, 2] = entropy, flux, lean


def restore(dirty, beam, noise, flux=None, iterations=10, box=None, threads=1, convolver=None) -> Restored:
    """``iterations`` steps towards the image of maximum entropy.

    Parameters
    ----------
    dirty, beam : ndarray, float32 (side, side), (2·side, 2·side)
    noise : float
        Jy per beam to which the residual is to fall.
    flux : float, optional
        Jy in the image; None leaves it free.
    box : tuple of int, optional
        First and last row, first and last column; None: the inner half.
    """
    require_range("noise", noise, 0.0, 1e30, "Jy per beam")
    require_range("iterations", iterations, 1, 10_000)
    side = require_images(dirty, beam)
    box = Limits(box=box).within(side)
    convolver = Convolver(beam, threads) if convolver is None else convolver
    norm = float(np.abs(convolver.response[:, :, 0]).max()) * (2 * side) ** 2
    inner = (slice(box[0], box[1] + 1), slice(box[2], box[3] + 1))
    level = max(float(dirty[inner].max()), 1e-20) / norm
    model = np.zeros((side, side), np.float32)
    model[inner] = level
    residual, sums = np.empty_like(dirty), np.zeros((side, 3))
    # the data begin to pull when their gradient equals the entropy's of one level
    alpha, beta = 1.0 / max(float(np.abs(dirty[inner]).max()), 1e-20), 0.0
    track, entropy = [], []
    for number in range(iterations + 1):
        np.subtract(dirty, convolver(model), out=residual)
        track.append(float(np.sqrt(np.mean(residual[inner].astype(np.float64) ** 2))))
        if number == iterations:
            break
        numbers = tuple(np.float32(value) for value in (level, alpha, beta, norm))
        share(_step, threads, model, residual, box, numbers, sums, threads)
        rows = sums[box[0] : box[1] + 1]
        entropy.append(float(rows[:, 0].sum()))
        if flux:
            beta = float(np.clip(beta + (rows[:, 1].sum() - flux) / rows[:, 2].sum(), -10, 10))
        if track[-1] > noise:
            alpha *= 2.5
    return Restored(model, residual, np.array(track), np.array(entropy), track[-1] <= noise)
