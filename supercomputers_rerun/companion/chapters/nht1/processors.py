"""The section *Does the overhead grow with the processors?*: the same runs with one thread and with more (N4)."""

from supercomputers_rerun.companion import figures
from supercomputers_rerun.companion.chapters.nht1.methods import PLANES
from supercomputers_rerun.companion.chapters.nht1.writing import below_printed, percent_axis, whole_runs, written
from supercomputers_rerun.companion.common import plural, span
from supercomputers_rerun.companion.conclusions import HOLDS, NOT, PARTLY, Finding, conclusion


def _planes(run):
    """Of :func:`written`, planes by grid and threads, as rows ``what`` of a figure."""
    every = written(run)
    planes = every[every["way"] == PLANES].sort_values(["N", "threads"])
    return planes.assign(what=[f"{row.N}³ points, {plural(row.threads, 'thread')}" for row in planes.itertuples()])


@whole_runs.figure
def by_processors(runs) -> "figures.Shown":
    """Overhead by grid and number of processors (N4), with the range that the abstract gives for the Y-MP."""
    frames, ends = [_planes(run) for run in runs], _ends(runs[0])
    title, titled, grown = "What writing plane by plane adds to a run", {}, _grown(ends)
    if grown:
        one, most = grown[0]
        where = "On the smallest grid" if one.N == ends[0][0].N else f"On {one.N}³ points"
        title = f"{where} writing adds {one.zeta:.0f} % to a run with one thread, {most.zeta:.0f} % with {most.threads}"
        titled = {row.what: "" for row in (one, most)}
    elif ends:
        one, most = max(ends, key=lambda pair: pair[1].zeta)
        rest = [row.zeta for pair in ends for row in pair if row.N != one.N]
        title = (
            f"Writing adds {span(rest, 0)} % on the other grids; on {one.N}³ points times scatter too much to compare "
            "threads"
        )
    only = " (the largest grid with most threads only)" if ends and len(ends) < frames[0]["N"].nunique() else ""
    shown = below_printed(
        runs,
        frames,
        dict.fromkeys(name for frame in frames for name in frame["what"]),
        ["Y-MP"],
        titled,
        legend_at="above 2",
        data=frames,
        name="nht1_by_processors",
        title=title,
        caption=f"What writing plane by plane adds, by grid and threads{only}, and the abstract's range for the Y-MP. "
        "Beyond //: logarithmic.",
    )
    percent_axis(shown.figure.axes[0])
    return shown


def _ends(run) -> list[tuple]:
    """By grid, from the smallest: planes with the fewest and with the most threads, of those with both."""
    return [tuple(part.iloc[[0, -1]].itertuples()) for _, part in _planes(run).groupby("N") if len(part) > 1]


def _grown(ends) -> list[tuple]:
    """Of :func:`_ends`, those whose overhead is measurably larger with the most threads."""
    return [(one, most) for one, most in ends if one.zeta_high < most.zeta_low]


def said(run) -> str:
    """The overhead with one thread and with the most, on the grids that have both."""
    ends = _ends(run)
    assert not _grown(ends) and all(one.zeta < most.zeta for one, most in ends), "medians grow, none measurably"
    one, most = ends[0]
    assert most.zeta_high - most.zeta_low == max(each.zeta_high - each.zeta_low for both in ends for each in both)
    assert one.zeta_high < 1.1 * most.zeta_low, "only just"
    return (
        f"Not measurably. On each of {len(ends)} grids the median overhead of writing plane by plane is higher with "
        f"{plural(most.threads, 'thread')} than with one, but the intervals overlap, on {one.N}³ points only just. "
        f"There the median goes from {one.zeta:.0f} to {most.zeta:.0f} %, but runs scatter most."
    )


@conclusion(
    "nht1-c1",
    place="abstract",
    says="On the Y-MP writing adds 2 to 40 %, depending on the number of processors.",
)
def by_count() -> Finding:
    """Overhead of planes with one thread and with most, on the grids that have both."""
    ends = _ends(whole_runs.runs()[0])
    more = [one.zeta_high < most.zeta_low for one, most in ends]
    less = [one.zeta_low > most.zeta_high for one, most in ends]
    medians_grow = all(one.zeta < most.zeta for one, most in ends)
    found = [
        f"from {one.zeta:.0f} to {most.zeta:.0f} % with N = {one.N}"
        + ("" if apart else ", where the intervals overlap")
        for (one, most), apart in zip(ends, more, strict=True)
    ]
    most = max(most.threads for _, most in ends)
    return Finding(
        HOLDS if all(more) else PARTLY if any(more) or medians_grow else NOT,
        f"Between one thread and {most} the overhead of planes goes {'; '.join(found)}."
        + (" More than two processors were not tried." if most <= 2 else ""),
        bears=not any(less),
    )
