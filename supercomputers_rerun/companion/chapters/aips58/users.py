"""The section *What did other users cost?*: four problems alone, and beside busy processes."""

from supercomputers_rerun.companion import figures, host, tables
from supercomputers_rerun.companion.chapters.aips58 import common
from supercomputers_rerun.companion.chapters.aips58.common import SIZES
from supercomputers_rerun.companion.common import np, pd
from supercomputers_rerun.companion.conclusions import HOLDS, NOT, Finding, conclusion
from supercomputers_rerun.companion.experiments import experiment


@experiment("aips58-load", item="A7", rounds=7, seconds={"paper": 60, "modern": 120}, unit="s", of="real")
def load(preset: str, threads: int) -> list:
    """The same problems alone and on a loaded machine.

    Four problems, their data through scratch files, alone and beside as many processes as there are CPUs, which compute
    and write files.
    """
    return [
        common.problem(
            f"{task}, {'loaded' if beside else 'alone'}",
            threads,
            {"beside": beside},
            task=task,
            size=SIZES[preset][-1],
            scratch=True,
            beside=beside,
        )
        for task in ("UVSRT", "UVMAP", "ASCAL", "VTESS")
        for beside in (0, host.usable_cpus())
    ]


def _pairs(run) -> "list[np.ndarray]":
    """Cases beside others and alone, in the order of the problems."""
    beside = run["beside"].values > 0
    return [np.flatnonzero(beside), np.flatnonzero(~beside)]


@load.figure
def shared(runs) -> "figures.Shown":
    """Real time on a machine that others use over that on one that nobody else uses: the X-MPs, and runs."""
    real, size = common.ddt()["real"], common.printed_size(runs[0])
    tasks = list(dict.fromkeys(runs[0]["task"].values.tolist()))
    what = pd.DataFrame({"what": tasks})
    frames = [figures.with_spread(what, ratio=figures.ratios(run, *_pairs(run), "observed_real")) for run in runs]
    old = (real.sel(system="PSC") / real.sel(system="CLSC")).sel(size=size, problem=tasks)
    return figures.dots(
        runs,
        frames,
        {"ratio": "{}, loaded over alone"},
        printed={f"Pittsburgh over Toronto, {size}": old.to_series()},
        xlabel="real time, shared over to oneself",
        log=True,
        base=1,
        legend_at="below 1",
        name="aips58_shared",
        title="Real time on a shared machine, over that on one's own",
        caption="In Pittsburgh's times the memo suspects a cost of files as well.",
        tables=f"ddt_{size}",
    )


def spread(run) -> str:
    """How much the runs of problems alone differ."""
    real = run["observed_real"].values[_pairs(run)[1]]
    apart = 100 * (np.nanmax(real, axis=1) / np.nanmin(real, axis=1) - 1)
    limit = float(tables.load("aips58", "prose")["repeatability"])
    return (
        "On the Convex, with nobody else on it, successive timings of a problem were known to vary by as much as "
        f"{limit:.0f} %. Of each of our {len(real)} problems alone on {figures.cpu(run)}, the slowest of "
        f"{real.shape[1]} samples took {apart.min():.0f} to {apart.max():.0f} % longer than the fastest."
    )


@conclusion(
    "aips58-c11",
    place="section 6, note 2",
    says="Alone on the machine, successive timings of a problem vary by at most 5 %.",
)
def repeatable() -> Finding:
    """The slowest of the samples of a problem alone over the fastest."""
    run = load.runs()[0]
    real = run["observed_real"].values[_pairs(run)[1]]
    apart = 100 * (np.nanmax(real, axis=1) / np.nanmin(real, axis=1) - 1)
    limit = float(tables.load("aips58", "prose")["repeatability"])
    return Finding(
        NOT,
        f"Of {len(real)} problems alone on {figures.cpu(run)}, the slowest of {real.shape[1]} samples took "
        f"{apart.min():.0f} to {apart.max():.0f} % longer than the fastest. It is a virtual machine with neighbours.",
        bears=apart.min() > limit,
    )


@conclusion(
    "aips58-c12",
    place="section 6, note 2",
    says="Beside other users real times cannot be compared.",
)
def shared_machine() -> Finding:
    """Real time beside busy processes over that alone."""
    run = load.runs()[0]
    found = figures.ratios(run, *_pairs(run), "observed_real")
    return Finding(
        HOLDS,
        f"Beside as many busy processes as CPUs, four problems take {found['middle'].min():.1f} to "
        f"{found['middle'].max():.1f} times as long as alone: what others cost depends on the problem.",
        bears=found["low"].min() > 1 and found["high"].min() < found["low"].max(),
    )
