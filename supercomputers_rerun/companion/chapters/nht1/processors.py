"""The section *Does the overhead grow with the processors?*: the same runs with one thread and with more (N4)."""

from supercomputers_rerun.companion import figures
from supercomputers_rerun.companion.chapters.nht1.methods import PLANES
from supercomputers_rerun.companion.chapters.nht1.writing import below_printed, whole_runs, written
from supercomputers_rerun.companion.common import plural
from supercomputers_rerun.companion.conclusions import HOLDS, NOT, PARTLY, Finding, conclusion


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


def _ends(run) -> list[tuple]:
    """By grid, from the smallest: planes with the fewest and with the most threads, of those with both."""
    frame = written(run).query("way == @PLANES").sort_values(["N", "threads"])
    return [tuple(part.iloc[[0, -1]].itertuples()) for _, part in frame.groupby("N") if len(part) > 1]


def said(run) -> str:
    """The overhead with one thread and with the most, on the grids that have both."""
    found = [
        f"With N = {one.N} planes add {one.zeta:.0f} % ({one.zeta_low:.0f} to {one.zeta_high:.0f}) with "
        f"{plural(one.threads, 'thread')}, {most.zeta:.0f} % ({most.zeta_low:.0f} to {most.zeta_high:.0f}) with "
        f"{most.threads}" + ("." if one.zeta_high < most.zeta_low else "; the intervals overlap.")
        for one, most in _ends(run)
    ]
    return f"On machine {figures.cpu(run)}, by medians: {' '.join(found)}"


@conclusion(
    "nht1-c1",
    place="abstract",
    says="On the Y-MP writing adds 2 to 40 %, the more the more processors compute.",
)
def by_count() -> Finding:
    """Overhead of planes with one thread and with most, on the grids that have both."""
    ends = _ends(whole_runs.runs()[0])
    more = [one.zeta_high < most.zeta_low for one, most in ends]
    less = [one.zeta_low > most.zeta_high for one, most in ends]
    found = [
        f"from {one.zeta:.0f} to {most.zeta:.0f} % with N = {one.N}"
        + ("" if grows else ", where the intervals overlap")
        for (one, most), grows in zip(ends, more, strict=True)
    ]
    most = max(most.threads for _, most in ends)
    return Finding(
        HOLDS if all(more) else PARTLY if any(more) else NOT,
        f"Between one thread and {most} the overhead of planes goes {'; '.join(found)}."
        + " More than two processors were not tried." * (most <= 2),
        bears=not any(less),
    )
