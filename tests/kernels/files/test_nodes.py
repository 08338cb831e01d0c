"""A running solver whose solution several processes write: every file is the solver's, whatever wrote it."""

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels import bt
from kernels.files import nodes, parts
from kernels.files.format.netcdf import open_solution


@given(N=st.integers(6, 12), P=st.integers(1, 6), unit=st.sampled_from(["row", "element"]))
def test_parts_cover_the_cube_once(N, P, unit):
    problem, count = nodes.Problem(N=N, P=P, unit=unit), np.zeros((N, N, N), int)
    for rank in range(P):
        (i0, i1), (j0, j1), (k0, k1) = parts.part_of(problem, rank)
        count[k0:k1, j0:j1, i0:i1] += 1
    assert (count == 1).all()


@pytest.mark.parametrize(("unit", "asynchronous"), [("row", False), ("element", True)])
def test_the_file_holds_the_dumps_of_a_run_that_wrote_nothing(tmp_path, unit, asynchronous):
    problem = nodes.Problem(
        N=9, NS=4, IW=1, P=2, groups=(1, 2), unit=unit, asynchronous=asynchronous, folder=str(tmp_path)
    )
    state = nodes.setup(problem)
    try:
        result = nodes.run(problem, state, repeats=2)
        assert all(check.ok for check in nodes.verify(problem, result))
        dumps = []
        solver = bt.setup(problem.solver)
        bt.march(problem.solver, solver, problem.NS, 1, lambda step, at: dumps.append(bt.solution(at)))
        for path in result.paths.values():
            with open_solution(path) as solution:
                assert np.array_equal([[plane.copy() for plane in solution.planes(n)] for n in range(4)], dumps)
        assert all(times.shape == (2,) and (times > 0).all() for times in (result.T_C, *result.T_T.values()))
        raw = bytearray(result.paths[2].read_bytes())
        raw[5000] ^= 1
        result.paths[2].write_bytes(raw)
        assert [check.ok for check in nodes.verify(problem, result)] == [True, False, True, True]
        written = nodes.reference(problem, state)
        assert all(check.ok for check in nodes.verify(problem, written))
        del result, written
        assert os.listdir(tmp_path) == []
        with pytest.raises(OSError, match="writing in groups failed: FileNotFoundError"):
            state.team.send(str(tmp_path / "missing"), 1, 0)
            state.team.collect()
    finally:
        state.team.close()


def test_sizes_and_operations():
    assert nodes.Problem(P=6).sizes == (1, 2, 4, 6)
    work = nodes.work(nodes.Problem(groups=(1, 4)))
    assert work.flops == 3 * bt.work(nodes.Problem().solver).flops
