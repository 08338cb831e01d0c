"""N8: the same dumps of the same file system under a fast and a slow base code."""

from collections.abc import Sequence

from companion.bench import Case, Measurement
from companion.experiments import Experiment, columns, register

#: (N, NS, IW) by preset: N = 12 on the report's schedule, the largest grid that the plain solver does in a minute, and
#: a grid of the report that the other two do, with two dumps only: the textbook solver takes 2.5 s a step there.
SIZES = {
    "quick": ((12, 20, 10),),
    "paper": ((12, 60, 10), (24, 20, 5), (64, 10, 5)),
    "modern": ((24, 20, 5), (64, 20, 5), (96, 20, 5)),
}
CODES = (
    ("compiled solver", "compiled"),
    ("compiled, line by line with full blocks", "textbook"),
    ("plain NumPy solver", "plain"),
)


def _cases(preset: str, threads: int) -> list[Case]:
    """Each code without writing and with the same writing, fsync included, on one thread."""
    from kernels import bt
    from kernels.bt import plain, textbook
    from kernels.files import application

    cases = []
    for N, NS, IW in SIZES[preset]:
        for label, code in CODES:
            if code == "plain" and N > bt.LARGEST_REFERENCE:
                continue
            problem = application.Problem(N, NS, IW, fsync=True, code=code)
            common = {"N": N, "NS": NS, "IW": IW, "code": label}
            kernel = {"compiled": bt, "textbook": textbook, "plain": plain}[code]
            cases.append(
                Case(f"N = {N}, {label}, without writing", kernel, problem.solver, 1, {**common, "way": "none"})
            )
            cases.append(
                Case(
                    f"N = {N}, {label}, with writing",
                    application,
                    problem,
                    1,
                    {**common, "way": "positioned arrays, fsync"},
                    lambda result: {"T_T": result.T_T, "stalled": result.stalls.sum() + result.finish_seconds},
                )
            )
    return cases


def _outputs(measurements: Sequence[Measurement]) -> dict[str, dict]:
    """zeta of each code, and what zeta of the slow code would be if the time of writing were the fast code's."""
    from kernels.files.formulas import overhead

    def pick(N, code, way):
        return next(m for m in measurements if (m.parameters["N"], m.parameters["code"]) == (N, code)
                    and (m.parameters["way"] == "none") == way)  # fmt: skip

    rows = list(dict.fromkeys((m.parameters["N"], m.parameters["code"]) for m in measurements))
    T_C = [pick(*row, True).minimum for row in rows]
    T_T = [min(pick(*row, False).observed["T_T"]) for row in rows]
    writing = {N: T_T[i] - T_C[i] for i, (N, code) in enumerate(rows) if code == CODES[0][0]}

    column = columns("base")

    return {
        "base_N": column((N for N, _ in rows), "1", "grid points in each direction"),
        "base_code": column((code for _, code in rows), None, "base code"),
        "base_T_C": column(T_C, "s", "elapsed time without writing, best"),
        "base_T_T": column(T_T, "s", "elapsed time with writing, best"),
        "base_zeta": column(map(overhead, T_T, T_C), "1", "T_T/T_C - 1 with T_C of the same code"),
        "base_expected": column(
            (writing[N] / seconds for (N, _), seconds in zip(rows, T_C, strict=True)),
            "1",
            "overhead if writing took what it takes under the compiled solver",
        ),
    }


register(
    Experiment(
        "nht1-base",
        "nht1",
        "N8",
        "Overhead of the same writing under a fast and a slow base code",
        _cases,
        outputs=_outputs,
        rounds=5,
        budgets={"quick": 12.0, "paper": 480.0, "modern": 240.0},
    )
)
