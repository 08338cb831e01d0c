"""Experiments of the 2014 report that need ranks: transforms, the small model, overlap, halo (C2, C3, C7, C8)."""

from typing import Any

from companion.bench import Case
from companion.chapters import cases_of, counts_to, of, outputs_of, sent
from companion.labels import plural


@cases_of("xc30-ranks")
def _model(preset: str, threads: int, ranks: int = 2) -> list[Case]:
    """The shallow-water model on 1, 2, 4 … ranks: strong scaling, and the split of the time."""
    from kernels.mpi import scale
    from kernels.shallow_water import ranks as shallow_water

    cases = []
    for used in counts_to(ranks):
        problem = shallow_water.Problem.preset(preset, ranks=used)
        moved = scale.shallow_water(problem)
        label = f"T{problem.truncation}, {used} ranks"
        parameters = of(problem, "truncation", "steps") | sent(moved) | {"scaling": "strong"}
        cases.append(Case(label, shallow_water, problem, threads, parameters, shallow_water.split))
    return cases


@cases_of("xc30-moves")
def _moves(preset: str, threads: int, ranks: int = 4) -> list[Case]:
    """The four transpositions of IFS with as many fields as fill a few megabytes a rank."""
    from kernels.mpi import scale, transposition

    problem = transposition.Problem.preset(preset, ranks=ranks)
    label = f"T{problem.truncation}, {problem.fields} fields, {problem.mesh.W} × {problem.mesh.V} ranks"
    moved = scale.transposition(problem.mesh)
    parameters = of(problem, "fields") | sent(moved)
    return [Case(label, transposition, problem, threads, parameters, transposition.times)]


@cases_of("xc30-inflight")
def _overlap(preset: str, threads: int, ranks: int = 2) -> list[Case]:
    """Blocking, and groups in flight; with a thread that drives them; both again with processors set apart."""
    from kernels.mpi import overlap

    groups = overlap.Problem.preset(preset).groups
    wanted = [("alltoallv", 1, False), ("alltoallv", groups, False), ("progress", groups, False)]
    wanted += [("ialltoallv", n, False) for n in (2, 4, 8) if n <= groups]
    if overlap.can_spare():
        wanted += [(way, groups, True) for way in overlap.WAYS]
    cases = []
    for way, count, spare in wanted:
        problem = overlap.Problem.preset(preset, way=way, groups=count, spare=spare, ranks=ranks)
        label = f"{way}, {plural(count, 'group')}{', processors set apart' if spare else ''}"
        cases.append(Case(label, overlap, problem, threads, {"way": way, "groups": count, "spare": int(spare)}))
    return cases


@cases_of("xc30-halo")
def _halo(preset: str, threads: int, ranks: int = 2) -> list[Case]:
    from kernels.mpi import halo

    cases = []
    for way in halo.WAYS:
        problem = halo.Problem.preset(preset, way=way, ranks=ranks)
        moved = halo.count_messages(problem)
        parameters = of(problem, "way") | sent(moved)
        cases.append(Case(way, halo, problem, threads, parameters, halo.parts))
    return cases


#: Ranks of which each number is counted in the model of the halo; more than these are scaled.
_COUNTED = 48


def _halos(grid: str, dt: float, levels: int, width: int, ranks: int) -> dict:
    """Counts of one step of the halo, fixed and on demand."""
    from kernels.mpi import halo

    asked = {"fixed": "fixed", "on_demand": "on demand"}
    return {
        name: halo.count_messages(halo.Problem(grid, dt, width=width, levels=levels, way=way, ranks=ranks), _COUNTED)
        for name, way in asked.items()
    }


@outputs_of("xc30-volume")
def _volume(measurements) -> dict[str, Any]:
    """Bytes and messages of a model of the report's size, for every number of ranks, by the decompositions."""
    from companion import tables
    from kernels.mpi import scale
    from kernels.spectral import classic_rows

    facts = tables.printed("xc30", "forecast").set_index("fact")["value"].astype(float)
    truncation, levels, width = (int(facts[name]) for name in ("truncation", "levels", "halo_width"))
    rows = next(n for n in sorted(classic_rows()) if 4 * n >= 2 * truncation + 1)
    steps = round(facts["days"] * 86400 / facts["timestep"])
    tasks = [int(n) for n in tables.printed("xc30", "runs").set_index("fact").loc["tasks", ["ibm", "cray"]]]
    found = []
    for ranks in sorted({*scale.RANKS[::3], scale.RANKS[-1], *tasks}):
        moved = scale.forecast(f"N{rows}", truncation, levels, ranks)
        if moved is not None:
            halos = _halos(f"N{rows}", facts["timestep"], levels, width, ranks)
            found.append((ranks, {"transpositions": moved} | {f"halo_{name}": count for name, count in halos.items()}))
    outputs: dict[str, Any] = {"ranks": [ranks for ranks, _ in found]}
    for name in found[0][1]:
        outputs[f"{name}_bytes"] = [steps * counts[name].bytes for _, counts in found]
        outputs[f"{name}_messages"] = [counts[name].messages for _, counts in found]
    return outputs | {"steps": steps}
