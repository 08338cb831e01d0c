"""The section *Can messages hide behind computing?*: Legendre transforms with their exchanges in flight."""

from supercomputers_rerun.companion import figures, models, tables
from supercomputers_rerun.companion.bench import Case, Ratio
from supercomputers_rerun.companion.common import pd, plural
from supercomputers_rerun.companion.conclusions import NOT, Finding, conclusion
from supercomputers_rerun.companion.experiments import experiment


@experiment("xc30-inflight", item="C7, C17", rounds=7, seconds={"paper": 120, "modern": 600}, ranks=2, unit="ms")
def exchanges(preset: str, threads: int, ranks: int = 2) -> list[Case]:
    """Inverse Legendre transforms with exchanges in flight: Ialltoallv against Alltoallv."""
    from supercomputers_rerun.kernels.mpi import overlap

    groups = overlap.Problem.preset(preset).groups
    wanted = [("alltoallv", 1), ("alltoallv", groups), *(("ialltoallv", n) for n in (2, 4, 8) if n <= groups)]
    cases = []
    for way, count in wanted:
        problem = overlap.Problem.preset(preset, way=way, groups=count, ranks=ranks)
        parameters = {"way": way, "groups": count}
        cases.append(Case(f"{way}, {plural(count, 'group')}", overlap, problem, threads, parameters))
    return cases


def to_blocking(run):
    """Each way of exchanging in words, and its time over that of MPI_Alltoallv in one piece."""
    frame = figures.cases(run, "way", "groups").sort_values(["way", "groups"])
    whole = frame[(frame["way"] == "alltoallv") & (frame["groups"] == 1)]["median"].item()
    found = figures.quantities(frame, to_blocking=lambda seconds: seconds / whole)
    words = {"alltoallv": "blocking", "ialltoallv": "in flight"}  # today's rows of the figure
    return found.assign(what=[f"{plural(row.groups, 'group')}, {words[row.way]}" for row in found.itertuples()])


def over(run, above: str, below: str) -> Ratio:
    """The time of one way of exchanging over that of another; cases by their labels."""
    seconds = dict(zip(run["label"].values, run["seconds"].values, strict=True))
    return figures.times(seconds[above], seconds[below])


def _cut_and_hidden(run) -> tuple[int, Ratio, Ratio]:
    """Most groups, what cutting into so many costs with blocking calls, and what messages in flight get back of it."""
    groups = int(run["groups"].values.max())
    cut = over(run, f"alltoallv, {groups} groups", "alltoallv, 1 group")
    hidden = over(run, f"ialltoallv, {groups} groups", f"alltoallv, {groups} groups")
    assert cut.interval and cut.interval[0] > 1.1 and (hidden.medians < 1 or not hidden.measurable)
    return groups, cut, hidden


def split(run) -> str:
    """What cutting a transform into groups costs, and what overlap gets back of it."""
    groups, cut, hidden = _cut_and_hidden(run)
    found = (
        f"take {hidden.medians:.2f} times as long as with" if hidden.measurable else "show no measurable difference to"
    )
    saves = "So overlap does save; but first" if hidden.measurable else "So overlap saves little, and first"
    return (
        f"On machine {figures.cpu(run)} transforms in {groups} groups with blocking calls take {cut.medians:.2f} times "
        f"as long as in one. With messages in flight they {found} blocking calls in as many groups. {saves} the work "
        "has to be cut into pieces, which costs more."
    )


def gains() -> "pd.Series":
    """Time of the inverse transform with messages in flight over that with blocking calls, in the talk."""
    times = tables.printed("xc30", "legendre_overlap").set_index("version")[["t2047", "t1198"]].astype(float)
    return times.loc["new"] / times.loc["original"]


@models.predicts(
    "xc30_inflight",
    models.overlap,
    "the time with messages in flight over that of blocking calls",
    "that a transform of few fields computes less efficiently, and that the library moves data only when it is called",
    "message message_rate",
    "xc30-inflight",
)
def hiding(run, machine):
    """Transforms with messages in flight over the blocking one in one piece: half of the coefficients leave a rank."""
    frame = to_blocking(run)
    place = run["label"].values.tolist().index("alltoallv, 1 group")
    ranks = float(run["ranks"].values[place])
    sent = float(run["bytes_written"].values[place]) / ranks * (ranks - 1) / ranks
    exchanging = models.transfer(frame["groups"], machine.message, sent, machine.message_rate)
    computing = float(run["median"].values[place]) - models.transfer(1, machine.message, sent, machine.message_rate)
    hidden = (frame["way"] == "ialltoallv").to_numpy(dtype=float)
    seconds = models.overlap(computing, exchanging, hidden)
    return frame[["what"]].assign(measured=frame["to_blocking"], predicted=seconds / float(run["median"].values[place]))


@exchanges.figure
def inflight(runs) -> "figures.Shown":
    """Time of the Legendre transforms with messages in flight over that with blocking calls, here and in the talk."""
    frames, talk = [to_blocking(run) for run in runs], "in flight, 2014"
    groups, expected = sorted(set(frames[0]["groups"]) - {1}), hiding.frame(runs[0])
    drawn = frames[0][frames[0]["groups"].isin([groups[0], groups[-1]])]
    left_out = "" if expected is None else " The model leaves out what the cut costs."
    # the two in as many groups beside each other, with blocking calls first
    shown = drawn.sort_values(["groups", "way"], ascending=[False, True])["what"].tolist()
    found = figures.dots(
        runs,
        frames,
        {"to_blocking": "{}"},
        printed={f"the talk, {name.upper()} (2014)": {talk: gain} for name, gain in gains().items()},
        names=[talk, *shown],
        model={what: time for what, time in models.by_row(expected).items() if what in set(shown)},
        note=models.said(hiding, expected),
        xlabel="time over that of blocking calls in one piece",
        legend_at="above 2",
        base=1,
        height=2.9,
        name="xc30_inflight",
        title=f"Overlap saved up to {100 * (1 - gains().min()):.0f} % in 2014; {_changes(runs[0])}",
        caption=f"Overlapping (in flight): a group is sent while the next is computed. T: how many waves.{left_out} "
        f"{figures.doubts(runs[0])}",
        tables="legendre_overlap legendre_runs",
    )
    axis = found.figure.axes[0]
    axis.set_xlim(left=min(0.7, axis.get_xlim()[0]))  # room for "faster"
    for word, side in (("faster ", "right"), (" slower", "left")):
        axis.text(1, 0.6, word, ha=side, va="center", size=9)
    rows = drawn.set_index("what").loc[shown]
    cut = [":\nthe cut" if way == "alltoallv" else "" for way in rows["way"]]
    said = [f"{_signed(time)}{word}" for time, word in zip(rows["to_blocking"], cut, strict=True)]
    figures.at_right(axis, [",\n".join(map(_signed, gains())), *said])
    of_title = [talk, *(what for what in shown if what.startswith(f"{groups[-1]} "))]
    for name, number in zip([talk, *shown], axis.texts[-len(shown) - 1 :], strict=True):
        number.set_weight("bold" if name in of_title else "normal")
    return found


def best(run) -> "pd.Series":
    """The row of :func:`to_blocking` that takes least time with messages in flight."""
    frame = to_blocking(run)
    return frame[frame["way"] == "ialltoallv"].sort_values("to_blocking").iloc[0]


def _signed(ratio: float) -> str:
    """How much more or less a ratio is than 1: ``+79 %``, ``−15 %``."""
    return f"{100 * (ratio - 1):+.0f} %".replace("-", "\N{MINUS SIGN}")


def _changes(run) -> str:
    """What messages in flight do in a run, the cut into most groups included, and what that cut does alone."""
    least = best(run)["to_blocking"]
    if least <= 1:
        return f"today it saves up to {100 * (1 - least):.0f} %"
    frame = to_blocking(run)
    groups = int(frame["groups"].max())
    most = frame[frame["groups"] == groups].set_index("way")["to_blocking"]
    flight, cut = (100 * (float(most[way]) - 1) for way in ("ialltoallv", "alltoallv"))
    return f"here cutting into groups costs {cut:.0f} %, with overlap {flight:.0f} %"


def paid(run) -> str:
    """What messages in flight gained then and cost today, and why."""
    (groups, cut, hidden), fastest = _cut_and_hidden(run), best(run)
    assert fastest["to_blocking_low"] > 1
    least, most = (100 * (fastest[f"to_blocking_{end}"] - 1) for end in ("low", "high"))
    compared = f"take as long as {groups} with blocking calls (no measurable difference)"
    if hidden.measurable:
        compared = f"take {100 * (1 - hidden.medians):.0f} % less time than {groups} with blocking calls"
    return (
        f"In 2014 they could, and saved up to {100 * (1 - gains().min()):.0f} % of a transform's time. With messages "
        "in flight, one group of fields is sent while the next is computed. On our 2 ranks it is fastest to send all "
        "fields in one piece with blocking calls, which wait until the messages have arrived. The fastest transform "
        f"with messages in flight takes {100 * (fastest['to_blocking'] - 1):.0f} % ({least:.0f} to {most:.0f}) longer "
        "than that. "
        f"Cutting the fields into groups costs time by itself: with blocking calls, {groups} groups take "
        f"{cut.medians:.1f} times as long as one piece. With messages in flight, {groups} groups {compared}."
    )


@conclusion(
    "xc30-c7",
    place='slide "Comms developments: Overlap MPI with CPU"',
    says="Messages in flight beside computing make the inverse transform faster, also at sizes to come.",
)
def in_flight() -> Finding:
    """Time of the transforms with exchanges in flight over that with blocking calls in one piece."""
    talk = 100 * (1 - gains())
    row = best(exchanges.runs()[0])
    return Finding(
        NOT,
        f"The talk gained {talk.min():.0f} and {talk.max():.0f} %. On two ranks of one machine the best of ours takes "
        f"{row['to_blocking']:.2f} times as long as blocking calls in one piece ({row['to_blocking_low']:.2f} to "
        f"{row['to_blocking_high']:.2f}): cut into groups the transform itself takes longer.",
        bears=row["to_blocking_low"] > 1 and talk.min() > 0,
    )
