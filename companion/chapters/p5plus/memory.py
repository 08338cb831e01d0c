"""The section *How fast does a processor read memory?*: reads with a stride."""

from companion import figures
from companion.bench import Case
from companion.chapters import counts_to, of
from companion.experiments import experiment
from companion.labels import plural, size
from companion.late import pd

#: Pages of the sweep: the large ones are in the place of the document's 64 KB, the small ones of its 4 KB.
PAGES = ("small", "huge")
#: Strides swept with every page size and thread count; the others with one thread and large pages.
_SHOWN = (1, 16, 1024)


@experiment(
    "p5plus-bandwidth",
    item="P2",
    title="Memory bandwidth per thread against size and stride",
    rounds=7,
    seconds={"quick": 3},
)
def bandwidth(preset: str, threads: int) -> list[Case]:
    """Every thread reads every n-th item of an array of its own."""
    from kernels.memory import stride

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


def _per_thread(cases):
    """Seconds of ``cases`` to the GB/s that each thread asks for."""
    return lambda seconds: cases["bytes_read"] / cases["threads"] / seconds / 1e9


def _read(run) -> "pd.DataFrame":
    """Cases of a run; ``rate``, median GB/s that each thread asks for.  Older runs also read item by item."""
    frame = figures.cases(run, "nbytes", "stride", "pages", "loads").sort_values("nbytes", kind="stable")
    frame = frame[frame["loads"] == "vector"]
    return frame.assign(rate=_per_thread(frame)(frame["median"]))


def found(run) -> str:
    """What one thread reads from the smallest and the largest working set, with and without a stride."""
    frame = _read(run)
    frame = frame[(frame["threads"] == 1) & (frame["pages"] == "huge")].set_index(["stride", "nbytes"])["rate"]
    least, most = frame.index.levels[1].min(), frame.index.levels[1].max()
    return (
        f"One thread of {figures.cpu(run)} reads {frame[1, least]:.0f} GB/s from {figures.bytes_label(least)} and "
        f"{frame[1, most]:.0f} GB/s from {figures.bytes_label(most)}. Of what it asks for with stride 16, memory "
        f"delivers {frame[16, most]:.1f} GB/s."
    )


@bandwidth.figure
def read_rates(runs) -> "figures.Shown":
    """Read bandwidth of one thread against working set, by stride, and by threads and pages at stride 1."""
    figure, (by_stride, by_threads) = figures.axes(2, 1, height=7.2, sharex=True)
    frames = [_read(run) for run in runs]
    whole = frames[0][(frames[0]["threads"] == 1) & (frames[0]["pages"] == "huge")]
    strides = sorted(whole["stride"].unique())
    strides = strides[:: max(1, len(strides) // 5)]
    for run, frame in zip(runs, frames, strict=True):
        alone = frame[(frame["threads"] == 1) & (frame["pages"] == "huge")]
        for number, step in enumerate(strides):
            line = alone[alone["stride"] == step]
            if run is runs[0] or step in _SHOWN:
                label = f"stride {step}"
                figures.spread(by_stride, line["nbytes"], line, _per_thread(line), label=label, index=number, run=run)
        unit = frame[(frame["stride"] == 1) & ((frame["threads"] == 1) | (run is runs[0]))]
        for (pages, count), line in unit.groupby(["pages", "threads"], sort=False):
            number, label = 2 * (count > 1) + PAGES.index(pages), f"{plural(count, 'thread')}, {pages} pages"
            figures.spread(by_threads, line["nbytes"], line, _per_thread(line), label=label, index=number, run=run)
    for axis, title in ((by_stride, "1 thread, huge pages"), (by_threads, "stride 1, per thread")):
        figures.log_axis(axis, "y")
        axis.set(title=title, ylabel="bytes asked for [GB/s]")
    figures.legend(by_stride, "under 2 0.5 -0.06")
    figures.legend(by_threads, "under 2 0.5 -0.22")
    figures.bytes_axis(by_threads, frames[0]["nbytes"])
    by_threads.set(xlabel="working set of one thread")
    ends = whole.loc[whole["stride"] == 1, "rate"].iloc[[0, -1]]
    return figures.show(
        figure,
        name="p5plus_bandwidth",
        runs=runs,
        data=frames,
        title="Bandwidth of reading",
        caption="Bytes a second that one thread asks for, against the size of what it reads. Above, one line for each "
        "stride: the larger it is, the more of each cache line is moved unused. Below, stride 1 by number of threads "
        f"and kind of pages. Of other machines, strides 1, 16 and 1024 of one thread. The report's curves are lost. "
        f"{figures.MARKED}",
        alt=f"Two panels of read bandwidth per thread on {figures.cpu(runs[0])} against the working set, on "
        "logarithmic axes. Upper: one line a stride, in items of 4 bytes; larger strides ask for fewer bytes a second, "
        f"stride 1 from {ends.iloc[0]:.3g} to {ends.iloc[1]:.3g} GB/s. Lower: stride 1, one line for each number of "
        f"threads and pages. {figures.MARKED}",
        tables="plots",
    )
