"""A notebook on a machine without MPI shows the stored runs of its experiments on ranks."""

import pytest

from supercomputers_rerun.companion import experiments, notebook_files
from supercomputers_rerun.companion.figures import rendering


@pytest.mark.parametrize("id", [id for id, entry in experiments.REGISTER.items() if entry.ranks and entry.runs()])
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
