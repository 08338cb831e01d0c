"""The section *How fast does a processor read memory?*: reads with a stride."""

from supercomputers_rerun.companion import bench, figures, models
from supercomputers_rerun.companion.bench import Case
from supercomputers_rerun.companion.chapters.p5plus.words import about
from supercomputers_rerun.companion.common import np, pd, plural, size, span
from supercomputers_rerun.companion.experiments import counts_to, experiment, of

#: Pages of the sweep: the large ones are in the place of the document's 64 KB, the small ones of its 4 KB.
PAGES = ("small", "huge")
#: Strides swept with every page size and thread count; the others with one thread and large pages.
_SHOWN = (1, 16, 1024)
#: Strides that are drawn, in words; of the third one item stands in each cache line.
_DRAWN = {1: "every item", 4: "every 4th", 16: "every 16th", 64: "every 64th"}
_SKIP = 16


@experiment(
    "p5plus-bandwidth",
    item="P2",
    rounds=7,
    seconds={"paper": None, "modern": None},
    unit="GB/s a thread",
    per="threads",
)
def bandwidth(preset: str, threads: int) -> list[Case]:
    """Memory bandwidth per thread against size and stride."""
    from supercomputers_rerun.kernels.memory import stride

    cases = []
    for pages in PAGES:
        for problem in stride.grid(preset, pages=pages, binding=True):
            for count in counts_to(threads):
                if problem.stride not in _SHOWN and (pages == "small" or count > 1):
                    continue
                label = f"{size(problem.nbytes)}, stride {problem.stride}, {pages} pages, {count} threads"
                parameters = of(problem, "nbytes", "stride", "pages")
                cases.append(Case(label, stride, problem, count, parameters))
    return cases


def read(run) -> "pd.DataFrame":
    """Cases of a run; ``rate``, GB/s that each thread asks for, with its spread."""
    frame = figures.cases(run, "nbytes", "stride", "pages").sort_values("nbytes", kind="stable")
    return figures.quantities(frame, rate=lambda seconds: frame["bytes_read"] / frame["threads"] / seconds / 1e9)


def _asked(step: int, nbytes: int) -> float:
    """GB/s that one thread asks for here, measured now."""
    from supercomputers_rerun.kernels.memory import stride

    problem = stride.Problem(nbytes=nbytes, stride=step, pages="huge")
    (found,) = bench.measure([Case("one's own", stride, problem)], rounds=5, budget=0.5, progress=False)
    return found.work["bytes_read"] / found.median / 1e9


#: Bytes of an item, and of a cache line, which comes whole.
_ITEM, _LINE = 4, 64


@models.predicts(
    "p5plus_bandwidth",
    models.transfer,
    "the rate of strided reads from memory",
    "that a core can wait for only so many lines at once",
    "bandwidth",
    "p5plus-bandwidth",
)
def by_lines(run, machine):
    """Rate of one thread in arrays that no cache holds: the bytes asked for in each line that has to come."""
    frame = read(run).query("threads == 1 and pages == 'huge'")
    frame = frame[frame["nbytes"] == frame["nbytes"].max()]
    lines = np.minimum(_LINE, frame["stride"] * _ITEM)
    seconds = models.transfer(0, 0.0, lines, machine.bandwidth)
    return frame[["nbytes", "stride"]].assign(measured=frame["rate"], predicted=_ITEM / seconds / 1e9)


def _skipped(run) -> tuple[float, float, float]:
    """GB/s that one thread asks for: in its smallest array, in its largest, and there of every 16th item."""
    frame = read(run).query("threads == 1 and pages == 'huge'").set_index(["stride", "nbytes"])["rate"]
    whole = frame[1].sort_index()
    return float(whole.iloc[0]), float(whole.iloc[-1]), float(frame[_SKIP].sort_index().iloc[-1])


def mark_caches(axis, capacities) -> None:
    """Upright lines where the caches of a machine are full: L1, L2, …, by their bytes."""
    for number, nbytes in enumerate(capacities, 1):
        axis.axvline(nbytes, color=figures.INK, linewidth=0.9, linestyle=":")
        above = {"xytext": (-2, -2), "textcoords": "offset points", "xycoords": axis.get_xaxis_transform()}
        axis.annotate(f"L{number}", (nbytes, 1), ha="right", va="top", size=9, **above)


@bandwidth.figure
def read_rates(runs, stride: int = 0, nbytes: int = 0) -> "figures.Shown":
    """Read bandwidth on huge pages of one thread against working set, by stride; the data have those by threads, too.

    With a ``stride`` the rate here of this stride and ``nbytes`` is measured, and stands beside them.
    """
    figure, axis = figures.axes(height=3.4)
    frames = [read(run) for run in runs]
    alone = [frame.query("pages == 'huge' and threads == 1") for frame in frames]
    alone = [frame[frame["stride"].isin(_DRAWN)] for frame in alone]
    others = [frame[frame["stride"] == 1] for frame in alone[1:]]
    figures.lines(axis, runs, [alone[0], *others], "nbytes", "rate", "stride", _DRAWN.__getitem__)
    if stride:
        rate, label = _asked(stride, nbytes), f"your stride {stride}, {size(nbytes)}"
        axis.plot(nbytes, rate, "*", color=figures.INK, markersize=12, linestyle="none", label=label)
    style = {"xytext": (6, 0), "textcoords": "offset points", "size": 9, "va": "center"}
    colours = {}
    for line in axis.get_lines():
        if not (label := line.get_label()).startswith("_"):
            colours[label] = line.get_color()
            x, rate = line.get_xydata()[-1]
            weight = "bold" if label in (_DRAWN[1], _DRAWN[_SKIP]) else "normal"
            said = f"{label}: {rate:.0f}" if rate >= 10 else f"{label}: {rate:.1f}"
            axis.annotate(said, (x, rate), color=colours[label], weight=weight, **style)
    expected = by_lines.frame(runs[0])
    if expected is not None:
        ends = np.array([0.35, 1.0]) * float(expected["nbytes"].max())
        levels = expected[expected["stride"].isin(_DRAWN)].sort_values("stride").drop_duplicates("predicted")
        for number, row in enumerate(levels.itertuples()):
            line = figures.modelled(axis, ends, 2 * [row.predicted], label="_model" if number else "model")
            line.set_color(colours[_DRAWN[row.stride]])
            axis.annotate("model", (ends[1], row.predicted), color=line.get_color(), **style)
    if (known := models.constants(runs[0])) is not None:
        mark_caches(axis, [level.nbytes for level in known.levels if np.isfinite(level.nbytes)])
    fast = expected is not None and (expected["predicted"] > expected["measured"]).all()
    of_memory = " Dashed: a model of memory, too fast." if fast else ""
    figures.log_axis(axis, "y")
    figures.bytes_axis(axis, frames[0]["nbytes"])
    axis.set(xlabel="size of the array", xlim=(None, 200 * frames[0]["nbytes"].max()))
    axis.set_ylim(top=2 * axis.get_ylim()[1])  # room for the names of the caches
    axis.set_ylabel("items that one thread reads [GB/s]")
    title = "What one thread reads, by how many items it skips"
    if _SKIP in alone[0]["stride"].values:
        _, whole, skipped = _skipped(runs[0])
        title = f"From memory one thread reads every item at {whole:.0f} GB/s, every sixteenth at {skipped:.1f} GB/s"
    return figures.show(
        figure,
        name="p5plus_bandwidth",
        runs=runs,
        data=frames,
        title=title,
        caption="Large steps down: the array has outgrown a cache. "
        f"Memory comes in lines of {_LINE // _ITEM} items."
        f"{' Pale: other machines, every item.' if others else of_memory}",
        note=models.said(by_lines, expected),
        tables="plots",
    )


def lines_come_whole(run) -> str:
    """What one thread reads in order, from the nearest cache and from memory, and what it gets of every 16th item."""
    cache, whole, skipped = _skipped(run)
    assert cache > 4 * whole and 12 < whole / skipped < 24
    return (
        f"Today one thread reads an array in order at {whole:.0f} GB/s from memory, and {about(cache / whole)} as "
        f"fast from the nearest cache. If it reads only every sixteenth item, it gets {skipped:.1f} GB/s from "
        "memory, mostly because memory comes in lines of 64 bytes: of the sixteen items in a line one is used."
    )


def divided(run) -> str:
    """What each thread reads from memory while all read, and from the nearest cache."""
    frame = read(run).query("stride == 1 and pages == 'huge'")
    most = frame["threads"].max()
    alone, together = (frame[frame["threads"] == count].set_index("nbytes") for count in (1, most))
    gain = most * together["rate"] / alone["rate"]
    near = gain[alone["rate"] > 0.75 * alone["rate"].max()]  # sizes that the nearest cache holds
    assert gain.iloc[-1] < 0.75 * most and near.max() < 0.9 * most
    ends = [near.index[0], gain.index[-1]]
    assert (together["rate_high"][ends] < alone["rate_low"][ends]).all()
    return (
        f"Together {plural(most, 'thread')} read memory only {gain.iloc[-1]:.1f} times as fast as one thread. Shared "
        "bandwidth need not be the cause. Even if each thread reads from the nearest cache, which it shares with "
        f"nobody, two read only {span(near, 1)} times as fast as one, depending on the size of the array."
    )
