"""The section *Could the toll have another cause?*: four problems alone, and beside busy processes."""

from supercomputers_rerun.companion import figures, host, tables
from supercomputers_rerun.companion.chapters.aips58 import common, pittsburgh
from supercomputers_rerun.companion.chapters.aips58.common import SIZES
from supercomputers_rerun.companion.common import np, pd, significant
from supercomputers_rerun.companion.conclusions import HOLDS, NOT, PARTLY, Finding, conclusion
from supercomputers_rerun.companion.experiments import experiment


@experiment("aips58-load", item="A7", threads=1, rounds=7, seconds={"paper": 60, "modern": 120}, unit="s", of="real")
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


#: Kinds of time in the order of the figure: what others cost shows in the first.
_KINDS = {"real": "real time", "cpu": "CPU time"}


def _pairs(run) -> "list[np.ndarray]":
    """Cases beside others and alone, in the order of the problems."""
    beside = run["beside"].values > 0
    return [np.flatnonzero(beside), np.flatnonzero(~beside)]


@load.figure
def shared(runs) -> "figures.Shown":
    """Real and CPU time beside others over those alone."""
    tasks = list(dict.fromkeys(runs[0]["task"].values.tolist()))
    what = pd.DataFrame({"what": tasks})
    frames = [
        figures.with_spread(what, **{kind: figures.ratios(run, *_pairs(run), f"observed_{kind}") for kind in _KINDS})
        for run in runs
    ]
    most, charged = (frames[0][kind].max() for kind in _KINDS)
    others = int(runs[0]["beside"].max())
    slowed = (frames[0]["cpu_low"] > 1).any()
    in_cpu = f", {charged:.1f} times the CPU time" if slowed else ", not measurably more CPU time"
    return figures.dots(
        runs,
        frames,
        _KINDS,
        colours=("waiting", "computing"),
        xlabel="beside busy processes, times as long as alone",
        base=1,
        legend_at="above 2 0.45",
        name="aips58_shared",
        title=f"Beside busy processes our tasks take up to {most:.1f} times as long as alone{in_cpu}",
        caption=f"Four tasks with files on the disk, beside as many busy processes as CPUs ({others}). At 1 "
        "a task takes as long as alone.",
    )


def beside(run) -> str:
    """What busy processes cost in real and in CPU time, and for which tasks of the memo they may have mattered."""
    found = [figures.ratios(run, *_pairs(run), f"observed_{kind}") for kind in _KINDS]
    real, cpu = (each["middle"] for each in found)
    assert real.min() > 1 and ((cpu - 1).abs() < 0.5 * (real - 1)).all() and (found[1]["low"] > 1).any()
    more = pittsburgh.extra()
    grew = (more.sel(size="large", drop=True) > more.sel(size="small", drop=True)) & ~pittsburgh.stays()
    assert set(more["problem"].values[grew.values].tolist()) == {"APCLN", "MXCLN", "ASCAL"}
    return (
        f"Today we start as many busy processes as we have CPUs, on our machine {figures.cpu(run)}. Beside them four "
        f"tasks, with files on the disk, take {real.min():.1f} to {real.max():.1f} times as long as alone, but at most "
        f"{100 * (cpu.max() - 1):.0f} % more CPU time. So most of the delay is waiting, which is not charged. Where "
        "the difference grew, in CLEAN and self-calibration, other users may have had a part."
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
    beyond = int((apart > limit).sum())
    return Finding(
        NOT if beyond == len(real) else PARTLY if beyond else HOLDS,
        f"Of {len(real)} problems alone on {figures.cpu(run)}, the slowest of {real.shape[1]} samples took "
        f"{significant(float(apart.min()), 2)} to {apart.max():.0f} % longer than the fastest: {beyond} vary by more "
        f"than {limit:.0f} %. It is a virtual machine.",
        bears=True,
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
