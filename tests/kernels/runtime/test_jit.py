"""How code is compiled and kept: the policy, wrappers for what Python calls alone, the cache that follows sources."""

import ast
import importlib
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from numba._dispatcher import compute_fingerprint
from numba.core import caching
from numba.core.ccallback import CFunc

from supercomputers_rerun.kernels.runtime import jit
from supercomputers_rerun.kernels.runtime.jit import CONTRACT, FINITE, REDUCE, STRICT, bare, kernel

MADE = """
from supercomputers_rerun.kernels.runtime.jit import kernel

@kernel
def inner(x):
    if x < 0:
        raise ValueError("no root of", x)
    return x ** 0.5

@kernel
def outer(x):
    return 2.0 * inner(x)
"""


def results(function):
    """Whether each compiled form of a function is bare."""
    return [bare(result) for result in function.overloads.values()]


@kernel(cache=False)
def strict_sum(values):
    total = 0.0
    for index in range(np.uint64(values.size)):
        total += values[np.uint64(index)]
    return total


def test_strict_code_adds_in_the_order_written_and_divides_as_ieee():
    values = np.array([1e16, 1.0, -1e16, 1.0] * 64)  # 1 is lost beside 1e16: the answer tells the order of additions
    assert strict_sum(values) == sum(values) != 128.0
    reduced = kernel(strict_sum.py_func, fastmath=REDUCE, cache=False)
    plain = np.random.default_rng(0).random(1000)
    assert reduced(plain) == pytest.approx(strict_sum(plain), rel=1e-13)
    assert "reassoc" in reduced.inspect_llvm(reduced.signatures[0])
    assert kernel(lambda a, b: a / b, cache=False)(1.0, 0.0) == np.inf


def test_flags_are_named():
    for flags in (REDUCE, CONTRACT, FINITE, STRICT):
        assert not flags & {"fast", "afn"}
    for flags in (True, "reassoc", None):
        with pytest.raises(TypeError, match="set of LLVM flag names"):
            kernel(fastmath=flags)


def test_an_inner_function_has_no_wrapper_until_python_calls_it(tmp_path, monkeypatch):
    monkeypatch.setattr(jit, "CACHE_FOLDER", tmp_path)  # nothing is read that an earlier run has kept

    @kernel
    def inner(x):
        return x + 1.0

    @kernel
    def outer(x, many):
        for i in range(many.size):
            many[i] = inner(x)

    many = np.empty(3)
    outer(1.0, many)
    assert list(many) == [2.0] * 3 and (results(inner), results(outer)) == ([True], [False])
    assert inner(1.0) == 2.0 and results(inner) == [False]


@pytest.fixture
def made(tmp_path, monkeypatch):
    """``made()`` imports a module of two functions anew, as another process would; its cache stays."""
    monkeypatch.setattr(jit, "CACHE_FOLDER", tmp_path / "cache")
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "made_here.py").write_text(MADE)

    def anew():
        sys.modules.pop("made_here", None)
        return importlib.import_module("made_here")

    yield anew
    sys.modules.pop("made_here", None)


def hits(function):
    return sum(function.stats.cache_hits.values())


def test_both_forms_are_kept_and_raise_what_they_say(made):
    assert made().outer(1.0) == 2.0
    second = made()
    assert second.inner(1.0) == 1.0 and hits(second.inner) == 0  # kept without wrappers alone
    third = made()
    assert third.inner(1.0) == 1.0 and third.outer(1.0) == 2.0
    assert (hits(third.inner), hits(third.outer)) == (1, 1)
    with pytest.raises(ValueError, match="no root of") as caught:  # by way of an environment
        third.outer(-1.0)
    assert caught.value.args == ("no root of", -1.0)


def test_an_edited_helper_or_another_setting_never_answers_with_old_machine_code(tmp_path, monkeypatch):
    """numba alone keeps the old code of a cached caller; the digest in the cache's path does not."""
    package = shutil.copytree(Path(jit.__file__).parent, tmp_path / "kernels" / "runtime")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "named"))
    monkeypatch.setattr(jit, "__file__", str(package / "jit.py"))
    folders = []
    for text, settings in (("x = 1", ""), ("x = 2", ""), ("x = 2", "NUMBA_OPT=1")):
        monkeypatch.setattr(jit, "settings", lambda settings=settings: settings)
        jit.source_digest.cache_clear()
        (tmp_path / "kernels" / "helper.py").write_text(text)
        folders.append(jit.cache_folder())
    jit.source_digest.cache_clear()
    assert len(set(folders)) == 3 and all(folder.parent == tmp_path / "named" for folder in folders)


def test_no_writable_place_costs_one_warning(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/dev/null")
    with pytest.warns(UserWarning, match="compiled code is not kept") as said:
        monkeypatch.setattr(jit, "CACHE_FOLDER", jit.cache_folder())
    assert len(said) == 1 and jit.CACHE_FOLDER is None and kernel(strict_sum.py_func)(np.ones(3)) == 3.0


#: Private names of numba that kernels use, where they stand; what each buys is said beside them.  ``_asdict`` and
#: ``_replace`` are public names of named tuples, ``_sizeof`` and ``_handleof`` of mpi4py.
PRIVATE = {
    "jit.py": {
        "_cache",
        "_cache_file",
        "_compiler",
        "_customize_flags",
        "_data_name_pattern",
        "_load_overload",
        "_py_file",
    },
    "team.py": {"numba._dispatcher"},
    "wasm.py": {"_compile_uncached"},
    "frozen.py": {"_getvalue"},
}
PUBLIC = {"_asdict", "_replace", "_fields", "_sizeof", "_handleof"}


def test_no_other_private_name_of_a_library_is_used():
    used: dict[str, set[str]] = {}
    own = set()
    for path in Path(jit.__file__).parents[1].rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.ctx, ast.Store)
                and ast.unparse(node.value) == "self"
            ):
                own.add(node.attr)
            elif isinstance(node, ast.Attribute):
                used.setdefault(path.name, set()).add(node.attr)
            elif isinstance(node, ast.FunctionDef | ast.ClassDef):
                own.add(node.name)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                own.add(node.id)
            elif isinstance(node, ast.ImportFrom) and "._" in node.module:
                used.setdefault(path.name, set()).add(node.module)
    own -= set.union(*PRIVATE.values())
    private = {
        file: {
            name for name in names - own - PUBLIC if name.startswith("_") and not name.startswith("__") or "._" in name
        }
        for file, names in used.items()
    }
    assert {file: names for file, names in private.items() if names} == PRIVATE


def test_the_private_names_are_still_there():
    """A numba that renames one fails here, by the name, and not somewhere in a kernel."""
    function = kernel(lambda x: x, cache=False)
    for thing, names in (
        (caching.FunctionCache, ("_impl_class", "_index_key", "_load_overload")),
        (caching.CompileResultCacheImpl, ("_locator_classes",)),
        (function, ("_cache", "_compiler", "overloads")),
        (function._compiler, ("_customize_flags",)),
        (jit.Cache(test_flags_are_named)._cache_file, ("_data_name_pattern",)),
        (CFunc, ("_compile_uncached",)),
    ):
        assert [name for name in names if not hasattr(thing, name)] == []
    assert compute_fingerprint((1, 2.0)) != compute_fingerprint((1, 2))


def test_compiling_is_said_once_and_on_a_terminal_alone(monkeypatch, capsys):
    jit.say_that_it_compiles.cache_clear()
    jit.say_that_it_compiles()
    assert capsys.readouterr().err == ""
    jit.say_that_it_compiles.cache_clear()
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    jit.say_that_it_compiles()
    jit.say_that_it_compiles()
    assert capsys.readouterr().err.count("compiles") == 1
