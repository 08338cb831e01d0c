"""CLEAN by Högbom (1974): the whole beam at every peak.

residual ← residual − gain · peak · beam(· − place of the peak)
"""

import numpy as np
from numba import float32

from kernels.imaging.clean import Cleaned, Limits, require_images, summed
from kernels.runtime.jit import CONTRACT, kernel
from kernels.runtime.lanes import SINGLES, fnma, larger, largest, magnitude, spread
from kernels.runtime.pages import aligned
from kernels.runtime.vector import load, store


@kernel(fastmath=CONTRACT)
def _row_peak(residual, inside, row, side):
    """Largest magnitude of one ``row`` of ``residual``, flat with rows of ``side`` pixels, where ``inside``, float32
    (side,), is 1 and not 0."""
    best = magnitude(load(residual, row * side)) * load(inside, 0)
    for x in range(SINGLES, side, SINGLES):
        best = larger(best, magnitude(load(residual, row * side + x)) * load(inside, x))
    return largest(best)


@kernel(inline=True)
def _column_of(residual, row, side, first, last, value):
    """The column from ``first`` to ``last`` whose pixel in the ``row`` of ``residual`` has the magnitude ``value``, −1
    if none has; rows have ``side`` pixels."""
    for x in range(first, last + 1):
        if abs(residual[row * side + x]) == value:
            return x
    return -1


@kernel(fastmath=CONTRACT)
def _beam_rows(beam, out):
    """Largest magnitude of every row of the flat ``beam``, a little enlarged, into ``out``, float32 (2 · side,): what a
    component can change by at most."""
    wide = out.size
    for row in range(wide):
        best = magnitude(load(beam, row * wide))
        for x in range(SINGLES, wide, SINGLES):
            best = larger(best, magnitude(load(beam, row * wide + x)))
        out[row] = largest(best) * float32(1.00001)


@kernel(fastmath=CONTRACT)
def _bring(residual, beam, inside, row, first, end, places, fluxes):
    """Subtract the components first … end − 1 from one ``row`` of ``residual``, in their order; returns its peak within
    the box, where ``inside`` is 1.

    ``beam`` and ``residual`` are flat, ``places``, int32 (components, 2), are rows and columns, ``fluxes`` Jy.
    """
    side = inside.size
    at, wide, best = row * side, 2 * side, spread(float32(0))
    for x in range(0, side, 2 * SINGLES):
        low, high = load(residual, at + x), load(residual, at + x + SINGLES)
        for k in range(first, end):
            shifted = (row - places[k, 0] + side) * wide + side - places[k, 1] + x
            low = fnma(load(beam, shifted), fluxes[k], low)
            high = fnma(load(beam, shifted + SINGLES), fluxes[k], high)
        store(residual, at + x, low)
        store(residual, at + x + SINGLES, high)
        best = larger(best, larger(magnitude(low) * load(inside, x), magnitude(high) * load(inside, x + SINGLES)))
    return largest(best)


@kernel(fastmath=CONTRACT)
def _hogbom(residual, beam, inside, box, gain, threshold, places, fluxes):
    """CLEAN of the flat ``residual`` with the flat ``beam`` of twice the side; the number of components.

    Each takes ``gain`` of the peak in the ``box``, first and last row and column; ``inside``, float32 (side,), is 1 in
    its columns and else 0.  Components go into ``places`` and ``fluxes`` until these are full or the peak is at
    ``threshold``, Jy per beam.

    A row is brought up to date only when it may hold the peak.  Until then its bound is its last peak and what the
    components since can have added: their flux times the largest value of the beam's row.  So a row meets many
    components at once, in their order, and the residual is what subtracting each at once gives.
    """
    side = inside.size
    most, done = np.empty(2 * side, np.float32), np.zeros(side, np.int64)
    _beam_rows(beam, most)
    bounds = np.zeros(side, np.float32)
    for y in range(box[0], box[1] + 1):
        bounds[y] = _row_peak(residual, inside, y, side)
    found = 0
    while found < fluxes.size:
        row = 0
        while True:
            best = load(bounds, 0)
            for y in range(SINGLES, side, SINGLES):
                best = larger(best, load(bounds, y))
            peak, row = largest(best), box[0]
            while row < box[1] and bounds[row] != peak:
                row += 1
            if done[row] == found:
                break
            bounds[row] = _bring(residual, beam, inside, row, done[row], found, places, fluxes)
            done[row] = found
        if not peak > threshold:
            break
        column = _column_of(residual, row, side, box[2], box[3], peak)
        flux = gain * residual[row * side + column]
        places[found, 0], places[found, 1], fluxes[found] = row, column, flux
        found += 1
        for y in range(box[0], box[1] + 1):
            bounds[y] += abs(flux) * most[y - row + side]
    for y in range(side):
        _bring(residual, beam, inside, y, done[y], found, places, fluxes)
    return found


def clean(dirty: np.ndarray, beam: np.ndarray, limits: Limits) -> Cleaned:
    """Högbom's CLEAN of an image, float32 (side, side), with a beam of twice the side."""
    side = require_images(dirty, beam)
    box = limits.within(side)
    residual = aligned(dirty.shape, np.float32)
    residual[...] = dirty
    inside = np.zeros(side, np.float32)
    inside[box[2] : box[3] + 1] = 1
    places, fluxes = np.empty((limits.components, 2), np.int32), np.empty(limits.components, np.float32)
    gain, threshold = np.float32(limits.gain), np.float32(limits.threshold)
    count = _hogbom(residual.reshape(-1), beam.reshape(-1), inside, box, gain, threshold, places, fluxes)
    places, fluxes = places[:count].copy(), fluxes[:count].copy()
    return Cleaned(places, fluxes, summed(places, fluxes, side), residual, count)
