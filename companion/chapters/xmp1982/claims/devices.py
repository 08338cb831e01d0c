"""Claims of the X-MP report, sections 6 to 8: the analysis, input/output rates and memory banks."""

from companion.claims.engine import Bound, Ledger, total

ledger = Ledger("xmp1982")
BYTES_PER_WORD, BITS_PER_BYTE = 8, 8


# Section 6: the analysis


ledger.ratio(
    "analysis_cpu_ratio",
    "Fig. 6.2",
    "CPU time ratio, {item}",
    "fig6_2",
    "ratio",
    "cray_1a",
    "cray_xmp",
    reasons={
        "POST GAP": "14.5 / 10.5 is 1.38, and the rounding of both times allows 1.37 to 1.39. The same "
        "1.35 is printed two rows up, where it is right, so the author may have copied it; a "
        "misread 1.38 is as likely."
    },
)


TOGETHER = {
    ("1/2 SSD", "SSD"): "1/2 SSD WITH F/C RUNNING ON SSD",
    ("1/2 SSD", "DISKS"): "1/2 SSD WITH F/C ON DISK",
    ("BMR", "SSD"): "BMR WITH F/C ON SSD",
    ("BMR", "DISKS"): "BMR WITH F/C ON DISK",
}


@ledger.each(where="Fig. 6.3 and Fig. 6.1", statement="Clock time of the analysis is the same in both, {item}")
def analysis_same_clock(reader):
    alone, together = reader("fig6_1"), reader("fig6_3")
    yield "ECMWF", together.text("ECMWF", "ECMWF", "analysis_time"), alone["ECMWF CRAY-1", "", "clock"]
    for key, configuration in TOGETHER.items():
        yield ", ".join(key), together.text(*key, "analysis_time"), alone[configuration, "CFT 15K", "clock"]


@ledger.each(where="Fig. 6.3 and Fig. 4.1", statement="Clock time of the reference forecast is the same in both")
def analysis_reference_forecast(reader):
    together = reader("fig6_3")
    yield (
        "",
        together.text("ECMWF", "ECMWF", "forecast_time"),
        reader("fig4_1")["cray1a-disk4", "forecast_clock"],
    )


@ledger.each(where="Fig. 6.3", statement="Ratio of clock times, Cray 1 over X-MP, {item}")
def together_ratio(reader):
    sheet = reader("fig6_3")
    for job in ("analysis", "forecast"):
        base = sheet["ECMWF", "ECMWF", f"{job}_time"]
        for key in sheet.keys():
            ratio = base / sheet[(*key, f"{job}_time")]
            yield f"{job}: {', '.join(key)}", sheet.text(*key, f"{job}_ratio"), ratio


@ledger.each(
    where="Fig. 6.3",
    statement="Combined ratio as the sum of both, {item}",
    reasons={
        "1/2 SSD, DISKS": "1.41 + 1.36 is 2.77, and both follow from their times, so one digit of the 2.87 "
        "is wrong. Whether author or scan slipped cannot be told.",
        "BMR, SSD": "1.41 + 1.90 is 3.31; 3.30 results if 1311 / 691 = 1.897 is cut off at 1.89.",
    },
)
def combined_ratio(reader):
    sheet = reader("fig6_3")
    for key in TOGETHER:
        yield (
            ", ".join(key),
            sheet.text(*key, "combined_ratio"),
            (sheet[(*key, "analysis_ratio")] + sheet[(*key, "forecast_ratio")]),
        )


@ledger.each(
    where="Fig. 6.3",
    statement="Combined ratio as the sum of both, recomputed from the times, {item}",
    reasons={
        "1/2 SSD, DISKS": "745 / 529 and 1311 / 964 add up to 2.768, which the two printed ratios confirm. "
        "One digit of the 2.87 is wrong; whether author or scan slipped cannot be told.",
        "BMR, SSD": "745 / 527 and 1311 / 691 add up to 3.311. 3.30 results if both ratios are cut off, 1.41 and 1.89.",
    },
)
def combined_ratio_from_times(reader):
    sheet = reader("fig6_3")
    for key in TOGETHER:
        ratios = (
            sheet["ECMWF", "ECMWF", f"{job}_time"] / sheet[(*key, f"{job}_time")] for job in ("analysis", "forecast")
        )
        yield ", ".join(key), sheet.text(*key, "combined_ratio"), total(ratios)


ledger.not_checkable(
    "combined_base",
    where="Fig. 6.3",
    statement="Combined ratio of the reference is 1",
    printed="{}",
    cells=(("fig6_3", "ECMWF", "ECMWF", "combined_ratio"),),
    reason="Base ambiguous: the other rows add the two ratios, which gives 2 for the reference; 1 holds if "
    "the reference ran its jobs one after the other.",
)


@ledger.each(
    where="section 6.4",
    statement="BMR or SSD space of analysis and forecast together",
    reasons={"": "The number of work files of these forecasts is not printed; only the single random file fits."},
)
def device_space(reader):
    prose = reader("prose")
    both = prose["analysis_device_limit"] + reader("sec3_1")["iii", "file_size"]
    yield "", f"<= {prose.text('device_limit')} Mword", both


@ledger.each(
    where="sections 6.4 and 4.2",
    statement="The space of the analysis on BMR or SSD fits into the buffer memory available",
)
def analysis_fits_buffer_memory(reader):
    prose = reader("prose")
    memory = f"{prose.text('buffer_memory')} Mword"
    yield "", Bound(f"<= {memory}", memory), prose["analysis_device_limit"]


# Section 7: input/output


@ledger.each(where="Fig. 7.2", statement="Number of transfers as a product, {item}")
def transfers(reader):
    sheet = reader("fig7_2")
    for (test,) in sheet.keys():
        if sheet.text(test, "factor_1"):
            yield test, sheet.text(test, "transfers"), sheet[test, "factor_1"] * sheet[test, "factor_2"]


@ledger.each(where="Fig. 7.2", statement="Millions of words: transfers times record length, {item}")
def words_transferred(reader):
    sheet = reader("fig7_2")
    for (test,) in sheet.keys():
        if sheet.text(test, "transfers"):
            words = sheet[test, "transfers"] * sheet[test, "record_length"]
            yield test, sheet.text(test, "mwords"), words / 1e6


@ledger.each(
    where="Fig. 7.2",
    statement="Words of the two jobs to four disks each",
    reasons={"": "The printed parts add up to 1830.91 and the exact words to 1830.912 million: rounded upwards."},
)
def words_of_both(reader):
    sheet = reader("fig7_2")
    yield (
        "",
        sheet.text("disks-both", "mwords"),
        sheet["disks-diop", "mwords"] + sheet["disks-biop", "mwords"],
    )


ledger.equal(
    "words_of_both_exact",
    "Fig. 7.2",
    "Words of the two jobs to four disks each, from transfers and record length",
    ("fig7_2", "disks-both", "mwords"),
    lambda t: total(
        t("fig7_2")[test, "transfers"] * t("fig7_2")[test, "record_length"] / 1e6
        for test in ("disks-diop", "disks-biop")
    ),
    reason="2560 and 2208 transfers of 384000 words are 1830.912 million words, which round to 1830.91. The author "
    "rounded upwards, or added a rounded 847.88.",
)


def timed(sheet):
    """Tests with their time; the two jobs to four disks each took the same time, printed once a job."""
    for (test,) in sheet.keys():
        if sheet.text(test, "mwords"):
            yield test, sheet["disks-diop" if test == "disks-both" else test, "time"]


@ledger.each(
    where="Fig. 7.2",
    statement="Rate in Mword/s: words over time, {item}",
    reasons={
        "bmr-2-jobs": "1228.8 / 220 is 5.585: cut off and not rounded.",
        "ssd-with-disk": "614.4 / 21 is 29.257: cut off and not rounded.",
    },
)
def word_rate(reader):
    sheet = reader("fig7_2")
    for test, time in timed(sheet):
        yield test, sheet.text(test, "mword_rate"), sheet[test, "mwords"] / time


@ledger.each(where="Fig. 7.2", statement="Rate in Mbyte/s: 8 bytes a word over time, {item}")
def byte_rate(reader):
    sheet = reader("fig7_2")
    for test, time in timed(sheet):
        yield test, sheet.text(test, "mbyte_rate"), BYTES_PER_WORD * sheet[test, "mwords"] / time


ledger.rows(
    "byte_rate_from_words",
    "Fig. 7.2",
    "Rate in Mbyte/s: 8 times the rate in Mword/s, {item}",
    "fig7_2",
    "mbyte_rate",
    lambda row, t: BYTES_PER_WORD * row["mword_rate"],
    reasons={
        "ssd-with-disk": "8 x 29.25 is 234.00; the printed 234.06 comes from 614.4 / 21 = 29.257. The "
        "author cut the word rate off at 29.25, where 29.26 is right."
    },
)


ledger.rows(
    "bit_rate",
    "Fig. 7.2",
    "Rate in Mbit/s: 8 times the rate in Mbyte/s, {item}",
    "fig7_2",
    "mbit_rate",
    lambda row, t: BITS_PER_BYTE * row["mbyte_rate"],
)


@ledger.each(
    where="Fig. 7.2",
    statement="Rate of one of the four disks of the DIOP job, {item}",
    reasons={
        rate: "The scan gives one row of rates per disk; it is that of the DIOP job."
        for rate in ("mword_rate", "mbyte_rate", "mbit_rate")
    },
)
def disk_rate(reader):
    sheet, disks = reader("fig7_2"), reader("prose")["disk_controllers"]
    for rate in ("mword_rate", "mbyte_rate", "mbit_rate"):
        yield rate, sheet.text("per-disk", rate), sheet["disks-diop", rate] / disks


@ledger.each(where="Fig. 7.3 and Fig. 7.2", statement="Rates in Mbyte/s are the same in both, {item}")
def same_rate(reader):
    rates, tests = reader("fig7_3"), reader("fig7_2")
    for target, column, test in (
        ("SSD", "stand_alone", "ssd"),
        ("SSD", "two_copies", "ssd-2-jobs"),
        ("BMR", "stand_alone", "bmr"),
        ("BMR", "two_copies", "bmr-2-jobs"),
        ("SINGLE DISK", "stand_alone", "disk"),
        ("8 DISKS", "two_copies", "disks-both"),
        ("4 DISKS (A2)", "two_copies", "disks-diop"),
        ("4 DISKS (A1)", "two_copies", "disks-biop"),
    ):
        yield f"{target}, {column}", rates.text(target, column), tests[test, "mbyte_rate"]


@ledger.each(where="Fig. 7.3", statement="Rate of each of four disks in Mbyte/s, {item}")
def disk_rate_in_summary(reader):
    sheet, disks = reader("fig7_3"), reader("prose")["disk_controllers"]
    for target in ("4 DISKS (A2)", "4 DISKS (A1)"):
        yield target, sheet.text(target, "per_disk"), sheet[target, "two_copies"] / disks


@ledger.each(where="Fig. 7.3", statement="Rate of eight disks as the sum of two jobs to four disks each")
def eight_disks(reader):
    sheet = reader("fig7_3")
    both = sheet["4 DISKS (A2)", "two_copies"] + sheet["4 DISKS (A1)", "two_copies"]
    yield "", sheet.text("8 DISKS", "two_copies"), both


@ledger.each(
    where="section 7.3",
    statement="Transfer rate of SSD over that of BMR",
    reasons={"": "Base not stated; it is that of two jobs. One job alone gives 5.65."},
)
def ssd_to_bmr(reader):
    sheet = reader("fig7_3")
    yield "", reader("prose").text("ssd_to_bmr"), sheet["SSD", "two_copies"] / sheet["BMR", "two_copies"]


# Section 8: memory banks


@ledger.each(where="Fig. 8.1 and Fig. 4.3", statement="Post processing alone in 32 banks is that of Fig. 4.3, {item}")
def bank_reference(reader):
    banks, degraded = reader("fig8_1"), reader("fig4_3_times")
    (row,) = degraded.keys()[0]
    yield "CPU time", banks.text("32", "1", "1", "cpu"), degraded[row, "pp_cpu"]
    yield "clock time", banks.text("32", "1", "1", "total"), degraded[row, "pp_clock"]


@ledger.each(
    where="section 8.3, with Fig. 8.2",
    statement="Degradation of two jobs in 16 banks",
    reasons={
        "": "Base not stated. The mean of both jobs is 14.45 s above one job in 16 banks, which is 24.5 percent of one "
        "job in 32 banks, the base taken here. Over one job in 16 banks it is 23.8, over one job in 32 banks the whole "
        "increase is 27.8."
    },
)
def bank_degradation(reader):
    sheet = reader("fig8_2")
    mean = (sheet["16", "2", "1", "cpu"] + sheet["16", "2", "2", "cpu"]) / 2
    more = mean - sheet["16", "1", "1", "cpu"]
    yield "", f"{reader('prose').text('degradation')} %", 100 * more / sheet["32", "1", "1", "cpu"]
