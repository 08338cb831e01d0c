"""The section *Does a low overhead mean fast output?*: the same dumps under a fast and a slow solver (N8, N10, N11)."""

from dataclasses import replace

from supercomputers_rerun.companion import figures, tables
from supercomputers_rerun.companion.bench import Case
from supercomputers_rerun.companion.chapters.nht1.writing import full_size, in_words, observe, written
from supercomputers_rerun.companion.common import np, pd
from supercomputers_rerun.companion.conclusions import HOLDS, Finding, conclusion
from supercomputers_rerun.companion.experiments import experiment, of

#: Presets of the benchmark's problem with what differs here: fewer steps on the larger grids, of which the solver that
#: goes line by line takes a second each on the report's largest.
_SIZES: dict[str, tuple[tuple[str, dict[str, int]], ...]] = {
    "quick": (("small", {"NS": 20, "IW": 10}),),
    "paper": (("small", {}), ("medium", {"NS": 50})),
    "modern": (("medium", {"NS": 50}), ("paper", {"NS": 20}), ("modern", {"NS": 10})),
}
#: Ways of writing; points are written up to this N.
_WAYS: dict[str, dict] = {
    "positioned arrays, fsync": {"way": "positioned", "fsync": True},
    "40-byte elements": {"way": "elements"},
}
_POINTS_TO = 64
ARRAYS, POINTS = _WAYS
#: Codes by label.
_CODES = {"compiled solver": "lanes", "compiled, line by line with full blocks": "plain"}
#: Labels as a mark has room for them.
_SHORT = dict(zip(_CODES, ("compiled", "line by line"), strict=True))


@experiment("nht1-base", item="N8, N10", rounds=6, seconds={"paper": 700, "modern": 1800}, unit="ms a step", per="NS")
def base_codes(preset: str, threads: int) -> list[Case]:
    """Writing arrays and points under a fast and a slow base code.

    Each code without writing, with arrays that reach the device, and with points, on one thread.
    """
    from supercomputers_rerun.kernels import bt
    from supercomputers_rerun.kernels.files import application

    cases = []
    for size, given in _SIZES[preset]:
        for label, code in _CODES.items():
            problem = application.Problem.preset(size, **given, code=code)
            name, common = f"N = {problem.N}, {label}", {**of(problem, "N", "NS", "IW"), "code": label}
            cases.append(Case(f"{name}, without writing", bt, problem.solver, 1, {**common, "way": "none"}))
            for way, form in _WAYS.items():
                if way != POINTS or problem.N <= _POINTS_TO:
                    named = {**common, "way": way, **of(problem, "solution_bytes")}
                    cases.append(Case(f"{name}, {way}", application, replace(problem, **form), 1, named, observe))
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
    """By grid and code: seconds of ``computing`` between two dumps, and what the solver waits for a dump of arrays over
    that, in percent, with its spread."""
    cases = figures.cases(run, "N", "NS", "IW", "code", "way")
    alone, writing = (cases.index[cases["way"] == each] for each in ("none", ARRAYS))
    run = run.assign(observed_stalled=run["observed_stalled"] + run["observed_finish"])
    shares = figures.ratios(run, writing, alone, "observed_stalled", "seconds")
    base = cases.loc[alone].reset_index(drop=True)
    base["computing"] = base["median"] * base["IW"] / base["NS"]
    return base[["N", "code", "computing"]].join(figures.converted(shares, lambda share: 100 * share))


@base_codes.figure
@figures.styled
def balance(runs) -> "figures.Shown":
    """Waiting over computing against the time of computing between two dumps (N8)."""
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
    axis.margins(0.12)
    axis.set(xlabel="computing between two dumps [s]", ylabel="time for dumps, over computing [%]")
    figures.legend(axis, "below 1")
    return figures.show(
        figure,
        name="nht1_balance",
        runs=runs,
        data=pd.concat([old, figures.together(runs, frames)], ignore_index=True),
        tables="table_1 figure_1_axes overheads",
        title="Dumps beside a fast and a slow solver",
        caption="Filled: the solver's wait for a dump (whole arrays, one fsync at the end), over its time without "
        "writing. Hollow: for both codes of the CM-2 a dump at its serial rate, over the least time between dumps; for "
        "the iPSC/860 the abstract's 70 %, exceeded in a case that it does not name, at times from ends of an axis.",
    )


def ends(run) -> tuple:
    """The fastest and the slowest code of the largest grid, as rows of :func:`waits`."""
    found = waits(run)
    part = found[found["N"] == found["N"].max()].sort_values("computing")
    return tuple(part.iloc[[0, -1]].itertuples())


def where(run) -> str:
    """In which part of a dump the fast solver waits longer than the slow one: the write, or the flush at the end."""
    cases = figures.cases(run, "N", "code", "way")
    rows = cases.index[(cases["way"] == ARRAYS) & (cases["N"] == cases["N"].max())]
    by_code = {cases["code"][row]: row for row in rows}
    fast, slow = (by_code[code] for code in _CODES)
    (quick, late), (first, last) = (
        [1e3 * run[f"observed_{part}"].values[row] for row in (fast, slow)] for part in ("transferring", "finish")
    )
    middle = [float(np.nanmedian(each)) for each in (quick, late, first, last)]
    assert middle[0] > 5 * middle[1] and 0.5 < middle[2] / middle[3] < 2 and np.nanmin(quick) < 1.5 * middle[1]
    return (
        f"The dumps of the fast solver take {middle[0]:.0f} ms to write, those of the slow one {middle[1]:.0f} ms, all "
        f"together; the flush at the end takes {middle[2]:.0f} and {middle[3]:.0f} ms. In one sample the fast solver's "
        f"took {np.nanmin(quick):.0f} ms, too: it is the same two speeds."
    )


def base(run) -> str:
    """The same dumps under the fastest and the slowest code of the largest grid, by what the solver waits for them."""
    fast, slow = ends(run)
    assert slow.high < fast.low
    return (
        f"On one thread of machine {figures.cpu(run)}, N = {fast.N}, waiting for whole arrays and one fsync takes "
        f"{fast.middle:.0f} % ({fast.low:.0f} to {fast.high:.0f}) of the computing time of a fast solver, and "
        f"{slow.middle:.2f} % ({slow.low:.2f} to {slow.high:.2f}) of that of a solver which computes "
        f"{slow.computing / fast.computing:.0f} times as long."
    )


def held(row) -> float:
    """Seconds that a code waits for a dump."""
    return row.middle * row.computing / 100


@base_codes.figure
def first_code(runs) -> "figures.Shown":
    """Time, rate and overhead of both codes, with arrays and with points (N10)."""
    table = written(runs[0])
    return in_words(
        table[table["N"] == table["N"][table["way"] == POINTS].max()],
        ["N", "code", "way", "T_T", "R_IO", "zeta", "zeta_low", "zeta_high"],
        name="nht1_first_code",
        caption="A fast and a slow code that write dumps of the same size, as whole arrays and by points.",
    )


@conclusion(
    "nht1-c2",
    place="abstract",
    says="The CM-2 has the lowest overhead, under 4 %, because it computes so slowly.",
)
def slow_computing() -> Finding:
    """What waiting for the same dumps is of the computing of a fast and of a slow code."""
    run = base_codes.runs()[0]
    fast, slow = ends(run)
    return Finding(
        HOLDS,
        f"The same dumps add {fast.middle:.0f} % ({fast.low:.0f} to {fast.high:.0f}) to the computing of a fast "
        f"solver, and {slow.middle:.2f} % ({slow.low:.2f} to {slow.high:.2f}) to that of one that computes "
        f"{slow.computing / fast.computing:.0f} times as long.",
        bears=slow.high < 4 < fast.low,
    )


@conclusion(
    "nht1-c3",
    place="sections 2.3.3 and 3.0",
    says="An overhead means something only beside the best time without writing: a low one is no merit of a slow code.",
)
def best_time() -> Finding:
    """Seconds that the fast and the slow code wait for a dump."""
    fast, slow = ends(base_codes.runs()[0])
    return Finding(
        HOLDS,
        f"The overhead of the slow code is {fast.middle / slow.middle:.0f} times lower, its wait for a dump only "
        f"{held(fast) / held(slow):.0f} times: {1e3 * held(slow):.0f} ms instead of {1e3 * held(fast):.0f}.",
        bears=slow.high < fast.low and fast.middle / slow.middle > 10 * held(fast) / held(slow),
    )


@conclusion(
    "nht1-c4",
    place="section 3.3",
    says="The first code of the iPSC/860 had a low overhead, yet it took long and its rate was low.",
)
def low_and_slow() -> Finding:
    """Time, rate and overhead of points under both codes."""
    table = written(base_codes.runs()[0]).query("way == @POINTS")
    fast, slow = table[table["N"] == table["N"].max()].sort_values("T_T").itertuples()
    return Finding(
        HOLDS,
        f"Point by point, a slow code has an overhead of {slow.zeta:.0f} % and a fast one of {fast.zeta:.0f} %. The "
        f"slow one takes {slow.T_T:.0f} s instead of {fast.T_T:.1f} s, at {slow.R_IO:.1f} MB/s instead of "
        f"{fast.R_IO:.0f}.",
        bears=slow.zeta_high < fast.zeta_low and slow.T_T_low > fast.T_T_high,
    )
