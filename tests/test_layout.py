"""Which folder may import which; style by ruff and types by mypy."""

import ast
import graphlib
import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "supercomputers_rerun"
#: Where the modules of ``supercomputers_rerun.kernels`` and its sisters lie.
ROOMS = {"kernels": ROOT / "kernels", **{name: ROOT / PACKAGE / name for name in ("companion", "peers")}}
#: What a kernel's module imports when it is imported itself; other libraries only inside the functions that need them.
KERNELS = {PACKAGE, "numpy", "numba", "llvmlite", "psutil", "scipy", "zlib_ng", *sys.stdlib_module_names}
#: What the rest of ``companion`` calls of the kernels; only chapters call the kernels themselves.
CALLED = ("kernels.runtime.", "kernels.mpi.world", "kernels.files.filesystem")


@cache
def sources(room: str) -> list[Path]:
    return sorted(ROOMS[room].rglob("*.py"))


def name_of(room: str, path: Path) -> str:
    return ".".join((room, *path.relative_to(ROOMS[room]).with_suffix("").parts)).removesuffix(".__init__")


@cache
def imports(path: Path) -> list[tuple[str, bool]]:
    """``(what, at once)`` of every import; ``from a import b`` is ``a.b``, and no other form names this package."""
    found, waiting = [], [(ast.parse(path.read_text(encoding="utf-8")), True)]
    while waiting:
        node, early = waiting.pop()
        if isinstance(node, ast.Import):
            found += [(each.name, early) for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: a relative import"
            found += [(f"{node.module}.{each.name}", early) for each in node.names]
        inside = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        waiting += [(child, early and not inside) for child in ast.iter_child_nodes(node)]
    return found


def breaches(room: str, breach) -> list[str]:
    """Imports of a room's modules for which ``breach(path inside the room, module, at once)`` holds; those of this
    package are named without it."""
    return [
        f"{path.relative_to(ROOT)}: {module}"
        for path in sources(room)
        for module, early in imports(path)
        if breach(path.relative_to(ROOMS[room]).parts, module.removeprefix(f"{PACKAGE}."), early)
    ]


def test_everything_of_ours_is_imported_under_one_name():
    """``kernels`` alone may be somebody else's package, and a module under two names is two modules."""
    paths = [path for room in ROOMS for path in sources(room)]
    paths += [path for folder in ("tests", "book") for path in (ROOT / folder).rglob("*.py")]
    found = [f"{path.name}: {module}" for path in paths for module, _ in imports(path) if module.split(".")[0] in ROOMS]
    assert found == []


def test_kernels_know_nothing_of_the_rest():
    rest = {"companion", "peers", "tests", "pandas", "matplotlib"}

    def breach(inside, module, early):
        top = module.partition(".")[0]
        return top in rest or (early and top not in KERNELS | {"kernels", "HOME"})

    assert breaches("kernels", breach) == []


def test_only_chapters_call_kernels_and_only_pages_call_chapters():
    """No chapter calls another, or a page."""
    chapters = ROOMS["companion"] / "chapters"

    def breach(inside, module, early):
        if module.startswith("companion.chapters.") and (chapters / module.split(".")[2]).is_dir():
            return inside[0] != "pages" and inside[:2] != ("chapters", module.split(".")[2])
        if module.partition(".")[0] in ("peers", "tests"):
            return True
        if inside[0] == "chapters":
            return module.startswith("companion.pages")
        return module.startswith("kernels.") and not module.startswith(CALLED)

    assert breaches("companion", breach) == []


def test_no_modules_import_each_other_not_even_late():
    paths = {name_of(room, path): path for room in ROOMS for path in sources(room)}
    graph: dict[str, set[str]] = {}
    for name, path in paths.items():
        found = {module.removeprefix(f"{PACKAGE}.") for module, _ in imports(path)}
        targets = {module if module in paths else module.rpartition(".")[0] for module in found}
        graph[name] = (targets & set(paths)) - {name}
    graphlib.TopologicalSorter(graph).prepare()  # CycleError names the modules of a circle


def test_nothing_is_unpickled():
    """Promise 4; numba reads its own files of compiled code."""
    banned = ("pickle", "cloudpickle", "dill", "joblib", "shelve", "marshal")

    def breach(inside, module, early):
        return module.partition(".")[0] in banned

    assert breaches("kernels", breach) + breaches("companion", breach) == []
    texts = [path.read_text(encoding="utf-8") for room in ("kernels", "companion") for path in sources(room)]
    assert not any("allow_pickle=True" in text for text in texts)


def test_no_stored_sentence_shows_a_name_of_the_program_in_braces():
    """As a string that has lost its ``f`` would."""
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            for output in cell.get("outputs", []):
                said = "".join(output.get("data", {}).get("text/markdown", ""))
                assert not re.search(r"\{[a-z_]+[.:(\['}]", said), (path.name, said)


@pytest.mark.parametrize(
    "command", ["ruff check --quiet .", "ruff format --check --quiet .", "mypy --no-error-summary"]
)
def test_style_and_types(command):
    """mypy takes 13 s the first time, and then 1 s from ``.cache/mypy``."""
    done = subprocess.run([sys.executable, "-m", *command.split()], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
