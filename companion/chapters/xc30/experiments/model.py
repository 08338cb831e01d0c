"""The small spectral model on the talk's grids: costs, sections, aliasing."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import median
from typing import Any

import numpy as np

from companion.bench import Case, Measurement
from companion.chapters import cases_of, of, outputs_of
from companion.host import machine
from companion.labels import plural

#: The talk's pairs of truncation and grid, by the names that the kernels know.
RESOLUTIONS = ("TL1279", "TL2047", "TQ1364", "TC1023", "TL2559", "TQ1706", "TC1279")
#: What the small model's time steps consist of; output belongs to steps of its own.
STEP_SECTIONS = ("inverse transforms", "grid-point", "direct transforms", "spectral")
#: What threads do, as the model books it, and in words.
SPLIT = {"computing": "computing", "waiting": "waiting at barriers", "serial": "serial work"}
#: Operations counted by the model, by the section that performs them.
_COUNTED = {"transforms": ("Legendre", "FFT"), "grid-point": ("grid-point",), "spectral": ("spectral",)}


def named(name: str, part: int, steps: int):
    """A resolution of the talk, its truncation and rows divided by ``part``, cut to a few steps."""
    from kernels import shallow_water

    full = shallow_water.Problem.preset(name)
    rows = int(full.grid[1:]) // part
    return replace(
        full,
        truncation=full.truncation // part,
        grid=f"{full.grid[0]}{rows}",
        dt=part * full.dt,
        hours=steps * part * full.dt / 3600.0,
    )


def _fits(problem) -> bool:
    """Whether the small model's work space takes less than half of the memory that is free."""
    from kernels.shallow_water import footprint

    free = machine.available_memory()
    return free is None or footprint(problem).memory < 0.5 * free


@cases_of("xc30-resolutions")
def resolutions(preset: str, threads: int) -> list[Case]:
    """A few steps on each of the seven grids; at ``quick`` on grids of an eighth of the rows."""
    from kernels import shallow_water

    part, steps = {"quick": (8, 4), "paper": (1, 2), "modern": (1, 4)}[preset]
    cases = []
    for name in RESOLUTIONS:
        problem = named(name, part, steps)
        if _fits(problem):
            label = f"{name[:2]}{problem.truncation} on {problem.grid}"
            parameters = {"resolution": name, "part": part, "steps": steps, **of(problem, "truncation", "grid")}
            cases.append(Case(label, shallow_water, problem, threads, parameters, lambda result: dict(result.seconds)))
    return cases


def _best(measurement: Measurement, section: str) -> float:
    """Least seconds of one section in one step."""
    return min(measurement.observed[section]) / (measurement.repeats * measurement.parameters["steps"])


def _by_kind(measurement: Measurement) -> dict[str, float]:
    """Least seconds of one step by kind of work: what the operations are counted by."""
    return {
        "transforms": _best(measurement, "inverse transforms") + _best(measurement, "direct transforms"),
        "grid-point": _best(measurement, "grid-point"),
        "spectral": _best(measurement, "spectral"),
    }


def work_model(measurement: Measurement) -> dict[str, float]:
    """Seconds of one step of each resolution of the talk, from the rates of one measured case.

    ``Σ operations of the kind / rate of the kind``, kinds being transforms, grid-point and spectral work.
    """
    from kernels import shallow_water

    done = measurement.work["parts"]
    steps = measurement.parameters["steps"]
    rates = {
        kind: sum(done[part] for part in _COUNTED[kind]) / steps / seconds
        for kind, seconds in _by_kind(measurement).items()
    }
    found = {}
    for name in RESOLUTIONS:
        parts = dict(shallow_water.work(named(name, 1, 1)).parts)
        found[name] = sum(sum(parts[part] for part in _COUNTED[kind]) / rate for kind, rate in rates.items())
    return found


@outputs_of("xc30-resolutions")
def costs(measurements: Sequence[Measurement]) -> dict[str, Any]:
    """Measured seconds of a step, and apart from them what the work model says of the full sizes."""
    largest = max(measurements, key=lambda m: m.work["flops"] / m.parameters["steps"])
    model = work_model(largest)
    return {
        "measured_resolution": [m.parameters["resolution"] for m in measurements],
        "measured_label": [m.label for m in measurements],
        "measured_step": [sum(_by_kind(m).values()) for m in measurements],
        "model_resolution": list(model),
        "model_step": list(model.values()),
        "model_from": largest.label,
    }


@cases_of("xc30-sections")
def sections(preset: str, threads: int) -> list[Case]:
    """A forecast with output: three hours of the small model, fields written every hour."""
    from kernels import shallow_water

    part = {"quick": 8, "paper": 2, "modern": 1}[preset]
    problem = replace(named("TL1279", part, 1), hours=3.0, output=1.0, accounts=True)
    return [
        Case(
            f"T{problem.truncation} on {problem.grid}, {plural(count, 'thread')}",
            shallow_water,
            problem,
            count,
            {"truncation": problem.truncation, "grid": problem.grid, "forecast_hours": problem.hours},
            lambda result: {**result.seconds, **result.split},
        )
        for count in sorted({1, threads})
    ]


def _class_columns(measurements: Sequence[Measurement]) -> dict[str, Any]:
    """What the threads of each run did in its time: median, least and largest sample."""
    split = [[[seconds / m.repeats for seconds in m.observed[name]] for name in SPLIT] for m in measurements]
    return {
        "run_label": [m.label for m in measurements],
        "run_threads": [m.threads for m in measurements],
        "class_name": list(SPLIT.values()),
        "class_seconds": [[median(seconds) for seconds in one] for one in split],
        "class_low": [[min(seconds) for seconds in one] for one in split],
        "class_high": [[max(seconds) for seconds in one] for one in split],
    }


@outputs_of("xc30-sections")
def section_table(measurements: Sequence[Measurement]) -> dict[str, Any]:
    """Seconds of each section in the sample of least total, and the rest that no section accounts for."""
    names, rows = (*STEP_SECTIONS, "output"), []
    for m in measurements:
        best = int(np.argmin(m.samples))
        rows.append([m.observed[name][best] / m.repeats for name in names])
        rows[-1].append(max(0.0, m.samples[best] - sum(rows[-1])))
    return {"section_name": [*names, "rest"], "section_seconds": rows, **_class_columns(measurements)}


# --- aliasing: a result of the small model, not a time ----------------------------------------------


@cases_of("xc30-aliasing")
def aliasing(preset: str, threads: int) -> list[Case]:
    """An unstable jet at one truncation on the linear, the quadratic and the cubic grid.

    The maps are drawn after ``forecast_hours``.
    """
    from kernels import shallow_water

    truncation, dt = {"quick": (63, 900.0), "paper": (127, 450.0), "modern": (255, 225.0)}[preset]
    cases = []
    for relation in ("linear", "quadratic", "cubic"):
        problem = shallow_water.Problem(
            truncation=truncation,
            case="galewsky",
            dt=dt,
            hours=144.0,
            diffusion=48.0,
            grid=shallow_water.grid_for(truncation, relation),
        )
        cases.append(
            Case(
                f"T{truncation}, {relation} grid {problem.grid}",
                shallow_water,
                problem,
                threads,
                {"relation": relation, "grid": problem.grid, "truncation": truncation, "forecast_hours": problem.hours},
            )
        )
    return cases


@outputs_of("xc30-aliasing")
def maps(measurements: Sequence[Measurement]) -> dict[str, Any]:
    """Vorticity of the northern mid-latitudes at the end, and spectra, for each grid."""
    from kernels import shallow_water

    first = measurements[0]
    ends = {m.parameters["relation"]: m.result for m in measurements}
    found = shallow_water.compare_grids(first.problem, ends, first.threads)
    drawn = next(iter(found.values()))
    rows = (drawn.latitude > 20) & (drawn.latitude < 80)
    every = max(1, drawn.longitude.size // 256)
    return {
        "latitude": drawn.latitude[rows][::every],
        "longitude": drawn.longitude[::every],
        "matching": list(found),
        "matching_name": [one.grid for one in found.values()],
        # five digits of the largest are more than a map shows, and keep the record small
        "vorticity": [one.vorticity[rows][::every, ::every].round(9) for one in found.values()],
        "degree": np.arange(drawn.enstrophy.size),
        "enstrophy": [one.enstrophy for one in found.values()],
        "product_error": [one.product_error for one in found.values()],
    }
