"""Experiments of the 2006 report that need ranks: exchange and transposition (P4), sensors (P8), scaling (P10)."""

import re
from typing import Any

from companion.bench import Case
from companion.chapters import cases_of, counts_to, of, outputs_of, sent
from companion.labels import plural, size


@cases_of("p5plus-exchange")
def _exchange(preset: str, threads: int, ranks: int = 2) -> list[Case]:
    """Every message size with one pair, and with as many pairs as the ranks make."""
    from kernels.mpi import exchange

    exchange.Problem(ranks=ranks)  # refuses an odd number
    cases = []
    for used in counts_to(ranks)[1:]:
        for nbytes in exchange.SIZES[preset]:
            label = f"{size(nbytes)}, {plural(used // 2, 'pair')}"
            problem = exchange.Problem(nbytes, used)
            cases.append(Case(label, exchange, problem, threads, {"nbytes": nbytes, "pairs": used // 2}))
    return cases


@outputs_of("p5plus-exchange", "p5plus-transposition")
def _report_message(measurements) -> dict[str, Any]:
    """What a message of the report was: its plots have lost their sizes, but the decomposition of its forecast has one.

    The forecast is that in the title of the table of systems, the tasks are those of the lost plot of transpositions.
    """
    from companion import tables
    from kernels.mpi import scale
    from kernels.spectral import classic_rows

    title, plot = tables.load("p5plus", "p4_p5").attrs["title"], tables.load("p5plus", "plots").sel(figure=5)
    ((truncation, levels),) = ((int(t), int(n)) for t, n in re.findall(r"T(\d+)L(\d+)", title))
    rows = next(n for n in sorted(classic_rows()) if 4 * n >= 2 * truncation + 1)
    tasks = int(plot["nodes"] * plot["tasks_per_node"])
    moved = scale.forecast(f"N{rows}", truncation, levels, tasks)
    assert moved is not None
    return {"then_message": moved.bytes / moved.messages, "then_tasks": tasks}


#: Fields of the transposition curve: their number sets the size of the messages.
_FIELDS = {"quick": (2, 8), "paper": (2, 4, 8, 16, 32, 64), "modern": (4, 16, 64)}


@cases_of("p5plus-transposition")
def _transposition(preset: str, threads: int, ranks: int = 2) -> list[Case]:
    """All four transpositions there and back by number of fields, that is by size of messages, and by ranks."""
    from kernels.mpi import scale, transposition

    cases = []
    for used, fields in [(used, fields) for used in counts_to(ranks)[1:] for fields in _FIELDS[preset]]:
        problem = transposition.Problem.preset(preset, fields=fields, ranks=used)
        moved = scale.transposition(problem.mesh)
        label = f"T{problem.truncation}, {fields} fields, {used} ranks"
        parameters = of(problem, "truncation", "fields") | sent(moved) | {"across": problem.mesh.V}
        cases.append(Case(label, transposition, problem, threads, parameters, transposition.times))
    return cases


#: Rows between pole and equator of the full grid of the model, and its time step (s), by preset.
_MODEL = {"quick": (32, 600.0), "paper": (200, 120.0), "modern": (320, 75.0)}


def _problem(preset: str, rows: int, ranks: int):
    """The shallow-water model on a linear grid; a coarser one has a longer time step."""
    from kernels.shallow_water import ranks as shallow_water

    most, dt = _MODEL[preset]
    return shallow_water.Problem(
        truncation=2 * rows - 1, grid=f"F{rows}", dt=dt * most / rows, steps=12, output=6, ranks=ranks
    )


def _weak_rows(most: int, share: float) -> int:
    """Rows of a grid with about ``share`` of the work of one of ``most``, which grows as their cube.

    Only rows whose Fourier transforms have the factors 2, 3 and 5, as ``most`` has.
    """
    smooth = [2**a * 3**b * 5**c for a in range(1, 12) for b in range(7) for c in range(5)]
    return min(smooth, key=lambda rows: abs(rows - most * share ** (1 / 3)))


@cases_of("p5plus-ranks")
def _scaling(preset: str, threads: int, ranks: int = 2) -> list[Case]:
    """One model on 1, 2, 4 … ranks (strong), and models whose work grows with the ranks (weak).

    The largest number of ranks has the same model in both.
    """
    from kernels.mpi import scale
    from kernels.shallow_water import ranks as shallow_water

    most, cases = _MODEL[preset][0], []
    wanted = [("strong", used, most) for used in counts_to(ranks)]
    wanted += [("weak", used, _weak_rows(most, used / ranks)) for used in counts_to(ranks)[:-1]]
    for scaling, used, rows in wanted:
        problem = _problem(preset, rows, used)
        moved = scale.shallow_water(problem)
        parameters = {"truncation": problem.truncation, "scaling": scaling, **sent(moved)}
        label = f"T{problem.truncation}, {plural(used, 'rank')}"
        cases.append(Case(label, shallow_water, problem, threads, parameters, shallow_water.split))
    return cases


@cases_of("p5plus-sensors")
def _monitoring(preset: str, threads: int, ranks: int = 2) -> list[Case]:
    """Without sensors, with synchronised and with drifted ones."""
    from kernels.mpi import monitoring

    problems = [monitoring.Problem.preset(preset, way=way, ranks=ranks) for way in monitoring.WAYS]
    return [Case(each.way, monitoring, each, threads, of(each, "way"), monitoring.times) for each in problems]
