"""APCLN and MXCLN: CLEAN by Clark (1980) and by Schwab (1984).

    residual ← residual − gain · peak · beam(· − place of the peak)

within the inner half, until there are so many components.  Clark keeps a list of the strongest pixels and subtracts a
small patch of the beam from those alone (the minor cycle), then all components of the cycle at once (the major cycle):
from the image by a convolution, or, as Schwab does, from the visibilities, of which a new image is made.

Three forms of the minor cycle give the same components.  ``"scalar"`` is :func:`plain`, number by number.  The others
differ in the gather alone: ``"fetched"`` fetches the beam number by number into a list, as software gather did, and
``"gather"`` sixteen numbers with one instruction.
"""

from typing import NamedTuple

import numpy as np

from supercomputers_rerun.kernels.contract import ceil_div
from supercomputers_rerun.kernels.imaging import dirty as mapping
from supercomputers_rerun.kernels.imaging.array import WEIGHT
from supercomputers_rerun.kernels.imaging.convolution import Convolver
from supercomputers_rerun.kernels.runtime.arrays import require_array
from supercomputers_rerun.kernels.runtime.jit import CONTRACT, STRICT, kernel, opaque
from supercomputers_rerun.kernels.runtime.vector import SINGLES, fabs, fmax, fnma, gather, largest, load, store

__all__ = ["GAIN", "HALF", "METHODS", "Cleaned", "clark", "inner", "plain", "restoring_beam", "schwab", "summed"]

METHODS = ("scalar", "fetched", "gather")
GAIN = 0.1  # part of the peak that a component takes; above 2 more is left of a lone pixel than it had
#: Half-width of the beam's patch, pixels.
HALF = 25


def inner(image: np.ndarray) -> np.ndarray:
    """What is deconvolved of an image (side, side): a view of its inner half, (side / 2, side / 2)."""
    return image[(slice(len(image) // 4, len(image) - len(image) // 4),) * 2]


class Cleaned(NamedTuple):
    """What a CLEAN leaves."""

    places: np.ndarray  # int32 (count, 2): row and column of every component, in the order found
    fluxes: np.ndarray  # float32 (count,): Jy
    model: np.ndarray  # float32 (side, side): the components summed
    residual: np.ndarray  # float32 (side, side)


@kernel(fastmath=STRICT)
def plain(values, pixels, patch, gain, limit, places, fluxes):
    """The minor cycle, number by number, until no pixel is above ``limit`` or ``fluxes`` is full; components found.

    ``values`` float32 (n,): fluxes of the listed pixels, changed; ``pixels`` int32 (n, 2): their rows and columns;
    ``patch`` float32 (51, 51): the middle of the beam.  Each component takes ``gain`` of the peak: its pixel goes
    into ``places``, its flux into ``fluxes``.
    """
    best = np.argmax(np.abs(values))
    for number in range(fluxes.size):
        if not abs(values[best]) > limit:
            return number
        flux, row, column = gain * values[best], pixels[best, 0], pixels[best, 1]
        places[number, 0], places[number, 1], fluxes[number] = row, column, flux
        best = 0
        for k in range(values.size):
            y, x = pixels[k, 0] - row + HALF, pixels[k, 1] - column + HALF
            if 0 <= y <= 2 * HALF and 0 <= x <= 2 * HALF:
                values[k] -= flux * patch[y, x]
            if abs(values[k]) > abs(values[best]):
                best = k
    return fluxes.size


@kernel(fastmath=CONTRACT)
def _gathered(values, index, pixels, starts, table, middle, gain, limit, places, fluxes, fetched):
    """:func:`plain` sixteen pixels at a time, and only in rows that the patch reaches.

    ``values`` and ``index``, the places of the pixels in rows of the ``table``, are filled to whole vectors.  The
    ``table`` holds the patch around ``middle``, else zeros; ``starts`` has the first list entry of every row of the
    image, and the list's length.  ``fetched``: room for what a loop fetches, as long as ``values``; of length 0 the
    instruction fetches it.
    """
    best, groups = np.argmax(np.abs(values)), values.size // SINGLES
    for number in range(fluxes.size):
        if not abs(values[best]) > limit:
            return number
        flux, offset = gain * values[best], middle - np.int64(index[best])
        row = pixels[best, 0]
        places[number, 0], places[number, 1], fluxes[number] = row, pixels[best, 1], flux
        first = starts[max(row - HALF, 0)] // SINGLES
        last = (starts[min(row + HALF + 1, starts.size - 1)] + SINGLES - 1) // SINGLES
        if fetched.size:
            for k in range(SINGLES * first, SINGLES * last):
                fetched[k] = table[opaque(np.uint64(offset + index[k]))]  # no compiler makes the instruction of this
            for group in range(first, last):
                k = SINGLES * group
                store(values, k, fnma(load(fetched, k), flux, load(values, k)))
        else:
            for group in range(first, last):
                k = SINGLES * group
                store(values, k, fnma(gather(table, offset, index, k), flux, load(values, k)))
        most = fabs(load(values, 0))
        for group in range(1, groups):
            most = fmax(most, fabs(load(values, SINGLES * group)))
        peak = largest(most)
        best, last = 0, values.size - SINGLES  # a CLEAN that has diverged ends there
        while best < last and largest(fabs(load(values, best))) != peak:
            best += SINGLES
        last = best + SINGLES - 1
        while best < last and abs(values[best]) != peak:
            best += 1
    return fluxes.size


class Minor:
    """The minor cycle for one beam, float32 (2·side, 2·side)."""

    def __init__(self, beam: np.ndarray, method: str = "gather"):
        self.side, self.method = len(beam) // 2, method
        around = slice(self.side - HALF, self.side + HALF + 1)
        self.patch = np.ascontiguousarray(beam[around, around])
        outer = np.abs(beam)
        outer[around, around] = 0
        self.sidelobe = float(outer.max())  # largest magnitude outside the patch
        # below the beam's rows, zeros for the entries that fill the list's last vector
        self.table = np.zeros((len(beam) + HALF + 1, len(beam)), np.float32)
        self.table[around, around] = self.patch

    def __call__(self, residual, limit, gain, places, fluxes) -> int:
        """Components until none is above ``limit``; their number.  ``residual`` is left as it is."""
        inside = inner(residual)
        pixels = np.argwhere(np.abs(inside) > limit).astype(np.int32)
        if not len(pixels):
            return 0
        listed = inside[pixels[:, 0], pixels[:, 1]]
        pixels += np.int32(self.side // 4)
        if self.method == "scalar":
            return plain(listed, pixels, self.patch, np.float32(gain), limit, places, fluxes)
        wide = 2 * self.side
        values = np.zeros(ceil_div(len(listed), SINGLES) * SINGLES, np.float32)
        index = np.full(values.size, (pixels[-1, 0] + HALF + 1) * wide + pixels[-1, 1], np.int32)
        values[: len(listed)], index[: len(listed)] = listed, pixels @ np.array([wide, 1], np.int32)
        starts, middle = np.searchsorted(pixels[:, 0], np.arange(self.side + 1)), self.side * wide + self.side
        fetched, table = np.zeros(values.size if self.method == "fetched" else 0, np.float32), self.table.reshape(-1)
        return _gathered(values, index, pixels, starts, table, middle, np.float32(gain), limit, places, fluxes, fetched)


def require_images(dirty: np.ndarray, beam: np.ndarray) -> int:
    """The side of the image; ``ValueError`` where the two are no image and beam, float32, all pixels finite."""
    side = len(dirty) if np.ndim(dirty) else 0
    if np.shape(dirty) != (side, side) or side % (2 * SINGLES) or not side:
        raise ValueError(f"image of shape {np.shape(dirty)} must be square, its side a multiple of {2 * SINGLES}")
    require_array("image", dirty, np.float32, (side, side))
    require_array("beam", beam, np.float32, (2 * side, 2 * side))
    if not np.isfinite(dirty.sum(dtype=np.float64)):
        raise ValueError("the dirty image holds pixels that are not finite; blank them to zero or image again")
    return side


def summed(places: np.ndarray, fluxes: np.ndarray, side: int) -> np.ndarray:
    """Components as an image, float32 (side, side), summed in float64."""
    model = np.zeros((side, side))
    np.add.at(model, (places[:, 0], places[:, 1]), fluxes)
    return model.astype(np.float32)


def list_limit(residual: np.ndarray, list_length: int, sidelobe: float) -> np.float32:
    """What a pixel must exceed to be listed: room in the list, outer sidelobes of the peak."""
    inside = np.abs(inner(residual)).ravel()
    peak = inside.max()
    limit = float(peak) * sidelobe
    if np.count_nonzero(inside > limit) > list_length:
        limit = float(np.partition(inside, inside.size - list_length - 1)[inside.size - list_length - 1])
    return np.float32(min(limit, 0.99 * peak))


def _major_cycles(dirty, beam, residual_of, components, list_length, method, gain) -> Cleaned:
    """Minor cycles and, after each, ``residual_of(model)``, until all components are found."""
    side, minor = len(dirty), Minor(beam, method)
    places, fluxes = np.empty((components, 2), np.int32), np.empty(components, np.float32)
    model, residual, found = np.zeros((side, side)), dirty, 0
    while found < components:
        limit = list_limit(residual, list_length, minor.sidelobe)
        count = minor(residual, limit, gain, places[found:], fluxes[found:])
        if not count:
            break
        new = slice(found, found + count)
        np.add.at(model, (places[new, 0], places[new, 1]), fluxes[new])
        found += count
        residual = residual_of(model.astype(np.float32))
        if not np.isfinite(np.abs(inner(residual)).max()):
            break
    return Cleaned(places[:found].copy(), fluxes[:found].copy(), model.astype(np.float32), residual)


def clark(dirty, beam, components: int, list_length: int, method="gather", gain=GAIN, threads: int = 1) -> Cleaned:
    """Clark's CLEAN of an image, float32 (side, side), Jy per beam, with a beam of twice the side.

    ``components``: how many in all; ``list_length``: pixels of the minor cycle's list; ``method``: of :data:`METHODS`;
    ``gain``: part of the peak that each component takes.  ``ValueError``: images of other types or shapes, pixels that
    are not finite.
    """
    require_images(dirty, beam)
    over = Convolver(beam, threads)
    return _major_cycles(dirty, beam, lambda model: dirty - over(model), components, list_length, method, gain)


def schwab(records, side, cell, components: int, list_length: int, method="gather", gain=GAIN, threads: int = 1):
    """A CLEAN of records, float32 (n, 8), whose major cycle subtracts from the visibilities.

    Returns a :class:`Cleaned`, the image that it began with, float32 (side, side), and its beam, of twice the side.
    Records stay sorted for the grid from the first cycle to the last.  ``components``, ``list_length``, ``method`` and
    ``gain`` as for :func:`clark`.  Raises as :class:`kernels.imaging.dirty.Plan`.
    """
    plan = mapping.Plan(records, side, cell, threads)
    beam, image = mapping.beam(records, 2 * side, cell, threads), plan.image()
    given, weights = plan.points.points[:, 2:].copy(), plan.sorted_column(records, WEIGHT)[:, None]
    predicted = np.empty_like(given)

    def residual_of(model):
        plan.predict(model, predicted)
        np.multiply(predicted, weights, out=predicted)
        return plan.image(values=np.subtract(given, predicted, out=predicted))

    return _major_cycles(image, beam, residual_of, components, list_length, method, gain), image, beam


def restoring_beam(beam: np.ndarray) -> np.ndarray:
    """A Gaussian with the width of the beam's main lobe in each direction, float32 like ``beam``."""
    side = len(beam) // 2
    y, x = np.mgrid[-3:4, -3:4]
    core = beam[side - 3 : side + 4, side - 3 : side + 4].astype(float)
    near = core > 0.35
    terms = np.stack([x[near] ** 2, x[near] * y[near], y[near] ** 2], 1)
    a, b, c = np.linalg.lstsq(terms, -np.log(core[near]), rcond=None)[0]
    y, x = np.mgrid[-side:side, -side:side]
    return np.exp(-np.maximum(a * x**2 + b * x * y + c * y**2, 0)).astype(np.float32)
