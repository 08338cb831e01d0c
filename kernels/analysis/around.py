"""The steps around the main program once more, for ``verify``: whole arrays at once, no files, no compiled code.

The chain and its reference go through the same steps row by row; here stand the same equations apart from them.
Fields are float64 (nj, levels, ni), columns from the top downwards, interpolated by ln p.
"""

import numpy as np

from kernels.analysis.constants import LN_P, R
from kernels.gridpoint.levels import vertical


def _part(source, x):
    """Level above ``x`` (nj, 1, ni) among levels ``source``, and the part of the way to the next."""
    k = np.clip((source < x).sum(1, keepdims=True) - 1, 0, source.shape[1] - 2)
    high, low = np.take_along_axis(source, k, 1), np.take_along_axis(source, k + 1, 1)
    return k, np.clip((x - high) / (low - high), 0.0, 1.0)


def interpolated(field, source, target):
    """``field`` of levels ``source`` at levels ``target``, linear between, constant beyond."""
    found = []
    for x in np.moveaxis(target, 1, 0):
        k, part = _part(source, x[:, None])
        found.append((1 - part) * np.take_along_axis(field, k, 1) + part * np.take_along_axis(field, k + 1, 1))
    return np.concatenate(found, 1)


def _integral(T, source, x):
    """∫ T d ln p from the highest level to ``x`` (nj, J, ni), T linear between levels and constant beyond."""
    steps = 0.5 * (T[:, 1:] + T[:, :-1]) * np.diff(source, axis=1)
    whole = np.concatenate([np.zeros_like(T[:, :1]), np.cumsum(steps, 1)], 1)
    there, inner = interpolated(T, source, x), np.clip(x, source[:, :1], source[:, -1:])
    found = []
    for n, at in enumerate(np.moveaxis(inner, 1, 0)):
        k, part = _part(source, at[:, None])
        high, above = np.take_along_axis(source, k, 1), np.take_along_axis(T, k, 1)
        found.append(np.take_along_axis(whole, k, 1) + 0.5 * (above + there[:, n : n + 1]) * (at[:, None] - high))
    return np.concatenate(found, 1) + there * (x - inner)


def _from_south(a):
    """Means with the row to the south; the southernmost row stays."""
    return np.concatenate([a[:1], 0.5 * (a[1:] + a[:-1])])


def _from_east(a):
    return 0.5 * (a + np.roll(a, -1, -1))


def _columns(problem, guess):
    """u, v, T, q of the first guess, ln p_s and geopotential of the ground, and ln of sigma."""
    fields = np.moveaxis(guess[:, :-2].reshape(len(guess), 4, problem.levels, -1), 1, 0)
    return *fields, guess[:, None, -2], guess[:, None, -1], np.log(vertical(problem.levels).full)[:, None]


def first_guess(problem, guess):
    """Steps d and e: the first guess on standard levels and at mass points, (nj, 5, 15, ni)."""
    u, v, T, q, lnps, ground, sigma = _columns(problem, guess)
    target = np.broadcast_to(LN_P[:, None], (len(guess), LN_P.size, problem.ni))
    bases = ((u, _from_east(lnps)), (v, _from_south(lnps)), (T, lnps), (q, lnps))
    u, v, warm, q = (interpolated(field, sigma + base, target) for field, base in bases)
    phi = ground + R * (_integral(T, sigma + lnps, lnps) - _integral(T, sigma + lnps, target))
    north = np.concatenate([v[1:], 2 * v[-1:] - v[-2:-1]])
    return np.stack([phi, 0.5 * (u + np.roll(u, 1, -1)), 0.5 * (v + north), warm, q], 1)


def analysed(problem, guess, increments):
    """Steps t, v and w: the first guess with increments (nj, 5, 15, ni), (nj, 4 levels + 2, ni).

    Analysed are on the n-th of the three highest levels n quarters of the change.
    """
    *fields, lnps, ground, sigma = _columns(problem, guess)
    phi, u, v, T, q = np.moveaxis(increments, 1, 0)
    standard = np.broadcast_to(LN_P[:, None], phi.shape)
    lifted = lnps + interpolated(phi, standard, lnps) / (R * fields[2][:, -1:])
    kept = np.ones((problem.levels, 1))
    kept[:3, 0] = np.arange(1, 4) / 4
    found = []
    for field, change, to_face in zip(
        fields, (_from_east(u), _from_south(v), T, q), (_from_east, _from_south, np.copy, np.copy), strict=True
    ):
        old, new = sigma + to_face(lnps), sigma + to_face(lifted)
        moved = interpolated(field, old, new) + interpolated(change, standard, new)
        found.append(field + kept * (moved - field))
    return np.concatenate([*found, lifted, ground], 1)
