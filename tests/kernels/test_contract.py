"""The words of a kernel: checks, work, presets, refusals; and that every kernel of the package keeps to them."""

import inspect
import math
import shutil
import sys
import tracemalloc
from dataclasses import astuple, dataclass, is_dataclass, replace
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernels_found import KERNELS, every_kernel, every_single, small

from kernels.contract import Check, Footprint, Kernel, Presets, Work, require_choice, require_range
from kernels.memory import stride
from kernels.runtime import pages, resources

FINITE = st.floats(-1e9, 1e9)


@given(FINITE, FINITE, st.floats(0, 1e6))
def test_near_is_an_absolute_comparison(value, expected, tolerance):
    assert Check.near("x", value, expected, tolerance).ok == (abs(value - expected) <= tolerance)


@given(FINITE, st.floats(1e-3, 1e9), st.floats(0, 1))
def test_relative_scales_with_the_expected_value(value, expected, tolerance):
    found = Check.relative("x", value, -expected, tolerance)
    assert found.ok == (abs(value + expected) <= tolerance * expected)


@pytest.mark.parametrize(
    "check",
    [
        Check.near("x", math.nan, 0.0, math.inf),
        Check.near("x", 0.0, math.nan, 1.0),
        Check.relative("x", math.nan, 1.0, 1.0),
    ],
)
def test_nan_never_passes(check):
    assert check.ok is False
    assert "FAILED" in str(check)


def test_checks_hold_plain_numbers():
    check = Check.near("x", np.float32(1.0), np.int64(1), 0)
    assert type(check.value) is type(check.expected) is float
    assert check.ok is True
    assert str(check) == "x: 1, expected 1 ± 0: ok"


def test_work_adds_its_bytes():
    assert Work(bytes_read=3, bytes_written=4).bytes == 7
    assert Work() == Work(0, 0, 0, ())
    assert Work(1, 2, 3, (("a", 4),)).times(2) == Work(2, 4, 6, (("a", 8),))


def test_a_kernel_is_recognised_by_its_words(toy):
    assert isinstance(toy, Kernel)
    assert not isinstance(math, Kernel)


@dataclass(frozen=True)
class Grid(Presets):
    N: int
    NS: int = 200
    PRESETS: ClassVar = {"quick": {"N": 12, "NS": 60}, "paper": {"N": 64}}


def test_presets():
    assert Grid.preset("quick") == Grid(12, 60)
    assert Grid.preset("paper", NS=5) == Grid(64, 5)
    with pytest.raises(ValueError, match="preset = 'huge' is unknown.*'quick', 'paper'"):
        Grid.preset("huge")
    with pytest.raises(ValueError, match="no field 'M'"):
        Grid.preset("quick", M=1)


@given(st.integers(-100, 100), st.integers(-50, 0), st.integers(0, 50))
def test_whole_ranges(value, low, high):
    if low <= value <= high:
        require_range("N", value, low, high)
    else:
        with pytest.raises(ValueError, match=f"N = {value} is outside {low} … {high}"):
            require_range("N", value, low, high)


@pytest.mark.parametrize(
    ("values", "ends", "sentence"),
    [
        ([1.0, True, "1", None, math.nan], (0, 5, "MB"), "must be a whole number in 0 … 5 MB"),
        (["1", None, True, 1j], (0.0, 1.0), "x = .* must be a number in 0.0 … 1.0"),
        ([math.nan, math.inf, -0.1, 2], (0.0, 1.0, "s"), "x = .* s is outside"),
    ],
)
def test_a_range_wants_numbers_of_its_kind_within_it(values, ends, sentence):
    for value in values:
        with pytest.raises(ValueError, match=sentence):
            require_range("x", value, *ends)


def test_numpy_numbers_and_words_of_a_list_are_taken():
    require_range("N", np.int64(3), 0, 5)
    require_range("x", np.float32(0.5), 0.0, 1.0)
    require_choice("order", "xy", ("xy", "yx"))
    with pytest.raises(ValueError, match="order = 'zz' is unknown; choose one of 'xy', 'yx'"):
        require_choice("order", "zz", ("xy", "yx"))


# --- every kernel of the package ---------------------------------------------------------------------


#: Positional parameters of each word.
WORDS = {
    "footprint": ["problem"],
    "setup": ["problem", "seed"],
    "run": ["problem", "state", "threads", "repeats"],
    "reference": ["problem", "state"],
    "verify": ["problem", "result"],
    "work": ["problem", "threads"],
}


def test_the_kernels_are_found():
    assert {"kernels.bt", "kernels.spectral", "kernels.memory.stride", "kernels.files.storm"} <= set(KERNELS)
    assert not {"kernels.bt.problem", "kernels.shallow_water.model"} & set(KERNELS)


@every_kernel
def test_words_and_their_parameters(name):
    module = KERNELS[name]
    assert isinstance(module, Kernel)
    for word, parameters in WORDS.items():
        assert list(inspect.signature(getattr(module, word)).parameters)[: len(parameters)] == parameters, word
        assert inspect.getdoc(getattr(module, word)), f"{name}.{word} has no docstring"
    assert module.Problem.__dataclass_params__.frozen
    assert {"quick", "paper", "modern"} <= set(module.Problem.PRESETS)
    with pytest.raises(ValueError, match="preset = 'huge' is unknown"):
        module.Problem.preset("huge")


@every_kernel
@pytest.mark.parametrize("preset", ["quick", "paper", "modern"])
def test_work_and_footprint_are_plain_numbers(name, preset):
    """Work above zero, shared by the threads or as many times one thread's; both without allocating."""
    module = KERNELS[name]
    problem = module.Problem.preset(preset)
    alone, four = module.work(problem), module.work(problem, 4)
    assert alone == module.work(problem, 1)
    assert four in (alone, alone.times(4))
    # on one rank nothing is fetched from others, and sensors only let time pass
    assert alone.flops + alone.bytes > 0 or name in ("kernels.mpi.halo", "kernels.mpi.monitoring")
    assert all(
        type(value) is int for work in (alone, four) for value in (work.flops, work.bytes, *dict(work.parts).values())
    )
    found = module.footprint(problem)
    assert isinstance(found, Footprint)
    assert all(type(value) is int and value >= 0 for value in astuple(found))
    assert found.memory_of(3) == found.memory + 2 * found.each_thread


#: What lets a kernel ask for its folder where the small problem does not.
ASKING = {"kernels.analysis": {"rest": "cache"}}


#: Kernels whose processes, or one thread, do the work, whatever the number of threads.
THREADLESS = {f"kernels.files.{name}" for name in ("devices", "groups", "messages", "stripes")}


@every_single
def test_results_verify_and_stay_within_the_footprint(name, tmp_path, monkeypatch):
    """``reference`` returns what ``run`` does, which refuses a disk without room, a folder and threads that are not
    there; a second run, with all compiled, takes the memory and disk that are stated."""
    module, problem = KERNELS[name], small(name, tmp_path)
    state, stated = module.setup(problem), module.footprint(problem)
    full = shutil._ntuple_diskusage(2**40, 2**40 - stated.disk // 4, stated.disk // 4)
    if stated.disk:
        with monkeypatch.context() as patch:
            patch.setattr(resources.shutil, "disk_usage", lambda _: full)
            with pytest.raises(OSError, match="choose a smaller problem or another folder"):
                module.run(problem, state)
    if hasattr(problem, "folder"):
        nowhere = replace(problem, folder=str(tmp_path / "nowhere"), **ASKING.get(name, {}))
        with pytest.raises(OSError, match="nowhere"):
            module.run(nowhere, module.setup(nowhere) if name == "kernels.imaging.ddt" else state)
    assert list(tmp_path.iterdir()) == []
    expected, found = module.reference(problem, state), module.run(problem, state)
    assert type(expected) is type(found)
    assert is_dataclass(found) or isinstance(found, tuple) and hasattr(found, "_fields")
    for result in (expected, found):
        checks = module.verify(problem, result)
        assert checks and [str(check) for check in checks if not check.ok] == []
    if name not in THREADLESS:
        with pytest.raises(ValueError, match="threads = 1000000"):
            module.run(problem, state, threads=10**6)
    del state, expected, found, result
    tracemalloc.start()
    try:
        state = module.setup(problem)
        result = module.run(problem, state, repeats=2)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    written = sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())
    assert most <= stated.memory + 2**20
    assert written <= stated.disk
    assert result is not None


#: Kernels whose work is files, and not numbers: ``verify`` reads every byte.
FILES_ALONE = {f"kernels.files.{name}" for name in ("devices", "groups", "messages", "nodes", "storm", "stripes")}


class Surrounded:
    """Makers of arrays whose memory holds a word of their own before, behind and, where nothing is written, within
    them: no number in 32 bits, 3e307 in 64."""

    EDGE, WORD = 4 * pages.LINE, 0x7FC00000

    def __init__(self, monkeypatch):
        self.made, self.numpys = [], np.empty
        found = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "kernels"}
        for module in found.values():
            for name, value in list(vars(module).items()):
                if value is pages.aligned:
                    monkeypatch.setattr(module, name, self.empty)
                elif value is pages.zeros:
                    monkeypatch.setattr(module, name, self.zeros)
        monkeypatch.setattr(np, "empty", self.empty)
        monkeypatch.setattr(np, "zeros", self.zeros)

    def empty(self, shape, dtype=np.float64, boundary: int = pages.LINE, **others):
        dtype, boundary = np.dtype(dtype), boundary if isinstance(boundary, int) else pages.LINE
        nbytes = int(np.prod(shape)) * dtype.itemsize
        if dtype.hasobject or others or not nbytes:
            return self.numpys(shape, dtype, **others)
        words = self.numpys((nbytes + boundary + 2 * self.EDGE) // 4 + 1, np.uint32)
        words.fill(self.WORD + len(self.made))
        raw = words.view(np.uint8)
        start = self.EDGE + -(raw.ctypes.data + self.EDGE) % boundary
        caller = sys._getframe(1)
        caller = caller.f_back if caller.f_code is Surrounded.zeros.__code__ else caller
        self.made.append((raw, start, start + nbytes, caller.f_code))
        return raw[start : start + nbytes].view(dtype).reshape(shape)

    def zeros(self, shape, dtype=np.float64, *others, **named):
        array = self.empty(shape, dtype, *others, **named)
        array.fill(0)
        return array

    def overrun(self) -> list[str]:
        """Who made the arrays beyond whose ends something was written."""
        found = []
        for number, (raw, start, end, code) in enumerate(self.made):
            other = raw != np.full(raw.size // 4, self.WORD + number, np.uint32).view(np.uint8)
            if other[:start].any() or other[end:].any():
                found.append(f"{code.co_filename}, {code.co_name}: {end - start} bytes")
        return found


@every_single
def test_nothing_is_written_beyond_arrays_and_no_answer_comes_from_there(name, monkeypatch):
    """A kernel that computes proves itself in all its ways, and gives the same numbers where every array that Python
    code makes lies between words that are no answer."""
    module = KERNELS[name]
    if name in FILES_ALONE:
        assert not hasattr(module, "PROOF")
        return
    monkeypatch.setattr(stride, "_TRIAL", 1)  # which of its loops is the fastest does not matter: all are proven
    like = module.Problem.preset("quick")
    assert hash(module.PROOF.problem(like)) == hash(module.PROOF.problem(like))
    for problem in module.PROOF.problems(module.Problem):
        expected = module.reference(problem, module.setup(problem))
        words = {word: getattr(module, word) for word in ("setup", "run", "verify")}
        known = SimpleNamespace(**words, reference=lambda *given: expected)  # noqa: B023 - called at once
        checks = module.PROOF.checks(known, problem)
        assert [str(check) for check in checks if not check.ok] == [], problem
        assert any("reference" in check.name for check in checks)
        with monkeypatch.context() as patch:
            around = Surrounded(patch)
            found = module.run(problem, module.setup(problem))
            checks = module.verify(problem, found)
        assert around.overrun() == []
        assert [str(check) for check in checks + module.PROOF.compare(found, expected) if not check.ok] == []


@every_kernel
def test_setup_refuses_what_memory_cannot_hold(name, tmp_path, monkeypatch):
    module, problem = KERNELS[name], small(name, tmp_path)
    if module.footprint(problem).memory:
        monkeypatch.setattr(resources, "available_memory", lambda: 0)
        with pytest.raises(MemoryError, match="choose a smaller problem"):
            module.setup(problem)
    assert list(tmp_path.iterdir()) == []
