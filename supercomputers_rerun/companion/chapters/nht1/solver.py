"""The section *How fast is the solver?*: BT by class and threads (N1)."""

from supercomputers_rerun.companion import figures, models, tables
from supercomputers_rerun.companion.bench import Case
from supercomputers_rerun.companion.chapters.nht1.writing import full_size
from supercomputers_rerun.companion.common import np, plural
from supercomputers_rerun.companion.conclusions import HOLDS, NOT, PARTLY, THEN, Finding, conclusion
from supercomputers_rerun.companion.experiments import experiment, of
from supercomputers_rerun.companion.records.runs import OWN

#: Lines of the grid that the solver takes at once.
LINES = 8
_CLASSES = {"quick": ("S", "W"), "paper": ("S", "W", "A", "B"), "modern": ("A", "B", "C")}


@experiment("nht1-solver", item="N1", rounds=7, seconds={"paper": 700, "modern": 1000}, unit="ms a step", per="NS")
def steps(preset: str, threads: int) -> list[Case]:
    """Block-tridiagonal solver BT by class and threads."""
    from supercomputers_rerun.kernels import bt

    problems = {name: bt.Problem.preset(name) for name in _CLASSES[preset]}
    return [
        Case(f"class {name}, {count} threads", bt, problem, count, {"class": name, **of(problem, "N", "NS")})
        for name, problem in problems.items()
        for count in sorted({1, threads})
    ]


def _times(run):
    """Cases of a run with ``ms_per_step`` and its spread."""
    frame = figures.cases(run, "N", "NS", "class").sort_values(["N", "threads"])
    return figures.quantities(frame, ms_per_step=lambda time: 1e3 * time / frame["NS"]).set_index(frame.index)


@steps.figure
def solver(runs) -> "figures.Shown":
    """Time of one step of BT by class and threads, of the first run and the reader's own; the data have every run."""
    (figure, axis), every = figures.axes(height=3.2), [_times(run) for run in runs]
    data = figures.together(runs, every)
    drawn = [number for number, run in enumerate(runs) if not number or run.attrs.get("mark") == OWN]
    runs, frames = [runs[number] for number in drawn], [every[number] for number in drawn]
    figures.lines(axis, runs, frames, "N", "ms_per_step", "threads", lambda threads: plural(threads, "thread"))
    figures.log_axis(axis)
    sizes = sorted({N for frame in frames for N in frame["N"]})
    first = frames[0].iloc[0]
    points = np.array(sizes, dtype=float) ** 3
    axis.plot(sizes, first["ms_per_step"] * points / first["N"] ** 3, color=figures.INK, linestyle=":", linewidth=0.9)
    at = -2 if len(sizes) > 2 else -1  # left of it is room above the line
    place = sizes[at], first["ms_per_step"] * points[at] / first["N"] ** 3
    axis.annotate(
        "every point takes the same time", place, xytext=(-6, 0), textcoords="offset points", ha="right", size=9
    )
    axis.set_xticks(sizes, [f"{N}" for N in sizes])
    axis.minorticks_off()
    axis.set(xlabel="grid points in each direction", ylabel="time of one step [ms]")
    figures.legend(axis, "upper left")
    most, gains = _gains(runs[0])
    if gains:
        ends = frames[0].query("N == N.max()").set_index("threads")["ms_per_step"]
        place = frames[0]["N"].max(), (ends[1] * ends[most]) ** 0.5
        words = f"↕ {gains[-1]['middle']:.1f} times"
        axis.annotate(words, place, xytext=(7, 0), textcoords="offset points", va="center", weight="bold", size=9)
    return figures.show(
        figure,
        name="nht1_solver",
        runs=runs,
        data=data,
        title=f"On the largest grid {most} threads make a step {gains[-1]['middle']:.1f} times as fast as one"
        if gains
        else "The time of a step grows about as the number of grid points",
        caption=f"Time of a step{' (thin: this run)' if len(runs) > 1 else ''}. Below the dotted line "
        "a point takes less time than on the smallest grid with one thread.",
    )


def _gains(run) -> tuple[int, list]:
    """The most threads, and how many times as fast they are as one, with the interval, from the smallest grid on."""
    frame = _times(run)
    most = int(frame["threads"].max())
    one, several = (frame.index[frame["threads"] == n] for n in (1, most))
    return most, [row for _, row in figures.ratios(run, one, several).iterrows()] if most > 1 else []


def said(run) -> str:
    """Time of a step on the largest grid and of each of its points, and how much of it the arithmetic takes."""
    frame = _times(run)
    largest = frame[frame["threads"] == 1].iloc[-1]
    one, points = largest["ms_per_step"], largest["N"] ** 3
    said = (
        f"On the largest grid a step takes {one:.0f} ms on one thread, or {1e6 * one / points:.0f} ns for each of its "
        f"{points / 1e6:.1f} million points"
    )
    known = models.constants(run)
    if known is None or not known.peak > 0:
        return f"{said}."
    operations = largest["flops"] / largest["NS"] / points
    return (
        f"{said}. A point takes {operations:.0f} floating-point operations. If the thread did only these, at "
        f"its highest speed, it would need {1e9 * operations / known.peak:.0f} ns."
    )


def doubled(run) -> str:
    """How many times as long a step takes on the second grid of a run, which has twice the points in each direction."""
    from supercomputers_rerun.kernels.contract import ceil_div

    stored = _times(run).query("threads == 1").set_index("N")
    less, more = stored.index[:2]
    point = 1e6 * stored["ms_per_step"] / stored.index.to_numpy() ** 3
    assert more == 2 * less and less % LINES and more % LINES == 0 and point[less] > 1.1 * point[more]
    return (
        "A step takes about eight times as long, because there are eight times as many points. In the stored run, from "
        f"{less} to {more} points in each direction, it takes only {8 * point[more] / point[less]:.1f} times as long: "
        f"a point takes {point[less]:.0f} ns with {less}, and {point[more]:.0f} ns with {more}. Why: probably because "
        f"the solver takes {LINES} lines at once: {less} lines cost as much as "
        f"{LINES * ceil_div(less, LINES)} (not measured)."
    )


@conclusion(
    "nht1-c13",
    place="abstract",
    says="Of the three machines the Y-MP computes fastest and the CM-2 slowest.",
)
def fastest_and_slowest() -> Finding:
    """Which machines the report names."""
    prose = tables.load("nht1", "prose")
    return Finding(
        THEN,
        f"The report ranks {str(prose['fastest'].item())} first and {str(prose['slowest'].item())} last. Of its times "
        f"we have {float(prose['cm2_time']):.0f} hours and the ends of an axis, and the machines are gone.",
    )


#: Grid and steps of the divided solver, by preset.
_DIVIDED = {"quick": (24, 10), "paper": (64, 20), "modern": (102, 20)}


@experiment(
    "nht1-division",
    item="N6",
    rounds=7,
    seconds={"paper": None, "modern": None},
    ranks=8,
    unit="ms a step",
    per="NS",
)
def division(preset: str, threads: int, ranks: int = 8) -> list[Case]:
    """The solver divided along three dimensions and along one, as the second and the first code of the iPSC/860."""
    from supercomputers_rerun.kernels.bt import ranks as divided

    N, NS = _DIVIDED[preset]
    problems = [divided.Problem(N, NS, 8e-4, ranks, layout) for layout in ("boxes", "slabs")]
    return [Case(f"N = {N}, {p.layout}", divided, p, threads, of(p, "N", "NS", "layout")) for p in problems]


@division.figure
def divided_table(runs) -> "figures.Shown":
    """Time of a step by how the grid is divided."""
    run = runs[0]
    found = figures.cases(run, "N", "NS", "layout").assign(ranks=run["ranks"].values)
    found = figures.quantities(found, ms=lambda time: 1e3 * time / found["NS"])
    words = {"ms": "step [ms]", "ms_low": "from [ms]", "ms_high": "to [ms]"}
    return figures.table(
        found[["N", "layout", "ranks", *words]].rename(columns=words),
        digits=3,
        name="nht1_division",
        caption="Boxes are cut along all directions, slabs along one. Each rank waits for its neighbours.",
    )


@conclusion(
    "nht1-c14",
    place="section 3.3",
    says="A solver divided along three dimensions is much faster than along one, and uses the processors better.",
)
def three_dimensions() -> Finding:
    """Time of a step by slabs over that by boxes."""
    run = division.runs()[0]
    seconds = dict(zip(run["layout"].values, run["seconds"].values, strict=True))
    over = figures.times(seconds["slabs"], seconds["boxes"])
    faster = over.measurable and over.medians > 1
    return Finding(
        HOLDS if faster and over.medians > 1.5 else PARTLY if faster else NOT,
        f"With N = {run['N'].values[0]} on {plural(run['ranks'].values[0], 'rank')} that share one machine's CPUs a "
        f"step takes {over.times} as long divided along one dimension as along three. No network is between them.",
        bears=True,
    )


@conclusion(
    "nht1-c15",
    place="section 3.2",
    says="The solution is too large for Ethernet; only a fast network can carry it to the machine that checks it.",
)
def too_large_for_ethernet() -> Finding:
    """Time of the report's file at ten million bits a second."""
    dump, dumps, *_ = full_size()
    minutes = 8e6 * dump * dumps / 1e7 / 60
    return Finding(
        THEN,
        f"At ten million bits a second, the Ethernet of then at its best, the file would have taken {minutes:.0f} "
        "minutes. Ethernet of today is a hundred times as fast and more.",
        bears=20 < minutes < 30,
    )
