"""Experiments of Hilldrup, *AIPS Benchmarks on the CLSC and PSC Cray X-MPs* (1989)."""

import tempfile
from pathlib import Path

import numpy as np

from companion import tables
from companion.bench import Case, Measurement
from companion.chapters import cases_of, outputs_of
from companion.chapters.aips58 import overhead
from companion.host import machine

#: Sizes of a preset.
SIZES = {"quick": ("small",), "paper": ("small", "medium", "large"), "modern": ("modern",)}
#: Bytes on an inch of tape; the memo prints the drive's speed in inches a second and not the density.
_TAPE_DENSITY = 6250


def _middle(kind: str):
    return lambda measurement: float(np.median(measurement.observed[kind]))


def _spread(measurement: Measurement) -> float:
    return max(measurement.observed["real"]) / min(measurement.observed["real"]) - 1


_TIMES = {"cpu": _middle("cpu"), "real": _middle("real")}


def _outputs(*names: str, **made):
    """The named parameters of every case, and what is ``made`` of its measurement."""

    def outputs(measurements):
        found = {f"run_{name}": [m.parameters[name] for m in measurements] for name in names}
        return found | {f"run_{name}": [make(m) for m in measurements] for name, make in made.items()}

    return outputs


def _times(result) -> dict[str, float]:
    return {"cpu": result.cpu_s, "real": result.real_s}


def _case(label: str, threads: int, parameters: dict, **fields) -> Case:
    from kernels.imaging import ddt

    problem = ddt.Problem(**fields)
    given = {"task": problem.task, "size": problem.size} | parameters
    return Case(label, ddt, problem, threads, given, _times)


@cases_of("aips58-ddt")
def _ddt(preset: str, threads: int) -> list[Case]:
    """All thirteen problems at every size of the preset."""
    from kernels.imaging import tasks

    return [
        _case(f"{size} {task}", threads, {}, task=task, size=size) for size in SIZES[preset] for task in tasks.TASKS
    ]


def _bits(kind: str):
    """Fewest bits of a case's products, by ``kind`` ("maximum" or "rms"); None where nothing is compared so."""
    return lambda measurement: min(
        (check["value"] for check in measurement.checks_after if check["name"].endswith(f"bits, {kind}")), default=None
    )


def _memory(measurement: Measurement) -> int:
    from kernels.imaging import ddt

    return ddt.footprint(measurement.problem).memory


_made = {"bits_maximum": _bits("maximum"), "bits_rms": _bits("rms"), "spread": _spread, "memory": _memory}
outputs_of("aips58-ddt")(_outputs("task", "size", **_TIMES, **_made, threads=lambda m: m.threads))


def _places() -> dict[str, str | None]:
    """A place in memory, where the system has one, and the folder for temporary files."""
    found: dict[str, str | None] = {"temporary folder": tempfile.gettempdir()}
    memory = Path("/dev/shm")
    return ({"memory": str(memory)} if memory.is_dir() else {}) | found


@cases_of("aips58-messages")
def _messages(preset: str, threads: int) -> list[Case]:
    """Every way of writing messages, in a place that is quick and in one that is slower."""
    from kernels.files import messages

    cases = []
    for place, folder in _places().items():
        for way in messages.WAYS:
            problem = messages.Problem.preset(preset, way=way, folder=folder)
            given = {"way": way, "place": place, "messages": problem.messages}
            cases.append(Case(f"{way}, {place}", messages, problem, 1, given, _times))
    return cases


def _each(kind: str):
    """Seconds a message."""
    return lambda measurement: _TIMES[kind](measurement) / measurement.parameters["messages"]


outputs_of("aips58-messages")(_outputs("way", "place", cpu=_each("cpu"), real=_each("real")))


@cases_of("aips58-ddtload")
def _ddtload(preset: str, threads: int) -> list[Case]:
    """Procedures loaded and stored, a message about each line, by how the messages' file is reached."""
    from kernels.files import messages

    cases = []
    for way in ("late", "reopened", "kept", "off"):
        problem = messages.Problem.preset(preset, way=way, load=True)
        cases.append(Case(way, messages, problem, 1, {"way": way, "messages": problem.messages}, _times))
    return cases


outputs_of("aips58-ddtload")(_outputs("way", **_TIMES))


@cases_of("aips58-habits")
def _habits(preset: str, threads: int) -> list[Case]:
    """Every problem of the largest size from memory, and as AIPS: scratch files, and its messages by the model."""
    from kernels.imaging import tasks

    ddt = tables.load("aips58", "ddt")
    model = overhead.table(ddt, overhead.model(ddt, tables.load("aips58", "ddtload"))).set_index("problem")
    size, cases = SIZES[preset][-1], []
    for task in tasks.TASKS:
        for habits in (False, True):
            given = {"scratch": habits, "messages": int(model.loc[task, "messages"]) if habits else 0}
            shown = {"habits": int(habits), "messages": given["messages"]}
            label = f"{task}, {'as AIPS' if habits else 'in memory'}"
            cases.append(_case(label, threads, shown, task=task, size=size, **given))
    return cases


@cases_of("aips58-gather")
def _gather(preset: str, threads: int) -> list[Case]:
    """The two CLEANs with each form of the minor cycle."""
    from kernels.imaging import clean

    size = SIZES[preset][-1]
    return [
        _case(f"{task}, {method}", threads, {"method": method}, task=task, size=size, method=method)
        for task in ("APCLN", "MXCLN")
        for method in clean.METHODS
    ]


@cases_of("aips58-load")
def _load(preset: str, threads: int) -> list[Case]:
    """Four problems alone and beside as many busy processes as there are CPUs."""
    size = SIZES[preset][-1]
    return [
        _case(
            f"{task}, {'loaded' if beside else 'alone'}",
            threads,
            {"beside": beside},
            task=task,
            size=size,
            beside=beside,
        )
        for task in ("UVSRT", "UVMAP", "ASCAL", "VTESS")
        for beside in (0, machine.usable_cpus())
    ]


@cases_of("aips58-tape")
def _tape(preset: str, threads: int) -> list[Case]:
    """The loading problems: our reader and astropy's from the disk, ours at the pace of a tape."""
    cases, tape = [], float(tables.load("aips58", "prose")["tape_speed"]) * _TAPE_DENSITY / 1e6  # MB/s
    for size in SIZES[preset]:
        for task in ("IMLOD", "UVLOD"):
            for source, reader, pace in (
                ("disk", "raw", 0.0),
                ("disk, astropy", "astropy", 0.0),
                ("paced as a tape", "raw", tape),
            ):
                label = f"{size} {task}, {source}"
                cases.append(_case(label, threads, {"source": source}, task=task, size=size, reader=reader, pace=pace))
    return cases


@cases_of("aips58-stripes")
def _stripes(preset: str, threads: int) -> list[Case]:
    """One file against four stripes of the memo's blocks, waited for one by one and all at once."""
    from kernels.files import stripes

    facts = tables.load("aips58", "prose")
    sizes = {"files": int(facts["stripes"]), "block_bytes": int(facts["block_size"]) * 1024}
    cases = []
    for place, folder in _places().items():
        for way in stripes.WAYS:
            problem = stripes.Problem.preset(preset, way=way, folder=folder, **sizes)
            given = {"way": way, "place": place, "bytes": stripes.work(problem).bytes_written}
            cases.append(Case(f"{way}, {place}", stripes, problem, 1, given, _moved))
    return cases


def _moved(result) -> dict[str, float]:
    return {"write": result.write_s, "read": result.read_s, "cold": float(result.cold)}


def _rate(kind: str):
    """MB/s of the median run."""
    return lambda m: m.parameters["bytes"] / _middle(kind)(m) / 1e6


_made = {"write": _rate("write"), "read": _rate("read"), "cold": lambda m: min(m.observed["cold"])}
outputs_of("aips58-stripes")(_outputs("way", "place", **_made))

_made = {**_TIMES, "slowest": lambda m: max(m.observed["real"]), "spread": _spread}
outputs_of("aips58-habits")(_outputs("task", "size", "habits", "messages", **_made))
outputs_of("aips58-gather")(_outputs("task", "size", "method", **_made))
outputs_of("aips58-load")(_outputs("task", "size", "beside", **_made))
outputs_of("aips58-tape")(_outputs("task", "size", "source", **_made))
