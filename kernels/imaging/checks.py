"""What is verified of each task's products, in bits as the Dirty Dozen Test printed them."""

import numpy as np

from kernels.contract import Check
from kernels.imaging import clean, direct, dirty, selfcal, sorting, tasks
from kernels.imaging.array import RE
from kernels.imaging.bits import agreement
from kernels.imaging.masters import CELL, CHANGED

#: Bits asked of images made by gridding (1e-5), of convolutions, of sums of float32, and of copies.
GRIDDED, CONVOLVED, SUMMED, COPIED = 16.6, 20.0, 23.0, 32.0
#: Pixels at which an image is compared with the sum over all visibilities, and visibilities with components.
SAMPLED = 200


def _bits(name: str, ours, expected, least: float, skip: int = 0, peak=None) -> list[Check]:
    found = agreement(ours, expected, skip, peak)
    return [
        Check(f"{name}: bits, maximum", found.maximum, least, 0.0, found.maximum >= least),
        Check(f"{name}: bits, rms", found.rms, least, 0.0, found.rms >= least),
    ]


def _image(name, image, records, size) -> list[Check]:
    """Against the direct sum at pixels away from the edges."""
    generator = np.random.default_rng(size.side)
    pixels = generator.integers(size.skip, size.side - size.skip, (SAMPLED, 2))
    expected = dirty.direct(records, size.side, CELL, pixels)
    return _bits(name, image[pixels[:, 0], pixels[:, 1]], expected, GRIDDED, peak=float(np.abs(image).max()))


def _maps(products, inputs, size) -> list[Check]:
    records = inputs[0]
    ones = records.copy()
    ones[:, RE], ones[:, RE + 1] = 1, 0
    found = _image("dirty image", products["dirty"], records, size) + _image("beam", products["beam"], ones, size)
    middle = size.side // 2
    return [*found, Check.near("beam: 1 in the middle", products["beam"][middle, middle], 1.0, 1e-5)]


def _clean(products, image, beam, size, name) -> list[Check]:
    model = clean.summed(products["places"], products["fluxes"], size.side)
    expected = image - clean.convolve(beam, model.astype(float))
    peak = float(np.abs(image).max())
    inner = tasks.subimage_box(size.side)
    left = np.abs(products["residual"][inner[0] : inner[1] + 1, inner[2] : inner[3] + 1]).max()
    count = len(products["fluxes"])
    first = tuple(products["places"][0])
    within = np.abs(image[inner[0] : inner[1] + 1, inner[2] : inner[3] + 1]).max()
    return [
        Check.relative(f"{name}: first component, of the peak's place", abs(float(image[first])), float(within), 1e-5),
        Check.relative(f"{name}: first component, Jy", float(products["fluxes"][0]), tasks.GAIN * image[first], 1e-5),
        *_bits(f"{name}: residual = dirty − beam ∗ model", products["residual"], expected, CONVOLVED, size.skip, peak),
        *_bits(f"{name}: model", products["model"], model, COPIED),
        Check(f"{name}: components", count, size.components, 0.0, count == size.components),
        Check(f"{name}: residual below a tenth of the peak", float(left / peak), 0.0, 0.1, bool(left < 0.1 * peak)),
    ]


def _self_calibration(products, inputs, size, truth) -> list[Check]:
    records, places, fluxes = inputs
    generator = np.random.default_rng(size.side)
    some = np.sort(generator.choice(len(records), SAMPLED // 4, replace=False))
    expected = direct.reference(records[some], places, fluxes, size.side, CELL)
    sums = selfcal.sums(records, products["model"], size.intervals)
    numpy = selfcal.solve_numpy(*sums)
    right = truth * (truth[:, :1].conj() / np.abs(truth[:, :1]))
    error = np.sqrt(np.mean(np.abs(products["gains"] - right) ** 2))
    return [
        *_bits("model visibilities", products["model"][some], expected, GRIDDED, peak=float(np.abs(expected).max())),
        *_bits("gains against NumPy", products["gains"], numpy.gains, CONVOLVED),
        Check.near("gains against the truth, rms", error, 0.0, 0.05),
    ]


def _entropy(products, inputs, size) -> list[Check]:
    image, beam = inputs
    expected = image - clean.convolve(beam, products["model"].astype(float))
    peak, rms = float(np.abs(image).max()), products["rms"]
    return [
        *_bits("VTESS: residual = dirty − beam ∗ model", products["residual"], expected, CONVOLVED, size.skip, peak),
        Check.near("VTESS: iterations", len(rms) - 1, tasks.ITERATIONS, 0),
        Check("VTESS: the residual falls", float(rms[-1] / rms[0]), 0.0, 1.0, bool(rms[-1] < rms[0])),
        Check.near("VTESS: negative pixels", np.count_nonzero(products["model"] < 0), 0, 0),
    ]


def of(task: str, products: dict, inputs: list, size, made) -> list[Check]:
    """Checks of one task; ``made`` are the masters of its size."""
    if task == "IMLOD":
        return _bits("image", products["image"], made.dirty, COPIED)
    if task == "UVLOD":
        return _bits("records", products["records"], made.records, COPIED)
    if task == "COMB":
        return _bits("image", products["image"], tasks.reference(task, inputs, size)["image"], SUMMED, size.skip)
    if task == "SUBIM":
        return _bits("image", products["image"], tasks.reference(task, inputs, size)["image"], COPIED)
    if task == "UVDIF":
        changed = -(-len(inputs[0]) // CHANGED)
        counts = np.delete(products["columns"], RE)
        return [
            Check.near("records that differ", products["columns"][RE], changed, 0),
            Check.near("other columns that differ", counts.sum(), 0, 0),
        ]
    if task == "UVSRT":
        return [check for order, after in products.items() for check in sorting.verify(inputs[0], after, order)]
    if task == "APCLN":
        return _clean(products, *inputs, size, task)
    if task == "APRES":
        expected, peak = tasks.reference(task, inputs, size)["residual"], float(np.abs(inputs[0]).max())
        return _bits("residual", products["residual"], expected, CONVOLVED, size.skip, peak)
    if task == "ASCAL":
        return _self_calibration(products, inputs, size, made.truth)
    if task == "MXCLN":
        found = _clean(products, products["dirty"], products["response"], size, task)
        return found + _image("dirty image", products["dirty"], inputs[0], size)
    if task in ("MXMAP", "UVMAP"):
        return _maps(products, inputs, size)
    return _entropy(products, inputs, size)
