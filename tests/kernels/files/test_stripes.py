"""One file against stripes: the same blocks come back, and a lost or foreign block is noticed."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.files import stripes


@settings(max_examples=12, deadline=None)
@given(way=st.sampled_from(stripes.WAYS), blocks=st.integers(1, 21), files=st.integers(1, 6))
def test_blocks_come_back_and_are_dealt_out_in_turn(way, blocks, files):
    problem = stripes.Problem(blocks=blocks, block_bytes=512, files=files, way=way)
    state = stripes.setup(problem)
    result = stripes.run(problem, state, repeats=2)
    assert all(check.ok for check in stripes.verify(problem, result))
    assert result.sizes == stripes.reference(problem, state).sizes
    assert np.array_equal(state.found, state.data)
    found = stripes.work(problem)
    assert (found.bytes_read, found.bytes_written) == (512 * blocks, 512 * blocks)
    folder = result.keep.path
    result.keep.close()
    assert not folder.exists()
