"""peers.bt: builds of NPB are believed only if verified."""

import pytest

from supercomputers_rerun import peers
from supercomputers_rerun.peers import Comparison, bt

REPORT = " BT Benchmark Completed.\\n Class           =   {}\\n Verification    =   {}\\n"


def program(folder, name, body):
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


VARIABLES = (*(variable for variable, _ in bt.BUILDS.values()), bt.TUNED)


@pytest.fixture(autouse=True)
def no_builds(monkeypatch):
    for variable in (*VARIABLES, "NPB_BT_CLASSES"):
        monkeypatch.delenv(variable, raising=False)


def test_missing_builds_are_named():
    absent = list(map(str, bt.comparisons(1)))
    assert all(any(variable in line for line in absent) for variable in VARIABLES)


@pytest.mark.parametrize(
    ("body", "believed"),
    [
        (f"printf '{REPORT.format('A', 'SUCCESSFUL')}'", True),
        (f"printf '{REPORT.format('A', 'UNSUCCESSFUL')}'", False),
        (f"printf '{REPORT.format('S', 'SUCCESSFUL')}'", False),
        (f"printf '{REPORT.format('A', 'SUCCESSFUL').replace('Class', 'class_npb')}'", True),
    ],
)
def test_reports_are_believed_only_if_verified(tmp_path, body, believed):
    assert bt.npb_run(program(tmp_path, "bt.A", body), "A", 1) is believed


def test_whole_runs_are_compared_where_a_build_is_named(tmp_path, monkeypatch):
    said = REPORT.format("S", "SUCCESSFUL")
    built = " Version         =     3.4.2\n    FC           = gfortran\n    FFLAGS       = -O3 -march=native"
    program(tmp_path, "bt.S", f"cat <<'END'\n{said}\n{built}\nEND")
    monkeypatch.setenv("NPB_BT_PLAIN", str(tmp_path))
    monkeypatch.setenv("NPB_BT_CLASSES", "S")
    assert "NPB Fortran, serial" not in bt.versions()  # it has not run
    for name in ("blk8", "blk16", "empty"):
        (tmp_path / "builds" / name).mkdir(parents=True)
    for name in ("blk8", "blk16"):
        program(tmp_path / "builds" / name, "bt.S.x", f"printf '{REPORT.format('S', 'SUCCESSFUL')}Version = {name}'")
    monkeypatch.setenv("NPB_BT_BUILDS", str(tmp_path / "builds"))
    items = list(bt.comparisons(1))
    assert "NPB empty (no executable for class S at NPB_BT_BUILDS)" in map(str, items)
    found = {item.group: item for item in items if isinstance(item, Comparison) and "whole run" in item.group}
    assert {group: list(item.peers) for group, item in found.items()} == {
        "BT whole run": ["NPB Fortran, serial"],
        "BT whole run, tuned builds": ["NPB blk16", "NPB blk8"],
    }
    (ours, npb), wrong = peers.measure(found["BT whole run"], threads=1, rounds=1, seed=0)
    assert not wrong and npb["parameters"]["side"] == "NPB Fortran, serial"
    assert peers.measure(found["BT whole run, tuned builds"], threads=1, rounds=1, seed=0)[1] == []
    assert bt.versions()["NPB blk8"] == "blk8"
    assert bt.versions()["NPB Fortran, serial"] == "3.4.2, gfortran, -O3 -march=native"
