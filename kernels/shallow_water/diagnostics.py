"""Integrals, error norms and spectra of a state; what grids of other relations make of one truncation."""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from supercomputers_rerun.kernels.shallow_water.plain import tendencies
from supercomputers_rerun.kernels.shallow_water.problem import GRAVITY, RADIUS, grid_for, initial
from supercomputers_rerun.kernels.spectral import Plan


def means(state, spectra, threads: int = 1) -> tuple[float, float, float]:
    """Means over the sphere of depth, energy and potential enstrophy.

    ``h`` (m), ``½ h V² + ½ g ((h + h_s)² - h_s²)`` (m³/s²) and ``½ (ζ + f)² / h`` (1/(m s²)), the
    integrals of Williamson et al. (1992), section 4.
    """
    plan, weight = state.plan, state.plan.grid.shares
    u, v = plan.wind(spectra[0], spectra[2], threads=threads)
    vorticity, phi = plan.inverse(spectra[:2], threads=threads)
    depth = (phi + state.mean) / GRAVITY
    surface = depth + state.ground_height
    energy = 0.5 * depth * (u * u + v * v) + 0.5 * GRAVITY * (surface**2 - state.ground_height**2)
    enstrophy = 0.5 * (vorticity + state.coriolis) ** 2 / depth
    # np.sum adds in an order of its own that no number of threads changes
    return float((weight * depth).sum()), float((weight * energy).sum()), float((weight * enstrophy).sum())


def by_degree(plan, spectrum) -> np.ndarray:
    """``Σ_m |s_n^m|²`` over both signs of ``m`` for every degree, float64[T + 1]."""
    square = np.abs(spectrum) ** 2 * np.where(plan.m == 0, 1.0, 2.0)
    return np.bincount(plan.n, weights=square, minlength=plan.truncation + 1)


def change_truncation(plan, spectrum, other) -> np.ndarray:
    """``spectrum`` of ``plan`` in the layout of ``other``, cut or filled with zeros."""
    top = min(plan.truncation, other.truncation)
    result = np.zeros((*spectrum.shape[:-1], other.ncoef), dtype=np.complex128)
    result[..., other.n <= top] = spectrum[..., plan.n <= top]
    return result


def surface(state, spectra) -> np.ndarray:
    """Spectrum of the height of the free surface, m."""
    height = (spectra[1] + state.ground) / GRAVITY
    height[0] += state.mean / GRAVITY
    return height


class Aliasing(NamedTuple):
    """What one grid makes of a truncation."""

    grid: str  # grid the model ran on
    latitude: np.ndarray  # of the drawn grid's rows, degrees, float64[rows]
    longitude: np.ndarray  # of its columns, degrees, float64[columns]
    vorticity: np.ndarray  # at the end, 1/s, float64[rows, columns]
    product_error: np.ndarray  # relative error of the vorticity tendency, by degree, float64[T + 1]


def compare_grids(problem, ends: Mapping, threads: int = 1) -> dict[str, Aliasing]:
    """What the grid of each relation makes of ``problem``, from the results of its integrations there.

    The vorticity is drawn on one full grid, the cubic one.  On the linear grid the quadratic products of the equations
    fold back onto the resolved waves, on the others they do not.  ``product_error`` compares each grid's vorticity
    tendency, for the final state of the first relation, with the cubic grid's, relative to all of it.
    """
    finest = Plan(grid_for(problem.truncation, "cubic"), problem.truncation, radius=RADIUS)
    coriolis = initial(replace(problem, grid=finest.grid.name), finest.grid).coriolis
    probe = next(iter(ends.values())).spectra
    exact = tendencies(finest, coriolis, probe)[0]
    found = {}
    for relation, result in ends.items():
        state = result.state
        off = tendencies(state.plan, state.coriolis, probe)[0] - exact
        found[relation] = Aliasing(
            state.plan.grid.name,
            finest.grid.latitudes,
            finest.grid.longitudes(0),
            finest.inverse(result.spectra[0], threads=threads).reshape(2 * finest.grid.N, -1),
            np.sqrt(by_degree(finest, off) / by_degree(finest, exact).sum()),
        )
    return found
