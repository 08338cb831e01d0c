"""What is integrated: truncation, grid, case, time step, filter and diffusion."""

from dataclasses import dataclass
from typing import Any, ClassVar

from kernels.contract import Presets, one_of, real, require_choice, require_range, whole
from kernels.spectral import grid as gaussian_grid

RADIUS = 6.37122e6  # m, Williamson et al. (1992), as are the next two
ROTATION = 7.292e-5  # rad/s
GRAVITY = 9.80616  # m/s²

CASES = ("williamson2", "williamson5", "galewsky", "galewsky_balanced")
BUILDS = ("strict", "fast")
#: Points of a full row per wavenumber: what a product of one, two or three factors asks for.
RELATIONS = {"linear": 2, "quadratic": 3, "cubic": 4}


def grid_for(truncation: int, relation: str) -> str:
    """Name of the coarsest full grid, of ``4N`` points a row, for ``relation``.

    Linear grids have ``4N ≥ 2T + 1``, quadratic ones ``3T + 1`` (products of two fields are free of
    aliasing), cubic ones ``4T + 1``.
    """
    require_range("truncation", truncation, 1, 8000)
    require_choice("relation", relation, tuple(RELATIONS))
    return f"F{-(-(RELATIONS[relation] * truncation + 1) // 4)}"


def _named(truncation, grid, dt):
    return {"truncation": truncation, "grid": grid, "case": "galewsky", "dt": dt, "hours": 240.0, "diffusion": 3.0}


@dataclass(frozen=True)
class Problem(Presets):
    """One integration of the shallow-water equations.

    Cases: ``williamson2`` (steady zonal flow at the angle ``alpha``), ``williamson5`` (zonal flow over
    a mountain), ``galewsky`` (perturbed, unstable jet), ``galewsky_balanced`` (the jet alone).
    The presets named after truncations are ten-day forecasts; shorten ``hours`` to time single steps.
    """

    truncation: whole(10, 8000) = 63  # triangular truncation T, 1
    grid: str = "F48"  # Gaussian grid: F, N or O and the rows between pole and equator
    case: one_of(*CASES) = "williamson2"  # initial state and orography
    dt: real(1e-3, 86400.0, "s") = 900.0  # time step, s
    hours: real(1e-3, 1e6, "h") = 24.0  # length of the integration, h
    diffusion: real(0.0, 1e6, "h") = 0.0  # e-folding time of degree T under hyperdiffusion, h (0: none)
    order: one_of(2, 4, 6, 8) = 8  # order of the hyperdiffusion ∇^order, even
    asselin: real(0.0, 1.0) = 0.02  # Robert-Asselin filter, 1
    williams: real(0.5, 1.0) = 0.53  # share of the filter given to the middle level (1: Asselin's filter), 1
    alpha: real(-3.2, 3.2, "rad") = 0.0  # angle between the flow of williamson2 and the equator, rad
    perturbation: real(0.0, 1000.0, "m") = 0.0  # RMS of random height added to the initial state, m (members by seed)
    output: real(0.0, 1e6, "h") = 0.0  # hours between output steps written to disk, h (0: none)
    build: one_of(*BUILDS) = "strict"  # compiled code: IEEE 754 as written, or with named fast-math flags

    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {
        "quick": _named(63, "F48", 600.0) | {"hours": 24.0, "output": 6.0},
        "paper": _named(1279, "N640", 35.0),
        "modern": _named(639, "N320", 75.0),
        "TL1279": _named(1279, "N640", 35.0),
        "TL2047": _named(2047, "N1024", 22.5),
        "TQ1364": _named(1364, "N1024", 32.0),
        "TC1023": _named(1023, "N1024", 45.0),
        "TL2559": _named(2559, "N1280", 18.0),
        "TQ1706": _named(1706, "N1280", 27.0),
        "TC1279": _named(1279, "N1280", 35.0),
    }

    def __post_init__(self):
        chosen = gaussian_grid(self.grid)
        if 4 * chosen.N < 2 * self.truncation + 1:
            raise ValueError(
                f"truncation {self.truncation} is too large for grid {self.grid}; choose truncation "
                f"{(4 * chosen.N - 1) // 2} or lower, or grid {grid_for(self.truncation, 'linear')} or finer"
            )

    @property
    def steps(self) -> int:
        """Number of time steps."""
        return round(self.hours * 3600.0 / self.dt)

    @property
    def coefficient(self) -> float:
        """Hyperdiffusion coefficient ``K``, m^order / s."""
        if self.diffusion == 0.0:
            return 0.0
        largest = self.truncation * (self.truncation + 1) / RADIUS**2
        return 1.0 / (3600.0 * self.diffusion * largest ** (self.order // 2))
