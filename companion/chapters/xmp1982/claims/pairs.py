"""Claims of the X-MP report, sections 5.2 to 5.6: pairs of simulated forecasts on two CPUs."""

from companion.chapters.xmp1982.claims.forecast import STEPS, extreme
from companion.claims.engine import Bound, Interval, Ledger, Sheet, total

ledger = Ledger("xmp1982")


def pairs(sheet: Sheet) -> list[str]:
    """Tests with two jobs, in printed order."""
    return [test for test, job in sheet.keys() if job == "2"]


@ledger.each(where="Fig. 5.3, with Fig. 4.1", statement="Reference of the pairs: {item}")
def pair_reference(reader):
    pair, alone, jobs = reader("fig5_3"), reader("fig4_1"), reader("prose")["write_up_steps"]
    forecast, post = alone["cray1a-disk4", "forecast_clock"], alone["cray1a-disk4", "pp_clock"]
    yield "forecast", pair.text("ecmwf", "1", "forecast"), forecast
    yield "5 post processing jobs", pair.text("ecmwf", "1", "pp_5_jobs"), jobs * post
    both = pair["ecmwf", "1", "forecast"] + pair["ecmwf", "1", "pp_5_jobs"]
    yield "two forecasts one after the other", pair.text("ecmwf", "1", "complete"), 2 * both


ledger.rows(
    "pair_same_clock",
    "Fig. 5.4 and Fig. 5.3",
    "Clock time of the forecast is the same in both, {item}",
    "fig5_4",
    "total",
    lambda row, t: t("fig5_3")[(*row.keys, "forecast")],
    reasons={
        "bmr1+disk4, 1": "Fig. 5.3 prints 845, Fig. 5.4 prints 813 and its parts add up to it (662 + 151). "
        "With 845 the idle time before the completion at 1125 s is like that of the other "
        "pairs, and the net time would be 694 s, near the 697 and 707 s of the other BMR "
        "forecasts. So Fig. 5.3 is likelier right and the author made Fig. 5.4 from other "
        "times.",
        "bmr1+disk4, 2": "Fig. 5.3 prints 855, Fig. 5.4 prints 853. The net time of this row is blank in "
        "the scan, so the parts decide nothing; as the other job of the pair differs too, "
        "the author made the two figures from different times.",
    },
)


ledger.total(
    "pair_write_ups",
    "Fig. 5.4",
    "Sum of write-up steps, {item}",
    "fig5_4",
    "write_sum",
    STEPS,
    reasons={
        "ssd1+disk4, 1": "The steps add up to 134. 608 + 144 is 752 as Fig. 5.3 has it, so the sum is "
        "right and one of the steps is 10 s too small, a digit lost by author or scan.",
        "ssd2+disk4, 1": "The steps add up to 182. 577 + 177 is 754 as Fig. 5.3 has it, so the sum is "
        "right and the steps are 5 s too large together, a digit misprinted by author or "
        "scan.",
    },
)


ledger.total(
    "pair_breakdown",
    "Fig. 5.4",
    "Forecast as net forecast and write-up steps, {item}",
    "fig5_4",
    "total",
    ("net_forecast", "write_sum"),
)


@ledger.each(where="Fig. 5.4 and Fig. 4.2", statement="The reference row repeats the Cray 1-A, {item}")
def pair_reference_breakdown(reader):
    pair, alone = reader("fig5_4"), reader("fig4_2")
    for column in ("net_forecast", *STEPS, "write_sum", "total"):
        yield column, pair.text("ecmwf", "1", column), alone["cray1a-disk4", column]


@ledger.each(where="section 5.3, with Fig. 5.4", statement="Range of the write-up steps of the pairs, {item}")
def pair_write_up_range(reader):
    sheet, prose = reader("fig5_4"), reader("prose")
    steps = [sheet[(*key, step)] for key in sheet.keys() if key[0] != "ecmwf" for step in STEPS]
    yield "shortest", f"{prose.text('write_step_least')} s", extreme(steps, min)
    yield "longest", f"{prose.text('write_step_most')} s", extreme(steps)


@ledger.each(
    where="sections 5.3 and 3.1",
    statement="Two forecasts with their own sets of work files, a file a disk, use every disk",
)
def pair_disks(reader):
    prose = reader("prose")
    yield "", prose.text("disks"), prose["cpus"] * reader("sec3_1")["i", "work_files"]


def pair_work(sheet: Sheet, test: str) -> Interval:
    """Clock time of both forecasts and all post processing jobs of a pair, one after the other."""
    return total(sheet[test, job, column] for job in "12" for column in ("forecast", "pp_5_jobs"))


@ledger.each(where="Fig. 5.3", statement="Two jobs at a time cannot be done before half of their summed times, {item}")
def pair_half_of_work(reader):
    sheet = reader("fig5_3")
    for test in pairs(sheet):
        complete = sheet.text(test, "1", "complete")
        yield test, Bound(f"<= {complete}", complete), pair_work(sheet, test) / 2


for _table in ("fig5_4", "fig5_5"):
    ledger.rows(
        f"work_files_{_table}",
        f"Fig. {_table[3]}.{_table[5]} and Fig. 5.3",
        "Number of work files is the same in both, {item}",
        _table,
        "work_files",
        lambda row, t: t("fig5_3")[(*row.keys, "work_files")] if row.keys in t("fig5_3").rows else None,
    )


@ledger.each(
    where="section 5.2, with Fig. 5.3",
    statement="A CPU idles for one post processing job at most; idle time of a CPU against the time of an "
    "average job, both five times, {item}",
    reasons={
        "ssd1+bmr1": "One CPU idled for 67 s, where an average job took 36 or 42 s. The single jobs are "
        "not printed: the last may have been long, the CPU hang of section 5.5 may have "
        "struck, or 986 is misprinted (966 would fit)."
    },
)
def pair_idle_time(reader):
    sheet, jobs = reader("fig5_3"), reader("prose")["write_up_steps"]
    for test in pairs(sheet):
        idle = 2 * sheet[test, "1", "complete"] - pair_work(sheet, test)
        job = max("12", key=lambda number: sheet[test, number, "pp_5_jobs"].mid)
        printed = sheet.text(test, job, "pp_5_jobs")
        yield test, Bound(f"<= {printed}", printed), jobs * idle


def throughput(sheet: Sheet, disk: bool) -> dict[str, Interval]:
    """Reference time over completion time of the pairs with, or without, a forecast on disk."""
    locations = {test: [sheet.text(test, job, "location") for job in "12"] for test in pairs(sheet)}
    return {
        test: sheet["ecmwf", "1", "complete"] / sheet[test, "1", "complete"]
        for test, where in locations.items()
        if ("DISK" in where) is disk
    }


@ledger.each(where="section 5.4, with Fig. 5.3", statement="Throughput ratio of pairs, {item}")
def throughput_ratio(reader):
    sheet, prose = reader("fig5_3"), reader("prose")
    fast, slow = throughput(sheet, disk=False), throughput(sheet, disk=True)
    yield "best", prose.text("throughput_best"), extreme(list(fast.values()))
    yield "least with a disk forecast", prose.text("throughput_disk_least"), extreme(list(slow.values()), min)
    yield "greatest with a disk forecast", prose.text("throughput_disk_most"), extreme(list(slow.values()))
    for test, ratio in fast.items():
        yield test, f"> {prose.text('throughput_threshold')}", ratio
    for test, ratio in slow.items():
        yield test, f"< {prose.text('throughput_threshold')}", ratio


ledger.rows(
    "system_overhead",
    "Fig. 5.5",
    "System overhead: clock time beyond the accounted time, {item}",
    "fig5_5",
    "system_overhead",
    lambda row, t: row["clock"] - row["accounted"],
    reasons={"ssd1+bmr1, 2": "Rounding of both times to whole seconds can hide the difference of 1."},
)


ALONE = {("1", "SSD"): "ssd1", ("1", "BMR"): "bmr1", ("4", "DISK"): "disk4-biop"}


@ledger.each(
    where="Fig. 5.5",
    statement="Problem overhead: accounted time beyond that of the same job alone, {item}",
    reasons={
        "ssd1+disk4, 2": "Base not stated: against the disks on the BIOP (690 s) it is -6, on the DIOP "
        "(692 s) -8. The other disk job fits the BIOP alone (17)."
    },
)
def problem_overhead(reader):
    sheet = reader("fig5_5")
    for test in pairs(sheet):
        for job in "12":
            alone = ALONE[sheet.text(test, job, "work_files"), sheet.text(test, job, "location")]
            extra = sheet[test, job, "accounted"] - sheet[alone, "1", "accounted"]
            yield f"{test}, {job}", sheet.text(test, job, "problem_overhead"), extra


ledger.not_checkable(
    "contention_below_three",
    where="section 5.4",
    printed="> {}",
    cells=(("prose", "throughput_threshold"),),
    statement="Without disk contention the pairs with a disk forecast would exceed a ratio of 3",
    reason="No pair with a disk forecast was run without contention.",
)
