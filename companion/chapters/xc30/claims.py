"""Claims of *IFS migrates from IBM to Cray* (2014)."""

from companion.claims.engine import IDENTITY, Bound, Ledger

ledger = Ledger("xc30")

MACHINES = 'slide "Comparison of IBM P7 and Cray XC30"'
STATISTICS = 'slide "Statistics for IFS 10-day Forecast"'
MATCHES = 'slide "Different Wavenumbers - Grid-point matches"'
SYSTEMS = ("ibm", "cray")
# of a core, on both: two 2-wide multiply-add units (Power7), AVX addition and multiplication (Ivy Bridge)
FLOPS_PER_CLOCK = 8
HALF_CIRCUMFERENCE = 20_000  # km; the metre was defined by the quarter meridian


@ledger.each(where=MACHINES, statement="Cores of {item} are nodes times cores of a node.")
def machine_cores(t):
    sheet = t("machines")
    for system in SYSTEMS:
        yield system, sheet.text("cores", system), sheet["nodes", system] * sheet["cores_per_node", system]


@ledger.each(
    where=MACHINES,
    statement="Peak of {item} is cores times clock times eight operations a clock period.",
    reasons={
        "ibm": "3.8 GHz give 747 TFLOPS, the printed 754 needs 3.835 GHz: the clock was rounded for the "
        "slide. Eight operations "
        "are a property of the core that the slide does not print."
    },
)
def machine_peak(t):
    sheet = t("machines")
    for system in SYSTEMS:
        yield (
            system,
            sheet.text("peak", system),
            sheet["cores", system] * sheet["clock", system] * FLOPS_PER_CLOCK / 1000,
        )


@ledger.each(
    where='slide "CCA and CCB - Cray XC30", slide "C2A and C2B - IBM Power7"',
    statement="The {item} agree with the table of the two machines.",
)
def installation(t):
    for system in SYSTEMS:
        for fact, name in (("nodes", "nodes of one system"), ("systems", "systems")):
            yield f"{name}, {system}", t("installations").text(fact, system), t("machines")[fact, system]


@ledger.each(where="slides with photographs", statement="The date agrees with the caption: {item}.", itself=IDENTITY)
def installation_years(t):
    dates = {
        ("from", "ibm"): "IBM Power7 in service",
        ("to", "ibm"): "IBM Power7 out of service",
        ("from", "cray"): "Cray XC30 in service",
    }
    for (fact, system), event in dates.items():
        yield (
            event,
            t("installations").text(fact, system).split()[-1],
            float(t("timeline").text(event, "date")[:4]),
        )


@ledger.each(
    where='slide "Operations on Cray"',
    statement="The Power7 goes out of service in the month in which the XC30 becomes operational.",
)
def operational_month(t):
    dates = t("timeline")
    yield (
        "",
        dates.text("IBM Power7 out of service", "date")[5:],
        float(dates.text("Cray XC30 operational", "date")[5:]),
    )


ledger.equal(
    "upgrade_year",
    'slide "Choices for Higher resolution upgrade in 2015"',
    "The year of the upgrade is that of the list of dates.",
    ("prose", "upgrade_year"),
    lambda t: float(t("timeline").text("higher resolution", "date")),
)


# Runs of the forecast


@ledger.each(where=STATISTICS, statement="Cores of the run on {item} are nodes times cores of a node.")
def run_cores(t):
    for system in SYSTEMS:
        yield (
            system,
            t("runs").text("cores", system),
            t("runs")["nodes", system] * t("machines")["cores_per_node", system],
        )


@ledger.each(where=STATISTICS, statement="Tasks times threads of the run on {item} are two threads a core (SMT, HT).")
def run_threads(t):
    for system in SYSTEMS:
        yield (
            system,
            t("runs").text("cores", system),
            t("runs")["tasks", system] * t("runs")["threads", system] / 2,
        )


@ledger.each(where=STATISTICS, statement="Share of peak on {item}: the rate over the peak of the nodes used.")
def run_peak(t):
    machines, runs = t("machines"), t("runs")
    for system in SYSTEMS:
        nodes = machines["peak", system] * runs["nodes", system] / machines["nodes", system]
        yield system, runs.text("peak_percent", system), 100 * t("forecast")["tflops"] / nodes


@ledger.each(
    where='slide "Comparison between IBM and Cray for IFS T1279 10-day Forecast"',
    statement="The nodes compared are those of the statistics: {item}.",
)
def comparison_nodes(t):
    for system in SYSTEMS:
        yield system, t("prose").text(f"comparison_{system}_nodes"), t("runs")["nodes", system]


ledger.equal(
    "rate",
    STATISTICS,
    "The rate is operations over elapsed time.",
    ("forecast", "tflops"),
    lambda t: t("forecast")["operations"] / t("forecast")["elapsed"] / 1e12,
    form="{} Tflops",
)


ledger.equal(
    "elapsed",
    STATISTICS,
    "The elapsed time is operations over the rate.",
    ("forecast", "elapsed"),
    lambda t: t("forecast")["operations"] / t("forecast")["tflops"] / 1e12,
    form="{} s",
)


# Grids


@ledger.claim(
    where=STATISTICS,
    cell=("forecast", "grid_points"),
    statement="The grid points are those of TL1279 in the table of resolutions.",
)
def grid_points(t):
    truncation = t("forecast").text("truncation")
    (points,) = [key for (key,) in t("resolutions").keys() if t("resolutions").text(key, "linear") == truncation]
    return float(points)


ledger.equal(
    "forecast_spacing",
    STATISTICS,
    "The spacing is half the Earth's circumference over the truncation plus one.",
    ("forecast", "spacing"),
    lambda t: HALF_CIRCUMFERENCE / (t("forecast")["truncation"] + 1),
    form="{} km",
)


ledger.rows(
    "spacing",
    MATCHES,
    "Spacing of the grid of {item} points: half the Earth's circumference over the linear truncation plus one.",
    "resolutions",
    "spacing",
    lambda row, t: HALF_CIRCUMFERENCE / (row["linear"] + 1),
    reasons={
        "2140702": "The base is not named: along the equator the spacing is 15.6 km, the mean over the sphere 15.4 km."
    },
)


ledger.rows(
    "quadratic",
    MATCHES,
    "Quadratic truncation on {item} points: two thirds of the linear one (T + 1 = 4N/3, 2N).",
    "resolutions",
    "quadratic",
    lambda row, t: (row["linear"] + 1) * 2 / 3 - 1,
)


ledger.rows(
    "cubic",
    MATCHES,
    "Cubic truncation on {item} points: half of the linear one (T + 1 = N, 2N).",
    "resolutions",
    "cubic",
    lambda row, t: (row["linear"] + 1) / 2 - 1,
)


ledger.equal(
    "same_truncation",
    MATCHES,
    "The cubic truncation of the finest grid is the linear one of the coarsest.",
    ("forecast", "truncation"),
    ("resolutions", "8505906", "cubic"),
)


@ledger.each(
    where='slide "TL1279 (16km) and TC1279 (8km) Convective precipitation"',
    statement="Spacing of {item} agrees with the table.",
)
def map_spacing(t):
    yield "TL1279", t("prose").text("tl1279_spacing"), t("resolutions")["2140702", "spacing"].mid
    yield "TC1279", t("prose").text("tc1279_spacing"), t("resolutions")["8505906", "spacing"].mid


ledger.equal(
    "overlap_truncation",
    'slide "Comms developments: Overlap MPI with CPU"',
    "The larger resolution of the overlap test is a linear truncation of the table.",
    ("legendre_runs", "2047", "truncation"),
    ("resolutions", "5447118", "linear"),
)


ledger.not_checkable(
    "overlap_small_truncation",
    where='slide "Comms developments: Overlap MPI with CPU"',
    printed="{}",
    cells=(("legendre_runs", "1198", "truncation"),),
    statement="The smaller resolution of the overlap test.",
    reason="1198 is not a truncation of any other slide; TL1198 was Météo-France's, and the deck says only that "
    "the work was done there.",
)


@ledger.each(
    where='slide "Comms developments: Overlap MPI with CPU"',
    statement="Overlapped transpositions shorten the inverse Legendre transform at {item}.",
)
def overlap_gain(t):
    sheet = t("legendre_overlap")
    for column in ("t2047", "t1198"):
        original = sheet.text("original", column)
        yield column.upper(), Bound(f"< {original} s", f"{original} s"), sheet["new", column]


# Input and output


ledger.not_checkable(
    "hres_sets",
    where='slides "A Look at HRES IO" and "IO that needs to be removed"',
    statement="Small-file operations of HRES: three by every task and one by the master, every I/O step.",
    printed="{} sets",
    cells=(("io_to_remove", "HRES", "open_close"),),
    reason="The tasks of the operational run on the Cray are not printed. 480 of them give 180,125; so many had the "
    "research run on the IBM, and 400 that on the Cray.",
)


@ledger.each(
    where='slide "IO that needs to be removed"',
    statement="Sets of {item} are three for every temporary file (our reading; the slide gives no ratio).",
)
def prodgen_sets(t):
    sheet = t("io_to_remove")
    for suite in ("HRES PRODGEN", "ENS PRODGEN"):
        yield suite, sheet.text(suite, "open_close"), 3 * sheet[suite, "temporary_files"]


ledger.not_checkable(
    "ens_sets",
    where='slide "IO that needs to be removed"',
    statement="Small-file operations of ENS.",
    printed="{} sets",
    cells=(("io_to_remove", "ENS", "open_close"),),
    reason="Members, tasks and I/O steps of the ensemble are not printed.",
)
ledger.not_checkable(
    "prodgen_files",
    where='slide "IO that needs to be removed"',
    statement="Temporary files of HRES PRODGEN.",
    printed="{} files",
    cells=(("io_to_remove", "HRES PRODGEN", "temporary_files"),),
    reason="The products that make the files are not printed.",
)
ledger.not_checkable(
    "ens_prodgen_files",
    where='slide "IO that needs to be removed"',
    statement="Temporary files of ENS PRODGEN.",
    printed="{} files",
    cells=(("io_to_remove", "ENS PRODGEN", "temporary_files"),),
    reason="The products that make the files are not printed.",
)
ledger.not_checkable(
    "samples",
    where='slide "Improvement to scores with fixes to cce compiler"',
    printed="{}-{} samples",
    cells=(("scores", "samples_low"), ("scores", "samples_high")),
    statement="Samples of the score comparison.",
    reason="The dates span 242 days; forecasts a day, missing days and the forecast step that each count "
    "belongs to are "
    "not printed.",
)
ledger.not_checkable(
    "bit_reproducible",
    where=STATISTICS,
    statement="The forecast gives the same bits again.",
    cells=(("prose", "bit_reproducible"),),
    reason="No results of two runs are compared on the slides.",
)
ledger.not_checkable(
    "compute_faster",
    where='slide "Comparison between IBM and Cray for IFS T1279 10-day Forecast"',
    statement="Against the IBM, the Cray computes relatively faster and communicates relatively slower.",
    printed="{} and {}",
    cells=(("prose", "cray_compute"), ("prose", "cray_comms")),
    reason="The shares are in two pies whose numbers are lost.",
)
ledger.not_checkable(
    "mpi_volume",
    where=STATISTICS,
    statement="MPI communication of the forecast.",
    printed="{} TB",
    cells=(("forecast", "mpi_volume"),),
    reason="Fields, transpositions and halo points are not printed.",
)
ledger.not_checkable(
    "file_rate",
    where='slide "A Look at HRES IO"',
    statement="Rate of one file.",
    printed="> {} MB/s",
    cells=(("hres_io", "file_rate"),),
    reason="The time of an I/O step is in a plot whose points are lost.",
)
