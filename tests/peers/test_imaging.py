"""Peers' dirty images: asked for the accuracy at which they are measured to be as accurate as ours."""

import numpy as np
import pytest

from supercomputers_rerun.kernels.imaging import dirty, masters
from supercomputers_rerun.kernels.imaging.masters import CELL, SIZES
from supercomputers_rerun.peers import imaging as dirty_images

SIDE = SIZES["tiny"].side


@pytest.fixture(scope="module")
def records():
    return masters.masters("tiny").records


def made(errors):
    """A peer whose error is ``errors[epsilon]``."""
    return lambda epsilon: lambda: lambda: np.full((2, 2), errors[epsilon])


@pytest.mark.parametrize("ours, epsilon", [(1.0, 1e-3), (2e-5, 1e-5), (1e-9, 1e-5)])
def test_a_peer_is_asked_for_the_least_accuracy_that_reaches_ours(ours, epsilon):
    errors = {1e-3: 1e-2, 1e-4: 1e-4, 1e-5: 1e-6, 1e-6: 3e-6}  # the last is lost to rounding
    run, words = dirty_images.as_accurate(made(errors), lambda image: float(image.max()), ours)
    assert run()()[0, 0] == errors[epsilon] and words == f"error {errors[epsilon]:.1e}, asked for {epsilon:.0e}"


def test_errors_are_those_of_the_sum(records):
    errors, image = dirty_images.Errors(records, SIDE), dirty.dirty(records, SIDE, CELL)
    wrong = image.copy()
    wrong[errors.pixels] += np.float32(0.01) * image.max()
    assert errors.of(image) < 1e-6
    assert errors.of(wrong) == pytest.approx(0.01, rel=0.05)


def test_libraries_give_our_image(records):
    ducc0 = pytest.importorskip("ducc0")
    image, errors = dirty.dirty(records, SIDE, CELL), dirty_images.Errors(records, SIDE)
    makes = dirty_images.sides(ducc0, None, planned=True)
    assert list(makes) == ["ducc0 wgridder", "ducc0 nufft", "ducc0 nufft, planned"]
    for make in makes.values():
        found = make(records, SIDE, 1, 1e-5)()()
        assert errors.of(found) < 1e-5 and np.abs(found - image).max() < 1e-5 * image.max()


def test_finuffts_image_is_ours(records):
    finufft = pytest.importorskip("finufft")
    image = dirty.dirty(records, SIDE, CELL)
    makes = dirty_images.sides(None, finufft, planned=True)
    assert len(makes) == 4
    for make in makes.values():
        assert np.abs(make(records, SIDE, 1, 1e-6)()() - image).max() < 1e-4 * image.max()
