"""The section *Does a low overhead mean fast output?*: the same dumps under a fast and a slow solver (N8, N10, N11)."""

from dataclasses import replace

from supercomputers_rerun.companion import figures, models, tables
from supercomputers_rerun.companion.bench import Case
from supercomputers_rerun.companion.chapters.nht1.writing import (
    WHOLE,
    full_size,
    in_words,
    observe,
    surviving,
    written,
)
from supercomputers_rerun.companion.common import np, pd, rounded
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
_SHORT = dict(zip(_CODES, ("fast solver", "slow solver"), strict=True))


@experiment(
    "nht1-base", item="N8, N10", threads=1, rounds=7, seconds={"paper": 700, "modern": 1800}, unit="ms a step", per="NS"
)
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
    """On the largest grid, by code: seconds of ``computing`` between two dumps, and what the solver waits for a dump of
    arrays over that, in percent, with its spread."""
    cases = figures.cases(run, "N", "NS", "IW", "code", "way")
    alone, writing = (cases.index[cases["way"] == each] for each in ("none", ARRAYS))
    run = run.assign(observed_stalled=run["observed_stalled"] + run["observed_finish"])
    shares = figures.ratios(run, writing, alone, "observed_stalled", "seconds")
    base = cases.loc[alone].reset_index(drop=True)
    base["computing"] = base["median"] * base["IW"] / base["NS"]
    found = base[["N", "code", "computing"]].join(figures.converted(shares, lambda share: 100 * share))
    return found[found["N"] == found["N"].max()]


@base_codes.figure
def balance(runs) -> "figures.Shown":
    """Waiting over computing against the time of computing between two dumps (N8).

    Of the iPSC/860 only ends of an axis are known, so that its bound stands at the edge.
    """
    old, frames = balance_1993(), [waits(run) for run in runs]
    figure, axis = figures.axes(height=3.7)
    cm2, ipsc = (old[old["what"].str.startswith(name)] for name in ("CM-2", "iPSC"))
    figures.points(axis, cm2["computing"], cm2["zeta"], label="CM-2 (1993)", index=0, line=False)
    beside = {"textcoords": "offset points", "size": 9}
    bound, blue = float(ipsc["zeta"].min()), figures.meaning("printed")
    edge = {"xycoords": axis.get_yaxis_transform(), "textcoords": "offset points"}
    axis.axhline(bound, xmin=0.9, color=blue, linewidth=1.6, label="_bound")
    arrow = {"arrowstyle": "<-", "color": blue, "linewidth": 1.4}
    axis.annotate("", (0.95, bound), xytext=(0, 24), arrowprops=arrow, **edge)
    words = f"iPSC/860 (1993),\nprobably second program,\ncan exceed {bound:g} %;\ncomputing not known"
    axis.annotate(words, (0.9, bound), xytext=(-4, -6), ha="right", size=9, **edge)
    for run, frame in zip(runs, frames, strict=True):
        N = frame["N"].max()
        figures.bars(axis, frame["computing"], frame, index=N, label=f"today, {N}³ points", line=False, run=run)
    for row in frames[0].itertuples():
        mark, words = (row.computing, row.middle), f"{models.spoken(held(row), 's')} a dump"
        # the slow one's stand below its dotted line, away from the words of 1993
        x, y, side = (-9, -24, "right") if row.computing == frames[0]["computing"].max() else (9, 2, "left")
        axis.annotate(f"{_SHORT[row.code]},\n{words}", mark, xytext=(x, y), ha=side, **beside)
        axis.annotate(f"{_percent(row.middle)} %", mark, xytext=(x, y + 24), weight="bold", ha=side, **beside)
    # as long a wait for a dump as the slower program's, however long it computes
    for pair in (cm2, frames[0].rename(columns={"middle": "zeta"})):
        slow = pair.loc[pair["computing"].idxmax()]
        dump = slow["zeta"] * slow["computing"] / 100
        computing = np.array([0.3 * pair["computing"].min(), 3 * slow["computing"]])
        axis.plot(computing, 100 * dump / computing, color=figures.INK, linestyle=":", linewidth=0.8, label="_equal")
        start, words = np.sqrt(computing[0] * computing[1]), "if a dump took\nas long as the\nslow solver's"
        if pair is cm2:
            start, words = computing[0], f"CM-2 (1993),\ntwo programs:\n{models.spoken(dump, 's')} a dump"
        axis.annotate(words, (start, 100 * dump / start), xytext=(-5, 0), ha="right", va="center", **beside)
    figures.log_axis(axis)
    axis.set(xlabel="computing between two dumps [s]", ylabel="waiting ÷ computing [%]")
    axis.set_ylim(0.1, 400)
    axis.set_xlim(axis.get_xlim()[0] / 8, None)  # room for words
    fast, slow = ends(runs[0])
    rest = " At the edge: computing not known."
    if fast.low * fast.computing > slow.high * slow.computing:
        rest = " Why the fast solver's dumps take longer was not measured."
    return figures.show(
        figure,
        name="nht1_balance",
        runs=runs,
        data=pd.concat([old, figures.together(runs, frames)], ignore_index=True),
        tables="table_1 figure_1_axes overheads",
        title=f"Waiting for dumps adds {_percent(fast.middle)} % to the computing of a fast solver, "
        f"{_percent(slow.middle)} % to that of a slow one",
        caption=f"Today: all five arrays to the disk. Along a dotted line dumps take equally long.{rest}",
    )


def _percent(share: float) -> str:
    """A share in a title: 30, or below 1 to one digit, 0.4."""
    return f"{share:.0f}" if share >= 1 else rounded(share, 1)


def ends(run) -> tuple:
    """The fastest and the slowest code of the largest grid, as rows of :func:`waits`."""
    return tuple(waits(run).sort_values("computing").iloc[[0, -1]].itertuples())


def where(run) -> str:
    """In which part of a dump the fast solver waits longer than the slow one: the write, or the flush at the end."""
    cases = figures.cases(run, "N", "code", "way")
    of_arrays = cases[(cases["way"] == ARRAYS) & (cases["N"] == cases["N"].max())]
    rows = [of_arrays.index[of_arrays["code"] == code].item() for code in _CODES]
    (quick, late), (first, last) = (1e3 * run[f"observed_{part}"].values[rows] for part in ("transferring", "finish"))
    middle = [float(np.nanmedian(each)) for each in (quick, late, first, last)]
    assert middle[0] > 5 * middle[1] and 0.5 < middle[2] / middle[3] < 2 and np.nanmin(quick) < 1.5 * middle[1]
    return (
        f"The dumps of the fast solver take {middle[0]:.0f} ms to write, those of the slow one {middle[1]:.0f} ms, all "
        f"together; the flush at the end takes {middle[2]:.0f} and {middle[3]:.0f} ms. In one sample the fast solver's "
        f"took {np.nanmin(quick):.0f} ms, too."
    )


def short(run) -> str:
    """What the same dumps add to a slow program, for who has never heard of them."""
    fast, slow = ends(run)
    assert slow.high < 2 < fast.low
    return (
        f"The slower a program computes, the cheaper saving looks: in one {slow.computing / fast.computing:.0f} times "
        "as slow as another, saving in large pieces seems almost free."
    )


def rewards(run) -> str:
    """The same dumps under the fastest and the slowest code of the largest grid, by what the solver waits for them."""
    fast, slow, faster, longer = _apart(run)
    assert slow.high < fast.low and faster > 2 * longer
    return (
        "No: an overhead in per cent rewards slow programs, because it divides the time for output by the time for "
        f"computing. Two solvers of today, each on one thread, write the same dumps of {fast.N}³ points to the disk, "
        f"all five arrays in one write. For 100 s of computing the fast solver waits {fast.middle:.0f} s for its "
        f"dumps, the slow solver only {rounded(slow.middle, 1)} s. But the slow solver computes {faster:.0f} times as "
        "long for the same result. That explains most of the difference. The rest: the fast solver waits "
        f"{rounded(longer)} times as long for each dump; we did not measure why."
    )


def _apart(run) -> tuple:
    """:func:`ends`, how many times as fast the fast one computes, and how many times as long it waits for a dump."""
    fast, slow = ends(run)
    assert fast.low * fast.computing > slow.high * slow.computing, "it waits measurably longer"
    return fast, slow, slow.computing / fast.computing, held(fast) / held(slow)


def of_the_cm2() -> str:
    """What the CM-2 waits for a dump at its serial rate, and computes between two."""
    low = float(tables.printed("nht1", "overheads").set_index("system").loc["CM-2", "high"])
    row = balance_1993().set_index("what").loc["CM-2, faster code"]
    dump = row["computing"] * row["zeta"] / 100
    rates = surviving()
    whole = rates[rates["what"] == WHOLE].set_index("system")
    slower = whole.loc["iPSC/860", "low"] / whole.loc["CM-2", "high"]
    rate = float(tables.load("nht1", "systems")["io_rate_serial"].sel(system="CM-2"))
    assert row["zeta"] < 1 < low and slower > 2
    return (
        f"The CM-2 computed slowest of the three machines, and its overhead was typically below {low:g} %. On the "
        f"largest grid a dump took it about {dump:.0f} s, at {rate:g} MB/s, and between dumps even the faster of its "
        f"two programs computed for at least about {row['computing'] / 60:.0f} minutes. So there the overhead must "
        "have been below 1 %. Yet its results came slowly. Over a whole run, computing included, the later, second "
        f"program of the iPSC/860 wrote at least about {slower:.0f} times as many bytes a second as the CM-2. Which of "
        "the two machines was faster while it wrote, the pages that we have do not say."
    )


def riddle(run) -> str:
    """How a program that writes point by point can have a low overhead: it computes slowly."""
    fast, slow = _pointwise(run)
    assert slow.zeta_high < fast.zeta_low / 5 and slow.T_T_low > 2 * fast.T_T_high
    return (
        "The first program of the iPSC/860, too, probably had its low overhead because it computed slowly: the report "
        "says that its run was long and its output rate low. If our two solvers write point by point instead, each on "
        f"one thread, the slow one's overhead is {slow.zeta:.0f} %, that of the fast one {rounded(fast.zeta)} %. Yet "
        f"for as many steps the fast one takes {fast.T_T:.1f} s, the slow one {slow.T_T:.0f} s."
    )


def _pointwise(run) -> tuple:
    """Points on the largest grid under the faster and the slower code, as rows of ``written``."""
    table = written(run).query("way == @POINTS")
    return tuple(table[table["N"] == table["N"].max()].sort_values("T_T").itertuples())


def ten_times(run) -> str:
    """What becomes of an overhead if the solver becomes faster, and whether the two codes behave like that."""
    fast, slow, faster, longer = _apart(run)
    return (
        f"It becomes ten times as large. The fast solver computes {faster:.0f} times as fast as the slow one, so "
        f"{slow.middle:.2f} % would become {slow.middle * faster:.0f} %. It is {fast.middle:.0f} %, because the fast "
        f"solver also waits {rounded(longer)} times as long for a dump (the reason was not measured). Why: the "
        "overhead is a quotient, so it grows as computing shrinks."
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
        caption="A fast and a slow code that write dumps of the same size, all five arrays at once and by points.",
    )


@conclusion(
    "nht1-c2",
    place="abstract",
    says="The CM-2's overhead is typically under 4 %: it writes fast in comparison with how slowly it computes.",
)
def slow_computing() -> Finding:
    """What waiting for the same dumps is of the computing of a fast and of a slow code."""
    run = base_codes.runs()[0]
    fast, slow = ends(run)
    return Finding(
        HOLDS,
        f"Of slow computing: the same dumps add {fast.middle:.0f} % ({fast.low:.0f} to {fast.high:.0f}) to that of a "
        f"fast solver, and {slow.middle:.2f} % ({slow.low:.2f} to {slow.high:.2f}) to that of one that computes "
        f"{slow.computing / fast.computing:.0f} times as long.",
        bears=slow.high < 4 < fast.low,
    )


@conclusion(
    "nht1-c3",
    place="sections 2.3.3 and 3.0",
    says="An overhead says something only against the best time without writing, since a slow code has a low overhead.",
)
def best_time() -> Finding:
    """Seconds that the fast and the slow code wait for a dump."""
    fast, slow = ends(base_codes.runs()[0])
    return Finding(
        HOLDS,
        f"The overhead of the slow code is {fast.middle / slow.middle:.0f} times lower, its wait for a dump only "
        f"{held(fast) / held(slow):.1f} times: {1e3 * held(slow):.0f} ms instead of {1e3 * held(fast):.0f}.",
        bears=slow.high < fast.low and fast.middle / slow.middle > 10 * held(fast) / held(slow),
    )


@conclusion(
    "nht1-c4",
    place="section 3.3",
    says="The first code of the iPSC/860 had a low overhead, yet it took long and its rate was low.",
)
def low_and_slow() -> Finding:
    """Time, rate and overhead of points under both codes."""
    fast, slow = _pointwise(base_codes.runs()[0])
    return Finding(
        HOLDS,
        f"Of a slow code: point by point, it has an overhead of {slow.zeta:.0f} % and a fast one of {fast.zeta:.0f} "
        f"%. The slow one takes {slow.T_T:.0f} s instead of {fast.T_T:.1f} s, at {slow.R_IO:.1f} MB/s instead of "
        f"{fast.R_IO:.0f}.",
        bears=slow.zeta_high < fast.zeta_low and slow.T_T_low > fast.T_T_high,
    )
