"""The section *What does a message cost?*: procedures loaded, with a message about each line."""

from supercomputers_rerun.companion import figures, models, tables
from supercomputers_rerun.companion.bench import Case
from supercomputers_rerun.companion.chapters.aips58 import common
from supercomputers_rerun.companion.chapters.aips58.common import KINDS
from supercomputers_rerun.companion.common import np, pd, significant
from supercomputers_rerun.companion.conclusions import PARTLY, THEN, Finding, conclusion
from supercomputers_rerun.companion.experiments import experiment

#: How a message reaches its file, in words.
_WAYS = {"late": "opened, late answer", "reopened": "opened for each", "kept": "kept open", "off": "no file"}


@experiment("aips58-ddtload", item="A5, A6", rounds=7, seconds={"paper": 20, "modern": 60}, unit="s", of="real")
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
    real = [float(np.median(run["observed_real"].values[number])) for number in range(len(ways))]
    without = real[ways.index("off")]
    latency = {"kept": machine.write, "reopened": machine.write + machine.opened}
    seconds = np.array([models.transfer(count, latency.get(way, np.nan)) for way in ways])
    what = [f"today: {_WAYS[way]}" for way in ways]
    found = pd.DataFrame({"what": what, "measured": np.array(real) - without, "predicted": seconds})
    return found.assign(real=without + seconds)


@load.figure
def loading(runs) -> "figures.Shown":
    """RUN DDTLOAD: CPU and real time on three systems, and in runs by how messages reach their file."""
    frames, old = [], tables.load("aips58", "ddtload")
    for run in runs:
        what = pd.DataFrame({"what": [f"today: {_WAYS[way]}" for way in run["way"].values]})
        frames.append(figures.with_spread(what, **{kind: figures.sampled(run, f"observed_{kind}") for kind in KINDS}))
    expected = added.frame(runs[0])
    return common.both_times(
        runs,
        frames,
        old,
        name="aips58_loading",
        title="A run that writes hundreds of messages",
        caption="The CPU time of the process that answers late is left out.",
        tables="ddtload",
        model=models.by_row(expected, "real"),
        note=models.said(added, expected),
    )


def cost(run) -> list[str]:
    """CPU time of a message: at Pittsburgh by the model, and in a run by how its file is reached."""
    from supercomputers_rerun.companion.chapters.aips58 import pittsburgh

    ends = [pittsburgh.model(count).message_seconds for count in (max(pittsburgh.COUNTS), min(pittsburgh.COUNTS))]
    late = 1e6 * np.median(_spent(run, "late") - _spent(run, "reopened")) / float(run["messages"].values[0])
    few, many = min(pittsburgh.COUNTS), max(pittsburgh.COUNTS)
    opened = figures.times(_spent(run, "reopened"), _spent(run, "off"))
    return [
        f"By our model of the tables, a message cost Pittsburgh {ends[0]:.2f} s of CPU time if the run wrote {many} of "
        f"them, and {ends[1]:.2f} s if it wrote {few}.",
        f"On {figures.cpu(run)} a run that opens the file for each message takes {opened.times} the CPU time of one "
        f"without the file. Asking another process first adds {significant(float(late), 2)} µs of CPU time to a "
        "message, the median of the rounds.",
    ]


@conclusion(
    "aips58-c9",
    place="section 6, note 3",
    says="It is the file of messages that costs Pittsburgh its CPU time; without it Toronto is nearly reached.",
)
def message_file() -> Finding:
    """CPU time with the file opened for each message over that without a file, and with another process asked first."""
    run = load.runs()[0]
    opened = figures.times(_spent(run, "reopened"), _spent(run, "off"))
    asked = figures.times(_spent(run, "late"), _spent(run, "off"))
    return Finding(
        PARTLY,
        f"Opening the file for each message alone takes {opened.times} the CPU time of no file. Asking another process "
        f"first, as Pittsburgh's system had to, takes {asked.times}.",
        bears=not opened.measurable and asked.measurable and asked.medians > 2,
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
