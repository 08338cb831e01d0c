"""N6 and N7 with the solver running: processes that write its solution by points, or by rows in groups."""

from collections.abc import Sequence
from statistics import median
from typing import Any

from companion.bench import Case, Measurement
from companion.chapters import cases_of, of, outputs_of

#: Grid and processes that write points, by preset.
_ELEMENTS: dict[str, tuple[dict[str, Any], tuple[int, ...]]] = {
    "quick": ({"N": 12}, (1, 2)),
    "paper": ({"N": 64, "NS": 20}, (1, 2, 4, 8, 16)),
    "modern": ({"N": 128, "NS": 20}, (1, 2, 4, 8, 16)),
}


def _observe(result) -> dict[str, float]:
    """Best times, since a sample may hold several repeats."""
    return {"T_C": result.T_C.min(), **{f"group {g}": seconds.min() for g, seconds in result.T_T.items()}}


@cases_of("nht1-grouped")
def _grouped(preset: str, threads: int) -> list[Case]:
    from kernels.files import nodes

    problem = nodes.Problem.preset(preset)
    named = of(problem, "N", "NS", "IW", "P")
    return [Case(f"{problem.P} processes, N = {problem.N}", nodes, problem, threads, named, _observe)]


@outputs_of("nht1-grouped")
def _curve(measurements: Sequence[Measurement]) -> dict[str, Any]:
    """T_T of the whole run against the size of the group, with its spread, and T_C of the same steps."""
    (one,) = measurements
    times = {int(name.split()[1]): found for name, found in one.observed.items() if name.startswith("group ")}
    return {
        "group": list(times),
        "group_low": [min(found) for found in times.values()],
        "group_median": [median(found) for found in times.values()],
        "group_high": [max(found) for found in times.values()],
        "T_C": median(one.observed["T_C"]),
    }


@cases_of("nht1-elements")
def _elements(preset: str, threads: int) -> list[Case]:
    """Points of 40 bytes from more and more processes, the solver waiting for them or not."""
    from kernels.files import nodes

    def label(problem) -> str:
        processes = f"{problem.P} process{'es' if problem.P > 1 else ''}"
        return f"N = {problem.N}, {processes}, {'a' * problem.asynchronous}synchronous"

    size, counts = _ELEMENTS[preset]
    problems = [
        nodes.Problem(**size, P=P, groups=(P,), unit="element", asynchronous=later)
        for P in counts
        for later in (False, True)
    ]
    return [
        Case(label(each), nodes, each, threads, of(each, "N", "P", "asynchronous", "dumps"), _observe)
        for each in problems
    ]


@outputs_of("nht1-elements")
def _points(measurements: Sequence[Measurement]) -> dict[str, Any]:
    """T_T, T_C and zeta of every number of processes, medians and ends of the samples; time of one point."""
    from kernels.files.formulas import overhead

    T_T = [m.observed[f"group {m.parameters['P']}"] for m in measurements]
    T_C = [median(m.observed["T_C"]) for m in measurements]
    points = [m.parameters["dumps"] * m.parameters["N"] ** 3 for m in measurements]

    return {
        "points_P": (m.parameters["P"] for m in measurements),
        "points_asynchronous": (int(m.parameters["asynchronous"]) for m in measurements),
        "points_T_C": T_C,
        "points_T_T": map(median, T_T),
        "points_low": map(min, T_T),
        "points_high": map(max, T_T),
        "points_zeta": (overhead(median(t), c) for t, c in zip(T_T, T_C, strict=True)),
        "points_each": ((median(t) - c) / n for t, c, n in zip(T_T, T_C, points, strict=True)),
    }
