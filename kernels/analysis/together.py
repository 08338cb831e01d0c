"""An analysis while a forecast runs on the other CPU, as in the report's last tests of both (section 6.4)."""

import os
import tempfile
from contextlib import contextmanager
from dataclasses import asdict

from kernels.analysis import run
from kernels.gridpoint.jobs import Worker
from kernels.runtime.resources import affinity_cpus


@contextmanager
def _bound(cpu: int):
    """This thread on one CPU."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, [cpu])
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def require_two() -> list[int]:
    """Two CPUs of this process.

    Raises
    ------
    ValueError
        If there is one, or the system binds nothing to a CPU.
    """
    if not hasattr(os, "sched_setaffinity"):
        raise ValueError("an analysis beside a forecast needs both bound to CPUs, which this system does not offer")
    cpus = affinity_cpus()
    if len(cpus) < 2:
        raise ValueError("an analysis beside a forecast needs two CPUs, one may be used; give the process a second one")
    return cpus[:2]


def beside(problem, state, forecast):
    """Both at once, started together: the result of the analysis, and the answer of the forecast's process.

    ``forecast`` is a ``gridpoint.Problem`` without write-ups, or None for the analysis alone on its CPU.
    """
    first, second = require_two()
    if forecast is None:
        with _bound(second):
            return run(problem, state), None
    worker = Worker([first])
    try:
        with tempfile.TemporaryDirectory(prefix="analysis-beside-") as keep, _bound(second):
            order = {"kind": "forecast", "problem": asdict(forecast), "keep": keep, "name": "forecast"}
            worker.ask(order | {"warm": True})
            worker.wait()
            worker.ask(order)
            worker.wait()  # ready
            worker.ask({})
            result = run(problem, state)
            return result, worker.wait()
    finally:
        worker.close()


def alone(forecast) -> dict:
    """The forecast alone on its CPU: the answer of its process."""
    worker = Worker([require_two()[0]])
    try:
        with tempfile.TemporaryDirectory(prefix="analysis-beside-") as keep:
            order = {"kind": "forecast", "problem": asdict(forecast), "keep": keep, "name": "forecast"}
            worker.ask(order | {"warm": True})
            worker.wait()
            worker.ask(order)
            worker.wait()
            worker.ask({})
            return worker.wait()
    finally:
        worker.close()
