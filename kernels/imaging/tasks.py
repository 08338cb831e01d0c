"""The thirteen tasks, from arrays to arrays; ``ddt`` feeds them from files and writes what they give.

Each takes its input arrays, the size and the threads, and returns its products by name.
"""

import numpy as np

from kernels.imaging import arithmetic, clean, cotton_schwab, direct, dirty, entropy, fits, selfcal, sorting
from kernels.imaging.array import IM, RE
from kernels.imaging.convolution import Convolver
from kernels.imaging.masters import CELL, NOISE

TASKS = (
    "IMLOD", "UVLOD", "COMB", "SUBIM", "UVDIF", "UVSRT", "APCLN", "APRES", "ASCAL", "MXCLN", "MXMAP", "UVMAP", "VTESS",
)  # fmt: skip
#: What each task reads, by names of ``Masters``; the loading tasks read FITS files.
INPUTS = {
    "IMLOD": ("dirty.fits",),
    "UVLOD": ("records.fits",),
    "COMB": ("dirty", "residual"),
    "SUBIM": ("dirty",),
    "UVDIF": ("records", "changed"),
    "UVSRT": ("records",),
    "APCLN": ("dirty", "beam"),
    "APRES": ("dirty", "beam", "places", "fluxes"),
    "ASCAL": ("corrupted", "places", "fluxes"),
    "MXCLN": ("records",),
    "MXMAP": ("records",),
    "UVMAP": ("by_tile",),
    "VTESS": ("dirty", "beam", "flux"),
}
#: Largest difference that UVDIF lets pass, by column.
LIMITS = (0.0, 0.0, 0.0, 0.0, 0.0, 1e-3, 1e-3, 1e-6)
ITERATIONS, MOST = 10, 10_000  # of VTESS: the memo's, and those after which convergence is given up
GAIN = 0.1  # part of the peak that a component takes


def limits_of(size, method="blocks") -> clean.Limits:
    return clean.Limits(size.components, gain=GAIN, list_length=size.list_length, method=method)


def subimage_box(side: int) -> tuple[int, int, int, int]:
    """The inner quarter."""
    return (side // 4, side - side // 4 - 1) * 2


def noise_of(visibilities: int) -> float:
    """Jy per beam of the dirty image's noise."""
    return NOISE / visibilities**0.5


def _cleaned(found: clean.Cleaned, beam, threads) -> dict:
    """Products of a CLEAN; the clean image is model ∗ restoring beam + residual."""
    smooth = Convolver(clean.restoring_beam(beam), threads)(found.model)
    products = {name: getattr(found, name) for name in ("residual", "model", "places", "fluxes")}
    return {"clean": arithmetic.combine(smooth, found.residual, 1.0, 1.0, threads=threads)} | products


def _mapped(records, size, threads) -> dict:
    """Image and beam; the beam of the same side, as both tasks make it."""
    plan = dirty.Plan(records, size.side, CELL, threads)
    image = plan.image()
    weights = records[np.where(plan.points.order < 0, -1 - plan.points.order, plan.points.order), 7]
    ones = np.zeros((len(weights), 2), np.float32)
    ones[:, 0] = weights
    return {"dirty": image, "beam": plan.image(values=ones)}


def _self_calibrated(records, places, fluxes, size, threads) -> dict:
    model = direct.predict(records, places, fluxes, size.side, CELL, threads)
    found = selfcal.solve(*selfcal.sums(records, model, size.intervals), threads=threads)
    return {"model": model, "gains": found.gains, "records": selfcal.apply(records, found.gains)}


def _of_entropy(found: entropy.Restored) -> dict:
    return {"model": found.model, "residual": found.residual, "rms": found.rms, "entropy": found.entropy}


def perform(task: str, inputs: list, size, threads: int, method="blocks", reader="raw", converge=False) -> dict:
    """The products of one task by name."""
    if task == "IMLOD":
        return {"image": fits.read_image(inputs[0], reader)}
    if task == "UVLOD":
        return {"records": fits.read_visibilities(inputs[0], reader)}
    if task == "COMB":
        return {"image": arithmetic.combine(*inputs, 0.5, 0.25, threads=threads)}
    if task == "SUBIM":
        return {"image": arithmetic.part(inputs[0], subimage_box(size.side))}
    if task == "UVDIF":
        return arithmetic.differences(*inputs, LIMITS)._asdict()
    if task == "UVSRT":
        return {order: sorting.sort(inputs[0], order, threads=threads) for order in ("baseline", "tile")}
    if task == "APCLN":
        return _cleaned(clean.clark(*inputs, limits_of(size, method), threads), inputs[1], threads)
    if task == "APRES":
        return {"residual": arithmetic.subtract(*inputs, threads=threads)}
    if task == "ASCAL":
        return _self_calibrated(*inputs, size, threads)
    if task == "MXCLN":
        found = cotton_schwab.clean(inputs[0], size.side, CELL, limits_of(size, method), threads)
        return _cleaned(found.cleaned, found.beam, threads) | {"dirty": found.dirty, "response": found.beam}
    if task in ("MXMAP", "UVMAP"):
        return _mapped(inputs[0], size, threads)
    image, beam, flux = inputs
    noise, iterations = noise_of(size.visibilities), MOST if converge else ITERATIONS
    return _of_entropy(entropy.restore(image, beam, noise, float(flux[0]), iterations, threads=threads))


def direct_image(records, side: int, ones: bool = False) -> np.ndarray:
    """The dirty image (or beam) by the sum itself as a product of matrices, float64; small sizes only."""
    good = records[records[:, 7] > 0].astype(np.float64)
    data = good[:, 7] * (1.0 if ones else good[:, RE] + 1j * good[:, IM])
    pixel = 2 * np.pi * CELL * (np.arange(side) - side // 2)
    across, up = np.exp(1j * np.outer(good[:, 0], pixel)), np.exp(1j * np.outer(pixel, good[:, 1]))
    return ((up * data) @ across).real / good[:, 7].sum()


def reference(task: str, inputs: list, size) -> dict:
    """The same products by NumPy, SciPy and astropy: slow, and for the small size."""
    if task in ("IMLOD", "UVLOD"):
        return perform(task, inputs, size, 1, reader="astropy")
    if task == "COMB":
        return {"image": (0.5 * inputs[0].astype(float) + 0.25 * inputs[1]).astype(np.float32)}
    if task == "SUBIM":
        box = subimage_box(size.side)
        return {"image": inputs[0][box[0] : box[1] + 1, box[2] : box[3] + 1].copy()}
    if task == "UVDIF":
        difference = np.abs(inputs[0] - inputs[1])
        return {"columns": (difference > np.float32(LIMITS)).sum(axis=0), "largest": difference.max(axis=0)}
    if task == "UVSRT":
        return {order: sorting.reference(inputs[0], order) for order in ("baseline", "tile")}
    if task == "APRES":
        model = clean.summed(inputs[2], inputs[3], size.side)
        return {"residual": inputs[0] - clean.convolve(inputs[1], model.astype(float))}
    if task == "ASCAL":
        model = direct.reference(inputs[0], inputs[1], inputs[2], size.side, CELL)
        gains = selfcal.solve_numpy(*selfcal.sums(inputs[0], model, size.intervals)).gains
        return {"model": model, "gains": gains, "records": selfcal.apply(inputs[0], gains)}
    if task in ("MXMAP", "UVMAP"):
        return {name: direct_image(inputs[0], size.side, name == "beam") for name in ("dirty", "beam")}
    if task == "APCLN":
        return perform(task, inputs, size, 1, method=clean.PLAIN)
    if task == "MXCLN":
        image = direct_image(inputs[0], size.side).astype(np.float32)
        beam = direct_image(inputs[0], 2 * size.side, True).astype(np.float32)
        return perform("APCLN", [image, beam], size, 1, method=clean.PLAIN) | {"dirty": image, "response": beam}
    image, beam, flux = inputs
    return _of_entropy(entropy.reference(image, beam, noise_of(size.visibilities), float(flux[0]), ITERATIONS))
