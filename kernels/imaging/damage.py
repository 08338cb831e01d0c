"""What wrong results look like in the test's bits: arithmetic and parameters damaged on purpose.

The memo's APCLN was wrong on both X-MPs, and VTESS did not converge.  Each function here runs a piece of
work that is wrong in one known way; :func:`cases` tells what the bits say of it.
"""

from typing import NamedTuple

import numpy as np

from kernels.imaging import clean, dirty, entropy, hogbom, masters, sky, tasks
from kernels.imaging.array import IM, RE, WEIGHT, U, V
from kernels.imaging.bits import EXACT, agreement
from kernels.imaging.masters import CELL, SIZES
from kernels.runtime.jit import STRICT, kernel


class Case(NamedTuple):
    what: str
    maximum: float  # bits of the largest difference
    rms: float  # bits of the root-mean-square difference
    accepted: bool  # whether the test accepts it
    flux: float = np.nan  # Jy of the model
    image: np.ndarray | None = None  # the model ∗ the restoring beam, Jy per beam (side, side); None: no model


@kernel(fastmath=STRICT)
def _in_single(u, v, re, im, pixels, cell, middle, out):
    """The direct sum with phases and sums in float32, one visibility after the other, into ``out``, float32 (n,).

    ``u``, ``v``: wavelengths; ``re``, ``im``: weighted visibilities; ``pixels``, int (n, 2): row and column; ``cell``:
    radians of a pixel; ``middle``: row and column of the phase centre.
    """
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
    return found + _models(made, size)


def _models(made, size) -> list[Case]:
    """The sky, and models of it by CLEAN and by maximum entropy; truth has the bits of what equals itself."""
    sky_itself = sky.pixels(sky.synthetic(size.side, CELL), size.side, CELL)
    smooth = clean.restoring_beam(made.beam)
    found = [Case("truth", EXACT, EXACT, True, float(sky_itself.sum()), clean.convolve(smooth, sky_itself))]

    def add(what, model, residual, accepted):
        bits = agreement(residual, made.dirty - clean.convolve(made.beam, model), peak=float(made.dirty.max()))
        image = clean.convolve(smooth, model)
        found.append(Case(what, *bits, bool(accepted and min(bits) >= 20), float(model.sum()), image))

    for gain, components in ((0.1, size.components), (2.2, 40)):
        done = hogbom.clean(made.dirty, made.beam, clean.Limits(components, gain=gain))
        # gain, not rounding, decides here: a sound CLEAN leaves less than it found
        left = np.abs(done.residual).max() / made.dirty.max()
        what = f"CLEAN, gain {gain:g}: {components} components leave {left:.3g} of the peak"
        add(what, done.model.astype(float), done.residual, left < 0.1)
    noise, flux = tasks.noise_of(size.visibilities), float(made.flux[0])
    for what, most in ((f"VTESS, {tasks.ITERATIONS} iterations", tasks.ITERATIONS), ("VTESS, converged", tasks.MOST)):
        done = entropy.restore(made.dirty, made.beam, noise, flux, most)
        checks = entropy.verify(done._asdict(), made.dirty, made.beam, noise, flux, most, converge=True)
        what = f"{what}: residual {done.rms[-1] / noise:.2g} times the noise"
        add(what, done.model.astype(float), done.residual, all(check.ok for check in checks))
    return found


def _case(what, ours, expected, peak, least) -> Case:
    found = agreement(ours, expected, peak=peak)
    return Case(what, found.maximum, found.rms, bool(min(found) >= least))
