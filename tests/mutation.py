"""Changes code one place at a time and reports who notices: ``python tests/mutation.py --count 300 --seed 1``.

Each mutant is one change in one compiled function of ``kernels/``, or in one function of ``companion/``, made in a
copy of the tree; ``mutants.py`` lists the kinds.  ``mutation_runner.py`` tries it in two ways: ``verify`` of the
kernels that use the changed file, at their quick preset with one thread, with two and on two ranks, after the proofs of
their small problems, which is what a user's run has, and those tests of the room that import it, with the tests that
all kernels have, and those on ranks that need two.  Changes of ``companion/`` have the tests alone.  What numba cannot
compile any more is no mutant.  One that neither notices is printed with its place; it is equivalent, or a check is
missing.  The choice and its order depend on the seed alone, so the first so many of it are a sample, too.  ``--out``
keeps each row as it comes and goes on where it ended; ``--again`` runs one oracle once more on what
it missed in that table, after a check has been added.
"""

import itertools
import random
import sys
import tempfile
from collections.abc import Collection
from pathlib import Path
from typing import Annotated

import typer
from mutants import Mutant, sites
from mutation_runner import ORACLES, ROOT, Runner, Stillborn, Unfit
from scipy.stats import binomtest
from tools import line, read_rows, this_host, write_rows
from tqdm import tqdm

#: What is changed.  Of ``kernels/`` without what it stands on (``runtime``), which would need all tests, and what only
#: sends messages (``mpi``): both take too long.
ROOMS = {
    "kernels": [
        *(f"kernels/{room}" for room in ("bt", "spectral", "shallow_water", "routines", "memory", "processor")),
        *(f"kernels/{room}" for room in ("files", "gridpoint", "imaging", "analysis")),
    ],
    "companion": [
        *(f"companion/{room}" for room in ("bench", "claims", "records", "tables")),
        *(f"companion/{room}" for room in ("numbers", "files", "host/limits", "mpi/ranks", "mpi/reframe")),
    ],
}
COLUMNS = ("sample", "host", "path", "line", "kind", "old", "new", "verify", "tests", "seconds")
PLACE = COLUMNS[2:7]


def draw(found: dict[str, list[Mutant]], count: int, seed: int) -> list[Mutant]:
    """``count`` different mutants, the kinds in turn."""
    generator = random.Random(seed)
    kinds = {kind: generator.sample(mutants, len(mutants)) for kind, mutants in sorted(found.items())}
    chosen = []
    while len(chosen) < count and any(kinds.values()):
        chosen += [mutants.pop() for mutants in kinds.values() if mutants]
    return chosen[:count]


def interval(noticed: int, mutants: int) -> str:
    """The share in per cent with its 95 % interval after Wilson."""
    low, high = binomtest(noticed, mutants).proportion_ci(method="wilson")
    return f"{100 * noticed / mutants:.0f} ({100 * low:.0f} … {100 * high:.0f})"


def equivalent(table: Path) -> set[tuple[str, ...]]:
    """The survivors whose reason says that no test can notice them, in the table beside ``table``."""
    rows = read_rows(table.with_name("survivors.csv"))
    return {_key(row) for row in rows if row["reason"].startswith("equivalent")}


def summary(rows: list[dict], same: Collection[tuple[str, ...]] = ()) -> list[dict]:
    """A line a sample and kind and one of all, of rows as ``--out`` keeps them; what did not run has an empty cell.

    ``same`` are those that are equivalent; the last columns leave them out.
    """
    lines = []
    for sample in dict.fromkeys(row["sample"] for row in rows):
        own = [row for row in rows if row["sample"] == sample]
        for kind in [*sorted({row["kind"] for row in own}), "all"]:
            here = [row for row in own if kind in (row["kind"], "all")]
            line = {"sample": sample, "change": kind, "mutants": len(here)}
            for oracle, name in (("tests", "noticed by tests"), ("verify", "by verify alone")):
                found = [row[oracle] == "True" for row in here if row[oracle]]
                line[name] = sum(found) if found else ""
                line[f"{name} in % (95 % interval)"] = interval(sum(found), len(found)) if found else ""
            others = [row for row in here if _key(row) not in same]
            line["equivalent"] = len(here) - len(others)
            for oracle, name in (("tests", "of the others by tests"), ("verify", "of the others by verify alone")):
                found = [row[oracle] == "True" for row in others if row[oracle]]
                line[f"{name} in % (95 % interval)"] = interval(sum(found), len(found)) if found else ""
            lines.append(line)
    return lines


def known(mutant: Mutant) -> tuple[str, ...]:
    """What a row says of a mutant."""
    return (mutant.path, str(mutant.line), mutant.kind, mutant.old, mutant.new)


def _key(row: dict) -> tuple[str, ...]:
    return tuple(row[name] for name in PLACE)


def found_again(rows: list[dict], found: dict[str, list[Mutant]]) -> list[Mutant]:
    """The mutants of a table's rows in today's tree, where lines may have moved; the nearest of those alike.

    A row whose place is gone is left as it is.  Rows take the lines that their mutants have now.
    """
    alike: dict[tuple[str, ...], list[Mutant]] = {}
    for mutant in itertools.chain.from_iterable(found.values()):
        alike.setdefault((mutant.path, mutant.kind, mutant.old, mutant.new), []).append(mutant)
    chosen = []
    for row in rows:
        if here := alike.get(tuple(row[name] for name in ("path", "kind", "old", "new"))):
            nearest = min(here, key=lambda mutant: abs(mutant.line - int(row["line"])))
            here.remove(nearest)
            row["line"] = str(nearest.line)
            chosen.append(nearest)
    return chosen


def _say(row: dict) -> None:
    if row["tests"] == "False":
        by_verify = " the tests" if row["verify"] == "True" else ""
        tqdm.write(f"survives{by_verify}: {row['path']}:{row['line']}: {row['old']} → {row['new']}")


def evaluate(runner: Runner, mutants, rows: list[dict], sample: str, out=None, again=None) -> int:
    """Run the oracles, or one of them ``again``, on mutants; fills ``rows`` and counts those that none could run on."""
    unfit, by, host = 0, {_key(row): row for row in rows}, this_host()
    for mutant in tqdm(mutants, unit="mutant"):
        row = by.get(known(mutant))
        missed = row is not None and row[again] == "False" if again else row is None
        if not missed:
            continue
        try:
            found, seconds = runner.evaluate(mutant, (again,) if again else ORACLES)
        except Stillborn:
            continue
        except Unfit as reason:
            tqdm.write(f"not run: {mutant.place}: {reason}")
            unfit += 1
            continue
        if row is None:
            row = dict(zip(COLUMNS, (sample, host, *known(mutant), "", ""), strict=False))
            by[_key(row)] = row
            rows.append(row)
        row |= {oracle: str(noticed) for oracle, noticed in found.items()}
        row["seconds"] = f"{sum(seconds.values()):.0f}"
        _say(row)
        if out is not None:
            write_rows(out, rows)
    return unfit


def main(
    count: Annotated[int, typer.Option(min=1, help="Mutants.")] = 300,
    seed: Annotated[int, typer.Option(help="Chooses them.")] = 1,
    of: Annotated[str, typer.Option(help=f"What is changed: {' or '.join(ROOMS)}.")] = "kernels",
    room: Annotated[list[str] | None, typer.Option(help="Only these folders or modules of it.")] = None,
    out: Annotated[Path | None, typer.Option(help="Keep the table as CSV; go on where it ends.")] = None,
    again: Annotated[str | None, typer.Option(help="Run this oracle again on what it missed of --out's rows.")] = None,
) -> None:
    """Change code one place at a time and report which oracle notices."""
    if again not in (None, *ORACLES):
        raise typer.BadParameter(f"{again!r} is no oracle; choose one of {', '.join(ORACLES)}")
    if of not in ROOMS:
        raise typer.BadParameter(f"{of!r} is none of {', '.join(ROOMS)}")
    rooms, sample = room or ROOMS[of], f"{of}, seed {seed}"
    rows = read_rows(out) if out is not None else []
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        runner = Runner(Path(folder) / "runner", [each.removeprefix("kernels/") for each in rooms])
        found = sites(runner.root, rooms)
        chosen = found_again(rows, found) if again else draw(found, count, seed)
        unfit = evaluate(runner, chosen, rows, sample, out, again)
    lines = summary(rows, equivalent(out) if out is not None else ())
    for each in lines:
        print(line(each))
    if out is not None and rows:
        write_rows(out.with_name(f"{out.stem}_summary.csv"), lines)
    raise SystemExit(bool(unfit))


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))  # before tests/, whose rooms have the names of those they test
    typer.run(main)
