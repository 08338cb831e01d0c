"""BT that writes its solution in several ways: runs that most sections draw, and rates of whole runs then and now."""

from supercomputers_rerun.companion import figures, tables
from supercomputers_rerun.companion.bench import Case
from supercomputers_rerun.companion.common import np, pd, plural, rounded
from supercomputers_rerun.companion.experiments import counts_to, experiment, of
from supercomputers_rerun.companion.records.runs import latest

#: Methods of writing that the report names: label, way and double buffering.
_WAYS = (
    ("sequential records, one a plane", "records", False),
    ("five arrays, one a write", "arrays", False),
    ("40-byte elements", "elements", False),
    ("positioned arrays", "positioned", False),
    ("positioned arrays, asynchronous", "positioned", True),
)
#: The way whose overhead is compared between grids and threads, and the same beside the solver.
WAY, LATER = "positioned arrays", "positioned arrays, asynchronous"
#: Methods of writing that codes of 1993 had, as a mark has room for them.
METHODS = {
    "sequential records, one a plane": "plane by plane",
    "five arrays, one a write": "array by array",
    "40-byte elements": "point by point",
}
#: What is said of a way whose run ends when the device has the file, as the report's rule wants it.
FLUSHED = "{}, to the device"
#: Grid points a direction beyond which one run takes many seconds.
_LARGE = 80
#: Sizes of a preset, by the names that the benchmark's problem knows.
SIZES = {"quick": ("small",), "paper": ("small", "medium", "paper"), "modern": ("paper", "modern")}
_MEGA = 1e6
ZETA = "overhead ζ [%]"
#: The same on an axis, for who has not met the symbol.
ADDED = "time that writing adds to a run [%]"
#: Columns of a table of runs, in words.
_WORDS = {
    "P": "processes",
    "T_T": "time [s]",
    "T_C": "time without writing [s]",
    "R_IO": "rate [MB/s]",
    "zeta": ZETA,
    "zeta_low": "ζ from [%]",
    "zeta_high": "ζ to [%]",
}
#: What a rate is of, in words for a legend.
WHOLE, FILE, PEAK = "whole run, computing included", "while writing one file", "rate of disks, as stated"


def observe(result) -> dict[str, float]:
    return {
        "T_T": result.T_T,
        "stalled": result.stalls.sum(),
        "transferring": result.transfers.sum(),
        "finish": result.finish_seconds,
        "R_IO": result.R_IO,
    }


@experiment("nht1-io", item="N1-N6, N8, N9", rounds=7, seconds={"paper": 4800, "modern": 3600}, unit="s a run")
def whole_runs(preset: str, threads: int) -> list[Case]:
    """Application I/O by method of writing: time, rate and overhead of a run.

    Planes with every number of threads.  With all threads every method, once into the page cache and once until the
    device has the file; on a large grid points to the device alone, since one run of them takes a minute.  Whole arrays
    beside the solver with all threads, and on smaller grids with one.
    """
    from supercomputers_rerun.kernels import bt
    from supercomputers_rerun.kernels.files import application

    cases = []
    for size in SIZES[preset]:
        sample = application.Problem.preset(size)
        large = sample.N > _LARGE
        for count in counts_to(threads):
            common, label = of(sample, "N", "NS", "IW"), f"N = {sample.N}, {count} threads"
            cases.append(Case(f"{label}, without writing", bt, sample.solver, count, {**common, "way": "none"}))
            for text, way, asynchronous in _WAYS:
                few = way == "records" or (way == "positioned" and count == 1 and not large)
                for fsync in (False, True):
                    if (fsync and (asynchronous or count < threads)) or (count < threads and not few):
                        continue
                    if large and way == "elements" and not fsync:
                        continue
                    form = {"way": way, "asynchronous": asynchronous, "fsync": fsync}
                    problem = application.Problem.preset(size, **form)
                    words = FLUSHED.format(text) if fsync else text
                    parameters = {**common, "way": words, **of(problem, "asynchronous", "solution_bytes")}
                    cases.append(Case(f"{label}, {words}", application, problem, count, parameters, observe))
    return cases


def overhead(run, writing, alone, T_C: str = "seconds"):
    """Overhead zeta = T_T / T_C - 1 in percent of cases with writing over cases without, with its spread."""
    ratio = figures.ratios(run, writing, alone, "observed_T_T", T_C)
    return figures.converted(ratio, lambda times: 100 * (times - 1))


def written(run):
    """N, threads, code if there are several, and way of every run with writing, with median and spread
    (``figures.with_spread``) ``T_T``, ``T_C`` and the ``waiting`` of the solver in s, ``R_IO`` and the rate while
    ``writing`` in MB/s, ``zeta`` in percent."""
    code = ["code"] if "code" in run else []
    names, cases = ["N", "threads", *code], figures.cases(run, "N", *code, "way", "solution_bytes")
    alone, rows = (cases.index[(cases["way"] == "none") == each] for each in (True, False))
    without = {tuple(cases.loc[i, names]): i for i in alone}
    same = [without[tuple(cases.loc[i, names])] for i in rows]
    mega = cases["solution_bytes"][rows].to_numpy(dtype=float) / _MEGA
    T_T, spent = (figures.sampled(run, f"observed_{name}", rows) for name in ("T_T", "transferring"))
    waiting = (run["observed_stalled"] + run["observed_finish"]).values[rows]
    return figures.with_spread(
        cases.loc[rows, [*names, "way"]],
        T_T=T_T,
        T_C=figures.sampled(run, "seconds", same),
        waiting=figures.of_samples(waiting, cases["flags"][rows]),
        R_IO=figures.converted(T_T, lambda seconds: mega / seconds),
        writing=figures.converted(spent, lambda seconds: mega / seconds),
        zeta=overhead(run, rows, same),
    )


def in_words(frame, names: list[str], **shown) -> "figures.Shown":
    """A table of these columns of :func:`written`, under words in place of symbols."""
    return figures.table(frame[names].rename(columns=_WORDS), digits=3, **shown)


def largest(run):
    """Of :func:`written`, the runs on the largest grid on which points were written, with most threads, by way."""
    frame = written(run)
    found = frame[frame["N"] == frame["N"][frame["way"] == "40-byte elements"].max()]
    return found.query("threads == threads.max()").set_index("way")


def by_method(run):
    """Of :func:`largest`, the methods of 1993 as rows ``what`` of a figure."""
    return largest(run).loc[list(METHODS)].assign(what=list(METHODS.values()))


def percent_axis(axis) -> None:
    """Percent along x, linear up to ±40 and logarithmic beyond, where a mark on the axis says so: an overhead spans
    decades and can be negative."""
    axis.set_xscale("symlog", linthresh=40, linscale=1)
    axis.text(40, 0, "//", transform=axis.get_xaxis_transform(), ha="center", va="center", size=10)
    axis.set_xlim(None, 1.5 * axis.get_xlim()[1])  # margins are linear
    axis.set_xticks([tick for tick in (-20, 0, 20, 40, 100, 1000, 10000) if tick < axis.get_xlim()[1]])
    axis.xaxis.set_major_formatter(lambda value, _: f"{value:g}".replace("-", "\N{MINUS SIGN}"))
    axis.minorticks_off()
    axis.axvline(0, color=figures.INK, linewidth=0.8)


def below_printed(runs, frames, names, systems, titled: dict[str, str], **shown) -> "figures.Shown":
    """A figure of the ranges that the abstract prints for ``systems``, above the overheads ``zeta`` of runs in rows of
    ``names``.

    At the right stand the ranges and the overheads of the first run, bold in rows of ``titled``, with what that adds.
    """
    printed = tables.printed("nht1", "overheads").set_index("system").loc[list(systems)]
    ranges = printed[["low", "high"]].set_axis([f"{name} (1993)" for name in systems])
    rows = [*ranges.index, *names]
    drawn = figures.dots(
        runs,
        frames,
        {"zeta": "today"},
        ranges=ranges,
        names=rows,
        xlabel=ADDED,
        tables="overheads",
        **shown,
    )
    words = {"range": "{low:g} to {high:g} %", "below": "typically < {high:g} %", "above": "can exceed {low:g} %"}
    then = [words[row["bound"]].format(**row) for row in printed.to_dict("records")]
    zeta = frames[0].set_index("what")["zeta"].to_dict()
    now = {name: f"{value:.0f} %" if abs(value) > 1 else "about 0 %" for name, value in zeta.items()}
    axis = drawn.figure.axes[0]
    figures.at_right(axis, [*then, *(now.get(name, "") + titled.get(name, "") for name in names)])
    for name, number in zip(rows, axis.texts[-len(rows) :], strict=True):
        number.set_weight("bold" if name in titled else "normal")
    return drawn


def full_size() -> tuple:
    """Of the report's largest grid: megabytes of a dump, dumps of a run, least seconds of a run on the CM-2, and the
    ends of the axis of run times on the iPSC/860."""
    prose, axes = tables.load("nht1", "prose"), tables.printed("nht1", "figure_1_axes")
    row = tables.printed("nht1", "table_1").set_index("N").loc[N := int(prose["full_size"])]
    dump = float(prose["components"]) * float(prose["word"]) * N**3 / _MEGA
    ends = axes.loc[axes["axis"] == "y", "value"]
    return dump, float(row["NS"] / row["IW"]), 3600 * float(prose["cm2_time"]), (ends.min(), ends.max())


def surviving():
    """Rates in MB/s that the surviving pages state or bound: ``system``, ``what``, ``low`` and ``high``.

    ``R_IO`` of a run is the bytes of its solution over its time; an end that is not known is NaN.
    """
    systems, (dump, dumps, hours, ends) = tables.load("nht1", "systems"), full_size()
    rows = [
        # of one of ten disks on the iPSC/860, in theory; of disk space on the Y-MP
        (str(system), what, float(rate), float(rate))
        for fact, what in (("disk_rate", PEAK), ("io_rate_serial", FILE), ("io_rate_peak", PEAK))
        for system, rate in systems[fact].to_series().dropna().items()
    ]
    rows.append(("CM-2", WHOLE, np.nan, dump * dumps / hours))
    rows.append(("iPSC/860", WHOLE, dump * dumps / ends[1], dump * dumps / ends[0]))
    order = [str(name) for name in systems["system"].values]
    frame = pd.DataFrame(rows, columns=["system", "what", "low", "high"])
    return frame.sort_values("system", key=lambda names: names.map(order.index), kind="stable", ignore_index=True)


@whole_runs.figure
def rates_then_and_now(runs) -> "figures.Shown":
    """Rates of whole runs then and today, and while they write a file."""
    old, frames = surviving().query("what != @PEAK"), [by_method(run) for run in runs]
    ranges = old.assign(colour=old["what"].map({WHOLE: "printed", FILE: "files"}))
    ranges = ranges.set_index(ranges["system"] + " (1993)")
    cm2 = old[old["system"] == "CM-2"].set_index("what")
    shown = figures.dots(
        runs,
        frames,
        {"R_IO": WHOLE, "writing": FILE},
        ranges=ranges,
        names=[*dict.fromkeys(ranges.index), *METHODS.values()],
        colours=("measured", "files"),
        xlabel="rate [MB/s]",
        log=True,
        legend_at="below 1",
        data=pd.concat([old, figures.together(runs, frames)], ignore_index=True),
        name="nht1_rates_then_and_now",
        tables="systems table_1 figure_1_axes",
        title=f"While it wrote, the CM-2 was at least {rounded(cm2.loc[FILE, 'low'] / cm2.loc[WHOLE, 'high'])} times "
        "as fast as over a whole run",
        caption="Rates of whole runs, and of writing without the copy before it. Arrows are bounds; the range "
        "(iPSC/860, second program) follows from an axis.",
    )
    shown.figure.axes[0].set_xlim(old["high"].min() / 3, None)
    return shown


@whole_runs.figure
def runs_table(runs) -> "figures.Shown":
    """T_T, T_C, R_IO and zeta of every run with writing, medians of the samples."""
    caption = "Every run with writing: medians. The overhead is over the run without writing with as many threads."
    names = ["N", "threads", "way", "T_T", "T_C", "R_IO", "zeta"]
    return in_words(written(runs[0]), names, folded=True, name="nht1_runs", caption=caption)


def usable_cpus(run) -> int:
    """Usable CPUs of the machine of a run."""
    return int(str(run.attrs["machine"]).rpartition(", ")[2].split()[0])


def conditions(run) -> "figures.Shown":
    """What holds of every number of the chapter that says nothing else, in small print."""
    here, other = largest(run), latest("nht1-base")
    same = other is None or figures.cpu(other) == figures.cpu(run)
    apart = "" if same else f", or from {figures.cpu(other)} where the text or the figure names it"
    return figures.paragraph(
        "Values of 1993 are printed in the report or follow from it. Values of today are medians from machine "
        f"{figures.cpu(run)}, {run.attrs['machine'].rpartition(', ')[2]}, preset {run.attrs['preset']}{apart}. If "
        f"nothing else is said, the grid has {here['N'].max()} points in each direction, the faster of two solvers "
        f"runs on {plural(here['threads'].max(), 'thread')}, and files go into the page cache, memory that the system "
        "copies to the disk later.",
        tag="small",
    )
