"""The shape of the code: no cycles among modules, modules and functions that fit on a screen or a few."""

import ast
import functools
import itertools
import re
import subprocess
import sys
from pathlib import Path

import pytest
from test_walls import LATE, imports, modules, package_of, parsed

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("kernels", "companion", "peers")
MODULE_LINES, FUNCTION_LINES = 400, 50
SOURCES = [path for room in ROOMS for path in modules(room)]


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def name_of(path: Path) -> str:
    """``kernels.bt`` for ``kernels/bt/__init__.py``."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def edges(sources: dict[str, list[str]]) -> dict[str, set[str]]:
    """Module -> modules it imports, early or late; ``from a import b`` is of ``a.b`` where that is a module."""
    graph: dict[str, set[str]] = {name: set() for name in sources}
    for name, imported in sources.items():
        for target in imported:
            while target and target not in sources:
                target = target.rpartition(".")[0]
            if target and target != name:
                graph[name].add(target)
    return graph


def cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Groups of modules that reach each other (Tarjan)."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found = []

    def visit(node: str) -> None:
        order[node] = low[node] = len(order)
        stack.append(node)
        for other in sorted(graph[node]):
            if other not in order:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == order[node]:
            group = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(group) > 1:
                found.append(sorted(group))

    for node in sorted(graph):
        if node not in order:
            visit(node)
    return found


def graph_of(paths: list[Path]) -> dict[str, set[str]]:
    return edges(
        {name_of(path): [m for m, _ in imports(path.read_text(encoding="utf-8"), package_of(path))] for path in paths}
    )


def test_no_modules_import_each_other_not_even_late():
    assert cycles(graph_of(SOURCES)) == []


def test_a_planted_cycle_is_found():
    planted = edges({"a": ["b.f"], "b": ["c"], "c": ["a.g", "os"], "d": ["a"]})
    assert cycles(planted) == [["a", "b", "c"]]


def floors(graph: dict[str, set[str]]) -> int:
    """Modules on the longest chain of imports."""

    @functools.cache
    def height(node: str) -> int:
        return 1 + max(map(height, graph[node]), default=0)

    return max(map(height, graph))


@pytest.mark.parametrize("folder, most", [("gridpoint", 5), ("spectral", 5)])
def test_a_folder_has_few_floors(folder, most):
    """``__init__`` is not counted: it gives what is above the highest floor to the rest of the house."""
    assert (
        floors(graph_of([path for path in (ROOT / "kernels" / folder).glob("*.py") if path.stem != "__init__"])) <= most
    )


def test_floors_are_counted_along_the_longest_chain():
    assert floors({"a": {"b", "d"}, "b": {"c"}, "c": {"d"}, "d": set()}) == 4


def test_no_module_is_longer_than_it_may_be():
    long = {relative(path) for path in SOURCES if len(path.read_text(encoding="utf-8").splitlines()) > MODULE_LINES}
    assert not long, f"a module has at most {MODULE_LINES} lines"


def length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function without its docstring."""
    lines = (node.end_lineno or node.lineno) - node.lineno + 1
    first = node.body[0]
    if ast.get_docstring(node) is not None:
        lines -= (first.end_lineno or first.lineno) - first.lineno + 1
    return lines


def test_no_function_is_longer_than_it_may_be():
    long = {
        f"{relative(path)}:{node.name}"
        for path in SOURCES
        for node in ast.walk(parsed(path.read_text(encoding="utf-8")))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and length(node) > FUNCTION_LINES
    }
    assert not long, f"a function has at most {FUNCTION_LINES} lines"


def test_rooms_that_the_walls_name_exist():
    missing = [
        room for room in LATE if not ((ROOT / "kernels" / room).exists() or (ROOT / f"kernels/{room}.py").exists())
    ]
    assert not missing


def test_the_plan_of_the_house_names_every_room_and_no_other():
    tree = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("```\n")[2].partition("```")[0]
    for room in ("kernels", "companion"):
        named = tree.partition(f"\n{room}/")[2].partition("\n  ")[2]
        lines = itertools.takewhile(lambda line: line.startswith(" "), f"  {named}".splitlines())
        words = {
            word.partition("/")[0]
            for line in lines
            for word in re.findall(r"^  ((?:\S+/|\S+\.py ?)+)", line)[0].split()
        }
        there = {
            path.name for path in (ROOT / room).iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
        }
        assert words == there - {"__init__.py", "__main__.py"}, room


def test_the_plan_can_be_read_in_ten_minutes():
    assert len((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split()) <= 2000


def test_no_module_hides_behind_an_underscore():
    """Others import every module of a room, so none is private; what a peer runs apart is no module of ours."""
    rooms = [path for path in SOURCES if relative(path).partition("/")[0] != "peers"]
    hidden = [relative(path) for path in rooms if path.name.startswith("_") and not path.name.startswith("__")]
    assert not hidden


@pytest.mark.weekly
def test_types_fit():
    """``pyproject.toml`` says which; the first run takes half a minute, a second one a second, from ``.cache/mypy``."""
    command = [sys.executable, "-m", "mypy", "--no-error-summary"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("arguments", [["check"], ["format", "--check"]], ids=["check", "format"])
def test_the_tree_is_as_the_formatter_leaves_it(arguments):
    done = subprocess.run(
        [sys.executable, "-m", "ruff", *arguments, "--quiet", "."],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
