"""The section *How fast does a processor read memory?*: reads with a stride."""

from supercomputers_rerun.companion import bench, figures, models
from supercomputers_rerun.companion.bench import Case
from supercomputers_rerun.companion.common import np, pd, plural, size
from supercomputers_rerun.companion.experiments import counts_to, experiment, of

#: Pages of the sweep: the large ones are in the place of the document's 64 KB, the small ones of its 4 KB.
PAGES = ("small", "huge")
#: Strides swept with every page size and thread count; the others with one thread and large pages.
_SHOWN = (1, 16, 1024)


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
                parameters = of(problem, "nbytes", "stride", "pages") | {"loads": "vector"}
                cases.append(Case(label, stride, problem, count, parameters))
    return cases


def read(run) -> "pd.DataFrame":
    """Cases of a run; ``rate``, GB/s that each thread asks for, with its spread.  Older runs also read item by item."""
    frame = figures.cases(run, "nbytes", "stride", "pages", "loads").sort_values("nbytes", kind="stable")
    frame = frame[frame["loads"] == "vector"]
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
    "that a core can wait for a limited number of lines at once, and that prefetching ends at the end of a page",
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


@bandwidth.figure
@figures.styled
def read_rates(runs, stride: int = 0, nbytes: int = 0) -> "figures.Shown":
    """Read bandwidth of one thread against working set, by stride, and by threads and pages at stride 1.

    With a ``stride`` the rate here of this stride and ``nbytes`` is measured, and stands in the upper panel.
    """
    figure, (by_stride, by_threads) = figures.axes(2, 1, height=7.2, sharex=True)
    frames = [read(run) for run in runs]
    first, *others = [frame.query("threads == 1 and pages == 'huge'") for frame in frames]
    strides = sorted(first["stride"].unique())
    parts = [first[first["stride"].isin(strides[:: max(1, len(strides) // 5)])]]
    parts += [other[other["stride"].isin(_SHOWN)] for other in others]
    figures.lines(by_stride, runs, parts, "nbytes", "rate", "stride", lambda step: f"stride {step}")
    first, *others = [frame[frame["stride"] == 1] for frame in frames]
    parts = [first, *(other[other["threads"] == 1] for other in others)]
    by = ["pages", "threads"]
    figures.lines(
        by_threads, runs, parts, "nbytes", "rate", by, lambda pages, count: f"{plural(count, 'thread')}, {pages} pages"
    )
    if stride:
        rate, label = _asked(stride, nbytes), f"your stride {stride}, {size(nbytes)}"
        by_stride.plot(nbytes, rate, "*", color=figures.INK, markersize=12, linestyle="none", label=label)
    expected = by_lines.frame(runs[0])
    if expected is not None:
        ends = np.array([0.35, 1.0]) * float(expected["nbytes"].max())
        for number, level in enumerate(np.unique(expected["predicted"])):
            figures.modelled(by_stride, ends, [level, level], label="_model" if number else "model")
    for axis, title in ((by_stride, "1 thread, huge pages"), (by_threads, "stride 1, per thread")):
        figures.log_axis(axis, "y")
        axis.set(title=title, ylabel="bytes asked for [GB/s]")
    figures.legend(by_stride, "under 2 0.5 -0.06")
    figures.legend(by_threads, "under 2 0.5 -0.22")
    figures.bytes_axis(by_threads, frames[0]["nbytes"])
    by_threads.set(xlabel="working set of one thread")
    return figures.show(
        figure,
        name="p5plus_bandwidth",
        runs=runs,
        data=frames,
        title="Bandwidth of reading",
        caption="Bytes a second that one thread asks for, against the size of its array. Above, a line for a stride. "
        "Below, stride 1 by threads and pages. Of other machines only one thread is drawn, above with strides 1, 16 "
        "and 1024. The report's curves are lost.",
        note=models.said(by_lines, expected),
        tables="plots",
    )
