"""ECMWF's cloud scheme: its report is read, and believed only where its own validation holds."""

import pytest

from companion.pages import peer_tables
from companion.records import peer_records
from peers import Comparison, cloudsc, measure
from peers.kit.record import Run

#: What the program says, as it was built by gfortran 12 for the committed comparison; most variables left out.
SAID = """\
     NUMPROC=1, NUMOMP=1, NGPTOTG=8192, NPROMA=32, NGPBLKS=256
 Reference MFLOP count for 100 columns :  12.48232900
     NUMOMP    NGPTOT  #GP-cols     #BLKS    NPROMA tid# : Time(msec)  MFlops/s     col/s
          1      8192      8192       256        32    0 :       1064       961      7696 @ rank#0:core#0
          1      8192      8192       256        32   -1 :       1064       961      7696 : TOTAL @ rank#0
    1 x   1      8192      8192       256        32   -1 :       1064       961      7696 : TOTAL
             Variable Dim             MinValue             MaxValue            AbsMaxErr         AvgAbsErr/GP          MaxRelErr-%
                PLUDE 2D1  0.0000000000000E+00  0.1026720108982E-03  0.0000000000000E+00  0.0000000000000E+00  0.0000000000000E+00
               PFSQLF 2D3 -0.2581756360096E-05  0.4080862802487E-05  0.1678845771238E-18  0.3406851133118E-18  0.3356612512956E-11 !!!!
       TENDENCY_LOC%T 2D3 -0.4132200394167E-04  0.5435278446361E-04  0.5283368008499E-17  0.3296070148589E-17  0.1484228558022E-11 !!!!
"""  # noqa: E501


@pytest.fixture
def dwarf(monkeypatch, tmp_path):
    """A program that prints the report, in ``bin`` of the folder that the variable names."""
    (tmp_path / "bin").mkdir()
    path = tmp_path / "bin" / "dwarf-cloudsc-fortran"
    path.write_text(f"#!/bin/sh\necho $OMP_NUM_THREADS $* >> calls\ncat >&2 <<END\n{SAID}END\n")
    path.chmod(0o755)
    monkeypatch.setenv("CLOUDSC", str(tmp_path))
    monkeypatch.delenv("CLOUDSC_BUILD", raising=False)
    monkeypatch.setattr(cloudsc, "_LEVELS", 10)  # of our side
    return path


def test_the_report_of_a_run_is_read():
    report = cloudsc.read(SAID)
    assert (report.seconds, report.columns) == (1.064, 8192)
    assert report.flops == pytest.approx(124_823.29) and report.error == pytest.approx(3.36e-12, rel=1e-2)


def test_rates_of_both_sides_are_measured_kept_and_shown(dwarf, tmp_path, monkeypatch):
    """The program's own clock counts, whatever its call lasted; both sides work on as many columns."""
    (item,) = cloudsc.comparisons(1)
    assert isinstance(item, Comparison) and "16 of CLOUDSC" in item.chosen  # of equal trials the first
    calls = (tmp_path / "calls").read_text().splitlines()
    assert calls == [f"1 1 8192 {nproma}" for nproma in cloudsc.BLOCKS]
    monkeypatch.setattr("companion.bench.sampling.MIN_SAMPLE", 1e-4)
    row = measure(item, rounds=2, seed=0)
    assert list(row.peers["CLOUDSC"]) == [1.064, 1.064] and row.apart == {"CLOUDSC": 0.0}
    monkeypatch.setenv("CLOUDSC_BUILD", "1.5.3, gfortran 12")
    run = Run(["cloudsc"], [1], 2, 0)
    run.add("cloudsc", 1, row)
    record = peer_records.validate(run.record())
    assert record["peers"] == {"CLOUDSC": "1.5.3, gfortran 12"}
    text = peer_tables.rates_table([record], "cloudsc").text
    assert "7699" in text and "0.961" in text  # columns and operations a second, as the program says too
    assert "no ratios to show" in repr(peer_tables.overview([record]))  # rates are no ratios


def test_an_answer_that_fails_its_own_validation_is_not_timed(dwarf):
    dwarf.write_text(dwarf.read_text().replace("0.1484228558022E-11", "0.1484228558022E-01"))
    (item,) = cloudsc.comparisons(1)
    row = measure(item, rounds=1, seed=0)
    assert row.peers == {} and row.wrong == {"CLOUDSC": float("inf")}
