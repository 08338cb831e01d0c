"""The baroclinic wave by dinosaur, spherical harmonics in jax, on one thread and in double precision."""

import os

import numpy as np

from kernels.gridpoint.levels import half_levels

#: XLA takes every CPU unless it is told before jax is imported.
_FLAGS = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"


def version() -> str:
    """dinosaur's and jax's versions; ``ImportError`` where one is missing."""
    import dinosaur
    import jax

    return f"{dinosaur.__version__}, jax {jax.__version__}, float64, one thread"


class Wave:
    """The wave at a truncation, in steps of ``seconds``, a day at a time.

    ``ImportError`` if dinosaur or jax is missing.
    """

    def __init__(self, truncation: int, levels: int, seconds: float):
        os.environ.setdefault("XLA_FLAGS", _FLAGS)
        import jax

        jax.config.update("jax_enable_x64", True)
        from dinosaur import coordinate_systems, primitive_equations, scales, sigma_coordinates, spherical_harmonic
        from dinosaur import primitive_equations_states as states
        from dinosaur import time_integration as steps
        from dinosaur import xarray_utils as names

        self.grid = getattr(spherical_harmonic.Grid, f"T{truncation}")()
        vertical = sigma_coordinates.SigmaCoordinates(half_levels(levels))
        coords = coordinate_systems.CoordinateSystem(self.grid, vertical)
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
