"""The section *Does the overhead grow with the processors?*: the same runs with one thread and with more (N4)."""

from companion import figures
from companion.chapters.nht1.methods import PLANES
from companion.chapters.nht1.writing import below_printed, whole_runs, written
from companion.common import plural


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
        caption=f"Overhead of writing ({PLANES}), on an axis that is linear below 10 %. Hollow: the range that the "
        "abstract of 1993 prints for the Y-MP.",
    )


def said(run) -> str:
    """Computing, waiting and the overhead with one thread and with the most, on the largest grid that has both."""
    frame = written(run).query("way == @PLANES").sort_values(["N", "threads"])
    one, most = (frame[frame.duplicated("N", keep)].iloc[[-1]] for keep in ("last", "first"))
    computing, waiting = (
        figures.quotient(figures.spread_of(one, name), figures.spread_of(most, name)).iloc[0]
        for name in ("T_C", "waiting")
    )
    before, after = (f"{row['zeta'].item():.0f} %" for row in (one, most))
    apart = one["zeta_high"].item() < most["zeta_low"].item() or most["zeta_high"].item() < one["zeta_low"].item()
    waits = "no measurable" if waiting["low"] < 1 < waiting["high"] else "a"
    return (
        f"With N = {one['N'].item()} the solver computes {computing['middle']:.2f} times as fast with a second "
        f"processor, and its waiting for dumps shows {waits} difference. The overhead is {before} with one and {after} "
        f"with two; {'they differ' if apart else 'the samples do not tell them apart'}."
    )
