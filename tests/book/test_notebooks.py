"""Notebooks are stored in one form, and what they show is compared."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from companion import figures, notebook_files, notebooks

ROOT = Path(__file__).parents[2]
PATHS = notebook_files.paths()


def _notebook(*cells):
    return notebooks.normal(nbformat.v4.new_notebook(cells=list(cells)))


def _code(source, count=1, tags=(), text=None):
    cell = nbformat.v4.new_code_cell(source, execution_count=count)
    if tags:
        cell.metadata["tags"] = list(tags)
    if text is not None:
        cell.outputs = [nbformat.v4.new_output("stream", name="stdout", text=text)]
    return cell


def _stored(folder, notebook):
    path = folder / "chapter.ipynb"
    path.write_text(notebooks.text(notebook), encoding="utf-8")
    return path


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_notebook_keeps_form_and_rules(path):
    found = notebooks.problems(path)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_notebook_imports_only_public_rooms(path):
    """Notebooks speak to kernels and companion; private names and other rooms stay closed."""
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            assert not re.search(r"^\s*(?:from|import)\s+(?:peers|tests)\b", cell.source, re.MULTILINE)
            assert not re.search(r"^\s*from\s+(?:kernels|companion)[\w.]*\s+import\s+_", cell.source, re.MULTILINE)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_an_open_table_of_a_report_says_what_to_see(path):
    for source in notebook_files.sources(path):
        for call in ast.walk(ast.parse(source)):
            if isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "document_table":
                given = {word.arg for word in call.keywords}
                document, name = (ast.literal_eval(each) for each in call.args)
                is_open = figures.document_table(document, name).html.startswith("<div") and "folded" not in given
                assert "seen" in given or not is_open, f"{document}, {name}: say what to see, or fold it"


def test_a_well_formed_notebook_has_no_problem(tmp_path):
    notebook = _notebook(_code("a = 1", 1, ["parameters"]), _code("print(a)", 2, text="1\n"))
    assert notebooks.problems(_stored(tmp_path, notebook)) == []


def _bad_notebooks():
    good, shown = _code("a = 1", 1, ["parameters"]), _code("print(1)", 2, text="1\n")
    long = "\n".join(f"a{n} = {n}" for n in range(13))
    function = "def long():\n" + "\n".join(f"    a{n} = {n}" for n in range(8))
    failed = _code("1 / 0", 3)
    failed.outputs = [nbformat.v4.new_output("error", ename="ZeroDivisionError", evalue="", traceback=[])]
    return {
        "long cell": ([good, shown, _code(long, 3)], "cell 3: 13 lines, at most 12"),
        "long function": ([good, shown, _code(function, 3)], "cell 3: long has 9 lines, at most 8"),
        "never run": ([good, shown, _code("b = 2", None)], "cell 3: there is no execution count"),
        "nothing compared": (
            [good, _code("print(1)", 2, ["nbval-ignore-output"])],
            "no cell has a compared output",
        ),
        "no parameters": ([_code("print(1)", 1, text="1\n")], "0 cells are tagged parameters"),
        "two parameters": (
            [good, _code("print(1)", 2, ["parameters"], "1\n")],
            "2 cells are tagged parameters",
        ),
        "address": (
            [good, _code("f", 2, text="<f at 0x7f00deadbeef>")],
            "cell 2: the output holds a memory address",
        ),
        "path": (
            [good, _code("p", 2, text="/home/someone/x")],
            "cell 2: the output holds a path of one machine",
        ),
        "failed": ([good, shown, failed], "cell 3: the cell failed with ZeroDivisionError"),
        "counts": ([good, _code("print(1)", 7, text="1\n")], "execution counts do not run from 1"),
        "empty": ([good, shown, _code("", 3)], "cell 3: the cell is empty"),
    }


@pytest.mark.parametrize("case", _bad_notebooks())
def test_each_departure_is_named_with_notebook_and_cell(case, tmp_path):
    cells, sentence = _bad_notebooks()[case]
    found = notebooks.problems(_stored(tmp_path, _notebook(*cells)))
    assert any(sentence in problem for problem in found), found
    assert all(problem.startswith("chapter.ipynb") for problem in found)


def test_pictures_html_and_ignored_outputs_leave(tmp_path):
    picture = _code("show()", 2)
    picture.outputs = [
        nbformat.v4.new_output("display_data", {"image/png": "AAAA", "text/html": "<b>x</b>", "text/plain": "alt"})
    ]
    timing = _code("print(time)", 3, ["nbval-ignore-output"], "0.123 s\n")
    raw = nbformat.v4.new_notebook(cells=[_code("a = 1", 1, ["parameters"]), picture, timing])
    path = _stored(tmp_path, raw)
    assert any("cell 2: id, outputs not" in problem for problem in notebooks.problems(path))
    assert notebooks.normalise(path, execute=False)
    stored = nbformat.read(path, as_version=4)
    assert stored.cells[1].outputs[0].data == {"text/plain": "alt"}
    assert stored.cells[2].outputs == []
    assert notebooks.problems(path) == []
    assert not notebooks.normalise(path, execute=False)


def test_normalising_executes(tmp_path):
    path = _stored(tmp_path, _notebook(_code("a = 20", None, ["parameters"]), _code("print(a + 1)", None)))
    assert notebooks.normalise(path)
    assert nbformat.read(path, as_version=4).cells[1].outputs[0].text == "21\n"
    assert notebooks.problems(path) == []


def test_command_line_reports_and_fails(tmp_path, capsys):
    assert notebooks.main(["check", str(_stored(tmp_path, _notebook(_code("", 1))))]) == 1
    assert "chapter.ipynb, cell 1" in capsys.readouterr().err


def test_strict_comparison_sees_a_changed_result(tmp_path):
    """The run of pytest that compares notebooks fails on a wrong text and passes on the right one."""
    (tmp_path / "conftest.py").write_text((ROOT / "conftest.py").read_text())
    rendered = _code("display({'text/html': '<b>1</b>', 'text/plain': 'b'}, raw=True)", 3)
    rendered.outputs = [nbformat.v4.new_output("display_data", {"text/plain": "b"})]
    cells = _code("print(1 + 1)", 1, text="2\n"), _code("print(1 + 1)", 2, text="3\n"), rendered
    (tmp_path / "chapter.ipynb").write_text(notebooks.text(_notebook(*cells)))
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-rA",
            "--tb=no",
            "-q",
            "-p",
            "no:cacheprovider",
            *(f"-pno:{name}" for name in ("zarr", "anyio", "hypothesispytest", "xdist")),
            "--nbval",
            "--nbval-current-env",
            "--rootdir",
            str(tmp_path),
            "-c",
            "/dev/null",
            str(tmp_path),
        ],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
        env={name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"},
    )
    outcomes = re.findall(r"^(PASSED|FAILED) \S*?chapter\.ipynb::Cell (\d)", done.stdout, re.MULTILINE)
    assert sorted(outcomes) == [("FAILED", "1"), ("PASSED", "0"), ("PASSED", "2")], done.stdout


@pytest.mark.parametrize("arguments", [["nothing"], ["check", "--frob"], []])
def test_what_the_command_does_not_know_is_one_sentence(capsys, arguments):
    assert notebooks.main(arguments) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert line.startswith("companion.notebooks: ")


BROKEN = {"absent": None, "text": "no notebook", "list": "[]", "empty": "{}"}


@pytest.mark.parametrize("command", ["check", "normalise"])
@pytest.mark.parametrize("kind", BROKEN)
def test_what_is_no_notebook_is_one_sentence(tmp_path, capsys, command, kind):
    path = tmp_path / "x.ipynb"
    if BROKEN[kind] is not None:
        path.write_text(BROKEN[kind])
    assert notebooks.main([command, str(path)]) == 1
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert "x.ipynb" in line
    assert [each.name for each in tmp_path.iterdir()] == ([] if kind == "absent" else ["x.ipynb"])


def test_a_failing_cell_is_one_sentence_and_changes_nothing(tmp_path, capfd):
    path = tmp_path / "x.ipynb"
    source = notebooks.text(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1 / 0")]))
    path.write_text(source)
    assert notebooks.main(["normalise", str(path)]) == 1
    assert "x.ipynb: left as it was, because a cell failed with ZeroDivisionError" in capfd.readouterr().err
    assert path.read_text() == source and list(tmp_path.iterdir()) == [path]
