"""Experiments of the 1993 report on ranks, over MPI-IO (N1, N6, N7)."""

from typing import Any

from companion.bench import Case
from companion.chapters import cases_of, counts_to, of, outputs_of, sent
from companion.labels import plural


def _case(size: str, ranks: int, threads: int) -> Case:
    from kernels.bt import ranks as bt
    from kernels.mpi import scale

    problem = bt.Problem.preset(size, ranks=ranks)
    moved = scale.bt(problem)
    parameters = {"N": problem.N, "size": size, **sent(moved)}
    return Case(f"class {size}, {plural(ranks, 'rank')}", bt, problem, threads, parameters, bt.split)


@cases_of("nht1-ranks")
def _solver(preset: str, threads: int, ranks: int = 2) -> list[Case]:
    """BT on 1 rank and on all."""
    size = {"quick": "S", "paper": "A", "modern": "B"}[preset]
    return [_case(size, used, threads) for used in sorted({1, ranks})]


@cases_of("nht1-legal")
def _legal(preset: str, threads: int, ranks: int = 4) -> list[Case]:
    """BT on every number of ranks up to those of the job that its boxes allow, for several classes."""
    from kernels.bt import ranks as bt

    cases = []
    for size in {"quick": "S", "paper": "SWA", "modern": "SWAB"}[preset]:
        for used in range(1, ranks + 1):
            try:
                bt.Problem.preset(size, ranks=used)
            except ValueError:
                continue  # boxes would be thinner than two points
            cases.append(_case(size, used, threads))
    return cases


@cases_of("nht1-mpiio")
def _application(preset: str, threads: int, ranks: int = 2) -> list[Case]:
    """Every way of writing, and none, on all ranks."""
    from kernels.files.ranks import application
    from kernels.files.ranks.shared import WAYS

    cases = []
    for way in ("none", *WAYS):
        if way == "elements" and preset == "modern":
            continue  # forty million calls
        problem = application.Problem.preset(preset, way=way, ranks=ranks)
        parameters = of(problem, "N", "way")
        cases.append(Case(f"N = {problem.N}, {way}", application, problem, threads, parameters, application.observe))
    return cases


@outputs_of("nht1-mpiio")
def _overheads(measurements) -> dict[str, Any]:
    """zeta and R_IO of every way, with T_C of the same code on the same ranks."""
    from kernels.files.formulas import overhead, transfer_rate

    best = {m.parameters["way"]: min(m.observed["T_T"]) for m in measurements}
    ways = [way for way in best if way != "none"]
    problem = measurements[0].problem
    rates = [transfer_rate(problem.N, problem.NS, problem.IW, best[way]) for way in ways]
    return {
        "run_way": ways,
        "T_T": [best[way] for way in ways],
        "T_C": [best["none"]] * len(ways),
        "R_IO": rates,
        "zeta": [overhead(best[way], best["none"]) for way in ways],
    }


@cases_of("nht1-mpigroups")
def _groups(preset: str, threads: int, ranks: int = 4) -> list[Case]:
    """Every group size that halves the ranks."""
    from kernels.files.ranks import groups

    problems = [groups.Problem.preset(preset, ranks=ranks, group=group) for group in counts_to(ranks)]
    return [
        Case(f"groups of {problem.group}", groups, problem, threads, {"group": problem.group, "N": problem.N})
        for problem in problems
    ]


@outputs_of("nht1-volume")
def _volume(measurements) -> dict[str, Any]:
    """Bytes and messages of a time step of BT's largest size, for every legal number of ranks of the curve."""
    from dataclasses import replace

    from kernels.bt import ranks as bt
    from kernels.mpi import scale

    size, found = bt.Problem.preset("B"), []
    for ranks in scale.RANKS:
        try:
            problem = replace(size, NS=1, ranks=ranks)
        except ValueError:
            continue  # boxes would be thinner than two points
        found.append((ranks, scale.bt(problem)))
    return {
        "ranks": (ranks for ranks, _ in found),
        "step_bytes": (count.bytes for _, count in found),
        "step_messages": (count.messages for _, count in found),
        "N": size.N,
    }
