"""Sections 8.2 and 8.3 on simulated memory banks: a kernel fitted to Fig. 8.2, and what follows from it.

The listing of the report's kernel does not survive.  A loop with two loads and a store in every cycle is
taken instead; the cycles between its strips, the cycles before its store, and the banks in which its arrays
begin are searched for on a grid (:data:`GRID`), the same for both jobs.  All of it is simulated.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from companion import tables
from companion.chapters import outputs_of
from companion.late import pd

#: What is searched: cycles of overhead and of latency, first banks of the second load and of the store.
GRID = {"overhead": (8, 16, 24), "latency": (12, 20, 28), "bank_b": tuple(range(16)), "bank_c": tuple(range(16))}
RUNS = ("alone", "first of two", "second of two")
#: Banks and CPUs of the predictions; the report tested two numbers of banks and at most two CPUs.
BANKS, _CPUS = (8, 16, 32, 64), (1, 2, 4)
#: Strides of the table of endless streams.
STRIDES = (1, 2, 3, 4, 5, 6, 8, 12, 16, 32)
#: Shares of the time that the mixed job spends in the heavy loop when it is alone.
SHARES = (0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.5, 1.0)
_SEARCHED, _PASSES = 1000, 4000  # strips of each job
_HEAVY_STRIPS = 8  # strips of the heavy loop in a row of the mixed job


def ends(count: int, cpus: int, job) -> np.ndarray:
    """Cycles after which each of ``cpus`` equal jobs has ended, in order of their ends."""
    from kernels.memory import banks

    problem = banks.Problem(banks=count, jobs=cpus * (job,))
    return np.sort(banks.run(problem, banks.setup(problem)).ends)


def ratios(job, full: int, half: int) -> np.ndarray:
    """Times in ``half`` of the banks, alone and of two, over the time alone in all of them."""
    base = ends(full, 1, job)[0]
    return np.array([*ends(half, 1, job), *ends(half, 2, job)]) / base


def printed() -> tuple[np.ndarray, int, int]:
    """The three ratios of Fig. 8.2, and the numbers of banks."""
    cpu = tables.load("xmp1982", "fig8_2")["cpu"]
    full, half = (int(count) for count in cpu["banks"].values)
    times = [cpu.sel(banks=half, jobs=jobs, job=job) for jobs, job in ((1, 1), (2, 1), (2, 2))]
    return np.array(times, float) / float(cpu.sel(banks=full, jobs=1, job=1)), full, half


def search() -> tuple[list[dict], np.ndarray]:
    """Every point of the grid with its largest relative departure from the printed ratios, and these."""
    from kernels.memory import banks

    wanted, full, half = printed()
    found = []
    for point in product(*GRID.values()):
        overhead, latency, b, c = point
        job = banks.Job((banks.Loop(overhead=overhead, latency=latency),), (0, b, c), _SEARCHED)
        departures = np.abs(ratios(job, full, half) / wanted - 1)
        found.append({**dict(zip(GRID, point, strict=True)), "departure": float(departures.max())})
    return sorted(found, key=lambda one: one["departure"]), wanted


def _job(best: dict, passes: int = _PASSES):
    from kernels.memory import banks

    loop = banks.Loop(overhead=best["overhead"], latency=best["latency"])
    return banks.Job((loop,), (0, best["bank_b"], best["bank_c"]), passes)


def _mixed(job, share: float):
    """A job that spends ``share`` of its time in the heavy loop and computes without memory for the rest."""
    from kernels.memory import banks

    heavy = replace(job.loops[0], strips=_HEAVY_STRIPS)
    cycles = _HEAVY_STRIPS * (heavy.vector + heavy.overhead)
    pause = round(cycles * (1 - share) / share)
    nothing = banks.Loop((None, None, None), vector=1, overhead=pause)
    return replace(job, loops=(heavy, nothing) if pause else (heavy,), passes=500)


def predictions(job) -> np.ndarray:
    """(banks, CPUs, first and last) times over the time of one job alone in the full number of banks."""
    _wanted, full, _half = printed()
    base = ends(full, 1, job)[0]
    found = [[ends(count, cpus, job)[[0, -1]] / base for cpus in _CPUS] for count in BANKS]
    return np.array(found)


def usual() -> dict:
    """The usual memory and its loop, as plain values for a page that simulates them itself."""
    from kernels.memory import banks

    problem, loop = banks.Problem(), banks.HEAVY
    return {
        "waits": banks.WAITS,
        **{name: getattr(problem, name) for name in ("busy", "sections", "lines")},
        "loop": {name: getattr(loop, name) for name in ("vector", "overhead", "latency")},
        "starts": problem.jobs[0].starts,
        "start": {"banks": problem.banks, "cpus": problem.cpus, "stride": loop.strides[0]},
    }


def streams() -> pd.DataFrame:
    """Words a clock period of one endless stream, and of two with the same stride, by stride and banks, exactly."""
    from kernels.memory import banks

    rows = []
    for stride in STRIDES:
        row = {"stride": float(stride)}
        for count, cpus in product(BANKS, (1, 2)):
            jobs = tuple(banks.stream(stride, cpu) for cpu in range(cpus))
            name = f"{count} banks, {cpus} stream{'s' if cpus > 1 else ''}"
            row[name] = float(banks.bandwidth(banks.Problem(banks=count, jobs=jobs)))
        rows.append(row)
    return pd.DataFrame(rows).astype({"stride": int})


@outputs_of("xmp1982-banks")
def outputs(_measurements) -> dict[str, Any]:
    """The search, its best point, predictions, and the mixed job."""
    ranked, wanted = search()
    best, job = ranked[0], _job(ranked[0])
    _wanted, full, half = printed()
    mixed = np.array([ratios(_mixed(job, share), full, half) for share in SHARES])
    departures = np.array([one["departure"] for one in ranked])
    near = np.stack([predictions(_job(one))[..., -1] for one in ranked if one["departure"] <= 0.02])
    return {
        "searched": len(ranked),
        "within_2_percent": int((departures <= 0.02).sum()),
        "largest_departure": best["departure"],
        **{name: best[name] for name in GRID},
        "run": list(RUNS),
        "fitted_ratio": ratios(job, full, half),
        "predicted_banks": list(BANKS),
        "predicted_cpus": list(_CPUS),
        "predicted_ratio": predictions(job),
        "least_ratio": near.min(0),
        "most_ratio": near.max(0),
        "heavy_share": list(SHARES),
        "mixed_ratio": mixed,
    }
