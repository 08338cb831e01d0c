"""Chapters on a machine without MPI: their sections on ranks show committed runs, or how to get one."""

import ast
import json
from pathlib import Path

import pytest

from companion import experiments, notebook_files
from companion.figures import rendering
from companion.records import runs

ROOT = Path(__file__).parents[2]
CHAPTERS = ("03_nht1",)


def cells(chapter):
    """Imports of all cells, the cell of parameters, and the cells on ranks."""
    book = json.loads((ROOT / "notebooks" / f"{chapter}.ipynb").read_text())
    code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    sources = ["".join(cell["source"]) for cell in code]
    trees = [ast.parse(source) for source in sources]
    imports = [node for tree in trees for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    chosen = [
        tree
        for tree, source, cell in zip(trees, sources, code, strict=True)
        if "parameters" in cell["metadata"].get("tags", []) or "ranks." in source
    ]
    return [ast.Module(imports, []), *chosen]


def shown(trees):
    """Run the cells; what the last expression of each shows."""
    space, found = {}, []
    for tree in trees:
        body = list(tree.body)
        last = ast.Expression(body.pop().value) if body and isinstance(body[-1], ast.Expr) else None
        exec(compile(ast.Module(body, []), "cell", "exec"), space)
        if last is not None:
            found.append(eval(compile(last, "cell", "eval"), space))
    return found


@pytest.mark.parametrize("committed", [True, False], ids=["with records", "without records"])
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_sections_on_ranks_need_no_mpi(monkeypatch, chapter, committed):
    monkeypatch.setenv("RERUN_WITHOUT_MPI", "1")
    monkeypatch.setenv(rendering.FIGURES, "text")
    over_mpi = {entry.id for entry in experiments.REGISTER.values() if entry.ranks}
    if not committed:
        latest = runs.latest
        monkeypatch.setattr(runs, "latest", lambda id: None if id in over_mpi else latest(id))
    results = shown(cells(chapter))
    said = [data for result in results if isinstance(data := getattr(result, "data", None), str)]
    told = [data for data in said if "pip install 'supercomputers-rerun[mpi]'" in data]
    assert len(results) >= 4
    absent = any(runs.latest(id) is None for id in over_mpi if id.startswith(chapter[3:]))
    assert bool(told) is absent
    assert not any(experiments.unavailable(experiments.find(id)) is None for id in over_mpi)


@pytest.mark.parametrize("id", [id for id, entry in experiments.REGISTER.items() if entry.ranks and entry.figures])
def test_the_stored_run_stands_in_a_notebook_where_none_can_be_made(monkeypatch, id):
    monkeypatch.setenv("RERUN_WITHOUT_MPI", "1")
    monkeypatch.setenv(rendering.FIGURES, "text")
    said: list[str] = []
    monkeypatch.setattr(notebook_files, "inside", lambda: True)
    monkeypatch.setattr(notebook_files, "say", said.append)
    entry = experiments.find(id)
    stored, here = entry.runs(), entry.run()
    assert len(said) == 1 and "needs MPI" in said[0]
    assert [run.attrs["file"] for run in entry.runs(here)] == [run.attrs["file"] for run in stored]
