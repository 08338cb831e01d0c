"""The section *Does the overhead grow with the processors?*: the same runs with one thread and with more (N4)."""

from supercomputers_rerun.companion import figures
from supercomputers_rerun.companion.chapters.nht1.methods import PLANES
from supercomputers_rerun.companion.chapters.nht1.writing import below_printed, whole_runs, written
from supercomputers_rerun.companion.common import plural
from supercomputers_rerun.companion.conclusions import HOLDS, NOT, PARTLY, Finding, conclusion


def _planes(run):
    """Of :func:`written`, planes by grid and threads."""
    every = written(run)
    return every[every["way"] == PLANES].sort_values(["N", "threads"])


@whole_runs.figure
def by_processors(runs) -> "figures.Shown":
    """Overhead by grid and number of processors (N4), with the range that the abstract gives for the Y-MP."""
    frames = [_planes(run) for run in runs]
    for frame in frames:
        frame["what"] = [f"{row.N}³ points, {plural(row.threads, 'thread')}" for row in frame.itertuples()]
    title = "What writing plane by plane adds to a run"
    titled: dict[str, str] = {}
    ends = _ends(runs[0])
    if grown := _grown(ends):
        one, most = grown[0]
        where = "On the smallest grid" if one.N == ends[0][0].N else f"On {one.N}³ points"
        title = f"{where} writing adds {one.zeta:.0f} % to a run with one thread, {most.zeta:.0f} % with {most.threads}"
        titled = {f"{row.N}³ points, {plural(row.threads, 'thread')}": "" for row in (one, most)}
    only = " (the largest grid with most threads only)" if ends and len(ends) < frames[0]["N"].nunique() else ""
    return below_printed(
        runs,
        frames,
        dict.fromkeys(name for frame in frames for name in frame["what"]),
        ["Y-MP"],
        titled,
        legend_at="above 2",
        data=frames,
        name="nht1_by_processors",
        title=title,
        caption=f"What writing plane by plane adds, by grid and threads{only}, and the abstract's range for the Y-MP.",
    )


def _ends(run) -> list[tuple]:
    """By grid, from the smallest: planes with the fewest and with the most threads, of those with both."""
    return [tuple(part.iloc[[0, -1]].itertuples()) for _, part in _planes(run).groupby("N") if len(part) > 1]


def _grown(ends) -> list[tuple]:
    """Of :func:`_ends`, those whose overhead is measurably larger with the most threads."""
    return [(one, most) for one, most in ends if one.zeta_high < most.zeta_low]


def said(run) -> str:
    """The overhead with one thread and with the most, on the grids that have both."""
    ends = _ends(run)
    assert not any(one.zeta_low > most.zeta_high for one, most in ends)
    grown = _grown(ends)
    alike = " and ".join(f"{one.N}³" for one, most in ends if one.zeta_high >= most.zeta_low)
    if not grown:
        return (
            f"Not measurably: on {alike} points writing plane by plane adds as much to a run with one thread as with "
            f"{ends[0][1].threads}, as far as the scatter of the runs can tell."
        )
    one, most = grown[0]
    shorter = one.T_C / most.T_C
    assert shorter > 1.2
    told = "Both overheads scatter too much to show another cause"
    if shorter * one.zeta_high < most.zeta_low:
        told = "Why it is more was not measured"
    elif shorter * one.zeta_low > most.zeta_high:
        told = "Why it is less was not measured"
    smallest = ", the smallest grid" if one.N == ends[0][0].N else ""
    rest = f" On {alike} points there is no measurable difference." if alike else ""
    if len(grown) > 1:
        rest = f" The overhead also grows on {' and '.join(f'{each.N}³' for each, _ in grown[1:])} points.{rest}"
    return (
        f"On {one.N}³ points{smallest}, yes: writing plane by plane adds {one.zeta:.0f} % to a run with one thread, "
        f"and {most.zeta:.0f} % with {most.threads}. Faster computing alone would raise {one.zeta:.0f} % to "
        f"{shorter * one.zeta:.0f} %. {told}.{rest}"
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
    found = [
        f"from {one.zeta:.0f} to {most.zeta:.0f} % with N = {one.N}"
        + ("" if grows else ", where the intervals overlap")
        for (one, most), grows in zip(ends, more, strict=True)
    ]
    most = max(most.threads for _, most in ends)
    return Finding(
        HOLDS if all(more) else PARTLY if any(more) else NOT,
        f"Between one thread and {most} the overhead of planes goes {'; '.join(found)}."
        + (" More than two processors were not tried." if most <= 2 else ""),
        bears=not any(less),
    )
