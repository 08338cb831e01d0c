"""Messages: every way hands over every line once; what cannot be is refused."""

import dataclasses

import pytest

from supercomputers_rerun.kernels.files import messages


@pytest.mark.parametrize("way", messages.WAYS)
def test_every_line_arrives_once_and_procedures_give_what_they_say(way, tmp_path):
    problem = messages.Problem(way=way, messages=35, delay=0.001, folder=str(tmp_path))
    state = messages.setup(problem)
    result = messages.run(problem, state, repeats=2)
    assert all(check.ok for check in messages.verify(problem, result))
    assert {len(line) for line in state.lines} == {problem.line_bytes}
    if way == "late":
        assert result.real_s >= 35 * problem.delay
    assert result.values == sum(eval(statement, {"x": messages.AT}) for statement in state.statements) != 0
    assert len(list(result.keep.path.glob("procedure*"))) == 3
    wrong = dataclasses.replace(result, values=result.values + 1)
    assert not all(check.ok for check in messages.verify(problem, wrong))
    result.keep.close()
    assert list(tmp_path.iterdir()) == []


def test_reverse_polish_keeps_the_order_of_operands():
    codes = messages.polish("x * 2 - (x + 5)")
    assert codes == "x 2 * x 5 + -"
    assert messages.value(codes, 10) == 5 and messages.value(f"{codes}\n{codes}", 10) == 10
