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
        caption=f"Overhead of writing ({PLANES}) into the page cache, linear below 10 %. Hollow: the range that the "
        "abstract of 1993 prints for the Y-MP.",
    )


def said(run) -> str:
    """Computing, waiting and the overhead with one thread and with the most, on the largest grid that has both."""
    frame = written(run).query("way == @PLANES").sort_values(["N", "threads"])
    both = frame[frame["N"] == frame["N"][frame.duplicated("N")].max()]
    one, most = both.iloc[0], both.iloc[-1]
    before, after = ("{zeta:.0f} % ({zeta_low:.0f} to {zeta_high:.0f})".format_map(row) for row in (one, most))
    words = {True: "overlap", False: "do not overlap"}
    waits, adds = (words[both[f"{name}_low"].max() <= both[f"{name}_high"].min()] for name in ("waiting", "zeta"))
    return (
        f"With N = {one['N']} the solver computes {one['T_C'] / most['T_C']:.2f} times as fast with a second thread. "
        f"The overhead is {before} with one and {after} with two; the intervals {adds}. Those of the time that the "
        f"solver waits for its dumps {waits}."
    )
