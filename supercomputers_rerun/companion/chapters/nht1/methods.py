"""The figure that opens the chapter, and the sections *Does it cost to write in small pieces?* and *What does one
small write cost?*: by one process, and by the ranks of an MPI job (N5, N6)."""

from supercomputers_rerun.companion import figures, models, tables
from supercomputers_rerun.companion.bench import Case
from supercomputers_rerun.companion.chapters.nht1.writing import (
    ADDED,
    FLUSHED,
    METHODS,
    below_printed,
    by_method,
    in_words,
    largest,
    overhead,
    percent_axis,
    whole_runs,
    written,
)
from supercomputers_rerun.companion.common import np, pd, rounded, span
from supercomputers_rerun.companion.conclusions import HOLDS, THEN, UNTESTED, Finding, conclusion, not_run
from supercomputers_rerun.companion.experiments import experiment, of

#: Arrays, each a write, of a dump written array by array.
_ARRAYS = 5
#: The method of writing that the first code of the iPSC/860 had, and that of the Y-MP.
POINTS, PLANES = "40-byte elements", "sequential records, one a plane"
_WHOLE, _FIVE = "positioned arrays", "five arrays, one a write"
#: Rows of a figure in words, the dearest first.
_ROWS = {POINTS: "point by point", PLANES: "plane by plane", _FIVE: "array by array", _WHOLE: "all five arrays"}
_ROWS |= {FLUSHED.format(way): f"{words}, to disk" for way, words in _ROWS.items()}


@whole_runs.figure
def overheads(runs) -> "figures.Shown":
    """Overhead zeta of every method in which the solver waits for its writes, with most threads, by size of grid.

    At the right its range over the grids; a line is between memory and disk.
    """
    every, frames = [written(run) for run in runs], []
    for frame in every:
        waiting = frame[frame["way"].isin(_ROWS) & (frame["threads"] == frame["threads"].max())]
        parts = {
            f"N{N}": figures.spread_of(part.set_index("way"), "zeta").set_axis(part["way"])
            for N, part in waiting.groupby("N")
        }
        table = pd.DataFrame({"what": [way for way in _ROWS if way in set(waiting["way"])]})
        parts = {N: part.reindex(table["what"]) for N, part in parts.items()}
        parts = {N: part.assign(flagged=part["flagged"].eq(True)) for N, part in parts.items()}  # no case, no flag
        frames.append(figures.with_spread(table.assign(what=table["what"].map(_ROWS)), **parts))
    waiting = every[0][every[0]["way"].isin([POINTS, PLANES, _FIVE, _WHOLE])].query("threads == threads.max()")
    points, rest = (waiting.loc[(waiting["way"] == POINTS) == singly, "zeta"] for singly in (True, False))
    official = every[0]["N"].max()
    tried = every[0][every[0]["N"] == official]["way"]
    untried = "" if POINTS in set(tried) else f" Point by point on {official}³ points: not measured."
    if untried and tried.str.startswith(POINTS).any():
        untried = f" Point by point on {official}³ points: only to the disk."
    shown = figures.dots(
        runs,
        frames,
        {f"N{N}": f"{N}³ points" for N in sorted(set(every[0]["N"]), reverse=True)},
        names=frames[0]["what"],
        xlabel=ADDED,
        legend_at="above 3 0.3",
        data=every,
        name="nht1_overheads",
        title=f"Point by point, writing adds at least {points.min():.0f} % to a run; in larger pieces at most "
        f"{rest.max():.0f} % (into memory)",
        caption=f"Medians and their intervals; at the right the range of medians.{untried} Beyond //: logarithmic.",
    )
    axis, rows = shown.figure.axes[0], frames[0]["what"].tolist()
    percent_axis(axis)
    zeta = frames[0].filter(regex=r"^N\d+$")
    ends = zip(zeta.min(axis=1), zeta.max(axis=1), strict=True)
    spans = [" to ".join(dict.fromkeys(f"{round(end)}" for end in pair)) for pair in ends]
    figures.at_right(axis, [f"{each} %".replace("-", "\N{MINUS SIGN}") for each in spans])
    titled = {_ROWS[POINTS], _ROWS[waiting.loc[rest.idxmax(), "way"]]}
    for row, number in zip(rows, axis.texts[-len(rows) :], strict=True):
        number.set_weight("bold" if row in titled else "normal")
    into_memory = waiting["way"].nunique()
    if into_memory < len(rows):
        axis.axhline(into_memory - 0.5, color=figures.INK, linewidth=0.8)
    return shown


def costs(run) -> tuple[float, float]:
    """Seconds that the solver waits for one write of a point with its seek, and bytes that planes move in a second of
    its waiting."""
    here = largest(run)
    nbytes, waiting = 1e6 * (here["R_IO"] * here["T_T"]), here["waiting"]
    return (
        float(waiting[POINTS] / (nbytes[POINTS] / _point())),
        float(nbytes[PLANES] / waiting[PLANES]),
    )


def _point() -> int:
    """Bytes of a grid point, and of one write of the first code of the iPSC/860."""
    return int(tables.load("nht1", "prose")["point_bytes"])


def by_size(run):
    """Microseconds that the solver ``waits`` for one write, with their spread, and its ``bytes``, by grid and method.

    The grids on which points were written and larger ones; most threads, into the page cache.
    """
    every, point = written(run), _point()
    every = every[(every["N"] >= largest(run)["N"].max()) & (every["threads"] == every["threads"].max())]
    every = every[every["way"].isin([POINTS, PLANES, _FIVE, _WHOLE])].reset_index(drop=True)
    N, total = every["N"], 1e6 * (every["R_IO"] * every["T_T"])
    sizes = {POINTS: 0 * N + point, PLANES: point * N**2, _FIVE: point * N**3 // _ARRAYS, _WHOLE: point * N**3}
    nbytes = np.array([sizes[way][row] for row, way in every["way"].items()], dtype=float)
    spread = figures.spread_of(every, "waiting")
    found = figures.converted(spread, lambda seconds: 1e6 * np.asarray(seconds) * nbytes / total.to_numpy())
    return figures.with_spread(every[["N", "way"]].assign(bytes=nbytes), waits=found)


@whole_runs.figure
def one_write(runs) -> "figures.Shown":
    """Time of one write against its bytes, beside the cost of a call and of its bytes."""
    frames, (call, rate) = [by_size(run) for run in runs], costs(runs[0])
    size = models.half_size(call, rate)
    figure, axis = figures.axes(height=3.6)
    for run, frame in zip(runs, frames, strict=True):
        for N, part in frame.groupby("N"):
            found = figures.spread_of(part, "waits")
            figures.bars(axis, part["bytes"], found, label=f"{N}³ points", index=N, line=False, run=run)
    nbytes = np.geomspace(10, 2 * max(frame["bytes"].max() for frame in frames), 60)
    figures.modelled(axis, nbytes, 1e6 * models.transfer(1, call, nbytes, rate), label="a call + bytes / rate")
    floor, beside = 1.5e5 * call, {"textcoords": "offset points", "size": 9}
    axis.plot([size, size], [floor, 2e6 * call], color=figures.INK, linewidth=0.8, linestyle=":")
    bold = beside | {"weight": "bold"}
    axis.annotate(_kilobytes(size), (size, floor), xytext=(6, 28), **bold)
    axis.annotate("a call costs as\nmuch as its bytes", (size, floor), xytext=(6, 4), **beside)
    names, largest_grid = {PLANES: "a plane", _FIVE: "an array", _WHOLE: "all five"}, frames[0]["N"].max()
    for mark in frames[0].itertuples():
        if mark.way == POINTS:
            for words, up, style in (("a point", 10, beside), (models.spoken(call, "s"), 22, bold)):
                axis.annotate(words, (mark.bytes, mark.waits), xytext=(0, up), ha="center", **style)
            continue
        between = mark.way == _WHOLE and mark.N < largest_grid  # at its left stand the arrays of the largest grid
        side = {"xytext": (8, -6)} if between else {"xytext": (-8, 0), "ha": "right"}
        axis.annotate(names[mark.way], (mark.bytes, mark.waits), va="center", **side, **beside)
    figures.log_axis(axis)
    axis.set(xlabel="bytes of one write", ylabel="the solver waits [µs]", ylim=(floor, None))
    figures.legend(axis, "upper left")
    return figures.show(
        figure,
        name="nht1_one_write",
        runs=runs,
        data=frames,
        title=f"A write of {_point()} bytes with its seek costs {models.spoken(call, 's')}, in which "
        f"{_kilobytes(size)} could move",
        caption="Waiting for one write into memory, by its bytes. Dashed: constants from points and planes on "
        f"{largest(runs[0])['N'].max()}³.{_exception(runs[0])}",
    )


def _over_the_sum(run) -> "pd.DataFrame":
    """:func:`by_size`, with ``over``: how many times as long a write takes as a call and its bytes should."""
    frame, (call, rate) = by_size(run), costs(run)
    return frame.assign(over=frame["waits"] / (1e6 * models.transfer(1, call, frame["bytes"], rate)))


def _exception(run) -> str:
    """That arrays on the largest grid take far longer than the sum, where no other writes do."""
    frame = _over_the_sum(run)
    far = frame[frame["over"] > 2]
    if set(far["way"]) != {_FIVE, _WHOLE} or set(far["N"]) != {frame["N"].max()}:
        return ""
    return f" Why arrays on {far['N'].max()}³ exceed it: not measured."


def _kilobytes(nbytes: float) -> str:
    """Bytes in prose: ``3 KB``."""
    return f"{rounded(nbytes / 1e3, 1)} KB"


@models.predicts(
    "nht1_opening",
    models.transfer,
    "how long a run waits for points, planes and arrays",
    "the copy that gathers an array or a plane, and the checksum of each dump",
    "write seek cache_rate",
    "nht1-io",
)
def waits(run, machine):
    """Seconds that the solver waits by method; ``zeta`` is what the model's seconds add to a run."""
    here, cases = by_method(run), figures.cases(run, "N", "NS", "IW", "way", "solution_bytes")
    case = cases[(cases["N"] == here["N"].iloc[0]) & (cases["way"] == POINTS)].iloc[0]
    N, dumps = int(case["N"]), int(case["NS"] // case["IW"])
    positioned = machine.write + machine.seek
    calls = {POINTS: (dumps * N**3, positioned), PLANES: (dumps * N, machine.write)}
    rows = [calls.get(way, (dumps * _ARRAYS, positioned)) for way in here.index]
    count, latency = np.array(rows, dtype=float).T
    seconds = models.transfer(count, latency, float(case["solution_bytes"]), machine.cache_rate)
    found = pd.DataFrame({"what": here["what"], "measured": here["waiting"], "predicted": seconds})
    return found.assign(zeta=100 * seconds / here["T_C"])


@whole_runs.figure
def opening(runs) -> "figures.Shown":
    """The ranges of the abstract above the overheads of the methods of 1993, on one axis."""
    expected, times = waits.frame(runs[0]), _longer(runs[0])
    systems, frames = tables.printed("nht1", "overheads"), [by_method(run) for run in runs]
    shown = below_printed(
        runs,
        frames,
        METHODS.values(),
        systems["system"],
        titled={METHODS[POINTS]: f"\n({times} times)"},
        legend_at="above 2",
        name="nht1_opening",
        title=f"Written point by point, a run of today takes {times} times as long as without writing",
        caption="What writing adds: on three machines in 1993 (iPSC/860: probably the second program), arrows for "
        f"bounds; today by three methods, {largest(runs[0])['N'].iloc[0]}³ points. Beyond //: logarithmic.",
        model=models.by_row(expected, "zeta"),
        note=models.said(waits, expected),
    )
    percent_axis(shown.figure.axes[0])
    return shown


def two_speeds(run) -> str:
    """The same write of a whole array goes at two speeds; on the largest grid always at the lower one."""
    cases = figures.cases(run, "N", "way", "solution_bytes")
    rate = cases["solution_bytes"].to_numpy(dtype=float)[:, None] / run["observed_transferring"].values / 1e6
    both = cases["threads"] == cases["threads"].max()
    small_grid, large = (cases.index[both & (cases["way"] == _WHOLE) & (cases["N"] == N)] for N in sorted(
        cases["N"].unique())[1:])  # fmt: skip
    slow, fast = np.nanmin(rate[small_grid]), np.nanmax(rate[small_grid])
    on_large, planes = (np.nanmedian(rate[cases.index[both & (cases["way"] == way) & (cases["N"] == cases["N"].max())]])
                        for way in (_WHOLE, PLANES))  # fmt: skip
    rates, host = f"{slow:.0f} to {fast:.0f} MB/s", f"On machine {figures.cpu(run)}"
    if not (fast > 5 * slow and on_large < 1.5 * slow and planes > 5 * on_large):
        return (
            f"{host} samples of a write of a whole dump reach {rates} with N = {cases['N'][small_grid[0]]}, and "
            f"{on_large:.0f} MB/s in the median with N = {cases['N'][large[0]]}, where planes reach {planes:.0f}."
        )
    return (
        f"{host} a write of a whole dump goes at two speeds. With N = {cases['N'][small_grid[0]]} samples of one case "
        f"reach {rates}, with N = {cases['N'][large[0]]} the median is {on_large:.0f} MB/s, while planes reach "
        f"{planes:.0f}."
    )


def _longer(run) -> str:
    """How many times as long a run takes with points as without writing, in prose."""
    times = 1 + float(largest(run).loc[POINTS, "zeta"]) / 100
    return f"{times:.2g}"


def surprise(run) -> str:
    """How the obvious program of 1993 does today."""
    point, plane = largest(run).loc[POINTS], largest(run).loc[PLANES]
    assert point["zeta_low"] > 100 and point["zeta_low"] > 2 * plane["zeta_high"]
    bound = float(tables.printed("nht1", "overheads").set_index("system").loc["iPSC/860", "low"])
    return (
        f"On the iPSC/860 the first program wrote the {_point()} bytes of a point, moved on in the file, and wrote the "
        f"next {_point()}. The report calls the overhead of this program low; overhead is the time that writing adds "
        f"to a run. Yet the abstract says that on the iPSC/860 writing could add more than {bound:g} %. We think that "
        "this high overhead belongs to a second, later program. Today a run that writes point by point, even into "
        f"memory only, takes {_longer(run)} times as long as one that writes nothing. How can the same way of writing "
        "cost little then and so much today? This chapter gives the probable reason."
    )


def insight(run) -> "figures.Shown":
    """The insight of the chapter, bold."""
    size = models.half_size(*costs(run))
    assert size > 10 * _point()
    return figures.paragraph(
        f"Each write asks the system once, and this call costs time before any byte moves: today the call for "
        f"{_point()} bytes takes as long as moving {_kilobytes(size)}.",
        tag="strong",
    )


def short(run) -> tuple[str, str]:
    """What points cost, for who has never heard of them."""
    size = models.half_size(*costs(run))
    return (
        f"A program that saves its results crumb by crumb takes {_longer(run)} times as long today as one that "
        "saves nothing.",
        f"Asking to save one crumb takes about as long as moving the bytes of {rounded(size / _point())} crumbs.",
    )


def answer(run) -> str:
    """What it costs to write in small pieces, into memory and to the disk."""
    found, N = largest(run), int(largest(run)["N"].max())
    points, plane, flushed = (found.loc[way] for way in (POINTS, PLANES, FLUSHED.format(POINTS)))
    writes = 1e6 * points["R_IO"] * points["T_T"] / _point()
    assert plane["zeta_low"] <= 0 and points["zeta_low"] < flushed["zeta"] < points["zeta_high"]
    every = written(run).query("threads == threads.max()")
    small, _, large = every[every["way"] == PLANES].sort_values("N").itertuples()
    assert min(small.zeta_low, large.zeta_low) > 0 and _arrays_cost_more(run) and small.N < N < large.N
    assert every.loc[(every["zeta_high"] - every["zeta_low"]).idxmax(), "N"] == small.N, "its runs scatter most"
    return (
        f"Yes: written point by point, a run takes {_longer(run)} times as long as without writing, because the "
        f"program calls the system for every point. It moves on in the file (a seek) {rounded(writes / 1e6)} million "
        "times, and writes as often. Written plane by plane, the same bytes make no measurable difference on this "
        f"grid of {N}³ points. On the two other grids they do. On the largest, planes add {large.zeta:.0f} %, and "
        "larger pieces add more (next section). On the smallest, planes add "
        f"{small.zeta:.0f} %, but there runs scatter most. The disk is not the "
        "cause: point by point, a run that waits until all bytes are on the disk takes as long as one that ends when "
        "they are in memory."
    )


def _arrays_cost_more(run) -> bool:
    """Whether on the largest grid of all arrays, one by one and at once, add measurably more than planes."""
    every = written(run)
    every = every[(every["N"] == every["N"].max()) & (every["threads"] == every["threads"].max())].set_index("way")
    return bool(every.loc[[_FIVE, _WHOLE], "zeta_low"].min() > every.loc[PLANES, "zeta_high"])


def cost(run) -> str:
    """What one small write costs, and how many bytes that is worth."""
    (call, rate), uncopied = costs(run), 1e6 * largest(run).loc[PLANES, "writing"]
    size = models.half_size(call, rate)
    assert size > 20 * _point() and uncopied > rate  # so the bytes are less than a twentieth of it
    return (
        f"This chapter counts a write and its seek as one call. Today the call for {_point()} bytes takes about "
        f"{models.spoken(call, 's')}, nearly all of it a fixed cost: the latency, which does not depend on the bytes. "
        f"Planes move at {models.spoken(rate, 'byte/s')}, the bandwidth. This rate includes the time in which the "
        "program copies each dump and computes its checksum; without the copy, but with the checksum, it is "
        f"{models.spoken(uncopied, 'byte/s')}. At {models.spoken(rate, 'byte/s')} {_kilobytes(size)} could move in the "
        "time of one call."
    )


def beyond(run) -> str:
    """Up to how many bytes a write takes what a call and its bytes should take."""
    frame = _over_the_sum(run)
    far, near = (frame[(frame["over"] > 2) == each] for each in (True, False))
    most, arrays = near["bytes"].max(), far[far["N"] == frame["N"].max()]
    assert near["over"].min() > 0.5 and far["bytes"].min() > most
    assert set(arrays["way"]) == {_FIVE, _WHOLE} and _arrays_cost_more(run)
    return (
        f"On grids of {' and '.join(f'{N}³' for N in sorted(set(frame['N'])))} points the sum holds for writes of up "
        f"to {most / 1e6:.0f} MB. Longer ones take {span(far['over'], 0)} times as long as the sum says; we did not "
        f"measure why. On the largest grid an array is longer than {most / 1e6:.0f} MB and a plane shorter, so that "
        "there arrays add more to a run than planes."
    )


def buffered(run) -> str:
    """How many bytes a write needs for its call to cost a tenth of its time."""
    call, rate = costs(run)
    size, tenth = models.half_size(call, rate), 0.1
    enough = size * (1 - tenth) / tenth
    assert np.isclose(call, tenth * models.transfer(1, call, enough, rate))
    return (
        "The bytes must take nine times as long as the call. In the stored run a call (a write and its seek) takes as "
        f"long as moving {_kilobytes(size)}, so a write needs {rounded(enough / 1e3)} KB, or "
        f"{rounded(enough / _point())} points at once. Why: the call costs the same whatever the buffer holds."
    )


#: Grid of the first code of the iPSC/860 and numbers of processes that write its points, by preset.
_POINTS: dict[str, tuple[dict, tuple[int, ...]]] = {
    "quick": ({}, (1, 4)),
    "paper": ({"N": 64, "NS": 200}, (1, 64)),
    "modern": ({"N": 102, "NS": 200}, (1, 102)),
}


@experiment("nht1-points", item="N6", threads=1, rounds=7, seconds={"paper": 900, "modern": 1500}, unit="s a run")
def by_processes(preset: str, threads: int) -> list[Case]:
    """Points written by one process, and by several at once, as on the iPSC/860; by one while the solver goes on."""
    from supercomputers_rerun.kernels.files import application, nodes

    size, counts = _POINTS[preset]
    cases = []
    for P in counts:
        problem = nodes.Problem(**size, P=P, points=True)
        schedule = of(problem, "N", "NS", "IW")
        parameters = {**schedule, "P": P, "solver": "waits"}
        cases.append(Case(f"N = {problem.N}, P = {P}", nodes, problem, threads, parameters, _at_once))
    for words, solver in (("in turn", "waits"), ("asynchronous", "goes on")):  # the solver's own process: P = 0
        one = application.Problem(**schedule, way="elements", asynchronous=words == "asynchronous")
        parameters = {**schedule, "P": 0, "solver": solver}
        cases.append(Case(f"N = {one.N}, {words}", application, one, threads, parameters, _whole))
    return cases


def _at_once(result) -> dict[str, float]:
    (T_T,) = result.T_T.values()
    return {"T_C": result.T_C.min(), "T_T": T_T.min()}


def _whole(result) -> dict[str, float]:
    return {"T_T": result.T_T}


@by_processes.figure
def pointwise(runs) -> "figures.Shown":
    """Time, rate and overhead by the number of processes that write points; of the solver's own where it is timed."""
    run = runs[0]
    solver = ["solver"] if "solver" in run else []
    cases = figures.cases(run, "N", "NS", "IW", "P", *solver)
    # the first case has the time without writing of those that write in the solver's own process, too
    zeta = overhead(run, cases.index, cases.index.where(cases["P"] > 0, cases.index[0]), "observed_T_C")
    own = " With 0 processes the solver's own writes, with others another computes." if solver else ""
    cases["T_T"] = figures.sampled(run, "observed_T_T")["middle"]
    cases["R_IO"] = 40e-6 * cases["N"] ** 3 * cases["NS"] / cases["IW"] / cases["T_T"]
    return in_words(
        figures.with_spread(cases, zeta=zeta),
        ["N", "P", *solver, "T_T", "R_IO", "zeta", "zeta_low", "zeta_high"],
        name="nht1_points",
        caption="Points written by one process, and by as many as the grid has points in a direction, the method of "
        f"the iPSC/860's first code: {run['NS'].values[0]} steps, on {figures.cpu(run)}.{own}",
    )


@experiment("nht1-mpiio", item="N1, N2, N6", rounds=7, seconds={"paper": 900, "modern": 1800}, ranks=2, unit="s a run")
def over_mpiio(preset: str, threads: int, ranks: int = 2) -> list[Case]:
    """Application I/O over MPI-IO by method of writing, for the report's second grid."""
    from supercomputers_rerun.kernels.files import ranks as application

    cases = []
    for way in ("none", *application.WAYS):
        if way == "elements" and preset == "modern":
            continue  # forty million calls
        problem = application.Problem.preset(preset, way=way, ranks=ranks)
        cases.append(Case(f"N = {problem.N}, {way}", application, problem, threads, of(problem, "N", "way"), _whole))
    return cases


def _zeta(run):
    """Overhead in percent of every way, medians with their spread."""
    cases = figures.cases(run, "way")
    alone, ways = (cases.index[(cases["way"] == "none") == each] for each in (True, False))
    zeta = overhead(run, ways, alone, "observed_T_T")
    return figures.with_spread(cases.loc[ways, ["way"]], zeta=zeta)


def over_ranks(run) -> str:
    """What writing over MPI-IO adds: a write for every point, and of all points of a rank in one call."""
    zeta = _zeta(run).set_index("way")
    points, rest = zeta.loc["elements"], zeta.drop("elements")
    assert points["zeta_low"] > rest["zeta_high"].max()
    assert rest["zeta"].min() > 1
    return (
        f"On machine {figures.cpu(run)}, small pieces cost much, too, when {run['ranks'].values.max()} processes write "
        "through MPI, a library for messages. If Python calls MPI for each point, their run takes "
        f"{1 + points['zeta'] / 100:.1f} times as long as without writing. If each process hands all its points of a "
        f"dump to MPI in one call, it takes only {span(rest['zeta'], 0)} % longer than without writing. (There are two "
        "ways: all processes make a joint call, or each calls by itself.)"
    )


@conclusion(
    "nht1-c5",
    place="abstract and section 3.3",
    says="Writing can add more than 70 % (on the iPSC/860), and its rate depends on how large the blocks are.",
)
def small_blocks() -> Finding:
    """Overhead and rate of points and of planes, on the largest grid that has both."""
    here = largest(whole_runs.runs()[0])
    point, plane = here.loc[POINTS], here.loc[PLANES]
    return Finding(
        HOLDS,
        f"Point by point writing adds {point['zeta']:.0f} % ({point['zeta_low']:.0f} to {point['zeta_high']:.0f}), "
        f"plane by plane {plane['zeta']:.0f} %, both into the page cache. While it writes, a plane goes "
        f"{plane['writing'] / point['writing']:.0f} times as fast.",
        bears=point["zeta_low"] > 70 > plane["zeta_high"] and plane["writing_low"] > 10 * point["writing_high"],
    )


@conclusion(
    "nht1-c6",
    place="section 3.1",
    says="Written plane by plane, the file can be verified with little memory.",
)
def verified_by_planes() -> Finding:
    """Bytes of a dump over those of a record, on the largest grid."""
    sizes = tables.printed("nht1", "write_sizes").astype({"N": int}).set_index("N")
    N = int(sizes.index.max())
    less = float(sizes.loc[N, "bytes_per_write"]) / float(sizes.loc[N, "bytes_per_record"])
    return Finding(
        HOLDS,
        f"By counting: a record is a plane, so that the check needs {less:.0f} times less memory than a dump with "
        f"N = {N}. Our check reads records so.",
        bears=round(less) == N,
    )


@conclusion(
    "nht1-c7",
    place="section 3.2",
    says="The CM-2 writes six times as slowly if other machines must be able to read the file.",
)
def own_format() -> Finding:
    """Printed rates of the DataVault."""
    rates = tables.load("nht1", "systems").sel(system="CM-2")
    ratio = float(rates["io_rate_peak"] / rates["io_rate_serial"])
    return Finding(
        THEN,
        f"By the printed rates the parallel format is up to {ratio:.1f} times as fast. We write no "
        "format of a machine's own.",
        bears=5 < ratio < 7,
    )


not_run(
    "nht1-c8",
    place="section 3.1",
    says="Files striped by hand over several file systems might be written faster.",
    found=Finding(UNTESTED, "It takes a machine with two disks or more, and a file whose parts lie on them in turn."),
)
