"""The baroclinic wave by dinosaur, spherical harmonics in jax, on one thread and in double precision."""

import os
from collections.abc import Callable

import numpy as np

from kernels.gridpoint.levels import half_levels

#: Seconds of its time step at truncation 42.
STEP = 1200.0
#: XLA takes every CPU unless it is told before jax is imported.
_FLAGS = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"


def version() -> str:
    """dinosaur's and jax's versions; ``ImportError`` where one is missing."""
    import dinosaur
    import jax

    return f"{dinosaur.__version__}, jax {jax.__version__}, float64, one thread"


def wave(levels: int, days: float) -> Callable[[], np.ndarray]:
    """A function that runs the wave at truncation 42 for ``days`` and gives its surface pressure, Pa.

    Raises
    ------
    ImportError
        If dinosaur or jax is missing.
    """
    os.environ.setdefault("XLA_FLAGS", _FLAGS)
    import jax

    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp
    from dinosaur import coordinate_systems, primitive_equations, scales, sigma_coordinates, spherical_harmonic
    from dinosaur import primitive_equations_states as states
    from dinosaur import time_integration as steps
    from dinosaur import xarray_utils as names

    grid = spherical_harmonic.Grid.T42()
    vertical = sigma_coordinates.SigmaCoordinates(half_levels(levels))
    coords = coordinate_systems.CoordinateSystem(grid, vertical)
    specs = primitive_equations.PrimitiveEquationsSpecs.from_si()
    begin, features = states.steady_state_jw(coords, specs)
    start = begin() + states.baroclinic_perturbation_jw(coords, specs)
    ground = primitive_equations.truncated_modal_orography(features[names.OROGRAPHY], coords)
    equations = primitive_equations.PrimitiveEquations(features[names.REF_TEMP_KEY], ground, coords, specs)
    dt = specs.nondimensionalize(STEP * scales.units.second)
    step = steps.step_with_filters(steps.imex_rk_sil3(equations, dt), [steps.exponential_step_filter(grid, dt)])
    march = jax.jit(steps.repeated(step, round(days * 86400 / STEP)))
    pascal = float(specs.nondimensionalize(1.0 * scales.units.pascal))

    def run() -> np.ndarray:
        end = march(start)
        return np.asarray(jnp.exp(grid.to_nodal(end.log_surface_pressure))).squeeze() / pascal

    return run
