"""One file against stripes: the same blocks come back, and a lost or foreign block is noticed."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.contract import Kernel
from kernels.files import stripes


def test_stripes_answer_to_the_words_of_a_kernel():
    assert isinstance(stripes, Kernel)


@settings(max_examples=12, deadline=None)
@given(way=st.sampled_from(stripes.WAYS), blocks=st.integers(1, 21), files=st.integers(1, 6))
def test_blocks_come_back_and_are_dealt_out_in_turn(way, blocks, files):
    problem = stripes.Problem(blocks=blocks, block_bytes=512, files=files, way=way)
    state = stripes.setup(problem)
    result = stripes.run(problem, state, repeats=2)
    assert all(check.ok for check in stripes.verify(problem, result))
    assert result.sizes == stripes.reference(problem, state).sizes
    assert np.array_equal(state.found, state.given)
    found = stripes.work(problem)
    assert (found.bytes_read, found.bytes_written) == (512 * blocks, 512 * blocks)
    folder = result.keep.path
    result.keep.close()
    assert not folder.exists()


def test_a_block_that_differs_is_noticed(tmp_path):
    problem = stripes.Problem(blocks=5, block_bytes=512, folder=str(tmp_path), way="striped")
    result = stripes.run(problem, stripes.setup(problem))
    for changed in ({"wrong": 1}, {"sizes": (512, 1536, 512, 0)}, {"sizes": (512, 512, 512, 512)}):
        damaged = dataclasses.replace(result, **changed)
        assert not all(check.ok for check in stripes.verify(problem, damaged))


def test_nonsense_is_refused(tmp_path):
    with pytest.raises(ValueError, match="way = 'two' is unknown"):
        stripes.Problem(way="two")
    with pytest.raises(ValueError, match="files = 0"):
        stripes.Problem(files=0)
    with pytest.raises(OSError, match="does not exist"):
        problem = stripes.Problem(folder=str(tmp_path / "nowhere"))
        stripes.run(problem, stripes.setup(problem))
