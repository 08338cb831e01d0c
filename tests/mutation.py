"""Changes kernels one place at a time and reports who notices: ``python tests/mutation.py --count 300 --seed 1``.

Each mutant is one change in one compiled or driving function of ``kernels/``, made in a copy of the tree:

    sign         + ↔ −, * ↔ /, unary minus dropped
    constant     one digit of a number changed by one, any digit of it
    bound        a range or a comparison moved by one (< ↔ <=, > ↔ >=, n ↔ n + 1 in ``range``)
    index        an index or an address moved by one
    call         a call made for its effect alone (a barrier, a fence, a reset) left out

Two judges look at it apart: ``verify`` of every kernel of the room at its quick preset, which is what a
user's run has, and the tests of the room.  A mutant that neither notices is printed with its place; it is
equivalent, or a check is missing.  The choice depends on the seed alone.  Runs for hours with 300: weekly,
not in ``make test``.
"""

import ast
import csv
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from tqdm import tqdm

ROOT = Path(__file__).resolve().parent.parent
COPIED = ("kernels", "companion", "tests", "pyproject.toml", "conftest.py")
LINKED = ("data", "notebooks", "book", "peers", "README.md", "CONTRIBUTING.md")
#: rooms whose kernels are judged; what they stand on (``runtime``) is judged by all, which takes too long
ROOMS = (
    "bt",
    "spectral",
    "shallow_water",
    "routines",
    "memory",
    "processor",
    "files",
    "gridpoint",
    "imaging",
    "analysis",
)
SECONDS = 600  # a judge that takes longer has noticed: the change made the work endless

VERIFY = """
import importlib, pkgutil, sys
import kernels
from kernels.contract import Kernel
room = importlib.import_module("kernels." + sys.argv[1])
found = [room] + [importlib.import_module(room.__name__ + "." + each.name)
                  for each in pkgutil.iter_modules(room.__path__)]
words = ("Problem", "setup", "run", "verify")
for kernel in found:
    if not all(hasattr(kernel, word) for word in words) or not hasattr(kernel.Problem, "preset"):
        continue
    problem = kernel.Problem.preset("quick")
    checks = kernel.verify(problem, kernel.run(problem, kernel.setup(problem)))
    failed = [str(check) for check in checks if not check.ok]
    if failed:
        sys.exit(kernel.__name__ + ": " + failed[0])
"""


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


class _Sites(ast.NodeVisitor):
    """Every place of one file that can be changed, inside functions and outside docstrings."""

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
        if node.name in ("__post_init__", "__repr__", "__str__", "reference", "work", "footprint"):
            return  # judged elsewhere, or what the result is compared with
        self._depth += 1
        for statement in node.body:
            self.visit(statement)
        self._depth -= 1

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


def _copy(folder: Path) -> Path:
    root = folder / "tree"
    root.mkdir()
    for name in COPIED:
        source = ROOT / name
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(source, root / name, ignore=ignore) if source.is_dir() else shutil.copy(source, root / name)
    for name in LINKED:
        (root / name).symlink_to(ROOT / name)
    return root


def _noticed(command: list[str], root: Path) -> bool:
    environment = {**os.environ, "PYTHONPATH": str(root), "XDG_CACHE_HOME": str(root.parent / "cache")}
    try:
        done = subprocess.run(
            command, cwd=root, env=environment, capture_output=True, timeout=SECONDS, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        return True
    return done.returncode != 0


def judge(root: Path, mutant: Mutant) -> tuple[bool, bool]:
    """Whether ``verify`` and whether the tests notice the mutant; the tree is as before afterwards."""
    path = root / mutant.path
    before = path.read_bytes()
    room = Path(mutant.path).parts[1]
    path.write_bytes(before[: mutant.start] + mutant.new.encode() + before[mutant.end :])
    try:
        by_verify = _noticed([sys.executable, "-c", VERIFY, room], root)
        tests = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", f"tests/kernels/{room}"]
        return by_verify, _noticed(tests, root)
    finally:
        path.write_bytes(before)


def main(
    count: Annotated[int, typer.Option(min=1, help="Mutants.")] = 300,
    seed: Annotated[int, typer.Option(help="Chooses them.")] = 1,
    room: Annotated[list[str] | None, typer.Option(help="Only these rooms of kernels/.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the table as CSV.")] = None,
) -> None:
    """Change kernels one place at a time and report which judge notices."""
    rooms = [each for each in (room or ROOMS) if (ROOT / "kernels" / each).is_dir()]
    rows = []
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        root = _copy(Path(folder))
        chosen = draw(sites(root, rooms), count, seed)
        for mutant in tqdm(chosen, unit="mutant"):
            begin = time.perf_counter()
            by_verify, by_tests = judge(root, mutant)
            rows.append((mutant, by_verify, by_tests))
            if not by_tests:
                place = f"{mutant.path}:{mutant.line}"
                tqdm.write(f"survives{' the tests' if by_verify else ''}: {place}: {mutant.old} → {mutant.new}")
            tqdm.write(f"{time.perf_counter() - begin:.0f} s", file=sys.stderr)
    for kind in sorted({mutant.kind for mutant, *_ in rows}):
        here = [row for row in rows if row[0].kind == kind]
        verified, tested = (sum(row[place] for row in here) for place in (1, 2))
        print(f"{kind:10s} {len(here):4d} mutants, verify notices {verified:4d}, tests notice {tested:4d}")
    if out is not None:
        with out.open("w", newline="", encoding="utf-8") as file:
            table = csv.writer(file)
            table.writerow(("path", "line", "kind", "old", "new", "verify", "tests"))
            table.writerows((m.path, m.line, m.kind, m.old, m.new, *judges) for m, *judges in rows)


if __name__ == "__main__":
    typer.run(main)
