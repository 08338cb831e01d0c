"""Write groups: the parts cover the cube once, every file is right, every dump passes the gate."""

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

from kernels import decomposition
from kernels.files import groups, nodes, parts
from kernels.files.format.netcdf import open_solution


@given(N=st.integers(6, 12), P=st.integers(1, 64))
def test_parts_cover_the_cube_once(N, P):
    px, py, pz = decomposition.process_grid(P)
    assert px * py * pz == P and px <= py <= pz
    count = np.zeros((N, N, N), int)
    for rank in range(P):
        (i0, i1), (j0, j1), (k0, k1) = decomposition.box(N, P, rank)
        count[k0:k1, j0:j1, i0:i1] += 1
    assert (count == 1).all()


def test_values_are_the_word_numbers():
    N = 5
    whole = groups.field_values(N, 0, (0, N), (0, N), (0, N))
    assert np.array_equal(whole.ravel(), np.arange(5 * N**3))
    part = groups.field_values(N, 2, (1, 3), (2, 5), (0, 4))
    assert np.array_equal(part, whole[0:4, 2:5, 1:3] + 2 * 5 * N**3)


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    folder = tmp_path_factory.mktemp("groups")
    problem = groups.Problem(N=9, P=3, dumps=2, groups=(1, 3), folder=str(folder))
    team = groups.setup(problem)
    yield problem, team, folder
    team.close()


def test_every_group_size_writes_the_same_file(swept):
    problem, team, folder = swept
    result = groups.run(problem, team, repeats=2)
    assert all(check.ok for check in groups.verify(problem, result))
    expected = np.array([groups.field_values(9, dump, *[(0, 9)] * 3) for dump in range(2)])
    for path in result.paths.values():
        with open_solution(path) as solution:
            found = [[plane.copy() for plane in solution.planes(index)] for index in range(2)]
        assert np.array_equal(found, expected)
    assert {g: times.shape for g, times in result.seconds.items()} == {1: (2,), 3: (2,)}
    assert all((times > 0).all() for times in result.seconds.values())
    path = result.paths[1]
    raw = bytearray(path.read_bytes())
    raw[5000] ^= 1
    path.write_bytes(raw)
    assert [check.ok for check in groups.verify(problem, result)] == [False, True]
    del result
    assert os.listdir(folder) == []


def test_failure_of_a_process_is_told_and_survived(swept):
    problem, team, folder = swept
    with pytest.raises(OSError, match="writing in groups failed: FileNotFoundError"):
        team.write(folder / "missing", 1, None)
    assert all(check.ok for check in groups.verify(problem, groups.run(problem, team)))


def test_a_killed_process_is_not_waited_for(tmp_path):
    """The others stand at the barrier, which it never reaches."""
    others = set(multiprocessing.active_children())
    team = groups.setup(groups.Problem(N=8, P=3))
    (tmp_path / "f").touch()
    os.kill((set(multiprocessing.active_children()) - others).pop().pid, signal.SIGKILL)
    with pytest.raises(OSError, match="ended from outside"):
        team.write(tmp_path / "f", 1, None)
    assert set(multiprocessing.active_children()) == others


class Gate:
    """A semaphore that knows how many were inside at once."""

    def __init__(self, log):
        self.log = log

    def __enter__(self):
        self.log.append(1)

    def __exit__(self, *_):
        self.log.append(-1)


def test_every_dump_is_written_inside_the_gate(tmp_path):
    """One process run here: gate entered and left once a dump, nothing written outside."""
    problem = groups.Problem(N=4, P=1, dumps=3)
    (tmp_path / "f").write_bytes(b"")
    log, messages = [], [(str(tmp_path / "f"), 1), None]

    class Connection:
        sent = []

        def recv(self):
            return messages.pop(0)

        def send(self, answer):
            self.sent.append(answer)

    class Barrier:
        def wait(self):
            assert (tmp_path / "f").stat().st_size == 0

    groups._worker(Connection(), 0, problem, Barrier(), {1: Gate(log)})
    assert log == [1, -1] * 3
    start, end = Connection.sent[-1]
    assert end > start


TOLD = {"groups": (groups._worker, groups.Problem()), "nodes": (parts.worker, parts.Task.of(nodes.Problem()))}


@pytest.mark.parametrize("told", TOLD.values(), ids=TOLD)
def test_writing_processes_load_no_compiler(told):
    """A hundred of them would fill the memory with it."""
    code = f"import pickle, sys; pickle.loads({pickle.dumps(told)}); print('numba' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "False\n"


def test_sizes_and_bytes():
    assert groups.Problem(P=6).sizes == (1, 2, 4, 6)
    assert groups.Problem(P=8).sizes == (1, 2, 4, 8)
    assert groups.work(groups.Problem(N=10, P=2, dumps=3)).bytes_written == 2 * 3 * 5 * 8 * 1000
