"""Which folder may import which, and how large each may be; style by ruff and types by mypy."""

import ast
import graphlib
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
#: Lines at most: ``.py`` and C, of the book also JavaScript, CSS and HTML.  These numbers only ever go down.
LINES = {
    "kernels/analysis": 1346,
    "kernels/bt": 1728,
    "kernels/files": 2493,
    "kernels/gridpoint": 2583,
    "kernels/imaging": 2698,
    "kernels/jobs": 571,
    "kernels/memory": 1388,
    "kernels/mpi": 1200,
    "kernels/portable": 871,
    "kernels/processor": 447,
    "kernels/routines": 1284,
    "kernels/runtime": 1496,
    "kernels/shallow_water": 1188,
    "kernels/spectral": 2717,
    "companion/chapters": 5600,
    "companion": 12865,
    "peers": 2107,
    "book": 2282,
    "tests": 12609,
}
PRODUCTION = 39_979
#: What a kernel's module imports when it is imported itself; other libraries only inside the functions that need them.
KERNELS = {"kernels", "numpy", "numba", "llvmlite", "psutil", "scipy", "zlib_ng", *sys.stdlib_module_names}
#: What the rest of ``companion`` calls of the kernels; only chapters call the kernels themselves.
CALLED = ("kernels.runtime.", "kernels.mpi.world", "kernels.files.filesystem")


@cache
def sources(room: str) -> list[Path]:
    kinds = {".py", ".c", *((".js", ".css", ".html") if room == "book" else ())}
    paths = [path for path in (ROOT / room).rglob("*") if path.suffix in kinds]
    return sorted(path for path in paths if not {"_build"} & set(path.parts))


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@cache
def imports(path: Path) -> list[tuple[str, bool]]:
    """``(what, at once)`` of every import; ``from a import b`` is ``a.b``."""
    found, waiting = [], [(ast.parse(path.read_text(encoding="utf-8")), True)]
    while waiting:
        node, early = waiting.pop()
        if isinstance(node, ast.Import):
            found += [(each.name, early) for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            home = ".".join(path.relative_to(ROOT).parts[: -node.level]) + "." if node.level else ""
            base = f"{home}{node.module or ''}".rstrip(".")
            found += [(f"{base}.{each.name}", early) for each in node.names]
        inside = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        waiting += [(child, early and not inside) for child in ast.iter_child_nodes(node)]
    return found


def breaches(room: str, breach) -> list[str]:
    """Imports of a room's modules for which ``breach(path inside the room, module, at once)`` holds."""
    return [
        f"{path.relative_to(ROOT)}: {module}"
        for path in sources(room)
        if path.suffix == ".py"
        for module, early in imports(path)
        if breach(path.relative_to(ROOT / room).parts, module, early)
    ]


def test_kernels_know_nothing_of_the_rest():
    rest = {"companion", "peers", "tests", "pandas", "matplotlib"}

    def breach(inside, module, early):
        top = module.partition(".")[0]
        return top in rest or (early and top not in KERNELS)

    assert breaches("kernels", breach) == []


def test_only_chapters_call_kernels_and_no_chapter_another():
    def breach(inside, module, early):
        if module.startswith("companion.chapters.") and (ROOT / "companion/chapters" / module.split(".")[2]).is_dir():
            return inside[:2] != ("chapters", module.split(".")[2])
        foreign = module.partition(".")[0] in ("peers", "tests")
        return foreign or (module.startswith("kernels.") and inside[0] != "chapters" and not module.startswith(CALLED))

    assert breaches("companion", breach) == []


def test_no_modules_import_each_other_not_even_late():
    paths = {name_of(path): path for room in ("kernels", "companion", "peers") for path in sources(room)}
    graph: dict[str, set[str]] = {}
    for name, path in paths.items():
        found = {module for module, _ in imports(path)} if path.suffix == ".py" else set()
        targets = {module if module in paths else module.rpartition(".")[0] for module in found}
        graph[name] = (targets & set(paths)) - {name}
    graphlib.TopologicalSorter(graph).prepare()  # CycleError names the modules of a circle


def test_nothing_is_unpickled():
    """Promise 4; numba reads its own files of compiled code."""
    banned = ("pickle", "cloudpickle", "dill", "joblib", "shelve", "marshal")
    found = [each for room in ("kernels", "companion") for each in breaches(room, lambda _, name, __: name in banned)]
    assert found == []
    texts = [path.read_text(encoding="utf-8") for room in ("kernels", "companion") for path in sources(room)]
    assert not any("allow_pickle=True" in text for text in texts)


def lines(room: str) -> int:
    return sum(path.read_text(encoding="utf-8").count("\n") for path in sources(room))


@pytest.mark.parametrize("room", LINES)
def test_a_folder_is_no_larger_than_it_may_be(room):
    assert lines(room) <= LINES[room]


def test_production_is_no_larger_than_it_may_be():
    assert sum(map(lines, ("kernels", "companion", "peers", "book", "supercomputers_rerun"))) <= PRODUCTION


@pytest.mark.parametrize(
    "command", ["ruff check --quiet .", "ruff format --check --quiet .", "mypy --no-error-summary"]
)
def test_style_and_types(command):
    """mypy takes 13 s the first time, and then 1 s from ``.cache/mypy``."""
    done = subprocess.run([sys.executable, "-m", *command.split()], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
