"""Whole forecasts of the baroclinic wave beside dinosaur, which solves the same equations with spherical harmonics.

Each side goes its way from the start, with a time step of its own; the days from the seventh to
the tenth, in which the wave grows, are timed one by one.  Two methods need not agree to rounding: the lowest surface
pressure of a day's end is compared, in hPa.

``SPECTRAL_TRUNCATIONS`` names the truncations to run, as for the transforms: a day of truncation 85 takes dinosaur
about a minute, and 3 s at 42.
"""

import contextlib
import os
from collections.abc import Iterator

import numpy as np

from supercomputers_rerun.kernels.gridpoint import Problem, Result, State, run, setup
from supercomputers_rerun.kernels.gridpoint.levels import vertical
from supercomputers_rerun.peers import Absent, Comparison
from supercomputers_rerun.peers.spectral import asked

#: By dinosaur's truncation: its time step, s, and our grid and time step, s, of about as many points.
_SIZES = {42: (2400.0, 128, 64, 1200.0), 85: (900.0, 256, 128, 600.0)}
_LEVELS, _DAYS = 15, (7, 8, 9, 10)
#: Largest difference of the lowest pressures, hPa.
_TOLERANCE = 8.0


class _Ours:
    """Our wave, a day at a time."""

    def __init__(self, ni: int, nj: int, dt: float):
        self.problem = Problem(ni=ni, nj=nj, levels=_LEVELS, dt=dt, hours=24.0, writeup=0.0)
        self.state = setup(self.problem)
        self.reached: Result | None = None

    def day(self) -> np.ndarray:
        """A day from the state that is kept: surface pressure, Pa."""
        self.reached = run(self.problem, self.state)
        return self.reached.fields["ps"]

    def keep(self) -> None:
        """The next day begins where the last one ended, with a step forward from one time level."""
        fields = self.reached.fields
        self.state = State(fields | {f"{name}_before": fields[name] for name in ("u", "v", "T", "q", "ps")})


#: XLA takes every CPU unless it is told before jax is imported.
_FLAGS = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"


def _version() -> str:
    """dinosaur's and jax's versions; ``ImportError`` where one is missing."""
    import dinosaur
    import jax

    return f"{dinosaur.__version__}, jax {jax.__version__}, float64, one thread"


class _Theirs:
    """dinosaur's wave at a truncation, in steps of ``seconds``, a day at a time, in double precision."""

    def __init__(self, truncation: int, levels: int, seconds: float):
        os.environ.setdefault("XLA_FLAGS", _FLAGS)
        import jax

        jax.config.update("jax_enable_x64", True)
        from dinosaur import coordinate_systems, primitive_equations, scales, sigma_coordinates, spherical_harmonic
        from dinosaur import primitive_equations_states as states
        from dinosaur import time_integration as steps
        from dinosaur import xarray_utils as names

        self.grid = getattr(spherical_harmonic.Grid, f"T{truncation}")()
        sigma = sigma_coordinates.SigmaCoordinates(vertical(levels).half)
        coords = coordinate_systems.CoordinateSystem(self.grid, sigma)
        specs = primitive_equations.PrimitiveEquationsSpecs.from_si()
        begin, features = states.steady_state_jw(coords, specs)
        self.state = begin() + states.baroclinic_perturbation_jw(coords, specs)
        ground = primitive_equations.truncated_modal_orography(features[names.OROGRAPHY], coords)
        equations = primitive_equations.PrimitiveEquations(features[names.REF_TEMP_KEY], ground, coords, specs)
        dt = specs.nondimensionalize(seconds * scales.units.second)
        damped = steps.exponential_step_filter(self.grid, dt)
        step = steps.step_with_filters(steps.imex_rk_sil3(equations, dt), [damped])
        self.march = jax.jit(steps.repeated(step, round(86400 / seconds)))
        self.pascal = float(specs.nondimensionalize(1.0 * scales.units.pascal))
        self.reached = self.state

    def day(self) -> np.ndarray:
        """A day from the state that is kept: surface pressure, Pa."""
        self.reached = self.march(self.state)
        return np.exp(np.asarray(self.grid.to_nodal(self.reached.log_surface_pressure))).squeeze() / self.pascal

    def keep(self) -> None:
        """The next day begins where the last one ended."""
        self.state = self.reached


def versions() -> dict[str, str]:
    """dinosaur's and jax's version."""
    with contextlib.suppress(ImportError):
        return {"dinosaur": _version()}
    return {}


def comparisons(threads: int) -> Iterator[Comparison | Absent]:
    """On one thread: jax keeps the number that it began with."""
    if threads > 1:
        return
    for truncation, (seconds, ni, nj, dt) in asked(tuple(_SIZES.items())):
        try:
            sides = _Ours(ni, nj, dt), _Theirs(truncation, _LEVELS, seconds)
        except ImportError as error:
            yield Absent("dinosaur", f"{error.name} is not installed; pip install dinosaur-dycore")
            return
        for day in range(1, _DAYS[-1] + 1):
            mine, other = (float(np.min(side.day())) / 100 for side in sides)
            if day in _DAYS:
                yield Comparison(
                    group="baroclinic wave",
                    label=f"day {day}, {ni} × {nj} points or truncation {truncation}, {_LEVELS} levels",
                    ours=sides[0].day,
                    peers={"dinosaur": sides[1].day},
                    check=lambda ours, theirs: abs(np.min(ours) - np.min(theirs)) / 100,  # hPa
                    tolerance=_TOLERANCE,
                    chosen=f"dinosaur: {other:.1f} hPa in steps of {seconds:.0f} s; ours: {mine:.1f} hPa in {dt:.0f} s",
                )
            for side in sides:
                side.keep()
