"""What several sections share: cases of the test, the memo's times, and marks of figures.

In figures a shape is a system of the memo; hollow is printed, filled is measured.  Where both times share a row, a
marker is CPU time and an upright stroke real time.
"""

import numpy as np

from companion import figures, tables
from companion.bench import Case
from companion.bench.statistics import MIN_TREND
from companion.labels import significant
from companion.late import pd
from companion.records.runs import single

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
    from kernels.imaging import ddt

    made = ddt.Problem(**fields)
    return Case(label, ddt, made, threads, {"task": made.task, "size": made.size} | given, times)


def ddt():
    """The memo's CPU and real times along size, problem and system, in the order of its tables."""
    return tables.load("aips58", "ddt")


def frame(run, *names: str) -> "pd.DataFrame":
    """Coordinates of the cases of a run, a case a row."""
    return pd.DataFrame({name: single(run)[name].values for name in names})


def printed_size(run) -> str:
    """The size of a run's problems, or the memo's largest where the memo has no such size."""
    size = str(single(run)["size"].values[-1])
    return size if size in ddt()["size"].values else "large"


def comparable(runs) -> list:
    """The runs that have a size of the memo. ``ValueError`` where the first has none: it is drawn in full."""
    found = [run for run in runs if np.isin(single(run)["size"].values, ddt()["size"].values).any()]
    if not found or found[0] is not runs[0]:
        raise ValueError("the memo has no problems of this size")
    return sized(found)


def sized(runs, name: str = "size", noun: str = "problems") -> list:
    """Runs of other sizes, or of other numbers of something, than the first say so in their label."""
    sizes = [list(dict.fromkeys(map(str, single(run)[name].values.tolist()))) for run in runs]
    return [
        run if own == sizes[0] else run.assign_attrs(label=f"{figures.cpu(run)}, {' and '.join(own)} {noun}")
        for run, own in zip(runs, sizes, strict=True)
    ]


def measured(run) -> str:
    """What the filled marks of a figure are, for the end of its caption."""
    counts = np.isfinite(run["observed_real"].values).sum(axis=1)
    bars = "95 % intervals" if counts.min() >= MIN_TREND else "ranges of samples"
    return (
        f"Filled marks are today's: {figures.cpu(run)}, {run.attrs['date'][:10]}, medians with {bars}, crosses where "
        "flagged."
    )


def samples(run, kind: str, chosen=slice(None)) -> "pd.DataFrame":
    """Medians and spread of the CPU or real times of the chosen cases."""
    return figures.of_samples(run[f"observed_{kind}"].values[chosen], run["flags"].values[chosen])


def ratios(run, kind: str, above, below) -> "pd.DataFrame":
    """Times of the cases ``above`` over those of ``below``, one by one: medians with their intervals."""
    found = figures.quotient(samples(run, kind, above), samples(run, kind, below))
    seconds = run[f"observed_{kind}"].values
    for row, pair in enumerate(zip(seconds[above], seconds[below], strict=True)):
        if interval := figures.times(*pair).interval:
            found.loc[row, ["low", "high"]] = interval
    return found


def total(run, chosen, kind: str) -> np.ndarray:
    """Real or CPU seconds of the chosen cases added up, one value for each round that all of them had."""
    each = single(run)[f"observed_{kind}"].values[chosen]
    return each[:, ~np.isnan(each).any(axis=0)].sum(axis=0)


def middles(above, below=None) -> tuple[float, float, float]:
    """The median over problems of each one's median, and the ends of its 95 % interval.

    The interval is that of the rounds drawn again, 2000 times; with fewer than six rounds its ends are NaN.

    Parameters
    ----------
    above, below : array_like, (problems, rounds)
        Of two, each problem's is the ratio of its medians.  Rounds that a problem lacks are left out.
    """
    sides = [np.asarray(each, dtype=float) for each in (above, below) if each is not None]
    sides = [each[:, ~np.isnan(each).any(axis=0)] for each in sides]

    def middle(drawn):
        medians = [np.median(each, axis=-1) for each in drawn]
        return np.median(medians[0] / medians[1] if len(medians) > 1 else medians[0], axis=0)

    if min(each.shape[1] for each in sides) < MIN_TREND:
        return float(middle(sides)), np.nan, np.nan
    rng = np.random.default_rng(0)
    again = [each[:, rng.integers(0, each.shape[1], (2000, each.shape[1]))] for each in sides]
    low, high = np.percentile(middle(again), [2.5, 97.5])
    return float(middle(sides)), float(low), float(high)


def typical(above, below=None) -> str:
    """:func:`middles` in words: ``0.83 (0.81 to 0.85)``."""
    middle, *ends = middles(above, below)
    text, low, high = (significant(end, 3) for end in (middle, *ends))
    return f"{text} ({low} to {high})" if np.isfinite(ends).all() else text


def jitter(values) -> np.ndarray:
    """Small shifts that part the marks of one row."""
    return np.resize([-0.18, -0.06, 0.06, 0.18], len(values))


def old_times(axis, row: int, system: str, cpu_s: float, real_s: float) -> None:
    """One system's CPU and real time in a row, a thin line between them."""
    axis.hlines(row, cpu_s, real_s, color=figures.meaning("printed"), linewidth=1)
    figures.points(axis, cpu_s, row, label="_", index=SYSTEMS.index(system), line=False)
    axis.plot(real_s, row, "|", color=figures.meaning("printed"), markersize=12, markeredgewidth=2.2)


def new_times(axis, row: int, found: dict, run) -> None:
    """A run's CPU and real time in a row; of the first run of a figure with their spread."""
    figures.bars(axis, [row], found["cpu"], label="_", line=False, across=True, run=run)
    real, colour = found["real"].iloc[0], figures.meaning("measured")
    small = bool(run.attrs.get("mark"))
    axis.plot(real["middle"], row, "|", color=colour, markersize=9 if small else 12, markeredgewidth=2.2)
    if small:
        return
    axis.hlines(row, found["cpu"]["middle"].iloc[0], real["middle"], color=colour, linewidth=1)
    axis.hlines(row, real["low"], real["high"], color=colour, linewidth=3)
    if real["flagged"]:
        axis.plot(real["middle"], row, "x", color=figures.INK, markersize=7)


def median(axis, row: int, values, text: str, edge=None) -> float:
    """The median of a row as a stroke, with its number right of all values or of ``edge``; the median."""
    middle, end = float(np.median(values)), float(np.max(values if edge is None else edge))
    axis.plot([middle, middle], [row - 0.36, row + 0.36], color=figures.INK, linewidth=1.6)
    axis.annotate(text.format(middle), (end, row), (7, 0), textcoords="offset points", va="center", size=9)
    return middle


def problems(axis, row: int, found: "pd.DataFrame", text: str, run) -> float:
    """A mark for each problem of a run in a row, and their median; of another run the median alone, below them."""
    middle = float(np.median(found["middle"]))
    if run.attrs.get("mark"):
        figures.points(axis, [middle], [row + 0.34], label="_", host=True, line=False, run=run)
        return middle
    figures.bars(axis, row + jitter(found), found, label="_", line=False, across=True, run=run)
    return median(axis, row, found["middle"], text, found["high"])


def beside(axis, names, old: dict, first: int) -> np.ndarray:
    """Rows with what is printed, name -> values, in the shapes from ``first``; their places."""
    place = figures.rows(axis, names, 0.6)
    for number, (name, values) in enumerate(old.items()):
        shift = 0.2 * number - 0.1 * (len(old) - 1)
        figures.points(axis, values, place + shift, label=name, index=first + number, line=False)
    return place


def show(figure, runs, frames, **shown) -> "figures.Shown":
    """The figure of runs with the data of each; the caption says what the filled marks are."""
    caption = f"{shown.pop('caption')} {measured(runs[0])}"
    return figures.show(figure, runs=runs, data=figures.together(runs, frames), caption=caption, **shown)
