"""A running solver whose solution several processes write: every file is the solver's, whatever wrote it."""

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from supercomputers_rerun.kernels import bt, decomposition
from supercomputers_rerun.kernels.files import nodes, processes
from supercomputers_rerun.kernels.files.format.layout import Layout, Solution


@given(N=st.integers(6, 12), P=st.integers(1, 64))
def test_parts_cover_the_cube_once(N, P):
    px, py, pz = decomposition.process_grid(P)
    assert px * py * pz == P and px <= py <= pz
    count = np.zeros((N, N, N), int)
    for rank in range(P):
        (i0, i1), (j0, j1), (k0, k1) = decomposition.box(N, P, rank)
        count[k0:k1, j0:j1, i0:i1] += 1
    assert (count == 1).all()


def test_the_file_holds_the_dumps_of_a_run_that_wrote_nothing(tmp_path):
    problem = nodes.Problem(N=9, NS=4, IW=1, P=2, folder=str(tmp_path))
    state = nodes.setup(problem)
    try:
        result = nodes.run(problem, state, repeats=2)
        assert all(check.ok for check in nodes.verify(problem, result))
        dumps = []
        solver = bt.setup(problem.solver)
        for _ in range(problem.NS):
            bt.march(problem.solver, solver, 1)
            dumps.append(bt.solution(solver))
        for path in result.paths.values():
            assert np.array_equal([Solution(path).dump(n) for n in range(4)], dumps)
        assert all(times.shape == (2,) and (times > 0).all() for times in (result.T_C, *result.T_T.values()))
        raw = bytearray(result.paths[2].read_bytes())
        raw[5000] ^= 1
        result.paths[2].write_bytes(raw)
        assert [check.ok for check in nodes.verify(problem, result)] == [True, False]
        written = nodes.reference(problem, state)
        assert all(check.ok for check in nodes.verify(problem, written))
        del result, written
        assert os.listdir(tmp_path) == []
        with pytest.raises(OSError, match="a process ended early"):  # its own words are on standard error
            state.team.write(tmp_path / "missing", 1, 0)
    finally:
        state.team.close()


def test_a_killed_process_is_not_waited_for(tmp_path):
    others = set(multiprocessing.active_children())
    state = nodes.setup(nodes.Problem(N=8, P=3))
    (tmp_path / "f").touch()
    os.kill((set(multiprocessing.active_children()) - others).pop().pid, signal.SIGKILL)
    with pytest.raises(OSError, match="ended early"):
        state.team.write(tmp_path / "f", 1, 0)
    assert set(multiprocessing.active_children()) == others


class Gate:
    """A semaphore that knows how many were inside at once."""

    def __init__(self, log):
        self.log = log

    def __enter__(self):
        self.log.append(1)

    def __exit__(self, *_):
        self.log.append(-1)


@pytest.mark.parametrize("points", [False, True])
def test_every_dump_is_written_inside_the_gate(points, tmp_path):
    """One process run here: gate entered and left once a dump."""
    layout, path = Layout(6, 3, 1), tmp_path / "f"
    path.touch()
    field, log = np.random.default_rng(1).random((6, 6, 6, 5)), []
    messages, answers = [(str(path), 1, dump) for dump in range(3)], []

    class Connection:
        def recv(self):
            return messages.pop(0)

        def send(self, answer):
            answers.append(answer)

    with pytest.raises(IndexError):  # nothing more is told
        processes._writer(Connection(), 0, 1, layout, points, {1: Gate(log)}, field)
    assert log == [1, -1] * 3 and answers == [None] * 4
    for dump in range(3):
        assert np.array_equal(np.fromfile(path, "<f8", field.size, offset=layout.offset(dump)), field.ravel())


def test_writing_processes_load_no_compiler():
    """A hundred of them would fill the memory with it."""
    told = pickle.dumps((processes._writer, nodes.Problem().layout))
    code = f"import pickle, sys; pickle.loads({told}); print('numba' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "False\n"


def test_sizes_and_operations():
    assert nodes.Problem(P=6).sizes == (1, 2, 4, 6) and nodes.Problem(P=8).sizes == (1, 2, 4, 8)
    work = nodes.work(nodes.Problem(P=2))
    assert work.flops == 3 * bt.work(nodes.Problem().solver).flops
