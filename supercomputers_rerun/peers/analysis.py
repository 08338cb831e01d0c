"""Boxes of the analysis beside LAPACK: one symmetric positive definite system each, many small ones after another.

Ours and LAPACK copy one matrix after another into the same room and solve there, as a thread of the analysis does with
its boxes; each has the order of memory that it wants, and ours holds the right-hand side as a further column.  SciPy
calls LAPACK's ``dposv`` on the room, which it may overwrite.  NumPy solves the stack in one call, by LU, and copies
each matrix into a room of its own.
"""

from collections.abc import Callable, Iterator

import numpy as np
import scipy
from scipy.linalg import lapack
from threadpoolctl import threadpool_limits

from supercomputers_rerun.kernels.analysis.cholesky import STEP, backwards, factor
from supercomputers_rerun.kernels.runtime.arrays import zeros
from supercomputers_rerun.peers import Absent, Comparison, relative_difference, repeating

_SIZES = (48, 96, 144, 192)
_COUNT = 64


def _systems(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    root = rng.normal(size=(_COUNT, n, n))
    return root @ root.transpose(0, 2, 1) / n + np.eye(n), rng.normal(size=(_COUNT, n))


def _ours(matrices: np.ndarray, right: np.ndarray) -> Callable:
    n = right.shape[1]
    given = zeros((_COUNT, n, n + 8))
    given[:, :, :n], given[:, :, n] = matrices, right
    room, out = zeros((n, n + 8)), np.empty_like(right)

    def work() -> np.ndarray:
        for k in range(_COUNT):
            np.copyto(room, given[k])
            factor(room, n + STEP, n + STEP)
            backwards(room, n, n, out[k])
        return out

    return repeating(work)


def _lapack(matrices: np.ndarray, right: np.ndarray) -> Callable:
    given, n = zeros(matrices.shape), right.shape[1]
    given[:] = matrices.transpose(0, 2, 1)  # so that ``given[k].T`` is the matrix in LAPACK's order
    room, out = zeros((n, n)).T, np.empty_like(right)

    def work() -> np.ndarray:
        for k in range(_COUNT):
            np.copyto(room, given[k].T)
            out[k] = lapack.dposv(room, right[k], lower=1, overwrite_a=1)[1]
        return out

    return repeating(work)


def _stack(matrices: np.ndarray, right: np.ndarray) -> Callable:
    return repeating(lambda: np.linalg.solve(matrices, right[..., None])[..., 0])


def versions() -> dict[str, str]:
    """SciPy and NumPy, which bring LAPACK."""
    return {"LAPACK dposv (SciPy)": f"scipy {scipy.__version__}", "numpy.linalg.solve": f"numpy {np.__version__}"}


def comparisons(threads: int) -> Iterator[Comparison | Absent]:
    """One thread: a box is one thread's in the analysis, too."""
    if threads > 1:
        return
    with threadpool_limits(threads, "blas"):
        for n in _SIZES:
            matrices, right = _systems(n)
            yield Comparison(
                group="systems of a box",
                label=f"{_COUNT} of {n} data",
                ours=_ours(matrices, right),
                peers={"LAPACK dposv (SciPy)": _lapack(matrices, right), "numpy.linalg.solve": _stack(matrices, right)},
                check=relative_difference,
                tolerance=1e-10,
            )
