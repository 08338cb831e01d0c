"""Arrays that enter a public call, damaged in every way: refused in a sentence, or the answer of a sound copy.

Compiled code gets their addresses and checks nothing, so a case that fell short would end this process.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numba
import numpy as np
import pytest
from cases import tried

from kernels import bt
from kernels.analysis import covariance, vertical
from kernels.files.conversion import DECODE, ENCODE
from kernels.imaging import arithmetic, direct, selfcal, sorting
from kernels.imaging.array import BASELINE, U
from kernels.runtime.arrays import readable, require_array
from kernels.spectral import Grid, Plan, grid
from kernels.spectral.reference import synthesise


def plain(shape, dtype=np.float64):
    values = np.random.default_rng(0).integers(1, 9, shape)
    return np.ascontiguousarray(values.astype(dtype))


def damaged(array: np.ndarray):
    """Name and array of every damage; most hold what ``array`` holds."""
    frozen = array.copy()
    frozen.flags.writeable = False
    yield "read-only", frozen
    yield "one item short", array.reshape(-1)[:-1]
    yield "one item more", np.append(array.reshape(-1), array.reshape(-1)[:1])
    yield "one dimension more", array[None, None, None]
    yield "another order", np.asfortranarray(array) if array.ndim > 1 else np.repeat(array, 2)[::2]
    yield "backwards", array[::-1].copy()[::-1]
    yield "half the width", array.astype(np.complex64 if array.dtype.kind == "c" else np.float32)
    yield "other byte order", array.astype(array.dtype.newbyteorder())
    yield "whole numbers", np.ones(array.shape, np.int64 if array.dtype == np.int32 else np.int32)
    yield "objects", array.astype(object)
    yield "text", array.astype(str)
    yield "not aligned", np.frombuffer(b"x" + array.tobytes(), np.uint8)[1:].view(array.dtype).reshape(array.shape)
    yield "a list", array.tolist()
    yield "nothing", None
    yield "empty", array.reshape(-1)[:0]


@dataclass(frozen=True)
class Call:
    """A public call: ``do(*arrays)`` with arrays that it takes; ``written`` are positions of outputs."""

    do: Callable
    arrays: tuple[np.ndarray, ...]
    written: tuple[int, ...] = ()


def imaging_calls():
    image, records = plain((64, 64), np.float32), plain((40, 8), np.float32)
    records[:, BASELINE] = 256.0 + np.arange(40) % 8 + 2
    x, y, p = selfcal.sums(records, np.ones(40, np.complex64), 2)
    places, fluxes = plain((5, 2), np.int32), plain(5, np.float32)
    return {
        "combine": Call(
            lambda a, b, out: arithmetic.combine(a, b, 2.0, 3.0, out), (image, image + 1, np.zeros_like(image)), (2,)
        ),
        "differences": Call(lambda a, b: arithmetic.differences(a, b, [0.5] * 8), (records, records + 1)),
        "sort": Call(lambda a, out: sorting.sort(a, "baseline", out), (records, np.zeros_like(records)), (1,)),
        "predict": Call(lambda a, b: direct.predict(a, b, fluxes, 64, 1e-3), (records, places)),
        "selfcal.solve": Call(selfcal.solve, (x, y, p)),
    }


@pytest.mark.parametrize("value", [-1.0, 0.0, 1e9, np.nan, np.inf])
def test_a_number_in_a_record_that_would_become_an_address_does_no_harm(value):
    records = plain((40, 8), np.float32)
    records[:, BASELINE] = 256.0 + np.arange(40) % 8 + 2
    for column, order in ((BASELINE, "baseline"), (U, "tile")):
        given = records.copy()
        given[7, column] = value
        try:
            found = sorting.sort(given, order)
        except ValueError as refusal:
            assert "record out" in str(refusal)
        else:
            assert sorted(row.tobytes() for row in found) == sorted(row.tobytes() for row in given)
    records[7, BASELINE] = value
    with pytest.raises(ValueError, match="names no antennas"):
        selfcal.sums(records, np.ones(40, np.complex64), 2)


def columns_calls():
    """Fields of three columns between levels."""
    field, source = plain((6, 3)), np.sort(plain((6, 3)) + np.arange(6)[:, None], axis=0)
    target, out, ground = source[:4] + 0.25, np.zeros((4, 3)), np.stack([source[-1], np.ones(3)])

    def interpolate(field, source, target, out):
        vertical.interpolate(field, source, target, out)
        return out

    def geopotential(field, source, ground, target, out):
        vertical.geopotential(field, source, ground, target, out)
        return out

    return {
        "vertical.interpolate": Call(interpolate, (field, source, target, out), (3,)),
        "vertical.geopotential": Call(geopotential, (field, source, ground, target, out), (4,)),
    }


def box_calls():
    """Sixteen data and eight grid points; what may be longer than asked for is looked at as far as it is asked for."""
    rng = np.random.default_rng(2)
    points, grid_points, departures, weights = (rng.normal(size=shape) for shape in ((8, 16), (8, 8), 16, 16))

    def check(points, departures, room, out):
        return covariance.check(points, departures, 16, room, out), out[:, :16]

    def assimilate(points, departures, grid, room, weights, reduction):
        done = covariance.assimilate(points, departures, 16, grid, 8, room, weights, reduction)
        return done, weights[:16], reduction[:8]

    def evaluate(points, weights, grid, out):
        covariance.evaluate(points, weights, 16, grid, 8, out)
        return out[:, :8]

    room = np.zeros((16, 40))
    return {
        "check": Call(check, (points, departures, room, np.zeros((2, 16))), (2, 3)),
        "assimilate": Call(assimilate, (points, departures, grid_points, room, np.zeros(16), np.zeros(8)), (3, 4, 5)),
        "evaluate": Call(evaluate, (points, weights, grid_points, np.zeros((5, 8))), (3,)),
    }


@pytest.mark.parametrize("n", [-8, 7, 8.0, True, None, 24, 2**40, "8"])
def test_counts_of_a_box_that_its_arrays_do_not_hold_are_refused(n):
    points, row, out, room = np.ones((8, 16)), np.ones(16), np.zeros((5, 16)), np.zeros((16, 40))
    for do in (
        lambda: covariance.check(points, row, n, room, out[:2]),
        lambda: covariance.assimilate(points, row, n, points.copy(), 8, room, out[0], out[1]),
        lambda: covariance.assimilate(points, row, 16, points.copy(), n if n != 8.0 else 8.5, room, out[0], out[1]),
        lambda: covariance.evaluate(points, row, n, points, 16, out),
    ):
        with pytest.raises(ValueError, match="is outside|is no multiple|must be a whole number|at least"):
            do()


def transform_calls():
    plan = Plan("F32", 21)
    spectrum = np.zeros((2, plan.ncoef), complex) + 1.0
    spectrum[:, : plan.truncation + 1] = 1.0
    values = plan.inverse(spectrum)
    return {
        "Plan.inverse": Call(lambda a, out: plan.inverse(a, out=out), (spectrum, np.zeros_like(values)), (1,)),
        "Plan.direct": Call(lambda a, out: plan.direct(a, out=out), (values, np.zeros_like(spectrum)), (1,)),
        "Plan.wind": Call(plan.wind, (spectrum, spectrum.copy())),
        "Plan.vordiv": Call(plan.vordiv, (values, values.copy())),
    }


def solver_calls():
    state = bt.setup(bt.Problem.preset("S"))
    field = bt.solution(state)
    return {
        "bt.pack": Call(lambda out: bt.pack(state, out), (np.zeros_like(field),), (0,)),
        "bt.unpack": Call(lambda a: bt.unpack(a, state), (field,)),
    }


@pytest.mark.parametrize("calls", [transform_calls, solver_calls, imaging_calls, columns_calls, box_calls])
def test_damaged_arrays_are_refused_or_do_no_harm(calls):
    for name, call in calls().items():
        expected = call.do(*(array.copy() for array in call.arrays))
        refusals = 0
        for position, array in enumerate(call.arrays):
            for what, damage in damaged(array):
                tried()
                arguments = [damage if n == position else one.copy() for n, one in enumerate(call.arrays)]
                try:
                    found = call.do(*arguments)
                    for n in set(range(len(arguments))) - {position, *call.written}:
                        np.testing.assert_equal(arguments[n], call.arrays[n], f"{name} wrote argument {n}")
                except (ValueError, TypeError) as refusal:
                    assert str(refusal), (name, what)
                    refusals += 1
                    continue
                assert not (what == "read-only" and position in call.written), f"{name}: a read-only array was written"
                np.testing.assert_equal(found, expected, f"{name}: {what}")
        assert refusals >= 6 * len(call.arrays), name


@pytest.mark.parametrize("mode", ["r", "c"])
def test_a_memory_map_as_output(tmp_path, mode):
    """One that is read-only is refused: writing to its pages would end the process."""
    plan = Plan("F32", 21)
    spectrum = np.ones(plan.ncoef, complex)
    spectrum.imag[: plan.truncation + 1] = 0.0
    (tmp_path / "map").write_bytes(bytes(8 * plan.grid.points))
    out = np.memmap(tmp_path / "map", np.float64, mode)
    if mode == "r":
        with pytest.raises(ValueError, match="out is read-only"):
            plan.inverse(spectrum, out=out)
    else:
        np.testing.assert_array_equal(plan.inverse(spectrum, out=out), plan.inverse(spectrum))


def test_an_output_over_its_input_is_refused():
    plan = Plan("F32", 21)
    memory = np.ones(2 * max(plan.grid.points, 2 * plan.ncoef))
    spectrum = memory[: 2 * plan.ncoef].view(complex)
    spectrum.imag[: plan.truncation + 1] = 0.0
    with pytest.raises(ValueError, match="out shares memory"):
        plan.inverse(spectrum, out=memory[: plan.grid.points])
    state = bt.setup(bt.Problem.preset("S"))
    size = 5 * state.layout.N**3
    with pytest.raises(ValueError, match="out shares memory"):
        bt.pack(state, state.u[:size].reshape((state.layout.N,) * 3 + (5,)))


def test_nan_where_no_transform_looks_is_refused():
    plan = Plan("F32", 21)
    for value in (np.nan, np.inf):
        spectrum = np.ones(plan.ncoef, complex)
        spectrum[3] = complex(1.0, value)
        with pytest.raises(ValueError, match="imaginary part of m = 0 in spec is not finite"):
            plan.inverse(spectrum)


def rows(changes):
    pl = grid("N32").pl.copy()
    for row, length in changes.items():
        pl[row] = length
    return pl


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"pl": rows({0: 0, -1: 0})}, "rows of 0"),
        ({"pl": rows({0: -4, -1: -4})}, "rows of -4"),
        ({"pl": rows({5: 10**9, -6: 10**9})}, "1000000000"),
        ({"pl": rows({0: 24})}, "unlike rows north and south"),
        ({"pl": rows({20: 40, -21: 40})}, "shorter towards the equator"),
        ({"pl": rows({})[:-1]}, r"pl of grid N32 is int64 of shape \(63,\)"),
        ({"pl": rows({}).astype(np.int32)}, "pl of grid N32 is int32"),
        ({"pl": None}, "pl of grid N32 is NoneType"),
        ({"N": 31}, "shape"),
        ({"N": 0}, "rows between pole and equator = 0"),
        ({"N": 10**9}, "rows between pole and equator"),
        ({"latitudes": np.zeros(64)}, "other latitudes or weights"),
        ({"weights": np.full(64, np.nan)}, "other latitudes or weights"),
    ],
)
def test_impossible_grids_are_refused(change, sentence):
    """They once gave zeros, or a double free."""
    with pytest.raises(ValueError, match=sentence):
        replace(grid("N32"), **change)


def test_a_grid_of_its_own_works_and_cannot_be_changed_under_a_plan():
    pl = rows({0: 24, -1: 24})
    own = replace(grid("N32"), name="own", pl=pl)
    plan = Plan(own, 21)
    pl[:] = 0
    spectrum = np.ones(plan.ncoef, complex)
    spectrum.imag[: plan.truncation + 1] = 0.0
    np.testing.assert_allclose(plan.inverse(spectrum), synthesise(plan, spectrum[None])[0], atol=1e-9)
    with pytest.raises(ValueError, match="read-only"):
        own.pl[0] = 1
    assert isinstance(own, Grid)


def test_truncation_one_transforms():
    for name in ("F1", "F8", "N32", "O8"):
        plan = Plan(name, 1)
        spectrum = np.array([1.0, 0.5, 0.25 + 0.125j])
        np.testing.assert_allclose(plan.direct(plan.inverse(spectrum)), spectrum, atol=1e-14)


def test_the_sentence_names_array_wish_and_remedy():
    good = np.zeros((2, 3))
    assert require_array("a", good, float, (2, None), writable=True) is good
    for bad, words in (
        ([1.0], "a is list; give an array, C-contiguous float64"),
        (good.T, r"shape \(3, 2\); give C-contiguous float64 of shape \(2, 3\)"),
        (good.astype("f4"), "a is float32"),
    ):
        with pytest.raises(ValueError, match=words):
            require_array("a", bad, float, (2, 3))
    with pytest.raises(ValueError, match="a is not contiguous in memory; give a copy"):
        require_array("a", good[:, :2], float, (2, 2))


def test_read_only_arrays_have_the_form_for_which_code_is_compiled():
    good = plain((2, 3))
    frozen = good.view()
    frozen.flags.writeable = False
    assert readable(good) is good
    assert numba.typeof(readable(frozen)) == numba.typeof(good) != numba.typeof(frozen)
    assert readable(frozen).ctypes.data == good.ctypes.data and not frozen.flags.writeable
    np.testing.assert_array_equal(readable(frozen), good)


@pytest.mark.parametrize("way", sorted({way for table in (ENCODE, DECODE) for way in table.values()}, key=str))
def test_conversion_stays_within_both_arrays(way):
    words = np.zeros(9, np.uint64)
    for short in (words[:8], words[:0]):
        for pair in ((words, short), (short, words)):
            with pytest.raises(ValueError, match="must be of one length"):
                way(*pair)
