"""A forecast that is looked at every day: surface pressure, temperature as it is delivered, conserved integrals.

Jablonowski and Williamson (Q. J. R. Meteorol. Soc. 132, 2006) measure their wave by its surface pressure.  ``run`` is
that of the package, with a write-up a day to look at.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from kernels.contract import Check
from kernels.gridpoint import integrals, postprocess, properties, writeup
from kernels.gridpoint.model import run as forecast
from kernels.gridpoint.problem import Problem
from kernels.gridpoint.state import Result, footprint, setup, work

__all__ = ["Daily", "footprint", "run", "setup", "verify", "work"]

#: Bounds on the lowest surface pressure of the wave at 192 × 96 points and 15 levels by day, hPa.  The models of the
#: paper, on finer grids, reach about 940 hPa on day 9; dinosaur with truncation 42 and these levels has 986, 970, 947
#: and 925 hPa on days 7 to 10.
WAVE = {7: (982.0, 992.0), 8: (966.0, 978.0), 9: (940.0, 955.0), 10: (920.0, 935.0)}


@dataclass(frozen=True)
class Daily:
    """The forecast, and what its start and each day showed."""

    result: Result
    days: np.ndarray  # float64 (n,)
    series: dict[str, np.ndarray] = field(repr=False)  # float64 (n,): change of mass, energy, momentum over the start's
    pressure: np.ndarray = field(repr=False)  # float64 (n, nj, ni): surface pressure, hPa
    warmth: np.ndarray = field(repr=False)  # float64 (n, nj, ni): temperature at 850 hPa, K, from the packed files


def run(problem: Problem, state, threads: int = 1, repeats: int = 1) -> Daily:
    """As ``gridpoint.run``, with what each day's write-up shows."""
    start, days, sums, pressure, warmth = integrals(problem, state.fields), [], [], [], []

    def look(path):
        fields, header = writeup.read(path)
        days.append(header["time"] / 86400)
        sums.append(integrals(problem, fields))
        pressure.append(fields["ps"] / 100)
        packed = path.with_name("packed")
        postprocess.run(path, packed)
        delivered = postprocess.unpack(packed.read_bytes(), problem.ni)
        warmth.append(delivered[:, postprocess.NAMES.index("T"), postprocess.PRESSURES.tolist().index(85_000)])
        path.unlink()

    result = forecast(replace(problem, writeup=24.0), state, threads, 1, look)
    series = dict(zip(start._fields, np.array(sums).T / np.array(start)[:, None] - 1, strict=True))
    return Daily(result, np.array(days), series, np.array(pressure), np.array(warmth))


def verify(problem: Problem, daily: Daily) -> list[Check]:
    """What every forecast promises, and at the operational size what the published wave shows."""
    checks = properties(problem, daily.result)
    if (problem.ni, problem.nj, problem.levels, problem.case) == (192, 96, 15, "wave"):
        for day, pressure in zip(daily.days, daily.pressure, strict=True):
            if day in WAVE:
                low, high = WAVE[day]
                name = f"lowest surface pressure on day {day:g}, hPa"
                checks.append(Check.near(name, pressure.min(), (low + high) / 2, (high - low) / 2))
    return checks
