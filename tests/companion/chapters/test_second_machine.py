"""A record of a second machine, older or newer, changes no number of the first one's; every figure of a committed run
shows how its samples spread and which cases are flagged.

The figures and tables are those of the register of drawings (:mod:`companion.drawings`); every committed run is tried.
"""

import hashlib
import json
import re

import numpy as np
import pytest
from matplotlib import rcParams
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.legend import Legend

from companion import experiments
from companion.drawings import every_drawing
from companion.figures import rendering
from companion.figures.rendering import Shown, offered
from companion.records import runs

pytestmark = pytest.mark.usefixtures("alone")
SECOND = "Slowpoke 1000"
DRAWINGS = every_drawing()
COMMITTED = sorted({path.name.partition("_")[0] for path in runs.COMMITTED.glob("*.json")})
#: Drawings of committed runs, by the experiment that they draw.
DRAWN = {
    name: found
    for name in COMMITTED
    if (found := [each for each in DRAWINGS if each.experiment == name and set(each.others) <= set(COMMITTED)])
}
#: Those of times; a study and a simulation give results, which are the same on a machine of any speed.
TIMED = [
    name for name in DRAWN if experiments.REGISTER[name].kind == "timing" and not experiments.REGISTER[name].simulated
]
#: Of these, of each kind of figure one.
CHOSEN = {
    *("aips58-messages", "aips58-stripes", "aips58-tape"),
}
#: Units in which a slower machine gives smaller numbers.
RATES = re.compile(r"FLOPS|/s$")
#: What a machine of any speed gives alike, in these units.
ALIKE = {None, "m", "degree", "percent", "bit", "Pa", "K", "m/s"}


def latest(experiment):
    """The newest committed record as JSON; the names of the files end in their dates."""
    paths = runs.COMMITTED.glob(f"{experiment}_*.json")
    return runs.read(max(paths, key=lambda path: path.stem.rpartition("_")[2]))


@pytest.fixture
def pixels(monkeypatch):
    """Figures are drawn as few pixels, their panels where they were made, ticks apart; a page carries their digest."""

    def drawn(figure, *_):
        figure.set_layout_engine("none")
        for axis in figure.axes:
            axis.set_axis_off()  # marks move with the ends of their axis, and its labels take most of the time
        held = (each for axis in figure.axes for each in (axis.get_legend(), *axis.artists))
        for legend in (*figure.legends, *(each for each in held if isinstance(each, Legend))):
            legend.set_visible(False)  # what it says of marks is in the caption
        figure.set_dpi(50)
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        return f"<svg>{hashlib.sha256(canvas.buffer_rgba()).hexdigest()}</svg>"

    monkeypatch.setattr(rendering, "_drawn", drawn)
    monkeypatch.setitem(rcParams, "axes.titley", 1.0)  # or every tick is measured for the place of the title


def content(drawing):
    """What a figure, a table or sentences say: text alternative and data."""
    if isinstance(drawing, Shown):
        return drawing.alt, offered(drawing).to_csv() if "text/csv" in drawing.html else ""
    if isinstance(drawing, (str, list)):
        return drawing
    return getattr(drawing, "text", None) or drawing.to_csv()


def picture(shown):
    """What stands for the drawing."""
    (svg,) = re.findall(r"<svg>.*</svg>", shown.html)
    return svg


def scaled(value, factor):
    """A number times ``factor``, or numbers in lists of any depth, later ones by somewhat more."""
    if isinstance(value, list):
        return [scaled(item, factor * (1 + 0.05 * number)) for number, item in enumerate(value)]
    return value if factor == 1 or isinstance(value, str) or value is None else factor * value


def whole(value) -> bool:
    """Whether a value holds counts or nothing, as numbers of threads do."""
    if isinstance(value, list):
        return all(map(whole, value))
    return value is None or float(value).is_integer()


def of_samples(case, change) -> None:
    """``change`` of the samples, and of all that was observed with them."""
    case["samples"] = change(case["samples"])
    for name, values in case["observed"].items():
        case["observed"][name] = change(values) if None not in values else values


def copied(record):
    """A record once more, in a fifth of the time of ``copy.deepcopy``."""
    return json.loads(json.dumps(record))


def slower(record):
    """The same run on another machine, about ten times slower, not every case by as much."""
    record = copied(record)
    record["machine"]["cpu"]["model"] = SECOND
    for number, case in enumerate(record["measurements"]):
        of_samples(case, lambda values, factor=10 + number: scaled(values, factor))
    for entry in record["outputs"].values():
        if entry["units"] not in ALIKE and not (entry["units"] == "1" and whole(entry["value"])):
            entry["value"] = scaled(entry["value"], 0.1 if RATES.search(entry["units"]) else 10)
    return record


def drawings_of(experiment, record):
    """Those that find in this run what they draw; one that needs a later output is tried with the next run."""
    found = []
    for draw in DRAWN[experiment]:
        try:
            found.append((draw, draw(record)))
        except KeyError as error:
            assert "No variable named" in str(error)
    assert found
    return found


def test_every_drawing_is_of_runs_of_the_register():
    assert {each.experiment for each in DRAWINGS} <= set(experiments.REGISTER) and set(TIMED) >= CHOSEN


def stretched(values):
    """Samples as they are up to their median, and farther above it; along the last dimension."""
    values = np.asarray(values, dtype=float)
    middle = np.median(values, axis=-1, keepdims=True)
    return np.where(values <= middle, values, middle + 4 * (values - middle) + 0.1 * abs(middle)).tolist()


def stretched_output(name, entry):
    """An output that keeps every round or step of its samples, or the end of its range, stretched; others not."""
    if name.endswith("_high"):
        return entry | {"value": scaled(entry["value"], 1.5)}
    dims = entry.get("dims", [])
    along = next((name for name in ("round", "step", "write_up") if name in dims), None)
    if along is None or entry["units"] is None:
        return entry
    values = np.moveaxis(np.array(entry["value"], dtype=float), dims.index(along), -1)
    return entry | {"value": np.moveaxis(np.array(stretched(values)), -1, dims.index(along)).tolist()}


def test_the_first_machine_stays_the_first_whichever_run_is_newer(tmp_path):
    experiment = TIMED[0]
    record, second = latest(experiment), slower(latest(experiment))
    for each in (record, record | {"experiment": "another"}):  # the first machine measured more
        runs.save(each, tmp_path)
    for date in ("2001-01-01T00:00:00Z", "2099-01-01T00:00:00Z"):
        dated = second | {"date": date}
        path = runs.save(dated, tmp_path)
        kept, replaced = runs.each(experiment, tmp_path)
        assert kept.identical(runs.latest(experiment, tmp_path))
        assert SECOND in replaced.attrs["label"] and SECOND not in kept.attrs["label"]
        for run, of in ((kept, record), (replaced, dated)):
            assert run.identical(runs.dataset([of], tmp_path).assign_attrs(file=runs.file_name(of)))
        path.unlink()


def with_flags(record):
    """The same run, each case flagged."""
    flagged = copied(record)
    for case in flagged["measurements"]:
        case["flags"] = {"drift": "the samples move by +7% from first to last"}
    return flagged


def with_wider_samples(record):
    """The same run, with all that spreads farther apart."""
    wide = copied(record)
    for case in wide["measurements"]:
        of_samples(case, stretched)
    wide["outputs"] = {name: stretched_output(name, entry) for name, entry in wide["outputs"].items()}
    return wide


@pytest.mark.parametrize("document", sorted({each.document for each in DRAWINGS}))
def test_no_drawing_takes_two_runs(document):
    for experiment in (name for name in DRAWN if name.startswith(document)):
        two = runs.dataset([latest(experiment)]).assign_attrs(records=2)
        for draw in DRAWN[experiment]:
            with pytest.raises(ValueError, match="takes one record and got 2"):
                draw(two)


@pytest.mark.parametrize("experiment", sorted(CHOSEN))
def test_a_second_machine_changes_nothing_that_it_did_not_measure(experiment, pixels):
    """Wider samples and flags change every picture that a slower machine changes; its caption names the marks."""
    record = latest(experiment)
    for case in record["measurements"]:
        case["flags"] = {}
    shown = drawings_of(experiment, runs.dataset([record]))
    flagged, wide, slow = (runs.dataset([made(record)]) for made in (with_flags, with_wider_samples, slower))
    changed = (content(draw(slow)) != content(first) for draw, first in shown)
    assert any(changed)
    for draw, first in shown:
        if isinstance(first, Shown):
            made = {"flags": flagged, "wider samples": wide}
            same = [name for name, run in made.items() if picture(draw(run)) == picture(first)]
            if not same:
                said = re.sub(r"<[^>]+>", " ", first.html)
                assert "median" in said and "flag" in said, f"{draw}: the caption does not say what the marks are"
            elif picture(draw(slow)) != picture(first):  # it draws times
                raise AssertionError(f"{draw}: {' and '.join(same)} change nothing")
