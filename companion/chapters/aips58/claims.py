"""Claims of AIPS Memo 58: the eight ratio columns of the Dirty Dozen Test, and what the text says of them."""

import statistics

from companion.claims.engine import IDENTITY, RESTORED, Bound, Interval, Ledger, Reader

ledger = Ledger("aips58")
#: rows that the scan scattered; their cells were assigned by all ratios but CPU over real time at Pittsburgh
ASSIGNED = {f"small {problem}": RESTORED for problem in ("MXMAP", "UVMAP", "VTESS")}
SIZES = {size: f"ddt_{size}" for size in ("small", "medium", "large")}

ASCAL_MEDIUM = (
    "The CLSC CPU time gives {recomputed}. Two ratios of the row (.78 to real time, .12 to NRAO1) want a "
    "CPU time near 46 s, the third (PSC/CLSC 1.29) wants the printed time; no single misread digit serves "
    "all three, so the author's ratios probably come from two versions of this timing."
)


ledger.ratio(
    "nrao1_cpu_per_real",
    "{item} DDT, first C/R column",
    "NRAO1: CPU time over real time, {item}",
    SIZES,
    "nrao1_cpu_per_real",
    "nrao1_cpu",
    "nrao1_real",
    itself=ASSIGNED,
)


ledger.ratio(
    "clsc_cpu_per_real",
    "{item} DDT, second C/R column",
    "CLSC: CPU time over real time, {item}",
    SIZES,
    "clsc_cpu_per_real",
    "clsc_cpu",
    "clsc_real",
    reasons={"medium ASCAL": ASCAL_MEDIUM.format(recomputed=".83")},
    itself=ASSIGNED,
)


ledger.ratio(
    "clsc_over_nrao1_cpu",
    "{item} DDT, column CLSC/NRAO1 CPU",
    "CPU time, CLSC over NRAO1, {item}",
    SIZES,
    "clsc_over_nrao1_cpu",
    "clsc_cpu",
    "nrao1_cpu",
    reasons={"medium ASCAL": ASCAL_MEDIUM.format(recomputed=".13")},
    itself=ASSIGNED,
)


ledger.ratio(
    "clsc_over_nrao1_real",
    "{item} DDT, column CLSC/NRAO1 REAL",
    "Real time, CLSC over NRAO1, {item}",
    SIZES,
    "clsc_over_nrao1_real",
    "clsc_real",
    "nrao1_real",
    itself=ASSIGNED,
)


ledger.ratio(
    "psc_cpu_per_real",
    "{item} DDT, third C/R column",
    "PSC: CPU time over real time, {item}",
    SIZES,
    "psc_cpu_per_real",
    "psc_cpu",
    "psc_real",
)


ledger.ratio(
    "psc_over_nrao1_cpu",
    "{item} DDT, column PSC/NRAO1 CPU",
    "CPU time, PSC over NRAO1, {item}",
    SIZES,
    "psc_over_nrao1_cpu",
    "psc_cpu",
    "nrao1_cpu",
    itself=ASSIGNED,
)


ledger.ratio(
    "psc_over_nrao1_real",
    "{item} DDT, column PSC/NRAO1 REAL",
    "Real time, PSC over NRAO1, {item}",
    SIZES,
    "psc_over_nrao1_real",
    "psc_real",
    "nrao1_real",
    itself=ASSIGNED,
)


ledger.ratio(
    "psc_over_clsc_cpu",
    "{item} DDT, column PSC/CLSC CPU",
    "CPU time, PSC over CLSC, {item}",
    SIZES,
    "psc_over_clsc_cpu",
    "psc_cpu",
    "clsc_cpu",
    itself=ASSIGNED,
)


ledger.not_checkable(
    "psc_over_nrao1_real_overflow",
    where="medium IMLOD DDT, column PSC/NRAO1 REAL",
    statement="Real time, PSC over NRAO1, medium IMLOD",
    printed="{}",
    cells=(("ddt_medium", "IMLOD", "psc_over_nrao1_real"),),
    reason="The ratio has three digits before the point and the print field has room for two, so the "
    "program that made the table filled it with asterisks.",
)


@ledger.each(
    where="{item} DDT real time, and section 6 note 8",
    statement="Real time is the mean of as many whole seconds as the bracket counts executions, {item}",
    itself=IDENTITY,
)
def mean_of_whole_seconds(reader):
    """The nearest mean of ``n`` whole seconds: ``round(n t) / n``."""
    for size in SIZES:
        sheet = reader(f"ddt_{size}")
        for (problem,) in sheet.keys():
            executions = sheet[problem, "executions"].mid
            for system in ("nrao1", "clsc", "psc"):
                column = f"{system}_real"
                mean = round(sheet[problem, column].mid * executions) / executions
                yield f"{size} {problem} {system.upper()}", sheet.text(problem, column), mean


ledger.rows(
    "executions_in_text",
    "section 6 note 8",
    "Executions averaged for {item}, against the bracket in the tables",
    "executions",
    "executions",
    lambda row, t: t("ddt_small")[row.key, "executions"],
    reasons={
        "COMB": "The text says 7, all three tables print [8], and the printed real times are eighths of a "
        "second (6.88, 64.88, 27.13) that no seven whole seconds average to: the author's slip in "
        "the text."
    },
)


@ledger.each(where="abstract", statement="Factor by which CPU times at PSC can exceed those at CLSC")
def cpu_factor(reader):
    factors = [
        sheet[problem, "psc_cpu"] / sheet[problem, "clsc_cpu"]
        for sheet in map(reader, [f"ddt_{size}" for size in SIZES])
        for (problem,) in sheet.keys()
    ]
    yield "", f">= {reader('prose').text('cpu_factor')}", max(factors, key=lambda factor: factor.mid)


def real_speedups(reader: Reader, system: str) -> list[Interval]:
    """Real time of NRAO1 over that of ``system``, for every problem and size."""
    return [
        sheet[problem, "nrao1_real"] / sheet[problem, f"{system}_real"]
        for sheet in map(reader, [f"ddt_{size}" for size in SIZES])
        for (problem,) in sheet.keys()
    ]


def middle(factors: list[Interval]) -> Interval:
    """Median of the factors, each end for itself."""
    return Interval(*(statistics.median(getattr(factor, bound) for factor in factors) for bound in ("mid", "lo", "hi")))


@ledger.each(where="abstract", statement="Best real-time factor of an X-MP over the Convex C1")
def real_best(reader):
    factors = real_speedups(reader, "clsc") + real_speedups(reader, "psc")
    yield "", f"~{reader('prose').text('real_best')}", max(factors, key=lambda factor: factor.mid)


@ledger.each(
    where="abstract",
    statement="Typical real-time factor of the X-MP over the Convex C1: the median at CLSC",
    reasons={
        "": "The memo names no average; taken here is the median of the 39 ratios at CLSC, because the "
        "times at PSC come from a loaded system."
    },
)
def real_typical(reader):
    prose = reader("prose")
    median = middle(real_speedups(reader, "clsc"))
    yield "", f"{prose.text('real_typical_least')}-{prose.text('real_typical_most')}", median


@ledger.each(
    where="abstract",
    statement="Real times at PSC are not significantly better than those of a C1: the median factor of the C1's time",
    reasons={
        "": "The memo allows for the other users of PSC, which no table does. Of the 39 problems only the large "
        "ASCAL took less real time there."
    },
)
def real_at_psc(reader):
    yield "", Bound("<= 1", "not significantly better"), middle(real_speedups(reader, "psc"))


@ledger.each(
    where="abstract",
    statement="On some problems the two X-MPs are very nearly equal: the CPU time ratio, PSC over CLSC, nearest one",
    reasons={
        "": "The memo does not say how near is nearly equal. The problem is the large APCLN, whose results were bad "
        "on both."
    },
)
def nearly_equal(reader):
    sheets = [reader(name) for name in SIZES.values()]
    ratios = [sheet[problem, "psc_cpu"] / sheet[problem, "clsc_cpu"] for sheet in sheets for (problem,) in sheet.keys()]
    yield "", Bound("< 1.2", "very nearly equal"), min(ratios, key=lambda ratio: abs(ratio.mid - 1))


def psc_over_clsc(name: str):
    """The ratio of CPU times in the table ``name``, for the problem of a row of another."""
    return lambda row, t: t(name)[row.key, "psc_cpu"] / t(name)[row.key, "clsc_cpu"]


for _small, _large in (("small", "medium"), ("medium", "large")):
    ledger.rows(
        f"factor_falls_to_{_large}",
        "abstract",
        f"CPU time at PSC exceeds that at CLSC by a factor that depends on the size: {{item}}, less for {_large} than "
        f"for {_small}",
        SIZES[_small],
        "psc_over_clsc_cpu",
        psc_over_clsc(SIZES[_large]),
        bound="<",
    )
ledger.not_checkable(
    "factor_by_verbosity",
    where="abstract",
    statement="CPU time at PSC exceeds that at CLSC by a factor that depends on the verbosity of the problem",
    printed="depending on verbosity",
    reason="The memo prints for no problem how many messages it writes.",
)


for _size in ("medium", "large"):
    ledger.rows(
        f"executions_{_size}",
        f"small and {_size} DDT, brackets",
        f"The bracket counts the same executions in the {_size} and the small table, {{item}}",
        SIZES[_size],
        "executions",
        lambda row, t: t(SIZES["small"])[row.key, "executions"],
    )


@ledger.each(where="section 6 note 3", statement="CPU time of RUN DDTLOAD, PSC over CLSC")
def ddtload_factor(reader):
    sheet = reader("ddtload")
    yield "", f"> {reader('prose').text('ddtload_factor')}", sheet["PSC", "cpu"] / sheet["CLSC", "cpu"]


@ledger.each(where="section 4", statement="Processors of the {item}, against the first digit of the model number")
def processors_of_model(reader):
    sheet = reader("systems")
    for system in ("CLSC", "PSC"):
        model = sheet.text(system, "machine").rpartition("/")[2]
        yield system, sheet.text(system, "processors"), int(model[0])


ledger.not_checkable(
    "memory_per_processor",
    where="section 4",
    statement="8 Mword of memory per processor at PSC and 4 Mword at CLSC",
    printed="8 and 4 Mword",
    reason="No other number of the memo gives the memory. In the model numbers X-MP/48 and X-MP/24 the "
    "second digit stands for the Mword of the whole machine, which would be 2 for each processor on "
    "both; the words 'per processor' are probably the author's slip.",
)
ledger.not_checkable(
    "repeatability",
    where="section 6 note 2",
    statement="Timings on NRAO1 vary by as much as 5 %",
    printed="{} %",
    cells=(("prose", "repeatability"),),
    reason="Only averages are printed, no repeated timings.",
)
ledger.not_checkable(
    "msgkil",
    where="section 6 note 3",
    statement="Without the message file the CPU time of RUN DDTLOAD at PSC falls in line with CLSC",
    printed="in line with CLSC",
    reason="The memo gives no times for these runs.",
)
ledger.not_checkable(
    "field_length",
    where="section 4",
    statement="DDT jobs stay below 1 Mword",
    printed="< {} Mword",
    cells=(("prose", "field_length"),),
    reason="The memory of the jobs is not printed.",
)
ledger.not_checkable(
    "suspended_imlod",
    where="section 6 note 8",
    statement="One suspended execution explains the real time of the medium IMLOD at PSC",
    printed="{} s",
    cells=(("ddt_medium", "IMLOD", "psc_real"),),
    reason="The eight executions are not printed one by one. Their sum is 14689 s, and eight runs like "
    "those of the small problem would take 1654 s.",
)
