"""Every experiment with figures: a quick run is drawn beside the stored ones and alone, and names tables that exist.

The longest are run and drawn beside the stored ones by their chapters' notebooks, which the same tests and the book
execute; here their stored runs are drawn, each alone.
"""

import pytest

from supercomputers_rerun.companion import experiments, tables
from supercomputers_rerun.companion.figures import rendering
from supercomputers_rerun.companion.records import runs

DRAWN = {name: entry for name, entry in experiments.REGISTER.items() if entry.figures}
LONG = (
    "aips58-ddt", "aips58-gather", "aips58-habits", "aips58-memory", "nht1-io", "p5plus-changes", "xc30-aliasing",
    "xc30-builds", "xc30-routines", "xmp1982-banks", "xmp1982-builds", "xmp1982-forecast", "xmp1982-overlap",
    "xmp1982-pairs", "xmp1982-together", "xmp1982-two-jobs",
)  # fmt: skip


@pytest.fixture(autouse=True)
def undrawn(monkeypatch):
    monkeypatch.setattr(rendering, "_drawn", lambda *_: "<svg></svg>")


def hold(entry, found):
    """Its figures of these runs have data, words and known tables."""
    for shown in [figure(found) for figure in entry.figures]:
        assert shown.alt and (shown.figure is None or len(shown.data) > 0)
        tables.drawn(shown.html, entry.document)


@pytest.mark.parametrize("name", [name for name, entry in DRAWN.items() if not entry.ranks and name not in LONG])
def test_a_quick_run_is_drawn_beside_the_stored_ones_and_alone(name, quick):
    entry = DRAWN[name]
    if reason := experiments.unavailable(entry):
        pytest.skip(reason)
    run = runs.dataset(quick(name)).assign_attrs(label="this run", own=1)
    hold(entry, entry.runs(run))
    hold(entry, [run])


@pytest.mark.parametrize("name", [name for name, entry in DRAWN.items() if entry.ranks or name in LONG])
def test_stored_runs_are_drawn_of_each_machine(name):
    for run in runs.each(name):
        hold(DRAWN[name], [run])
