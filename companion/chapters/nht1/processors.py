"""The section *Does the overhead grow with the processors?*: the same runs with one thread and with more (N4)."""

from companion import figures
from companion.chapters.nht1.writing import WAY, below_printed, whole_runs, written
from companion.common import plural


@whole_runs.figure
def by_processors(runs) -> "figures.Shown":
    """Overhead by grid and number of processors (N4), with the range that the abstract gives for the Y-MP."""
    frames = [written(run).query("way == @WAY").sort_values(["N", "threads"]) for run in runs]
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
        caption=f"Overhead of writing ({WAY}), on an axis that is linear below 10 %. Hollow: the range that the "
        "abstract of 1993 prints for the Y-MP.",
    )


def said(run) -> str:
    """Computing, waiting and the overhead on the largest grid with one thread and with the most."""
    frame = written(run).query("way == @WAY and N == N.max()").sort_values("threads")
    one, most = frame.iloc[[0]], frame.iloc[[-1]]
    computing, waiting = (
        figures.quotient(figures.spread_of(one, name), figures.spread_of(most, name)).iloc[0]
        for name in ("T_C", "waiting")
    )
    assert computing["low"] > 1 and waiting["low"] < 1 < waiting["high"]
    assert frame["zeta_low"].max() < frame["zeta_high"].min()
    return (
        f"On the largest grid the solver computes {computing['middle']:.2f} times as fast with a second processor. "
        "Neither its waiting for dumps nor the overhead shows a measurable difference."
    )
