"""What is transformed: truncation, grid and number of fields; what that needs, and how much is computed."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kernels.contract import Footprint, Presets, Work, whole
from kernels.spectral.grids import grid
from kernels.spectral.legendre import table_bytes
from kernels.spectral.plan import LARGEST_TRUNCATION


@dataclass(frozen=True)
class Problem(Presets):
    """Triangular truncation, grid and number of fields (levels times variables)."""

    truncation: whole(1, LARGEST_TRUNCATION) = 63  # triangular truncation, 1
    grid: str = "F48"  # Gaussian grid: F, N or O and the rows between pole and equator
    fields: whole(1, 100_000) = 8  # fields transformed at once, 1

    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {
        "quick": {"truncation": 159, "grid": "N80", "fields": 8},
        "paper": {"truncation": 1279, "grid": "N640", "fields": 137},
        "modern": {"truncation": 2559, "grid": "N1280", "fields": 24},
        "T399": {"truncation": 399, "grid": "N200", "fields": 8},
        "T799": {"truncation": 799, "grid": "N400", "fields": 8},
        "TL1279": {"truncation": 1279, "grid": "N640", "fields": 8},
        "TL2047": {"truncation": 2047, "grid": "N1024", "fields": 8},
        "TL2559": {"truncation": 2559, "grid": "N1280", "fields": 8},
    }

    def __post_init__(self):
        grid(self.grid)


def _row_lengths(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """Points of each row of one hemisphere, and the largest wavenumber that each of them carries."""
    chosen = grid(problem.grid)
    pl = chosen.pl[: chosen.N]
    return pl, np.minimum(problem.truncation, (pl - 1) // 2)


def footprint(problem: Problem) -> Footprint:
    """Fields, their spectra and the way back, tables and work space of the plan.

    The work space holds the Fourier coefficients of eight fields on both hemispheres.  What a further
    thread adds is measured: about two hundred doubles for each degree.
    """
    T, points = problem.truncation, grid(problem.grid).points
    pl, top = _row_lengths(problem)
    fields = problem.fields * (8 * points + 2 * 16 * (T + 1) * (T + 2) // 2)
    work_space = 2 * 8 * 16 * int((top + 1).sum())
    scratch = 1600 * (T + 1)
    return Footprint(fields + table_bytes(T, len(pl)) + 8 * points + work_space + scratch, each_thread=scratch)


def work(problem: Problem, threads: int = 1) -> Work:
    """Operations and bytes of one inverse and one direct transform of all fields, which threads share.

    Legendre sums: a real function times a complex coefficient, four operations for every degree,
    wavenumber and pair of rows, ``m`` up to ``(row length - 1) // 2``.  Fourier: ``2.5 n log2 n`` a row.
    That is the definition's count; near the poles a plan leaves out what does not matter, a quarter of it at T1279.
    """
    T, chosen = problem.truncation, grid(problem.grid)
    pl, top = _row_lengths(problem)
    legendre = 2 * problem.fields * 4 * int(((top + 1) * (T + 1) - top * (top + 1) // 2).sum())
    fft = 2 * problem.fields * 2 * int(np.rint((2.5 * pl * np.log2(pl)).sum()))
    spectrum = 16 * problem.fields * ((T + 1) * (T + 2) // 2)
    values = 8 * problem.fields * chosen.points
    return Work(
        flops=legendre + fft,
        bytes_read=spectrum + values,
        bytes_written=spectrum + values,
        parts=(("Legendre", legendre), ("FFT", fft)),
    )
