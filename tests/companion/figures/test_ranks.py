"""Figures of runs over MPI, and what a page says without one."""

import pytest
import xarray as xr

from companion import experiments
from companion.chapters.xc30 import figures as xc
from companion.figures import ranks
from companion.host import doctor
from companion.host.doctor import Finding


def test_without_a_record_a_sentence_says_how_to_get_one():
    text = ranks.drawn(None, None, "p5plus-exchange").data
    assert "python -m companion run p5plus-exchange --ranks 2" in text and "supercomputers-rerun[mpi]" in text


def test_without_mpi_nothing_is_run(monkeypatch):
    monkeypatch.setattr(doctor, "mpi", lambda: Finding("MPI", False, "absent"))
    assert ranks.live(None, "p5plus-exchange") is None


def test_the_volume_is_drawn_beside_the_printed_one():
    record = experiments.run("xc30-volume")
    assert record.attrs["simulated"] == 1
    about = xr.Dataset({"tasks": ("system", [400.0]), "cores": ("system", [2400.0])}, {"system": ["a"]})
    shown = xc.volume(record, xr.Dataset({"mpi_volume": 150.0}), about)
    assert "150 TB" in str(shown._repr_mimebundle_()) and "2400 cores" in str(shown._repr_mimebundle_())
    assert float(record["transpositions_bytes"].max()) / 1e12 == pytest.approx(67, abs=3)
    assert int(record["ranks"].max()) == 100_000
    fixed, demanded = (record[f"halo_{name}_bytes"] for name in ("fixed", "on_demand"))
    assert (fixed > 2 * demanded).all()
