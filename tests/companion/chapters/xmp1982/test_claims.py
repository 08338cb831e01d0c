"""Tables and claims of the X-MP report."""

import re

import pytest

from supercomputers_rerun.companion import claims, tables

CONTRADICTIONS = {  # printed, recomputed to the printed place
    "forecast_total_clock[ssd2-async]": ("909", 899),
    "forecast_total_clock[ssd4-sync]": ("919", 917),
    "degraded_ratio": ("2.01", 1.99),
    "component_total[X-MP]": ("742.48", 715.75),
    "component_same_cpu[total, X-MP]": ("716", 742.48),
    "simulated_total_clock[ssd1-sync]": ("877", 886.5),
    "simulated_total_clock[ssd4-async]": ("895", 858),
    "simulated_below_real[disk4]": ("662 s", 675),
    "pair_same_clock[bmr1+disk4, 1]": ("813", 845),
    "pair_same_clock[bmr1+disk4, 2]": ("853", 855),
    "pair_write_ups[ssd1+disk4, 1]": ("144", 134),
    "pair_write_ups[ssd2+disk4, 1]": ("177", 182),
    "pair_idle_time[ssd1+bmr1]": ("210", 335),
    "analysis_cpu_ratio[POST GAP]": ("1.35", 1.38),
    "combined_ratio[1/2 SSD, DISKS]": ("2.87", 2.77),
    "byte_rate_from_words[ssd-with-disk]": ("234.06", 234),
    "cost_ssd": ("3.6 %", 2.92),
    "combined_ratio_from_times[1/2 SSD, DISKS]": ("2.87", 2.77),
    "combined_ratio_from_times[BMR, SSD]": ("3.30", 3.31),
    "words_of_both_exact": ("1830.92", 1830.91),
}


@pytest.fixture(scope="module")
def ledger():
    return {claim.id.removeprefix("xmp1982."): claim for claim in claims.check("xmp1982")}


def test_contradictions_are_those_of_the_printed_digits(ledger):
    assert {
        name: (claim.printed, round(claim.recomputed, 2))
        for name, claim in ledger.items()
        if claim.verdict == "contradicts"
    } == CONTRADICTIONS


# worked out on paper from the figures
@pytest.mark.parametrize(
    "name, recomputed",
    [
        ("forecast_total_clock[cray1a-disk4]", 1311 + 5 * 72),
        ("forecast_write_ups[disk4]", 20 + 25 + 23 + 22 + 18),
        ("net_forecast_ratio[a]", 1131 / 662),
        ("cost_bmr", 24.012),
        ("component_overhead[RADIATION OVERHEAD, X-MP]", 38.61),
        ("forecast_from_components", (1125.18 - 286.71) / 8.49 * 4.61 + 175.28),
        ("pair_disks", 2 * 4),
        ("analysis_fits_buffer_memory", 4),
        ("pair_reference[two forecasts one after the other]", 3342),
        ("throughput_ratio[best]", 3342 / 923),
        ("pair_write_up_range[longest]", 63),
        ("problem_overhead[bmr1+disk4, 1]", 43),
        ("words_transferred[disks-biop]", 847.872),
        ("byte_rate[ssd]", 245.76),
        ("ssd_to_bmr", 297.89 / 44.68),
        ("bank_degradation", 100 * (75.25 - 60.8) / 58.9),
    ],
)
def test_recomputed_by_hand(ledger, name, recomputed):
    assert ledger[name].recomputed == pytest.approx(recomputed, rel=1e-12)


def test_net_times_that_the_scan_left_blank_are_empty():
    frame = tables.printed("xmp1982", "fig5_4")
    blank = frame[frame["note"].str.contains("net_forecast: blank")]
    assert len(blank) == 7 and blank["net_forecast"].isna().all()
    would_be = blank["note"].str.extract(r"would be (\d+)")[0].astype(int)
    assert (would_be == blank["total"] - blank["write_sum"]).all()


@pytest.mark.parametrize(
    "table", ["fig4_1", "fig4_2", "fig4_3_times", "fig4_3_breakdown", "fig5_1", "fig5_2", "sec4_5"]
)
def test_row_labels_say_files_and_device(table):
    frame = tables.printed("xmp1982", table)
    rows = zip(frame["configuration"], frame["work_files"], frame["location"], strict=True)
    for label, files, location in rows:
        device = re.search(r"(disk|bmr|ssd)(\d)", label)
        assert (device[1].upper(), int(device[2])) == (location, files)


@pytest.mark.parametrize("table", ["fig5_3", "fig5_4", "fig5_5"])
def test_pair_labels_say_files_and_device(table):
    frame = tables.printed("xmp1982", table)
    for test, rows in frame[frame["test"] != "ecmwf"].groupby("test"):
        jobs = zip(rows["location"], rows["work_files"], strict=True)
        parts = [f"{location.lower()}{files}" for location, files in jobs]
        assert test.split("-")[0] == "+".join(parts)


def test_timed_window_is_d_to_w():
    frame = tables.printed("xmp1982", "sec3_4")
    assert "".join(frame["step"]) == "abcdefghijklmnopqrstuvwxyz"
    assert "".join(frame["step"][frame["timed"]]) == "defghijklmnopqrstuvw"


def test_dimensions_suit_analysis():
    write_ups = tables.load("xmp1982", "fig4_2")
    assert dict(write_ups.sizes) == {"configuration": 7, "step": 5}
    assert write_ups["net_forecast"].dims == ("configuration",)
    assert write_ups["write_step"].attrs["units"] == "s"
    assert (write_ups["write_step"].sum("step") == write_ups["write_sum"]).all()
    both = tables.load("xmp1982", "write_ups")
    assert dict(both.sizes) == {"model": 2, "configuration": 10, "step": 5}
    assert list(both["configuration"].values[:3]) == ["cray1a-disk4", "disk4", "bmr1"]
    assert both["location"].sel(model="simulator", configuration="cray1a-disk4") == ""
