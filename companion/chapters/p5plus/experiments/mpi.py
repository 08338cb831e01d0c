"""Experiments of the 2006 report that need ranks: exchange and transposition (P4)."""

from companion.bench import Case
from companion.experiments import Experiment, register


def _size(nbytes: int) -> str:
    for unit, step in (("MiB", 2**20), ("KiB", 2**10)):
        if nbytes >= step and nbytes % step == 0:
            return f"{nbytes // step} {unit}"
    return f"{nbytes} B"


def _exchange(preset: str, threads: int, ranks: int = 2) -> list[Case]:
    """Every message size with one pair, and with as many pairs as the ranks make."""
    from kernels.mpi import exchange

    exchange.Problem(ranks=ranks)  # refuses an odd number
    cases = []
    for used in sorted({2, ranks}):
        for nbytes in exchange.SIZES[preset]:
            label = f"{_size(nbytes)}, {used // 2} pair{'s' if used > 2 else ''}"
            problem = exchange.Problem(nbytes, used)
            cases.append(Case(label, exchange, problem, threads, {"nbytes": nbytes, "pairs": used // 2}))
    return cases


#: Fields of the transposition curve: their number sets the size of the messages.
FIELDS = {"quick": (2, 8), "paper": (2, 4, 8, 16, 32, 64), "modern": (4, 16, 64)}


def _transposition(preset: str, threads: int, ranks: int = 2) -> list[Case]:
    """All four transpositions there and back for numbers of fields, that is for sizes of messages."""
    from kernels.mpi import scale, transposition

    cases = []
    for fields in FIELDS[preset]:
        problem = transposition.Problem.preset(preset, fields=fields, ranks=ranks)
        counted = scale.transposition(problem.mesh)
        cases.append(
            Case(
                f"T{problem.T}, {fields} fields",
                transposition,
                problem,
                threads,
                {
                    "truncation": problem.T,
                    "fields": fields,
                    "sent_bytes": counted.bytes,
                    "messages": counted.messages,
                    "across": problem.mesh.V,
                },
                transposition.times,
            )
        )
    return cases


register(
    Experiment(
        "p5plus-exchange",
        "p5plus",
        "P4",
        "Exchange between pairs of ranks by message size",
        _exchange,
        rounds=11,
        needs=frozenset({"mpi"}),
        budgets={"quick": 10.0, "paper": 60.0, "modern": 120.0},
        ranks=2,
    )
)
register(
    Experiment(
        "p5plus-transposition",
        "p5plus",
        "P4",
        "Transpositions of a spectral model by size of the messages",
        _transposition,
        rounds=7,
        needs=frozenset({"mpi"}),
        budgets={"quick": 10.0, "paper": 60.0, "modern": 120.0},
        ranks=2,
    )
)


def _monitoring(preset: str, threads: int, ranks: int = 2) -> list[Case]:
    """Without sensors, with synchronised and with drifted ones."""
    from kernels.mpi import monitoring

    return [
        Case(
            way,
            monitoring,
            monitoring.Problem.preset(preset, way=way, ranks=ranks),
            threads,
            {"way": way},
            monitoring.times,
        )
        for way in monitoring.WAYS
    ]


register(
    Experiment(
        "p5plus-sensors",
        "p5plus",
        "P8",
        "Sensors on ranks that wait for each other: none, synchronised, drifted apart",
        _monitoring,
        rounds=5,
        needs=frozenset({"mpi"}),
        budgets={"quick": 10.0, "paper": 60.0, "modern": 120.0},
        ranks=2,
    )
)
