"""Commands that a page of the book executes, with what they print."""

import pytest

from companion.pages import session


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    class Folder:
        name = str(tmp_path)

    monkeypatch.setattr(session, "_folder", Folder)
    return tmp_path


def test_a_command_and_the_first_lines_that_it_prints(folder):
    shown = session.ran("list p5plus-smt nht1-io xc30-ranks", lines=2)
    command, *printed, more = shown.alt.split("\n")
    assert command == "$ python -m companion list p5plus-smt nht1-io xc30-ranks"
    assert [line.split()[0] for line in printed] == ["p5plus-smt", "nht1-io"] and more == "… 1 more lines"
