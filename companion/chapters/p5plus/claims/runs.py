"""Claims of the 2006 report: IFS runs on P5+ and P4+."""

from companion.claims.engine import Bound, Interval, Ledger

ledger = Ledger("p5plus")

TIMES = 'slide "Times for IFS on P5+ (RAPS9)"'
COMPARISON = 'slide "T799L91 10-day forecast, P4+ to P5+ comparison"'
SECTIONS = ("comms", "parallel", "io", "serial", "barrier", "missing")


def cpu_peak(t, system="p5plus") -> Interval:
    """Peak of one CPU in GFLOPS: pipes × operations of a multiply-add × clock in GHz (exactly 1.9)."""
    return t("prose")["fp_pipes"] * t("prose")["flops_per_fma"] * t("systems")["clock", system].mid


# IFS times


@ledger.each(
    where=TIMES,
    statement="Share of wall-clock time: {item}.",
    reasons={
        "T799 10day forecast, comms": "Time and wall-clock time give 14.6 percent. The six sections add "
        "up to the "
        "wall-clock time, so the times are right and the percentage is the author's own: "
        "cut off instead of rounded, or taken from another run, since the comparison "
        "slide prints 14.0."
    },
)
def section_shares(t):
    for section in SECTIONS:
        for row in t("ifs_times").lines():
            share = 100 * row[section] / row["wall"]
            yield f"{row.key}, {section}", row.text(f"{section}_percent"), share


ledger.total(
    "section_sums", TIMES, "The six sections of {item} add up to the wall-clock time.", "ifs_times", "wall", SECTIONS
)


@ledger.each(where=TIMES, statement="Threads of {item} give its CPUs, logical CPUs counted in pairs.")
def job_cpus(t):
    sheet, pair = t("ifs_times"), t("prose")["logical_per_physical"]
    for job in ("T399 EPS", "T799 10day forecast"):
        yield job, sheet.text(job, "cpus"), sheet[job, "tasks"] * sheet[job, "threads"] / pair
    tasks, printed = sheet["4D-Var", "tasks"], sheet.text("4D-Var", "cpus")
    yield "4D-Var (one thread a physical CPU)", printed, tasks * sheet["4D-Var", "threads"]
    yield "4D-Var, minimisation 1", printed, tasks * t("prose")["min1_threads"] / pair


ledger.rows(
    "job_peak",
    TIMES,
    "Share of peak of {item}: operations over time, CPUs and the peak of a CPU.",
    "ifs_times",
    "peak_percent",
    lambda row, t: 100 * row["gflop"] / row["wall"] / (row["cpus"] * cpu_peak(t)),
)


# T399: SMT, binding, memory affinity

T399 = 'slide "T399 on P5+: SMT and Binding (RAPS8)"'


ledger.rows(
    "t399_tasks",
    T399,
    "Tasks are CPUs of the nodes over threads, logical CPUs counted in pairs: SMT, binding, memory affinity {item}.",
    "smt_binding",
    "tasks",
    lambda row, t: (
        t("prose")["t399_nodes"]
        * t("prose")["t399_cpus_per_node"]
        * (t("prose")["logical_per_physical"] if row.keys[0] == "Y" else 1)
        / row["threads"]
    ),
)


@ledger.each(
    where=T399,
    statement="Time saved by memory affinity is a percent or two: {item}.",
    reasons={
        "SMT N, bind N": "Without SMT or binding the table gives more than 3 percent; the bullet "
        "describes the rows with SMT.",
        "SMT N, bind Y": "Without SMT and with binding the table gives almost 6 percent; the bullet "
        "describes the rows "
        "with SMT. The base, time or speed, makes no difference at this size.",
        "SMT Y, bind N": "The printed times allow a little more than 2 percent whichever base is meant.",
    },
)
def memory_affinity_gain(t):
    sheet, prose = t("smt_binding"), t("prose")
    printed = f"{prose.text('memory_affinity_gain_low')}-{prose.text('memory_affinity_gain_high')} %"
    for smt in "NY":
        for bind in "NY":
            yield (
                f"SMT {smt}, bind {bind}",
                printed,
                100 * (1 - sheet[smt, bind, "Y", "time"] / sheet[smt, bind, "N", "time"]),
            )


SMT_BASE = "The base is not named: time saved is 16 to 21 percent in the four pairs, speed gained 20 to 27."


@ledger.each(
    where=T399,
    statement="Time saved by SMT is about 20 percent: {item}.",
    reasons={f"bind {bind}, memory affinity {affinity}": SMT_BASE for bind in "NY" for affinity in "NY"},
)
def smt_gain(t):
    sheet = t("smt_binding")
    for bind in "NY":
        for affinity in "NY":
            yield (
                f"bind {bind}, memory affinity {affinity}",
                f"~{t('prose').text('smt_gain')} %",
                100 * (1 - sheet["Y", bind, affinity, "time"] / sheet["N", bind, affinity, "time"]),
            )


@ledger.each(
    where='slide "Changes for New P5+ System", with the T399 table',
    statement="The gain from binding lies in the range given for basic binding: {item}.",
    reasons={
        f"SMT Y, memory affinity {affinity}": "With SMT the T399 table gives 2 to 3 percent, below the range of the "
        "list of changes; only the pairs without SMT, at 4.7 and 7.1, lie in it. The base makes no difference."
        for affinity in "NY"
    },
)
def binding_gain(t):
    sheet, changes = t("smt_binding"), t("changes")
    low, high = (changes.text("binding, basic", column) for column in ("gain_low", "gain_high"))
    for smt in "NY":
        for affinity in "NY":
            gain = sheet[smt, "N", affinity, "time"] / sheet[smt, "Y", affinity, "time"] - 1
            yield f"SMT {smt}, memory affinity {affinity}", f"{low}-{high} %", 100 * gain


ledger.not_checkable(
    "binding_few",
    where=T399,
    statement="Binding gains a few percent.",
    printed="a few %",
    reason="A few is no number. The four pairs of the table give speeds 2 to 7 percent higher.",
)


@ledger.each(where=T399, statement="Binding gains more without SMT than with: {item}.")
def binding_without_smt(t):
    sheet = t("smt_binding")
    for affinity in "NY":
        without, with_smt = (sheet[smt, "N", affinity, "time"] / sheet[smt, "Y", affinity, "time"] for smt in "NY")
        yield f"memory affinity {affinity}", Bound("> 0 %", "particularly without SMT"), 100 * (without - with_smt)


ledger.not_checkable(
    "task_affinity",
    where=T399,
    statement="MP_TASK_AFFINITY has no effect.",
    printed="no noticeable effect",
    reason="No times with and without it are printed.",
)


ledger.equal(
    "omp_cpg_calls",
    'slides "MFLOPS per routine for T399 on P4+" and "T399 on P5+: SMT and Binding"',
    "The grid-point region is entered once a time step of the one-day forecast.",
    ("prose", "t399_steps"),
    ("drhook", ">OMP-CPG", "calls"),
    form="{} steps",
)


@ledger.each(
    where='slide "Comparison of JS21 Blade with Pwr4+ for RAPS9 IFS T399"',
    statement="The one-day forecast has as many steps as on the slide on SMT and binding: {item}.",
)
def steps(t):
    for system in ("js21", "p4plus"):
        yield system, t("blade_systems").text("steps", system), t("prose")["t399_steps"]


# P4+ against P5+


ledger.rows(
    "comparison_gflops",
    COMPARISON,
    "Gflops of {item} are total operations over wall-clock time.",
    "p4_p5",
    "gflops",
    lambda row, t: total_operations(t) / row["wall"] / 1e9,
)


def total_operations(t) -> Interval:
    """Operations of T799L91 as printed with the comparison; three digits are significant."""
    return Interval.around(t("prose")["total_operations"].mid, 5e12)


@ledger.each(
    where=COMPARISON,
    statement="Share of peak of {item} is Gflops over CPUs and the peak of a CPU.",
    reasons={
        "P5+": "The Gflops of this row give 11.9 percent. 11.8 follows from the 1,696,200 GFLOP of the "
        "table of IFS "
        "times, so the row mixes two operation counts."
    },
)
def comparison_peak(t):
    sheet = t("p4_p5")
    for (system,), column in zip(sheet.keys(), ("p4plus", "p5plus"), strict=True):
        yield (
            system,
            sheet.text(system, "peak_percent"),
            100 * sheet[system, "gflops"] / (sheet[system, "cpus"] * cpu_peak(t, column)),
        )


@ledger.each(where=COMPARISON, statement="Tasks times threads give the CPUs of {item}, logical CPUs counted in pairs.")
def comparison_cpus(t):
    sheet = t("p4_p5")
    for (system,) in sheet.keys():
        pairs = t("prose")["logical_per_physical"] if sheet.text(system, "smt") == "Y" else 1
        yield system, sheet.text(system, "cpus"), sheet[system, "tasks"] * sheet[system, "threads"] / pairs


ledger.equal(
    "p4_to_p5",
    COMPARISON,
    "The speed-up is the ratio of the wall-clock times.",
    ("prose", "p4_to_p5"),
    lambda t: t("p4_p5")["P4+", "wall"] / t("p4_p5")["P5+", "wall"],
    reason="The times give 1.566, which rounds to 1.57: the author cut off the third digit. "
    "The slide on blades prints 1.55 for the same ratio.",
)


ledger.equal(
    "p4_to_p5_rates",
    COMPARISON,
    "The speed-up is the ratio of the rates.",
    ("prose", "p4_to_p5"),
    lambda t: t("p4_p5")["P5+", "gflops"] / t("p4_p5")["P4+", "gflops"],
    reason="The rates give 1.568, the third digit was cut off.",
)


ledger.equal(
    "comparison_comms",
    COMPARISON,
    "Communication of the P5+ run is the time in the table of IFS times over the same wall-clock time.",
    ("p4_p5", "P5+", "comms_percent"),
    lambda t: 100 * t("ifs_times")["T799 10day forecast", "comms"] / t("p4_p5")["P5+", "wall"],
    form="{} %",
    reason="358 s of 2457 s are 14.6 percent. Both slides print 2457 s, so the percentage was cut off to 14 "
    "and then written with a zero, or belongs to another run of the same job.",
)


ledger.equal(
    "comparison_wall",
    COMPARISON,
    "The P5+ run has the wall-clock time of the table of IFS times.",
    ("p4_p5", "P5+", "wall"),
    lambda t: t("ifs_times")["T799 10day forecast", "wall"].mid,
    form="{} s",
)


ledger.equal(
    "comparison_operations",
    COMPARISON,
    "The total of operations is that of the table of IFS times.",
    ("prose", "total_operations"),
    lambda t: t("ifs_times")["T799 10day forecast", "gflop"] * 1e9,
    reason="The table of IFS times prints 1,696,200 GFLOP for the same run of 2457 s, 0.8 percent less; "
    "three digits would give 1,700,000. The larger number may come from the P4+ run's counters.",
)


ledger.not_checkable(
    "comparison_comms_p4",
    where=COMPARISON,
    statement="Communication of the P4+ run.",
    printed="{} %",
    cells=(("p4_p5", "P4+", "comms_percent"),),
    reason="No communication time of the P4+ run is printed.",
)


# The run on 2112 CPUs

RUN = 'slide "T799 L91 10 day forecast on P5+ (RAPS8)"'


ledger.equal(
    "run_cpus",
    RUN,
    "The CPUs are nodes times CPUs of a node.",
    ("run_2112", "cpus"),
    lambda t: t("run_2112")["nodes"] * t("systems")["cpus_per_node", "p5plus"],
    form="{} CPUs",
)


ledger.equal(
    "run_nodes",
    RUN,
    "The nodes are CPUs over CPUs of a node.",
    ("run_2112", "nodes"),
    lambda t: t("run_2112")["cpus"] / t("systems")["cpus_per_node", "p5plus"],
    form="{} nodes",
)


ledger.equal(
    "run_threads",
    RUN,
    "The threads are tasks times threads of a task.",
    ("run_2112", "total_threads"),
    lambda t: t("run_2112")["tasks"] * t("run_2112")["threads"],
    form="{} threads",
)


ledger.equal(
    "run_threads_smt",
    RUN,
    "The threads are two a physical CPU.",
    ("run_2112", "total_threads"),
    lambda t: t("run_2112")["cpus"] * t("prose")["logical_per_physical"],
    form="{} threads",
)


ledger.equal(
    "run_peak",
    RUN,
    "Share of peak is the rate over CPUs and the peak of a CPU.",
    ("run_2112", "peak_percent"),
    lambda t: 100 * 1000 * t("run_2112")["tflops"] / (t("run_2112")["cpus"] * cpu_peak(t)),
    form="{} %",
)


ledger.not_checkable(
    "run_rate",
    where=RUN,
    statement="The rate is operations over the time of the run.",
    printed="{} Tflops",
    cells=(("run_2112", "tflops"),),
    reason="The operations of RAPS8 are not printed. Those of RAPS9, 1,696,200 GFLOP, would give 2.11 in "
    "804 s, so RAPS8 did about 1.4 percent less work or its count was made differently.",
)
