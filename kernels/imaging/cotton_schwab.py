"""MXCLN: CLEAN whose major cycle subtracts the model from the visibilities (Schwab 1984).

    residual image = image of (V − V(model)),   V(model) by transform and interpolation

The minor cycle is Clark's.  Records stay sorted for the grid from the first cycle to the last.
"""

from typing import NamedTuple

import numpy as np

from kernels.imaging import dirty
from kernels.imaging.array import WEIGHT
from kernels.imaging.clean import Cleaned, Limits, Minor, major_cycles


class Mapped(NamedTuple):
    cleaned: Cleaned
    dirty: np.ndarray  # float32 (side, side)
    beam: np.ndarray  # float32 (2 side, 2 side)


def clean(records: np.ndarray, side: int, cell: float, limits: Limits, threads: int = 1) -> Mapped:
    """Image, beam and CLEAN of records, float32 (n, 8); raises as :class:`kernels.imaging.dirty.Plan`."""
    plan = dirty.Plan(records, side, cell, threads)
    limits.within(side)
    response = dirty.beam(records, 2 * side, cell, threads)
    image = plan.image()
    points = plan.points
    given = points.points[:, 2:].copy()
    weights = records[np.where(points.order < 0, -1 - points.order, points.order), WEIGHT, None]
    predicted = np.empty_like(given)

    def residual_of(model):
        plan.predict(model, predicted)
        np.multiply(predicted, weights, out=predicted)
        return plan.image(values=np.subtract(given, predicted, out=predicted))

    return Mapped(major_cycles(image, Minor(response, limits.method), limits, residual_of), image, response)
