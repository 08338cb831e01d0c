"""The section *Where does the time of a forecast go?*: three jobs of 2006, and a small model on ranks of today."""

from supercomputers_rerun.companion import figures, tables
from supercomputers_rerun.companion.chapters.p5plus.words import about
from supercomputers_rerun.companion.common import np, pd, plural
from supercomputers_rerun.companion.conclusions import THEN, Finding, conclusion
from supercomputers_rerun.companion.records import runs as stored

#: Sections of the report's jobs: their colours, and what figures call them.
_SECTIONS = {
    "parallel": ("computing", "computing (parallel)"),
    "comms": ("communication", "messages (comms)"),
    "barrier": ("waiting", "barriers"),
    "serial": ("serial", "serial"),
    "I/O": ("files", "files (I/O)"),
    "missing": ("measured", "unaccounted (missing)"),
}
#: The class of a rank's time that is like one of them.
_CLASSES = {"compute": "parallel", "communication": "comms", "barrier": "barrier", "serial": "serial", "output": "I/O"}


def times() -> "pd.DataFrame":
    """Seconds of the three jobs by section, as printed."""
    return tables.load("p5plus", "ifs_times")["time"].transpose("job", "section").to_pandas()[list(_SECTIONS)]


def _split(run) -> "pd.DataFrame":
    """Seconds that a run of ``xc30-ranks`` spends in each section on its most ranks, medians, in one row."""
    last = int(np.argmax(run["ranks"].values))
    name = f"{figures.cpu(run)},\nspectral model, {plural(run['ranks'].values[last], 'rank')}"
    spent = {part: np.nanmedian(run[f"observed_{key}"].values[last]) for key, part in _CLASSES.items()}
    spent["missing"] = max(0.0, np.nanmedian(run["seconds"].values[last]) - sum(spent.values()))
    return pd.DataFrame(spent, index=[name])


#: The report's jobs in words.
_JOBS = {"T399 EPS": "50 km forecast, T399", "T799 10day forecast": "25 km forecast, T799", "4D-Var": "4D-Var analysis"}


@figures.styled
def shares(runs) -> "figures.Shown":
    """Where the time of three IFS jobs went, and that of a spectral model on ranks goes, in percent."""
    seconds = pd.concat([times(), *map(_split, runs)]).fillna(0.0)
    found, printed = seconds.mul(100 / seconds.sum(axis=1), axis=0), len(seconds) - len(runs)
    figure, axis = figures.axes(height=1.6 + 0.36 * len(found))
    cpus = tables.printed("p5plus", "ifs_times").set_index("job")["cpus"]
    names = [f"{_JOBS[name]},\n{int(cpus[name])} CPUs" if name in cpus.index else name for name in found.index]
    place, ends = figures.rows(axis, names), found.cumsum(axis=1)
    axis.axhline(printed - 0.5, color=figures.INK, linewidth=0.8)
    for (section, share), (colour, label) in zip(found.items(), _SECTIONS.values(), strict=True):
        drawn = axis.barh(place, share, left=ends[section] - share, height=0.62, label=label, **figures.hollow(colour))
        for bar in drawn[printed:]:
            bar.set(facecolor=(figures.meaning(colour), 0.3), linewidth=0.6)
        for row, (part, end) in enumerate(zip(share, ends[section], strict=True)):
            if part > 5:
                weight = "bold" if section == "parallel" and row < printed else "normal"
                axis.text(end - part / 2, row, f"{part:.0f}", ha="center", va="center", size=9, weight=weight)
    axis.set(xlabel="share of the elapsed time [%]", xlim=(0, 100))
    figures.legend(axis, "above 2 0.35")
    most = ", ".join(
        f"{job} {part} {found.loc[job, part]:.0f} %" for job, part in found[:printed].idxmax(axis=1).items()
    )
    today = found[printed:].rename_axis("job").reset_index().melt("job", var_name="section", value_name="share")
    data = pd.concat([tables.load("p5plus", "ifs_times").to_dataframe().reset_index(), today], ignore_index=True)
    computing = found["parallel"][:printed]
    shares = " and ".join(f"{share:.0f}" for share in sorted(computing.drop("4D-Var")))
    return figures.show(
        figure,
        name="p5plus_ifs_times",
        run=runs[0],
        data=data.rename(columns={"wall": "wall [s]", "time": "time [s]", "share": "share [%]"}),
        title=f"In 2006 forecasts computed for {shares} % of their time, the analysis for {computing['4D-Var']:.0f} %",
        caption="Above, jobs of 2006, with the report's words in brackets; below, pale, another, small model today.",
        alt=f"Stacked bars, share of the elapsed time by section for three IFS jobs. Largest section of each: {most}.",
        tables="ifs_times",
    )


def waited() -> str:
    """What the analysis of 2006 did beside computing, and the bound that follows for more processors."""
    share = 100 * times().loc["4D-Var"] / times().loc["4D-Var"].sum()
    meeting, alone = share[["comms", "barrier"]].sum(), share[["serial", "I/O"]].sum()
    assert share["parallel"] < 50 and 22 < meeting < 25 and 22 < alone < 25
    return (
        "The analysis spent almost a quarter of its time on messages and at barriers, and as much on files and "
        "serial code. Suppose more processors sped up all but files and serial code. Then by Amdahl's "
        f"law they could make the analysis at most {about(100 / alone)} as fast."
    )


def scaled(run) -> str:
    """What a second rank does for the spectral model, and what it loses to messages and at barriers."""
    run = run.isel(case=run["threads"].values == run["threads"].values[-1])  # not one rank with the threads of both
    assert run["ranks"].values.tolist() == [1, 2]
    gain = figures.ratios(run, [0], [1]).iloc[0]
    lost = [np.nanmedian(run[f"observed_{name}"].values[1]) for name in ("barrier", "communication")]
    share = 100 * sum(lost) / np.nanmedian(run["seconds"].values[1])
    assert gain["low"] > 1.5 and share < 10
    less = ", measurably less than twice" if gain["high"] < 2 else ""
    return (
        f"Today two ranks run the small spectral model (chapter 5) {gain['middle']:.1f} times as fast as one{less}. "
        f"Messages, and waiting at barriers, take {share:.0f} % of their time. The ranks share one machine, "
        "without a network."
    )


@conclusion(
    "p5plus-c15",
    place='slide "Times for IFS on P5+ (RAPS9)"',
    says="Forecasts reach about an eighth of the peak, and messages take about a seventh of the time or less.",
)
def share_of_peak() -> Finding:
    """Printed share of communication, and that of a spectral model on ranks."""
    printed = times()["comms"] / tables.load("p5plus", "ifs_times")["wall"].to_series()
    spent = _split(stored.each("xc30-ranks")[0]).iloc[0]
    now = spent["comms"] / spent.sum()
    return Finding(
        THEN,
        f"By the printed times messages take {100 * printed.min():.0f} to {100 * printed.max():.0f} %. In our model of "
        f"one layer on two ranks of one machine it is {100 * now:.1f} %: there is no network.",
        bears=printed.max() < 0.16 and now < 0.02,
    )


@conclusion(
    "p5plus-c16",
    place='slide "Times for IFS on P5+ (RAPS9)"',
    says="The analysis (4D-Var) reaches about half as large a share of the peak as forecasts, and computes for "
    "about half of its time.",
)
def analysis_reaches_half() -> Finding:
    """Printed shares of the parallel section."""
    share = times()["parallel"] / tables.load("p5plus", "ifs_times")["wall"].to_series()
    return Finding(
        THEN,
        f"By the printed times {100 * share['4D-Var']:.0f} % of the analysis is parallel, and "
        f"{np.floor(100 * share.drop('4D-Var').min()):.0f} % or more of the forecasts. This book has no 4D-Var.",
        bears=share["4D-Var"] < 0.5 and share.drop("4D-Var").min() > 0.74,
    )


@conclusion(
    "p5plus-c17",
    place='slide "T799 L91 10 day forecast on P5+ (RAPS8)"',
    says="On more than two thousand processors IFS still reaches 13 % of the peak.",
)
def many_processors() -> Finding:
    """The printed run."""
    facts = tables.load("p5plus", "run_2112")
    return Finding(
        THEN,
        f"The run took {float(facts['time']) / 60:.0f} minutes on {float(facts['nodes']):.0f} nodes. No run of ours "
        "says how so many nodes behave.",
        bears=float(facts["cpus"]) > 2000,
    )


@conclusion(
    "p5plus-c18",
    place='slide "MFLOPS per routine for T399 on P4+ (RAPS9)"',
    says="No routine dominates: the two costliest, of clouds and humid air, take less than a tenth of the time each.",
)
def flat_profile() -> Finding:
    """The costliest routines of the printed profile."""
    share = tables.load("p5plus", "drhook")["self_percent"].to_series().nlargest(2)
    return Finding(
        THEN,
        f"By the printed profile {share.index[0]} takes {share.iloc[0]:.0f} % and {share.index[1]} {share.iloc[1]:.0f} "
        "%. Ours is another program, with neither clouds nor rain in its forecast.",
        bears=set(share.index) == {"CLOUDSC", "CUADJTQ"} and share.max() < 10,
    )


@conclusion(
    "p5plus-c19",
    place='slide "MFLOPS on P5+"',
    says="To count floating-point operations on Power5+ an application must run twice.",
)
def two_runs() -> Finding:
    """Groups of events that have the counters of both formulas."""
    groups = tables.printed("p5plus", "hpm_counters").set_index("name")["groups"].astype(str).str.split(r"\D+")
    shared = set(groups["PM_FPU_FMA"]) & set(groups["PM_FPU_1FLOP"]) & set(groups["PM_FPU_FEST"])
    return Finding(
        THEN,
        "By the printed list no group of events has all that a formula needs. The counters are those of one processor.",
        bears=not shared,
    )
