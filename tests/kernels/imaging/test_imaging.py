"""Imaging: gridding and transforms against the direct sum, adjointness, sorting, CLEAN's identity, gains."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from supercomputers_rerun.kernels.imaging import (
    arithmetic,
    array,
    checks,
    clean,
    convolution,
    damage,
    direct,
    dirty,
    gridding,
    selfcal,
    sky,
    sorting,
    taps,
)
from supercomputers_rerun.kernels.runtime import resources
from supercomputers_rerun.kernels.runtime.resources import usable_cpus

SIDE, CELL = 128, 2.1e-6


def made(times=6, noise=0.0, side=SIDE, seed=0):
    records = array.tracks(times, 0.36 / CELL)
    return sky.observe(records, sky.synthetic(side, CELL, points=8, gaussians=2, seed=seed), noise, seed)


RECORDS = made()


@pytest.mark.parametrize("length", [6, 24, 48, 128, 384, 512])
def test_transforms_of_sixteen_lines_are_numpys(length):
    generator = np.random.default_rng(length)
    x = generator.standard_normal((length, 16)) + 1j * generator.standard_normal((length, 16))
    pair = np.stack([x.real, x.imag], axis=1).astype(np.float32), np.empty((length, 2, 16), np.float32)
    turn = dirty.transform(pair[0].reshape(-1), pair[1].reshape(-1), length, *dirty.tables(length))
    expected = np.fft.ifft(x, axis=0) * length
    found = pair[turn][:, 0] + 1j * pair[turn][:, 1]
    assert np.abs(found - expected).max() < 1e-6 * np.abs(expected).max()


def test_the_dirty_image_is_the_direct_sum_with_any_number_of_threads(monkeypatch):
    image = dirty.dirty(RECORDS, SIDE, CELL)
    pixels = np.arange(SIDE) - SIDE // 2
    assert np.abs(image - dirty.plain(RECORDS, CELL, pixels, pixels)).max() < 1e-5 * np.abs(image).max()
    seen = dirty.Plan(RECORDS, SIDE, CELL).predict(image)
    assert dirty.Plan(RECORDS, SIDE, CELL, usable_cpus()).threads == 1  # too small for more
    monkeypatch.setattr(dirty, "worthwhile", lambda threads, numbers: threads)
    monkeypatch.setattr(resources, "usable_cpus", lambda: 5)
    for threads in (2, 3, 5):
        plan = dirty.Plan(RECORDS, SIDE, CELL, threads)
        assert plan.threads == threads
        assert np.array_equal(plan.image(), image)
        assert np.array_equal(plan.predict(image), seen)


def test_the_plain_grid_has_the_same_image():
    grid, side = np.zeros((96, 96), complex), 64
    gridding.plain(RECORDS, 96 * CELL, grid)
    image = np.fft.fftshift(np.fft.ifft2(np.fft.ifftshift(grid)))[16:80, 16:80].real * grid.size
    taper = taps.correction(side, 96)
    image *= taper * taper[:, None] / RECORDS[:, array.WEIGHT].sum()
    assert np.abs(image - dirty.dirty(RECORDS, side, CELL)).max() < 1e-5 * np.abs(image).max()


@settings(max_examples=15, deadline=None)
@given(u=st.floats(-0.44, 0.44), v=st.floats(-0.44, 0.44), weight=st.floats(0.1, 9), phase=st.floats(-3, 3))
def test_one_visibility_is_a_cosine(u, v, weight, phase):
    record = np.zeros((1, 8), np.float32)
    record[0, [0, 1, 5, 6, 7]] = u / CELL, v / CELL, np.cos(phase), np.sin(phase), weight
    image = dirty.dirty(record, 64, CELL)
    place = np.arange(64) - 32
    turns = np.float64(record[0, 0]) * CELL * place[None, :] + np.float64(record[0, 1]) * CELL * place[:, None]
    expected = np.cos(2 * np.pi * turns + phase)
    assert np.abs(image - expected).max() < 3e-5


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_image_and_prediction_are_adjoint(seed):
    generator = np.random.default_rng(seed)
    plan = dirty.Plan(RECORDS, SIDE, CELL)
    x = generator.standard_normal((SIDE, SIDE)).astype(np.float32)
    y = generator.standard_normal((len(plan.points.points), 2)).astype(np.float32)
    forward = plan.predict(x).astype(float)
    back = plan.image(values=y).astype(float) * plan.points.weight
    left, right = (forward * y).sum(), (x * back).sum()
    assert abs(left - right) < 3e-6 * np.linalg.norm(forward) * np.linalg.norm(y)


def test_flagged_visibilities_do_not_count():
    records = np.concatenate([RECORDS, RECORDS[::3]])
    records[len(RECORDS) :, array.RE] = np.nan
    records[len(RECORDS) :, array.WEIGHT] = -1
    assert np.array_equal(dirty.dirty(records, SIDE, CELL), dirty.dirty(RECORDS, SIDE, CELL))


@settings(max_examples=20, deadline=None)
@given(order=st.sampled_from(sorting.ORDERS), seed=st.integers(0, 10**6), count=st.integers(1, len(RECORDS)))
def test_sorting_orders_and_permutes(order, seed, count):
    given_ = RECORDS[np.random.default_rng(seed).permutation(len(RECORDS))[:count]].copy()
    after = sorting.sort(given_, order)
    assert np.array_equal(after, sorting.reference(given_, order))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sorting, "worthwhile", lambda threads, numbers: threads)
        for threads in range(1, usable_cpus() + 1):
            assert np.array_equal(sorting.sort(given_, order, threads=threads), after)
    if order == "tile":
        own = np.empty_like(given_)
        sorting.plain(given_, sorting.keys_of(given_, order), own)
        assert np.array_equal(own, after)


def test_baselines_have_a_place_from_the_first_to_the_last():
    records = RECORDS[:8].copy()
    records[[2, 5], array.BASELINE] = 256 * 31 + 31, 0
    after = sorting.sort(records, "baseline")
    assert np.array_equal(after, sorting.reference(records, "baseline")) and after[0, array.BASELINE] == 0


def test_convolution_is_scipys():
    generator = np.random.default_rng(0)
    beam = generator.standard_normal((2 * SIDE, 2 * SIDE)).astype(np.float32)
    image = generator.standard_normal((SIDE, SIDE)).astype(np.float32)
    found, expected = convolution.Convolver(beam)(image), convolution.convolve(beam, image)
    assert np.abs(found - expected).max() < 1e-5 * np.abs(expected).max()


@pytest.fixture(scope="module")
def images():
    records = made(times=12, noise=0.01)
    return records, dirty.dirty(records, SIDE, CELL), dirty.beam(records, 2 * SIDE, CELL)


def cleaned(method, image, beam, components, gain=0.1, list_length=6000):
    """Of one of the minor cycles, or Högbom's of the inner half."""
    if method == "hogbom":
        return damage.hogbom(image, beam, components, gain)
    return clean.clark(image, beam, components, list_length, method, gain)


@pytest.mark.parametrize("method", [*clean.METHODS, "hogbom"])
def test_clean_by_its_identity(images, method):
    _, image, beam = images
    found = cleaned(method, image, beam, 500, list_length=1500)
    expected = image - convolution.convolve(beam, found.model.astype(float))
    assert len(found.fluxes) == 500
    assert checks.agreement(found.residual, expected, peak=float(image.max())) >= 20
    assert np.abs(found.residual[32:96, 32:96]).max() < 0.1 * image.max()
    first = np.unravel_index(np.argmax(np.abs(image[32:96, 32:96])), (64, 64))
    assert tuple(found.places[0] - 32) == first


PLACES = ((32, 32), (32, 33), (32, 95), (50, 70), (95, 32), (95, 95))


def components(strengths, method, count=1, gain=0.1):
    """Places and fluxes of so many components where ``PLACES`` alone hold something: corners of the box, an edge."""
    image, beam = np.zeros((SIDE, SIDE), np.float32), np.zeros((2 * SIDE, 2 * SIDE), np.float32)
    beam[SIDE, SIDE] = 1
    for place, strength in zip(PLACES, strengths, strict=True):
        image[place] = strength
    found = cleaned(method, image, beam, count, gain)
    return [tuple(place) for place in found.places.tolist()], found.fluxes


@pytest.mark.parametrize("method", [*clean.METHODS, "hogbom"])
@pytest.mark.parametrize("strongest", range(len(PLACES)))
def test_the_first_component_is_the_strongest_source_wherever_in_the_box_it_lies(method, strongest):
    strengths = [-1.0 if n == strongest else 0.5 for n in range(len(PLACES))]
    places, fluxes = components(strengths, method)
    assert places == [PLACES[strongest]] and fluxes == pytest.approx([-0.1])


@pytest.mark.parametrize("method", [*clean.METHODS, "hogbom"])
def test_of_equal_sources_the_first_row_by_row_is_taken(method):
    """Each is gone when it has been taken; the next is again the first of its equals."""
    strengths = (0.5, 0.5, 1.0, -1.0, 1.0, -1.0)
    places, fluxes = components(strengths, method, count=6, gain=1.0)
    order = (2, 3, 4, 5, 0, 1)
    assert places == [PLACES[n] for n in order] and fluxes == pytest.approx([strengths[n] for n in order])


@pytest.mark.parametrize("method", clean.METHODS)
def test_the_minor_cycle_is_hogboms_where_the_beam_is_its_patch(method):
    """A beam without symmetry that is zero outside the patch: each component is the whole beam's, in one cycle."""
    generator, half = np.random.default_rng(3), clean.HALF
    beam = np.zeros((2 * SIDE, 2 * SIDE), np.float32)
    beam[SIDE - half : SIDE + half + 1, SIDE - half : SIDE + half + 1] = generator.uniform(-0.2, 0.2, (51, 51))
    beam[SIDE, SIDE] = 1
    image = np.zeros((SIDE, SIDE), np.float32)
    image[32:96, 32:96] = generator.uniform(1.0, 2.0, (64, 64))
    places, fluxes = np.zeros((60, 2), np.int32), np.zeros(60, np.float32)
    count = clean.Minor(beam, method)(image, np.float32(0.01), 0.3, places, fluxes)
    expected = damage.hogbom(image, beam, 60, 0.3)
    assert count == 60 and np.array_equal(places, expected.places)
    assert fluxes == pytest.approx(expected.fluxes, rel=1e-4)


@pytest.mark.parametrize("method", clean.METHODS)
def test_a_clean_that_diverges_ends(images, method):
    _, image, beam = images
    with np.errstate(all="ignore"):
        assert len(cleaned(method, image, beam, 5000, gain=3.0).fluxes) <= 5000


def test_components_predict_as_float64_does():
    generator = np.random.default_rng(0)
    places = generator.integers(0, 1024, (40, 2)).astype(np.int32)
    fluxes = generator.standard_normal(40).astype(np.float32)
    found = direct.predict(RECORDS, places, fluxes, 1024, CELL)
    expected = direct.reference(RECORDS, places, fluxes, 1024, CELL)
    assert np.abs(found - expected).max() < 2e-6 * np.abs(fluxes).sum()


@pytest.mark.parametrize("spread", [0.3, 3.0])
def test_gains_return_to_the_truth(spread):
    model = (RECORDS[:, array.RE] + 1j * RECORDS[:, array.IM]).astype(np.complex64)
    truth = sky.gains(2, phase=spread)
    found = selfcal.solve(*selfcal.sums(sky.corrupt(RECORDS.copy(), truth), model, 2))
    right = truth * (truth[:, :1].conj() / np.abs(truth[:, :1]))
    assert np.abs(found - right).max() < 1e-5
    corrected = selfcal.apply(sky.corrupt(RECORDS.copy(), truth), found)
    turned = corrected[:, array.RE] + 1j * corrected[:, array.IM]
    assert np.abs(turned - model).max() < 1e-4 * np.abs(model).max()


def test_an_antenna_without_data_keeps_its_gain():
    records = RECORDS.copy()
    first, second = sky.antenna_numbers(records)
    records[(first == 4) | (second == 4), array.WEIGHT] = 0
    model = np.ones(len(records), np.complex64)
    assert abs(selfcal.solve(*selfcal.sums(records, model, 1))[0, 4]) == pytest.approx(1)


def test_arithmetic_of_images_and_visibilities():
    generator = np.random.default_rng(0)
    x, y = generator.standard_normal((2, 37, 53)).astype(np.float32)
    assert np.abs(arithmetic.combine(x, y, 0.5, -2.0) - (0.5 * x - 2 * y)).max() < 1e-6
    changed = RECORDS.copy()
    changed[::11, array.IM] += 1
    changed[4, array.WEIGHT] = np.nan
    found = arithmetic.differences(RECORDS, changed, [1e-3] * 8)
    assert found["columns"].tolist() == [0, 0, 0, 0, 0, 0, len(RECORDS[::11]), 1]


def test_bits_are_logarithms_to_two():
    expected = np.ones((20, 20))
    ours = expected.copy()
    ours[0, 0] = 2
    assert checks.agreement(ours, expected) == 0
    assert checks.agreement(ours, expected, skip=4) == checks.EXACT
    assert checks.agreement(expected + 2.0**-10, expected) == pytest.approx(10)
    assert checks.agreement(expected * np.nan, expected) == 0
