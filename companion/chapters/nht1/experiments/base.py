"""N8: the same dumps of the same file system under a fast and a slow base code."""

from companion.bench import Case
from companion.chapters import cases_of

#: (N or the preset that has it, NS, IW) by preset: the largest grid that the plain solver does in a minute, and the
#: report's largest with two dumps only, since the solver that goes line by line takes more than a second a step there.
SIZES: dict[str, tuple[tuple[int | str, int, int], ...]] = {
    "quick": ((12, 20, 10),),
    "paper": ((24, 20, 5), ("paper", 10, 5)),
    "modern": ((24, 20, 5), ("paper", 20, 5), ("modern", 10, 5)),
}
_CODES = (
    ("compiled solver", "compiled"),
    ("compiled, line by line with full blocks", "textbook"),
    ("plain NumPy solver", "plain"),
)


def _observe(result) -> dict[str, float]:
    return {"T_T": result.T_T, "stalled": result.stalls.sum() + result.finish_seconds}


@cases_of("nht1-base")
def _cases(preset: str, threads: int) -> list[Case]:
    """Each code without writing and with the same writing, fsync included, on one thread."""
    from kernels import bt
    from kernels.bt import plain, textbook
    from kernels.files import application

    cases = []
    for size, NS, IW in SIZES[preset]:
        N = application.Problem.preset(size).N if isinstance(size, str) else size
        for label, code in _CODES:
            if code == "plain" and N > bt.LARGEST_REFERENCE:
                continue
            problem = application.Problem(N, NS, IW, fsync=True, code=code)
            common = {"N": N, "NS": NS, "IW": IW, "code": label}
            kernel = {"compiled": bt, "textbook": textbook, "plain": plain}[code]
            cases.append(
                Case(f"N = {N}, {label}, without writing", kernel, problem.solver, 1, {**common, "way": "none"})
            )
            written = {**common, "way": "positioned arrays, fsync"}
            cases.append(Case(f"N = {N}, {label}, with writing", application, problem, 1, written, _observe))
    return cases
