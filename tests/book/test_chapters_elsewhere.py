"""Every chapter on a system without Linux's own names and without MPI: no cell stops the book."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from companion import experiments, notebook_files
from companion.host import doctor
from companion.records import runs

ROOT = Path(__file__).parents[2]


@pytest.mark.weekly
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("chapter", [path.stem[:2] for path in notebook_files.paths()])
def test_a_chapter_runs_without_what_only_linux_has(chapter):
    command = [sys.executable, "tests/book/chapters_elsewhere.py", chapter]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout.splitlines()[-1]) == []


def test_in_a_notebook_a_committed_run_stands_in_with_the_reason(monkeypatch):
    absent = doctor.Finding("CPU binding", False, "this system cannot bind threads")
    monkeypatch.setitem(doctor.NEEDS, "affinity", lambda: absent)
    said = []
    monkeypatch.setattr(notebook_files, "say", said.append)
    monkeypatch.setattr(notebook_files, "inside", lambda: True)
    for id in ("p5plus-binding", "p5plus-bandwidth"):  # one needs it always, one has cases that bind
        found = experiments.run(id)
        assert found.identical(runs.latest(id))
        assert said.pop() == (
            f"Not measured here: {id} needs CPU binding: this system cannot bind threads. "
            "The newest committed run stands in its place."
        )
    monkeypatch.setattr(notebook_files, "inside", lambda: False)
    for id in ("p5plus-binding", "p5plus-bandwidth"):
        with pytest.raises(experiments.Unavailable, match=f"^{id} needs CPU binding"):
            experiments.run(id)
    monkeypatch.setattr(notebook_files, "inside", lambda: True)
    monkeypatch.setattr(runs, "latest", lambda id: None)
    with pytest.raises(experiments.Unavailable):
        experiments.run("p5plus-binding")
