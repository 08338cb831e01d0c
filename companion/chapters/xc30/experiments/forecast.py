"""C2, C3, P13: a whole forecast of the small model; its time, its share of peak, and what it is made of."""

from dataclasses import replace

from companion.bench import Case
from companion.chapters import cases_of
from companion.chapters.xc30.experiments import model
from companion.labels import plural


@cases_of("xc30-forecast")
def _cases(preset: str, threads: int) -> list[Case]:
    """A forecast of the small model with an output step every two hours, and the peak of as many threads.

    At ``paper`` the talk's ten days, with about as many output steps, at a fifth of its truncation and rows: at its
    truncation one sample would take hours.
    """
    from kernels import shallow_water
    from kernels.processor import peak

    part, days = {"quick": (8, 1), "paper": (5, 10), "modern": (2, 10)}[preset]
    problem = replace(model.named("TL1279", part, 1), hours=24.0 * days, output=2.0, accounts=True)
    named = {"truncation": problem.truncation, "days": days, "time_step": problem.dt, "steps": problem.steps}
    team = plural(threads, "thread")
    label = f"T{problem.truncation} on {problem.grid}, {team}"
    return [
        Case(label, shallow_water, problem, threads, {"what": "forecast", **named}, _accounted),
        Case(f"peak, {team}", peak, peak.Problem.preset(preset), threads, {"what": "peak", **dict.fromkeys(named, 0)}),
    ]


def _accounted(result) -> dict[str, float]:
    """Seconds by section and by what the threads did, and calls and seconds of each compiled region."""
    found = {**result.seconds, **result.split}
    for name, (calls, seconds) in result.parts.items():
        found |= {f"calls of {name}": calls, f"seconds of {name}": seconds}
    return found
