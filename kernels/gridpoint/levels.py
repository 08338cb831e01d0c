"""Sigma levels and what depends on them alone: hydrostatics, the conversion term, vertical modes.

Half levels  σ_{k+½} = ¾ s + 7/4 s³ − 3/2 s⁴,  s = k/K.  With Δσ_k = σ_{k+½} − σ_{k−½}, r_k = σ_{k+½}/σ_{k−½},

    α_1 = ln 2,   α_k = 1 − σ_{k−½}/Δσ_k ln r_k
    Φ_k = Φ_s + Σ_{l>k} R T_l ln r_l + α_k R T_k                                     (γ T)
    (τ D)_k = κ T_ref [ ln r_k/Δσ_k Σ_{l<k} D_l Δσ_l + α_k D_k ]

(Simmons and Burridge, Mon. Weather Rev. 109, 1981, for p = σ p_s.)  The matrix of the gravity waves about an
isothermal state at rest is B = γ τ + R T_ref 1⊗Δσ; its eigenvalues c² are squares of phase speeds.
"""

import functools
from typing import NamedTuple

import numpy as np

RADIUS, OMEGA, GRAVITY = 6.371229e6, 7.29212e-5, 9.80616  # m, 1/s, m/s²
R, CP = 287.0, 1004.5  # J/(kg K)
KAPPA = R / CP
T_REF, P_REF = 300.0, 1.0e5  # K, Pa
EPSILON = 0.05  # of the time filter
DAMPING = 3.0 * 3600.0  # s in which diffusion damps the shortest wave by e


class Levels(NamedTuple):
    """Columns of numbers by level (K,), half levels (K + 1,), and matrices (K, K)."""

    half: np.ndarray  # σ_{k+½}, from 0 to 1
    full: np.ndarray  # σ at s = (k − ½)/K
    thickness: np.ndarray  # Δσ
    log: np.ndarray  # ln r, 0 at the top where the sum that it multiplies is empty
    alpha: np.ndarray  # α
    gamma: np.ndarray  # T → Φ
    tau: np.ndarray  # D → −∂T/∂t
    gravity: np.ndarray  # B = γ τ + R T_ref 1⊗Δσ
    speed2: np.ndarray  # c² of the vertical modes, m²/s², descending
    modes: np.ndarray  # E: columns are the modes
    inverse: np.ndarray  # E⁻¹


def _coordinate(s):
    return s * (0.75 + s * s * (1.75 - 1.5 * s))


def latitudes(nj: int) -> np.ndarray:
    """φ of the mass rows, radians (nj,)."""
    return -np.pi / 2 + (np.arange(nj) + 0.5) * np.pi / nj


@functools.lru_cache(maxsize=8)
def vertical(levels: int) -> Levels:
    """All of it for a number of levels.

    ``ValueError`` if B has an eigenvalue that is not above zero: then the implicit step is not defined.
    """
    half = _coordinate(np.arange(levels + 1) / levels)
    thickness = np.diff(half)
    log = np.zeros(levels)
    log[1:] = np.log(half[2:] / half[1:-1])
    alpha = 1.0 - half[:-1] / thickness * log
    alpha[0] = np.log(2.0)
    gamma = R * (np.triu(np.tile(log, (levels, 1)), 1) + np.diag(alpha))
    tau = KAPPA * T_REF * (np.tril(np.outer(log / thickness, thickness), -1) + np.diag(alpha))
    gravity = gamma @ tau + R * T_REF * np.tile(thickness, (levels, 1))
    speed2, modes = np.linalg.eig(gravity)
    order = np.argsort(-speed2.real)
    speed2, modes = speed2[order], modes[:, order]
    if np.abs(speed2.imag).max() > 0 or speed2.real.min() <= 0:
        raise ValueError(f"levels = {levels} gives vertical modes that are no waves; choose fewer levels")
    modes = modes.real
    full = _coordinate((np.arange(levels) + 0.5) / levels)
    return Levels(
        half, full, thickness, log, alpha, gamma, tau, gravity, speed2.real.copy(), modes.copy(), np.linalg.inv(modes)
    )
