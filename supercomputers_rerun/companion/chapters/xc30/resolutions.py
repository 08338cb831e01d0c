"""The section *What would the next resolution cost?*: steps of a small spectral model on the grids of the talk."""

from supercomputers_rerun.companion import figures, tables
from supercomputers_rerun.companion.bench import Case, Ratio
from supercomputers_rerun.companion.chapters.xc30.common import named
from supercomputers_rerun.companion.common import np, pd, plural
from supercomputers_rerun.companion.conclusions import PARTLY, Finding, conclusion
from supercomputers_rerun.companion.experiments import experiment, of

#: The talk's pairs of truncation and grid, by the names that the kernels know.
RESOLUTIONS = ("TL1279", "TL2047", "TQ1364", "TC1023", "TL2559", "TQ1706", "TC1279")
#: The matching of wavenumbers and grid that the letters of a resolution name.
_MATCHING = {"TL": "linear", "TQ": "quadratic", "TC": "cubic"}
#: Pairs of the linear and the cubic truncation on one grid of the talk.
SAME_GRID = (("TL2047", "TC1023"), ("TL2559", "TC1279"))
#: What a step consists of; output belongs to steps of its own.
_STEP = ("inverse transforms", "direct transforms", "grid-point", "spectral")
_DAY = 86400.0


@experiment(
    "xc30-resolutions",
    item="C6",
    rounds=3,
    seconds={"paper": 300, "modern": 900},
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
@figures.styled
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
        axis.annotate(row.resolution, (row.size, row.cost), (7, -9), textcoords="offset points", size=9)
    base = frames[0]["resolution"][0]
    figures.log_axis(axis, "y")
    axis.set(xlabel="horizontal grid points [million]", ylabel=f"cost of a day\nover that of {base}")
    axis.set(xlim=(1.5, 10.2), ylim=(0.7, None))
    figures.legend(axis, "upper left")
    return figures.show(
        figure,
        name="xc30_day",
        runs=runs,
        data=frames,
        title="Cost of a forecast day at the seven resolutions of the talk",
        caption=f"Steps of a day times the measured time of a step of a model of one layer, over the same at {base}. "
        f"Grids, truncations and the time step at {base} are the talk's; other time steps are taken in proportion to "
        "1 / truncation. A run at quick has an eighth of the rows and waves.",
        tables="resolutions forecast",
    )


def over(run, above: str, below: str, day: bool = False) -> Ratio:
    """A step, or a day, at one resolution over one at another."""
    step, names = _step_samples(run), list(run["resolution"].values.astype(str))
    more = int(above[2:]) / int(below[2:]) if day else 1.0
    return figures.times(step[names.index(above)] * more, step[names.index(below)])


def linear_cost(run) -> str:
    """A step with the linear truncation over one with the cubic one of the same grid, and what makes a day of it."""
    linear, cubic = SAME_GRID[-1]
    return (
        f"With {plural(run['threads'].values[0], 'thread')} of machine {figures.cpu(run)} a step of a one-layer model "
        "on the talk's finest grid takes "
        f"{over(run, linear, cubic).times} as long with {linear[2:]} waves (linear truncation) as with {cubic[2:]} "
        f"(cubic), and a day {over(run, linear, cubic, day=True).medians:.1f} times if its steps are half as long."
    )


@conclusion(
    "xc30-c9",
    place='slide "Costs of Different Resolutions"',
    says="The next resolutions cost more, and how much depends on how many waves a grid carries.",
)
def costs() -> Finding:
    """A step with linear and with cubic truncation on the finest grid."""
    linear, cubic = SAME_GRID[-1]
    found = over(steps.runs()[0], linear, cubic)
    return Finding(
        PARTLY,
        f"On the finest grid a step of our model with twice the waves takes {found.times} as long. The bars of the "
        "talk are lost, so that its costs cannot be compared.",
        bears=found.measurable and found.medians > 2,
    )
