"""APCLN: CLEAN by Clark (1980).

    residual ← residual − gain · peak · beam(· − place of the peak)

until a number of components or a threshold is reached.  Högbom (:mod:`kernels.imaging.hogbom`) subtracts the
whole beam each time.  Clark keeps a list of the strongest pixels and subtracts a small patch of the beam from
those alone (the minor cycle), then all components of the cycle at once by a convolution (the major cycle).

Three forms of the minor cycle give the same components: ``"scalar"`` walks the list and fetches the beam
number by number, as software gather did, ``"gather"`` fetches sixteen numbers with one instruction, and
``"blocks"`` keeps pixels where they are in the image, with the largest value of every block of 64.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import float32, int64

from kernels.contract import Check, Presets, one_of, real, whole, worst
from kernels.imaging.convolution import Convolver, convolve
from kernels.runtime.arrays import require_array
from kernels.runtime.jit import CONTRACT, STRICT, kernel
from kernels.runtime.lanes import SINGLES, fnma, larger, largest, magnitude
from kernels.runtime.pages import zeros
from kernels.runtime.vector import gather, load, store

METHODS = ("scalar", "gather", "blocks")
PLAIN = "plain"  # the same by NumPy, what the others are compared with
#: Half-width of the beam patch, pixels of a block, margin of the padded image.
HALF, BLOCK, MARGIN = 25, 64, 32


@dataclass(frozen=True)
class Limits(Presets):
    """When and how fast CLEAN proceeds. ``ValueError`` if a field is outside its range."""

    components: whole(1, 10_000_000) = 1000  # components in all
    gain: real(1e-6, 3.0) = 0.1  # part of the peak that each takes; CLEAN diverges from 2 on
    threshold: real(0.0, 1e30, "Jy") = 0.0  # Jy per beam at which to stop
    list_length: whole(1, 2**27) = 6000  # pixels of the minor cycle's list
    box: tuple[int, int, int, int] | None = None  # first and last row, first and last column; None: inner half
    method: one_of(*METHODS, PLAIN) = "blocks"  # of the minor cycle

    def within(self, side: int) -> tuple[int, int, int, int]:
        """The box; ``ValueError`` if it is outside an image of ``side`` pixels."""
        box = self.box or (side // 4, side - side // 4 - 1) * 2
        if len(box) != 4 or not (0 <= box[0] <= box[1] < side and 0 <= box[2] <= box[3] < side):
            raise ValueError(f"box = {box} lies outside the image: rows and columns run from 0 to {side - 1}")
        return tuple(int(edge) for edge in box)


class Cleaned(NamedTuple):
    """What a CLEAN leaves."""

    places: np.ndarray  # int32 (count, 2): row and column of every component, in the order found
    fluxes: np.ndarray  # float32 (count,): Jy
    model: np.ndarray  # float32 (side, side): the components summed
    residual: np.ndarray  # float32 (side, side)
    cycles: int  # major cycles


@kernel
def _listed(residual, box, side, limit, index, values, places):
    """The pixels above ``limit`` in the ``box`` of ``residual``, flat (side · side,), row by row; their number, or −1
    if there are too many.

    Each gets its place in rows of twice the ``side`` into ``index``, int32, its flux into ``values``, float32, and row
    and column into ``places``, int32 (most, 2).
    """
    count = 0
    for y in range(box[0], box[1] + 1):
        for x in range(box[2], box[3] + 1):
            if abs(residual[y * side + x]) > limit:
                if count == places.shape[0]:
                    return -1
                index[count] = y * 2 * side + x
                values[count] = residual[y * side + x]
                places[count, 0], places[count, 1] = y, x
                count += 1
    return count


@kernel(fastmath=STRICT)
def _minor_scalar(values, index, pixels, count, table, middle, gain, limit, places, fluxes):
    """The list walked number by number until no pixel is above ``limit`` or ``fluxes`` is full; the number of
    components.

    The list is ``values``, ``index`` and ``pixels`` (as ``places``) of :func:`_listed`, ``count`` long; ``values`` are
    changed.  ``table`` holds the patch in rows of twice the side, else zeros; ``middle`` is the place of its peak.
    Each component takes ``gain`` of the peak: its pixel into ``places``, its flux into ``fluxes``.
    """
    best = 0
    for k in range(1, count):
        if abs(values[k]) > abs(values[best]):
            best = k
    for number in range(fluxes.size):
        if not abs(values[best]) > limit:
            return number
        flux, offset = gain * values[best], middle - int64(index[best])
        places[number, 0], places[number, 1], fluxes[number] = pixels[best, 0], pixels[best, 1], flux
        row, most = pixels[best, 0], float32(-1)
        for k in range(count):
            if abs(pixels[k, 0] - row) <= HALF:
                values[k] -= flux * table[offset + int64(index[k])]
            if abs(values[k]) > most:
                best, most = k, abs(values[k])
    return fluxes.size


@kernel(fastmath=CONTRACT)
def _minor_gather(values, index, pixels, starts, table, middle, gain, limit, places, fluxes):
    """:func:`_minor_scalar` sixteen pixels at a time: ``values`` and ``index`` are filled to whole vectors.

    ``starts`` has the first list entry of every row of the image and the list's length; ``pixels``, ``table``,
    ``middle``, ``gain``, ``limit``, ``places`` and ``fluxes`` are the same.
    """
    count, best = starts[-1], 0
    for k in range(1, count):
        if abs(values[k]) > abs(values[best]):
            best = k
    groups = (count + SINGLES - 1) // SINGLES
    for number in range(fluxes.size):
        if not abs(values[best]) > limit:
            return number
        flux, offset = gain * values[best], middle - int64(index[best])
        row = pixels[best, 0]
        places[number, 0], places[number, 1], fluxes[number] = row, pixels[best, 1], flux
        first = starts[max(row - HALF, 0)] // SINGLES
        last = (starts[min(row + HALF + 1, starts.size - 1)] + SINGLES - 1) // SINGLES
        for group in range(first, last):
            k = SINGLES * group
            store(values, k, fnma(gather(table, offset, index, k), flux, load(values, k)))
        most = magnitude(load(values, 0))
        for group in range(1, groups):
            most = larger(most, magnitude(load(values, SINGLES * group)))
        peak = largest(most)
        for group in range(groups):
            if largest(magnitude(load(values, SINGLES * group))) == peak:
                for k in range(SINGLES * group, SINGLES * group + SINGLES):
                    if abs(values[k]) == peak:
                        best = k
                        break
                break
    return fluxes.size


@kernel(inline=True, fastmath=CONTRACT)
def _block_peak(image, listed, at):
    """Largest magnitude of the 64 pixels of ``image`` from place ``at`` on that are ``listed`` (1, else 0), both
    flat."""
    best = magnitude(load(image, at)) * load(listed, at)
    best = larger(best, magnitude(load(image, at + SINGLES)) * load(listed, at + SINGLES))
    best = larger(best, magnitude(load(image, at + 2 * SINGLES)) * load(listed, at + 2 * SINGLES))
    return largest(larger(best, magnitude(load(image, at + 48)) * load(listed, at + 48)))


@kernel(fastmath=CONTRACT)
def _minor_blocks(image, listed, step, rows, patch, gain, limit, places, fluxes):
    """The minor cycle on ``rows`` rows of a padded, flat image, each ``step`` long; the number of components.

    ``listed`` is 1 at the pixels that may become components, else 0; ``patch`` has rows of 64.  ``gain``, ``limit``,
    ``places`` and ``fluxes`` as for :func:`_minor_scalar`, and places are those without the margin.
    """
    blocks = step // BLOCK
    wide = -(-blocks // SINGLES) * SINGLES
    peaks = np.zeros((rows, wide), np.float32)
    flat = peaks.reshape(-1)
    tops = np.zeros(-(-rows // SINGLES) * SINGLES, np.float32)
    for y in range(rows):
        for b in range(blocks):
            peaks[y, b] = _block_peak(image, listed, y * step + b * BLOCK)
            tops[y] = max(tops[y], peaks[y, b])
    for number in range(fluxes.size):
        best = load(tops, 0)
        for y in range(SINGLES, tops.size, SINGLES):
            best = larger(best, load(tops, y))
        peak = largest(best)
        if not peak > limit:
            return number
        row, b = 0, 0
        while tops[row] != peak:
            row += 1
        while peaks[row, b] != peak:
            b += 1
        column = b * BLOCK
        while abs(image[row * step + column]) * listed[row * step + column] != peak:
            column += 1
        flux = gain * image[row * step + column]
        places[number, 0], places[number, 1], fluxes[number] = row - MARGIN, column - MARGIN, flux
        first = column - HALF
        block = first // BLOCK
        for dy in range(2 * HALF + 1):
            y = row - HALF + dy
            at = y * step + first
            for x in range(0, BLOCK, SINGLES):
                store(image, at + x, fnma(load(patch, dy * 64 + x), flux, load(image, at + x)))
            if tops[y] > float32(0):  # rows without a listed pixel keep none
                peaks[y, block] = _block_peak(image, listed, y * step + block * BLOCK)
                peaks[y, block + 1] = _block_peak(image, listed, y * step + (block + 1) * BLOCK)
                most = load(flat, y * wide)
                for each in range(SINGLES, wide, SINGLES):
                    most = larger(most, load(flat, y * wide + each))
                tops[y] = max(largest(most), float32(1e-38))
    return fluxes.size


def require_images(dirty: np.ndarray, beam: np.ndarray) -> int:
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


def _minor_plain(residual, box, limit, gain, patch, places, fluxes) -> int:
    """The minor cycle by NumPy, a component at a time: list, largest, patch."""
    inside = np.zeros(residual.shape, bool)
    inside[box[0] : box[1] + 1, box[2] : box[3] + 1] = True
    pixels = np.argwhere(inside & (np.abs(residual) > limit))
    values = residual[tuple(pixels.T)].copy()
    for number in range(len(fluxes)):
        best = int(np.abs(values).argmax()) if values.size else 0
        if not values.size or not np.abs(values[best]) > limit:
            return number
        flux = gain * values[best]
        places[number], fluxes[number] = pixels[best], flux
        shift = pixels - pixels[best] + HALF
        near = ((shift >= 0) & (shift <= 2 * HALF)).all(1)
        values[near] -= flux * patch[tuple(shift[near].T)]
    return len(fluxes)


class Minor:
    """The minor cycle for one beam: ``Minor(beam)(residual, limits, …)``."""

    def __init__(self, beam: np.ndarray, method: str = "blocks"):
        side = beam.shape[0] // 2
        self.side, self.method = side, method
        self.patch = np.zeros((2 * HALF + 1, 64), np.float32)
        around = slice(side - HALF, side + HALF + 1)
        self.patch[:, : 2 * HALF + 1] = beam[around, around]
        outer = np.abs(beam)
        outer[around, around] = 0
        self.sidelobe = float(outer.max())  # largest magnitude outside the patch
        if method in ("scalar", "gather"):
            self.table = np.zeros((2 * HALF + 3, 2 * side), np.float32)
            self.table[1:-1, around] = beam[around, around]
            # a pixel in another row of the list than the patch has falls on zeros before or behind it
            self.table = np.concatenate([np.zeros(4 * side * side), self.table.ravel(), np.zeros(4 * side * side)])
            self.table = self.table.astype(np.float32)
            self.middle = 4 * side * side + (HALF + 1) * 2 * side + side

    def __call__(self, residual, box, limit, gain, list_length, places, fluxes) -> int:
        """Components until none is above ``limit``; their number.  ``residual`` is left as it is."""
        if self.method == "blocks":
            return self._blocks(residual, box, limit, gain, places, fluxes)
        if self.method == PLAIN:
            return _minor_plain(residual, box, limit, np.float32(gain), self.patch, places, fluxes)
        size = list_length + SINGLES
        index, values = np.zeros(size, np.int32), np.zeros(size, np.float32)
        pixels = np.zeros((list_length, 2), np.int32)
        count = _listed(residual.reshape(-1), box, self.side, limit, index, values, pixels)
        if count <= 0:
            return 0
        index[count:] = index[count - 1]  # the last group is whole; entries behind the list stay far below
        gain = np.float32(gain)
        if self.method == "scalar":
            return _minor_scalar(values, index, pixels, count, self.table, self.middle, gain, limit, places, fluxes)
        index[count:] = -self.middle // 2
        starts = np.searchsorted(pixels[:count, 0], np.arange(self.side + 1))
        return _minor_gather(values, index, pixels, starts, self.table, self.middle, gain, limit, places, fluxes)

    def _blocks(self, residual, box, limit, gain, places, fluxes):
        side = self.side
        step = -(-(side + 2 * MARGIN + BLOCK) // BLOCK) * BLOCK
        image = zeros((side + 2 * MARGIN, step), np.float32)
        inner = (slice(MARGIN, MARGIN + side),) * 2
        image[inner] = residual
        listed = zeros(image.shape, np.float32)
        within = slice(box[0] + MARGIN, box[1] + MARGIN + 1), slice(box[2] + MARGIN, box[3] + MARGIN + 1)
        listed[within] = np.abs(image[within]) > limit
        return _minor_blocks(
            image.reshape(-1), listed.reshape(-1), step, len(image), self.patch.reshape(-1), np.float32(gain),
            np.float32(limit), places, fluxes,
        )  # fmt: skip


def list_limit(residual: np.ndarray, box, list_length: int, sidelobe: float, threshold: float) -> np.float32:
    """What a pixel must exceed to be listed: room in the list, outer sidelobes of the peak, the threshold."""
    inside = np.abs(residual[box[0] : box[1] + 1, box[2] : box[3] + 1]).ravel()
    peak = inside.max()
    limit = max(float(peak) * sidelobe, threshold)
    if np.count_nonzero(inside > limit) > list_length:
        limit = float(np.partition(inside, inside.size - list_length - 1)[inside.size - list_length - 1])
    return np.float32(min(limit, 0.99 * peak))


def major_cycles(dirty, minor: Minor, limits: Limits, residual_of) -> Cleaned:
    """Minor cycles and, after each, ``residual_of(model)``, until components or threshold are reached."""
    side = dirty.shape[0]
    box = limits.within(side)
    places, fluxes = np.empty((limits.components, 2), np.int32), np.empty(limits.components, np.float32)
    model, residual, found, cycles = np.zeros((side, side)), dirty, 0, 0
    while found < limits.components:
        limit = list_limit(residual, box, limits.list_length, minor.sidelobe, limits.threshold)
        part = slice(found, limits.components)
        count = minor(residual, box, limit, limits.gain, limits.list_length, places[part], fluxes[part])
        if not count:
            break
        new = slice(found, found + count)
        np.add.at(model, (places[new, 0], places[new, 1]), fluxes[new])
        found, cycles = found + count, cycles + 1
        residual = residual_of(model.astype(np.float32))
        peak = np.abs(residual[box[0] : box[1] + 1, box[2] : box[3] + 1]).max()
        if not np.isfinite(peak) or peak <= limits.threshold:
            break
    return Cleaned(places[:found].copy(), fluxes[:found].copy(), model.astype(np.float32), residual, cycles)


def clark(dirty: np.ndarray, beam: np.ndarray, limits: Limits, threads: int = 1, convolver=None) -> Cleaned:
    """Clark's CLEAN of an image, float32 (side, side), with a beam of twice the side."""
    require_images(dirty, beam)
    convolver = Convolver(beam, threads) if convolver is None else convolver
    return major_cycles(dirty, Minor(beam, limits.method), limits, lambda model: dirty - convolver(model))


def restoring_beam(beam: np.ndarray) -> np.ndarray:
    """A Gaussian with the width of the beam's main lobe in each direction, float32 like ``beam``."""
    side = beam.shape[0] // 2
    y, x = np.mgrid[-3:4, -3:4]
    core = beam[side - 3 : side + 4, side - 3 : side + 4].astype(float)
    near = core > 0.35
    terms = np.stack([x[near] ** 2, x[near] * y[near], y[near] ** 2], 1)
    a, b, c = np.linalg.lstsq(terms, -np.log(core[near]), rcond=None)[0]
    y, x = np.mgrid[-side:side, -side:side]
    return np.exp(-np.maximum(a * x**2 + b * x * y + c * y**2, 0)).astype(np.float32)


def identity(dirty, beam, cleaned: Cleaned, bits: float, name: str, skip: int = 0) -> Check:
    """residual = dirty − beam ∗ model by an independent transform, in bits of the peak."""
    from kernels.imaging.bits import agreement

    expected = dirty - convolve(beam, cleaned.model.astype(np.float64))
    found = agreement(cleaned.residual, expected, skip=skip, peak=worst(dirty))
    return Check(f"{name}: bits of residual = dirty − beam ∗ model", found.maximum, bits, 0.0, found.maximum >= bits)
