"""A reader's own arrays, as public functions take them: refused in a sentence, or the answer of a sound copy."""

import numpy as np
import pytest

from supercomputers_rerun.kernels import bt
from supercomputers_rerun.kernels.imaging import arithmetic, clean, direct, sorting
from supercomputers_rerun.kernels.imaging.array import BASELINE
from supercomputers_rerun.kernels.runtime.arrays import as_writeable, require_array
from supercomputers_rerun.kernels.spectral import Plan


def plain(shape, dtype=np.float64):
    return np.random.default_rng(0).integers(1, 9, shape).astype(dtype)


def damaged(array):
    """The array in other forms, of which some hold the same numbers."""
    frozen = array.copy()
    frozen.flags.writeable = False
    yield "read-only", frozen
    yield "one item short", array.reshape(-1)[:-1]
    yield "one dimension more", array[None, None, None]
    yield "another order", np.asfortranarray(array)
    yield "half the width", array.astype(np.complex64 if array.dtype.kind == "c" else np.float16)
    yield "other byte order", array.astype(array.dtype.newbyteorder())
    yield "a list", array.tolist()


def calls():
    """Name -> function, its arrays, and the place of the one that it writes."""
    plan, state = Plan("F32", 21), bt.setup(bt.Problem.preset("S"))
    spectrum = np.ones((2, plan.ncoef), complex)
    spectrum[:, : plan.truncation + 1].imag = 0.0
    values, field = plan.inverse(spectrum), bt.solution(state)
    image, beam, records = plain((64, 64), "f4"), plain((128, 128), "f4"), plain((40, 8), "f4")
    records[:, BASELINE] = 256.0 + np.arange(40) % 8 + 2
    places, fluxes = plain((5, 2), np.int32), plain(5, "f4")
    return {
        "Plan.inverse": (lambda a, out: plan.inverse(a, out=out), (spectrum, np.zeros_like(values)), 1),
        "Plan.direct": (lambda a, out: plan.direct(a, out=out), (values, np.zeros_like(spectrum)), 1),
        "Plan.wind": (plan.wind, (spectrum, spectrum.copy()), None),
        "bt.pack": (lambda out: bt.pack(state, out), (np.zeros_like(field),), 0),
        "bt.unpack": (lambda a: bt.unpack(a, state), (field,), None),
        "clean": (lambda a, b: clean.require_images(a, b), (image, beam), None),
        "combine": (lambda a, b: arithmetic.combine(a, b, 2.0, 3.0), (image, image + 1), None),
        "sort": (lambda a: sorting.sort(a, "baseline"), (records,), None),
        "predict": (lambda a, b: direct.predict(a, b, fluxes, 64, 1e-3), (records, places), None),
    }


def test_an_array_of_another_form_is_refused_or_does_no_harm():
    for name, (do, arrays, written) in calls().items():
        expected = do(*(array.copy() for array in arrays))
        for position, array in enumerate(arrays):
            refused = 0
            for what, damage in damaged(array):
                given = [damage if n == position else one.copy() for n, one in enumerate(arrays)]
                try:
                    found = do(*given)
                except (ValueError, TypeError):
                    refused += 1
                else:
                    assert not (what == "read-only" and position == written), f"{name}: a read-only array was written"
                    np.testing.assert_equal(found, expected, f"{name}: {what}")
            assert refused >= 3, name


def test_an_output_over_its_input_is_refused():
    plan = Plan("F32", 21)
    memory = np.ones(2 * max(plan.grid.points, 2 * plan.ncoef))
    spectrum = memory[: 2 * plan.ncoef].view(complex)
    spectrum.imag[: plan.truncation + 1] = 0.0
    with pytest.raises(ValueError, match="out shares memory"):
        plan.inverse(spectrum, out=memory[: plan.grid.points])


@pytest.mark.parametrize("fields", [1, 8])
def test_imaginary_parts_of_the_mean_wave_are_ignored(fields):
    plan = Plan("F32", 21)
    spectrum = np.ones((fields, plan.ncoef), complex)
    spectrum[:, 3] = complex(1.0, np.nan)
    np.testing.assert_array_equal(plan.inverse(spectrum), plan.inverse(np.ones((fields, plan.ncoef), complex)))


def test_a_truth_value_is_no_number_of_threads():
    plan = Plan("F32", 21)
    with pytest.raises(ValueError, match="threads = True"):
        plan.inverse(np.ones(plan.ncoef, complex), threads=True)


def test_truncation_one_transforms():
    for name in ("F1", "F8", "N32", "O8"):
        plan = Plan(name, 1)
        spectrum = np.array([1.0, 0.5, 0.25 + 0.125j])
        np.testing.assert_allclose(plan.direct(plan.inverse(spectrum)), spectrum, atol=1e-14)


def test_the_sentence_names_array_wish_and_remedy():
    good = np.zeros((2, 3))
    assert require_array("a", good, float, (2, None), writable=True) is good
    for bad, words in (
        ([1.0], "a is list of shape"),
        (good.T, r"shape \(3, 2\); give a C-contiguous array, float64 of shape \(2, 3\)"),
        (np.zeros((2, 6))[:, ::2], "a is not contiguous in memory; give a copy"),
    ):
        with pytest.raises(ValueError, match=words):
            require_array("a", bad, float, (2, 3))
    with pytest.raises(ValueError, match="a shares memory"):
        require_array("a", good, float, (2, 3), apart=(good[:1],))


def test_a_read_only_array_is_handed_on_without_a_copy():
    kept = np.arange(6.0).reshape(2, 3)
    kept.flags.writeable = False
    given = as_writeable(kept)
    assert given.flags.writeable and not kept.flags.writeable and np.shares_memory(given, kept)
    assert (given == kept).all() and given.dtype == kept.dtype and given.flags.c_contiguous
    del kept
    assert given.sum() == 15.0
