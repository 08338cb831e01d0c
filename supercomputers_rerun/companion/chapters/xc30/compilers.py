"""The section *Can a test of scores judge a compiler?*: builds of one source under the paired test of the talk."""

from dataclasses import replace

from supercomputers_rerun.companion import figures
from supercomputers_rerun.companion.bench import Case
from supercomputers_rerun.companion.chapters.xc30.common import with_own
from supercomputers_rerun.companion.common import np, pd, plural
from supercomputers_rerun.companion.conclusions import PARTLY, Finding, conclusion
from supercomputers_rerun.companion.experiments import Output, experiment

#: Relative errors of the Earth's rotation in the wrong builds: one in the seventh digit, and four units in the last
#: place of a float64, which is what one rounding may do.
_OFF = (1e-7, 2.0**-50)
BUILDS = ("rotation off in the last digits", "fast-math flags", "rotation off in the seventh digit")


@experiment("xc30-builds", item="C9", threads=1, seconds={"paper": 120, "modern": 600})
def scored(preset: str, threads: int) -> list[Case]:
    """Paired scores of three builds: harmless, wrong, wrong by the size of rounding."""
    from supercomputers_rerun.kernels import shallow_water
    from supercomputers_rerun.kernels.shallow_water import ensemble

    members, truncation, dt = {"quick": (8, 21, 1800.0), "paper": (60, 42, 900.0), "modern": (200, 42, 900.0)}[preset]
    grid = shallow_water.grid_for(truncation, "quadratic")
    problem = shallow_water.Problem(truncation, grid, "williamson5", dt=dt, diffusion=12.0, perturbation=20.0)
    hours = 72.0 if preset == "quick" else 120.0
    wide = 2 * truncation + 1
    truth = replace(problem, truncation=wide, dt=dt / 2, grid=shallow_water.grid_for(wide, "quadratic"))
    leads = tuple(float(lead) for lead in np.arange(24.0, hours + 1.0, 24.0))
    asked = ensemble.Problem(problem, truth, members, leads, _OFF)
    return [Case("scored model", ensemble, asked, threads, {"members": members, "forecast_hours": hours})]


@scored.outputs_of
def scores(measurements) -> dict[str, Output]:
    """Paired differences of the builds to the strict one and their intervals."""
    from scipy import stats

    from supercomputers_rerun.kernels import shallow_water

    (first,) = measurements
    found = first.result
    depth = shallow_water.setup(first.problem.model).mean / shallow_water.GRAVITY
    seventh, last = found.wrong
    pairs = np.array([other - found.strict for other in (last, found.fast, seventh)])  # in the order of BUILDS
    mean = pairs.mean(axis=1)
    low, high = stats.t.interval(0.95, pairs.shape[1] - 1, mean, stats.sem(pairs, axis=1))
    dims = "other lead_time"
    return {
        "lead": Output(found.hours, "h", "lead_time", "lead time"),
        "error_strict": Output(found.strict.mean(axis=0), "m", "lead_time", "RMS error of height, strict build"),
        "rounding": Output(np.spacing(depth), "m", "", "spacing of float64 at the mean depth of the fluid"),
        "difference": Output(mean, "m", dims, "mean paired difference"),
        "difference_low": Output(low, "m", dims, "lower end of the 95 % interval"),
        "difference_high": Output(high, "m", dims, "upper end of the 95 % interval"),
    }


def detected(run) -> "np.ndarray":
    """Of each build and lead time, whether the 95 % interval of the difference excludes zero."""
    return ((run["difference_low"] > 0) | (run["difference_high"] < 0)).values


def significant(run) -> list[int]:
    """Of each build, the number of lead times at which the test finds it different."""
    return detected(run).sum(axis=1).tolist()


#: Rows of the figure: what is wrong with each of :data:`BUILDS`; the harmless one comes first.
_WRONG = ("wrong in the last digits", "harmless build", "wrong in the 7th digit")
_ROWS = (1, 0, 2)


@scored.figure
def differences(runs) -> "figures.Shown":
    """At which lead times the paired test finds three builds different from the strict one, and by how much."""
    shown = with_own(runs)  # other machines differ by less than a rounding
    run = shown[0]
    figure, (judged, size) = figures.axes(2, 1, height=5.0, sharex=True, height_ratios=(1, 2.5))
    for each in shown:
        lead, mean, found = each["lead"].values / 24, each["difference"].values, detected(each)
        for place, number in enumerate(_ROWS):
            style = {"host": True, "index": number, "run": each}
            row = np.where(found[number], float(place), np.nan)
            figures.points(judged, lead, row, label="_", line=False, **style)
            if each is run:
                for day in lead[~found[number]]:
                    judged.text(day, place, "–", ha="center", va="center")
            figures.points(size, lead, np.abs(mean[number]), label=_WRONG[number], **style)
        style = {"label": "error of the forecast", "host": True, "index": len(BUILDS), "run": each}
        figures.points(size, lead, each["error_strict"], **style).set_linestyle("--")
    days, leads = significant(run), run.sizes["lead_time"]
    figures.rows(judged, [_WRONG[number] for number in _ROWS], above=0.6, below=0.6)
    figures.at_right(judged, [f"{days[number]} of {leads}" for number in _ROWS])
    judged.set_title("● found different from the strict build, – not", loc="left", size=9)
    size.axhline(float(run["rounding"]), color=figures.INK, linestyle=":", label="one rounding of the depth")
    figures.log_axis(size, "y")
    size.set(xlabel="day of the forecast", ylabel="mean difference\nof errors [m]", xticks=range(1, leads + 1))
    for height, words in (
        (float(run["rounding"]), "one rounding of the depth"),
        (float(run["error_strict"][0]) / 60, "error of the forecast itself"),
        *((float(abs(run["difference"][number, :3]).max()), _WRONG[number]) for number in (0, 2)),
    ):
        size.text(1, 1.6 * height, words, va="bottom", size=9)
    low = abs(run["difference"][1]).values
    size.text(3, 0.5 * low[2], _WRONG[1], va="top", ha="left", size=9)
    size.set_ylim(bottom=low.min() / 30)  # room for these words
    powers = range(0, int(np.log10(size.get_ylim()[0])), -4)
    size.set_yticks([10.0**power for power in powers], [_power(power) for power in powers])
    columns = {f"{name} [m]": row for name, row in zip(BUILDS, run["difference"].values, strict=True)}
    return figures.show(
        figure,
        name="xc30_builds",
        runs=shown,
        data=pd.DataFrame({"lead": run["lead"].values, "error_strict": run["error_strict"].values, **columns}),
        title=f"A test for wrong builds calls a harmless build different, too, on {days[1]} of {leads} days",
        caption=f"Each of {run['members'].values[0]} forecasts is paired with a strict build's. Dot: the 95 % interval "
        "of the mean difference excludes zero. Below, dashed: forecast's error.",
        tables="scores",
    )


def _power(exponent: int) -> str:
    """A power of ten as the label of a tick: ``10⁻⁸``."""
    return f"10{str(exponent).translate(str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'))}" if exponent else "1"


def told_apart(run) -> str:
    """What a paired test of scores finds of three builds, and why."""
    last, harmless, seventh = significant(run)
    leads, size = run.sizes["lead_time"], abs(run["difference"]).max("lead_time").values
    assert last == seventh == leads > harmless > 0 and max(size[:2]) < float(run["rounding"])
    return (
        "The test asks whether a mean difference of scores can be chance, not whether it is large. It finds both wrong "
        f"builds on all {leads} days. What is scored is the height of the air's surface. The build whose rotation is "
        "wrong in its last digits changes the scores, on average, by less than rounding the air's mean depth once "
        f"would. The test finds the harmless build different, too, on {plural(harmless, 'day')}. That may be chance: "
        f"all {leads} days belong to the same forecasts, so that what happens by chance on one day can show again on "
        "another. Or rounding shifts most scores in one direction."
    )


@conclusion(
    "xc30-c8",
    place='slide "Improvement to scores with fixes to cce compiler"',
    says="Fixes to the compiler improved the scores of the forecast.",
)
def better_scores() -> Finding:
    """Lead times at which the paired test finds builds to differ."""
    run = scored.runs()[0]
    last, fast, seventh = significant(run)
    leads = run.sizes["lead_time"]
    return Finding(
        PARTLY,
        f"Scores can tell a wrong build: the paired test finds it at {seventh} of {leads} lead times. But it finds an "
        f"error of the size of rounding as often ({last}), and harmless flags at {fast}; significant is not large.",
        bears=seventh == last == leads > fast > 0,
    )
