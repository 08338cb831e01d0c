"""The section *What does vectorising gain?*: algorithms of routines of a profile, vectorised and scalar."""

from typing import Any

from supercomputers_rerun.companion import figures, tables
from supercomputers_rerun.companion.bench import Case, Ratio
from supercomputers_rerun.companion.chapters.xc30.common import rates
from supercomputers_rerun.companion.common import np, pd, significant
from supercomputers_rerun.companion.conclusions import PARTLY, THEN, Finding, conclusion, not_run
from supercomputers_rerun.companion.experiments import experiment

#: Columns of a vector, as ``kernels.runtime.vector`` has them, and those that a routine works on at once.
_LANES = 8
LENGTHS = (1, 2, 4, 8, 16, 32, 64, 256, 2048)
#: What the work behind each name is, in two words.
_WORK = {
    "CUADJTQ": "humid air",
    "CLOUDSC": "clouds",
    "LAITLI": "linear interpolation",
    "LAITQM": "cubic interpolation",
    "LASCAW": "interpolation weights",
}
#: Those that interpolate.
_INTERPOLATE = ("LASCAW", "LAITQM", "LAITLI")


@experiment("xc30-routines", item="C4, C16, P13", rounds=7, seconds={"paper": 900, "modern": 600}, unit="MFLOPS")
def builds(preset: str, threads: int) -> list[Case]:
    """Routines of the profiles, vectorised and scalar, and those that have an NPROMA by its length."""
    from supercomputers_rerun.kernels.processor import peak
    from supercomputers_rerun.kernels.routines import profile

    beside = {"what": "peak", "routine": "peak", "build": "vector", "nproma": 0}
    cases = [Case("peak", peak, peak.Problem.preset(preset), threads, beside)]
    for routine, (module, fields) in profile().items():
        for build in ("vector", "scalar"):
            problem = module.Problem.preset(preset, build=build, **fields)
            about = {"what": "routine", "routine": routine, "build": build, "nproma": problem.nproma}
            cases.append(Case(f"{routine}, {build}", module, problem, threads, about))
    for routine, (module, fields) in profile().items():
        for length in LENGTHS:
            if routine in _INTERPOLATE and length < _LANES:
                continue  # blocks are filled up to whole vectors, which takes 33 GB with one column
            problem = module.Problem.preset(preset, **fields, nproma=length)
            about = {"what": "NPROMA", "routine": routine, "build": "vector", "nproma": length}
            cases.append(Case(f"{routine}, vector, NPROMA {length}", module, problem, threads, about))
    return cases


def gains(run) -> dict[str, Ratio]:
    """How many times as long the scalar build of each routine takes as the vector build; the smallest first."""
    cases = zip(run["what"].values, run["routine"].values, run["build"].values, run["seconds"].values, strict=True)
    seconds = {(routine, build): samples for what, routine, build, samples in cases if what == "routine"}
    names = [name for name, build in seconds if build == "scalar"]
    found = {name: figures.times(seconds[name, "scalar"], seconds[name, "vector"]) for name in names}
    return dict(sorted(found.items(), key=lambda each: each[1].medians))


def columns(run) -> int:
    """Columns that one instruction of the machine of a run computes: a vector is as many instructions as it takes."""
    known = run.attrs.get("isa", "").split()
    return _LANES if "avx512f" in known else 4 if "avx" in known else 2


@builds.figure
def gained(runs) -> "figures.Shown":
    """How many times as fast vectors make each routine, the most gained first."""
    frames = []
    for run in runs:
        found = gains(run)
        frame = pd.DataFrame({"what": [f"{name}, {_WORK[name]}" for name in found]})
        frame["gain"] = [each.medians for each in found.values()]
        frame[["gain_low", "gain_high"]] = [each.interval or (np.nan, np.nan) for each in found.values()]
        frames.append(frame.assign(flagged=_flagged(run, found))[::-1])
    first = frames[0]
    most = first["what"].iloc[0].partition(",")[0]
    shown = figures.dots(
        runs,
        frames,
        {"gain": "{}"},
        names=first["what"].tolist(),
        xlabel="times as fast with vectors",
        base=1,
        legend_at="above 1",
        height=3.4,
        name="xc30_gains",
        title=f"Vectors make {most} {first['gain'].iloc[0]:.1f} times as fast, and gain least in interpolation",
        caption=f"The same source, compiled for one column at a time and for {_LANES}. {_taken(runs)}. "
        f"{figures.doubts(runs[0]) or _beyond(first, columns(runs[0]))}",
    )
    axis = shown.figure.axes[0]
    limits = {columns(runs[0]): f"limit of {figures.letter(runs[0])}"}
    for run in runs[1:]:
        limits.setdefault(columns(run), "of others")
    for row, (limit, words) in enumerate(limits.items(), len(first) - len(limits)):
        axis.axvline(limit, color=figures.meaning("calculated"), linestyle="--", linewidth=1.2)
        side = "right" if limit == max(limits) and limit >= 4 else "left"  # of the line, where no mark is
        near = {"ha": side, "va": "center", "color": figures.meaning("calculated"), "size": 9}
        axis.text(limit + (0.1 if side == "left" else -0.1), row, f"{words}: {limit}", **near)
    axis.set_xlim(right=max(max(limits) + 1, axis.get_xlim()[1]))  # room for these words
    last = int(axis.get_xlim()[1])
    axis.set_xticks([1, *range(2, last + 1, 1 if last < _LANES else 2)])
    figures.at_right(axis, [f"{gain:.1f} times" for gain in first["gain"]])
    for cross in (line for line in axis.lines if line.get_marker() == "x"):
        axis.annotate("in doubt", cross.get_xydata()[0], (5, -9), textcoords="offset points", va="center", size=9)
    return shown


def _taken(runs) -> str:
    """``An instruction computes 4 on F``, and where machines of runs differ ``, 8 on others``."""
    here, *others = (columns(run) for run in runs)
    more = [number for number in others if number != here]
    beside = f", {max(more)} on others" if more else ""
    return f"An instruction computes {here} on {figures.letter(runs[0])}{beside}"


def _beyond(frame, limit: int) -> str:
    """What it is if the bar of a gain reaches beyond the limit, though its median does not."""
    return f"Beyond {limit}: scatter." if frame["gain"].max() < limit < frame["gain_high"].max() else ""


def _flagged(run, names) -> list[bool]:
    """Whether a case of each routine is doubtful."""
    flagged = run["routine"].values[(run["flags"].values != "") & (run["what"].values == "routine")]
    return [name in flagged for name in names]


def _operations(run) -> dict[str, float]:
    """Operations of each routine for each number of eight bytes that it loads or stores, counted."""
    rows = (run["what"].values == "routine") & (run["build"].values == "vector")
    numbers = (run["bytes_read"].values + run["bytes_written"].values)[rows] / 8
    return dict(zip(run["routine"].values[rows], run["flops"].values[rows] / numbers, strict=True))


def gained_said(run) -> str:
    """What vectors gain, most and least, and why."""
    found, counted = gains(run), _operations(run)
    large, limit = list(found.values())[-1], columns(run)
    least = max(found[name].medians for name in _INTERPOLATE)
    few = max(counted[name] for name in _INTERPOLATE)
    many = min(number for name, number in counted.items() if name not in _INTERPOLATE)
    assert large.measurable and limit / 2 < large.medians < limit and least < 2.5 and few < many / 2
    assert set(list(found)[:3]) == set(_INTERPOLATE)
    return (
        f"We time routines with vectors and without. Vectors make one up to {large.medians:.1f} times as fast, because "
        f"one instruction then computes {limit} columns of air. The three routines that interpolate gain least: the "
        f"best of them becomes {least:.1f} times as fast. Probably loads and stores hold them up (not measured). For "
        f"each number that they load or store they make at most {np.ceil(few):.0f} operations (counted), other "
        f"routines at least {np.floor(many):.0f}."
    )


@builds.figure
def vectorised(runs) -> "figures.Shown":
    """Rates of our versions of routines, vectorised and scalar, and those of the profile of 2006."""
    frames = []
    for run in runs:
        frame = rates(run, "routine", "routine", "build", scale=1e6)
        parts = [frame[frame["build"] == build].reset_index(drop=True) for build in ("scalar", "vector")]
        scalar, vector = (figures.spread_of(part, "rate") for part in parts)
        about = pd.DataFrame({"what": parts[0]["routine"]})
        frames.append(figures.with_spread(about, mflops_scalar=scalar, mflops_vector=vector))
    names = frames[0]["what"].tolist()
    then = tables.load("p5plus", "drhook")["mflops"].reindex(routine=names).to_series()
    return figures.dots(
        runs,
        frames,
        {"mflops_scalar": "ours, scalar", "mflops_vector": "ours, vectorised"},
        printed={"Power4+ (2006)": then},
        xlabel="rate [MFLOPS]",
        log=True,
        base=rates(runs[0], "peak", scale=1e6)["rate"].item(),
        legend_at="above 2",
        name="xc30_routines",
        title=f"{frames[0].loc[frames[0]['mflops_vector'].idxmax(), 'what']} computes fastest, "
        f"{frames[0]['mflops_vector'].max() / 1e3:.0f} GFLOPS with vectors",
        caption="Our own algorithms with one column and with a vector of columns in an instruction; routines of the "
        "same names in 2006. Line: the peak.",
        note=figures.doubts(runs[0]),
        tables="p5plus/drhook",
    )


@builds.figure
def by_length(runs) -> "figures.Shown":
    """Rates of routines by NPROMA, the number of columns that they work on at once (C16)."""
    frames = [rates(run, "NPROMA", "routine", "nproma", scale=1e6) for run in runs]
    frames = [frame.sort_values(["routine", "nproma"], ascending=[False, True]) for frame in frames]
    figure, axis = figures.axes(height=3.6)
    figures.lines(axis, runs, frames, "nproma", "rate", "routine", str)
    figures.log_axis(axis)
    axis.set_xticks(LENGTHS, [str(length) for length in LENGTHS])
    axis.minorticks_off()
    axis.set(xlabel="NPROMA, columns of a block", ylabel="rate [MFLOPS]")
    _name_at_right(axis)
    rate = frames[0].pivot(index="routine", columns="nproma", values="rate")
    # of routines that have one column, the largest first
    over_one = (rate.max(axis=1) / rate[1]).dropna().sort_values(ascending=False)
    (most, longest), *_, (least, shortest) = over_one.items()
    return figures.show(
        figure,
        runs=runs,
        data=frames,
        name="xc30_nproma",
        title=f"With one column at a time {most} takes {significant(longest, 2)} times as long as at best, {least} "
        f"{significant(shortest, 2)} times",
        caption=f"Rates by the number of columns that a routine works on at once; a vector has {_LANES}. Interpolation "
        "from one vector on.",
    )


def _name_at_right(axis) -> None:
    """Name each routine at the right edge of a panel, as high as its first line ends, or above the name below it."""
    bottom, top = np.log10(axis.get_ylim())
    first: dict[str, Any] = {}  # the lines of the first run that has them: a machine may lack some
    for line in axis.get_lines():
        if name := figures.noted(line).get("label"):
            first.setdefault(name, line)
    height = -np.inf
    for name, line in sorted(first.items(), key=lambda each: each[1].get_ydata()[-1]):
        height = max(np.log10(line.get_ydata()[-1]), height + 0.08 * (top - bottom))
        style = {"transform": axis.get_yaxis_transform(), "va": "center", "color": line.get_color(), "size": 9}
        axis.text(1.02, 10**height, name, **style)


@conclusion(
    "xc30-c2",
    place='slide "Comparison between IBM and Cray for IFS T1279 10-day Forecast"',
    says="The Cray's compiler vectorises IFS, so that computing, compared with the rest, is faster there.",
)
def vectors() -> Finding:
    """How many times as long the scalar build of each routine takes."""
    found = gains(builds.runs()[0])
    (least, small), *_, (most, large) = found.items()
    gained = sum(each.measurable and each.medians > 1 for each in found.values())
    rest = "" if small.measurable else f"; {least} does not gain measurably"
    return Finding(
        PARTLY,
        f"Vectors make {gained} of {len(found)} routines of our own faster, {most} {large.medians:.1f} times in the "
        f"median{rest}. Neither IFS nor the Cray is here.",
        bears=gained >= len(found) - 1 and large.interval is not None and large.interval[0] > 2,
    )


not_run(
    "xc30-c3",
    place='slide "CPU Comparison: Cray (100 Nodes) and IBM (60 Nodes) for IFS routines"',
    says="Some routines need work by hand before they vectorise.",
    found=Finding(THEN, "Which routines is marked on a lost figure. Ours were written for vectors from the start."),
)
