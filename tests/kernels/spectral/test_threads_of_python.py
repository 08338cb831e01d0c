"""One plan in several threads of Python: its work space is one, so calls wait for each other and none is wrong."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from supercomputers_rerun.kernels import spectral
from supercomputers_rerun.kernels.imaging import array, dirty, sky
from supercomputers_rerun.kernels.imaging.convolution import Convolver

CALLS = 30


def differing(call, inputs) -> int:
    """Results of ``call`` in four threads at once that differ from those of one."""
    alone = [call(each) for each in inputs]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(call, inputs))
    return sum(not np.array_equal(one, other) for one, other in zip(alone, together, strict=True))


@pytest.mark.parametrize("word", ["inverse", "direct", "wind", "vordiv"])
def test_a_plan_of_transforms(word):
    plan, generator = spectral.Plan("F64", 63), np.random.default_rng(1)
    if word in ("inverse", "wind"):
        values = generator.standard_normal((CALLS, 8, plan.ncoef)) + 0j
    else:
        values = generator.standard_normal((CALLS, 8, plan.grid.points))
    method = getattr(plan, word)
    call = method if word in ("inverse", "direct") else lambda one: np.array(method(one, one[::-1].copy()))
    assert differing(call, values) == 0


@pytest.mark.parametrize("word", ["image", "predict"])
def test_a_plan_of_images(word):
    cell, side = 2.1e-6, 64
    records = sky.observe(array.tracks(3, 0.36 / cell), sky.synthetic(side, cell, points=3))
    plan, generator = dirty.Plan(records, side, cell), np.random.default_rng(1)
    if word == "image":
        values = generator.standard_normal((CALLS, len(plan.points.points), 2)).astype(np.float32)
        assert differing(lambda one: plan.image(values=one).copy(), values) == 0
    else:
        images = generator.standard_normal((CALLS, side, side)).astype(np.float32)
        assert differing(plan.predict, images) == 0


def test_a_convolver():
    side, generator = 64, np.random.default_rng(1)
    convolver = Convolver(generator.standard_normal((2 * side, 2 * side)).astype(np.float32))
    assert differing(convolver, generator.standard_normal((CALLS, side, side)).astype(np.float32)) == 0
