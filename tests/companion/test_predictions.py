"""Figures beside models: drawn with constants of a run apart, and not at all without; a few values by hand."""

import copy
import json
import math

import numpy as np
import pytest
from synthetic import MADE_UP

from supercomputers_rerun.companion import experiments, models
from supercomputers_rerun.companion.chapters.constants import measured
from supercomputers_rerun.companion.common import Unavailable
from supercomputers_rerun.companion.figures import rendering
from supercomputers_rerun.companion.models import PREDICTIONS, Constants
from supercomputers_rerun.companion.pages import models as pages
from supercomputers_rerun.companion.records import runs

MACHINES = [name for name, prediction in PREDICTIONS.items() if prediction.needs]


@pytest.fixture(autouse=True)
def undrawn(monkeypatch):
    """Models are looked for in the words and in the labels of a figure."""
    monkeypatch.setattr(rendering, "_drawn", lambda *_: "<svg></svg>")


def stored(name):
    """Runs that the figure draws."""
    experiment = PREDICTIONS[name].experiment or "aips58-habits"
    return experiments.find(experiment).runs()


def drawn(name):
    """The figure of a prediction."""
    experiment = experiments.find(PREDICTIONS[name].experiment or "aips58-habits")
    return next(shown for figure in experiment.figures if (shown := figure(stored(name))).name == name)


def labels(shown):
    return {text for axis in shown.figure.axes for text in axis.get_legend_handles_labels()[1]}


def test_ten_figures_of_five_chapters_have_a_model():
    assert len(PREDICTIONS) >= 10
    assert {name.partition("_")[0] for name in PREDICTIONS} == {"xmp1982", "aips58", "nht1", "p5plus", "xc30"}
    assert {each.model for each in PREDICTIONS.values()} <= set(models.FORMULAS)
    assert all(set(each.needs) <= set(Constants._fields) for each in PREDICTIONS.values())


@pytest.mark.parametrize("name", MACHINES)
def test_without_constants_a_figure_says_nothing_of_a_model(name, monkeypatch):
    monkeypatch.setattr(models, "constants", lambda run: None)
    assert PREDICTIONS[name].frame(stored(name)[0]) is None
    shown = drawn(name)
    assert "model" not in labels(shown) and "times the model" not in shown.html


@pytest.mark.parametrize("name", MACHINES)
def test_with_constants_it_draws_the_model_and_says_how_far_it_is(name, monkeypatch):
    monkeypatch.setattr(models, "constants", lambda run: MADE_UP)
    frame = PREDICTIONS[name].frame(stored(name)[0])
    found = models.parted(frame["measured"], frame["predicted"])
    shown = drawn(name)
    assert "model" in labels(shown)
    median = models.significant(found.median, 2)
    assert f"A measured value is {median} times that of the model in the median" in shown.html
    far = max(found.worst, 1 / found.worst) > 2
    assert (f"The model leaves out {PREDICTIONS[name].leaves_out}." in shown.html) == far


@pytest.mark.parametrize("name", MACHINES)
def test_a_constant_that_was_not_measured_leaves_the_model_out(name, monkeypatch):
    first = PREDICTIONS[name].needs[0]
    lacking = MADE_UP._replace(**{first: () if first == "levels" else math.nan})
    monkeypatch.setattr(models, "constants", lambda run: lacking)
    assert PREDICTIONS[name].frame(stored(name)[0]) is None


def test_messages_by_hand(monkeypatch):
    """8 bytes at 2 µs and 8 GB/s; 16 KB: 2 µs and 2 µs."""
    monkeypatch.setattr(models, "constants", lambda run: MADE_UP)
    took = PREDICTIONS["p5plus_exchange"].frame(stored("p5plus_exchange")[0]).set_index("nbytes")["predicted"]
    assert took[8] == pytest.approx(2.001) and took[2**14] == pytest.approx(4.048)


def test_points_by_hand(monkeypatch):
    """64³ points in 40 dumps: 10 485 760 writes with seeks of 1.2 µs, and 419 430 400 bytes at 2 GB/s."""
    monkeypatch.setattr(models, "constants", lambda run: MADE_UP)
    wait = PREDICTIONS["nht1_opening"].frame(stored("nht1_opening")[0]).set_index("what")["predicted"]
    assert wait["point by point"] == pytest.approx(10485760 * 1.2e-6 + 419430400 / 2e9)
    assert wait["plane by plane"] == pytest.approx(40 * 64 * 1e-6 + 419430400 / 2e9)


def test_strides_by_hand(monkeypatch):
    """From 16 items of 4 bytes on a line of 64 bytes comes for each: a sixteenth of 20 GB/s."""
    monkeypatch.setattr(models, "constants", lambda run: MADE_UP)
    rate = PREDICTIONS["p5plus_bandwidth"].frame(stored("p5plus_bandwidth")[0]).set_index("stride")["predicted"]
    assert (rate[1], rate[4], rate[16], rate[1024]) == pytest.approx((20, 5, 1.25, 1.25))


def test_sensors_by_their_plan():
    """Two ranks wait 8 ms a period where sensors come apart, and less while they still meet."""
    frame = PREDICTIONS["p5plus_drift"].frame(stored("p5plus_drift")[0])
    wait = frame.set_index(["way", "period"])["predicted"]
    assert wait["drifted"].tolist() == pytest.approx(12 * [8.0]) and not wait["synchronised"].any()
    assert wait["drifting"].tolist() == pytest.approx([0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 8, 8])


def test_the_page_has_a_row_for_each(monkeypatch):
    for known in (None, MADE_UP):
        monkeypatch.setattr(models, "constants", lambda run, known=known: known)
        html = pages.explained().html
        assert all(f"#fig-{name.replace('_', '-')}" in html for name in PREDICTIONS)
        assert ("not measured yet" in html) == (known is None)


def test_what_was_not_measured_is_assumed_and_said():
    assert pages.constant(Constants(barrier=2e-6), "barrier", 1e-6) == (2e-6, "2.0 µs")
    assert pages.constant(Constants(), "disk_rate", 1e9) == (1e9, "1.0 GB/s (assumed, not measured)")


def record(folder, machine, **changes):
    """A record of constants of a machine, in a folder."""
    outputs = {name: {"value": value, "units": models.WORDS[name][1]} for name, value in changes.items()}
    found = {
        "schema": runs.SCHEMA, "version": runs.VERSION, "experiment": "constants", "document": "constants",
        "item": "none", "title": "Constants", "preset": "quick", "threads": 1, "seed": 0,
        "date": "2026-01-01T00:00:00Z", "simulated": False, "machine": machine, "measurements": [], "outputs": outputs,
    }  # fmt: skip
    return runs.save(found, folder)


def test_constants_are_those_of_the_machine_of_the_run(tmp_path, monkeypatch):
    path = sorted(runs.COMMITTED.glob("p5plus-exchange_*.json"))[-1]
    (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.setattr(runs, "COMMITTED", tmp_path)
    machine = json.loads(path.read_text())["machine"]
    (run,) = runs.each("p5plus-exchange", tmp_path)
    other = copy.deepcopy(machine)
    other["cpu"] |= {"model": "Other", "signature": None, "target": None}
    record(tmp_path, other, message=1.0)
    assert models.constants(run) is None
    record(tmp_path, machine, message=2e-6, write=1e-6)
    found = models.constants(run)
    assert (found.message, found.write) == (2e-6, 1e-6) and math.isnan(found.barrier) and found.levels == ()


def test_doctor_prints_those_of_this_machine(tmp_path):
    (line,) = models.here(tmp_path)
    assert "companion run constants" in line
    record(tmp_path, models.host.describe(), write=1.2e-6)
    head, said = models.here(tmp_path)
    assert "2026-01-01" in head and said.split() == ["1.2", "µs", *models.WORDS["write"][0].split()]


def test_without_mpi_the_rest_is_measured(monkeypatch):
    def refused(*given, **options):
        raise Unavailable("p5plus-exchange needs MPI: it is not there")

    monkeypatch.setattr(experiments, "run_record", refused)
    (absent,) = measured._messages().values()
    assert absent.value == "no message was measured: p5plus-exchange needs MPI: it is not there"


def test_levels_keep_clear_of_their_neighbours(monkeypatch):
    monkeypatch.setattr(measured, "caches", lambda: [("L1", 2**15), ("L2", 2**19), ("L3", 2**25)])
    assert measured.levels() == [("L1", 2**15, 2**14), ("L2", 2**19, 2**17), ("L3", 2**25, 2**21),
                                 ("memory", None, 2**27)]  # fmt: skip
    monkeypatch.setattr(measured, "caches", list)
    assert measured.levels() == [("memory", None, 2**26)]


def test_a_run_gives_every_constant(quick):
    run = runs.dataset(quick("constants"))
    found = models.of_record(run)
    for name in ("write", "seek", "opened", "touched", "cache_rate", "peak", "bandwidth", "bandwidth_all"):
        assert getattr(found, name) > 0, name
    assert len(found.levels) == len(measured.levels()) and all(level.latency > 0 for level in found.levels)
    assert math.isinf(found.levels[-1].nbytes) and np.isfinite(found.message) != ("absent" in run)


def test_what_looked_odd_is_said_of_the_stored_runs():
    """Each sentence holds itself to its run by assertions; a few of its numbers."""
    from supercomputers_rerun.companion.chapters.nht1 import balance, methods, writing
    from supercomputers_rerun.companion.chapters.p5plus import latency
    from supercomputers_rerun.companion.chapters.xc30 import overlap

    loads = latency.loads.runs()[0]
    assert "8 × 4 KB are the 32 KB" in latency.sets(loads)
    assert "from 8 MB" in latency.leaves(loads) and "of which 8 hold all of it" in latency.leaves(loads)
    assert "a whole dump" in methods.two_speeds(writing.whole_runs.runs()[0])
    assert "the flush at the end" in balance.where(balance.base_codes.runs()[0])
    assert "cut into pieces" in overlap.split(overlap.exchanges.runs()[0])
