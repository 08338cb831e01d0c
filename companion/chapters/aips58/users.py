"""The section *What did other users cost?*: four problems alone, and beside busy processes."""

from companion import figures, host, tables
from companion.chapters.aips58 import common
from companion.chapters.aips58.common import SIZES
from companion.common import np, pd
from companion.experiments import experiment

#: What the others do: nothing is there, they compute, they write files as well.
_OTHERS = ("alone", "loaded", "loaded, writing")


@experiment("aips58-load", item="A7", rounds=7, seconds={"paper": 60, "modern": 120})
def load(preset: str, threads: int) -> list:
    """The same problems alone and on a loaded machine.

    Four problems alone, and beside as many processes as there are CPUs that compute, or compute and write files.  The
    tasks' own data go through scratch files.
    """
    cases = []
    for task in ("UVSRT", "UVMAP", "ASCAL", "VTESS"):
        for number, others in enumerate(_OTHERS):
            beside = host.usable_cpus() if number else 0
            given = {"task": task, "size": SIZES[preset][-1], "scratch": True}
            shown = {"beside": beside, "writing": number == 2}
            cases.append(common.problem(f"{task}, {others}", threads, shown, **given, **shown))
    return cases


def _pairs(run) -> "list[np.ndarray]":
    """Cases beside others that compute, alone, and beside others that write too, in the order of the problems."""
    beside, writing = run["beside"].values > 0, np.zeros(run.sizes["case"], bool)
    if "writing" in run:  # older runs have no others that write
        writing = run["writing"].values.astype(bool)
    return [np.flatnonzero(each) for each in (beside & ~writing, ~beside, writing)]


@load.figure
def shared(runs) -> "figures.Shown":
    """Real time on a machine that others use over that on one that nobody else uses: the X-MPs, and runs."""
    real, size = common.ddt()["real"], common.printed_size(runs[0])
    tasks = list(dict.fromkeys(runs[0]["task"].values.tolist()))
    what = pd.DataFrame({"what": tasks})
    frames = []
    for run in runs:
        loaded, alone, writing = _pairs(run)
        parts = {"ratio": loaded, "writing": writing}
        parts = {name: figures.ratios(run, rows, alone, "observed_real") for name, rows in parts.items() if len(rows)}
        frames.append(figures.with_spread(what, **parts))
    old = (real.sel(system="PSC") / real.sel(system="CLSC")).sel(size=size, problem=tasks)
    return figures.dots(
        runs,
        frames,
        {"ratio": "{}, loaded over alone", "writing": "{}, loaded and written over alone"},
        printed={f"Pittsburgh over Toronto, {size}": old.to_series()},
        xlabel="real time, shared over to oneself",
        log=True,
        base=1,
        legend_at="below 1",
        name="aips58_shared",
        title="What other users cost",
        caption="Pittsburgh over Toronto includes the cost of Pittsburgh's files.",
        tables=f"ddt_{size}",
    )


def spread(run) -> str:
    """How much the runs of problems alone differ."""
    real = run["observed_real"].values[_pairs(run)[1]]
    apart = 100 * (np.nanmax(real, axis=1) / np.nanmin(real, axis=1) - 1)
    limit = float(tables.load("aips58", "prose")["repeatability"])
    return (
        f"On the Convex, which nobody else used, successive runs of a problem differed by up to {limit:.0f} %. Alone "
        f"on {figures.cpu(run)} the slowest of seven runs took {apart.min():.0f} to {apart.max():.0f} % longer than "
        "the fastest."
    )
