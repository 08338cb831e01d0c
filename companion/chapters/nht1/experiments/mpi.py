"""Experiments of the 1993 report on ranks, over MPI-IO (N1, N6, N7)."""

from companion.bench import Case
from companion.experiments import Experiment, columns, register


def _solver(preset: str, threads: int, ranks: int = 2) -> list[Case]:
    """BT on 1 rank and on all."""
    from kernels.mpi import bt

    size = {"quick": "S", "paper": "A", "modern": "B"}[preset]
    cases = []
    for used in sorted({1, ranks}):
        problem = bt.Problem.preset(size, ranks=used)
        cases.append(Case(f"class {size}, {used} ranks", bt, problem, threads, {"N": problem.N}, bt.split))
    return cases


def _application(preset: str, threads: int, ranks: int = 2) -> list[Case]:
    """Every way of writing, and none, on all ranks."""
    from kernels.mpi import application
    from kernels.mpi.files import WAYS

    cases = []
    for way in ("none", *WAYS):
        if way == "elements" and preset == "modern":
            continue  # forty million calls
        problem = application.Problem.preset(preset, way=way, ranks=ranks)
        cases.append(
            Case(
                f"N = {problem.N}, {way}",
                application,
                problem,
                threads,
                {"N": problem.N, "way": way},
                application.observe,
            )
        )
    return cases


def _overheads(measurements) -> dict[str, dict]:
    """zeta and R_IO of every way, with T_C of the same code on the same ranks."""
    from kernels.files.formulas import overhead, transfer_rate

    best = {m.parameters["way"]: min(m.observed["T_T"]) for m in measurements}
    ways = [way for way in best if way != "none"]
    problem = measurements[0].problem
    rates = [transfer_rate(problem.N, problem.NS, problem.IW, best[way]) for way in ways]

    column = columns("run")

    return {
        "run_way": column(ways, None, "way of writing over MPI-IO"),
        "T_T": column([best[way] for way in ways], "s", "elapsed time with writing, best"),
        "T_C": column([best["none"]] * len(ways), "s", "elapsed time without writing, best"),
        "R_IO": column(rates, "byte/s", "computed transfer rate"),
        "zeta": column([overhead(best[way], best["none"]) for way in ways], "1", "T_T/T_C - 1"),
    }


def _groups(preset: str, threads: int, ranks: int = 4) -> list[Case]:
    """Every group size that halves the ranks."""
    from kernels.mpi import groups

    sizes = sorted({1, ranks} | {2**n for n in range(20) if 2**n < ranks})
    problems = [groups.Problem.preset(preset, ranks=ranks, group=group) for group in sizes]
    return [
        Case(f"groups of {problem.group}", groups, problem, threads, {"group": problem.group, "N": problem.N})
        for problem in problems
    ]


_NEEDS = frozenset({"mpi"})

register(
    Experiment(
        "nht1-ranks",
        "nht1",
        "N1, N6",
        "Block-tridiagonal solver on a grid of ranks",
        _solver,
        rounds=3,
        needs=_NEEDS,
        budgets={"quick": 20.0, "paper": 300.0, "modern": 1200.0},
        ranks=2,
    )
)
register(
    Experiment(
        "nht1-mpiio",
        "nht1",
        "N1, N2, N6",
        "Application I/O over MPI-IO by way of writing",
        _application,
        outputs=_overheads,
        rounds=3,
        needs=_NEEDS,
        budgets={"quick": 20.0, "paper": 600.0, "modern": 1800.0},
        ranks=2,
    )
)
register(
    Experiment(
        "nht1-mpigroups",
        "nht1",
        "N7",
        "Write groups of ranks over MPI-IO",
        _groups,
        rounds=5,
        needs=_NEEDS,
        budgets={"quick": 15.0, "paper": 120.0, "modern": 300.0},
        ranks=4,
    )
)
