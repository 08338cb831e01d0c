"""The section *How much of its peak does a forecast reach?*: forecasts of a small model, and transforms alone."""

from dataclasses import replace

from supercomputers_rerun.companion import figures, tables
from supercomputers_rerun.companion.bench import Case
from supercomputers_rerun.companion.chapters.xc30.common import named, rates
from supercomputers_rerun.companion.common import np, pd, plural
from supercomputers_rerun.companion.conclusions import PARTLY, Finding, conclusion
from supercomputers_rerun.companion.experiments import experiment, of
from supercomputers_rerun.companion.records.runs import partner

#: Truncations and grids of the transforms; those of a preset of the kernel have its name.
_SIZES: dict[str, list] = {
    "quick": [{"truncation": waves, "grid": grid} for waves, grid in ((159, "N80"), (319, "N160"), (511, "N256"))],
    "paper": ["T399", "T799", "TL1279", "TL2047"],
    "modern": ["T799", "TL1279", "TL2047", "TL2559"],
}


@experiment("xc30-transforms", item="C1, C2", rounds=7, seconds={"paper": 240, "modern": 600}, unit="GFLOPS")
def transforms(preset: str, threads: int) -> list[Case]:
    """Spectral transforms and their share of measured peak."""
    from supercomputers_rerun.kernels import spectral
    from supercomputers_rerun.kernels.processor import peak

    cases = []
    for count in sorted({1, threads}):
        team, beside = plural(count, "thread"), {"what": "peak", "truncation": 0, "fields": 0}
        cases.append(Case(f"peak, {team}", peak, peak.Problem.preset(preset), count, beside))
        for size in _SIZES[preset]:
            for fields in (1, 8):
                name, changes = ("quick", size) if isinstance(size, dict) else (size, {})
                problem = spectral.Problem.preset(name, fields=fields, **changes)
                label = f"T{problem.truncation} on {problem.grid}, {plural(fields, 'field')}, {team}"
                parameters = {"what": "transforms", **of(problem, "truncation", "fields")}
                cases.append(Case(label, spectral, problem, count, parameters))
    return cases


@experiment("xc30-forecast", item="C2", rounds=7, seconds={"paper": 900, "modern": 3600}, unit="GFLOPS")
def forecast(preset: str, threads: int) -> list[Case]:
    """A whole forecast of the small model: elapsed time and share of peak.

    Output every two hours, about as often as in the talk.  At ``paper`` ten days at a fifth of its truncation.
    """
    from supercomputers_rerun.kernels import shallow_water
    from supercomputers_rerun.kernels.processor import peak

    part, days = {"quick": (8, 1), "paper": (5, 10), "modern": (2, 10)}[preset]
    problem = replace(named("TL1279", part, 1), hours=24.0 * days, output=2.0)
    about = {"truncation": problem.truncation, "days": days, "time_step": problem.dt, "steps": problem.steps}
    team = plural(threads, "thread")
    label = f"T{problem.truncation} on {problem.grid}, {team}"
    return [
        Case(label, shallow_water, problem, threads, {"what": "forecast", **about}),
        Case(f"peak, {team}", peak, peak.Problem.preset(preset), threads, {"what": "peak", **dict.fromkeys(about, 0)}),
    ]


def shares(run, what: str):
    """Each case of one kind: its rate [GFLOPS], the peak of as many threads in the same run, the share [%]; spreads."""
    frame = rates(run, what, "truncation", *(["fields"] if what == "transforms" else []))
    peak = rates(run, "peak").set_index("threads").loc[frame["threads"]]
    rate, own = (figures.spread_of(each, "rate") for each in (frame, peak))
    share = figures.converted(figures.quotient(rate, own), lambda ratio: 100 * ratio)
    return figures.with_spread(frame, rate=rate, peak=own, share=share)


def truncation() -> int:
    """Truncation of the talk's forecast."""
    return int(tables.load("xc30", "forecast")["truncation"])


def cores_then():
    """Peak of one core, share of it [%] and rate of the ten-day forecast, as the talk prints them; GFLOPS."""
    machines, about = tables.load("xc30", "machines"), tables.load("xc30", "runs")
    peak = 1e3 * (machines["peak"] / machines["cores"]).to_series()
    frame = pd.DataFrame({"peak": peak, "share": about["peak_percent"].to_series()})
    frame["rate"] = frame["peak"] * frame["share"] / 100
    return frame.reset_index(names="what").assign(what="forecast, " + frame.index + " (2014)")


def cores_now(run):
    """:func:`shares` of a thread: a forecast of the small model, and the transforms alone at the talk's truncation."""
    found = {"one-layer model": shares(run, "forecast")}
    if (alone := partner(run, "xc30-transforms")) is not None:
        frame = shares(alone, "transforms")
        found["transforms"] = frame.query(f"truncation == {truncation()} and fields == 8 and threads == 1")
    rows = pd.concat(found, names=["what"]).reset_index("what").reset_index(drop=True)
    rows["what"] = [f"{row.what} on {plural(row.threads, 'thread')}, {figures.cpu(run)}" for row in rows.itertuples()]
    for name in ("rate", "rate_low", "rate_high", "peak", "peak_low", "peak_high"):
        rows[name] /= rows["threads"]  # of one thread
    return rows


@forecast.figure
def cores(runs) -> "figures.Shown":
    """The share of peak: whole forecasts of 2014, a small model and transforms of today."""
    then, *now = [
        frame.assign(what=frame["what"].str.replace(", ", "\n", n=1)) for frame in (cores_then(), *map(cores_now, runs))
    ]
    today = now[0]
    if len(today) == 1:  # the transforms of the next machine that has them
        today = pd.concat([today, *(frame[1:] for frame in now[1:] if len(frame) > 1)][:2])
    varied = " Long bars: the peak varied." if (today["peak_high"] > 1.3 * today["peak_low"]).any() else ""
    apart = " Transforms: eight fields; operations skipped near the poles count, too." if len(today) > 1 else ""
    older = " and ".join(f"{share:g}" for share in then["share"])
    whole, *alone = (f"{share:.0f} %" for share in now[0]["share"])  # the forecast's, and that of transforms
    rest = f", transforms {alone[0]}" if alone else ""
    shown = figures.dots(
        runs,
        now,
        {"share": "today, measured"},
        printed={"2014, as printed": then.set_index("what")["share"]},
        names=[*then["what"], *today["what"]],
        legend_at="above 2",
        xlabel="share of the peak [%]",
        data=pd.concat([then, *now], ignore_index=True),
        name="xc30_cores",
        title=f"Forecasts reached {older} % of peak in 2014, our one-layer model {whole} today{rest}",
        caption=f"Peak: stated then, measured today.{apart} Our model has no physics.{varied}",
        tables="machines runs",
    )
    axis = shown.figure.axes[0]
    axis.set_xlim(0, 100)
    axis.axhline(len(then) - 0.5, color=figures.INK, linewidth=0.6, alpha=0.4)
    figures.at_right(axis, [f"{share:.2g} %" for share in (*then["share"], *today["share"])])
    return shown


@transforms.figure
def transform_shares(runs) -> "figures.Shown":
    """Share of peak of the transforms against truncation, with the shares of the forecasts of 2014."""
    printed = tables.load("xc30", "runs")["peak_percent"].to_series()
    figure, axis = figures.axes(height=3.9)
    for number, (system, value) in enumerate(printed.items()):
        name = f"forecast, {system} (2014)"
        figures.points(axis, [truncation()], [value], label=name, index=number, line=False)
    frames = [shares(run, "transforms") for run in runs]
    alone = [frame[frame["threads"] == 1] for frame in frames]
    figures.lines(axis, runs, alone, "truncation", "share", "fields", lambda n: f"transforms of {plural(n, 'field')}")
    figures.log_axis(axis, "y")
    axis.set(xlabel="truncation", ylabel="share of peak [%]", xlim=(0, None))
    figures.legend(axis, "above 2")
    largest = alone[0][alone[0]["truncation"] == alone[0]["truncation"].max()]
    last = largest.set_index("fields")["share"]
    return figures.show(
        figure,
        name="xc30_transforms",
        runs=runs,
        data=frames,
        title=f"Eight fields together reach {last[8]:.0f} % of peak, one field {last[1]:.0f} %",
        caption="Transforms on one thread today; operations that they leave out near the poles are counted, too. "
        "Whole forecasts of 2014, with physics and messages.",
        tables="runs",
    )


@transforms.figure
def systems(runs) -> "figures.Table":
    """The talk's comparison of its two systems, and the machines of runs beside them."""
    talk = tables.load("xc30", "machines")
    rows = ["processor", "clock", "nodes", "cores", "peak", "memory_per_node"]
    rows += ["compiler", "operating_system", "file_system"]
    found = {str(system): [talk[row].sel(system=system).item() for row in rows] for system in talk["system"].values}
    for run in runs:
        most = rates(run, "peak").sort_values("threads").iloc[-1]
        about = {"memory": np.nan, "clock": np.nan, "compiler": "", "system": "", "filesystem": ""} | run.attrs
        found[figures.cpu(run)] = [about["machine"].rpartition(", ")[0], about["clock"] / 1e9, 1, most["threads"]]
        found[figures.cpu(run)] += [most["rate"] / 1e3, about["memory"] / 2**30]
        found[figures.cpu(run)] += [about["compiler"], about["system"], about["filesystem"]]
    words = ["processor", "clock [GHz]", "nodes", "cores, or threads", "peak, stated or measured [TFLOPS]"]
    words += ["memory of a node [GB]", "compiler", "operating system", "file system"]
    frame = pd.DataFrame(found, index=words)
    caption = "The talk's two systems and our machines, with the peak of as many threads as the table names"
    return figures.table(frame, caption=caption, name="xc30_systems", digits=3)


def plainly() -> str:
    """The share of peak of 2014, for everybody."""
    then = cores_then()["share"]
    return (
        f"The forecast of 2014 did {then.min():.0f} to {then.max():.0f} % of the arithmetic that its processors could "
        "have done in the same time."
    )


def _median(row) -> str:
    """A share of the peak with its interval: ``20 % (19 to 42)``."""
    return f"{row['share']:.0f} % ({row['share_low']:.0f} to {row['share_high']:.0f})"


def reached(run) -> str:
    """Shares of peak then and today, and why transforms of eight fields have the highest."""
    then, whole, here = cores_then()["share"], cores_now(run).iloc[0], partner(run, "xc30-transforms")
    alone = transforms.runs()[0] if here is None else here  # of another machine where that of the model has none
    found = shares(alone, "transforms").query("threads == 1").set_index(["truncation", "fields"])
    one, eight = (found.loc[(truncation(), fields), :] for fields in (1, 8))
    assert then.max() < whole["share"] < one["share"] < eight["share"] and whole["share"] < 50
    where = f" on {figures.cpu(alone)}" if here is None else ""
    return (
        f"It reached {then.min():g} % on the IBM and {then.max():g} % on the Cray. Why so little, the talk does not "
        "say. The peak is the most arithmetic that the processors can do. Today our one-layer model reaches "
        f"{_median(whole)}. Transforms turn values at grid points into waves and back. Timed alone{where}, they reach "
        f"{_median(one)} with one field of {truncation()} waves. With eight fields at once they reach "
        f"{_median(eight)}, probably because the shapes of the waves are then computed only once for all (not "
        "measured). The two shares of transforms timed alone are a little too high: they count operations near the "
        "poles that our programs skip, about 7 % of all. For the whole model the count is nearly right."
    )


@conclusion(
    "xc30-c1",
    place='slide "Statistics for IFS 10-day Forecast"',
    says="The forecast reaches 7 to 8 % of the peak.",
)
def small_share() -> Finding:
    """Share of its own measured peak that a forecast of one layer reaches."""
    run = forecast.runs()[0]
    (row,) = shares(run, "forecast").itertuples()
    return Finding(
        PARTLY,
        f"More than then, less than half: a forecast of one layer without physics reaches {row.share:.0f} % "
        f"({row.share_low:.0f} to {row.share_high:.0f}) of the peak that {plural(row.threads, 'thread')} of "
        f"{figures.cpu(run)} reach.",
        bears=8 < row.share_low and row.share_high < 50,
    )
