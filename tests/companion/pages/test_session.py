"""Commands that a page of the book executes, with what they print."""

from companion.pages import session


def test_a_command_and_the_first_lines_that_it_prints():
    command, *printed, more = session.ran("list p5plus-smt nht1-io", lines=2).alt.split("\n")
    assert command == "$ python -m companion list p5plus-smt nht1-io"
    assert [line.split()[0] for line in printed] == ["p5plus:", "p5plus-smt"] and more == "… 3 more lines"
