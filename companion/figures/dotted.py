"""A whole figure of rows: what was printed, and medians of runs."""

import numpy as np
import pandas as pd

from companion.figures.parts import bars, cpu, legend, log_axis, points, printed_ranges, rows, spread_of
from companion.figures.rendering import Shown, described, show
from companion.figures.style import INK, axes


def dots(
    runs,
    frames,
    quantities: dict[str, str],
    *,
    xlabel: str,
    printed=None,
    ranges=None,
    names=(),
    colours=(),
    log: bool = False,
    base: float | None = None,
    legend_at: str = "below 2",
    height: float = 0.0,
    data=None,
    **shown,
) -> Shown:
    """Rows of numbers: printed ones, hollow, and medians of runs with their spread, one below the other in a row.

    The data are the frames and, where these say nothing of a printed number, a column of it.

    Parameters
    ----------
    frames : list of pandas.DataFrame
        One for each of ``runs``, as :func:`with_spread` makes it, with the name of its row in the column ``what``.
    quantities : dict
        The label of each column that is drawn, of the frames that have it; ``{}`` in it is the machine.
    printed : dict, optional
        Label -> the numbers of rows, a ``pandas.Series`` by name of row; a name may occur several times.
    ranges : pandas.DataFrame, optional
        Printed ranges ``low`` and ``high`` by name of row, in the ``colour`` of their meaning if they have several.
    names : sequence of str
        The rows from top to bottom, if these are not all in the order in which they come.
    colours : sequence of str
        Meanings of the quantities, where they have one; those of as many printed series are the same.
    base : float, optional
        Where a line stands to which quotients are held.
    legend_at : str
        See :func:`companion.figures.legend`.
    **shown
        Passed to :func:`companion.figures.show`.
    """
    printed = {label: pd.Series(values, dtype=float) for label, values in (printed or {}).items()}
    if not len(names):
        parts = [series.index for series in printed.values()] + [frame["what"] for frame in frames]
        names = dict.fromkeys(name for part in parts for name in part)
    names = list(names)
    count = len(printed) + len(quantities)
    shifts = (np.arange(count) - (count - 1) / 2) * 0.44 / max(count - 1, 1)
    figure, axis = axes(height=height or 1.1 + 0.27 * len(names) + 0.2 * -(-count // 2))
    if ranges is not None:
        shown["alt"] = "; ".join(f"{row.Index}: {row.low:.3g} to {row.high:.3g}" for row in ranges.itertuples())
        for colour, part in ranges.groupby(ranges.get("colour", pd.Series("printed", ranges.index))):
            printed_ranges(axis, part.index.map(names.index), part["low"], part["high"], colour=colour)
    for number, (label, series) in enumerate(printed.items()):
        place = series.index.map(names.index).to_numpy() + shifts[number]
        colour = colours[number] if colours else ""
        points(axis, series.to_numpy(), place, label=label, index=number, line=False, colour=colour)
    for run, frame in zip(runs, frames, strict=True):
        frame = frame[frame["what"].isin(names)]
        place = frame["what"].map(names.index).to_numpy(dtype=float)
        for number, (column, label) in enumerate(quantities.items()):
            if column not in frame:
                continue
            at, words = place + shifts[len(printed) + number], label.format(cpu(run))
            colour = colours[number] if colours else ""
            bars(axis, at, spread_of(frame, column), label=words, index=number, across=True, colour=colour, run=run)
    rows(axis, names, above=0.6, below=0.6)
    if log:
        log_axis(axis, "x")
    if base is not None:
        axis.axvline(base, color=INK, linewidth=0.8)
    axis.set_xlabel(xlabel, loc="right")  # a long one has room to the left
    legend(axis, legend_at)
    if data is None:
        once = {label: series for label, series in printed.items() if series.index.is_unique}
        data = [
            frame.assign(**{label: frame["what"].map(series) for label, series in once.items()}) for frame in frames
        ]
    alt = f"{described(figure)} {shown.pop('alt', '')}".replace("nan", "open")
    return show(figure, runs=runs, data=data, alt=alt, **shown)
