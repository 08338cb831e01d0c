"""The out-of-core grid-point forecast of 1982: dry hydrostatic primitive equations whose state lives in work files.

C grid in longitude and latitude, sigma levels, leapfrog with semi-implicit gravity waves, in the manner of ECMWF's
first operational model (Burridge and Haseler, ECMWF Technical Report 4, 1977; Simmons, Hoskins and Burridge, Mon.
Weather Rev. 106, 1978).  Modules, from what is asked for to what is computed:

``problem``, ``levels``, ``cases``, ``plan``        sizes, levels and latitudes, initial states, coefficients
``layout``                                        where the numbers of a row lie, in memory and in its record
``rows``, ``tendencies``, ``helmholtz``, ``physics``  the compiled stages of a row; column work and radiation
``scan``                                          their order
``stores``                                        work files, and drivers that move records
``state``, ``model``, ``writeup``, ``postprocess``  the forecast, what it writes up, the job that reads it
``simulator``                                     a stand-in that computes for as long and moves as much
``reference``, ``verification``, ``daily``        whole arrays in NumPy; conserved integrals; published cases
"""

import math
from dataclasses import replace

from kernels.contract import Check, worst
from kernels.gridpoint import cases
from kernels.gridpoint import reference as _reference
from kernels.gridpoint.levels import GRAVITY
from kernels.gridpoint.model import Model, run
from kernels.gridpoint.problem import Problem
from kernels.gridpoint.state import Result, State, Step, footprint, record_bytes, setup, work
from kernels.gridpoint.verification import NO_OUTPUT, properties
from kernels.proof import Proof, ReferenceCache

#: Operations up to which ``verify`` compares every number with whole arrays in NumPy, a second's work.
COMPARED = 2e8
#: How far apart these are, of the largest number of a field.
_APART = 1e-10
#: m/s: a wind that is no more than this is none.
_STILL = 1e-2
_KNOWN = ReferenceCache()


def reference(problem: Problem, state: State) -> Result:
    """The same forecast by whole arrays in NumPy (``reference``): small grids only; its times are NaN."""
    fields = _reference.forecast(problem, state.fields)
    return Result(fields, problem.steps, initial=state, clock=math.nan, cpu=math.nan)


def _by_reference(problem: Problem, result: Result) -> list[Check]:
    """Every number of a forecast from its start against whole arrays, where these take no longer than a second."""
    start = result.initial
    if start is None or work(problem).flops > COMPARED:
        return []
    known = _KNOWN.of(problem, start, lambda: reference(problem, start).fields)
    checks = []
    for name, found in result.fields.items():
        expected = known.get(name, start.fields[name])
        size = worst(expected, _STILL) if name[0] in "uv" else worst(expected)
        off = worst(found - expected) / (size or 1.0)
        checks.append(Check.near(f"{name} against whole arrays, of its largest", off, 0.0, _APART))
    return checks


def verify(problem: Problem, result: Result) -> list[Check]:
    """Conserved integrals and what the case promises (``verification``), and every number of a small forecast."""
    return properties(problem, result) + _by_reference(problem, result)


def BOUNDED(problem: Problem) -> dict[str, tuple[float | None, str]]:
    """What is known of the numbers of a forecast, and of winds that its case does not have."""
    why = (
        "of forecasts up to 2·10⁸ operations, which are compared with whole arrays in NumPy; of longer ones no "
        "integral that the equations conserve fixes a number of its own, and NaN and infinity alone are noticed"
    )
    still = {"steady": ("v",), "rest": ("u", "v")}.get(problem.case, ())
    winds = [f"fields['{name}{level}']" for name in still for level in ("", "_before")]
    none = None, f"winds of the case {problem.case!r} are rounding, and known to a part of the winds elsewhere"
    return {"fields": (2 * _APART, why), **dict.fromkeys(winds, none)}


def _mountain(problem: Problem, state: State, result: Result) -> list[Check]:
    """The mountain under air at rest, whose formula forecast and reference share, by vectors."""
    problem = replace(problem, case="rest", mountain=2000.0)
    off = worst(cases.initial(problem)["phis"] / GRAVITY - _reference.mountain(problem))
    return [Check.near("height of the mountain, m", off, 0.0, 1e-6)]


PROOF = Proof(
    {"ni": 32, "nj": 12, "levels": 2, "hours": 3.0, "radiation": 1.0},
    each={
        "case": ("wave", "steady", "rest"),
        "physics": (False, True),
        "files": (0, 1, 2, 4),
        "rhs": ("memory", "files"),
    },
    only={"files": ("case", ("wave",)), "rhs": ("case", ("wave",))},
    within={"fields": 3e-11},  # of air at rest, which only the physics moves; else a tenth of it
    not_compared=("initial", "steps", "computing", "counters"),
    also=_mountain,
)
