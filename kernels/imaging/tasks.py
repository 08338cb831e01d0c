"""The thirteen tasks, from arrays to arrays; ``ddt`` feeds them from files and writes what they give.

Each takes its input arrays, the size and the threads, and returns its products by name.
"""

import numpy as np

from supercomputers_rerun.kernels.imaging import arithmetic, clean, direct, dirty, entropy, fits, selfcal, sorting
from supercomputers_rerun.kernels.imaging.array import WEIGHT
from supercomputers_rerun.kernels.imaging.convolution import Convolver, convolve
from supercomputers_rerun.kernels.imaging.masters import CELL, NOISE

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
TASKS = tuple(INPUTS)
#: Largest difference that UVDIF lets pass, by column.
LIMITS = (0.0, 0.0, 0.0, 0.0, 0.0, 1e-3, 1e-3, 1e-6)
ITERATIONS = 10  # of VTESS


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
    ones = np.zeros((len(plan.points.points), 2), np.float32)
    ones[:, 0] = plan.sorted_column(records, WEIGHT)
    return {"dirty": image, "beam": plan.image(values=ones)}


def perform(task: str, inputs: list, size, threads: int, method: str = "gather") -> dict:
    """The products of one task by name."""
    if task == "IMLOD":
        return {"image": fits.read_image(inputs[0])}
    if task == "UVLOD":
        return {"records": fits.read_visibilities(inputs[0])}
    if task == "COMB":
        return {"image": arithmetic.combine(*inputs, 0.5, 0.25, threads=threads)}
    if task == "SUBIM":
        return {"image": clean.inner(inputs[0]).copy()}
    if task == "UVDIF":
        return arithmetic.differences(*inputs, LIMITS)
    if task == "UVSRT":
        return {order: sorting.sort(inputs[0], order, threads=threads) for order in ("baseline", "tile")}
    if task == "APCLN":
        found = clean.clark(*inputs, size.components, size.list_length, method, threads=threads)
        return _cleaned(found, inputs[1], threads)
    if task == "APRES":
        return {"residual": arithmetic.subtract(*inputs, threads=threads)}
    if task == "ASCAL":
        records, places, fluxes = inputs
        model = direct.predict(records, places, fluxes, size.side, CELL, threads)
        gains = selfcal.solve(*selfcal.sums(records, model, size.intervals))
        return {"model": model, "gains": gains, "records": selfcal.apply(records, gains)}
    if task == "MXCLN":
        limits = size.components, size.list_length, method
        found, image, beam = clean.schwab(inputs[0], size.side, CELL, *limits, threads=threads)
        return _cleaned(found, beam, threads) | {"dirty": image, "response": beam}
    if task in ("MXMAP", "UVMAP"):
        return _mapped(inputs[0], size, threads)
    image, beam, flux = inputs
    found = entropy.restore(image, beam, noise_of(size.visibilities), float(flux[0]), ITERATIONS, threads=threads)
    return {name: getattr(found, name) for name in ("model", "residual", "rms", "entropy")}


def reference(task: str, inputs: list, size, made, method: str = "gather") -> dict:
    """The same products by NumPy and SciPy, of a CLEAN by the other minor cycle; slow from APCLN on.

    ``made``: the masters, of which the loading tasks have read a file.
    """
    if task == "IMLOD":
        return {"image": made.dirty}
    if task == "UVLOD":
        return {"records": made.records}
    if task == "COMB":  # halves and quarters are exact, so that one rounding is left
        return {"image": np.float32(0.5) * inputs[0] + np.float32(0.25) * inputs[1]}
    if task == "SUBIM":
        return {"image": inputs[0][size.side // 4 : size.side - size.side // 4, size.side // 4 :][:, : size.side // 2]}
    if task == "UVDIF":
        difference = np.abs(inputs[0] - inputs[1])
        return {"columns": (difference > np.float32(LIMITS)).sum(axis=0), "largest": difference.max(axis=0)}
    if task == "UVSRT":
        return {order: sorting.reference(inputs[0], order) for order in ("baseline", "tile")}
    if task == "APRES":
        return {"residual": inputs[0] - convolve(inputs[1], clean.summed(*inputs[2:], size.side).astype(float))}
    if task == "ASCAL":
        model = direct.reference(*inputs, size.side, CELL)
        gains = selfcal.solve(*selfcal.sums(inputs[0], model, size.intervals))
        return {"model": model, "gains": gains, "records": selfcal.apply(inputs[0], gains)}
    half = size.side // 2
    if task in ("MXMAP", "UVMAP"):
        given, pixels = {"dirty": inputs[0], "beam": dirty.unit_source(inputs[0])}, np.arange(-half, half)
        return {name: dirty.plain(records, CELL, pixels, pixels) for name, records in given.items()}
    if task == "APCLN":
        return perform(task, inputs, size, 1, "gather" if method == "scalar" else "scalar")
    if task == "MXCLN":
        image = dirty.plain(inputs[0], CELL, *2 * [np.arange(-half, half)]).astype(np.float32)
        beam = dirty.plain(dirty.unit_source(inputs[0]), CELL, *2 * [np.arange(-2 * half, 2 * half)]).astype(np.float32)
        return reference("APCLN", [image, beam], size, made, method) | {"dirty": image, "response": beam}
    image, beam, flux = inputs
    found = entropy.reference(image, beam, noise_of(size.visibilities), float(flux[0]), ITERATIONS)
    return {name: getattr(found, name) for name in ("model", "residual", "rms", "entropy")}
