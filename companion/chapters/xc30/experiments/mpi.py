"""Experiments of the 2014 report that need ranks: transforms, the small model, overlap, halo (C2, C3, C7, C8)."""

from companion.bench import Case
from companion.experiments import Experiment, columns, register

_NEEDS = frozenset({"mpi"})


def _counts(ranks: int) -> list[int]:
    return sorted({1, ranks} | {2**n for n in range(20) if 2**n < ranks})


def _model(preset: str, threads: int, ranks: int = 2) -> list[Case]:
    """The shallow-water model on 1, 2, 4 … ranks: strong scaling, and the split of the time."""
    from kernels.mpi import scale, shallow_water

    cases = []
    for used in _counts(ranks):
        problem = shallow_water.Problem.preset(preset, ranks=used)
        counted = scale.shallow_water(problem)
        cases.append(
            Case(
                f"T{problem.truncation}, {used} ranks",
                shallow_water,
                problem,
                threads,
                {
                    "truncation": problem.truncation,
                    "steps": problem.steps,
                    "sent_bytes": counted.bytes,
                    "messages": counted.messages,
                    "scaling": "strong",
                },
                shallow_water.split,
            )
        )
    return cases


def _moves(preset: str, threads: int, ranks: int = 4) -> list[Case]:
    """The four transpositions of IFS with as many fields as fill a few megabytes a rank."""
    from kernels.mpi import transposition

    problem = transposition.Problem.preset(preset, ranks=ranks)
    label = f"T{problem.T}, {problem.fields} fields, {problem.mesh.W} × {problem.mesh.V} ranks"
    return [Case(label, transposition, problem, threads, {"fields": problem.fields}, transposition.times)]


def _overlap(preset: str, threads: int, ranks: int = 2) -> list[Case]:
    from kernels.mpi import overlap

    return [
        Case(way, overlap, overlap.Problem.preset(preset, way=way, ranks=ranks), threads, {"way": way})
        for way in overlap.WAYS
    ]


def _halo(preset: str, threads: int, ranks: int = 2) -> list[Case]:
    from kernels.mpi import halo

    return [
        Case(way, halo, halo.Problem.preset(preset, way=way, ranks=ranks), threads, {"way": way}, halo.parts)
        for way in halo.WAYS
    ]


def _volume(measurements) -> dict[str, dict]:
    """Bytes and messages a step of a model of the report's size, for every number of ranks, by the decomposition."""
    from companion import tables
    from kernels.mpi import scale
    from kernels.spectral import classic_rows

    facts = tables.printed("xc30", "forecast").set_index("fact")["value"].astype(float)
    T, levels = int(facts["truncation"]), int(facts["levels"])
    rows = next(n for n in sorted(classic_rows()) if 4 * n >= 2 * T + 1)
    steps = round(facts["days"] * 86400 / facts["timestep"])
    tasks = tables.printed("xc30", "runs").set_index("fact").loc["tasks", ["ibm", "cray"]]
    ranks = sorted({*scale.RANKS[::3], *(int(value) for value in tasks)})
    tried = [(n, scale.forecast(f"N{rows}", T, levels, n)) for n in ranks]
    counted = [(n, count) for n, count in tried if count is not None]

    column = columns("ranks")

    return {
        "ranks": column((n for n, _ in counted), "1", "MPI ranks"),
        "step_bytes": column((count.bytes for _, count in counted), "byte", "bytes that leave a rank in one step"),
        "step_messages": column((count.messages for _, count in counted), "1", "messages of one step"),
        "forecast_bytes": column((steps * count.bytes for _, count in counted), "byte", "bytes of the forecast"),
        "steps": columns()(steps, "1", "time steps of the forecast"),
    }


register(
    Experiment(
        "xc30-ranks",
        "xc30",
        "C2, C3",
        "Shallow-water model on ranks: computing, communication, barrier, serial",
        _model,
        rounds=5,
        needs=_NEEDS,
        budgets={"quick": 15.0, "paper": 90.0, "modern": 300.0},
        ranks=2,
    )
)
register(
    Experiment(
        "xc30-moves",
        "xc30",
        "C5",
        "Transposition routines of IFS on a mesh of ranks",
        _moves,
        rounds=7,
        needs=_NEEDS,
        budgets={"quick": 10.0, "paper": 60.0, "modern": 120.0},
        ranks=4,
    )
)
register(
    Experiment(
        "xc30-inflight",
        "xc30",
        "C7",
        "Legendre transforms with exchanges in flight: Ialltoallv against Alltoallv",
        _overlap,
        rounds=7,
        needs=_NEEDS,
        budgets={"quick": 10.0, "paper": 60.0, "modern": 120.0},
        ranks=2,
    )
)
register(
    Experiment(
        "xc30-halo",
        "xc30",
        "C8",
        "Semi-Lagrangian halo: fixed width against points on demand",
        _halo,
        rounds=7,
        needs=_NEEDS,
        budgets={"quick": 10.0, "paper": 60.0, "modern": 120.0},
        ranks=2,
    )
)
register(
    Experiment(
        "xc30-volume",
        "xc30",
        "C2",
        "Bytes and messages of a forecast's transpositions by number of ranks, counted from the decomposition",
        lambda preset, threads: [],
        presets=("quick",),
        outputs=_volume,
        simulated=True,
    )
)
