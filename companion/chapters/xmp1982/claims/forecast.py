"""Claims of the X-MP report, sections 3 to 5.1: the forecast and its simulator, one job at a time."""

from functools import partial

from companion.claims.engine import Bound, Interval, Ledger

ledger = Ledger("xmp1982")
STEPS = tuple(f"write_step_{step}" for step in range(1, 6))


def extreme(values: list[Interval], choose=max) -> Interval:
    """The largest (or with ``min`` the smallest) of several printed values."""
    return choose(values, key=lambda value: value.mid)


# Section 3.1: work files


@ledger.each(
    where="section 3.1",
    statement="Overlap of the random work file is half of that of sequential files, with {item}",
)
def overlap_of_random_file(reader):
    sheet = reader("sec3_1")
    printed = f"{sheet.text('iii', 'overlap')} %"
    for item in ("i", "ii"):
        yield f"{sheet.text(item, 'work_files')} files", printed, sheet[item, "overlap"] / 2


@ledger.each(where="section 3.1", statement="Two work files hold as much as four: size of one of the two in Mword")
def size_of_two_work_files(reader):
    sheet = reader("sec3_1")
    whole = sheet["i", "work_files"] * sheet["i", "file_size"]
    yield "", sheet.text("ii", "file_size"), whole / sheet["ii", "work_files"]


@ledger.each(where="section 3.1", statement="Requests with double-length records, against single, are halved")
def requests_halved(reader):
    sheet = reader("sec3_1")
    requests = {
        item: sheet[item, "work_files"] * sheet[item, "file_size"] / sheet[item, "record_length"]
        for item in ("i", "ii")
    }
    yield "", "0.5", requests["ii"] / requests["i"]


ledger.equal(
    "random_file_fits_buffer_memory",
    "section 4.2",
    "Buffer memory holds the one random work file",
    ("prose", "buffer_memory"),
    ("sec3_1", "iii", "file_size"),
    form="{} Mword",
    bound="<=",
)


ledger.equal(
    "two_files_exceed_buffer_memory",
    "section 4.2",
    "Buffer memory cannot hold two work files, so no other case was possible",
    ("prose", "buffer_memory"),
    lambda t: t("sec3_1")["ii", "work_files"] * t("sec3_1")["ii", "file_size"],
    form="{} Mword",
    bound=">",
)


@ledger.each(where="section 4.1", statement="Write-up steps from hour 0 to the end of the forecast")
def count_of_write_up_steps(reader):
    prose = reader("prose")
    steps = int(prose["forecast_length"].mid // prose["write_up_interval"].mid) + 1
    yield "", prose.text("write_up_steps"), steps


ledger.not_checkable(
    "typical_day",
    where="section 4.1",
    printed="{} h",
    cells=(("prose", "forecast_length"),),
    statement="After the first 3 steps every 24 hours of the forecast cost the same",
    reason="No times of the 48-hour forecast are printed.",
)
ledger.not_checkable(
    "overlap",
    where="section 3.1",
    printed="{} %",
    cells=(("sec3_1", "i", "overlap"),),
    statement="Share of the input/output that CPU work could overlap with 4 or 2 work files",
    reason="Neither the input/output of a time step nor its overlapped part is printed.",
)
ledger.not_checkable(
    "write_up_words",
    where="section 3.1",
    printed="{}-{} Mword",
    cells=(("prose", "write_up_least"), ("prose", "write_up_most")),
    statement="A write-up step writes 2 to 3 Mword more",
    reason="No counts are printed.",
)

# Section 4: the forecast

TOTAL_CLOCK = {
    "forecast": {
        "ssd2-async": "666 + 5 x 46.6 is 899. The 666 agrees with Fig. 4.2, so 46.6 is a slip for 48.6 or 909 "
        "for 899; whether author or scan slipped cannot be told.",
        "ssd4-sync": "702 + 5 x 43.0 is 917. The 702 agrees with Fig. 4.2, so 43.0 is a slip for 43.4 or 919 "
        "for 917; whether author or scan slipped cannot be told.",
    },
    "simulated": {
        "ssd1-sync": "679 + 5 x 41.5 is 886.5 and 887 would be one digit from the printed 877; the "
        "forecast time agrees with Fig. 5.2. Whether author or scan slipped cannot be told.",
        "ssd4-async": "649 + 5 x 41.8 is 858. Both 41.8 and 895 stand, and agree, three rows up (4 files, "
        "synchronous), so one or both of them were copied from the wrong row by the author.",
    },
}


def breakdown(name: str, where: str, table: str, sums: str, totals: str) -> None:
    """The two sums of a figure that splits forecasts: write-up steps, and these with the net forecast."""
    ledger.total(f"{name}_write_ups", where, sums, table, "write_sum", STEPS)
    ledger.total(f"{name}_breakdown", where, totals, table, "total", ("net_forecast", "write_sum"))


def _with_jobs(clock: str, row, t):
    """The forecast and a post-processing job for each write-up step."""
    return row[f"forecast_{clock}"] + t("prose")["write_up_steps"] * row[f"pp_{clock}"]


def real_and_simulated(name: str, what: str, times: str, split: str) -> None:
    """The same claims for the forecast and for its simulator; ``times`` and ``split`` are the tables of each."""
    first, second = (f"Fig. {table[3]}.{table[5]}" for table in (times, split))
    for clock, said in (("cpu", "CPU"), ("clock", "Clock")):
        ledger.rows(
            f"{name}_total_{clock}",
            first,
            f"{said} time of {what} and 5 post processing jobs, {{item}}",
            times,
            f"total_{clock}",
            partial(_with_jobs, clock),
            reasons=TOTAL_CLOCK[name] if clock == "clock" else None,
        )
    of = " of the simulated forecast" if name == "simulated" else ""
    breakdown(
        name,
        second,
        split,
        f"Sum of write-up steps{of}, {{item}}",
        f"{what.capitalize()} as net forecast and write-up steps, {{item}}",
    )
    ledger.rows(
        f"{name}_same_clock",
        f"{second} and {first}",
        f"Clock time of the {what} is the same in both, {{item}}",
        split,
        "total",
        lambda row, t: t(times)[row.key, "forecast_clock"],
    )


real_and_simulated("forecast", "forecast", "fig4_1", "fig4_2")
real_and_simulated("simulated", "simulated forecast", "fig5_1", "fig5_2")


@ledger.each(where="section 4.5, {item}", statement="Ratio of net forecast clock times, Cray 1-A over X-MP, {item}")
def net_forecast_ratio(reader):
    ratios, times = reader("sec4_5"), reader("fig4_2")
    for (item,) in ratios.keys():
        net = times[ratios.text(item, "configuration"), "net_forecast"]
        yield item, ratios.text(item, "ratio"), times["cray1a-disk4", "net_forecast"] / net


ledger.equal(
    "cost_ssd",
    "section 4.6, with Fig. 4.1",
    "Cost of SSD input/output that is not overlapped, of the total time taken",
    ("prose", "cost_ssd"),
    lambda t: 100 * (1 - t("fig4_1")["ssd2-async", "forecast_clock"] / t("fig4_1")["ssd2-sync", "forecast_clock"]),
    form="{} %",
    reason="The driver saves 20 of the 686 s of the whole forecast, which is 2.9 percent. Of the net forecast, 21 of "
    "592 s are 3.5 percent and 21 of 571 s 3.7; the printed value is near these, and its base is not the total.",
)


ledger.equal(
    "cost_bmr",
    "section 4.6",
    "The same cost for buffer memory: the printed cost for SSD times the printed ratio of transfer rates",
    ("prose", "cost_bmr"),
    lambda t: t("prose")["cost_ssd"] * t("prose")["ssd_to_bmr"],
    form="{} %",
    reason="The text takes the rates from section 7.4, which the report does not have; section 7.3 prints "
    "the ratio, of two jobs at a time.",
)


ledger.equal(
    "cost_bmr_of_total",
    "section 4.6, with Fig. 4.1",
    "The same cost for buffer memory, of the total time taken",
    ("prose", "cost_bmr"),
    lambda t: (
        100
        * (1 - t("fig4_1")["ssd2-async", "forecast_clock"] / t("fig4_1")["ssd2-sync", "forecast_clock"])
        * t("prose")["ssd_to_bmr"]
    ),
    form="{} %",
    reason="With 2.9 percent of the total time for SSD the ratio of rates gives 19 percent. The author multiplied his "
    "3.6, which is a share of the net time.",
)


ledger.not_checkable(
    "memory_saving",
    where="section 4.6",
    printed="{}",
    cells=(("prose", "memory_saving"),),
    statement="Input/output without overlap would free at least a third of the main memory used",
    reason="The memory of the forecast is not printed.",
)


@ledger.each(where="Fig. 4.3", statement="CPU time of the degraded forecast and 5 post processing jobs")
def degraded_cpu(reader):
    (row,), sheet = reader("fig4_3_times").keys()[0], reader("fig4_3_times")
    jobs = reader("prose")["write_up_steps"]
    yield "", sheet.text(row, "complete_cpu"), sheet[row, "forecast_cpu"] + jobs * sheet[row, "pp_cpu"]


@ledger.each(where="Fig. 4.3", statement="Time to complete: the forecast and the jobs that did not overlap it")
def degraded_clock(reader):
    sheet, prose = reader("fig4_3_times"), reader("prose")
    (row,) = sheet.keys()[0]
    last = prose["write_up_steps"] - prose["overlapped_jobs"]
    yield "", sheet.text(row, "complete_clock"), sheet[row, "forecast_clock"] + last * sheet[row, "pp_clock"]


breakdown(
    "degraded",
    "Fig. 4.3",
    "fig4_3_breakdown",
    "Sum of write-up steps of the degraded forecast",
    "Degraded forecast as net forecast and write-up steps",
)
ledger.rows(
    "degraded_same_clock",
    "Fig. 4.3",
    "Clock time of the degraded forecast is the same in both parts",
    "fig4_3_breakdown",
    "total",
    lambda row, t: t("fig4_3_times")[row.key, "forecast_clock"],
)


@ledger.each(
    where="section 4.7",
    statement="Cray 1 time over X-MP time, degraded forecast with post processing",
    reasons={
        "": "1671 s over 838 s is 1.99. Both times are confirmed by their parts (1311 + 5 x 72, 754 + 84), "
        "so the ratio is the author's slip; 831 s in place of 838 would give it."
    },
)
def degraded_ratio(reader):
    (row,) = reader("fig4_3_times").keys()[0]
    ratio = reader("fig4_1")["cray1a-disk4", "total_clock"] / reader("fig4_3_times")[row, "complete_clock"]
    yield "", reader("prose").text("ratio_degraded"), ratio


MACHINES = {"cray_1a": "Cray 1-A", "cray_xmp": "X-MP"}
NORMAL, PP, FORECAST = "NORMAL FORECAST TIME STEP", "POST PROCESSING JOB", "24 HOUR FORECAST"
PP_5, WHOLE = "5 x POST PROCESSING JOBS", "24 HOUR F/C + 5 x PP JOBS"


ledger.ratio("component_ratio", "Fig. 4.4", "CPU time ratio, {item}", "fig4_4", "ratio", "cray_1a", "cray_xmp")


@ledger.each(where="Fig. 4.4", statement="Overhead over a normal time step, {item}")
def component_overhead(reader):
    sheet = reader("fig4_4")
    for step, overhead in (
        ("FORECAST WRITE-UP STEP", "WRITE-UP OVERHEAD"),
        ("FORECAST RADIATION STEP", "RADIATION OVERHEAD"),
    ):
        for column, machine in MACHINES.items():
            yield (
                f"{overhead}, {machine}",
                sheet.text(overhead, column),
                sheet[step, column] - sheet[NORMAL, column],
            )


@ledger.each(where="Fig. 4.4", statement="CPU time of 5 post processing jobs, {item}")
def component_post_processing(reader):
    sheet, jobs = reader("fig4_4"), reader("prose")["write_up_steps"]
    for column, machine in MACHINES.items():
        yield machine, sheet.text(PP_5, column), jobs * sheet[PP, column]


XMP_TOTAL = (
    "630.00 + 85.75 is 715.75, and Fig. 4.1 prints 716. The ratio next to it, 1.66, was computed from "
    "742.48, so the error is the author's; the right ratio would be 1.73."
)


@ledger.each(
    where="Fig. 4.4",
    statement="CPU time of forecast and 5 post processing jobs, {item}",
    reasons={"X-MP": XMP_TOTAL},
)
def component_total(reader):
    sheet = reader("fig4_4")
    for column, machine in MACHINES.items():
        yield machine, sheet.text(WHOLE, column), sheet[FORECAST, column] + sheet[PP_5, column]


@ledger.each(
    where="Fig. 4.1 and Fig. 4.4",
    statement="CPU time of Fig. 4.1 is that of Fig. 4.4 rounded, {item}",
    reasons={"total, X-MP": XMP_TOTAL},
)
def component_same_cpu(reader):
    components, times = reader("fig4_4"), reader("fig4_1")
    for column, machine, row in (("cray_1a", "Cray 1-A", "cray1a-disk4"), ("cray_xmp", "X-MP", "disk4")):
        for cell, section in (("forecast", FORECAST), ("pp", PP), ("total", WHOLE)):
            yield f"{cell}, {machine}", times.text(row, f"{cell}_cpu"), components[section, column]


@ledger.claim(
    where="Fig. 4.4",
    cell=("fig4_4", FORECAST, "cray_xmp"),
    statement="X-MP CPU time of the forecast from its components: as many normal steps as the Cray 1-A "
    "column implies, write-up and radiation overheads added",
    reason="The number of time steps is not printed. The Cray 1-A column implies 98.8 normal steps, the X-MP "
    "column 98.6; the rounding of a step covers the difference of 0.6 s.",
)
def forecast_from_components(reader):
    sheet, prose = reader("fig4_4"), reader("prose")

    def overheads(column):
        return (
            prose["write_up_steps"] * sheet["WRITE-UP OVERHEAD", column]
            + prose["radiation_steps"] * sheet["RADIATION OVERHEAD", column]
        )

    steps = (sheet[FORECAST, "cray_1a"] - overheads("cray_1a")) / sheet[NORMAL, "cray_1a"]
    return steps * sheet[NORMAL, "cray_xmp"] + overheads("cray_xmp")


ledger.not_checkable(
    "bit_for_bit",
    where="section 4.9",
    printed="exact agreement",
    statement="The X-MP binary gives the same results on a Cray 1-S",
    reason="The report prints no forecast results.",
)

# The same number of work files, whichever figure prints it

for _table in ("fig4_2", "fig5_1", "fig5_2"):
    ledger.rows(
        f"work_files_{_table}",
        f"Fig. {_table[3]}.{_table[5]} and Fig. 4.1",
        "Number of work files is the same in both, {item}",
        _table,
        "work_files",
        lambda row, t: t("fig4_1")[row.key, "work_files"] if row.keys in t("fig4_1").rows else None,
    )

# Section 5: the simulator


@ledger.each(
    where="section 5.1, with Figs 4.2 and 5.2",
    statement="The simulated net forecast is below the real, {item}",
    reasons={
        "disk4": "With disk work files the simulator needs 13 s more and not less (675 against 662 s; the "
        "totals 779 and 770 s say the same). Both figures add up, so the statement is too "
        "general: it holds where the work files lie in BMR or on SSD."
    },
)
def simulated_below_real(reader):
    real, simulated = reader("fig4_2"), reader("fig5_2")
    for (row,) in real.keys():
        if (row,) in simulated.rows:
            net = real.text(row, "net_forecast")
            yield row, Bound(f"< {net} s", f"{net} s"), simulated[row, "net_forecast"]
