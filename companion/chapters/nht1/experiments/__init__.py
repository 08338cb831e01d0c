"""Experiments of Fineberg, *Implementing the NHT-1 Application I/O Benchmark* (1993)."""

from collections.abc import Sequence
from statistics import median
from typing import Any

from companion.bench import Case, Measurement
from companion.chapters import cases_of, of, outputs_of
from companion.experiments import VERIFIERS

#: Ways of writing a chapter compares: label, way, double buffering, fsync.
_WAYS = (
    ("sequential records, one a plane", "records", False, False),
    ("one array a write", "array", False, False),
    ("five arrays, one a write", "arrays", False, False),
    ("40-byte elements", "elements", False, False),
    ("positioned arrays", "positioned", False, False),
    ("positioned arrays, fsync", "positioned", False, True),
    ("positioned arrays, asynchronous", "positioned", True, False),
    ("positioned arrays, asynchronous, fsync", "positioned", True, True),
    ("positioned arrays, several threads", "parallel", False, False),
    ("memory-mapped", "mapped", False, False),
    ("NetCDF", "netcdf", False, False),
)
#: Grid points a direction beyond which one run takes many seconds.
_LARGE = 80
#: Sizes of a preset, by the names that the benchmark's problem knows.
_SIZES = {"quick": ("small",), "paper": ("small", "medium", "paper"), "modern": ("paper", "modern")}


@cases_of("nht1-solver")
def _solver(preset: str, threads: int) -> list[Case]:
    """The classes of a preset with one thread and with all that were asked for."""
    from kernels import bt

    classes = {"quick": ("S", "W"), "paper": ("S", "W", "A", "B"), "modern": ("A", "B", "C")}[preset]
    problems = {name: bt.Problem.preset(name) for name in classes}
    return [
        Case(f"class {name}, {count} threads", bt, problem, count, {"class": name, **of(problem, "N", "NS")})
        for name, problem in problems.items()
        for count in sorted({1, threads})
    ]


def _ways(N: int, threads: int, most: int):
    """Every way of writing; on a large grid with fewer than ``most`` threads, the two that show overlap."""
    if N <= _LARGE or threads == most:
        return _WAYS
    return tuple(entry for entry in _WAYS if entry[1] == "positioned" and not entry[3])


def _observe(result) -> dict[str, float]:
    return {
        "T_T": result.T_T,
        "stalled": result.stalls.sum(),
        "transferring": result.transfers.sum(),
        "finish": result.finish_seconds,
        "R_IO": result.R_IO,
    }


@cases_of("nht1-io")
def _application(preset: str, threads: int) -> list[Case]:
    """For each size and thread count: the code without writing, then each way of writing."""
    from kernels import bt
    from kernels.files import application

    cases = []
    for size in _SIZES[preset]:
        sample = application.Problem.preset(size)
        for count in sorted({1, threads}):
            common, label = of(sample, "N", "NS", "IW"), f"N = {sample.N}, {count} threads"
            cases.append(Case(f"{label}, without writing", bt, sample.solver, count, {**common, "way": "none"}))
            for text, way, asynchronous, fsync in _ways(sample.N, count, threads):
                problem = application.Problem.preset(size, way=way, asynchronous=asynchronous, fsync=fsync)
                parameters = {**common, "way": text, **of(problem, "asynchronous", "fsync", "solution_bytes")}
                cases.append(Case(f"{label}, {text}", application, problem, count, parameters, _observe))
    return cases


@cases_of("nht1-groups")
def _groups(preset: str, threads: int) -> list[Case]:
    from kernels.files import groups

    problem = groups.Problem.preset(preset)
    label, parameters = f"{problem.P} processes, N = {problem.N}", of(problem, "P", "N", "dumps")

    def best(result) -> dict[str, float]:
        return {f"group {g}": seconds.min() for g, seconds in result.seconds.items()}

    return [Case(label, groups, problem, 1, parameters, best)]


@outputs_of("nht1-groups")
def _group_curve(measurements: Sequence[Measurement]) -> dict[str, Any]:
    observed = measurements[0].observed
    sizes = [int(name.split()[1]) for name in observed]
    return {
        "group": sizes,
        "group_seconds": map(min, observed.values()),
        "group_median": map(median, observed.values()),
    }


def _verify_solution(path) -> tuple[list[str], list]:
    """The separate verification of the report: one sequential pass over a solution file.

    ``ValueError`` where the file is no solution file, truncated, or holds values that are not finite. ``OSError`` where
    it cannot be read.

    Returns
    -------
    lines : list of str
        The diagonal u(i,i,i,m) of every dump, a value a line.
    checks : list of kernels.contract.Check
        Checksums of the dumps; where BT-IO publishes them for (N, NS, IW), the mean error norms.
    """
    from kernels.files import application
    from kernels.files.format import verification
    from kernels.files.format.netcdf import open_solution

    with open_solution(path) as solution:
        N = solution.N
    found = verification.verify_file(path, application.exact_plane(N) if N >= 3 else None)
    return list(found.lines()), [verification.checksum_check(found), *verification.mean_error_checks(found)]


VERIFIERS.append(_verify_solution)
