"""The benchmark as an MPI job: BT on boxes of the grid writes through MPI-IO (N6)."""

from companion import figures
from companion.bench import Case
from companion.chapters.nht1.writing import QUOTIENTS, below_printed, overhead
from companion.common import plural
from companion.experiments import experiment, of

#: Methods of writing over MPI-IO, as a mark has room for them.
_METHODS = {
    "collective": "all ranks in one call",
    "independent": "each rank for itself",
    "elements": "40 bytes a call",
    "per-rank": "a file for each rank",
}


@experiment("nht1-mpiio", item="N1, N2, N6", rounds=3, seconds={"paper": 600, "modern": 1800}, ranks=2)
def over_mpiio(preset: str, threads: int, ranks: int = 2) -> list[Case]:
    """Application I/O over MPI-IO by method of writing."""
    from kernels.files.ranks import application

    cases = []
    for way in ("none", *application.WAYS):
        if way == "elements" and preset == "modern":
            continue  # forty million calls
        problem = application.Problem.preset(preset, way=way, ranks=ranks)
        parameters = of(problem, "N", "way")
        cases.append(Case(f"N = {problem.N}, {way}", application, problem, threads, parameters, application.observe))
    return cases


def _zeta(run):
    """Overhead in percent of every way, medians with their spread."""
    cases = figures.cases(run, "way")
    alone, ways = (cases.index[(cases["way"] == "none") == each] for each in (True, False))
    zeta = overhead(run, ways, alone, "observed_T_T")
    return figures.with_spread(cases.loc[ways, ["way"]].assign(what=cases["way"].map(_METHODS)), zeta=zeta)


@over_mpiio.figure
def mpiio(runs) -> "figures.Shown":
    """Overhead of every method of writing over MPI-IO, below the bound that the abstract gives for the iPSC/860."""
    return below_printed(
        runs,
        [_zeta(run) for run in runs],
        _METHODS.values(),
        ["iPSC/860"],
        name="nht1_mpiio",
        title="Writing over MPI-IO",
        caption=f"Overhead of writing from several ranks, N = {runs[0]['N'].values[0]}, on an axis that is linear "
        "below 10 %. Hollow: the bound that the report prints. Files of single ranks are joined after the clock has "
        f"stopped. {QUOTIENTS} {figures.doubts(runs[0])}",
    )


def said(run) -> str:
    """What writing over MPI-IO adds: a write for every point, and the other methods, with how far samples spread."""
    zeta = _zeta(run).set_index("way")
    points, rest = zeta.loc["elements"], zeta.drop("elements")
    least, most = rest["zeta_low"].max(), rest["zeta_high"].min()
    assert points["zeta_low"] > rest["zeta_high"].max() and least < most and rest["zeta_low"].min() < 0
    return (
        f"On the {plural(run['ranks'].values.max(), 'rank')} of an MPI job, N = {run['N'].values[0]}, a write for "
        f"every point adds {points['zeta']:.0f} % ({points['zeta_low']:.0f} to {points['zeta_high']:.0f}). The "
        "three other methods of MPI-IO cost less, and no difference between them can be measured."
    )
