"""The section *Can messages hide behind computing?*: Legendre transforms with their exchanges in flight."""

from companion import figures, tables
from companion.bench import Case
from companion.bench.statistics import Ratio
from companion.experiments import experiment
from companion.labels import plural
from companion.late import pd
from companion.records.runs import single


@experiment(
    "xc30-inflight",
    item="C7",
    title="Legendre transforms with exchanges in flight: Ialltoallv against Alltoallv",
    rounds=7,
    seconds={"quick": 3, "paper": 60, "modern": 120},
    ranks=2,
)
def exchanges(preset: str, threads: int, ranks: int = 2) -> list[Case]:
    """Blocking, and groups in flight; with a thread that drives them; both again with processors set apart."""
    from kernels.mpi import overlap

    groups = overlap.Problem.preset(preset).groups
    wanted = [("alltoallv", 1, False), ("alltoallv", groups, False), ("progress", groups, False)]
    wanted += [("ialltoallv", n, False) for n in (2, 4, 8) if n <= groups]
    if overlap.can_spare():
        wanted += [(way, groups, True) for way in overlap.WAYS]
    cases = []
    for way, count, spare in wanted:
        problem = overlap.Problem.preset(preset, way=way, groups=count, spare=spare, ranks=ranks)
        label = f"{way}, {plural(count, 'group')}{', processors set apart' if spare else ''}"
        cases.append(Case(label, overlap, problem, threads, {"way": way, "groups": count, "spare": int(spare)}))
    return cases


def to_blocking(run):
    """Seconds of every way of exchanging, over those of MPI_Alltoallv in one piece on all processors."""
    frame = figures.case_rows(single(run), "way", "groups", "spare")
    frame = frame.sort_values(["spare", "way", "groups"]).reset_index(drop=True)
    whole = frame[(frame["way"] == "alltoallv") & (frame["groups"] == 1) & (frame["spare"] == 0)]["median"].item()
    found = figures.intervals(frame)
    return frame.assign(to_blocking=found["middle"] / whole, low=found["low"] / whole, high=found["high"] / whole)


def over(run, above: str, below: str) -> Ratio:
    """The time of one way of exchanging over that of another; cases by their labels."""
    rows = list(single(run)["label"].values)
    return figures.times(*(run["seconds"].values[rows.index(label)] for label in (above, below)))


def _ways(frame) -> list[str]:
    """What each way of exchanging is called: blocking or in flight, in how many groups, with which processors."""
    names = {"alltoallv": "blocking", "ialltoallv": "in flight", "progress": "in flight, thread"}
    return [
        f"{names[way]}, {plural(groups, 'group')}{', apart' if spare else ''}"
        for way, groups, spare in zip(frame["way"], frame["groups"], frame["spare"], strict=True)
    ]


def gains() -> "pd.Series":
    """Time of the inverse transform with messages in flight over that with blocking calls, in the talk."""
    times = tables.printed("xc30", "legendre_overlap").set_index("version")[["t2047", "t1198"]].astype(float)
    return times.loc["new"] / times.loc["original"]


@exchanges.figure
def inflight(runs) -> "figures.Shown":
    """Time of the Legendre transforms with messages in flight over that with blocking calls, here and in the talk."""
    frames = [to_blocking(run) for run in runs]
    groups = sorted(set(frames[0]["groups"]) - {1})
    first = frames[0][frames[0]["groups"].isin([groups[0], groups[-1]])]
    labels = _ways(first)
    figure, axis = figures.axes(height=0.27 * (len(labels) + 1) + 1.6)
    for number, (name, gain) in enumerate(gains().items()):
        figures.points(axis, [gain], [0], label=f"the talk, {name.upper()} (2014)", index=number, line=False)
    for run, frame in zip(runs, frames, strict=True):
        shown = pd.Series(_ways(frame), frame.index).map({label: n for n, label in enumerate(labels, start=1)}).dropna()
        part = frame.loc[shown.index]
        found = part[["low", "high"]].assign(middle=part["to_blocking"], flagged=part["flags"].astype(str) != "")
        figures.bars(axis, shown, found, label=figures.cpu(run), line=False, across=True, run=run)
    axis.set_yticks(range(len(labels) + 1), ["in flight, the talk", *labels])
    axis.axvline(1.0, color=figures.INK, linestyle=":")
    axis.invert_yaxis()
    axis.grid(False, axis="y")
    figures.log_axis(axis, "x")
    axis.set_xlabel("time over that of blocking calls")
    figures.legend(axis, "below 2")
    listed = "; ".join(f"{label} {value:.2f}" for label, value in zip(labels, first["to_blocking"], strict=True))
    return figures.show(
        figure,
        name="xc30_inflight",
        runs=runs,
        data=frames,
        title="Messages in flight: the talk and today",
        caption="Time of Legendre transforms with their exchanges, over that with blocking calls in one piece on all "
        'processors; left of the dotted line is a gain. "Thread": one more thread a rank drives the exchange. "Apart": '
        "ranks compute on half of the processors and leave the others to the exchange. "
        f"{figures.MARKED} {figures.doubts(runs[0])}",
        alt="Time of Legendre transforms with exchanges over that of blocking calls, below 1 a gain: the talk "
        f"{' and '.join(f'{gain:.2f}' for gain in gains())}; {listed}.",
        tables="legendre_overlap legendre_runs",
    )
