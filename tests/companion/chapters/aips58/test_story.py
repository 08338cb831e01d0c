"""Figures that show the memo and a run on one axis draw the printed numbers hollow and the run's filled."""

import numpy as np
import pytest
import xarray as xr
from drawing import watch

from companion import tables
from companion.chapters.aips58 import overhead
from companion.chapters.aips58.figures import causes, live, marks, said, story
from companion.figures.style import meaning
from kernels.imaging import damage

DDT, LOAD = tables.load("aips58", "ddt"), tables.load("aips58", "ddtload")
BARE = overhead.without(DDT, overhead.model(DDT, LOAD))
TASKS = list(DDT["problem"].values)
SIZES, SYSTEMS = list(DDT["size"].values), ("NRAO1", "CLSC", "PSC")


def run(cpu, real, **columns):
    """A run whose cases took these medians, each of seven samples."""
    spread = np.linspace(0.97, 1.03, 7)
    data = {f"run_{name}": ("run", np.array(values)) for name, values in columns.items()}
    data |= {f"observed_{kind}": (("case", "sample"), np.outer(values, spread))
             for kind, values in (("cpu", cpu), ("real", real))}  # fmt: skip
    data["flags"] = ("case", np.full(len(cpu), ""))
    attributes = {"machine": "a machine", "preset": "quick", "date": "2026-01-01T00:00:00Z"}
    return xr.Dataset(data, attrs=attributes)


def whole():
    rows = [(size, task) for size in SIZES for task in TASKS]
    cpu = np.arange(1, len(rows) + 1) / 100
    return run(cpu, 2 * cpu, size=[size for size, _ in rows], task=[task for _, task in rows])


def moved():
    cpu = np.arange(1, 27) / 10
    return run(cpu, 2 * cpu, size=["large"] * 26, task=TASKS * 2, habits=[0] * 13 + [1] * 13)


def loads():
    return run([0.4, 0.2, 0.1, 0.1], [4, 0.2, 0.1, 0.1], way=["late", "reopened", "kept", "off"])


def methods():
    cpu = [3.0, 2.0, 1.0, 5.0, 4.0, 1.0]
    return run(cpu, cpu, task=["APCLN"] * 3 + ["MXCLN"] * 3, method=["scalar", "gather", "blocks"] * 2)


def beside():
    return run([1, 1, 1, 1], [1, 2, 1, 3], task=["UVMAP", "UVMAP", "VTESS", "VTESS"], beside=[0, 2] * 2)


def sources():
    names = ["disk", "disk, astropy", "paced as a tape"]
    tasks = [(task, size) for size in SIZES for task in ("IMLOD", "UVLOD") for _ in names]
    real = np.tile([0.1, 0.2, 30.0], 6)
    return run(real, real, task=[task for task, _ in tasks], size=[size for _, size in tasks], source=names * 6)


#: Who hands the drawing to ``show``, and what draws it.
MAKERS = {
    "waits": (marks, lambda: story.waits(DDT, moved())),
    "gains": (marks, lambda: story.gains(DDT, whole(), tables.load("aips58", "prose"))),
    "by_class": (marks, lambda: story.by_class(DDT, tables.load("aips58", "problem_classes"), whole(), "large")),
    "shares": (marks, lambda: story.shares(DDT, moved())),
    "lost": (marks, lambda: story.lost(DDT, moved())),
    "loading": (marks, lambda: causes.loading(LOAD, loads())),
    "gathered": (marks, lambda: causes.gathered(DDT, BARE, methods())),
    "shared": (marks, lambda: causes.shared(DDT, beside())),
    "taped": (marks, lambda: causes.taped(DDT, sources())),
}


@pytest.fixture
def drawn(monkeypatch):
    """What a figure of a name shows: caption, and values along x of hollow and of filled marks in their order."""

    def draw(name):
        module, make = MAKERS[name]
        caught = watch(monkeypatch, module, lambda: {name: make})(name)
        (axis,) = caught["axes"]
        hollow = [line for line in axis.lines if str(line.get_markerfacecolor()) == "none"]
        filled = [line for line in axis.lines if line.get_marker() == "o"]
        assert hollow and filled and {line.get_color() for line in hollow} == {meaning("printed")}
        assert meaning("printed") not in {line.get_color() for line in filled}
        return caught, *(
            [np.atleast_1d(line.get_xdata()).astype(float) for line in lines] for lines in (hollow, filled)
        )

    return draw


@pytest.mark.parametrize("name", MAKERS)
def test_every_figure_says_who_measured_and_has_words(name):
    shown = MAKERS[name][1]()
    assert len(shown.alt) > 60 and "nan" not in shown.alt and "nan" not in shown.html.partition("<figcaption")[2]
    assert "Filled: a machine, 2026-01-01" in shown.html and "median" in shown.html


def test_times_of_all_problems_together_are_sums(drawn):
    _, hollow, filled = drawn("waits")
    cpu = [tables.printed("aips58", "ddt_large")[f"{system.lower()}_cpu"].sum() for system in SYSTEMS]
    np.testing.assert_allclose(np.concatenate(hollow), cpu)
    np.testing.assert_allclose(np.concatenate(filled), [np.arange(1, 14).sum() / 10, np.arange(14, 27).sum() / 10])


def test_gains_are_the_printed_ratios_turned_round(drawn):
    """The memo's own columns are an independent statement of what this figure computes."""
    caught, hollow, filled = drawn("gains")
    for place, (system, kind) in enumerate((s, k) for s in ("clsc", "psc") for k in ("cpu", "real")):
        for number, size in enumerate(SIZES):
            table = tables.printed("aips58", f"ddt_{size}")
            printed = table[f"{system}_over_nrao1_{kind}"].to_numpy(dtype=float)
            known = np.isfinite(printed) & (table["problem"].to_numpy() != "ASCAL")
            shown = 1 / hollow[place][13 * number : 13 * number + 13]
            np.testing.assert_allclose(shown[known], printed[known], atol=0.00501)
    small = tables.printed("aips58", "ddt_small")
    np.testing.assert_allclose(filled[0][:13], small["nrao1_cpu"] / (np.arange(1, 14) / 100))
    np.testing.assert_allclose(filled[1][:13], small["nrao1_real"] / (np.arange(1, 14) / 50))
    assert "best about 8, typically 2 to 3. The best at Toronto is 8.0, at Pittsburgh 2.9" in caught["caption"]


def test_problems_that_vectorise_stand_below_the_others(drawn):
    caught, (toronto,), (here,) = drawn("by_class")
    names = [label.get_text() for label in caught["axes"][0].get_yticklabels()]
    assert names == TASKS[:6] + TASKS[6:] and len(toronto) == len(here) == 13
    table = tables.printed("aips58", "ddt_large").set_index("problem").loc[names]
    np.testing.assert_allclose(1 / toronto, table["clsc_over_nrao1_cpu"], atol=0.00501)
    np.testing.assert_allclose(here, table["nrao1_cpu"] / (np.arange(27, 40) / 100))
    assert "9.9 and 9.8 at Toronto" in caught["caption"]


def test_shares_are_the_printed_ratios(drawn):
    _, hollow, filled = drawn("shares")
    table = tables.printed("aips58", "ddt_large")
    for system, shown in zip(SYSTEMS, hollow, strict=True):
        np.testing.assert_allclose(shown, table[f"{system.lower()}_cpu_per_real"], atol=0.00501)
    np.testing.assert_allclose(np.concatenate(filled), 0.5)


def test_what_files_add_is_the_printed_ratio(drawn):
    caught, (toronto,), (plain,) = drawn("lost")
    (points,) = [line for line in caught["axes"][0].lines if len(line.get_xdata()) == 39]
    printed = np.concatenate([tables.printed("aips58", f"ddt_{size}")["psc_over_clsc_cpu"] for size in SIZES])
    np.testing.assert_allclose(points.get_ydata(), printed, atol=0.00501)
    np.testing.assert_allclose(plain, np.arange(1, 14) / 10)
    # a case as AIPS takes 1.3 s more than the same in memory; the first of them 1.4 s in place of 0.1 s
    assert "Largest at Pittsburgh 12.6" in caught["caption"] and "here 14.0 (IMLOD), 1.3000 s" in caught["caption"]


def test_the_run_of_messages_is_the_printed_one(drawn):
    caught, hollow, filled = drawn("loading")
    np.testing.assert_array_equal(np.concatenate(hollow), tables.printed("aips58", "ddtload")["cpu"])
    np.testing.assert_allclose(np.concatenate(filled), [0.4, 0.2, 0.1, 0.1])
    assert "took 9.2 times" in caught["caption"] and "take 4.00 times (95 % interval" in caught["caption"]


def test_gather_by_software_over_hardware(drawn):
    caught, hollow, (here,) = drawn("gathered")
    for size, shown in zip(("medium", "large"), hollow, strict=True):
        clsc = DDT["cpu"].sel(system="CLSC", size=size, problem=["APCLN", "MXCLN"])
        np.testing.assert_allclose(shown, clsc / BARE.sel(size=size, problem=["APCLN", "MXCLN"]))
    np.testing.assert_allclose(here, [1.5, 1.25])
    assert "1 of them above 1. Here APCLN with a loop takes 1.500 times" in caught["caption"]


def test_shared_machines_and_loading(drawn):
    _, (old,), (here,) = drawn("shared")
    np.testing.assert_allclose(old, [3860 / 73, 3677 / 448])
    np.testing.assert_allclose(here, [2, 3])
    caught, hollow, (disk, tape) = drawn("taped")
    np.testing.assert_array_equal(hollow[0], [11.75, 16.88, 34.00, 14.00, 16.00, 36.00])
    np.testing.assert_allclose(disk, 0.1)
    np.testing.assert_allclose(tape, 30)
    assert "0.69 to 1.40 times as fast. Here a file against the pace of a tape: 300 to 300" in caught["caption"]


def test_wrong_images_say_flux_and_bits():
    image = np.random.default_rng(0).random((32, 32))
    cases = [
        damage.Case("dirty image", 22.0, 24.0, True),
        damage.Case("truth", 32.0, 32.0, True, 8.85, image),
        damage.Case("CLEAN, gain 2.2: 40", 14.0, 20.0, False, -1449.0, image),
    ]
    shown = live.wrong(cases)
    assert "-1449.00 Jy, 14 bits, refused" in shown.alt and "dirty" not in shown.alt


def test_the_cause_of_a_spread_is_in_the_times():
    made = run([0.5, 0.5], [1.0, 2.0], task=["UVMAP"] * 2, beside=[0, 2], spread=[0.06, 0.5])
    made["other_load"] = ("case", [0.01, 0.02])
    text = said.spread(made, 5.0)
    assert "spread by UVMAP 6 %" in text and "50 to 50 % of the difference" in text and "the processor itself" in text
    made["observed_cpu"][:] = 0.5
    assert "0 to 0 % of the difference" in said.spread(made, 5.0) and "The rest was waiting" in said.spread(made, 5.0)
