"""Every committed record is shown, and beside it what its report prints."""

from supercomputers_rerun.companion import experiments
from supercomputers_rerun.companion.records import runs


def test_show_prints_the_reports_values_beside_those_of_the_record(call):
    code, out, err = call("show", max(runs.COMMITTED.glob("xmp1982-simulator_*.json")))
    assert code == 0, err
    assert "Beside the report: time [s]" in out and "CPU time, 1982" in out and "\nrecord  " in out


def test_every_committed_record_is_shown_somewhere():
    known = {name for name, entry in experiments.REGISTER.items() if entry.figures} | {"nht1-mpiio"}  # a sentence alone
    assert {runs.read(path)["experiment"] for path in runs.COMMITTED.glob("*.json")} <= known
