"""C2, C3, P13: a whole forecast of the small model; its time, its share of peak, and what it is made of."""

from collections.abc import Sequence
from dataclasses import replace

from companion.bench import Case, Measurement
from companion.chapters.xc30.experiments import model
from companion.experiments import Experiment, register
from companion.labels import counted


def _cases(preset: str, threads: int) -> list[Case]:
    """A whole forecast with output: ten days of the small model (one at ``quick``), and the peak beside it."""
    from kernels import shallow_water
    from kernels.processor import peak

    part, days = {"quick": (8, 1), "paper": (5, 10), "modern": (2, 10)}[preset]
    problem = replace(model.named("TL1279", part, 1), hours=24.0 * days, output=2.0, accounts=True)
    cases = []
    for count in model.counts(threads):
        named = {"truncation": problem.truncation, "days": days, "time_step": problem.dt, "steps": problem.steps}
        label = f"T{problem.truncation} on {problem.grid}, {counted(count, 'thread')}"
        cases.append(Case(label, shallow_water, problem, count, {"what": "forecast", **named}, _accounted))
        none = dict.fromkeys(named, 0)
        cases.append(Case(f"peak, {counted(count, 'thread')}", peak, peak.Problem(), count, {"what": "peak", **none}))
    return cases


def _accounted(result) -> dict[str, float]:
    """Seconds by section and by what the threads did, and calls and seconds of each compiled region."""
    found = {**result.seconds, **result.split}
    for name, (calls, seconds) in result.parts.items():
        found |= {f"calls of {name}": calls, f"seconds of {name}": seconds}
    return found


def _classes(measurements: Sequence[Measurement]) -> dict[str, dict]:
    """What the threads of each forecast did; the peak has no such classes."""
    return model.class_columns([m for m in measurements if m.parameters["what"] == "forecast"])


register(
    Experiment(
        "xc30-forecast",
        "xc30",
        "C2, C3, P13",
        "A whole forecast of the small model: elapsed time, share of peak, time by section and region",
        _cases,
        outputs=_classes,
        rounds=3,
        budgets={"quick": 10.0, "paper": 240.0, "modern": 1200.0},
    )
)
