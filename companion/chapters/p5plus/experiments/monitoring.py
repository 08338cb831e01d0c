"""P8: a monitoring system beside a loop with barriers, on threads here and simulated for the largest job of then."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from companion.bench import Case, Measurement
from companion.chapters import cases_of, of, outputs_of
from companion.host import machine
from companion.labels import plural

_PERIOD = 60.0  # s: the report's "every minute"
#: Assumptions of the simulation, which the report does not give.
_DT, _STEPS, _DRIFT = 1e-3, (600, 6000, 60000), 2e-5  # s, barriers a minute, s/s of a clock
_HOURS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 24.0)


@cases_of("p5plus-monitoring")
def _cases(preset: str, threads: int) -> list[Case]:
    """The loop undisturbed, disturbed together and disturbed in turn, on one CPU and on more."""
    from kernels.processor import disturbance

    most, cases = min(machine.usable_cpus(), 16), []
    for count in sorted({1, 2, most} & set(range(1, most + 1))):
        for pattern in disturbance.PATTERNS:
            problem = disturbance.Problem.preset(preset, pattern=pattern)
            label, parameters = (
                f"{pattern}, {plural(count, 'thread')}",
                of(problem, "pattern", "steps", "period", "extra"),
            )
            cases.append(Case(label, disturbance, problem, count, parameters, _means))
    return cases


def _means(result) -> dict[str, float]:
    return {"computing": result.computing.mean(), "waiting": result.waiting.mean()}


@outputs_of("p5plus-monitoring")
def _lost(measurements: Sequence[Measurement]) -> dict[str, Any]:
    """Time that a period loses to disturbances, in multiples of what one thread alone loses (dt)."""
    by = {(m.threads, m.parameters["pattern"]): m for m in measurements}
    counts = sorted({m.threads for m in measurements})

    def lost(count, pattern):
        quiet, found = by[count, "undisturbed"], by[count, pattern]
        return (found.minimum - quiet.minimum) / (found.parameters["steps"] // found.parameters["period"])

    dt = lost(1, "synchronised")
    return {
        "team_threads": counts,
        "dt": dt,
        "lost_synchronised": (lost(n, "synchronised") / dt for n in counts),
        "lost_drifted": (lost(n, "drifted") / dt for n in counts),
        "waiting_drifted": (min(by[n, "drifted"].observed["waiting"]) for n in counts),
    }


@outputs_of("p5plus-monitoring-simulated")
def _simulated(measurements: Sequence[Measurement]) -> dict[str, Any]:
    """Loss a minute against processors, moments spread over the minute; and against hours, as clocks drift apart.

    The curve ends at the report's largest job; the clocks that drift are those of its analysis, which it saw slow down.
    """
    from companion import tables
    from kernels.processor.disturbance import simulate

    most = int(tables.load("p5plus", "run_2112")["cpus"])
    job = int(tables.load("p5plus", "ifs_times")["cpus"].sel(job="4D-Var"))
    processors = [*(2**power for power in range(most.bit_length())), most]

    def draw(number):
        return np.random.default_rng(number).uniform(0, _PERIOD, most)

    drawn = [draw(number) for number in range(5)]
    spread = [[np.mean([simulate(phases[:n], _DT, _PERIOD / steps, _PERIOD) for phases in drawn]) / _DT
               for n in processors] for steps in _STEPS]  # fmt: skip
    rates = _DRIFT * np.random.default_rng(5).standard_normal(job)
    hours = [[simulate((_PERIOD / 2 + 3600 * hour * rates) % _PERIOD, _DT, _PERIOD / steps, _PERIOD) / _DT
              for hour in _HOURS] for steps in _STEPS]  # fmt: skip
    return {
        "processors": processors,
        "barriers": list(_STEPS),
        "lost": spread,
        "hours": list(_HOURS),
        "lost_after": hours,
        "job": job,
        "drift": 1e6 * _DRIFT,
        "assumed_dt": _DT,
    }
