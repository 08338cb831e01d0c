"""The section *Does a low overhead mean fast output?*: the same dumps under a fast and a slow solver (N8, N10, N11)."""

import numpy as np

from companion import figures, tables
from companion.bench import Case
from companion.chapters.nht1.writing import PRESET, full_size
from companion.experiments import experiment
from companion.late import pd
from companion.records.runs import single

#: (N or the preset that has it, NS, IW) by preset: a small grid, and the report's largest with two dumps only: the
#: solver that goes line by line takes more than a second a step there.
_SIZES: dict[str, tuple[tuple[int | str, int, int], ...]] = {
    "quick": ((12, 20, 10),),
    "paper": ((24, 20, 5), ("paper", 10, 5)),
    "modern": ((24, 20, 5), ("paper", 20, 5), ("modern", 10, 5)),
}
#: Codes by label.
_CODES = {"compiled solver": "lanes", "compiled, line by line with full blocks": "plain"}
#: Labels as a mark has room for them; older runs also have a solver in NumPy.
_SHORT = {**dict(zip(_CODES, ("compiled", "line by line"), strict=True)), "plain NumPy solver": "NumPy"}


def _observe(result) -> dict[str, float]:
    return {"T_T": result.T_T, "stalled": result.stalls.sum() + result.finish_seconds}


@experiment(
    "nht1-base",
    item="N8, N10",
    title="Overhead of the same writing under a fast and a slow base code",
    rounds=6,
    seconds={"quick": 3, "paper": 330, "modern": 900},
)
def base_codes(preset: str, threads: int) -> list[Case]:
    """Each code without writing and with the same writing, fsync included, on one thread."""
    from kernels import bt
    from kernels.files import application

    cases = []
    for size, NS, IW in _SIZES[preset]:
        N = application.Problem.preset(size).N if isinstance(size, str) else size
        for label, code in _CODES.items():
            problem = application.Problem(N, NS, IW, fsync=True, code=code)
            common = {"N": N, "NS": NS, "IW": IW, "code": label}
            name = f"N = {N}, {label}"
            alone, written = {**common, "way": "none"}, {**common, "way": "positioned arrays, fsync"}
            cases.append(Case(f"{name}, without writing", bt, problem.solver, 1, alone))
            cases.append(Case(f"{name}, with writing", application, problem, 1, written, _observe))
    return cases


def balance_1993():
    """What survives of computing time and overhead at the report's full size.

    ``what``; ``computing``, seconds of it between two dumps; ``zeta`` in percent, computed from the rate of the serial
    file for the CM-2, and the bound of the abstract for the iPSC/860, whose times are the ends of an axis.
    """
    dump, dumps, seconds, times = full_size()
    bound = float(tables.printed("nht1", "overheads").set_index("system").loc["iPSC/860", "low"])
    writes = dump / float(tables.load("nht1", "systems")["io_rate_serial"].sel(system="CM-2"))
    fast = seconds / dumps
    slow = fast * (1 + float(tables.load("nht1", "prose")["cm2_speedup"]) / 100)
    rows = [
        ("CM-2, faster code", fast, 100 * writes / fast),
        ("CM-2, public sample", slow, 100 * writes / slow),
        *(("iPSC/860, second code", total / (1 + bound / 100) / dumps, bound) for total in times),
    ]
    return pd.DataFrame(rows, columns=["what", "computing", "zeta"])


def waits(run):
    """By grid and code: seconds of computing between two dumps, and what the solver waits for a dump over that, in
    percent with its ends; ``apart`` is T_T/T_C - 1 of the same runs, a ``bench.statistics.Ratio``."""
    run, rows = single(run), []
    cases = pd.DataFrame({name: run[name].values for name in ("N", "NS", "IW", "code", "way")})
    for (N, code), pair in cases.groupby(["N", "code"], sort=False):
        alone, writing = pair.index[pair["way"] == "none"][0], pair.index[pair["way"] != "none"][0]
        T_C, stalled = run["seconds"].values[alone], run["observed_stalled"].values[writing]
        computing = float(np.nanmedian(T_C)) * pair["IW"][alone] / pair["NS"][alone]
        flagged = any(str(run["flags"].values[i]) for i in pair.index)
        ends = (100 * end for end in figures.ends(stalled, T_C))
        rows.append((N, code, computing, *ends, flagged, figures.times(run["observed_T_T"].values[writing], T_C)))
    return pd.DataFrame(rows, columns=["N", "code", "computing", "low", "middle", "high", "flagged", "apart"])


def _short(seconds: float) -> str:
    """A power of ten of a second: 10 µs, 1 ms, 10 s."""
    factor, unit = next((pair for pair in ((1, "s"), (1e3, "ms")) if seconds * pair[0] >= 0.999), (1e6, "µs"))
    return f"{seconds * factor:g} {unit}"


def _diagonals(axis, x, low: float) -> None:
    """Dashed lines on which a dump takes the same time, with that time written on them."""
    for seconds in 10.0 ** np.arange(-5, 4):
        axis.plot(x, 100 * seconds / x, color=figures.INK, alpha=0.35, linewidth=0.7, linestyle="--", zorder=0)
        place = 100 * seconds / (1.25 * low)
        if x[0] * 3 < place < x[1] / 1.5:
            axis.text(place, 1.25 * low, _short(seconds), size=8, rotation=-45, ha="center", va="bottom", alpha=0.8)


@base_codes.figure
def balance(runs) -> "figures.Shown":
    """Overhead against the time of computing between two dumps: a slower solver has a lower one (N8)."""
    old, frames = balance_1993(), [waits(run) for run in runs]
    figure, axis = figures.axes(height=3.7)
    cm2, ipsc = (old[old["what"].str.startswith(name)] for name in ("CM-2", "iPSC"))
    figures.points(axis, cm2["computing"], cm2["zeta"], label="CM-2 (1993), two codes", index=0)
    figures.printed_ranges(axis, ipsc["computing"], ipsc["zeta"], np.full(len(ipsc), np.nan), across=False)
    right, bound = ipsc["computing"].max(), ipsc["zeta"].min()
    beside = {"textcoords": "offset points", "size": 8}
    axis.annotate("iPSC/860 (1993)", (right, bound), xytext=(8, 4), **beside)
    arrow = {"arrowstyle": "->", "color": figures.INK, "linestyle": ":"}
    axis.annotate("", (3 * right, bound / 10), (right, bound), arrowprops=arrow)
    axis.annotate("its first code: slower,\nζ low, no numbers", (3 * right, bound / 11), ha="center", va="top", size=8)
    sizes = sorted({N for frame in frames for N in frame["N"]}, reverse=True)
    for run, frame in zip(runs, frames, strict=True):
        for N, part in sorted(frame.groupby("N"), reverse=True):
            label = f"{figures.cpu(run)}, N = {N}"
            figures.bars(axis, part["computing"], part, index=1 + sizes.index(N), label=label, run=run)
            for row in part.itertuples() if run is runs[0] else ():
                axis.annotate(_SHORT[row.code], (row.computing, row.middle), xytext=(5, 4), **beside)
    figures.log_axis(axis)
    every = pd.concat(frames)
    x = np.array([min(every["computing"].min(), 1e-2) / 3, cm2["computing"].max() * 4])
    low, high = min(every["middle"].min(), cm2["zeta"].min()) / 3, max(300.0, 1.5 * every["middle"].max())
    _diagonals(axis, x, low)
    axis.set(xlim=x, ylim=(low, high), xlabel="computing between two dumps [s]", ylabel="overhead ζ [%]")
    figures.legend(axis, "below 1")
    then = ", ".join(f"{row.what} {row.zeta:.2g} percent at {row.computing:.4g} s" for row in cm2.itertuples())
    here = "; ".join(
        f"N = {row.N}, {row.code} {row.middle:.2g} percent at {row.computing:.2g} s" for row in frames[0].itertuples()
    )
    measured = figures.together(runs, [frame.drop(columns="apart") for frame in frames])
    return figures.show(
        figure,
        name="nht1_balance",
        runs=runs,
        data=pd.concat([old, measured], ignore_index=True),
        tables="table_1 figure_1_axes overheads",
        title="A slow solver has a low overhead",
        caption="On a dashed line a dump takes the time written on it; a code that computes more slowly is further to "
        "the right and lower. Hollow: from times and rates of the report, arrows for a bound. Filled: the time that "
        f"the solver waits for a dump, divided by its computing time. {PRESET} "
        f"{figures.MARKED}",
        alt="Overhead against the time of computing between two dumps, both logarithmic; on lines that fall, a dump "
        f"takes as long. 1993: {then}; iPSC/860 above {bound:g} percent. {figures.cpu(runs[0])}: {here}.",
    )


def ends(run) -> tuple:
    """The fastest and the slowest code of the largest grid, as rows of :func:`waits`."""
    found = waits(run)
    part = found[found["N"] == found["N"].max()].sort_values("computing")
    return tuple(part.iloc[[0, -1]].itertuples())


def base(run) -> str:
    """The same dumps under the fastest and the slowest code of the largest grid, by what the solver waits for them."""
    fast, slow = ends(run)
    return (
        f"On machine {figures.cpu(run)} a fast solver waits for its dumps for {fast.middle:.0f} % ({fast.low:.0f} to "
        f"{fast.high:.0f}) of the time that it computes. A solver that is {slow.computing / fast.computing:.0f} times "
        f"as slow waits for the same dumps for {slow.middle:.1f} % ({slow.low:.1f} to {slow.high:.1f})."
    )


def held(row) -> float:
    """Seconds that a code waits for a dump."""
    return row.middle * row.computing / 100


def said(run) -> str:
    """What the slow solver's waiting is, beside its computing, and why elapsed times do not show it."""
    fast, slow = ends(run)
    assert slow.high < fast.low and held(slow) < held(fast) and not slow.apart.measurable
    return (
        f"The slower solver computes {slow.computing / fast.computing:.0f} times as long between two dumps, and its "
        f"waiting falls from {fast.middle:.0f} to {slow.middle:.1f} % of the computing. It also waits less for each "
        f"dump, {held(slow):.2f} s instead of {held(fast):.2f} s; why was not measured. Elapsed times cannot show an "
        f"overhead that small: by them, the writing adds {slow.apart.percent} to the run of the slower code."
    )
