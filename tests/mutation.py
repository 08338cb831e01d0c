"""Changes kernels one place at a time and reports who notices: ``python tests/mutation.py --count 300 --seed 1``.

Each mutant is one change in one compiled function of ``kernels/``, made in a copy of the tree:

    sign         + ↔ −, * ↔ /, unary minus dropped
    constant     one digit of a number changed by one, any digit of it
    bound        a range or a comparison moved by one (< ↔ <=, > ↔ >=, n ↔ n + 1 in ``range``)
    index        an index, an address or a stride moved by one
    call         a call made for its effect alone (a barrier, a fence, a store) left out

Two judges look at it apart (``court.py``): ``verify`` of the kernels that use the changed file, at their quick preset
with one thread and with two, after the proofs of their small problems, which is what a user's run has, and those tests
of the room that import it, with the test that runs ``verify`` on a small problem of each kernel.  A mutant that
neither notices is printed with its place; it is equivalent, or a check is missing.  The choice and its order depend on
the seed alone, so the first so many of it are a sample, too.  ``--out`` keeps each row as it comes and goes on where
it ended; ``--again`` shows one judge once more what it missed in that table, after a check has been added.
"""

import ast
import csv
import itertools
import random
import re
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from court import JUDGES, ROOT, Court, Unfit
from scipy.stats import binomtest
from tqdm import tqdm

#: rooms whose kernels are judged; what they stand on (``runtime``) is judged by all, and what runs under mpiexec
#: by jobs of several ranks: both take too long
ROOMS = (
    *("bt", "spectral", "shallow_water", "routines", "memory", "processor", "files", "gridpoint", "imaging"),
    "analysis",
)
#: Decorators of functions that are compiled.
COMPILED = ("kernel", "intrinsic")
COLUMNS = ("path", "line", "kind", "old", "new", "verify", "tests", "seconds")


@dataclass(frozen=True)
class Mutant:
    """One change: ``start … end`` (bytes of the file) become ``text``."""

    path: str
    line: int
    kind: str
    start: int
    end: int
    old: str
    new: str

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}"


class _Sites(ast.NodeVisitor):
    """Every place of one file that can be changed, inside compiled functions and outside docstrings."""

    def __init__(self, path: str, source: str):
        self.path, self.source, self.found, self._depth = path, source.encode(), [], 0
        lines = source.splitlines(keepends=True)
        self._starts = [0]
        for line in lines:
            self._starts.append(self._starts[-1] + len(line.encode()))
        self.visit(ast.parse(source))

    def _span(self, node) -> tuple[int, int]:
        return (
            self._starts[node.lineno - 1] + node.col_offset,
            self._starts[node.end_lineno - 1] + node.end_col_offset,
        )

    def _add(self, node, kind: str, start: int, end: int, new: str) -> None:
        if self._depth:
            self.found.append(Mutant(self.path, node.lineno, kind, start, end, self.source[start:end].decode(), new))

    def visit_FunctionDef(self, node):
        named = {each.func if isinstance(each, ast.Call) else each for each in node.decorator_list}
        compiled = any(getattr(each, "id", None) in COMPILED for each in named)
        self._depth += compiled
        for statement in node.body:
            self.visit(statement)
        self._depth -= compiled

    def visit_Raise(self, node):
        return  # sentences are no arithmetic

    def visit_JoinedStr(self, node):
        return

    def visit_Constant(self, node):
        if isinstance(node.value, bool) or not isinstance(node.value, (int, float)):
            return
        start, end = self._span(node)
        text = self.source[start:end].decode()
        places = [match.start() for match in re.finditer("[0-9]", re.split("[eExX]", text)[0])]
        for place in places:
            digit = str((int(text[place]) + 1) % 10)
            self._add(node, "constant", start, end, text[:place] + digit + text[place + 1 :])

    def visit_BinOp(self, node):
        swaps = {ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*")}
        if type(node.op) in swaps:
            old, new = swaps[type(node.op)]
            left, right = self._span(node.left)[1], self._span(node.right)[0]
            place = self.source.find(old.encode(), left, right)
            if place >= 0:
                self._add(node, "sign", place, place + 1, new)
        self.generic_visit(node)

    def visit_UnaryOp(self, node):
        if isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant):
            start = self._span(node)[0]
            self._add(node, "sign", start, start + 1, "+")
        self.generic_visit(node)

    def visit_Compare(self, node):
        swaps = {ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">")}
        if len(node.ops) == 1 and type(node.ops[0]) in swaps:
            old, new = swaps[type(node.ops[0])]
            place = self.source.find(old.encode(), self._span(node.left)[1], self._span(node.comparators[0])[0])
            if place >= 0:
                self._add(node, "bound", place, place + len(old), new)
        self.generic_visit(node)

    def visit_Call(self, node):
        if isinstance(node.func, ast.Name) and node.func.id in ("range", "prange") and node.args:
            last = node.args[min(1, len(node.args) - 1)]
            start, end = self._span(last)
            self._add(node, "bound", start, end, f"({self.source[start:end].decode()} - 1)")
        self.generic_visit(node)

    def visit_Subscript(self, node):
        if isinstance(node.slice, (ast.Name, ast.BinOp)):
            start, end = self._span(node.slice)
            self._add(node, "index", start, end, f"{self.source[start:end].decode()} + 1")
        self.generic_visit(node)

    def visit_Expr(self, node):
        if isinstance(node.value, ast.Call):
            start, end = self._span(node)
            self._add(node, "call", start, end, "pass")
        if not isinstance(node.value, ast.Constant):
            self.generic_visit(node)


def sites(root: Path, rooms) -> dict[str, list[Mutant]]:
    """Mutants by kind; every kind is drawn equally often, since constants are the most by far."""
    found: dict[str, list[Mutant]] = {}
    for room in rooms:
        for path in sorted((root / "kernels" / room).rglob("*.py")):
            for mutant in _Sites(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")).found:
                found.setdefault(mutant.kind, []).append(mutant)
    return found


def draw(found: dict[str, list[Mutant]], count: int, seed: int) -> list[Mutant]:
    """``count`` different mutants, the kinds in turn."""
    generator = random.Random(seed)
    kinds = {kind: generator.sample(mutants, len(mutants)) for kind, mutants in sorted(found.items())}
    chosen = []
    while len(chosen) < count and any(kinds.values()):
        chosen += [mutants.pop() for mutants in kinds.values() if mutants]
    return chosen[:count]


def interval(noticed: int, judged: int) -> str:
    """The share in per cent with its 95 % interval after Wilson."""
    low, high = binomtest(noticed, judged).proportion_ci(method="wilson")
    return f"{100 * noticed / judged:.0f} ({100 * low:.0f} … {100 * high:.0f})"


def summary(rows: list[dict]) -> list[dict]:
    """A line a kind and one of all, of rows as ``--out`` keeps them."""
    lines = []
    for kind in [*sorted({row["kind"] for row in rows}), "all"]:
        here = [row for row in rows if kind in (row["kind"], "all")]
        tests, verify = (sum(row[judge] == "True" for row in here) for judge in ("tests", "verify"))
        line = {"change": kind, "mutants": len(here)}
        for name, noticed in (("noticed by tests", tests), ("by verify alone", verify)):
            line |= {name: noticed, f"{name} in % (95 % interval)": interval(noticed, len(here))}
        lines.append(line)
    return lines


def write(rows: list[dict], out: Path) -> None:
    """``rows`` as CSV."""
    with out.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def known(mutant: Mutant) -> tuple[str, ...]:
    """What a row says of a mutant."""
    return (mutant.path, str(mutant.line), mutant.kind, mutant.old, mutant.new)


def _key(row: dict) -> tuple[str, ...]:
    return tuple(row[name] for name in COLUMNS[:5])


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


def judge(court: Court, mutants, rows: list[dict], out: Path | None, minutes: float, again: str | None = None) -> int:
    """Let the judges, or one of them ``again``, see mutants; fills ``rows`` and counts what could not be judged."""
    begin, unfit, by = time.monotonic(), 0, {_key(row): row for row in rows}
    for mutant in tqdm(mutants, unit="mutant"):
        row = by.get(known(mutant))
        missed = row is not None and row[again] == "False" if again else row is None
        if not missed or time.monotonic() - begin > 60 * minutes:
            continue
        try:
            found, seconds = court.judge(mutant, (again,) if again else JUDGES)
        except Unfit as reason:
            tqdm.write(f"not judged: {mutant.place}: {reason}")
            unfit += 1
            continue
        if row is None:
            row = dict(zip(COLUMNS, known(mutant), strict=False))
            rows.append(row)
        row |= {judge: str(noticed) for judge, noticed in found.items()}
        row["seconds"] = f"{sum(seconds.values()):.0f}"
        _say(row)
        if out is not None:
            write(rows, out)
    return unfit


def main(
    count: Annotated[int, typer.Option(min=1, help="Mutants.")] = 300,
    seed: Annotated[int, typer.Option(help="Chooses them.")] = 1,
    room: Annotated[list[str] | None, typer.Option(help="Only these rooms of kernels/.")] = None,
    out: Annotated[Path | None, typer.Option(help="Keep the table as CSV; go on where it ends.")] = None,
    minutes: Annotated[float, typer.Option(min=0, help="Begin no mutant after this time.")] = 10**6,
    part: Annotated[str, typer.Option(help="Judge every so many-th only, as 0/2 and 1/2 side by side.")] = "0/1",
    again: Annotated[str | None, typer.Option(help="Judge of --out's rows again what this judge missed.")] = None,
) -> None:
    """Change kernels one place at a time and report which judge notices."""
    if again not in (None, *JUDGES):
        raise typer.BadParameter(f"{again!r} is no judge; choose one of {', '.join(JUDGES)}")
    rooms = [each for each in (room or ROOMS) if (ROOT / "kernels" / each).is_dir()]
    first, step = map(int, part.split("/"))
    rows: list[dict] = []
    if out is not None and out.exists():
        rows = list(csv.DictReader(out.open(encoding="utf-8", newline="")))
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        court = Court(Path(folder) / "court", rooms)
        found = sites(court.root, rooms)
        chosen = found_again(rows, found) if again else draw(found, count, seed)
        unfit = judge(court, chosen[first::step], rows, out, minutes, again)
    for line in summary(rows):
        print(", ".join(f"{name} {value}" for name, value in line.items()))
    if out is not None and rows:
        write(summary(rows), out.with_name(f"{out.stem}_summary.csv"))
    raise SystemExit(bool(unfit))


if __name__ == "__main__":
    typer.run(main)
