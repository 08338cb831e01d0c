"""Changes kernels one place at a time and reports who notices: ``python tests/mutation.py --count 300 --seed 1``.

Each mutant is one change in one compiled function of ``kernels/``, made in a copy of the tree:

    sign         + ↔ −, * ↔ /, unary minus dropped
    constant     one digit of a number changed by one, any digit of it
    bound        a range or a comparison moved by one (< ↔ <=, > ↔ >=, n ↔ n + 1 in ``range``)
    index        an index, an address or a stride moved by one
    call         a call made for its effect alone (a barrier, a fence, a store) left out

Two judges look at it apart: ``verify`` of the kernels of the room that use the changed file, at their quick preset
with one thread and with two, which is what a user's run has, and the tests of the room.  A mutant that neither
notices is printed with its place; it is equivalent, or a check is missing.  The choice depends on the seed alone.

Only code that can see the change is compiled anew: the copy starts from compiled code of the unchanged tree, less
that of modules which import the changed one.  Judges have limits of processor time, so that a machine that stands
still does not count as an endless loop.  ``--out`` keeps each row as it comes and goes on where it ended.
"""

import ast
import csv
import importlib
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from tqdm import tqdm

ROOT = Path(__file__).resolve().parent.parent
COPIED = ("kernels", "companion", "tests", "pyproject.toml", "conftest.py")
LINKED = ("data", "notebooks", "book", "peers", "README.md", "CONTRIBUTING.md")
#: rooms whose kernels are judged; what they stand on (``runtime``) is judged by all, and what runs under mpiexec
#: by jobs of several ranks: both take too long
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
#: Decorators of functions that are compiled.
COMPILED = ("kernel", "intrinsic")
SECONDS = 1800  # a judge that takes longer waits for ever: the change left somebody out of a barrier
COLUMNS = ("path", "line", "kind", "old", "new", "verify", "tests")

VERIFY = """
import importlib, sys
from kernels.runtime.resources import usable_cpus
for name in sys.argv[1:]:
    kernel = importlib.import_module(name)
    problem = kernel.Problem.preset("quick")
    for threads in range(1, min(2, usable_cpus()) + 1):
        checks = kernel.verify(problem, kernel.run(problem, kernel.setup(problem), threads))
        failed = [str(check) for check in checks if not check.ok]
        if failed:
            sys.exit(f"{name}: {failed[0]}")
"""
#: Without it a failing property is shrunk, which takes longer than finding it.
PROFILE = """
settings.register_profile("mutation", deadline=None, database=None, phases=[Phase.explicit, Phase.generate])
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


def users(root: Path) -> dict[str, set[str]]:
    """For each file of ``kernels/``, every file that imports it, at once or by way of others, and itself."""
    files = sorted(path.relative_to(root).as_posix() for path in (root / "kernels").rglob("*.py"))
    wants = {}
    for file in files:
        names = set()
        for node in ast.walk(ast.parse((root / file).read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {each.name for each in node.names}
            elif isinstance(node, ast.ImportFrom):
                names |= {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
        places = {name.replace(".", "/") for name in names if name}
        wants[file] = {place + end for place in places for end in (".py", "/__init__.py")} & set(files)
    found = {}
    for file in files:
        known, todo = set(), [file]
        while todo:
            here = todo.pop()
            if here not in known:
                known.add(here)
                todo += [other for other in files if here in wants[other]]
        found[file] = known
    return found


class Court:
    """A copy of the tree with compiled code of its own, in which mutants are judged one after another."""

    def __init__(self, folder: Path, rooms):
        from kernels.runtime.cache import source_digest

        folder.mkdir()
        self.root, self.cache = folder / "tree", folder / "cache"
        self._copy()
        self.whole = self.cache / source_digest()
        self.users = users(self.root)
        self.kernels = self._kernels(rooms)
        self.limits: dict[tuple[str, str], float] = {}

    def _copy(self) -> None:
        self.root.mkdir()
        for name in COPIED:
            source, target = ROOT / name, self.root / name
            ignore = shutil.ignore_patterns("__pycache__")
            shutil.copytree(source, target, ignore=ignore) if source.is_dir() else shutil.copy2(source, target)
        for name in LINKED:
            (self.root / name).symlink_to(ROOT / name)
        conftest = self.root / "tests" / "conftest.py"
        text = conftest.read_text(encoding="utf-8").replace("import settings", "import Phase, settings")
        conftest.write_text(text + PROFILE, encoding="utf-8")

    def _kernels(self, rooms) -> dict[str, list[tuple[str, str]]]:
        """Name and file of every kernel with a preset ``quick``, by room."""
        found, seen = defaultdict(list), set()
        for file in self.users:
            name = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            if name.count(".") and (room := name.split(".")[1]) in rooms:
                module = importlib.import_module(name)
                words = [getattr(module, word, None) for word in ("Problem", "setup", "run", "verify")]
                if all(words) and hasattr(words[0], "preset") and words[2] not in seen:
                    seen.add(words[2])
                    found[room].append((name, file))
        return found

    def _ask(self, command: list[str], limit: float) -> tuple[int, float]:
        """Exit code and processor seconds; a judge over its limit is ended."""
        environment = os.environ | {
            "PYTHONPATH": str(self.root),
            "NUMBA_CACHE_DIR": str(self.cache),
            "PYTHONDONTWRITEBYTECODE": "1",
        }

        def prepare():
            resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 5))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        with open(os.devnull, "r+") as null, tempfile.TemporaryFile() as heard:
            process = subprocess.Popen(
                command, cwd=self.root, env=environment, stdin=null, stdout=heard, stderr=heard,
                preexec_fn=prepare, start_new_session=True,
            )  # fmt: skip
            alarm = threading.Timer(SECONDS, os.killpg, (process.pid, 9))
            alarm.start()
            _, status, used = os.wait4(process.pid, 0)
            alarm.cancel()
            heard.seek(0)
            self.heard = heard.read().decode(errors="replace")
        process.returncode = os.waitstatus_to_exitcode(status)
        return process.returncode, used.ru_utime + used.ru_stime

    def commands(self, mutant_path: str, every: bool = False) -> dict[str, list[str]]:
        """What each judge runs for a change of this file, or of ``every`` file of its room."""
        room = Path(mutant_path).parts[1]
        names = [name for name, file in self.kernels[room] if every or file in self.users[mutant_path]]
        tests = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--hypothesis-profile=mutation"]
        return {
            "verify": [sys.executable, "-c", VERIFY, *names] if names else [],
            "tests": [*tests, f"tests/kernels/{room}"],
        }

    def measure(self, path: str) -> None:
        """Let both judges see the unchanged tree: they must find nothing, and it compiles what mutants start from."""
        room = Path(path).parts[1]
        for judge, command in self.commands(path, every=True).items():
            key = judge, room
            if command and key not in self.limits:
                code, seconds = self._ask(command, 10**5)
                if code:
                    raise SystemExit(f"{judge} of {path} fails on the unchanged tree:\n{self.heard[-3000:]}")
                self.limits[key] = 60 + 4 * seconds

    def _seed_cache(self, path: str) -> Path:
        """Compiled code for the changed tree: that of the unchanged one, linked, but for users of ``path``."""
        from numba.core.caching import _CacheLocator

        from kernels.runtime import cache

        known = {}
        for file in self.users[path]:
            place = _CacheLocator.get_suitable_cache_subpath(str(self.root / file))
            known.setdefault(place, set()).add(Path(file).stem)
        digest = cache.source_digest.__wrapped__
        before, cache.__file__ = cache.__file__, str(self.root / "kernels" / "runtime" / "cache.py")
        try:
            changed = self.cache / digest()
        finally:
            cache.__file__ = before
        for folder in self.whole.iterdir():
            (changed / folder.name).mkdir(parents=True, exist_ok=True)
            for file in folder.iterdir():
                if file.name.split(".")[0] not in known.get(folder.name, ()):
                    (changed / folder.name / file.name).hardlink_to(file)
        return changed

    def judge(self, mutant: Mutant) -> dict[str, bool]:
        """Which judges notice the mutant; the tree is as before afterwards."""
        self.measure(mutant.path)
        path = self.root / mutant.path
        before, stamp = path.read_bytes(), path.stat()
        found = {}
        path.write_bytes(before[: mutant.start] + mutant.new.encode() + before[mutant.end :])
        changed = self._seed_cache(mutant.path)
        try:
            for judge, command in self.commands(mutant.path).items():
                limit = self.limits.get((judge, Path(mutant.path).parts[1]))
                found[judge] = bool(command) and self._ask(command, limit)[0] != 0
        finally:
            path.write_bytes(before)
            os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
            shutil.rmtree(changed, ignore_errors=True)
        return found


def summary(rows: list[dict]) -> list[str]:
    """A line a kind and one of all, of rows as ``--out`` keeps them."""
    lines = []
    for kind in [*sorted({row["kind"] for row in rows}), "all"]:
        here = [row for row in rows if kind in (row["kind"], "all")]
        counts = [sum(row[judge] == "True" for row in here) for judge in ("verify", "tests")]
        lines.append(f"{kind:10s} {len(here):4d} mutants, verify notices {counts[0]:4d}, tests notice {counts[1]:4d}")
    return lines


def main(
    count: Annotated[int, typer.Option(min=1, help="Mutants.")] = 300,
    seed: Annotated[int, typer.Option(help="Chooses them.")] = 1,
    room: Annotated[list[str] | None, typer.Option(help="Only these rooms of kernels/.")] = None,
    out: Annotated[Path | None, typer.Option(help="Keep the table as CSV; go on where it ends.")] = None,
    minutes: Annotated[float, typer.Option(min=0, help="Begin no mutant after this time.")] = 10**6,
    part: Annotated[str, typer.Option(help="Judge every so many-th only, as 0/2 and 1/2 side by side.")] = "0/1",
) -> None:
    """Change kernels one place at a time and report which judge notices."""
    sys.path.insert(0, str(ROOT))
    rooms = [each for each in (room or ROOMS) if (ROOT / "kernels" / each).is_dir()]
    first, step = map(int, part.split("/"))
    rows, begin = [], time.monotonic()
    if out is not None and out.exists():
        rows = list(csv.DictReader(out.open(encoding="utf-8", newline="")))
    done = {tuple(row[name] for name in COLUMNS[:5]) for row in rows}
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        court = Court(Path(folder) / "court", rooms)
        chosen = draw(sites(court.root, rooms), count, seed)
        for mutant in tqdm(chosen[first::step], unit="mutant"):
            known = (mutant.path, str(mutant.line), mutant.kind, mutant.old, mutant.new)
            if known in done or time.monotonic() - begin > 60 * minutes:
                continue
            row = dict(zip(COLUMNS, known, strict=False)) | {k: str(v) for k, v in court.judge(mutant).items()}
            rows.append(row)
            if row["tests"] == "False":
                by_verify = " the tests" if row["verify"] == "True" else ""
                tqdm.write(f"survives{by_verify}: {mutant.place}: {mutant.old} → {mutant.new}")
            if out is not None:
                fresh = not out.exists()
                with out.open("a", newline="", encoding="utf-8") as file:
                    table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
                    if fresh:
                        table.writeheader()
                    table.writerow(row)
    print("\n".join(summary(rows)))


if __name__ == "__main__":
    typer.run(main)
