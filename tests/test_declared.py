"""Every library that the code imports is declared: in the base where a small installation needs it, or in an extra."""

import ast
import importlib.metadata
import re
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name
from test_walls import imports

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
OWN = {"kernels", "companion", "peers", "supercomputers_rerun", "setup"}
#: Late imports of what no index brings as a wheel for every platform; the code says what to install.
ELSEWHERE = {"casacore", "_shtns", "dinosaur", "jax", "IPython.lib"}
#: Where code lies -> extras that may bring what it imports beside the base.
ROOMS = {
    "kernels": {"mpi", "formats", "imaging"},
    "companion": {"mpi", "formats", "notebooks"},
    "companion/pages": {"notebooks", "book"},
    "peers": {"mpi", "peers"},
    "supercomputers_rerun": set(),
    "book": {"notebooks", "book"},
    "notebooks": {"notebooks", "mpi", "formats", "imaging"},
    "tests": {"mpi", "formats", "imaging", "notebooks", "peers", "book", "test"},
    "conftest.py": {"test"},
}


@cache
def _distributions():
    return importlib.metadata.packages_distributions()


def _declared(texts):
    return {canonicalize_name(re.match(r"[A-Za-z0-9._-]+", text)[0]) for text in texts}


BASE = _declared(PROJECT["dependencies"])
EXTRAS = {name: _declared(texts) for name, texts in PROJECT["optional-dependencies"].items()}


def undeclared(module, extras):
    """The distribution that a module of others needs, where neither the base nor ``extras`` bring it."""
    return _undeclared(module.partition(".")[0], frozenset(extras))


@cache
def _undeclared(top, extras):
    if top in OWN | sys.stdlib_module_names or top in ELSEWHERE:
        return None
    names = {canonicalize_name(name) for name in _distributions().get(top, [top])}
    allowed = BASE.union(*(EXTRAS[extra] for extra in extras))
    return None if names & allowed else sorted(names)[0]


def _rooms(path):
    """The extras of the longest folder that holds a file."""
    name = path.relative_to(ROOT).as_posix()
    return ROOMS[max((room for room in ROOMS if f"{name}/".startswith(f"{room}/")), key=len)]


def _sources():
    for room in ("kernels", "companion", "peers", "supercomputers_rerun", "book", "tests", "conftest.py"):
        place = ROOT / room
        yield from [place] if place.is_file() else sorted(place.rglob("*.py"))


@cache
def _stems(folder):
    return {path.stem for path in folder.glob("*.py")}


def _beside(path):
    """Modules that lie where a test or a page's extension imports them from."""
    others = ("tests", "tests/book", "tests/kernels", "tests/kernels/mpi", "book", "book/_ext")
    rooms = (path.parent, *(ROOT / name for name in others))
    return set().union(*map(_stems, rooms))


def test_every_import_is_declared_where_it_is_needed():
    wrong = {}
    for path in _sources():
        if "_build" in path.parts:
            continue
        own = _beside(path) if path.is_relative_to(ROOT / "tests") or path.is_relative_to(ROOT / "book") else set()
        found = {
            name
            for module, _ in imports(path.read_text(encoding="utf-8"), "x")
            if module.partition(".")[0] not in own and (name := undeclared(module, _rooms(path)))
        }
        if found - {"x"}:
            wrong[path.relative_to(ROOT).as_posix()] = sorted(found - {"x"})
    assert wrong == {}


def test_what_a_small_installation_imports_first_is_in_the_base():
    """Imports that run with the module, of everything but figures, pages and what JupyterLab starts."""
    late = ("figures", "pages", "lab_files.py", "notebooks.py", "record_figures.py", "hostmodel.py")
    for room in ("kernels", "companion"):
        for path in sorted((ROOT / room).rglob("*.py")):
            if set(path.relative_to(ROOT).parts) & set(late):
                continue
            for module, in_function in imports(path.read_text(encoding="utf-8"), "x"):
                if not in_function and not module.startswith("x"):
                    assert undeclared(module, ()) is None, f"{path}: {module}"


def test_every_extra_is_declared_that_a_sentence_names():
    named = set()
    for path in [*(ROOT / "companion").rglob("*.py"), *(ROOT / "kernels").rglob("*.py")]:
        named |= set(re.findall(r"supercomputers-rerun\[(\w+)\]", path.read_text(encoding="utf-8")))
    from companion.extras import EXTRAS as by_module
    from kernels.runtime.optional import EXTRAS as by_kernel

    assert named | set(by_module.values()) | set(by_kernel.values()) <= set(EXTRAS)
    for module, extra in {**by_module, **by_kernel}.items():
        assert undeclared(module, [extra]) is None, f"{extra} does not bring {module}"


@pytest.mark.parametrize(
    ("module", "extras", "missing"),
    [
        ("numpy.linalg", (), None),
        ("matplotlib.pyplot", (), "matplotlib"),
        ("matplotlib.pyplot", ("notebooks",), None),
        ("bs4", ("notebooks",), "beautifulsoup4"),
        ("nowhere", ("test",), "nowhere"),
        ("ast", (), None),
    ],
)
def test_the_look_sees_what_is_missing(module, extras, missing):
    assert undeclared(module, extras) == missing
    assert ast.parse(f"import {module}")
