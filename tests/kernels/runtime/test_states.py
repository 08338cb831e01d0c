"""No state ends the process: arrays that do not lie as ``setup`` left them are refused, in one sentence."""

from dataclasses import dataclass, fields, is_dataclass
from typing import NamedTuple

import numpy as np
import pytest
from cases import tried
from hypothesis import given
from hypothesis import strategies as st
from kernels_found import KERNELS, every_single, small

from kernels.runtime import states
from kernels.runtime.pages import zeros


class Pair(NamedTuple):
    read: np.ndarray
    write: np.ndarray


@dataclass(frozen=True)
class Problem:
    n: int = 16
    passes: int = 1


def made(notes):
    @notes.setup
    def setup(problem, seed=0):
        return Pair(zeros(problem.n), zeros(problem.n))

    @notes.run
    def run(problem, state, threads=1, repeats=1):
        state.write[:] = state.read
        return state

    return setup, run


def damaged(array):
    """Each way in which an array may differ from the one that setup made, with a word of the sentence."""
    frozen = array.copy() if array.ctypes.data % 64 else zeros(array.shape, array.dtype)
    frozen.flags.writeable = False
    if array.flags.writeable:
        yield "read-only", frozen
    yield "shape", array[..., :-1]
    yield "shape", np.zeros((*array.shape, 1), array.dtype)
    yield "dtype", array.astype(np.float32 if array.dtype != np.float32 else np.float64)
    if array.shape[-1] > 1:
        yield "strides", np.zeros((*array.shape, 2), array.dtype)[..., 0]
    if states.placed(array) and array.size:
        buffer = zeros(array.nbytes + 64, np.uint8)
        yield "line", buffer[array.itemsize : array.itemsize + array.nbytes].view(array.dtype).reshape(array.shape)
    yield "no array", None


def changed(state, path, value):
    """``state`` with the array at ``path`` (names after ``state``) replaced; containers are copied."""
    if not path:
        return value
    name, rest = path[0], path[1:]
    if isinstance(name, tuple):  # the key of a dictionary
        return {**state, name[0]: changed(state[name[0]], rest, value)}
    if isinstance(name, int):
        items = list(state)
        items[name] = changed(items[name], rest, value)
        return type(state)(items)
    inner = changed(getattr(state, name), rest, value)
    if isinstance(state, tuple):
        return state._replace(**{name: inner})
    copy = object.__new__(type(state))
    copy.__dict__.update(state.__dict__)
    object.__setattr__(copy, name, inner)
    return copy


def places(state, path=()):
    """Path and value of every array that ``run`` checks."""
    if isinstance(state, np.ndarray):
        if state.dtype != object and state.size:
            yield path, state
    elif is_dataclass(state):
        for field in fields(state):
            yield from places(getattr(state, field.name, None), (*path, field.name))
    elif isinstance(state, tuple) and hasattr(state, "_fields"):
        for name in state._fields:
            yield from places(getattr(state, name), (*path, name))
    elif isinstance(state, dict):
        for name, item in state.items():
            yield from places(item, (*path, (name,)))
    elif isinstance(state, list):
        for number, item in enumerate(state):
            yield from places(item, (*path, number))


def test_a_state_as_made_runs_again_and_again():
    setup, run = made(states.Notes())
    state = setup(Problem())
    assert run(Problem(), state) is run(Problem(), state, 1, 3) is state


@given(st.integers(2, 40), st.integers(2, 40))
def test_a_state_serves_its_own_problem_only(n, other):
    setup, run = made(states.Notes("passes"))
    state = setup(Problem(n))
    run(Problem(n, passes=9), state)
    if n != other:
        with pytest.raises(ValueError, match=r"state was not made for Problem.*call setup"):
            run(Problem(other), state)
        setup(Problem(other))
        with pytest.raises(ValueError, match=rf"state.read is .* shape \({n},\).*setup made .* shape \({other},\)"):
            run(Problem(other), state)


def test_one_memory_for_two_arrays_is_refused():
    setup, run = made(states.Notes())
    state = setup(Problem())
    for twin in (state.read, state.read[::1]):
        with pytest.raises(ValueError, match="state.read and state.write share memory"):
            run(Problem(), state._replace(write=twin))
    frozen = zeros(32)[8:24]
    assert states.shared([("a", frozen), ("b", frozen)]) == {("a", "b")}
    frozen.flags.writeable = False
    assert states.shared([("a", frozen), ("b", frozen)]) == set()


def _in_place(array, change):
    match change:
        case "read-only":
            array.flags.writeable = False
        case "type":
            array.dtype = np.int64
        case "shape":
            array.shape = (array.size // 2, 2)


@pytest.mark.parametrize("change", ["read-only", "type", "shape", "its twin", "gone"])
def test_what_changes_after_a_run_is_looked_at_again(change):
    """Arrays that passed are known again by themselves, not by their place or number."""
    setup, run = made(states.Notes())
    state = setup(Problem())
    run(Problem(), state)
    run(Problem(), state._replace(read=state.write, write=state.read))  # they lie alike
    if change == "its twin":
        state = state._replace(read=state.write)
    elif change == "gone":
        size, addresses = state.write.size, {id(state.write)}
        state = state._replace(write=None)
        shorter = [np.zeros(size - 1) for _ in range(100)]  # one of which may get the number of the lost array
        addresses &= {id(each) for each in shorter}
        state = state._replace(write=next((each for each in shorter if id(each) in addresses), shorter[0]))
    else:
        _in_place(state.write, change)
    with pytest.raises(ValueError, match="call setup"):
        run(Problem(), state)


@pytest.mark.parametrize("repeats", [0, -1, 1.5, True, None, 2**41])
def test_repeats_are_whole_and_at_least_one(repeats):
    setup, run = made(states.Notes())
    with pytest.raises(ValueError, match="repeats = "):
        run(Problem(), setup(Problem()), 1, repeats)


def test_old_notes_go(monkeypatch):
    monkeypatch.setattr(states, "KEPT", 3)
    setup, run = made(states.Notes())
    first = setup(Problem(2))
    for n in (3, 4, 5):
        setup(Problem(n))
    with pytest.raises(ValueError, match="call setup"):
        run(Problem(2), first)


@every_single
def test_no_array_of_a_kernel_reaches_compiled_code_unchecked(name, tmp_path):
    """Every array of every state, damaged in every way: refused, and the state as it was is still taken."""
    module, problem = KERNELS[name], small(name, tmp_path)
    state = module.setup(problem)
    cases = 0
    for path, array in places(state):
        for what, damage in damaged(array):
            if name == "kernels.gridpoint" and what in ("read-only", "line", "strides"):
                continue  # it reads these fields into records of its own
            with pytest.raises(ValueError, match="setup"):
                module.run(problem, changed(state, path, damage))
            cases += 1
    tried(cases)
    for repeats in (0, -1):
        with pytest.raises(ValueError, match="repeats = "):
            module.run(problem, state, 1, repeats)
    assert cases or not list(places(state))
