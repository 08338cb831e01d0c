"""The cache of compiled code follows the sources, survives damage and full disks, and trusts nobody else."""

import importlib
import os
import pickle
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.runtime import cache
from kernels.runtime.jit import kernel


def test_the_digest_follows_every_source():
    before = cache.source_digest()
    assert before == cache.source_digest()
    assert len(before) == 16


@pytest.fixture
def caches(tmp_path):
    """``caches(days, ...)`` makes one cache folder per age."""

    def build(*ages):
        folders = []
        for number, days in enumerate(ages):
            folder = tmp_path / f"rerun-{number:016x}"
            folder.mkdir()
            (folder / "code.nbc").write_bytes(b"x")
            os.utime(folder, (time.time() - days * 86400,) * 2)
            folders.append(folder)
        return folders

    return build


def test_old_caches_go_and_young_ones_stay(tmp_path, caches):
    keep, young, old = caches(100, 3, 40)
    others = [tmp_path / name for name in ("someone-elses", "0123456789abcdef", f"rerun-{9:016x}-mine")]
    for other in others:
        other.mkdir()
        os.utime(other, (0, 0))
    cache.prune(tmp_path, keep)
    assert keep.exists() and young.exists() and all(other.exists() for other in others)
    assert not old.exists()
    assert not list(tmp_path.glob("*.old"))


def test_many_caches_shrink_to_the_newest_but_todays_stay(tmp_path, caches):
    folders = caches(0, 0.1, 0.2, 2, 3, 4)
    cache.prune(tmp_path, folders[0], newest=3)
    assert [folder.exists() for folder in folders] == [True, True, True, True, False, False]
    cache.prune(tmp_path, folders[0], newest=0)
    assert [folder.exists() for folder in folders] == [True, True, True, False, False, False]


def test_pruning_survives_another_process(tmp_path, caches, monkeypatch):
    keep, old = caches(0, 40)
    monkeypatch.setattr(cache.Path, "rename", lambda self, target: (_ for _ in ()).throw(FileNotFoundError()))
    cache.prune(tmp_path, keep)
    assert old.exists()
    cache.prune(tmp_path / "absent", keep)


# --- damage, strangers, full disks -------------------------------------------------------------------


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200), st.data())
def test_a_file_with_any_byte_changed_or_cut_off_is_none(tmp_path_factory, payload, data):
    path = tmp_path_factory.mktemp("sealed") / "code.nbc"
    sealed = cache.seal(payload)
    place = data.draw(st.integers(0, len(sealed) - 1))
    flipped = bytearray(sealed)
    flipped[place] ^= data.draw(st.integers(1, 255))
    for damaged in (bytes(flipped), sealed[:place], sealed + b"x", b""):
        path.write_bytes(damaged)
        assert cache.unsealed(str(path)) is None
    path.write_bytes(sealed)
    assert cache.unsealed(str(path)) == payload


@pytest.mark.parametrize("mode", [0o666, 0o664, 0o646])
def test_what_others_can_write_is_not_read(tmp_path, mode):
    path = tmp_path / "code.nbc"
    path.write_bytes(cache.seal(b"code"))
    path.chmod(0o644)
    assert cache.unsealed(str(path)) == b"code"
    path.chmod(mode)
    assert cache.unsealed(str(path)) is None


def test_what_another_user_owns_is_not_read(tmp_path, monkeypatch):
    path = tmp_path / "code.nbc"
    path.write_bytes(cache.seal(b"code"))
    path.chmod(0o644)
    owned = os.stat(path)
    stranger = os.stat_result((*owned[:4], os.geteuid() + 4321, *owned[5:]))
    monkeypatch.setattr(cache.os, "fstat", lambda _: stranger)
    assert cache.unsealed(str(path)) is None


def test_a_fifo_a_folder_and_nothing_are_not_read(tmp_path):
    assert cache.unsealed(str(tmp_path)) is None
    assert cache.unsealed(str(tmp_path / "absent")) is None
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "device").symlink_to("/dev/zero")
    assert cache.unsealed(str(tmp_path / "fifo")) is None
    assert cache.unsealed(str(tmp_path / "device")) is None


class Bomb:
    """A pickle that leaves a mark when somebody opens it."""

    def __init__(self, mark):
        self.mark = str(mark)

    def __reduce__(self):
        return os.mkdir, (self.mark,)


def small_copy(root):
    """A package of one kernel, with the modules that compile and keep it."""
    package = root / "kernels"
    (package / "runtime").mkdir(parents=True)
    for name in ("__init__.py", "runtime/__init__.py"):
        (package / name).write_text("")
    for name in ("cache.py", "dispatch.py", "interrupts.py", "jit.py", "library.py", "target.py"):
        shutil.copy(Path(cache.__file__).with_name(name), package / "runtime" / name)
    (package / "outer.py").write_text(
        "from kernels.runtime.jit import kernel\n\n@kernel\ndef outer(x):\n    return 10 * x\n"
    )
    return root


#: Each piece of code runs in a fork, which then imports the copy and says what it answers, and whether from the cache.
CHILDREN = """
import os, sys, numba
sys.path.insert(0, os.getcwd())
sys.dont_write_bytecode = True  # two edits of one second look the same to Python
numba.njit(lambda x: x)(1.0)  # what a first compilation sets up, all of them have
for before in sys.argv[1:]:
    if os.fork():
        _, status = os.wait()
        if status:
            sys.exit(1)
    else:
        exec(before)
        from kernels.outer import outer
        print(outer(2.0), sum(outer.stats.cache_hits.values()), flush=True)
        os._exit(0)
"""
OWN = """
from kernels.runtime.jit import kernel
from own import doubled
print(doubled(2.0), repr(numba.config.CACHE_DIR), doubled.stats.cache_path)
"""
HELPER = "from kernels.runtime.jit import kernel\n\n@kernel\ndef helper(x):\n    return x + {}\n"
OUTER = (
    "from kernels.runtime.jit import kernel\nfrom kernels.helper import helper\n\n"
    "@kernel\ndef outer(x):\n    return 10 * helper(x)\n"
)
FULL = """
import resource, signal
os.environ["XDG_CACHE_HOME"] = "full"
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """What a copy says whose helper is edited, whose disk is full and whose functions are interpreted: its folder, the
    lines, and what came on stderr."""
    root = small_copy(tmp_path_factory.mktemp("copy"))
    (root / "kernels" / "outer.py").write_text(OUTER)
    (root / "own.py").write_text("import numba\n\n@numba.njit(cache=True)\ndef doubled(x):\n    return 2 * x\n")
    first, second = (f"open('kernels/helper.py', 'w').write({HELPER.format(number)!r})" for number in (1, 2))
    steps = [first, "", second, OWN, FULL, "numba.config.DISABLE_JIT = 1"]
    given = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    given["XDG_CACHE_HOME"] = "cache"
    command = [sys.executable, "-c", CHILDREN, *steps]
    done = subprocess.run(command, env=given, text=True, capture_output=True, cwd=root)
    assert done.returncode == 1  # the last
    return root, done.stdout.splitlines(), done.stderr


def test_an_edited_helper_never_answers_with_old_machine_code(said):
    """numba alone keeps the old code of a cached caller; the digest in the cache's path does not."""
    root, lines, _ = said
    assert lines[:3] == ["30.0 0", "30.0 1", "40.0 0"]
    folders = {part for path in (root / "cache").rglob("*.nbi") for part in path.parts if part.startswith("rerun-")}
    assert len(folders) == 2


def test_importing_kernels_leaves_the_cache_of_other_code_alone(said):
    """A function of the reader's own, cached by numba itself, goes where numba puts it."""
    root, lines, _ = said
    value, setting, folder = lines[3].split()
    assert (value, setting) == ("4.0", "''") and lines[4] == "40.0 1"
    assert Path(folder).is_relative_to(root) and not Path(folder).is_relative_to(root / "cache")
    assert list(Path(folder).glob("own.doubled*.nbi"))


def test_a_full_disk_costs_one_warning_and_leaves_no_temporary(said):
    root, lines, errors = said
    assert lines[5:] == ["40.0 0"]
    assert errors.count("compiled code is not kept") == 1 and "the next run compiles again" in errors
    assert [path for path in (root / "full").rglob("*") if path.is_file() and ".tmp." in path.name] == []


def test_interpreted_kernels_are_refused_in_a_sentence(said):
    sentence = said[2].splitlines()[-1]
    assert "NUMBA_DISABLE_JIT is set" in sentence and "unset it" in sentence


def test_damaged_files_are_compiled_anew_and_no_foreign_pickle_is_opened(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "CACHE_FOLDER", tmp_path / "cache")
    monkeypatch.syspath_prepend(str(small_copy(tmp_path / "copy") / "kernels"))

    def anew():
        """The answer of a module that is imported anew, as by another process, and whether it was compiled before."""
        sys.modules.pop("outer", None)
        outer = importlib.import_module("outer").outer
        return outer(2.0), sum(outer.stats.cache_hits.values())

    assert [anew(), anew()] == [(20.0, 0), (20.0, 1)]
    files = [path for path in tmp_path.rglob("*.nb?")]
    assert len(files) == 2
    bomb = pickle.dumps(Bomb(tmp_path / "mark"))
    for damage in (lambda data: data[: len(data) // 2], lambda data: bomb, lambda data: b"", lambda data: data + b"x"):
        for path in files:
            path.write_bytes(damage(path.read_bytes()))
        assert anew() == (20.0, 0)
        assert all(cache.unsealed(str(path)) for path in files)  # written again
    assert anew() == (20.0, 1) and not (tmp_path / "mark").exists()
    sys.modules.pop("outer")


@pytest.mark.skipif(cache.fcntl is None, reason="no locks of files here")
@pytest.mark.parametrize("longest", [0.0, 60.0])
def test_who_asks_while_another_compiles_waits_for_its_file(tmp_path, monkeypatch, longest):
    """As ranks of a job do; who has waited for ``longest`` compiles for itself."""
    monkeypatch.setattr(cache, "CACHE_FOLDER", tmp_path)
    monkeypatch.setattr(cache, "_LONGEST", longest)

    def outer(x):
        return 10 * x

    first, second = kernel(outer), kernel(outer)
    assert first(2.0) == 20.0
    (index,) = tmp_path.rglob("*.nbi")
    index.rename(index.with_suffix(".away"))  # the other process has not finished
    hold, waiting = cache._hold, threading.Event()
    held = hold(index.with_suffix(".lock"))
    if longest:
        monkeypatch.setattr(cache, "_hold", lambda path: waiting.set() or hold(path))
    else:
        waiting.set()
    asking = threading.Thread(target=second, args=(2.0,))
    asking.start()
    assert waiting.wait(60.0)
    if longest:
        index.with_suffix(".away").rename(index)
        held.close()
    asking.join()
    held.close()
    assert sum(second.stats.cache_hits.values()) == (longest > 0) and second(3.0) == 30.0
    assert first._cache._lock is second._cache._lock is None


def test_no_writable_place_costs_one_warning(tmp_path, monkeypatch):
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    monkeypatch.setattr(cache, "__file__", str(tmp_path / "no" / "checkout" / "cache.py"))
    with pytest.warns(RuntimeWarning, match="every run compiles again") as said:
        monkeypatch.setattr(cache, "CACHE_FOLDER", cache.cache_folder())
    assert len(said) == 1 and list(tmp_path.iterdir()) == []

    @kernel
    def outer(x):
        return 10 * x

    assert outer(2.0) == 20.0 and list(tmp_path.iterdir()) == []


def test_a_named_folder_is_used_under_the_digest(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "named"))
    folder = cache.cache_folder()
    assert folder == tmp_path / "named" / f"rerun-{cache.source_digest()}" and folder.is_dir()


def test_a_user_without_a_home_has_no_place(monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(cache.Path, "home", lambda: (_ for _ in ()).throw(RuntimeError("no home")))
    monkeypatch.setattr(cache.Path, "exists", lambda self: False)
    assert cache._places() == []
    with pytest.warns(RuntimeWarning, match="no home folder.*NUMBA_CACHE_DIR"):
        assert cache.cache_folder() is None


def test_temporaries_of_killed_writers_go(tmp_path):
    keep = tmp_path / f"rerun-{1:016x}"
    keep.mkdir()
    old, young, code = (keep / name for name in ("a.nbc.tmp.1", "b.nbc.tmp.2", "a.nbc"))
    for path in (old, young, code):
        path.write_bytes(b"x")
    os.utime(old, (time.time() - 7200,) * 2)
    os.utime(code, (time.time() - 7200,) * 2)
    cache.prune(tmp_path, keep)
    assert (old.exists(), young.exists(), code.exists()) == (False, True, True)
