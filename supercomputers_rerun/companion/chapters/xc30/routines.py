"""The section *What does vectorising gain?*: algorithms of routines of a profile, vectorised and scalar."""

from supercomputers_rerun.companion import figures, tables
from supercomputers_rerun.companion.bench import Case, Ratio
from supercomputers_rerun.companion.chapters.xc30.common import rates
from supercomputers_rerun.companion.common import pd
from supercomputers_rerun.companion.conclusions import HOLDS, THEN, Finding, conclusion
from supercomputers_rerun.companion.experiments import experiment


@experiment("xc30-routines", item="C4, C16, P13", rounds=7, seconds={"paper": 300, "modern": 600}, unit="MFLOPS")
def builds(preset: str, threads: int) -> list[Case]:
    """Routines of the profiles, vectorised and scalar."""
    from supercomputers_rerun.kernels.processor import peak
    from supercomputers_rerun.kernels.routines import profile

    beside = {"what": "peak", "routine": "peak", "build": "vector", "nproma": 0}
    cases = [Case("peak", peak, peak.Problem.preset(preset), threads, beside)]
    for routine, (module, fields) in profile().items():
        for build in ("vector", "scalar"):
            problem = module.Problem.preset(preset, build=build, **fields)
            about = {"what": "routine", "routine": routine, "build": build, "nproma": getattr(problem, "nproma", 0)}
            cases.append(Case(f"{routine}, {build}", module, problem, threads, about))
    return cases


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
        name="xc30_routines",
        title="Routines of the forecast",
        caption="Rates of our own versions of the algorithms, compiled with one column and with a vector of columns "
        "(MXMAOP: of latitudes) in an instruction, and of routines of the same name in the profile of 2006. The line "
        f"is the peak that the run in the heading measured. {figures.doubts(runs[0])}",
        tables="p5plus/drhook",
    )


@conclusion(
    "xc30-c2",
    place='slide "Comparison between IBM and Cray for IFS T1279 10-day Forecast"',
    says="Since its compiler makes vectors of IFS, the Cray computes relatively faster.",
)
def vectors() -> Finding:
    """How many times as long the scalar build of each routine takes."""
    found = gains(builds.runs()[0])
    (least, small), *_, (most, large) = found.items()
    gained = sum(each.measurable and each.medians > 1 for each in found.values())
    return Finding(
        HOLDS,
        f"Vectors make {gained} of {len(found)} routines faster, {most} {large.medians:.1f} times; {least} does not "
        "gain measurably.",
        bears=gained == len(found) - 1 and large.medians > 5 and not small.measurable,
    )


@conclusion(
    "xc30-c3",
    place='slide "CPU Comparison: Cray (100 Nodes) and IBM (60 Nodes) for IFS routines"',
    says="Some routines need work by hand before they vectorise.",
)
def by_hand() -> Finding:
    """Of whom it is true."""
    return Finding(THEN, "Which routines is marked on a lost figure. Ours were written for vectors from the start.")
