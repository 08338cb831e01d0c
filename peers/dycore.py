"""Whole forecasts of the baroclinic wave beside dinosaur, which solves the same equations with spherical harmonics.

Two methods need not agree to rounding: the depth of the low under the 1000 hPa of the start is compared.
"""

import contextlib
from collections.abc import Iterator

import numpy as np

from kernels.gridpoint import Problem, run, setup
from peers import Absent, Comparison, _dinosaur

#: Four days of the wave on the operational grid, by when it can be seen.
WAVE = Problem.preset("paper", hours=96.0, writeup=0.0)
#: Largest difference of the depths, relative.
TOLERANCE = 0.15


def depth(pressure) -> float:
    """How far the lowest surface pressure lies below that of the start, Pa."""
    return 1e5 - float(np.min(pressure))


def versions() -> dict[str, str]:
    """dinosaur's and jax's version."""
    with contextlib.suppress(ImportError):
        return {"dinosaur": _dinosaur.version()}
    return {}


def comparisons(threads: int) -> Iterator[Comparison | Absent]:
    """On one thread: jax keeps the number that it began with."""
    if threads > 1:
        return
    try:
        theirs = _dinosaur.wave(WAVE.levels, WAVE.hours / 24)
    except ImportError as error:
        yield Absent("dinosaur", f"{error.name} is not installed; pip install dinosaur-dycore")
        return
    start = setup(WAVE)
    yield Comparison(
        group="baroclinic wave",
        label=f"{WAVE.hours / 24:.0f} days, {WAVE.ni} × {WAVE.nj} points or truncation 42, {WAVE.levels} levels",
        ours=lambda: run(WAVE, start).fields["ps"],
        peers={"dinosaur": theirs},
        check=lambda mine, other: abs(depth(mine) / depth(other) - 1),
        tolerance=TOLERANCE,
    )
