"""The Application I/O Benchmark: verified files from the solver, the report's numbers from the clock."""

import os

import numpy as np
import pytest

from supercomputers_rerun.companion import tables
from supercomputers_rerun.kernels import bt
from supercomputers_rerun.kernels.bt.problem import exact_solution
from supercomputers_rerun.kernels.contract import Work
from supercomputers_rerun.kernels.files import application
from supercomputers_rerun.kernels.files.format.verification import MEAN_ERROR_NORMS, mean_error_checks, verify_file


def run(problem, threads=1):
    return application.run(problem, application.setup(problem), threads)


@pytest.mark.parametrize("IW", [5, 10])
def test_class_s_with_the_published_checks(tmp_path, IW):
    """N = 12: mean error norms of all dumps, residual of the last, every dump by the plain solver."""
    problem = application.Problem(IW=IW, folder=str(tmp_path))
    result = run(problem)
    checks = application.verify(problem, result) + application._every_dump(problem, None, result)
    assert len(checks) == 3 + 5 + 5 + 1
    assert [str(check) for check in checks if not check.ok] == []
    assert result.R_IO == 69120 * (60 // IW) / result.T_T
    assert result.stalls.shape == (60 // IW,)
    found = verify_file(result.path, application.exact_plane(12))
    assert np.allclose(found.error_norms.mean(axis=0), MEAN_ERROR_NORMS[12, 60, IW], rtol=1e-10)
    del result
    assert os.listdir(tmp_path) == []


def test_report_s_smallest_size_is_the_quick_preset():
    assert application.Problem.preset("quick") == application.Problem(12, 60, 10)
    printed = tables.printed("nht1", "table_1").set_index("N")
    for name in ("small", "medium", "paper"):
        problem = application.Problem.preset(name)
        assert (problem.NS, problem.IW) == tuple(printed.loc[problem.N, ["NS", "IW"]])


def test_wrong_solution_does_not_verify(tmp_path, monkeypatch):
    """A time step a little off writes perfect files of a wrong solution."""
    problem = application.Problem(folder=str(tmp_path))
    with monkeypatch.context() as patched:
        patched.setitem(application._TIME_STEPS, 12, 0.01 * (1 + 1e-6))
        result = run(problem)
    checks = application.verify(problem, result) + application._every_dump(problem, None, result)
    failed = [check.name for check in checks if not check.ok]
    assert "mean error norm 1 of all dumps" in failed
    assert "residual norm 1 of the last dump read back" in failed
    assert "dumps: largest difference from the reference, relative" in failed


def test_diagonal_as_printed(tmp_path):
    problem = application.Problem(N=6, NS=2, IW=1, folder=str(tmp_path))
    result = run(problem)
    found = verify_file(result.path)
    lines = list(found.lines())
    assert len(lines) == 2 * 6 * 5 and all(len(line) == 15 and line[-11] == "." for line in lines)
    assert np.allclose(np.array(lines, float), found.diagonal.ravel(), atol=1e-10)
    assert mean_error_checks(found) == []


def test_exact_plane_is_the_exact_solution():
    plane = application.exact_plane(9)
    whole = exact_solution(9)
    assert all(np.allclose(plane(k), whole[k], rtol=1e-14) for k in range(9))


def test_interrupted_run_leaves_nothing(tmp_path, monkeypatch):
    problem = application.Problem(N=6, NS=4, IW=1, folder=str(tmp_path))
    state = application.setup(problem)
    real, seen = bt.pack, []

    def pack(*arguments):
        seen.append(1)
        if len(seen) == 4:
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(bt, "pack", pack)
    with pytest.raises(KeyboardInterrupt):
        application.run(problem, state)
    assert os.listdir(tmp_path) == []
    monkeypatch.undo()
    assert all(check.ok for check in application.verify(problem, application.run(problem, state)))


def test_work_is_that_of_the_solver_and_its_dumps(monkeypatch):
    monkeypatch.setattr(bt, "work", lambda problem: Work(problem.N, 20, 30, (("sweep", 7),)), raising=False)
    assert application.work(application.Problem()) == Work(12, 20, 30 + 6 * 69120, (("sweep", 7),))
