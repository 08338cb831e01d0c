"""N6 and N7 with the solver running: processes that write its solution by points, or by rows in groups."""

from collections.abc import Sequence
from statistics import median
from typing import Any

from companion.bench import Case, Measurement
from companion.experiments import cases_of, column, outputs_of

#: Grid and processes that write points, by preset.
ELEMENTS: dict[str, tuple[dict[str, Any], tuple[int, ...]]] = {
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
    named = {name: getattr(problem, name) for name in ("N", "NS", "IW", "P")}
    return [Case(f"{problem.P} processes, N = {problem.N}", nodes, problem, threads, named, _observe)]


@outputs_of("nht1-grouped")
def _curve(measurements: Sequence[Measurement]) -> dict[str, dict]:
    """T_T of the whole run against the size of the group, with its spread, and T_C of the same steps."""
    (one,) = measurements
    times = {int(name.split()[1]): found for name, found in one.observed.items() if name.startswith("group ")}
    along = "group_size"
    return {
        "group": column(list(times), "1", "processes that write at a time", along),
        "group_low": column([min(found) for found in times.values()], "s", "T_T, least sample", along),
        "group_median": column([median(found) for found in times.values()], "s", "T_T, median", along),
        "group_high": column([max(found) for found in times.values()], "s", "T_T, largest sample", along),
        "T_C": column(median(one.observed["T_C"]), "s", "the same steps without writing, median"),
    }


@cases_of("nht1-elements")
def _elements(preset: str, threads: int) -> list[Case]:
    """Points of 40 bytes from more and more processes, the solver waiting for them or not."""
    from kernels.files import nodes

    size, counts = ELEMENTS[preset]
    problems = [
        nodes.Problem(**size, P=P, groups=(P,), unit="element", asynchronous=later)
        for P in counts
        for later in (False, True)
    ]
    return [
        Case(
            f"N = {each.N}, {each.P} process{'es' if each.P > 1 else ''}, {'a' * each.asynchronous}synchronous",
            nodes,
            each,
            threads,
            {"N": each.N, "P": each.P, "asynchronous": each.asynchronous, "dumps": each.dumps},
            _observe,
        )
        for each in problems
    ]


@outputs_of("nht1-elements")
def _points(measurements: Sequence[Measurement]) -> dict[str, dict]:
    """T_T, T_C and zeta of every number of processes, medians and ends of the samples; time of one point."""
    from kernels.files.formulas import overhead

    T_T = [m.observed[f"group {m.parameters['P']}"] for m in measurements]
    T_C = [median(m.observed["T_C"]) for m in measurements]
    points = [m.parameters["dumps"] * m.parameters["N"] ** 3 for m in measurements]

    def along(values, units, long_name):
        return column(list(values), units, long_name, "writing")

    return {
        "points_P": along((m.parameters["P"] for m in measurements), "1", "processes that write"),
        "points_asynchronous": along(
            (int(m.parameters["asynchronous"]) for m in measurements), "1", "1: solver goes on"
        ),
        "points_T_C": along(T_C, "s", "the same steps without writing, median"),
        "points_T_T": along(map(median, T_T), "s", "elapsed time with writing, median"),
        "points_low": along(map(min, T_T), "s", "elapsed time with writing, least"),
        "points_high": along(map(max, T_T), "s", "elapsed time with writing, largest"),
        "points_zeta": along((overhead(median(t), c) for t, c in zip(T_T, T_C, strict=True)), "1", "T_T/T_C - 1"),
        "points_each": along(
            ((median(t) - c) / n for t, c, n in zip(T_T, T_C, points, strict=True)), "s", "(T_T - T_C) a point"
        ),
    }
