"""Ctrl-C after every single step of Python in the writing of files: nothing is left, and nothing is half done."""

import shutil
import signal
from pathlib import Path

import pytest
from cases import tried

import companion.files
import kernels.files.pending
from kernels.files.pending import Pending, WorkFolder
from kernels.runtime import interrupts

#: Files whose steps are counted; those of the standard library between them are steps of the call.
TRACED = {kernels.files.pending.__file__, interrupts.__file__, companion.files.__file__, __file__}


def write_file(folder):
    with Pending(folder / "x") as pending:
        pending.part.write_text("new")
        pending.commit()


def write_folder(folder):
    with Pending(folder / "x") as pending:
        pending.part.mkdir()
        (pending.part / "y").write_text("new")
        pending.commit(durable=True)


def keep_work(folder):
    with WorkFolder(folder, "work") as work:
        (work.path / "y").write_text("new")


def let_work_go(folder):
    work = WorkFolder(folder, "work")
    (work.path / "y").write_text("new")
    del work


def write_text(folder):
    companion.files.write_text(folder / "x", "new")


def replace_text(folder):
    companion.files.write_text(folder / "x", "new", overwrite=True)


def prepare(folder):
    with companion.files.prepared(folder / "a" / "b"):
        pass


def content(folder):
    """Names in the folder, with what they hold."""
    return {
        path.name: path.read_text() if path.is_file() else sorted(inner.name for inner in path.iterdir())
        for path in Path(folder).iterdir()
    }


def old_file(folder):
    (folder / "x").write_text("old")


def old_folder(folder):
    (folder / "x").mkdir()
    (folder / "x" / "z").write_text("old")


def nothing(folder):
    pass


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # finalizers are interrupted, too
@pytest.mark.parametrize("every", [pytest.param(1, marks=pytest.mark.weekly), 11])
@pytest.mark.parametrize(
    ("begin", "action", "allowed"),
    [
        (nothing, write_file, [{}, {"x": "new"}]),
        (old_file, write_file, [{"x": "old"}, {"x": "new"}]),
        (nothing, write_folder, [{}, {"x": ["y"]}]),
        (old_folder, write_folder, [{"x": ["z"]}, {"x": ["y"]}]),
        (nothing, keep_work, [{}]),
        (nothing, let_work_go, [{}]),
        (nothing, write_text, [{}, {"x": "new"}]),
        (old_file, replace_text, [{"x": "old"}, {"x": "new"}]),
        (nothing, prepare, [{}, {"a": ["b"]}]),
    ],
)
def test_control_c_at_every_operation(tmp_path, monkeypatch, ctrl_c, begin, action, allowed, every):
    monkeypatch.setattr(interrupts, "_raise_later", lambda number: None)
    number, reached, seen = 0, True, []  # of the operation, whether there is one, what was found
    while reached:
        number += every
        folder = tmp_path / "at"
        folder.mkdir()
        begin(folder)
        steps, _, found = ctrl_c(number, lambda: action(folder), TRACED.__contains__, "opcode")  # noqa: B023
        assert found in ("KeyboardInterrupt", "nothing"), f"before operation {number}"
        reached = steps >= number
        signal.signal(signal.SIGINT, signal.default_int_handler)
        kernels.files.pending._let_all_go()  # as when the process ends
        found = content(folder)
        assert found in allowed, f"before operation {number}"
        assert not kernels.files.pending._CLAIMS
        seen += [] if found in seen else [found]
        tried()
        shutil.rmtree(folder)
    assert number > 50
    assert len(seen) == len(allowed)
