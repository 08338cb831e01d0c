"""The section *What does vectorising gain?*: algorithms of routines of a profile, vectorised and scalar."""

from companion import figures, tables
from companion.bench import Case
from companion.bench.statistics import Ratio
from companion.chapters.xc30.common import rates
from companion.experiments import experiment
from companion.late import pd


@experiment(
    "xc30-routines",
    item="C4, P13",
    title="Routines of the profiles, vectorised and scalar",
    rounds=7,
    seconds={"quick": 3, "paper": 300, "modern": 600},
)
def builds(preset: str, threads: int) -> list[Case]:
    """Every routine vectorised and scalar, and the peak beside them."""
    from kernels.processor import peak
    from kernels.routines import profile

    beside = {"what": "peak", "routine": "peak", "build": "vector", "nproma": 0}
    cases = [Case("peak", peak, peak.Problem.preset(preset), threads, beside)]
    for routine, (module, fields) in profile().items():
        for build in ("vector", "scalar"):
            problem = module.Problem.preset(preset, build=build, **fields)
            about = {"what": "routine", "routine": routine, "build": build, "nproma": getattr(problem, "nproma", 0)}
            cases.append(Case(f"{routine}, {build}", module, problem, threads, about))
    return cases


def _by_build(run):
    """Rates [MFLOPS] of the vector and of the scalar build of each routine, with their spread."""
    frame = rates(run, "routine", "routine", "build", scale=1e6)
    return [frame[frame["build"] == build].reset_index(drop=True) for build in ("vector", "scalar")]


def gains(run) -> dict[str, Ratio]:
    """How many times as long the scalar build of each routine takes as the vector build; the smallest first."""
    cases = zip(run["routine"].values, run["build"].values, strict=True)
    seconds = dict(zip(cases, run["seconds"].values, strict=True))
    names = [name for name, build in seconds if build == "scalar"]
    found = {name: figures.times(seconds[name, "scalar"], seconds[name, "vector"]) for name in names}
    return dict(sorted(found.items(), key=lambda each: each[1].medians))


@builds.figure
def vectorised(runs) -> "figures.Shown":
    """Rates of our versions of routines, vectorised and scalar, and those of the profile of 2006."""
    builds = [_by_build(run) for run in runs]
    names = list(dict.fromkeys(name for vector, _ in builds for name in vector["routine"]))
    then = tables.load("p5plus", "drhook")["mflops"].reindex(routine=names).to_series()
    figure, axis = figures.axes(height=3.5)
    place = figures.rows(axis, names)
    figures.points(axis, then, place, label="Power4+ (2006)", index=0, line=False)
    frames = []
    for run, pair in zip(runs, builds, strict=True):
        vector, scalar = (figures.spread_of(each, "rate") for each in pair)
        own = list(pair[0]["routine"])
        row = place[[names.index(name) for name in own]]
        frame = pd.DataFrame({"routine_name": own, "document_mflops": then[own].values})
        frames.append(figures.with_spread(frame, mflops_vector=vector, mflops_scalar=scalar))
        # one above the other, since equal rates would hide each other
        figures.bars(axis, row - 0.15, scalar, label="ours, scalar", index=1, across=True, run=run)
        figures.bars(axis, row + 0.15, vector, label="ours, vectorised", index=2, across=True, run=run)
    (peak,) = rates(runs[0], "peak", scale=1e6).itertuples()
    axis.axvspan(peak.rate_low, peak.rate_high, color=figures.INK, alpha=0.2)
    axis.axvline(peak.rate, color=figures.INK, linestyle=":", linewidth=1, label="peak measured")
    figures.log_axis(axis, "x")
    axis.set_xlabel("rate [MFLOPS]")
    figures.legend(axis, "below 2")
    gain = gains(runs[0])
    least, *_, most = gain
    return figures.show(
        figure,
        name="xc30_routines",
        runs=runs,
        data=frames,
        title="Routines of the forecast",
        caption="Rates of our own versions of the algorithms, compiled for one column at a time and for a vector of "
        f"columns, with the rates of the routines of the same name in the profile of 2006. {figures.MARKED}",
        alt="Rates of routines on a logarithmic axis: of the IFS profile of 2006, and of our own versions of the "
        f"algorithms on {figures.cpu(runs[0])}, scalar and vectorised. Vectorising gains most in {most} "
        f"({gain[most].medians:.1f} times) and least in {least} ({gain[least].medians:.1f} times).",
        tables="p5plus/drhook",
    )
