"""The compile policy, on compiled code; the machine-code cache follows the sources."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from kernels.runtime import jit
from kernels.runtime.jit import FINITE, REDUCE, kernel, versions

ROOT = Path(jit.__file__).parents[2]


@kernel(cache=False)
def strict_sum(values):
    total = 0.0
    for index in range(np.uint64(values.size)):
        total += values[np.uint64(index)]
    return total


@kernel(fastmath=REDUCE, cache=False)
def reduced_sum(values):
    total = 0.0
    for index in range(np.uint64(values.size)):
        total += values[np.uint64(index)]
    return total


@kernel(cache=False)
def quotient(a, b):
    return a / b


@kernel(fastmath=REDUCE, cache=False)
def is_nan(value):
    return value != value


def test_strict_code_adds_in_the_order_written():
    # 1 is lost beside 1e16 in every order but one: the answer tells the order of additions.
    values = np.array([1e16, 1.0, -1e16, 1.0] * 64)
    expected = 0.0
    for value in values:
        expected += value
    assert strict_sum(values) == expected
    assert expected != 128.0


def test_named_flags_change_order_only():
    values = np.random.default_rng(0).random(1000)
    assert reduced_sum(values) == pytest.approx(strict_sum(values), rel=1e-13)
    (code,) = [reduced_sum.inspect_llvm(signature) for signature in reduced_sum.signatures]
    assert "reassoc" in code
    assert " fast " not in code
    assert is_nan(float("nan"))


def test_division_follows_ieee():
    assert quotient(1.0, 0.0) == float("inf")
    assert np.isnan(quotient(0.0, 0.0))


def test_policy_of_a_compiled_function():
    options = strict_sum.targetoptions
    assert options["nogil"] and options["error_model"] == "numpy"
    assert not options["fastmath"]


@pytest.mark.parametrize("flags", [True, False, "reassoc", ["reassoc"], None])
def test_fastmath_that_names_no_set_is_refused(flags):
    with pytest.raises(TypeError, match="set of LLVM flag names"):
        kernel(fastmath=flags)


def test_a_misspelt_flag_is_refused():
    @kernel(fastmath={"reasoc"}, cache=False)
    def double(x):
        return 2 * x

    with pytest.raises(ValueError, match="reasoc"):
        double(1.0)


def test_no_predefined_set_holds_every_flag():
    everything = {"nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc", "fast"}
    for flags in (jit.REDUCE, jit.CONTRACT, FINITE, jit.STRICT):
        assert flags < everything
        assert "fast" not in flags and "afn" not in flags


def test_versions_name_the_compiler_chain():
    assert set(versions()) == {"numba", "llvmlite"}


def test_the_digest_follows_every_source():
    before = jit.source_digest()
    assert before == jit.source_digest()
    assert len(before) == 16


CHAIN = """
import sys; sys.path.insert(0, {root!r})
from kernels.runtime import jit
from kernels.outer import outer
print(outer(1.0), jit.CACHE_FOLDER)
"""


def run_copy(root, cache):
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    environment.pop("NUMBA_CACHE_DIR", None)
    done = subprocess.run(
        [sys.executable, "-c", CHAIN.format(root=str(root))],
        env=environment,
        text=True,
        capture_output=True,
        cwd=root,
        check=True,
    )
    value, folder = done.stdout.split(maxsplit=1)
    return float(value), Path(folder.strip())


def test_an_edited_helper_never_answers_with_old_machine_code(tmp_path):
    """numba alone keeps the old code of a cached caller; the digest in the cache's path does not."""
    root, package = tmp_path / "copy", tmp_path / "copy" / "kernels"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "runtime").mkdir()
    (package / "runtime" / "__init__.py").write_text("")
    shutil.copy(jit.__file__, package / "runtime" / "jit.py")
    helper = "from kernels.runtime.jit import kernel\n\n@kernel\ndef helper(x):\n    return x + {}\n"
    (package / "helper.py").write_text(helper.format(1))
    (package / "outer.py").write_text(
        "from kernels.runtime.jit import kernel\nfrom kernels.helper import helper\n\n"
        "@kernel\ndef outer(x):\n    return 10 * helper(x)\n"
    )
    first, folder = run_copy(root, tmp_path / "cache")
    again, same = run_copy(root, tmp_path / "cache")
    (package / "helper.py").write_text(helper.format(2))
    edited, other = run_copy(root, tmp_path / "cache")
    assert (first, again, edited) == (20.0, 20.0, 30.0)
    assert folder == same != other
    assert folder.is_relative_to(tmp_path / "cache")
    assert list(folder.rglob("*.nbi"))


OWN = """
import sys; sys.path.insert(0, {root!r})
import numba
from kernels.runtime.jit import CACHE_FOLDER, kernel
from own import doubled
print(doubled(2.0), repr(numba.config.CACHE_DIR), doubled.stats.cache_path)
"""


def test_importing_kernels_leaves_the_cache_of_other_code_alone(tmp_path):
    """A function of the reader's own, cached by numba itself, goes where numba puts it."""
    (tmp_path / "own.py").write_text("import numba\n\n@numba.njit(cache=True)\ndef doubled(x):\n    return 2 * x\n")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    root = str(Path(jit.__file__).parents[2])
    command = [sys.executable, "-c", OWN.format(root=root)]
    done = subprocess.run(command, env=environment, text=True, capture_output=True, cwd=tmp_path, check=True)
    value, setting, folder = done.stdout.split()
    assert (value, setting) == ("4.0", "''")
    assert Path(folder).is_relative_to(tmp_path) and list(Path(folder).glob("own.doubled*.nbi"))


@pytest.fixture
def caches(tmp_path):
    """``caches(days, ...)`` makes one cache folder per age."""

    def build(*ages):
        folders = []
        for number, days in enumerate(ages):
            folder = tmp_path / f"{number:016x}"
            folder.mkdir()
            (folder / "code.nbc").write_bytes(b"x")
            os.utime(folder, (time.time() - days * 86400,) * 2)
            folders.append(folder)
        return folders

    return build


def test_old_caches_go_and_young_ones_stay(tmp_path, caches):
    keep, young, old = caches(100, 3, 40)
    (tmp_path / "someone-elses").mkdir()
    os.utime(tmp_path / "someone-elses", (0, 0))
    jit._prune(tmp_path, keep)
    assert keep.exists() and young.exists() and (tmp_path / "someone-elses").exists()
    assert not old.exists()
    assert not list(tmp_path.glob("*.old"))


def test_many_caches_shrink_to_the_newest_but_todays_stay(tmp_path, caches):
    folders = caches(0, 0.1, 0.2, 2, 3, 4)
    jit._prune(tmp_path, folders[0], newest=3)
    assert [folder.exists() for folder in folders] == [True, True, True, True, False, False]
    jit._prune(tmp_path, folders[0], newest=0)
    assert [folder.exists() for folder in folders] == [True, True, True, False, False, False]


def test_pruning_survives_another_process(tmp_path, caches, monkeypatch):
    keep, old = caches(0, 40)
    monkeypatch.setattr(jit.Path, "rename", lambda self, target: (_ for _ in ()).throw(FileNotFoundError()))
    jit._prune(tmp_path, keep)
    assert old.exists()
    jit._prune(tmp_path / "absent", keep)
