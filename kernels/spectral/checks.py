"""What a plan refuses, each in one sentence: truncations, arrays of another shape or type, values not finite."""

import math

import numpy as np

from kernels.contract import require_range
from kernels.runtime.arrays import readable, require_array
from kernels.runtime.jit import kernel
from kernels.runtime.pages import aligned
from kernels.runtime.resources import require_memory
from kernels.spectral.grids import Grid

LARGEST_TRUNCATION = 8000
COMPLEX, REAL = np.dtype(np.complex128), np.dtype(np.float64)  # a comparison with numpy's classes costs 0.15 µs


def require_truncation(grid: Grid, truncation: int) -> int:
    """``truncation`` if the grid carries it, else ``ValueError``."""
    require_range("truncation", truncation, 1, LARGEST_TRUNCATION)
    longest = int(grid.pl.max())
    if longest < 2 * truncation + 1:
        raise ValueError(
            f"truncation {truncation} needs rows of at least {2 * truncation + 1} points, the longest row of "
            f"{grid.name} has {longest}; choose truncation {(longest - 1) // 2} or lower, or a finer grid"
        )
    if 2 * grid.N < truncation + 1:
        raise ValueError(
            f"truncation {truncation} needs at least {truncation + 1} rows, {grid.name} has {2 * grid.N}; "
            f"choose a finer grid"
        )
    return truncation


def _laid_out(array) -> np.ndarray:
    """``array`` C-contiguous and aligned, to be read; a copy where it is not."""
    if isinstance(array, np.ndarray):
        flags = array.flags
        if flags.c_contiguous and flags.aligned:
            return array if flags.writeable else readable(array)
    return readable(np.require(array, requirements="CA"))


def require_spectra(name: str, spec, truncation: int, ncoef: int) -> np.ndarray:
    """``spec`` as C-contiguous complex128 of shape (ncoef,) or (fields, ncoef), else ``ValueError``."""
    spec = _laid_out(spec)
    if spec.dtype != COMPLEX or spec.ndim not in (1, 2) or spec.shape[-1] != ncoef:
        raise ValueError(
            f"{name} is {spec.dtype} of shape {spec.shape}; truncation {truncation} takes "
            f"complex128 of shape ({ncoef},) or (fields, {ncoef})"
        )
    return spec


def require_values(name: str, values, grid: Grid) -> np.ndarray:
    """``values`` as C-contiguous float64 of shape (points,) or (fields, points), else ``ValueError``."""
    values = _laid_out(values)
    points = grid.points
    if values.dtype != REAL or values.ndim not in (1, 2) or values.shape[-1] != points:
        raise ValueError(
            f"{name} is {values.dtype} of shape {values.shape}; grid {grid.name} takes float64 of "
            f"shape ({points},) or (fields, {points})"
        )
    return values


def output(out, shape: tuple[int, ...], dtype: np.dtype, source: np.ndarray) -> np.ndarray:
    """``out`` if it fits and lies apart from the ``source``, a new array if it is None, else ``ValueError``."""
    if out is None:
        require_memory(math.prod(shape) * dtype.itemsize, f"a result of shape {shape}")
        return aligned(shape, dtype)
    return require_array("out", out, dtype, shape, writable=True, apart=(source,))


@kernel
def _infinite(numbers, begin, end):
    """How many of ``numbers[:, begin:end]`` are NaN or infinite, by subtraction."""
    found = 0
    for row in range(numbers.shape[0]):
        for i in range(begin, end):
            found += numbers[row, i] - numbers[row, i] != 0.0
    return found


def require_finite(numbers: np.ndarray, begin: int, end: int, what: str) -> None:
    """``ValueError`` unless ``numbers[:, begin:end]``, float64, are finite; ``what`` says of which row is not."""
    if _infinite(numbers, begin, end):
        bad = np.flatnonzero(~np.isfinite(numbers[:, begin:end]).all(axis=1))[0]
        raise ValueError(f"{what} {bad} is not finite; remove NaN and infinity first")
