"""A record printed next to the report's values; every committed record is shown."""

import pandas as pd

from supercomputers_rerun.companion import experiments
from supercomputers_rerun.companion.figures import rendering
from supercomputers_rerun.companion.records import runs


def newest(experiment):
    return max(runs.COMMITTED.glob(f"{experiment}_*.json"))


def test_show_prints_the_reports_values_in_columns_of_their_own(call):
    code, out, err = call("show", newest("xmp1982-simulator"))
    assert code == 0, err
    assert "[1]" in out and "X-MP 1982" in out and "today, median of" in out


def test_every_committed_record_is_shown_somewhere():
    known = {name for name, entry in experiments.REGISTER.items() if entry.figures} | {"nht1-mpiio"}  # a sentence alone
    assert {runs.read(path)["experiment"] for path in runs.COMMITTED.glob("*.json")} <= known


def test_samples_become_medians_and_other_columns_stay():
    frame = pd.DataFrame({"row": ["a"], "here, 1": [1.0], "here, 2": [5.0], "here, 3": [2.0], "1982": [7]})
    assert rendering.medians(frame).to_dict("list") == {"row": ["a"], "here, median of 3": [2.0], "1982": [7]}
