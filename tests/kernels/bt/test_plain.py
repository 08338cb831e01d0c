"""The plain solver gives what the compiled one gives, and a textbook's the published norms."""

import numpy as np

from kernels import bt
from kernels.bt import plain, textbook


def test_the_plain_solver_agrees_with_the_compiled_one():
    problem = bt.Problem(8, 6, 0.01)
    state = plain.setup(problem)
    found, expected = plain.run(problem, state, repeats=2), plain.reference(problem, state)
    assert np.allclose(found.residual, expected.residual, rtol=1e-11)
    assert np.allclose(found.error, expected.error, rtol=1e-11)
    assert all(check.ok for check in plain.verify(problem, found))


def test_line_by_line_meets_the_published_norms():
    problem = bt.Problem.preset("S")
    result = textbook.run(problem, textbook.setup(problem))
    assert all(check.ok for check in textbook.verify(problem, result))
