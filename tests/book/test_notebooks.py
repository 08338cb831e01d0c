"""Notebooks are stored in one form, and what they show is compared."""

import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from supercomputers_rerun.companion import notebook_files, notebooks

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
    notebook = nbformat.read(path, as_version=4)
    assert notebooks.text(notebooks.normal(notebook)) == path.read_text(encoding="utf-8"), "normalise the notebook"
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    assert sum("parameters" in cell.metadata.get("tags", ()) for cell in code) <= 1
    assert not any(output.output_type == "error" for cell in code for output in cell.outputs)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_stored_pictures_are_light(path):
    cells = nbformat.read(path, as_version=4).cells
    pictures = [output.data["image/png"] for cell in cells for output in cell.get("outputs", ())
                if "image/png" in output.get("data", {})]  # fmt: skip
    assert all(len(picture) * 3 / 4 <= 40_000 for picture in pictures)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_what_is_opened_and_not_yet_trusted_has_its_box_and_findings_formatted(path):
    """JupyterLab shows Markdown of any notebook and HTML of trusted ones alone."""
    for cell in nbformat.read(path, as_version=4).cells:
        if re.match(r"figures\.(?:box|paragraph|answer)\(", cell.source.splitlines()[-1] if cell.source else ""):
            assert all("text/markdown" in output.data for output in cell.outputs), cell.source
        if "figures.box(" in cell.source:
            (box,) = cell.outputs
            assert box.data["text/markdown"].startswith("**The report.** ")


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_notebook_imports_only_public_rooms(path):
    """Notebooks speak to kernels and companion; private names and other rooms stay closed."""
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            assert not re.search(
                r"^\s*(?:from|import)\s+(?:supercomputers_rerun\.peers|tests)\b", cell.source, re.MULTILINE
            )
            assert not re.search(r"^\s*from\s+supercomputers_rerun[\w.]*\s+import\s+_", cell.source, re.MULTILINE)


def test_normalising_executes(tmp_path):
    path = _stored(tmp_path, _notebook(_code("a = 20", None, ["parameters"]), _code("print(a + 1)", None)))
    assert notebooks.normalise(path) and not notebooks.normalise(path)
    assert nbformat.read(path, as_version=4).cells[1].outputs[0].text == "21\n"


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
            *(f"-pno:{name}" for name in ("anyio", "hypothesispytest", "xdist")),
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


def test_progress_shows_while_a_cell_runs_and_is_gone_from_its_outputs(monkeypatch):
    """In a notebook that a person has opened, which the server names in the kernel's environment."""
    from nbclient import NotebookClient

    lines = "from supercomputers_rerun.companion.bench import Alone", "with Alone().steps(2):", "    pass", "'done'"
    notebook, told = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("\n".join(lines))]), []
    client = NotebookClient(notebook, kernel_name="python3")
    show = client.process_message
    monkeypatch.setattr(
        client, "process_message", lambda message, *rest: (told.append(message), show(message, *rest))[1]
    )
    client.execute(env=os.environ | {"JPY_SESSION_NAME": "chapter.ipynb"})
    assert any("0/2" in message["content"].get("text", "") for message in told)
    assert [output.output_type for output in notebook.cells[0].outputs] == ["execute_result"]
