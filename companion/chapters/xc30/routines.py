"""The section *What does vectorising gain?*: algorithms of routines of a profile, vectorised and scalar."""

from companion import figures, tables
from companion.bench import Case
from companion.bench.statistics import Ratio
from companion.chapters.xc30.common import rates
from companion.experiments import experiment
from companion.late import pd
from companion.records.runs import single


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
    from kernels.routines import PROFILE

    beside = {"what": "peak", "routine": "peak", "build": "vector", "nproma": 0}
    cases = [Case("peak", peak, peak.Problem.preset(preset), threads, beside)]
    for routine, (module, fields) in PROFILE.items():
        for build in ("vector", "scalar"):
            problem = module.Problem.preset(preset, build=build, **fields)
            about = {"what": "routine", "routine": routine, "build": build, "nproma": getattr(problem, "nproma", 0)}
            cases.append(Case(f"{routine}, {build}", module, problem, threads, about))
    return cases


def _by_build(run):
    """Names of the routines, and the rates [MFLOPS] of the vector and of the scalar build, in their order."""
    frame, found = rates(single(run), "routine", "routine", "build", scale=1e6)
    vector, scalar = (found[frame["build"] == build].reset_index(drop=True) for build in ("vector", "scalar"))
    return [str(name) for name in frame["routine"][frame["build"] == "vector"]], vector, scalar


def gains(run) -> dict[str, Ratio]:
    """How many times as long the scalar build of each routine takes as the vector build; the smallest first."""
    routine, build = (single(run)[name].values.astype(str).tolist() for name in ("routine", "build"))
    rows = {
        key: row for row, key in enumerate(zip(routine, build, strict=True)) if run["what"].values[row] == "routine"
    }
    seconds = {key: run["seconds"].values[row] for key, row in rows.items()}
    found = {name: figures.times(seconds[name, "scalar"], seconds[name, "vector"]) for name, _ in seconds}
    return dict(sorted(found.items(), key=lambda each: each[1].medians))


@builds.figure
def vectorised(runs) -> "figures.Shown":
    """Rates of our versions of routines, vectorised and scalar, and those of the profile of 2006."""
    names = list(dict.fromkeys(name for run in runs for name in _by_build(run)[0]))
    then = tables.load("p5plus", "drhook")["mflops"].reindex(routine=names).to_series()
    figure, axis = figures.axes(height=3.5)
    place = figures.rows(axis, names)
    figures.points(axis, then, place, label="Power4+ (2006)", index=0, line=False)
    frames = []
    for run in runs:
        own, vector, scalar = _by_build(run)
        row = place[[names.index(name) for name in own]]
        frame = pd.DataFrame({"routine_name": own, "document_mflops": then[own].values})
        frames.append(figures.with_spread(frame, mflops_vector=vector, mflops_scalar=scalar))
        # one above the other, since equal rates would hide each other
        figures.bars(axis, row - 0.15, scalar, label="ours, scalar", index=1, line=False, across=True, run=run)
        figures.bars(axis, row + 0.15, vector, label="ours, vectorised", index=2, line=False, across=True, run=run)
    (peak,) = rates(runs[0], "peak", scale=1e6)[1].itertuples()
    axis.axvspan(peak.low, peak.high, color=figures.INK, alpha=0.2)
    axis.axvline(peak.middle, color=figures.INK, linestyle=":", linewidth=1, label="peak measured")
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
        title="Seven routines",
        caption="Rates of our own versions of the algorithms, compiled for one column at a time and for a vector of "
        f"columns, with the rates of the routines of the same name in the profile of 2006. {figures.MARKED}",
        alt="Rates of seven routines on a logarithmic axis: of the IFS profile of 2006, and of our own versions of the "
        f"algorithms on {figures.cpu(runs[0])}, scalar and vectorised. Vectorising gains most in {most} "
        f"({gain[most].medians:.1f} times) and least in {least} ({gain[least].medians:.1f} times). {figures.MARKED}",
        tables="p5plus/drhook",
    )
