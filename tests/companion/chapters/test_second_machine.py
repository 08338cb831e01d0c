"""Every figure of a chapter that draws committed runs draws one of them, whatever other machines are committed."""

import copy
import re
from pathlib import Path

import pytest
from drawing import offered

from companion import tables
from companion.chapters.aips58.figures import studies
from companion.chapters.nht1 import figures as nht1
from companion.chapters.p5plus import figures as p5
from companion.chapters.xc30 import figures as xc
from companion.chapters.xmp1982.figures import live, studied, together
from companion.figures.rendering import Shown
from companion.figures.tabular import Table
from companion.records import runs

NOTEBOOKS = Path(__file__).resolve().parents[3] / "notebooks"
SECOND = "Slowpoke 1000"
#: What ten times slower does to a number in these units.
SLOWER = {"s": 10, "ns": 10, "GFLOPS": 0.1, "MFLOPS": 0.1, "byte/s": 0.1}
#: Results of a model, which are the same on a machine of any speed.
SAME_EVERYWHERE = {"xc30-cases", "xc30-aliasing", "xc30-scores", "xmp1982-builds", "xmp1982-baroclinic"}
#: What was observed of a sample that is no time.
COUNTED = {"overlapped", "requests", "bytes"}


def _p5(table):
    return tables.load("p5plus", table)


def _xc(table):
    return tables.load("xc30", table)


def _xmp(table):
    return tables.load("xmp1982", table)


#: What chapters draw and tabulate from the committed runs of an experiment.
DRAWN = {
    "nht1-io": [
        lambda record: nht1.overheads(tables.printed("nht1", "overheads"), record),
        nht1.choice_of_base,
        nht1.runs_table,
    ],
    "nht1-overlap": [nht1.runs_table],
    "p5plus-bandwidth": [p5.bandwidth],
    "p5plus-latency": [p5.latency, p5.plateaus],
    "p5plus-stream": [p5.stream],
    "p5plus-smt": [lambda record: p5.smt(_p5("smt_benefit"), 16, record), p5.smt_loops],
    "p5plus-binding": [p5.binding],
    "xc30-transforms": [lambda record: xc.transforms(record, _xc("runs"), 2047)],
    "xc30-resolutions": [xc.costs],
    "xc30-sections": [xc.sections],
    "xc30-cases": [xc.cases, xc.steady_table],
    "xc30-aliasing": [xc.aliasing],
    "xc30-routines": [lambda record: xc.routines(record, _p5("drhook")), xc.nproma],
    "xc30-scores": [xc.scores],
    "xc30-storm": [xc.storm, xc.storm_table],
    "p5plus-exchange": [p5.exchange],
    "p5plus-sensors": [p5.sensors],
    "aips58-ddt": [lambda record: studies.totals(tables.load("aips58", "ddt"), record)],
    "xmp1982-forecast": [
        lambda record: live.forecast_times(_xmp("fig4_1"), record),
        lambda record: live.write_steps(_xmp("fig4_2"), record),
        lambda record: live.parts_table(_xmp("fig4_4"), record),
    ],
    "xmp1982-simulator": [lambda record: live.times_table(_xmp("fig5_1"), record, name="a", figure="Fig. 5.1")],
    "xmp1982-pairs": [lambda record: together.pairs_table(_xmp("fig5_3"), record)],
    "xmp1982-accounts": [together.accounts_table],
    "xmp1982-builds": [studied.builds],
    "xmp1982-baroclinic": [studied.lowest_pressure, studied.published_table],
}


def content(drawing):
    """What a figure or a table says: its data, its text alternative."""
    if isinstance(drawing, Shown):
        return drawing.alt, offered(drawing).to_csv()
    return drawing.text if isinstance(drawing, Table) else drawing.to_csv()


def scaled(value, factor):
    """A number, or numbers in lists of any depth, times ``factor``."""
    if isinstance(value, list):
        return [scaled(item, factor) for item in value]
    return value if factor == 1 or value is None else factor * value


def slower(record, date):
    """The same run on another machine, ten times slower."""
    record = copy.deepcopy(record)
    record["machine"]["cpu"]["model"] = SECOND
    record["date"] = date
    for case in record["measurements"]:
        case["samples"] = [SLOWER["s"] * seconds for seconds in case["samples"]]
        for name, values in case["observed"].items():
            case["observed"][name] = values if name in COUNTED else scaled(values, SLOWER["s"])
    for entry in record["outputs"].values():
        entry["value"] = scaled(entry["value"], SLOWER.get(entry["units"], 1))
    return record


def test_every_committed_run_that_a_chapter_draws_is_tried_here():
    asked = set()
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        asked |= set(re.findall(r"runs\.(?:latest|committed)\(\\\"([a-z0-9-]+)", path.read_text(encoding="utf-8")))
    stored = {runs.read(path)["experiment"] for path in runs.COMMITTED.glob("*.json")}
    assert asked & stored <= set(DRAWN), "add the figures of these to DRAWN"
    assert len(asked) >= 10


@pytest.mark.parametrize("experiment", DRAWN)
def test_a_second_machine_changes_nothing_that_it_did_not_measure(experiment, tmp_path):
    record = runs.read(max(runs.COMMITTED.glob(f"{experiment}_*.json"), key=lambda path: runs.read(path)["date"]))
    second = slower(record, "2099-01-01T00:00:00Z")
    for folder, other in (("older", slower(record, "2001-01-01T00:00:00Z")), ("newer", second)):
        runs.save(record, tmp_path / folder)
        runs.save(other, tmp_path / folder)
    kept, replaced = (runs.latest(experiment, tmp_path / folder) for folder in ("older", "newer"))
    assert SECOND in replaced.attrs["machine"] and SECOND not in kept.attrs["machine"]
    both = runs.load(sorted((tmp_path / "older").glob("*.json")))
    assert kept.identical(runs.dataset([record])) and replaced.identical(runs.dataset([second]))
    for draw in DRAWN[experiment]:
        assert (content(draw(replaced)) == content(draw(kept))) == (experiment in SAME_EVERYWHERE)
        with pytest.raises(ValueError, match="takes one record and got 2"):
            draw(both)
