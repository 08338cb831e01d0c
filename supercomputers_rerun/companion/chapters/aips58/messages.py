"""The section *What does a message cost?*: procedures loaded, with a message about each line."""

from supercomputers_rerun.companion import figures, models, tables
from supercomputers_rerun.companion.bench import Case
from supercomputers_rerun.companion.chapters.aips58 import common, pittsburgh
from supercomputers_rerun.companion.chapters.aips58.common import KINDS, SYSTEMS
from supercomputers_rerun.companion.common import np, pd, rounded, significant
from supercomputers_rerun.companion.conclusions import PARTLY, THEN, Finding, conclusion
from supercomputers_rerun.companion.experiments import experiment

#: Seconds that the process which is asked first takes at least to answer.
_DELAY = 0.5e-3
#: How a message reaches its file, in words.
_WAYS = {
    "late": "ask another process",
    "reopened": "file opened each time",
    "kept": "file kept open",
    "off": "no file",
}


@experiment(
    "aips58-ddtload", item="A5, A6", threads=1, rounds=7, seconds={"paper": 20, "modern": 60}, unit="s", of="real"
)
def load(preset: str, threads: int) -> list[Case]:
    """The command RUN DDTLOAD: procedures translated and stored, with hundreds of messages."""
    from supercomputers_rerun.kernels.files import messages

    cases = []
    for way in _WAYS:
        problem = messages.Problem.preset(preset, way=way)
        cases.append(Case(way, messages, problem, 1, {"way": way, "messages": problem.messages}, common.times))
    return cases


def _spent(run, way: str) -> "np.ndarray":
    """CPU seconds of the rounds of one way."""
    return run["observed_cpu"].values[run["way"].values.tolist().index(way)]


@models.predicts(
    "aips58_loading",
    models.transfer,
    "the seconds that messages add to a run without a file",
    "the interpreter's own time around each call",
    "write opened",
    "aips58-ddtload",
)
def added(run, machine):
    """Real seconds that messages add: a write each, and where their file is opened for each an open and close too."""
    ways = run["way"].values.tolist()
    count = float(run["messages"].values[0])
    real = np.median(run["observed_real"].values, axis=1)
    without = real[ways.index("off")]
    latency = {"kept": machine.write, "reopened": machine.write + machine.opened}
    seconds = np.array([models.transfer(count, latency.get(way, np.nan)) for way in ways])
    what = [f"today: {_WAYS[way]}" for way in ways]
    measures = {"measured": real - without, "predicted": seconds, "real": without + seconds}
    return pd.DataFrame({"what": what, **measures})


@load.figure
def loading(runs) -> "figures.Shown":
    """RUN DDTLOAD: CPU and real time on three systems, and in runs by how messages reach their file."""
    frames, expected = [], added.frame(runs[0])
    for run in runs:
        what = pd.DataFrame({"what": [f"today: {_WAYS[way]}" for way in run["way"].values]})
        frames.append(figures.with_spread(what, **{kind: figures.sampled(run, f"observed_{kind}") for kind in KINDS}))
    old = tables.load("aips58", "ddtload").sel(system=list(SYSTEMS))
    (_, toronto, pittsburgh_cpu), real = old["cpu"].values, old["real"].values
    dearest = runs[0]["way"].values[int(frames[0]["cpu"].argmax())]
    asking = "; today asking another process costs most" if dearest == "late" else ""
    shown = common.both_times(
        runs,
        frames,
        old,
        name="aips58_loading",
        title=f"In Pittsburgh DDTLOAD needed {pittsburgh_cpu / toronto:.0f} times Toronto's CPU time{asking}",
        caption="Right: CPU and real time; other users lengthen mostly real time. Below, our stand-in: the more work "
        "for each message, the more time.",
        tables="ddtload",
        model=models.by_row(expected, "real"),
        note=models.said(added, expected),
    )
    both = zip([*old["cpu"].values, *frames[0]["cpu"]], [*real, *frames[0]["real"]], strict=True)
    axis = shown.figure.axes[0]
    figures.at_right(axis, [" / ".join(common.spoken(each) for each in pair) for pair in both])
    for number in axis.texts[1:3]:  # of both Crays, which the title compares
        number.set_weight("bold")
    axis.axhline(len(real) - 0.5, color=figures.INK, linewidth=0.8)  # then and today
    ends = axis.get_xlim()
    axis.set_xticks([0.01, 1, 100], ["0.01", "1", "100"])  # more would touch
    axis.set_xticks([], minor=True)
    axis.set_xlim(ends)  # which ticks may have widened
    words = {"ha": "right", "va": "center", "style": "italic", "size": 9, "color": figures.INK}
    middle = len(real) + (len(frames[0]) - 1) / 2
    axis.text(0.97, middle, "a smaller\nstand-in", transform=axis.get_yaxis_transform(), **words)
    return shown


def then() -> str:
    """RUN DDTLOAD at both sites, and the CPU time of a message by the model."""
    load = tables.load("aips58", "ddtload")
    (convex, toronto, waited), cpu = load["real"].sel(system=list(SYSTEMS)).values, load["cpu"]
    times = float(cpu.sel(system="PSC") / cpu.sel(system="CLSC"))
    counts = pittsburgh.COUNTS
    assert toronto > convex and times > float(tables.load("aips58", "prose")["ddtload_factor"])
    more = float(cpu.sel(system="PSC") - cpu.sel(system="CLSC"))
    ends = [more / each for each in counts]
    assert all(0.05 < each < 0.15 for each in ends)
    toll = pittsburgh.extra().sel(size="small", problem=pittsburgh.TOLD).item()
    few, many = (rounded(toll / each) for each in ends)
    return (
        f"The command took {toronto:.0f} s in Toronto, with no other user, and {waited / 60:.0f} minutes among "
        "Pittsburgh's users. Because other users lengthen real time, CPU time is the fair number: Pittsburgh needed "
        f'{times:.0f} times as much, {more:.0f} s more. If "hundreds" means {counts[0]} to {counts[-1]}, and '
        "the messages took all these seconds, each cost about a tenth of a second. At that price the toll of "
        f"{pittsburgh.TOLD} in the small test would pay for {few} to {many} messages (the memo gives no count)."
    )


def asked(run) -> float:
    """CPU seconds of a message whose file is opened once another process has answered, over one without a file."""
    return float(np.median(_spent(run, "late") - _spent(run, "off"))) / int(run["messages"].values[0])


def cost(run) -> str:
    """What messages cost in a run, by how their file is reached."""
    reopened, off = (_spent(run, way) for way in ("reopened", "off"))
    count = int(run["messages"].values[0])
    waited = [float(np.median(run["observed_real"].values[run["way"].values == way])) for way in ("late", "off")]
    assert count * _DELAY > 0.5 * (waited[0] - waited[1])
    return (
        f"Today we imitate the command, with {count} messages. Opening the file anew for each takes "
        f"{figures.times(reopened, off).briefly} the CPU time of a run without a file. If another process must answer "
        f"before each opening, a message costs {significant(1e6 * asked(run), 2)} µs more CPU time than without a "
        "file (that of the other process not counted). In real time the run that asks takes "
        f"{waited[0] / waited[1]:.0f} times as long as without a file, mostly because we delay each answer by "
        f"{1e3 * _DELAY:g} ms."
    )


@conclusion(
    "aips58-c9",
    place="section 6, note 3",
    says="Without its file of messages DDTLOAD takes less CPU time at Pittsburgh, more in line with Toronto's.",
)
def message_file() -> Finding:
    """CPU time with the file opened for each message over that without a file, and with another process asked first."""
    run = load.runs()[0]
    opened = figures.times(_spent(run, "reopened"), _spent(run, "off"))
    asked = figures.times(_spent(run, "late"), _spent(run, "off"))
    return Finding(
        PARTLY,
        f"Opening the file for each message takes {opened.times} the CPU time of no file. Asking another process "
        f"first, our stand-in for Pittsburgh's system, takes {asked.times}. So the file costs CPU time, and the asking "
        "most of it.",
        bears=opened.measurable and 1 < opened.medians and asked.medians - 1 > 2 * (opened.medians - 1),
    )


@conclusion(
    "aips58-c10",
    place="section 2",
    says="To be suspended for five minutes when a file is away would be intolerable in interactive work.",
)
def suspended() -> Finding:
    """Five minutes against the real time of a problem at Toronto."""
    seconds = 60 * float(tables.load("aips58", "prose")["retry_delay"])
    real = common.ddt()["real"].sel(system="CLSC", size="small")
    return Finding(
        THEN,
        f"One such wait is {seconds / float(real.median()):.0f} times what the median small problem took at Toronto. "
        "No system that we run suspends a job so.",
        bears=seconds > 10 * float(real.median()),
    )
