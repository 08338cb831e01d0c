"""The experiment ``constants``: what one call, one load, one message and one byte cost on this machine."""

from dataclasses import replace
from tempfile import gettempdir
from typing import Any

from supercomputers_rerun.companion import experiments, figures, host, models
from supercomputers_rerun.companion.bench import Case
from supercomputers_rerun.companion.common import Refusal, np, pd, size
from supercomputers_rerun.companion.experiments import Output, experiment

#: Bytes of a write that costs its call alone, of the small file that is opened, and of a write that costs its bytes.
_FEW, _SMALL, _MANY = 8, 4096, 2**20
#: Writes or sets of calls of one repeat; the file of the long writes has 32 MB.
_CALLS, _SETS, _BLOCKS = 10_000, 1000, 32
#: Pages that are touched: 64 MB.
_PAGES = 2**14
#: Words of a record past the page cache (4 MB), records of its file, and transfers: as many writes as reads.
_RECORD, _RECORDS, _TRANSFERS = 2**19, 16, 32
#: Records of 4 KB of the file of short transfers.
_SHORT = 100
#: A working set in memory has at least so many bytes, and four times the largest cache up to the second number.
_LEAST, _MOST = 2**26, 2**29
#: The experiment whose shortest and longest messages give the two constants of a message.
_MESSAGES = "p5plus-exchange"
#: Seconds for these.
_MESSAGING = 2.0


def caches() -> list[tuple[str, int]]:
    """Data caches of this machine as the system reports them, name and bytes, the smallest first."""
    found = host.describe()["caches"]
    known = {(each["level"], each["bytes"]) for each in found if each["type"] != "instruction" and each["bytes"]}
    return [(f"L{level}", nbytes) for level, nbytes in sorted(known, key=lambda cache: cache[1])]


def _beyond(known: list[tuple[str, int]]) -> int:
    """Bytes that no cache holds."""
    return min(_MOST, max(_LEAST, 4 * known[-1][1] if known else 0))


def levels() -> list[tuple[str, int | None, int]]:
    """Caches and memory: name, bytes that it holds (None of memory), and working set whose loads show its latency.

    A cache shows it with half of what it holds, and with four times the next smaller one where that is less: what a
    virtual machine has of a large cache that others use too is not known.
    """
    known, found = caches(), []
    for number, (name, nbytes) in enumerate(known):
        most = 4 * known[number - 1][1] if number else nbytes
        found.append((name, nbytes, 2 ** int(np.log2(min(nbytes // 2, most)))))
    return [*found, ("memory", None, _beyond(known))]


@experiment("constants", item="none", rounds=7, seconds={"quick": 12.0, "paper": 60.0})
def constants(preset: str, threads: int) -> list[Case]:
    """Constants of this machine for the five models.

    Each kind of waiting by itself: calls, loads, bytes, messages, a barrier, operations.
    """
    from supercomputers_rerun.kernels.files import calls, devices
    from supercomputers_rerun.kernels.files.filesystem import direct_refusal
    from supercomputers_rerun.kernels.memory import latency, stream
    from supercomputers_rerun.kernels.processor import barrier, peak

    def case(name: str, kernel: Any, problem: Any, count: int = 1, **observed: Any) -> Case:
        return Case(models.WORDS[name][0], kernel, problem, count, {"constant": name}, **observed)

    found = [
        case("write", calls, calls.Problem("write", _FEW, _CALLS), observe=_calling),
        case("seek", calls, calls.Problem("seek", _FEW, _CALLS), observe=_calling),
        case("opened", calls, calls.Problem("open", _SMALL, _SETS), observe=_calling),
        case("touched", calls, calls.Problem("touch", _FEW, _PAGES), observe=_calling),
        case("cache_rate", calls, calls.Problem("write", _MANY, _BLOCKS), observe=_calling),
        case("peak", peak, peak.Problem.preset("quick")),
    ]
    if not direct_refusal(gettempdir()):
        short = devices.Job("direct", devices.BLOCK, 2 * _SHORT, _SHORT)
        found.append(case("disk_call", devices, devices.Problem((short,)), observe=_moving))
        job = devices.Job("direct", _RECORD, _TRANSFERS, _RECORDS)
        found.append(case("disk_rate", devices, devices.Problem((job,)), observe=_moving))
    if host.usable_cpus() > 1:
        found.append(case("barrier", barrier, barrier.Problem.preset("quick"), 2))
    array = stream.Problem(_beyond(caches()) // 8, nontemporal=True, pages="huge")
    found.append(case("bandwidth", stream, array))
    found.append(case("bandwidth_all", stream, replace(array, binding=threads > 1), threads))
    loads = latency.Problem.preset("quick").loads
    for name, _, nbytes in levels():
        problem = latency.Problem(nbytes, loads=loads, pages="huge")
        found.append(Case(f"a load of {size(nbytes)}, {name}", latency, problem, 1, {"constant": f"latency {name}"}))
    return found


def _calling(result) -> dict[str, float]:
    """Seconds of the calls alone."""
    return {"seconds": result.seconds}


def _moving(result) -> dict[str, float]:
    """Seconds of the transfers alone: the file is made before."""
    return {"seconds": result.clock}


def _messages() -> dict[str, Output]:
    """Latency and rate of messages, or the sentence that says why this machine has none."""
    try:
        record = experiments.run_record(_MESSAGES, budget=_MESSAGING, ranks=2, progress=False)
    except (Refusal, ValueError, OSError, MemoryError) as reason:
        return {"absent": Output(f"no message was measured: {reason}", None, "", "what this machine lacks")}
    times = {case["problem"]["bytes"]: float(np.median(case["samples"])) for case in record["measurements"]}
    few, many = min(times), max(times)
    rate = (many - few) / (times[many] - times[few])
    return {
        "message": Output(times[few], "s", "", models.WORDS["message"][0]),
        "message_rate": Output(rate, "byte/s", "", models.WORDS["message_rate"][0]),
    }


@constants.outputs_of
def _found(measurements) -> dict[str, Output]:
    """The constants, each from the median of its samples."""
    known = {each.parameters["constant"]: each for each in measurements}
    outputs = {}
    for name, case in known.items():
        if name not in models.WORDS:
            continue
        words, units = models.WORDS[name]
        seconds = float(np.median(case.observed.get("seconds", case.samples)))
        amount = case.work["flops"] if units == "flop/s" else case.work["bytes_read"] + case.work["bytes_written"]
        value = seconds / _calls_of(case) if units == "s" else amount / seconds
        outputs[name] = Output(value, units, "", words)
    chased = [(name, held, known[f"latency {name}"]) for name, held, _ in levels()]
    outputs["level_name"] = Output([name for name, *_ in chased], None, "level", "caches and memory")
    outputs["held"] = Output([held for _, held, _ in chased], "byte", "level", "what a level holds")
    loads = [case.median / case.problem.loads for *_, case in chased]
    outputs["latency"] = Output(loads, "s", "level", "a load that depends on the one before")
    return outputs | _messages()


def _calls_of(case) -> int:
    """Calls, transfers or barriers of one repeat."""
    problem = case.problem
    if hasattr(problem, "jobs"):
        return problem.jobs[0].transfers
    return problem.count if hasattr(problem, "count") else problem.n


@constants.figure
def constants_table(runs) -> "figures.Shown":
    """The constants of each machine, in the units in which people speak of them."""
    named = [(figures.cpu(run), dict(models.in_words(models.of_record(run)))) for run in runs]
    rows = list(dict.fromkeys(words for _, found in named for words in found))
    columns = {name: [found.get(words, "not measured") for words in rows] for name, found in named}
    return figures.table(
        pd.DataFrame({"what": rows} | columns),
        index=False,
        name="constants",
        caption="What one call, one load, one message, one byte and one operation cost: medians.",
    )
