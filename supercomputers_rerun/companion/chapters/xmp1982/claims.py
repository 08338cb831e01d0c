"""Claims of the X-MP report that are more than a formula."""

from operator import attrgetter

from supercomputers_rerun.companion.claims.intervals import Interval, total
from supercomputers_rerun.companion.claims.sheets import Sheet
from supercomputers_rerun.companion.claims.verdicts import Bound

STEPS = tuple(f"write_step_{step}" for step in range(1, 6))
#: work files and location of a job -> the test in which such a job ran alone
ALONE = {("1", "SSD"): "ssd1", ("1", "BMR"): "bmr1", ("4", "DISK"): "disk4-biop"}
_MID = attrgetter("mid")


def pairs(sheet: Sheet) -> list[str]:
    """Tests with two jobs, in printed order."""
    return [test for test, job in sheet.keys() if job == "2"]


def pair_write_up_range(t):
    """The extremes of all write-up steps of the pairs."""
    sheet, prose = t("fig5_4"), t("prose")
    steps = [sheet[(*key, step)] for key in sheet.keys() if key[0] != "ecmwf" for step in STEPS]
    yield "shortest", f"{prose.text('write_step_least')} s", min(steps, key=_MID)
    yield "longest", f"{prose.text('write_step_most')} s", max(steps, key=_MID)


def pair_idle_time(t):
    """Idle time of a CPU, five times: both CPUs until the end, less the clock time of all jobs."""
    sheet, jobs = t("fig5_3"), t("prose")["write_up_steps"]
    for test in pairs(sheet):
        work = total(sheet[test, job, column] for job in "12" for column in ("forecast", "pp_5_jobs"))
        idle = 2 * sheet[test, "1", "complete"] - work
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


def throughput_ratio(t):
    """The best and the least that the text names, and every pair against its threshold."""
    sheet, prose = t("fig5_3"), t("prose")
    fast, slow = throughput(sheet, disk=False), throughput(sheet, disk=True)
    yield "best", prose.text("throughput_best"), max(fast.values(), key=_MID)
    yield "least with a disk forecast", prose.text("throughput_disk_least"), min(slow.values(), key=_MID)
    yield "greatest with a disk forecast", prose.text("throughput_disk_most"), max(slow.values(), key=_MID)
    for test, ratio in fast.items():
        yield test, f"> {prose.text('throughput_threshold')}", ratio
    for test, ratio in slow.items():
        yield test, f"< {prose.text('throughput_threshold')}", ratio


def problem_overhead(t):
    """Accounted time of a job of a pair, less that of the same job alone."""
    sheet = t("fig5_5")
    for test in pairs(sheet):
        for job in "12":
            alone = ALONE[sheet.text(test, job, "work_files"), sheet.text(test, job, "location")]
            extra = sheet[test, job, "accounted"] - sheet[alone, "1", "accounted"]
            yield f"{test}, {job}", sheet.text(test, job, "problem_overhead"), extra
