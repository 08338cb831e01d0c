"""The section *What would the next resolution cost?*: steps of a small spectral model on the grids of the talk."""

from supercomputers_rerun.companion import figures, tables
from supercomputers_rerun.companion.bench import Case, Ratio
from supercomputers_rerun.companion.chapters.xc30.common import named
from supercomputers_rerun.companion.common import np, pd
from supercomputers_rerun.companion.conclusions import PARTLY, Finding, conclusion
from supercomputers_rerun.companion.experiments import experiment, of

#: The talk's pairs of truncation and grid, by the names that the kernels know.
RESOLUTIONS = ("TL1279", "TL2047", "TQ1364", "TC1023", "TL2559", "TQ1706", "TC1279")
#: The matching of wavenumbers and grid that the letters of a resolution name.
_MATCHING = {"TL": "linear", "TQ": "quadratic", "TC": "cubic"}
#: A finer grid with fewer waves and the grid of 2014, whose days cost as much.
SAME_PRICE = ("TC1023", "TL1279")
#: What a step consists of; output belongs to steps of its own.
_STEP = ("inverse transforms", "direct transforms", "grid-point", "spectral")
_DAY = 86400.0


@experiment(
    "xc30-resolutions",
    item="C6",
    rounds=7,
    seconds={"paper": 600, "modern": 900},
    unit="ms a step",
    per="steps",
)
def steps(preset: str, threads: int) -> list[Case]:
    """Cost of a step on the seven grids of the talk."""
    from supercomputers_rerun.kernels import shallow_water

    part, count = {"quick": (8, 4), "paper": (1, 2), "modern": (1, 4)}[preset]
    cases = []
    for name in RESOLUTIONS:
        problem = named(name, part, count)
        label = f"{name[:2]}{problem.truncation} on {problem.grid}"
        parameters = {"resolution": name, "part": part, "steps": count, **of(problem, "truncation", "grid")}
        cases.append(Case(label, shallow_water, problem, threads, parameters, lambda result: dict(result.seconds)))
    return cases


def _step_samples(run) -> "np.ndarray":
    """Seconds of one step of the small model, (cases, samples), without output."""
    counts = (run["repeats"].values * run["steps"].values)[:, np.newaxis]
    return sum(run[f"observed_{section}"].values for section in _STEP) / counts


def day_table(run):
    """Cost of a day of forecast over that of the first resolution, with its spread, and what it comes from.

    A time step in proportion to 1 / truncation, with the talk's step at the talk's truncation: an assumption.
    """
    talk = tables.load("xc30", "forecast")
    frame = pd.DataFrame({"resolution": run["resolution"].values.astype(str)})
    waves = frame["resolution"].str[2:].astype(float)
    frame["dt"] = float(talk["timestep"]) * float(talk["truncation"]) / waves
    frame["steps"] = _DAY / frame["dt"]
    step = figures.of_samples(_step_samples(run), run["flags"].values)
    base = frame["steps"][0] * step["middle"][0]
    found = figures.converted(step, lambda seconds: seconds * frame["steps"] / base)
    return figures.with_spread(frame, cost=found)


@steps.figure
def day(runs) -> "figures.Shown":
    """Cost of a day of forecast of the small model on the seven grids of the talk, over that on the first."""
    grids = tables.load("xc30", "resolutions")["truncation"].to_series().dropna()
    letters = {matching: name for name, matching in _MATCHING.items()}
    size = {f"{letters[matching]}{waves:.0f}": points / 1e6 for (points, matching), waves in grids.items()}
    figure, axis = figures.axes(height=3.0)
    frames = [day_table(run) for run in runs]
    drawn = [
        frame.assign(size=frame["resolution"].map(size), matching=frame["resolution"].str[:2].map(_MATCHING))
        for frame in frames
    ]
    figures.lines(axis, runs, drawn, "size", "cost", "matching", lambda name: f"{name} ({letters[name]})")
    for row in drawn[0].itertuples():
        beside = (8, -3) if row.size == drawn[0]["size"].max() else (7, -9)
        price = f": {row.cost:.2f}" if row.resolution in SAME_PRICE else ""
        axis.annotate(f"{row.resolution}{price}", (row.size, row.cost), beside, textcoords="offset points", size=9)
    base = frames[0]["resolution"][0]
    axis.axhline(1, color=figures.INK, linewidth=0.8, linestyle=":")
    axis.text(3.9, 1.03, "the same price", ha="center", va="bottom", size=9)
    figures.log_axis(axis, "y")
    spacing = tables.printed("xc30", "resolutions")[["grid_points", "spacing"]].astype(float)
    axis.set_xticks(spacing["grid_points"] / 1e6, [f"{km:.0f} km" for km in spacing["spacing"]])
    axis.set(xlabel="distance of grid points (finer →)", ylabel=f"cost of a day\nover that of {base}")
    axis.set(xlim=(1.5, 10.2), ylim=(0.7, None))
    figures.legend(axis, "upper left")
    finer, (fine, coarse) = over(runs[0], *SAME_PRICE, day=True), SAME_PRICE
    as_much = f"{finer.medians:.2f} times as much as" if finer.measurable else "no more than"
    return figures.show(
        figure,
        name="xc30_day",
        runs=runs,
        data=frames,
        title=f"A grid of 10 km with {fine[2:]} waves costs {as_much} one of 16 km with {coarse[2:]}",
        caption="Our model on the talk's grids; the number in a name counts waves.",
        tables="resolutions forecast",
    )


def over(run, above: str, below: str, day: bool = False) -> Ratio:
    """A step, or a day, at one resolution over one at another."""
    step, names = _step_samples(run), list(run["resolution"].values.astype(str))
    more = int(above[2:]) / int(below[2:]) if day else 1.0
    return figures.times(step[names.index(above)] * more, step[names.index(below)])


def points_ratio(grid: int = 1) -> float:
    """How many times as many points a grid of the talk, by default the middle one, has as its coarsest."""
    points = tables.printed("xc30", "resolutions")["grid_points"].astype(float)
    return points[grid] / points[0]


def _no_more(finer: Ratio) -> str:
    """``no more``, or ``hardly more`` where the finer grid measurably costs more."""
    assert 0.8 < finer.medians < 1.15
    return "hardly more" if finer.measurable and finer.medians > 1 else "no more"


def plainly(run) -> str:
    """The finer grid at the old price, for everybody."""
    return (
        f"In our model, which describes the weather by waves, a map with {points_ratio():.1f} times as many points "
        f"cost {_no_more(over(run, *SAME_PRICE, day=True))} to compute. With the finer map we left out the "
        "shortest waves, and assumed that the day then needs fewer steps."
    )


def same_price(run) -> str:
    """A finer grid at the old price."""
    finer, (fine, coarse) = over(run, *SAME_PRICE, day=True), SAME_PRICE
    off = np.ceil(100 * abs(finer.medians - 1))
    how = f"within {off:.0f} %" if finer.measurable else "no measurable difference"
    return (
        f"{_no_more(finer).capitalize()} in our model, if the finer grid carries fewer waves. A day of {fine[2:]} "
        f"waves on a grid of 10 km costs as much as one of {coarse[2:]} waves on 16 km ({how}), though the finer grid "
        f"has {points_ratio():.1f} times as many points. We assume fewer time steps for fewer waves, in proportion."
    )


def waves_cost(run) -> str:
    """Why waves cost more than points."""
    waves, points = over(run, "TL2559", "TC1279"), over(run, "TC1279", "TL1279")
    flops = run.set_index(case="resolution")["flops"]
    by_waves = float(flops.sel(case="TL2559") / flops.sel(case="TC1279"))
    by_rows = float(flops.sel(case="TC1279") / flops.sel(case="TL1279"))
    assert waves.interval and points.interval and waves.interval[0] > points.interval[1] and by_waves > by_rows + 0.5
    return (
        f"Twice the waves on one grid make a step {waves.medians:.1f} times as long; they need "
        f"{by_waves:.1f} times the operations (counted). With the same waves on a grid of twice the rows, "
        f"which has {points_ratio(2):.0f} times the points, a step takes {points.medians:.1f} times as long. It needs "
        f"{by_rows:.1f} times the operations."
    )


@conclusion(
    "xc30-c9",
    place='slide "Costs of Different Resolutions"',
    says="Different resolutions have different costs.",
)
def costs() -> Finding:
    """A step with linear and with cubic truncation on the finest grid."""
    found = over(steps.runs()[0], "TL2559", "TC1279")
    return Finding(
        PARTLY,
        f"On the finest grid a step of our model with twice the waves takes {found.times} as long. The bars of the "
        "talk are lost, so that its costs cannot be compared.",
        bears=found.measurable and found.medians > 2,
    )
