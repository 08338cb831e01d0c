"""Commands that a page of the book executes, with what they print."""

import subprocess

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


def test_the_folder_is_named_by_nothing_and_a_pattern_by_its_newest_file(folder, monkeypatch):
    for name in ("a_1.json", "a_2.json"):
        (folder / name).write_text("")
    monkeypatch.setattr(
        session.subprocess, "run",
        lambda command, **_: subprocess.CompletedProcess(command, 1, f"{folder}/{command[-1]} read\n", ""),
    )  # fmt: skip
    assert session.ran("show a_*.json").alt == "$ python -m companion show a_2.json\na_2.json read"


def test_a_command_that_cannot_be_met_stops_the_book():
    with pytest.raises(RuntimeError, match="no-such is unknown|no-such"):
        session.ran("run no-such")
