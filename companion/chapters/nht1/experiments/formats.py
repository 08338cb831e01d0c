"""N5: what it costs to read a solution in the words of another machine."""

from companion.bench import Case
from companion.experiments import Experiment, register

SIZES = {"quick": (12,), "paper": (12, 64, 102), "modern": (102, 162)}


def _cases(preset: str, threads: int) -> list[Case]:
    """Every format, there and back, for each grid; a plain copy is the base."""
    from kernels.files import conversion

    return [
        Case(
            f"N = {N}, {form}, {direction}",
            conversion,
            conversion.Problem(N, form, direction),
            threads,
            {"N": N, "format": form, "direction": direction},
        )
        for N in SIZES[preset]
        for form in conversion.FORMATS
        for direction in ("encode", "decode")
    ]


register(
    Experiment(
        "nht1-formats",
        "nht1",
        "N5",
        "Converting a dump between IEEE, big-endian and Cray words",
        _cases,
        rounds=11,
        budgets={"quick": 5.0, "paper": 30.0, "modern": 60.0},
    )
)
