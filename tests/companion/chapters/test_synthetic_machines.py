"""Two made-up machines join a copy of the book: no stored output of a notebook changes, and every record page names
both."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from synthetic import on

from companion import drawings, experiments, notebook_files
from companion.figures import rendering
from companion.pages import chapter_record
from companion.records import machines, runs

ROOT = Path(__file__).parents[3]
#: Names of the made-up machines, and their times over those of the record that each of theirs is made of.
MADE_UP = {"Slowpoke 1000": 3.0, "Quickstep 7": 0.5}
NOTEBOOKS = [path.name for path in notebook_files.paths()]
pytestmark = pytest.mark.weekly


def add_machines(folder: Path) -> None:
    """Every experiment of the book's first machine, once more by each made-up machine."""
    first = machines.known()[0]
    for name in sorted(first.experiments):
        record = runs.latest(name)
        path = runs.COMMITTED / record.attrs["file"]
        for model, factor in MADE_UP.items():
            runs.save(on(model, factor, runs.read(path)), folder)


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of what git has, with the records of both."""
    root = tmp_path_factory.mktemp("tree")
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_file():
            shutil.copy(ROOT / name, root / name)
    add_machines(root / "data" / "runs")
    return root


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_no_stored_output_changes(notebook, tree):
    command = [sys.executable, "-m", "pytest", "-q", f"notebooks/{notebook}"]
    surroundings = os.environ | {"PYTHONPATH": str(tree)}
    done = subprocess.run(command, cwd=tree, env=surroundings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:]


@pytest.fixture
def joined(tmp_path, monkeypatch):
    """The book's records and theirs, where the pages of this process look."""
    folder = tmp_path / "runs"
    shutil.copytree(runs.COMMITTED, folder)
    add_machines(folder)
    for module in (runs, machines):
        monkeypatch.setattr(module, "COMMITTED", folder)
    for function in (machines.known, machines.place, machines.label):
        monkeypatch.setattr(function, "__defaults__", (folder,))
    for function in (chapter_record.is_elsewhere, chapter_record.stored_runs):
        function.cache_clear()
    yield folder
    for function in (chapter_record.is_elsewhere, chapter_record.stored_runs):
        function.cache_clear()


@pytest.mark.parametrize("document", ["p5plus", "xc30"])
def test_each_figure_with_medians_of_a_run_names_every_machine(document, joined, monkeypatch):
    """Two made-up machines are on the axes of every figure that has the others, or its heading counts them."""
    said = {}

    def keep(figure, alt, name=None):
        legends = [legend.get_title().get_text() for legend in figure.legends]
        said[name] = "\n".join([figure.get_suptitle(), *legends])
        return "<svg></svg>"

    monkeypatch.setattr(rendering, "_drawings", keep)
    for drawing in drawings.of(document):
        run = runs.latest(drawing.experiment)
        if run is not None and not run.attrs["simulated"] and run.attrs["kind"] == "timing":
            drawing(run)
    named = [words for words in said.values() if all(model in words for model in MADE_UP)]
    counted = [words for words in said.values() if "on the record" in words]
    assert len(named) > 8 and len(named) + len(counted) > 12


@pytest.mark.parametrize("document", ["p5plus", "xc30"])
def test_a_record_draws_each_figure_of_every_machine(document, joined):
    html = chapter_record.other_machines(document).html
    measured = [name for name in machines.known()[0].experiments if experiments.REGISTER[name].document == document]
    for model in MADE_UP:
        titles = re.findall(rf"<summary>[^<]*{model}[^<]*</summary>", html)
        timed = [
            n for n in measured if experiments.REGISTER[n].kind == "timing" and not experiments.REGISTER[n].simulated
        ]
        assert len(titles) == len(timed) > 5
        assert len(re.findall(rf"<figure(?:(?!</figure>).)*{model}", html, re.DOTALL)) >= len(timed) / 2
