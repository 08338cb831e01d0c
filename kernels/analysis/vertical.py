"""Columns from one vertical coordinate to another, by ln p.

Fields are float64 (levels, n), as are ln p of the levels they come from and go to, both from the top downwards.
No function checks what it is given.
"""

from kernels.analysis.constants import R
from kernels.runtime.jit import CONTRACT, kernel


@kernel(fastmath=CONTRACT)
def interpolate(field, source, target, out):
    """``out`` (J, n): ``field`` (K, n) of levels ``source`` at levels ``target`` (J, n), linear in ln p.

    Constant beyond the highest and the lowest level, of which there are at least two.
    """
    last = field.shape[0] - 1
    for i in range(field.shape[1]):
        k = 0
        for j in range(target.shape[0]):
            x = target[j, i]
            while k < last - 1 and source[k + 1, i] < x:
                k += 1
            part = (x - source[k, i]) / (source[k + 1, i] - source[k, i])
            part = min(max(part, 0.0), 1.0)
            out[j, i] = (1.0 - part) * field[k, i] + part * field[k + 1, i]


@kernel(fastmath=CONTRACT)
def geopotential(temperature, source, surface, target, out):
    """``out`` (J, n): geopotential, m²/s², at levels ``target``, exact where T is linear in ln p between levels.

    ``temperature`` (K, n) in K at levels ``source``; ``surface`` (2, n) is ln p and geopotential of the ground.  Below
    the lowest level T is the lowest level's, above the highest the highest one's.
    """
    last = temperature.shape[0] - 1
    for i in range(temperature.shape[1]):
        k = last  # the level whose geopotential is at hand
        t = temperature[k, i]
        phi = surface[1, i] + R * t * (surface[0, i] - source[k, i])
        for j in range(target.shape[0] - 1, -1, -1):
            x = target[j, i]
            while k > 0 and source[k - 1, i] >= x:
                mean = 0.5 * (temperature[k, i] + temperature[k - 1, i])
                phi += R * mean * (source[k, i] - source[k - 1, i])
                k -= 1
            t = temperature[k, i]
            there = t
            if k > 0 and x < source[k, i]:
                part = (source[k, i] - x) / (source[k, i] - source[k - 1, i])
                there = t + part * (temperature[k - 1, i] - t)
            out[j, i] = phi + 0.5 * R * (t + there) * (source[k, i] - x)
