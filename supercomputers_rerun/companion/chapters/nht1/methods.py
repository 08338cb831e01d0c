"""The figure that opens the chapter, and the section *Does one large write beat many small ones?*: by one process, and
by the ranks of an MPI job (N5, N6)."""

from supercomputers_rerun.companion import figures, models, tables
from supercomputers_rerun.companion.bench import Case
from supercomputers_rerun.companion.chapters.nht1.writing import (
    FLUSHED,
    METHODS,
    ZETA,
    below_printed,
    by_method,
    in_words,
    largest,
    overhead,
    percent_axis,
    whole_runs,
    written,
)
from supercomputers_rerun.companion.common import np, pd, plural
from supercomputers_rerun.companion.conclusions import HOLDS, THEN, UNTESTED, Finding, conclusion
from supercomputers_rerun.companion.experiments import experiment, of

#: Arrays, each a write, of a dump written array by array.
_ARRAYS = 5
#: The method of writing that the first code of the iPSC/860 had, and that of the Y-MP.
POINTS, PLANES = "40-byte elements", "sequential records, one a plane"
_WHOLE, _FIVE = "positioned arrays", "five arrays, one a write"


@whole_runs.figure
def overheads(runs) -> "figures.Shown":
    """Overhead zeta of every method in which the solver waits for its writes, with most threads, by size of grid."""
    every, frames = [written(run) for run in runs], []
    for frame in every:
        waiting = frame.query("threads == threads.max() and not way.str.contains('asynchronous')")
        parts = {
            f"N{N}": figures.spread_of(part.set_index("way"), "zeta").set_axis(part["way"])
            for N, part in waiting.groupby("N")
        }
        table = pd.DataFrame({"what": waiting["way"].unique()})
        parts = {N: part.reindex(table["what"]) for N, part in parts.items()}
        parts = {N: part.assign(flagged=part["flagged"].eq(True)) for N, part in parts.items()}  # no case, no flag
        frames.append(figures.with_spread(table, **parts))
    team = plural(int(every[0]["threads"].max()), "thread")
    flushed = ", or until the device has the file" * bool(frames[0]["what"].str.endswith(FLUSHED.format("")).any())
    shown = figures.dots(
        runs,
        frames,
        {f"N{N}": f"N = {N}" for N in sorted(set(every[0]["N"]), reverse=True)},
        names=frames[0]["what"],
        xlabel=ZETA,
        legend_at="above 3 0.3",
        data=every,
        name="nht1_overheads",
        tables="overheads",
        title="What each method of writing adds",
        caption=f"Overhead of writing into the page cache{flushed}, with {team} in the stored run, a row for each "
        "method in which the solver waits; the axis is linear below 10 %.",
    )
    percent_axis(shown.figure.axes[0])
    return shown


def small(run) -> tuple[str, str]:
    """What the methods of 1993 add, and on the largest grid planes and whole arrays."""
    frame, every = by_method(run), written(run).query("N == N.max()")
    point, rest, N = frame.loc[POINTS], frame.drop(POINTS), frame["N"].max()
    most, (planes, five) = every.query("threads == threads.max()").set_index("way"), rest["zeta"]
    plane, arrays = most.loc[PLANES], most.loc[[_FIVE, _WHOLE]]
    assert point["zeta_low"] > rest["zeta_high"].max() and 0 < plane["zeta_low"]
    assert plane["zeta_high"] < arrays["zeta_low"].min()
    return (
        f"On machine {figures.cpu(run)}, {plural(point['threads'], 'thread')}, N = {N}, ζ of a write for every point "
        f"is {point['zeta']:.0f} %{' (flagged)' * bool(point['flagged'])}, by medians. That of writes of planes is "
        f"{planes:.0f} %, of five arrays {five:.0f} %.",
        f"With N = {plane['N']} and as many threads, planes add {plane['zeta']:.0f} %, whole arrays "
        f"{arrays['zeta'].min():.0f} and {arrays['zeta'].max():.0f} %, by medians.",
    )


@models.predicts(
    "nht1_opening",
    models.transfer,
    "how long a run waits for points, planes and arrays",
    "the copy that gathers an array or a plane, and the checksum beside it",
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
    expected = waits.frame(runs[0])
    return below_printed(
        runs,
        [by_method(run) for run in runs],
        METHODS.values(),
        tables.printed("nht1", "overheads")["system"],
        label=f"{{}}, {plural(largest(runs[0])['threads'].max(), 'thread')}",
        name="nht1_opening",
        heading="",
        title="What writing adds to a run",
        caption=f"Hollow: printed in 1993, arrows for bounds. Filled: N = {largest(runs[0])['N'].max()}, into the page "
        "cache, by the methods of the Y-MP, one code of the CM-2 and the first code of the iPSC/860, whose overhead "
        "the report calls low.",
        model=models.by_row(expected, "zeta"),
        note=models.said(waits, expected),
    )


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
    assert fast > 5 * slow and on_large < 1.5 * slow and planes > 5 * on_large
    return (
        f"On machine {figures.cpu(run)} a write of a whole dump goes at two speeds. With N = "
        f"{cases['N'][small_grid[0]]} samples of one case reach {slow:.0f} to {fast:.0f} MB/s, with N = "
        f"{cases['N'][large[0]]} all stay near {on_large:.0f} MB/s, while planes reach {planes:.0f}."
    )


def added(run) -> str:
    """What writing added in 1993, and adds on the largest grid of a run with a solver thread on every processor, by
    the methods of the Y-MP and of the first code of the iPSC/860: medians with their intervals."""
    old, here = tables.printed("nht1", "overheads").set_index("system"), largest(run)
    names = ["zeta", "zeta_low", "zeta_high"]
    plane, point = ("{:.0f} % ({:.0f} to {:.0f})".format(*here.loc[way, names]) for way in (PLANES, POINTS))
    return (
        f"In 1993 writing added {old.loc['Y-MP', 'low']:g} to {old.loc['Y-MP', 'high']:g} % to runs on the Y-MP, "
        f"typically below {old.loc['CM-2', 'high']:g} % on the CM-2, and could add over "
        f"{old.loc['iPSC/860', 'low']:g} % on the iPSC/860. On machine {figures.cpu(run)}, into the page cache, with "
        f"N = {here['N'].max()} and {plural(here['threads'].max(), 'thread')}, it adds {plane} plane by plane and "
        f"{point}{', flagged,' * bool(here.loc[POINTS, 'flagged'])} point by point."
    )


#: Grid of the first code of the iPSC/860 and numbers of processes that write its points, by preset.
_POINTS: dict[str, tuple[dict, tuple[int, ...]]] = {
    "quick": ({}, (1, 4)),
    "paper": ({"N": 64, "NS": 200}, (1, 64)),
    "modern": ({"N": 102, "NS": 200}, (1, 102)),
}


@experiment("nht1-points", item="N6", rounds=3, seconds={"paper": 400, "modern": 1500}, unit="s a run")
def by_processes(preset: str, threads: int) -> list[Case]:
    """Points written by one process, and by several at once, as on the iPSC/860."""
    from supercomputers_rerun.kernels.files import nodes

    size, counts = _POINTS[preset]
    problems = [nodes.Problem(**size, P=P, points=True) for P in counts]
    return [Case(f"N = {p.N}, P = {p.P}", nodes, p, threads, of(p, "N", "NS", "IW", "P"), _at_once) for p in problems]


def _at_once(result) -> dict[str, float]:
    (T_T,) = result.T_T.values()
    return {"T_C": result.T_C.min(), "T_T": T_T.min()}


@by_processes.figure
def pointwise(runs) -> "figures.Shown":
    """Time, rate and overhead by the number of processes that write points."""
    run, cases = runs[0], figures.cases(runs[0], "N", "NS", "IW", "P")
    zeta = overhead(run, cases.index, cases.index, "observed_T_C")
    cases["T_T"] = figures.sampled(run, "observed_T_T")["middle"]
    cases["R_IO"] = 40e-6 * cases["N"] ** 3 * cases["NS"] / cases["IW"] / cases["T_T"]
    return in_words(
        figures.with_spread(cases, zeta=zeta),
        ["N", "P", "T_T", "R_IO", "zeta", "zeta_low", "zeta_high"],
        name="nht1_points",
        caption="Points written by one process, and by as many as the grid has points in a direction, the method of "
        f"the iPSC/860's first code: {run['NS'].values[0]} steps. One more process runs the solver, which waits.",
    )


@experiment("nht1-mpiio", item="N1, N2, N6", rounds=3, seconds={"paper": 600, "modern": 1800}, ranks=2, unit="s a run")
def over_mpiio(preset: str, threads: int, ranks: int = 2) -> list[Case]:
    """Application I/O over MPI-IO by method of writing, for the report's second grid."""
    from supercomputers_rerun.kernels.files import ranks as application

    cases = []
    for way in ("none", *application.WAYS):
        if way == "elements" and preset == "modern":
            continue  # forty million calls
        problem = application.Problem.preset(preset, way=way, ranks=ranks)
        parameters, observe = of(problem, "N", "way"), lambda result: {"T_T": result.T_T}
        cases.append(Case(f"N = {problem.N}, {way}", application, problem, threads, parameters, observe))
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
    return (
        f"On the {plural(run['ranks'].values.max(), 'rank')} of an MPI job on machine {figures.cpu(run)}, "
        f"N = {run['N'].values[0]}, a write for every point, called from Python, adds {points['zeta']:.0f} %, "
        "by medians. Writes of a rank's whole part of a dump add less, whether all ranks call together or each for "
        "itself."
    )


@conclusion(
    "nht1-c5",
    place="abstract and section 3.3",
    says="Writing can add more than 70 % on the iPSC/860, whose rates depend on how large the blocks are.",
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
    says="The CM-2 writes a file that others can read at a sixth of the speed of its own format.",
)
def own_format() -> Finding:
    """Printed rates of the DataVault."""
    rates = tables.load("nht1", "systems").sel(system="CM-2")
    ratio = float(rates["io_rate_peak"] / rates["io_rate_serial"])
    return Finding(
        THEN,
        f"By the printed rates the parallel format is {ratio:.1f} times as fast. Our file has one form, which any "
        "program reads.",
        bears=5 < ratio < 7,
    )


@conclusion(
    "nht1-c8",
    place="section 3.1",
    says="Files striped by hand over several file systems might be written faster.",
)
def striped() -> Finding:
    """What a test would take."""
    return Finding(UNTESTED, "It takes a machine with two disks or more, and a file whose parts lie on them in turn.")
