"""What several sections share: cases of the test, the memo's times, medians over problems, and rows of marks."""

from supercomputers_rerun.companion import figures, tables
from supercomputers_rerun.companion.bench import FEWEST_SAMPLES, Case
from supercomputers_rerun.companion.common import np, pd, rounded, significant

#: Sizes of a preset.
SIZES = {"quick": ("small",), "paper": ("small", "medium", "large"), "modern": ("modern",)}
SYSTEMS = ("NRAO1", "CLSC", "PSC")
NAMES = ("Convex C1", "X-MP, Toronto", "X-MP, Pittsburgh")
KINDS = {"cpu": "CPU", "real": "real"}


def times(result) -> dict[str, float]:
    """CPU and real time of one repeat, as a record keeps them."""
    return {"cpu": result.cpu_s, "real": result.real_s}


def problem(label: str, threads: int, given: dict, **fields) -> Case:
    """A case of the Dirty Dozen Test; ``fields`` are those of its problem, ``given`` further coordinates."""
    from supercomputers_rerun.kernels.imaging import ddt

    made = ddt.Problem(**fields)
    return Case(label, ddt, made, threads, {"task": made.task, "size": made.size} | given, times)


def ddt():
    """The memo's CPU and real times along size, problem and system, in the order of its tables."""
    return tables.load("aips58", "ddt")


def spoken(seconds: float) -> str:
    """A time as people say it: ``52 min``, ``92 s``, ``0.28 s``, ``13 ms``."""
    if seconds >= 600:
        return f"{seconds / 60:.0f} min"
    return f"{significant(float(seconds), 2)} s" if seconds >= 0.1 else f"{significant(1e3 * float(seconds), 2)} ms"


def printed_size(run) -> str:
    """The size of a run's problems, or the memo's largest where the memo has no such size."""
    size = str(run["size"].values[-1])
    return size if size in ddt()["size"].values else "large"


def comparable(runs) -> list:
    """The runs that have a size of the memo. ``ValueError`` where the first has none: it is drawn in full."""
    found = [run for run in runs if np.isin(run["size"].values, ddt()["size"].values).any()]
    if not found or found[0] is not runs[0]:
        raise ValueError("the memo has no problems of this size")
    return found


def middles(values) -> tuple[float, float, float]:
    """The median over problems of each one's median, and the ends of its 95 % interval.

    The interval is that of the rounds drawn again, 2000 times; with fewer than six rounds its ends are NaN.

    Parameters
    ----------
    values : array_like, (problems, rounds)
        Rounds that a problem lacks are left out.
    """
    values = np.asarray(values, dtype=float)
    values = values[:, ~np.isnan(values).any(axis=0)]

    def middle(drawn):
        return np.median(np.median(drawn, axis=-1), axis=0)

    rounds = values.shape[1]
    if rounds < FEWEST_SAMPLES:
        return float(middle(values)), np.nan, np.nan
    again = values[:, np.random.default_rng(0).integers(0, rounds, (2000, rounds))]
    low, high = np.percentile(middle(again), [2.5, 97.5])
    return float(middle(values)), float(low), float(high)


@figures.styled
def strips(old: dict, runs, found: list[dict], apart: str = "", **shown) -> "figures.Shown":
    """Rows with a mark for each problem: the printed ``old``, name -> values, then those of runs, name -> spread.

    A stroke is the median of a row, with its number at the right edge; the first two are those of the title.  Of runs
    but the first the median alone is drawn.  The axis is logarithmic but for shares of the time, in per cent.

    Parameters
    ----------
    apart : str
        Why runs are not to be held against the rows above: it stands in the rows of runs, whose marks are grey and
        whose medians have no numbers.
    """
    figure, axis = figures.axes(height=2.8)
    place, shifts = figures.rows(axis, [*old, *found[0]], 0.6), [-0.18, -0.06, 0.06, 0.18]
    colour = "serial" if apart else ""
    for row, values in enumerate(old.values()):
        figures.points(axis, values, row + np.resize(shifts, len(values)), label="_", line=False)
    for run, each in zip(runs, found, strict=True):
        for row, spread in enumerate(each.values(), start=len(old)):
            about = {"label": "_", "colour": colour, "run": run}
            if run.attrs.get("mark"):
                middle = [spread["middle"].median()]
                figures.points(axis, middle, [row + 0.34], host=True, line=False, **about)
            else:
                figures.bars(axis, row + np.resize(shifts, len(spread)), spread, across=True, **about)
    medians = [np.median(each) for each in old.values()] + [each["middle"].median() for each in found[0].values()]
    axis.plot(medians, place, "|", color=figures.INK, markersize=16, markeredgewidth=1.6, label="medians")
    axis.axhline(len(old) - 0.5, color=figures.INK, linewidth=0.8)  # then and today
    if "shares" in shown["name"]:
        figures.at_right(axis, [f"{middle:.0f} %" for middle in medians])
        axis.set(xlim=(0, 104.5), xlabel="CPU time over real time [%]")  # marks at 100 clear of the numbers
    else:
        figures.at_right(axis, [rounded(float(middle)) for middle in medians[: len(old) if apart else None]])
        axis.axvline(1, color=figures.INK, linewidth=0.8)
        figures.log_axis(axis, "x")
        axis.set_xlabel("times as fast as the Convex C1")
    for number in axis.texts[:2]:
        number.set_weight("bold")
    words = {"transform": axis.get_yaxis_transform(), "va": "center", "style": "italic", "size": 9}
    axis.text(0.02, len(old) + (len(found[0]) - 1) / 2, apart, color=figures.INK, **words)
    return figures.show(figure, runs=runs, **shown)


def both_times(runs, frames, old, **shown) -> "figures.Shown":
    """A figure of CPU and real time: rows of the memo's systems, whose times are ``old``, and those of the frames."""
    return figures.dots(
        runs,
        frames,
        {kind: f"{words} time" for kind, words in KINDS.items()},
        printed={f"{words} time, printed": pd.Series(old[kind].values, NAMES) for kind, words in KINDS.items()},
        names=[*NAMES, *frames[0]["what"]],
        colours=("computing", "waiting"),
        xlabel="time [s]",
        log=True,
        legend_at="above 2 0.35",
        **shown,
    )
