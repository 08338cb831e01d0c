"""The section *Does the overhead grow with the processors?*: the same runs with one thread and with more (N4)."""

from companion import figures, tables
from companion.chapters.nht1.writing import PRESET, QUOTIENTS, WAY, whole_runs, written
from companion.records.runs import single


@whole_runs.figure
def by_processors(runs) -> "figures.Shown":
    """Overhead against the number of processors (N4), with the range that the abstract gives for the Y-MP."""
    frames = [written(run).query("way == @WAY").sort_values(["N", "threads"]) for run in runs]
    first = frames[0]
    least = first["N"].min() if first["N"].nunique() > 1 else 0
    sizes = sorted({N for frame in frames for N in frame["N"]}, reverse=True)
    figure, axis = figures.axes(height=2.9)
    ymp = tables.printed("nht1", "overheads").set_index("system").loc["Y-MP"]
    figures.printed_ranges(axis, [0.5], [ymp["low"]], [ymp["high"]], across=False)
    for run, frame in zip(runs, frames, strict=True):
        for N, part in sorted(frame.groupby("N"), reverse=True):
            if N > least or frame["N"].nunique() == 1:
                aside = part["threads"] + 0.03 * (sizes.index(N) - 1)  # equal ones would hide each other
                style = {"index": 1 + sizes.index(N), "label": f"N = {N}", "run": run}
                figures.bars(axis, aside, figures.spread_of(part, "zeta"), **style)
    axis.axhline(0, color=figures.INK, linewidth=0.8)
    counts = sorted({n for frame in frames for n in frame["threads"]})
    axis.set_xticks([0.5, *counts], ["Y-MP (1993)", *map(str, counts)])
    axis.set(xlabel="processors", ylabel="overhead ζ [%]")
    figures.legend(axis, "above 3")
    said = "; ".join(f"N = {row.N}, {row.threads} thr. {row.zeta:.3g}" for row in first.itertuples())
    return figures.show(
        figure,
        name="nht1_by_processors",
        runs=runs,
        data=frames,
        heading=f"{figures.run_title(runs[0])}, {WAY}",
        tables="overheads",
        title="Overhead and the number of processors",
        caption=f"Overhead of writing ({WAY}). Hollow: the range that the abstract of 1993 prints for the Y-MP. The "
        f"smallest grid is in the data only. {PRESET} {QUOTIENTS}",
        alt=f"Overhead in percent against the number of processors on {figures.cpu(runs[0])}: {said}. Hollow bar: "
        f"{ymp['low']:g} to {ymp['high']:g} percent of the Y-MP in 1993.",
    )


def said(run) -> str:
    """Computing, waiting and the overhead on the largest grid with one thread and with the most."""
    frame, run = written(run).query("way == @WAY and N == N.max()").sort_values("threads"), single(run)
    one, most = (frame.iloc[each] for each in (0, -1))
    waited = (run["observed_stalled"] + run["observed_finish"]).values[run["N"].values == one["N"]]
    ways, threads = (run[name].values[run["N"].values == one["N"]] for name in ("way", "threads"))
    sides = (waited[(ways == WAY) & (threads == row["threads"])] for row in (one, most))
    waiting = figures.quotient(*(figures.of_samples(each, [""]) for each in sides)).iloc[0]
    computing = figures.quotient(*(figures.spread_of(frame.iloc[[each]], "T_C") for each in (0, -1))).iloc[0]
    assert computing["low"] > 1 and waiting["low"] < 1 < waiting["high"]
    assert most["zeta_low"] < one["zeta_high"] and one["zeta_low"] < most["zeta_high"]
    return (
        f"On the largest grid a second processor shortens computing by a factor of {computing['middle']:.2f} "
        f"({computing['low']:.2f} to {computing['high']:.2f}). The waiting for dumps shows no measurable difference, a "
        f"factor of {waiting['middle']:.2f} ({waiting['low']:.2f} to {waiting['high']:.2f}), and neither does the "
        f"overhead, {one['zeta']:.0f} and {most['zeta']:.0f} %."
    )
