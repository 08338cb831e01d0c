"""The section *How long does one load take?*: a random chase and the report's walk of 1024 items."""

from itertools import product

import numpy as np

from companion import figures, host
from companion.bench import Case
from companion.chapters.p5plus.memory import PAGES
from companion.common import pd, size
from companion.experiments import Output, experiment, of

#: Bytes between the loads of the document's walk: 1024 items of 4 bytes.
_WALK = 4096
#: The two walks, in the words of legends.
_WALKS = {"random": "random chase", "stride": "stride 1024 items (4 KB)"}


@experiment("p5plus-latency", item="P3", rounds=11, seconds={"paper": None, "modern": None})
def loads(preset: str, threads: int) -> list[Case]:
    """Memory latency: random chase and stride 1024.

    Each sample observes which share of the memory the system put on huge pages.
    """
    from kernels.memory import latency

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
def _plateaus(measurements) -> dict[str, Output]:
    """Plateaus of the random chase on huge pages, without page walks, beside the caches that the system reports."""
    from kernels.memory.plateaus import plateaus

    chase = [m for m in measurements if (m.parameters["pattern"], m.parameters["pages"]) == ("random", "huge")]
    nbytes = [m.parameters["nbytes"] for m in chase]
    levels = plateaus(nbytes, [1e9 * m.median / m.parameters["loads"] for m in chase])
    reported = [cache["bytes"] for cache in host.describe()["caches"] if cache["type"] != "instruction"]
    words = {
        "ns": ("ns", "latency of the plateau"),
        "first": ("byte", "smallest working set on the plateau"),
        "last": ("byte", "largest working set on the plateau"),
        "capacity": ("byte", "capacity estimated from the curve"),
    }
    return {
        f"plateau_{name}": Output([getattr(level, name) for level in levels], units, "plateau", meaning)
        for name, (units, meaning) in words.items()
    } | {"reported_capacity": Output(reported, "byte", "cache", "data caches the system reports")}


def _lines(run) -> "pd.DataFrame":
    """Cases of a run; ``ns``, nanoseconds until a load has its value, with its spread."""
    frame = figures.cases(run, "nbytes", "pattern", "pages", "loads").sort_values("nbytes", kind="stable")
    return figures.quantities(frame, ns=lambda seconds: 1e9 * seconds / frame["loads"])


@loads.figure
def load_times(runs) -> "figures.Shown":
    """Time of one dependent load against working set: random chase and walk of 1024 items, on both kinds of pages."""
    figure, axis = figures.axes(height=4.6)
    frames, first = [_lines(run) for run in runs], runs[0]
    by = ["pattern", "pages"]
    figures.lines(axis, runs, frames, "nbytes", "ns", by, lambda pattern, pages: f"{_WALKS[pattern]}, {pages} pages")
    ends = (first[f"plateau_{name}"].values for name in ("first", "last", "ns"))
    style = {"color": figures.INK, "linewidth": 4, "alpha": 0.35, "solid_capstyle": "butt"}
    for number, (least, most, ns) in enumerate(zip(*ends, strict=True)):
        axis.plot([least, most], [ns, ns], label=None if number else "plateau", **style)
    for number, nbytes in enumerate(np.unique(first["reported_capacity"].values)):
        label = None if number else "caches the system reports"
        axis.axvline(nbytes, color=figures.INK, linewidth=0.9, linestyle=":", label=label)
    figures.log_axis(axis, "y")
    figures.bytes_axis(axis, frames[0]["nbytes"])
    axis.set(xlabel="working set", ylabel="time of one load [ns]")
    figures.legend(axis, "under 1 0.5 -0.22")
    return figures.show(
        figure,
        name="p5plus_latency",
        runs=runs,
        data=frames,
        title="Latency of a load",
        caption="Time until a load has its value, against the size of what is walked through, on pages of 4 KB (small) "
        "and of 2 MB (huge). Grey: plateaus of the random chase on huge pages, one for each cache that it does not "
        "share, and one for memory. Dotted: the caches that the system reports. The walk touches one cache line of 64. "
        f"The report's curves are lost. {figures.MARKED}",
        tables="plots",
    )


def found(run) -> str:
    """Time of a load of the report's walk, and of a random chase through as many cache lines, on huge pages."""
    frame = _lines(run).query("pages == 'huge'")
    most = frame["nbytes"].max()
    lines = most // _WALK * 64  # bytes of the lines that the walk touches
    ns = {}
    for pattern, reach in (("stride", most), ("random", lines)):
        (row,) = frame[(frame["pattern"] == pattern) & (frame["nbytes"] == reach)].itertuples()
        ns[pattern] = f"{row.ns:.3g} ns ({row.ns_low:.3g} to {row.ns_high:.3g})"
    return (
        f"On {figures.cpu(run)} a load takes {ns['stride']} when the program walks through {figures.bytes_label(most)} "
        f"in steps of 4 KB, as in the report, and {ns['random']} in random order through as many cache lines "
        f"({figures.bytes_label(lines)})."
    )
