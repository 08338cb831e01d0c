"""What is verified of each task's products, in bits as the Dirty Dozen Test printed them.

    bits = −log2(difference / peak)        of the largest difference

Pixels near the edges are left out (4, 8 and 16 at the three sizes, after AIPS's later run files).
"""

import numpy as np

from supercomputers_rerun.kernels.contract import Check, worst
from supercomputers_rerun.kernels.imaging import clean, dirty, entropy, selfcal, tasks
from supercomputers_rerun.kernels.imaging.array import IM, RE, WEIGHT
from supercomputers_rerun.kernels.imaging.convolution import convolve
from supercomputers_rerun.kernels.imaging.masters import CELL
from supercomputers_rerun.kernels.imaging.sky import factors

#: Bits asked of images made by gridding (1e-5), and of convolutions.
GRIDDED, CONVOLVED = 16.6, 20.0
#: Bits asked of a residual at the edges of an image, where gridding corrects the most.
EDGES = 18.0
#: Tasks whose every number is the reference's, bit for bit.
_EXACT_TASKS = ("IMLOD", "UVLOD", "COMB", "SUBIM", "UVDIF", "UVSRT")
#: More than float32 can hold; what equal results are given.
EXACT = 32.0


def agreement(ours, expected, skip: int = 0, peak: float | None = None) -> float:
    """Bits of ``ours`` against ``expected``, arrays of one shape; 0 bits where something is not finite."""
    ours, expected = np.asarray(ours), np.asarray(expected)
    if skip and ours.ndim == 2:
        ours, expected = (part[skip:-skip, skip:-skip] for part in (ours, expected))
    peak = worst(expected) if peak is None else peak
    difference = worst(ours - expected)
    if not np.isfinite(difference) or not np.isfinite(peak) or peak <= 0:
        return 0.0
    return EXACT if difference == 0 else float(np.clip(-np.log2(difference / peak), 0.0, EXACT))


def _bits(name: str, ours, expected, least: float, skip: int = 0, peak=None) -> Check:
    found = agreement(ours, expected, skip, peak)
    return Check(f"{name}: bits", found, least, 0.0, found >= least)


def _same(name: str, ours, expected) -> Check:
    """Every number as it is expected, bit for bit: bits of the peak would not see a small one."""
    return Check.near(f"{name}: numbers that differ", np.count_nonzero(ours != expected), 0, 0)


def _image(name, image, records) -> Check:
    """Each column with random signs against the direct sum over all visibilities: every pixel counts."""
    side = len(image)
    signs = np.random.default_rng(side).choice((-1.0, 1.0), side)
    found, expected = signs @ image.astype(float), dirty.columns(records, side, CELL, signs)
    return _bits(f"{name}, columns", found, expected, GRIDDED, peak=worst(image))


def _clean(products, image, beam, size, name) -> list[Check]:
    model = clean.summed(products["places"], products["fluxes"], size.side)
    expected = image - convolve(beam, model.astype(float))
    peak = worst(image)
    left = worst(clean.inner(products["residual"]))
    count = len(products["fluxes"])
    gaussian = clean.restoring_beam(beam)
    smooth = convolve(gaussian, products["model"].astype(float))
    off = worst(products["clean"] - smooth - products["residual"]) / peak
    first = tuple(products["places"][0])
    within = worst(clean.inner(image))
    return [
        Check.relative(f"{name}: first component, of the peak's place", abs(float(image[first])), float(within), 1e-5),
        Check.relative(f"{name}: first component, Jy", float(products["fluxes"][0]), clean.GAIN * image[first], 1e-5),
        _bits(f"{name}: residual = dirty − beam ∗ model", products["residual"], expected, CONVOLVED, size.skip, peak),
        _bits(f"{name}: residual, to the edges", products["residual"], expected, EDGES, peak=peak),
        _same(f"{name}: model", products["model"], model),
        Check.near(f"{name}: Gaussian over the beam's main lobe", worst((gaussian - beam)[beam > 0.5]), 0.0, 0.03),
        Check.near(f"{name}: clean = model ∗ Gaussian + residual, of the peak", off, 0.0, 2.0**-CONVOLVED),
        Check(f"{name}: components", count, size.components, 0.0, count == size.components),
        Check(f"{name}: residual below a tenth of the peak", float(left / peak), 0.0, 0.1, bool(left < 0.1 * peak)),
    ]


def _self_calibration(products, inputs, size, truth) -> list[Check]:
    records, places, fluxes = inputs
    off = selfcal.unsettled(*selfcal.sums(records, products["model"], size.intervals), products["gains"])
    error = np.sqrt(np.mean(np.abs(products["gains"] - truth * (truth[:, :1].conj() / np.abs(truth[:, :1]))) ** 2))
    return [
        _predicted(products["model"], records, clean.summed(places, fluxes, size.side)),
        Check.near("gains against their closed form, relative", off, 0.0, 1e-6),
        Check.near("gains against the truth, rms", error, 0.0, 0.05),
        *_applied(records, products),
    ]


def _predicted(model, records, image) -> Check:
    """All visibilities against those of the components' image, taken from a grid."""
    plan = dirty.Plan(records, len(image), CELL)
    order, found = plan.points.order, plan.predict(image).view(np.complex64)[:, 0]
    own, mirrored = np.where(order < 0, -1 - order, order), np.where(order < 0, found.conj(), found)
    return _bits("model visibilities, from a grid", model[own], mirrored, GRIDDED, peak=worst(model))


def _applied(records, products) -> list[Check]:
    """Corrected records times their gains are the records as they came; what is no visibility stays."""
    factor = factors(records, products["gains"])
    back, given = (each[:, RE] + 1j * each[:, IM] for each in (products["records"], records))
    weight = products["records"][:, WEIGHT] / np.abs(factor) ** 2
    others = [column for column in range(records.shape[1]) if column not in (RE, IM, WEIGHT)]
    return [
        Check.near("records times their gains, relative", worst(back * factor / given - 1), 0.0, 1e-6),
        Check.near("weights over their gains, relative", worst(weight / records[:, WEIGHT] - 1), 0.0, 1e-6),
        _same("what is no visibility", products["records"][:, others], records[:, others]),
    ]


def of(task: str, products: dict, inputs: list, size, made) -> list[Check]:
    """Checks of one task; ``made`` are the masters of its size."""
    if task in _EXACT_TASKS:
        expected = tasks.reference(task, inputs, size, made)
        return [_same(name, products[name], value) for name, value in expected.items()]
    if task == "APRES":
        expected = tasks.reference(task, inputs, size, made)["residual"]
        return [_bits("residual", products["residual"], expected, CONVOLVED, peak=worst(inputs[0]))]
    if task == "ASCAL":
        return _self_calibration(products, inputs, size, made.truth)
    if task == "APCLN":
        return _clean(products, *inputs, size, task)
    if task == "MXCLN":
        found = _clean(products, products["dirty"], products["response"], size, task)
        found.append(_image("dirty image", products["dirty"], inputs[0]))
        return [*found, _image("response", products["response"], dirty.unit_source(inputs[0]))]
    if task in ("MXMAP", "UVMAP"):
        return [
            _image("dirty image", products["dirty"], inputs[0]),
            _image("beam", products["beam"], dirty.unit_source(inputs[0])),
            Check.near("beam: 1 in the middle", products["beam"][size.side // 2, size.side // 2], 1.0, 1e-5),
        ]
    image, beam, flux = inputs
    expected = image - convolve(beam, products["model"].astype(float))
    return [
        _bits("VTESS: residual = dirty − beam ∗ model", products["residual"], expected, CONVOLVED, peak=worst(image)),
        *entropy.verify(products, image, beam, float(flux[0]), tasks.ITERATIONS),
    ]
