"""The section *Does the overhead grow with the processors?*: the same runs with one thread and with more (N4)."""

from supercomputers_rerun.companion import figures
from supercomputers_rerun.companion.chapters.nht1.methods import PLANES
from supercomputers_rerun.companion.chapters.nht1.writing import below_printed, whole_runs, written
from supercomputers_rerun.companion.common import plural
from supercomputers_rerun.companion.conclusions import PARTLY, Finding, conclusion


@whole_runs.figure
def by_processors(runs) -> "figures.Shown":
    """Overhead by grid and number of processors (N4), with the range that the abstract gives for the Y-MP."""
    frames = [written(run).query("way == @PLANES").sort_values(["N", "threads"]) for run in runs]
    for frame in frames:
        frame["what"] = [f"N = {row.N}, {plural(row.threads, 'thread')}" for row in frame.itertuples()]
    return below_printed(
        runs,
        frames,
        dict.fromkeys(name for frame in frames for name in frame["what"]),
        ["Y-MP"],
        data=frames,
        name="nht1_by_processors",
        title="Overhead and the number of processors",
        caption=f"Overhead of writing ({PLANES}) into the page cache; the axis is linear below 10 %. Hollow: the "
        "range that the abstract of 1993 prints for the Y-MP.",
    )


def said(run) -> str:
    """The overhead with one thread and with the most, on the grids that have both."""
    frame = written(run).query("way == @PLANES").sort_values(["N", "threads"])
    small, large = (part.iloc[[0, -1]] for _, part in frame.groupby("N") if len(part) > 1)
    one, two = small.itertuples()
    assert one.zeta_high < two.zeta_low and large["zeta_low"].max() <= large["zeta_high"].min()
    before, after = large.itertuples()
    assert before.zeta_low <= 0 <= before.zeta_high and min(after.zeta_low, one.zeta_low) > 0
    return (
        f"On machine {figures.cpu(run)}, N = {before.N}, planes add nothing measurable with one thread, "
        f"{after.zeta:.0f} % with two; the intervals overlap. With N = {one.N} they do not: {one.zeta:.0f} and "
        f"{two.zeta:.0f} %, by medians."
    )


@conclusion(
    "nht1-c1",
    place="abstract",
    says="On the Y-MP writing adds 2 to 40 %, the more the more processors compute.",
)
def by_count() -> Finding:
    """Overhead of planes with one thread and with most, on the grids that have both."""
    run = whole_runs.runs()[0]
    frame = written(run).query("way == @PLANES").sort_values(["N", "threads"])
    small, large = ([*part.itertuples()] for _, part in frame.groupby("N") if len(part) > 1)
    (one, two), (before, after) = small, large
    return Finding(
        PARTLY,
        f"With N = {one.N}, a second thread raises the overhead of planes from {one.zeta:.0f} to {two.zeta:.0f} %. "
        f"With N = {before.N} it is {before.zeta:.0f} and {after.zeta:.0f} %, and the intervals overlap. More than two "
        "processors were not tried.",
        bears=one.zeta_high < two.zeta_low and before.zeta_high > after.zeta_low,
    )
