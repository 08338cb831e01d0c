"""The section *How many processors should write at a time?*: processes that write the solution of one solver (N7)."""

from supercomputers_rerun.companion import figures, tables
from supercomputers_rerun.companion.bench import Case
from supercomputers_rerun.companion.chapters.nht1.writing import full_size, usable_cpus
from supercomputers_rerun.companion.common import np, plural
from supercomputers_rerun.companion.conclusions import HOLDS, PARTLY, Finding, conclusion
from supercomputers_rerun.companion.experiments import experiment, of


def _observe(result) -> dict[str, float]:
    """Best times, since a sample may hold several repeats."""
    return {"T_C": result.T_C.min(), **{f"group {g}": seconds.min() for g, seconds in result.T_T.items()}}


@experiment("nht1-grouped", item="N7", threads=1, rounds=7, seconds={"paper": 2700, "modern": 600}, unit="s a run")
def grouped(preset: str, threads: int) -> list[Case]:
    """Writing in groups, for a solver that waits, with the report's grid, steps and processes."""
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
def whole_run(runs) -> "figures.Shown":
    """T_T of a run against the number of processes that write at a time, over the least of the run."""
    frames, (ticks, _, best) = [curve(run) for run in runs], _printed()
    figure, axis = figures.axes(height=3.2)
    for run, frame in zip(runs, frames, strict=True):
        least = frame["middle"].min()
        found = figures.converted(frame, lambda seconds, least=least: seconds / least)
        figures.bars(axis, frame["g"], found, index=1, label="today", run=run)
    bottom, top = axis.get_ylim()
    room = 0.1 * (top - bottom)  # for words
    axis.set_ylim(bottom - room, top + room)
    blue, orange = (figures.meaning(name) for name in ("printed", "measured"))
    axis.axvline(best, color=blue, linestyle="--", linewidth=1, zorder=1)
    words, sizes = {"textcoords": "offset points", "size": 9}, frames[0]["g"].tolist()
    axis.annotate(f"best in 1993: {best}", (best, top + room), xytext=(5, -4), va="top", color=blue, **words)
    shortest = sizes[int(frames[0]["middle"].argmin())]
    side = {sizes[0]: "left", sizes[-1]: "right", best: "left"}.get(shortest, "center")
    away = {"left": 5, "right": -5, "center": 0}[side]
    place, alike = (shortest, bottom - room), _alike(frames[0].set_index("g"))
    found = f"{alike[0]} to {alike[-1]}" if len(alike) > 1 else f"{shortest}"
    axis.annotate(f"best today: {found}", place, xytext=(away, 4), ha=side, color=orange, **words)
    axis.set_xscale("log", base=2)
    ticks = sorted({*ticks, *frames[0]["g"]})
    axis.set_xticks(ticks, ticks)
    axis.minorticks_off()
    axis.set(xlabel="processes that may write at a time", ylabel="time of a run ÷ the shortest")
    times = _over_best(runs[0])
    most = times.index[-1]
    more = {g: f"{100 * (times[g] - 1):.0f} %" for g in (1, best, most) if g in times.index}
    where = {1: ((7, 3), "left", "normal"), best: ((4, 9), "left", "bold"), most: ((-6, 5), "right", "bold")}
    for g, longer in more.items():
        offset, edge, weight = where[g]
        axis.annotate(f"+{longer}", (g, times[g]), xytext=offset, ha=edge, weight=weight, **words)
    of_then = f"{best}, best in 1993, take {more[best]} longer, " if best in more else ""
    return figures.show(
        figure,
        name="nht1_grouped",
        runs=runs,
        data=frames,
        tables="figure_1_axes",
        title=f"Of {most} processes, {found} at a time are best today; {of_then}all {most}, {more[most]}",
        caption=f"{most} processes on {plural(usable_cpus(runs[0]), 'CPU')}, {_points(runs[0])}, after Figure 1 of the "
        "report.",
    )


def _points(run) -> str:
    """The grid of a run in words."""
    return f"{int(run['N'].values[0])}³ points"


def _over_best(run):
    """How many times as long as at best a run takes, by the number of processes that write at a time."""
    time = curve(run).set_index("g")["middle"]
    return time / time.min()


def _alike(time) -> list[int]:
    """Group sizes around the best of a :func:`curve`, of which all intervals overlap: as many as there are."""
    sizes, best = list(time.index), time["middle"].idxmin()
    spans = [sizes[i : j + 1] for i in range(len(sizes)) for j in range(i, len(sizes)) if best in sizes[i : j + 1]]
    return max((span for span in spans if time.loc[span, "low"].max() <= time.loc[span, "high"].min()), key=len)


def _overlapping(time) -> str:
    """That intervals of sizes around the best overlap; empty where there is one."""
    alike = _alike(time)
    between = f" From {alike[0]} to {alike[-1]} at a time the intervals of the medians overlap."
    return between if len(alike) > 1 else ""


def said(run) -> str:
    """How many processes write at a time in the shortest run, and how much longer it takes with one and with all."""
    time = curve(run).set_index("g")
    best, most = time["middle"].idxmin(), time.index.max()
    then = int(tables.load("nht1", "prose")["best_group"])
    others = time.loc[[1, then, most]]
    assert time.loc[best, "high"] < others["low"].min() and max(_alike(time)) < then
    alone, of_then, together = 100 * (_over_best(run)[others.index] - 1)
    assert alone < of_then < together
    return (
        f"More than one and far from all: of {most} processes that share {plural(usable_cpus(run), 'CPU')}, {best} at "
        f"a time give the shortest run on {_points(run)} today.{_overlapping(time)} One at a time, it takes "
        f"{alone:.0f} % longer, probably because only one CPU then works. With {then} at a time, best in 1993, it "
        f"takes {of_then:.0f} % longer, and if all write at once, {together:.0f} %, probably because of contention: "
        "the processes stand in line for one file and for the CPUs (neither was measured)."
    )


@conclusion(
    "nht1-c10",
    place="section 3.3, Figure 1",
    says="A run is shortest if not all 128 processors write at once, but 16 of them.",
)
def sixteen_of_128() -> Finding:
    """Size of groups of the shortest run, and the longest of all at once."""
    time, printed = curve(grouped.runs()[0]).set_index("g"), int(tables.load("nht1", "prose")["best_group"])
    best, all_of = time["middle"].idxmin(), time.loc[time.index.max()]
    more = all_of["middle"] / time.loc[best, "middle"]
    better = time.index[time["high"] < time.loc[printed, "low"]]  # measurably, than the best of 1993
    other = f", and {printed} are not measurably worse"
    if len(better):
        other = ", but fewer" if best < printed else ", but more"
    return Finding(
        PARTLY if len(better) else HOLDS,
        f"Some at a time is best{other}: the shortest run lets {best} of {time.index.max()} write. If all do, it takes "
        f"{100 * (more - 1):.0f} % longer.{_overlapping(time)}",
        bears=time.loc[best, "high"] < all_of["low"],
    )
