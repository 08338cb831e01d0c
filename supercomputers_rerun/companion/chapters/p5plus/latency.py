"""The section *How long does one load take?*: a random chase and a walk in steps of 1024 items."""

from itertools import product

from supercomputers_rerun.companion import figures, host, models
from supercomputers_rerun.companion.bench import Case
from supercomputers_rerun.companion.chapters.p5plus.memory import PAGES, mark_caches
from supercomputers_rerun.companion.common import np, pd, size
from supercomputers_rerun.companion.experiments import Output, experiment, of

#: Bytes between the loads of a walk: the report says stride 1024, by our reading items of 4 bytes.
_WALK = 4096
_LINE = 64
#: The two orders, in the words of legends.
_PATTERNS = {"random": "random order", "stride": "in steps of 4 KB"}


@experiment(
    "p5plus-latency",
    item="P3",
    threads=1,
    rounds=11,
    seconds={"paper": None, "modern": None},
    unit="ns a load",
    per="loads",
)
def loads(preset: str, threads: int) -> list[Case]:
    """Memory latency: random chase and stride 1024.

    Each sample observes which share of the memory the system put on huge pages.
    """
    from supercomputers_rerun.kernels.memory import latency

    count = latency.Problem.preset(preset).loads
    cases = []
    for pages, (pattern, spacing) in product(PAGES, (("random", latency.LINE), ("stride", _WALK))):
        for problem in latency.grid(preset, pattern=pattern, spacing=spacing, loads=count, pages=pages):
            label = f"{size(problem.nbytes)}, {pattern}, {pages} pages"
            parameters = of(problem, "nbytes", "pattern", "spacing", "loads", "pages")
            cases.append(Case(label, latency, problem, threads, parameters, _huge))
    return cases


def _huge(result) -> dict[str, float]:
    """Share of the memory on huge pages; NaN where the system does not say."""
    return {"huge": np.nan if result.huge is None else result.huge}


@loads.outputs_of
def _caches(measurements) -> dict[str, Output]:
    """The caches that the system reports."""
    reported = [cache["bytes"] for cache in host.describe()["caches"] if cache["type"] != "instruction"]
    return {"reported_capacity": Output(reported, "byte", "cache", "data caches the system reports")}


def lines(run) -> "pd.DataFrame":
    """Cases of a run; ``touched``, bytes of the cache lines that are loaded, of the walk one in 64, and ``ns``,
    nanoseconds until a load has its value, with its spread."""
    frame = figures.cases(run, "nbytes", "pattern", "pages", "loads").sort_values("nbytes", kind="stable")
    frame["touched"] = frame["nbytes"].where(frame["pattern"] == "random", frame["nbytes"] // _WALK * _LINE)
    return figures.quantities(frame, ns=lambda seconds: 1e9 * seconds / frame["loads"])


@models.predicts(
    "p5plus_latency",
    models.chase,
    "the time of a load in a random order",
    "that other virtual machines may use the last cache, and that lines push each other out of a cache",
    "levels",
    "p5plus-latency",
)
def by_levels(run, machine):
    """Nanoseconds of a load of the random chase on huge pages, from the latency of each cache and of memory."""
    frame = lines(run).query("pattern == 'random' and pages == 'huge'")
    predicted = 1e9 * models.chase(frame["nbytes"], machine.levels)
    return frame[["nbytes"]].assign(measured=frame["ns"], predicted=predicted)


def _reach(run) -> "pd.DataFrame":
    """By pattern, :func:`lines` on huge pages through as many cache lines as the longest walk loads."""
    frame = lines(run).query("pages == 'huge'")
    reach = frame.loc[frame["pattern"] == "stride", "touched"].max()
    return frame[frame["touched"] == reach].set_index("pattern")


def _few(run) -> "pd.DataFrame":
    """By bytes of the lines that are loaded, from 64 lines to 8192, nanoseconds of a load in each order."""
    frame = lines(run).query(f"pages == 'huge' and {64 * _LINE} <= touched <= {8192 * _LINE}")
    return frame.pivot(index="touched", columns="pattern", values="ns").reindex(columns=list(_PATTERNS))


def _case(run, nbytes: float, pattern: str) -> int:
    """Number of a case on huge pages in its run."""
    chosen = (run["nbytes"] == nbytes) & (run["pattern"] == pattern) & (run["pages"] == "huge")
    return np.flatnonzero(chosen.values).item()


def _slower(run) -> "pd.Series":
    """Time of a load in random order over that of the longest walk, which loads as many lines, with its interval."""
    nbytes = _reach(run)["nbytes"]
    return figures.ratios(run, [_case(run, nbytes["random"], "random")], _case(run, nbytes["stride"], "stride")).iloc[0]


@loads.figure
def load_times(runs) -> "figures.Shown":
    """Time of one dependent load against working set: random chase and walk of 1024 items, on huge pages."""
    figure, axis = figures.axes(height=3.6)
    frames = [lines(run) for run in runs]
    drawn = [frame.query("pages == 'huge'") for frame in frames]
    figures.lines(axis, runs, drawn, "touched", "ns", "pattern", _PATTERNS.__getitem__)
    expected = by_levels.frame(runs[0])
    if expected is not None:
        figures.modelled(axis, expected["nbytes"], expected["predicted"])
    figures.log_axis(axis, "y")
    figures.bytes_axis(axis, frames[0]["nbytes"])
    axis.set(xlim=(frames[0]["nbytes"].min() / 1.5, None), xlabel="bytes of the cache lines that are loaded")
    axis.set_ylabel("time of one load [ns]")
    style = {"textcoords": "offset points", "size": 9}
    for line in (each for each in axis.get_lines() if each.get_marker() == "x"):
        axis.annotate("doubtful", line.get_xydata()[0], xytext=(0, 7), ha="center", **style)
    mark_caches(axis, np.unique(runs[0]["reported_capacity"].values))
    figures.legend(axis, "above 2 0.4")
    both, few = _reach(runs[0]), _few(runs[0])
    chase, walk, reach = both["ns"]["random"], both["ns"]["stride"], both["touched"]["random"]
    many = figures.bytes_label(reach)
    title = f"Loading {many} of cache lines in random order and in equal steps"
    if chase > walk:
        title = f"{many} of cache lines load faster in equal steps than in random order"
        if len(few) and (few["stride"] > few["random"]).all():
            slow, fast = few["stride"].iloc[0], few["random"].iloc[0]
            title = (
                f"With little data a load takes {fast:.1f} ns in random order, {slow:.0f} ns in steps of 4 KB to "
                "few cache sets"
            )
            for words, ns in ((f"{slow:.0f} ns", slow), (f"{fast:.1f} ns", fast)):
                axis.annotate(words, (few.index[0], ns), xytext=(-4, 8), weight="bold", **style)
    return figures.show(
        figure,
        name="p5plus_latency",
        runs=runs,
        data=frames,
        title=title,
        caption="Dotted: caches that the system reports. "
        f"Lines {figures.bytes_label(_WALK)} apart share few places of a cache; their curve ends at {many}.",
        tables="plots",
        note=models.said(by_levels, expected),
    )


def sets(run) -> str:
    """Why the walk leaves the first cache after eight lines: all of its lines fall into one set."""
    frame, capacity = lines(run).query("pages == 'huge'"), float(np.nanmin(run["reported_capacity"].values))
    walk = frame[frame["pattern"] == "stride"].set_index("nbytes")["ns"]
    chase = frame[frame["pattern"] == "random"].set_index("nbytes")["ns"]
    inside = walk[walk < 1.5 * chase.iloc[0]]
    kept, beyond = inside.index.max() // _WALK, walk[walk.index > inside.index.max()]
    assert capacity / kept == _WALK  # a way of this cache: what lies so far apart has one set
    assert chase[chase.index <= capacity].max() < 1.5 * chase.iloc[0] < beyond.min()
    return (
        f"With {kept} lines 4 KB apart a load of the walk takes {inside.max():.1f} ns, as in the random chase, and "
        f"with {beyond.index[0] // _WALK} lines {beyond.iloc[0]:.1f} ns, though these are less than 1 KB: because a "
        "cache puts a line into a set by its address, and lines 4 KB apart fall into one set of the first cache of "
        f"machine {figures.cpu(run)}. That set has {kept} places, and {kept} × 4 KB are the "
        f"{figures.bytes_label(capacity)} that the cache holds."
    )


def leaves(run) -> str:
    """Where the random chase leaves the last cache, which is reported larger, and that small pages change little."""
    chase = lines(run).query("pattern == 'random'")
    frame, small = (chase[chase["pages"] == pages].set_index("nbytes")["ns"] for pages in ("huge", "small"))
    reported = float(np.nanmax(run["reported_capacity"].values))
    most = frame.index[frame < frame.max() / 3].max()
    assert most <= reported / 4 and run["observed_huge"].values[_case(run, 2 * most, "random")].min() == 1
    assert 2 / 3 < small[2 * most] / frame[2 * most] < 1.5  # translations of few addresses or of many
    return (
        f"The last cache is reported to hold {figures.bytes_label(reported)}. On machine {figures.cpu(run)} a load in "
        f"random order takes {frame[most]:.0f} ns from {figures.bytes_label(most)}, and {frame[2 * most]:.0f} ns from "
        f"{figures.bytes_label(2 * most)}: already most of the {frame.max():.0f} ns of the largest set. "
        f"These are pages of 2 MB, of which {2 * most / 2**21:.0f} hold all of it; with pages of 4 KB a load takes "
        f"{small[2 * most]:.0f} ns."
    )


def ranges(run) -> str:
    """Time of a load from the nearest cache and from the largest set, in random order."""
    chase = lines(run).query("pages == 'huge' and pattern == 'random'").set_index("nbytes")["ns"]
    least, most = chase.iloc[0], chase.iloc[-1]
    assert most > 50 * least
    return (
        f"A load, which brings one value into the processor, takes between {least:.1f} ns and {most:.0f} ns today, "
        "with pages of 2 MB. The time depends on where the value lies, and on the order of the loads."
    )


def guessed(run) -> str:
    """Time of a load of the longest walk, and of a random chase through as many cache lines."""
    both, few = _reach(run), _few(run)
    walk, chase = both.loc["stride"], both.loc["random"]
    factor = _slower(run)
    assert factor["low"] > 1.25
    assert (few["stride"] > 1.3 * few["random"]).all()  # the chapter says so, of 4 to 512 KB
    assert walk["nbytes"] > 8 * chase["nbytes"]  # order, not distance
    return (
        f"The longest walk loads {figures.bytes_label(walk['touched'])} of cache lines, spread over "
        f"{figures.bytes_label(walk['nbytes'])}, and takes {walk['ns']:.0f} ns a load. We also load as many lines in "
        f"random order; these lie side by side in {figures.bytes_label(chase['nbytes'])}. Yet a load then takes "
        f"{factor['middle']:.2g} times as long (ratio of medians; its 95 % interval begins at {factor['low']:.1f}). So "
        "here the order counts more than the distance."
    )


def guessable(run) -> str:
    """The same for a neighbour."""
    factor, size = _slower(run), figures.bytes_label(_reach(run).loc["random", "nbytes"])
    assert factor["low"] > 1.25
    return (
        f"A processor of today loads {size} of data in pieces of 64 bytes. Loaded in random order, though they lie "
        f"side by side, they take {factor['middle']:.2g} times as long as when they lie {figures.bytes_label(_WALK)} "
        f"apart and are loaded one after the other (ratio of medians; its 95 % interval begins at {factor['low']:.1f})."
    )


def steps(run) -> str:
    """Time of a load in the first cache, the second and the last, and why it is longer there."""
    chase = lines(run).query("pattern == 'random' and pages == 'huge'").set_index("nbytes")["ns"]
    caches = sorted(run["reported_capacity"].values)
    first, second, *_, last = (chase[chase.index <= size / 2].iloc[-1] for size in caches)
    assert second > 2 * first
    shared = ""
    if last > chase.iloc[-1] / 2:
        shared = ", probably because other virtual machines use that cache, too (not measured)"
    return (
        f"The machine reports caches of {', '.join(map(figures.bytes_label, caches))}. A load takes {first:.1f} ns if "
        f"the working set fills half of the first cache, and {second:.1f} ns if it fills half of the second. Probably "
        "the second is slower because it is larger, and is asked only after the first (not measured). If the set fills "
        f"half of the last cache, a load takes {last:.0f} ns{shared}."
    )
