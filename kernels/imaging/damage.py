"""What wrong results look like in the test's bits: parameters that are wrong on purpose.

The memo's APCLN was wrong on both X-MPs, and VTESS did not converge.  :func:`cases` makes sound and wrong models of one
sky, and tells what the bits and the checks say of them.
"""

from typing import NamedTuple

import numpy as np

from supercomputers_rerun.kernels.imaging import clean, entropy, masters, sky, tasks
from supercomputers_rerun.kernels.imaging.checks import EXACT, agreement
from supercomputers_rerun.kernels.imaging.convolution import convolve
from supercomputers_rerun.kernels.imaging.masters import CELL, SIZES


class Case(NamedTuple):
    """One model of the sky."""

    what: str
    maximum: float  # bits of the largest difference of its residual
    accepted: bool  # whether the test accepts it
    flux: float  # Jy of the model
    image: np.ndarray  # the model ∗ the restoring beam, Jy per beam (side, side)


def hogbom(dirty: np.ndarray, beam: np.ndarray, components: int, gain: float) -> clean.Cleaned:
    """CLEAN by Högbom (1974) of the inner half of an image: at every peak the whole beam is subtracted."""
    side, residual = len(dirty), dirty.copy()
    edge = side // 4
    inside = clean.inner(residual)
    places, fluxes = np.empty((components, 2), np.int32), np.empty(components, np.float32)
    for number in range(components):
        peak = np.unravel_index(np.abs(inside).argmax(), inside.shape)
        row, column = edge + peak[0], edge + peak[1]
        places[number], fluxes[number] = (row, column), np.float32(gain) * residual[row, column]
        residual -= fluxes[number] * beam[side - row : 2 * side - row, side - column : 2 * side - column]
    return clean.Cleaned(places, fluxes, clean.summed(places, fluxes, side), residual)


def cases(size_name: str = "small") -> list[Case]:
    """The sky, and models of it by CLEAN and by maximum entropy; truth has the bits of what equals itself."""
    made, size = masters.masters(size_name), SIZES[size_name]
    sky_itself = sky.pixels(sky.synthetic(size.side, CELL), size.side, CELL)
    smooth = clean.restoring_beam(made.beam)
    found = [Case("truth", EXACT, True, float(sky_itself.sum()), convolve(smooth, sky_itself))]

    def add(what, done, accepted):
        model = done.model.astype(float)
        bits = agreement(done.residual, made.dirty - convolve(made.beam, model), peak=float(made.dirty.max()))
        accepted = bool(accepted and bits >= 20)
        found.append(Case(what, bits, accepted, float(model.sum()), convolve(smooth, model)))

    for gain, components in ((0.1, size.components), (2.2, 40)):
        done = hogbom(made.dirty, made.beam, components, gain)
        # gain, not rounding, decides here: a sound CLEAN leaves less than it found
        left = np.abs(done.residual).max() / made.dirty.max()
        add(f"CLEAN, gain {gain:g}: {components} components leave {left:.3g} of the peak", done, left < 0.1)
    noise, flux = tasks.noise_of(size.visibilities), float(made.flux[0])
    for what, most in ((f"VTESS, {tasks.ITERATIONS} iterations", tasks.ITERATIONS), ("VTESS, converged", 10_000)):
        done = entropy.restore(made.dirty, made.beam, noise, flux, most)
        checks = entropy.verify(done._asdict(), made.dirty, made.beam, flux, len(done.rms) - 1)
        left, accepted = done.rms[-1] / noise, done.converged and all(check.ok for check in checks)
        add(f"{what}: residual {left:.2g} times the noise", done, accepted)
    return found
