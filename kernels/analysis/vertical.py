"""Columns from one vertical coordinate to another, by ln p.

Fields are float64 (nj, levels, ni), as are ln p of the levels they come from and go to, both from the top downwards.
The compiled functions check nothing.
"""

import numpy as np

from supercomputers_rerun.kernels.gridpoint.levels import R
from supercomputers_rerun.kernels.runtime.jit import CONTRACT, kernel


@kernel(fastmath=CONTRACT)
def _interpolate(field, source, target, out):
    last = field.shape[1] - 1
    for row in range(field.shape[0]):
        for i in range(field.shape[2]):
            k = 0
            for j in range(target.shape[1]):
                x = target[row, j, i]
                while k < last - 1 and source[row, k + 1, i] < x:
                    k += 1
                part = (x - source[row, k, i]) / (source[row, k + 1, i] - source[row, k, i])
                part = min(max(part, 0.0), 1.0)
                out[row, j, i] = (1.0 - part) * field[row, k, i] + part * field[row, k + 1, i]


def interpolate(field, source, target) -> np.ndarray:
    """``field`` of levels ``source`` at levels ``target``, linear in ln p, constant beyond; two levels at least."""
    out = np.empty(target.shape)
    _interpolate(*map(np.ascontiguousarray, (field, source, target)), out)
    return out


@kernel(fastmath=CONTRACT)
def _geopotential(temperature, source, lnps, ground, target, out):
    last = temperature.shape[1] - 1
    for row in range(temperature.shape[0]):
        for i in range(temperature.shape[2]):
            k = last  # the level whose geopotential is at hand
            t = temperature[row, k, i]
            phi = ground[row, 0, i] + R * t * (lnps[row, 0, i] - source[row, k, i])
            for j in range(target.shape[1] - 1, -1, -1):
                x = target[row, j, i]
                while k > 0 and source[row, k - 1, i] >= x:
                    mean = 0.5 * (temperature[row, k, i] + temperature[row, k - 1, i])
                    phi += R * mean * (source[row, k, i] - source[row, k - 1, i])
                    k -= 1
                t = there = temperature[row, k, i]
                if k > 0 and x < source[row, k, i]:
                    part = (source[row, k, i] - x) / (source[row, k, i] - source[row, k - 1, i])
                    there = t + part * (temperature[row, k - 1, i] - t)
                out[row, j, i] = phi + 0.5 * R * (t + there) * (source[row, k, i] - x)


def geopotential(temperature, source, lnps, ground, target) -> np.ndarray:
    """Geopotential, m²/s², at levels ``target``, exact where T is linear in ln p between levels ``source``.

    ``temperature`` in K; ``lnps``, ``ground`` (nj, 1, ni): ln p and geopotential of the ground.  Beyond the levels T is
    that of the nearest.
    """
    out = np.empty(target.shape)
    _geopotential(*map(np.ascontiguousarray, (temperature, source, lnps, ground, target)), out)
    return out
