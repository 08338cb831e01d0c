"""The sections of chapter 2: figures of its experiments, and the arithmetic behind them."""

import numpy as np
import pytest
from drawing import cases

from supercomputers_rerun.companion import experiments, tables
from supercomputers_rerun.companion.chapters.aips58 import common, gains, gather, images, messages, pittsburgh, users
from supercomputers_rerun.companion.figures import of_samples, ratios
from supercomputers_rerun.kernels.imaging import damage

EXPERIMENTS = [entry for entry in experiments.REGISTER.values() if entry.document == "aips58"]
SIZES, SYSTEMS = ("small", "medium", "large"), ("clsc", "psc")


@pytest.mark.parametrize("entry", EXPERIMENTS, ids=lambda entry: entry.id)
def test_the_text_of_a_figure_is_that_of_the_first_run(entry):
    """So a notebook's text does not change with the run that it makes; the data have both."""
    stored = entry.runs()
    again = stored[0].assign_attrs(label="this run", own=1)
    del again.attrs["file"]
    for figure in entry.figures:
        together, before = figure(entry.runs(again)), figure(stored)
        assert str(together) == str(before) and "nan" not in str(before)
        if hasattr(together, "alt"):
            assert "this run" in together.html and len(together.data) > len(before.data)
            assert set(together.data["machine"]) >= {stored[0].attrs["label"], "this run"}


def test_gains_are_the_printed_ratios_turned_round():
    """The memo's own columns are an independent statement of what the figure computes."""
    found = gains.over_convex()
    for size in SIZES:
        table = tables.printed("aips58", f"ddt_{size}").set_index("problem").drop("ASCAL")
        for system in SYSTEMS:
            for kind in common.KINDS:
                printed = table[f"{system}_over_nrao1_{kind}"].dropna()
                ours = 1 / found[kind].sel(size=size, system=system.upper(), problem=list(printed.index)).values
                np.testing.assert_allclose(ours, printed, atol=0.00501)


def test_a_fixed_cost_from_the_small_problems_predicts_the_others():
    frame, model = pittsburgh.predictions().set_index("problem"), pittsburgh.model()
    for size in ("medium", "large"):
        printed = tables.printed("aips58", f"ddt_{size}").set_index("problem")["psc_over_clsc_cpu"]
        np.testing.assert_allclose(frame[f"{size}, printed"], printed, atol=0.00501)
    assert model.problem_seconds == pytest.approx(1.51 - 0.46) and float(model.overhead.max()) == pytest.approx(48.73)
    assert model.message_seconds == pytest.approx((63.91 - 6.95 - 1.05) / 400)
    assert frame.loc["COMB", "large, predicted"] == pytest.approx(1 + (2.69 - 0.30) / 0.57)
    assert frame.loc["UVDIF", "messages"] == 0 and frame.loc["COMB", "messages"] == round(1.34 / 0.139775)
    printed, bare = gather.old_ratios()
    assert float(printed.sel(problem="MXCLN", size="large")) == pytest.approx(198.36 / 232.64)
    assert float(bare.sel(problem="MXCLN", size="large")) == pytest.approx(198.36 / (232.64 - 35.53 + 12.48))


def test_the_median_over_problems_has_the_interval_of_the_rounds():
    rounds = np.array([[1.0, 1, 1, 1, 1, 1, np.nan], [2, 2, 2, 2, 2, 2, 9], [9, 9, 9, 9, 9, 9, 9]])
    assert common.middles(rounds) == (2, 2, 2) and common.middles(rounds[:, :3])[0] == 2
    low, high = common.middles([[1.0, 2, 3, 4, 5, 6, 7]])[1:]
    assert of_samples([[1.0, 2, 3, 4, 5, 6, 7]], [""])["middle"].item() == 4 and low < 4 < high


def test_a_ratio_of_several_cases_is_taken_case_by_case():
    run = users.load.runs()[0]
    loaded, alone = users._pairs(run)
    found = ratios(run, loaded, alone, "observed_real")
    real = run["observed_real"].values
    np.testing.assert_allclose(found["middle"], np.median(real[loaded], axis=1) / np.median(real[alone], axis=1))
    assert (found["low"] < found["middle"]).all() and (found["middle"] < found["high"]).all()


def test_sizes_that_the_memo_has_not_are_left_out():
    first = gains.test.runs()[0]
    other = first.assign(size=("case", np.full(first.sizes["case"], "modern"))).assign_attrs(label="another")
    assert common.comparable([first, other])[0] is first and len(common.comparable([first, other])) == 1
    with pytest.raises(ValueError, match="no problems of this size"):
        common.comparable([other, first])


def test_wrong_images_show_flux_and_bits():
    image = np.random.default_rng(0).random((32, 32))
    cases = [
        damage.Case("truth", 32.0, True, 8.85, image),
        damage.Case("CLEAN, gain 2.2: 40", 14.0, False, -1449.0, image),
    ]
    shown = images.wrong(cases)
    assert "−1450 Jy, 14 bits" in shown.html and shown.data["bits up to 20"].tolist() == [20, 14]
    assert "truth accepted, CLEAN, gain 2.2 refused" in shown.alt and len(shown.data) == 2


def test_clean_leaves_of_a_pixel_what_the_gain_says():
    assert images.remaining(2.2)[:3] == pytest.approx([1, 1.2, 1.44], rel=1e-3)
    shown = images.peaks(1.5)
    assert "gain 1.5 it falls" in shown.alt and len(shown.data) == images.COMPONENTS


def test_what_asking_another_process_adds_is_a_median_over_the_messages():
    """0.6 to 0.9 s of CPU time over 0.05 without a file, by 400 messages: 0.55, 0.65, 0.85; 0.65 are 1625 µs each."""
    rows = [("off", [0.05, 0.05, 0.05], 0.1), ("reopened", [0.1, 0.1, 0.1], 0.2), ("late", [0.6, 0.7, 0.9], 0.4)]
    run = cases(
        [
            {
                "label": way,
                "way": way,
                "threads": 1,
                "messages": 400,
                "seconds": 3 * [real],
                "observed": {"cpu": cpu, "real": 3 * [real]},
            }
            for way, cpu, real in rows
        ]
    )
    said = messages.cost(run)
    assert "costs 1625 µs more CPU time" in said and "takes 2.00 times" in said and " 4 times as long" in said


def test_what_stays_in_seconds_fades_as_a_ratio():
    """VTESS: 48.73, 42.24 and 49.89 s more; self-calibration 11.38, 13.98 and 90 s."""
    stays, shown = pittsburgh.stays(), pittsburgh.toll()
    assert bool(stays.sel(problem="VTESS")) and not bool(stays.sel(problem="ASCAL")) and int(stays.sum()) == 9
    row = shown.data.set_index(["problem", "size"]).loc[("VTESS", "large")]
    assert row["difference"] == pytest.approx(108.32 - 58.43) and row["ratio"] == pytest.approx(108.32 / 58.43)
    assert "VTESS cost 42 to 50 s more" in shown.words.title


def test_amdahls_law_leaves_the_waits_of_the_convex():
    """Small VTESS: 127 s on the Convex, 70.10 of them CPU time, which become 5.39."""
    found = gains.bounded().sel(problem="VTESS", size="small")
    assert float(found) == pytest.approx(127 / (127 - 70.10 + 5.39))


def test_times_as_people_say_them():
    assert [common.spoken(each) for each in (3148, 92, 0.2836, 0.0126)] == ["52 min", "92 s", "0.28 s", "13 ms"]
