"""Figures of runs over MPI, and what a page says without one."""

from companion.figures import ranks
from companion.host import doctor
from companion.host.doctor import Finding


def test_without_a_record_a_sentence_says_how_to_get_one():
    text = ranks.drawn(None, None, "p5plus-exchange").data
    assert "python -m companion run p5plus-exchange --ranks 2" in text and "supercomputers-rerun[mpi]" in text


def test_without_mpi_nothing_is_run(monkeypatch):
    monkeypatch.setattr(doctor, "mpi", lambda: Finding("MPI", False, "absent"))
    assert ranks.live(None, "p5plus-exchange") is None
