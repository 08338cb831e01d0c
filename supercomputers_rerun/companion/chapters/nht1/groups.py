"""The section *How many processors should write at a time?*: processes that write the solution of one solver (N7)."""

from supercomputers_rerun.companion import figures, tables
from supercomputers_rerun.companion.bench import Case
from supercomputers_rerun.companion.chapters.nht1.writing import full_size
from supercomputers_rerun.companion.common import np
from supercomputers_rerun.companion.conclusions import PARTLY, Finding, conclusion
from supercomputers_rerun.companion.experiments import experiment, of


def _observe(result) -> dict[str, float]:
    """Best times, since a sample may hold several repeats."""
    return {"T_C": result.T_C.min(), **{f"group {g}": seconds.min() for g, seconds in result.T_T.items()}}


@experiment("nht1-grouped", item="N7", rounds=5, seconds={"paper": 600, "modern": 600}, unit="s a run")
def grouped(preset: str, threads: int) -> list[Case]:
    """Writing in groups, for a solver that waits, over fewer steps than the report's."""
    from supercomputers_rerun.kernels.files import nodes

    problem = nodes.Problem.preset(preset)
    named = of(problem, "N", "NS", "IW", "P")
    return [Case(f"{problem.P} processes, N = {problem.N}", nodes, problem, threads, named, _observe)]


def _printed() -> tuple:
    """Ticks of the report's axis of group sizes, the longest time of its axis over the shortest, and the best size."""
    sheet, (shortest, longest) = tables.printed("nht1", "figure_1_axes"), full_size()[3]
    ticks = sheet.loc[sheet["axis"] == "x", "value"].astype(int).tolist()
    return ticks, longest / shortest, int(tables.load("nht1", "prose")["best_group"])


def curve(run):
    """Group size ``g`` and T_T in seconds, median with its spread."""
    names = sorted((name for name in run if name.startswith("observed_group ")), key=lambda name: int(name[15:]))
    found = figures.of_samples([run[name].values[0] for name in names], np.repeat(run["flags"].values, len(names)))
    return found.assign(g=[int(name[15:]) for name in names])


@grouped.figure
@figures.styled
def whole_run(runs) -> "figures.Shown":
    """T_T of a run against the number of processes that write at a time, over the least of the run."""
    frames, (ticks, factor, best) = [curve(run) for run in runs], _printed()
    figure, axis = figures.axes(height=3.6)
    axis.axhspan(1, factor, **figures.hollow("printed"), hatch="////", alpha=0.5, label="times on the axis of 1993")
    for run, frame in zip(runs, frames, strict=True):
        least = frame["middle"].min()
        found = figures.converted(frame, lambda seconds, least=least: seconds / least)
        figures.bars(axis, frame["g"], found, index=1, label="a whole run", run=run)
    axis.axvline(best, color=figures.INK, linestyle=":", label="least time on the iPSC/860 (1993)")
    axis.set_xscale("log", base=2)
    ticks = sorted({*ticks, *frames[0]["g"]})
    axis.set_xticks(ticks, ticks)
    axis.set(xlabel="processes that write at a time", ylabel="time of a run, over the least")
    figures.legend(axis, "below 2")
    case = {name: int(runs[0][name].values[0]) for name in ("N", "NS", "IW", "P")}
    return figures.show(
        figure,
        name="nht1_grouped",
        runs=runs,
        data=frames,
        tables="figure_1_axes",
        title="A whole run that writes in groups",
        caption="Time of a whole run by the number of processes that write at a time, after the report's Figure 1, "
        f"divided by the least: {', '.join(f'{name} = {value}' for name, value in case.items())} processes. The dotted "
        "line marks the best size of 1993, the band its axis of times over the lower end; we do not have its points.",
    )


def said(run) -> str:
    """Times of a run if four processes write at a time, and if all do."""
    time = curve(run).set_index("g")
    few, all_of = time.loc[4], time.loc[time.index.max()]
    low, high = time["low"].values, time["high"].values
    assert few["high"] < all_of["low"] and (high[:-1] > low[1:]).all() and (high[1:] > low[:-1]).all()
    return (
        f"With {time.index.max()} processes on machine {figures.cpu(run)}, N = {run['N'].values[0]}, a run of "
        f"{run['NS'].values[0]} steps takes {few['middle']:.2f} s if 4 write at a time, and {all_of['middle']:.2f} s "
        "if all do, by medians. The samples of neighbouring sizes of groups overlap."
    )


@conclusion(
    "nht1-c10",
    place="section 3.3, Figure 1",
    says="A run is shortest if not all 128 processors write at once, but 16 of them.",
)
def sixteen_of_128() -> Finding:
    """Size of groups of the shortest run, and the longest of all at once."""
    time = curve(grouped.runs()[0]).set_index("g")
    best, all_of = time["middle"].idxmin(), time.loc[time.index.max()]
    more = all_of["middle"] / time.loc[best, "middle"]
    return Finding(
        PARTLY,
        f"Some at a time is best, but fewer: the shortest run lets {best} of {time.index.max()} write. If all do, "
        f"it takes {more:.1f} times as long. Two to eight do not differ measurably.",
        bears=time.loc[best, "high"] < all_of["low"]
        and best < int(tables.load("nht1", "prose")["best_group"])
        and time.loc[[2, 4, 8], "low"].max() < time.loc[[2, 4, 8], "high"].min(),
    )
