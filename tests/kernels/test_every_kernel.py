"""Every kernel of the package, found by its words: proof, damage, work, footprint, fields.

Kernels that run on ranks show their words, presets and fields here; ``tests/kernels/mpi`` runs them.
"""

import inspect
import math
import tracemalloc
from collections.abc import Iterator, Mapping
from dataclasses import astuple, fields, is_dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels_found import KERNELS, every_kernel, every_single, small

from supercomputers_rerun.kernels import jobs
from supercomputers_rerun.kernels.contract import Footprint
from supercomputers_rerun.kernels.runtime import resources

#: Positional parameters of each word.
WORDS = {
    "footprint": ["problem"],
    "setup": ["problem", "seed"],
    "run": ["problem", "state", "threads", "repeats"],
    "reference": ["problem", "state"],
    "verify": ["problem", "result"],
    "work": ["problem", "threads"],
}
#: Kernels whose work is files, and not numbers: ``verify`` reads every byte.
FILES_ALONE = {f"kernels.files.{name}" for name in ("calls", "devices", "messages", "nodes", "storm")}
PLAIN = ("analysis", "gridpoint", "imaging", "memory", "processor", "routines")
#: Kernels without work at one rank: nothing is fetched from others, and sensors only let time pass.
NO_WORK = {"kernels.mpi.halo", "kernels.mpi.monitoring"}
#: Where each look at a result takes long, and whole blocks, whose padding nobody reads.
TINY = {
    "kernels.imaging.ddt": {"size": "tiny"},
    "kernels.spectral": {"truncation": 15},
    "kernels.routines.cloud": {"columns": 224},
}


@pytest.fixture(scope="module")
def pools():
    """Processes for two jobs, and for a third that takes post-processing jobs: each state would start its own."""
    yield [jobs.shared(count) for count in (2, 3)]


@pytest.fixture(autouse=True)
def processes_stay(request):
    """Those of jobs, from test to test."""
    if request.node.name.endswith("[kernels.jobs]"):
        request.getfixturevalue("pools")


def arrays(result, path: str = "") -> Iterator[tuple[str, np.ndarray]]:
    """Every array of numbers inside a result with its path; one of records as its columns."""
    if isinstance(result, np.ndarray):
        if result.dtype.names:
            yield from ((f"{path}.{name}".lstrip("."), result[name]) for name in result.dtype.names if result.size)
        elif result.dtype != object and result.size:
            yield path.lstrip("."), result
    elif is_dataclass(result) and not isinstance(result, type):
        for each in fields(result):
            yield from arrays(getattr(result, each.name, None), f"{path}.{each.name}")
    elif hasattr(result, "_fields"):
        for name, value in zip(result._fields, result, strict=True):
            yield from arrays(value, f"{path}.{name}")
    elif isinstance(result, Mapping):
        for key, value in result.items():
            yield from arrays(value, f"{path}[{key!r}]")
    elif isinstance(result, list | tuple):
        for value in result:
            yield from arrays(value, f"{path}[]")


def others(result, path: str = "") -> Iterator[tuple[str, object]]:
    """Copies of a result, each with one of its numbers that are in no array damaged, and the path of that number."""
    if isinstance(result, int | float):
        with np.errstate(over="ignore"):
            yield from (
                (path.lstrip("."), other.item()) for other in damages(np.asarray(result)[()]) if other != result
            )
    elif is_dataclass(result) or hasattr(result, "_fields"):
        names = [each.name for each in fields(result)] if is_dataclass(result) else result._fields
        make = replace if is_dataclass(result) else type(result)._replace
        for name in names:
            for inner, other in others(getattr(result, name), f"{path}.{name}"):
                yield inner, make(result, **{name: other})
    elif isinstance(result, tuple):
        for n, each in enumerate(result):
            for inner, other in others(each, f"{path}[]"):
                yield inner, (*result[:n], other, *result[n + 1 :])


def inside(path: str, names) -> str | None:
    """The longest of ``names`` that is ``path``, or a field around it."""
    found = [name for name in names if path == name or path.startswith((f"{name}.", f"{name}["))]
    return max(found, key=len, default=None)


def declared(kernel, problem, word: str) -> dict:
    """What a kernel says under ``NO_OUTPUT`` or ``BOUNDED``."""
    said = getattr(kernel, word, {})
    return said(problem) if callable(said) else said


def damages(value) -> Iterator:
    """A number as NaN, as zero, and a thousandth off."""
    kind = value.dtype.type
    if value.dtype.kind in "fc":
        yield kind(np.nan)
        yield kind(0)
        yield kind(value * 1.001)
    elif value.dtype.kind in "iu":
        yield kind(0)
        yield kind(int(value) ^ 1 if abs(int(value)) < 2000 else int(value) - int(value) // 1000)
    elif value.dtype.kind == "b":
        yield ~value


def taken(kernel, problem, result) -> tuple[int, list[str]]:
    """How many numbers of a result were damaged, and those with which it still passed."""
    skipped, bounded = (declared(kernel, problem, word) for word in ("NO_OUTPUT", "BOUNDED"))
    count, passed = 0, []
    for path, array in arrays(result):
        if inside(path, skipped) or not array.flags.writeable:
            continue
        bound, _ = bounded.get(inside(path, bounded), (0.0, ""))
        least = math.inf if bound is None else bound * float(np.max(np.abs(array), initial=0.0))
        for place in sorted({0, array.size // 2, array.size - 1}):
            at = np.unravel_index(place, array.shape)
            value = array[at]
            for other in damages(value):
                with np.errstate(all="ignore"):
                    if other == value or (other == other and abs(other - value) < least):
                        continue
                array[at] = other
                count += 1
                with np.errstate(all="ignore"):
                    if all(check.ok for check in kernel.verify(problem, result)):
                        passed.append(f"{path}[{place}] = {other}, which was {value}")
                array[at] = value
    if not list(arrays(result)):
        for path, other in others(result):
            if not inside(path, skipped):
                count += 1
                if all(check.ok for check in kernel.verify(problem, other)):
                    passed.append(path)
    return count, passed


def small_of(name, folder):
    """The problem of a kernel's proof, or its small one where it has none."""
    kernel, problem = KERNELS[name], small(name, folder)
    return kernel.PROOF.problem(problem) if hasattr(kernel, "PROOF") else problem


def failed(checks) -> list[str]:
    return [str(check) for check in checks if not check.ok]


def test_the_kernels_are_found():
    assert {"kernels.bt", "kernels.spectral", "kernels.memory.stride", "kernels.files.storm"} <= set(KERNELS)
    assert not {"kernels.bt.problem", "kernels.shallow_water.model"} & set(KERNELS)


@every_kernel
def test_words_and_presets(name):
    module = KERNELS[name]
    for word, parameters in WORDS.items():
        assert list(inspect.signature(getattr(module, word)).parameters)[: len(parameters)] == parameters, word
        assert inspect.getdoc(getattr(module, word)), f"{name}.{word} has no docstring"
    assert module.Problem.__dataclass_params__.frozen
    for preset in ("quick", "paper", "modern", *module.Problem.PRESETS):
        problem = module.Problem.preset(preset)
        alone, four = module.work(problem), module.work(problem, 4)
        assert alone == module.work(problem, 1) and four in (alone, alone.times(4))
        assert alone.flops + alone.bytes > 0 or name in NO_WORK
        counts = [n for work in (alone, four) for n in (work.flops, work.bytes, *dict(work.parts).values())]
        stated = module.footprint(problem)
        assert isinstance(stated, Footprint)
        assert all(type(value) is int and value >= 0 for value in (*counts, *astuple(stated)))
    with pytest.raises(ValueError, match="preset = 'huge' is unknown"):
        module.Problem.preset("huge")


@pytest.mark.parametrize("name", [n for n in KERNELS if n.split(".")[1] in PLAIN])
def test_a_kernel_has_a_plain_form_that_fits_a_page(name):
    plain = KERNELS[name].plain
    assert len(inspect.getsource(getattr(plain, "py_func", plain)).splitlines()) <= 30


@every_single
def test_proof_in_all_ways(name):
    """Every option that chooses other code, with one thread and with two, agrees with the reference."""
    module = KERNELS[name]
    if name in FILES_ALONE:
        assert not hasattr(module, "PROOF")
        return
    for problem in module.PROOF.problems(module.Problem):
        checks = module.PROOF.checks(module, problem)
        assert failed(checks) == [], problem
        assert any("reference" in check.name for check in checks)


@pytest.mark.filterwarnings("ignore:.*its transform is not finite:RuntimeWarning")
@every_single
def test_any_damaged_number_of_a_result_is_noticed(name, tmp_path):
    """NaN, zero and a thousandth off, but in what the kernel names in ``NO_OUTPUT`` and ``BOUNDED`` with a reason."""
    module, base = KERNELS[name], replace(small(name, tmp_path), **TINY.get(name, {}))
    each, only = (getattr(getattr(module, "PROOF", None), word, {}) for word in ("each", "only"))
    idle = {option for option, (other, among) in only.items() if getattr(base, other) not in among}
    others = [replace(base, **{way: value}) for way in each if way not in idle for value in each[way]]
    total = 0
    for problem in dict.fromkeys([base, *others]):
        result = module.run(problem, module.setup(problem))
        assert failed(module.verify(problem, result)) == []
        count, passed = taken(module, problem, result)
        assert passed == [], problem
        total += count
    assert total or name in FILES_ALONE | {"kernels.files.application"}


@every_single
def test_a_run_stays_within_its_footprint(name, tmp_path):
    """A second run, with all compiled, takes the memory and disk that are stated, and makes no file elsewhere."""
    module, problem = KERNELS[name], small_of(name, tmp_path)
    stated = module.footprint(problem)
    module.run(problem, module.setup(problem))
    tracemalloc.start()
    try:
        result = module.run(problem, module.setup(problem), repeats=2)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    written = sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())
    assert most <= stated.memory + 2**20
    assert written <= stated.disk
    assert type(result) is type(module.reference(problem, module.setup(problem)))


@every_kernel
def test_setup_refuses_what_memory_cannot_hold(name, tmp_path, monkeypatch):
    module, problem = KERNELS[name], small(name, tmp_path)
    if module.footprint(problem).memory:
        monkeypatch.setattr(resources, "available_memory", lambda: 0)
        with pytest.raises(MemoryError, match="choose a smaller problem"):
            module.setup(problem)
    assert list(tmp_path.iterdir()) == []


NONSENSE = st.sampled_from(
    [-1, 0, 10**30, 0.5, 1e308, math.nan, math.inf, 1j, "", "x", None, True, False, (), [], ("x",), (math.nan,)]
)
#: Kinds of value that a field of a kind may hold.
FIT = {int: (int,), float: (int, float), str: (str,), bool: (bool,), tuple: (tuple,)}


@every_kernel
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_nonsense_in_a_field_is_refused(name, data):
    """``ValueError`` in one sentence, or a value that fits the field."""
    problem_type = KERNELS[name].Problem
    quick = problem_type.PRESETS["quick"]
    field = data.draw(st.sampled_from([field for field in fields(problem_type) if field.init]))
    value = data.draw(NONSENSE)
    usual = getattr(problem_type(**quick), field.name)
    try:
        made = problem_type(**{**quick, field.name: value})
    except ValueError as refusal:
        assert str(refusal) and "\n" not in str(refusal)
        return
    kept = getattr(made, field.name)
    assert isinstance(kept, FIT.get(type(usual), (str, int, float, tuple, type(None)))), (
        f"{field.name} = {value!r} was taken"
    )
    assert not (isinstance(kept, float) and math.isnan(kept)), f"{field.name} = nan was taken"
    assert min(astuple(KERNELS[name].footprint(made))) >= 0
