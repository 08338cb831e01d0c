"""A replay of 1982 on paced devices: the nine configurations of Fig. 5.1 and the seven pairs of Fig. 5.3 (X10, X12).

All of it is the report's over one factor: CPU times, words and rates as printed.  What no table prints comes from rows
of single jobs, each named in :data:`CALIBRATED`; no row of a pair gives anything, so that what jobs lose beside each
other comes from the devices that they share.  Of the disks the tables print a rate of one, alone, and of the groups of
four behind either input/output processor: these are the rate of a channel, and of two trunks.  The report does not say
which files shared a disk.  Pairs with a forecast on disk therefore run twice: with a disk for each of eight work files,
and with all on four disks, one behind each controller; write-ups and post-processing take all disks in turn.
"""

import functools
from collections.abc import Sequence
from typing import Any

from companion import tables
from companion.bench import Case, Measurement
from companion.chapters import cases_of, outputs_of
from companion.chapters.xmp1982 import model
from companion.chapters.xmp1982.experiments.pairs import require_two

#: (table, row) -> what it gives to the replay.
CALIBRATED = {
    ("fig5_2", "ssd2-sync"): "time of the system in every step",
    ("fig5_2", "ssd4-sync"): "requests to SSD, synchronous driver",
    ("fig5_2", "ssd2-async"): "requests to SSD, asynchronous driver",
    ("fig5_2", "bmr1"): "requests to buffer memory",
    ("fig5_2", "disk4"): "what a request to a disk costs",
    ("fig5_1", "ssd2-sync"): "words that a post-processing job moves",
}
#: How many times as fast as in 1982: the slower, the less of a job is what the host adds.
_FACTOR = {"quick": 12000.0, "paper": 60.0}
#: Bands of a scan: the first read and the last write do not overlap, which leaves 94 % that do, as the report has it.
_BANDS = {"quick": 8, "paper": 16}


@functools.cache
def _prose() -> dict[str, str]:
    return dict(tables.printed(model.DOCUMENT, "prose").set_index("fact")["value"])


@functools.cache
def _rates() -> dict[str, float]:
    """Words a second, from printed words and times where there are both."""
    listed = tables.printed(model.DOCUMENT, "fig7_2").set_index("test")[["mwords", "time"]].astype(float)
    return (1e6 * listed["mwords"] / listed["time"]).to_dict()


def _scan(program, share: float, times: int, band: float) -> float:
    """Seconds of ``times`` scans with a driver that overlaps both ways, of bands that take ``band`` to move."""
    computing = share / program.bands
    return times * (program.bands * max(computing, band) + min(computing, band) + band)


def _disk_request(program, net: float, system: float) -> float:
    """Seconds that a request to a disk costs, where a forecast on four disks takes ``net`` without write-up steps.

    Each of its four files has a disk; while one band is computed, the next is read and the last written.  A scan is as
    many of the longer of both as there are bands, and one of each at its ends.
    """
    low, high = 0.0, net
    plain, radiating = program.steps - program.radiations, program.radiations
    for _ in range(200):
        band = (low + high) / 2
        taken = _scan(program, program.step + system, plain, band)
        taken += _scan(program, program.step + program.radiation + system, radiating, band)
        low, high = (band, high) if taken < net else (low, band)
    moving = program.words / 2 / program.bands / _rates()["disk"]
    return (high - moving) * program.bands / program.rows


@functools.cache
def machine(bands: int) -> tuple[Any, tuple, dict[str, float]]:
    """Program and devices of 1982, and seconds of the system in every step, by what costs them."""
    from kernels.files import replay
    from kernels.gridpoint import Problem

    known, constants, prose, rates = model.facts(), model.calibrate(), _prose(), _rates()
    parts = tables.printed(model.DOCUMENT, "fig4_4").set_index("section")["cray_xmp"].astype(float).to_dict()
    post = tables.printed(model.DOCUMENT, "fig5_1").set_index("configuration").loc["ssd2-sync"]
    radiations, ups = int(prose["radiation_steps"]), int(prose["write_up_steps"])
    steps, rows = int(known["steps"]), Problem.preset("paper").nj
    step = float(known["cpu_simulator"] - radiations * parts["RADIATION OVERHEAD"]) / steps
    written = 1e6 * (float(prose["write_up_least"]) + float(prose["write_up_most"])) / 2
    program = replay.Program(
        steps,
        step,
        radiations,
        parts["RADIATION OVERHEAD"],
        ups,
        parts["FORECAST WRITE-UP STEP"] - step,
        1e6 * known["volume"] / 2 / steps,
        written,
        float(post["pp_cpu"]),
        0.0,
        rows,
        bands,
    )
    system = {name: float(getattr(constants, f"requests_{name}")) / steps for name in ("sync", "async", "bmr")}
    system["base"] = float(constants.base_simulator) / steps
    request = _disk_request(program, model.printed_net("fig5_2", "disk4"), system["base"])
    waits = float(post["pp_clock"]) - program.post
    program = program._replace(post_words=(waits - 2 * rows * request) * rates["disk"])
    trunks = tuple(rates[name] for name in ("disks-biop", "disks-diop"))
    devices = (
        replay.Device("ssd", rates["ssd"]),
        replay.Device("bmr", rates["bmr"]),
        replay.Device("disk", rates["disk"], request, int(prose["disks"]), trunks),
    )
    return program, devices, system


def job(name: str, system: dict[str, float]):
    """``ssd2-async`` as a job of the replay; buffer memory and one file overlap half, as section 3.1 says."""
    from kernels.files import replay

    where = model.layout(name, simulated=True)
    overlap = "none" if where.synchronous else "both" if where.files > 1 or where.overlapped else "one"
    asked = {"disk": 0.0, "bmr": system["bmr"]}.get(where.device, system["sync" if where.synchronous else "async"])
    return replay.Job(where.device, where.files, overlap, system["base"] + asked * max(1, where.files // 2))


def tests() -> list[str]:
    """Configurations and pairs, as the report's tables name them."""
    alone = tables.printed(model.DOCUMENT, "fig5_1")["configuration"]
    pairs = tables.printed(model.DOCUMENT, "fig5_3")["test"]
    return [*alone, *dict.fromkeys(pairs[pairs != "ecmwf"])]


#: What the name of a test is followed by, where all files are on as many disks as there are controllers.
SHARED = ", four disks"


def observe(result) -> dict[str, float]:
    """When all was complete, and of each job its forecast, net and with write-up steps, and its post-processing."""
    found = {"complete": result.complete}
    for n, (end, net) in enumerate(zip(result.ends, result.net, strict=True)):
        found[f"job_{n}_forecast"], found[f"job_{n}_net"] = end, net
        found[f"job_{n}_posts"] = sum(post.end - post.begin for post in result.posts if post.job == n)
    return found


@cases_of("xmp1982-replay")
def _cases(preset: str, threads: int) -> list[Case]:
    require_two()
    from kernels.files import replay

    program, devices, system = machine(_BANDS[preset])
    controllers, found = int(_prose()["disk_controllers"]), []
    shared = tuple(each._replace(channels=controllers) if each.name == "disk" else each for each in devices)
    named = [(name, "", devices) for name in tests()]
    named += [(name, SHARED, shared) for name in tests() if "+" in name and "disk" in name]
    for name, suffix, these in named:
        jobs = tuple(job(each, system) for each in name.split("+"))
        problem = replay.Problem(jobs, program, these, "disk", _FACTOR[preset])
        parameters = {"test": name + suffix, "jobs": len(jobs), "paced": "yes", "factor": _FACTOR[preset]}
        found.append(Case(name + suffix, replay, problem, 1, parameters, observe))
    return found


@outputs_of("xmp1982-replay")
def replayed(measurements: Sequence[Measurement]) -> dict[str, Any]:
    """Seconds of the replay times its factor, test by test and job by job: what stands beside the printed seconds."""
    rows = [(each, n) for each in measurements for n in range(each.parameters["jobs"])]

    def scaled(name: str, pairs) -> list[list[float]]:
        values = ([each.parameters["factor"] * value for value in each.observed[name.format(n)]] for each, n in pairs)
        return [list(sample) for sample in zip(*values, strict=True)]

    found = {
        "replay_name": [each.parameters["test"] for each in measurements],
        "replay_test": [each.parameters["test"] for each, _ in rows],
        "replay_job": [n + 1 for _, n in rows],
        "replay_complete": scaled("complete", [(each, 0) for each in measurements]),
    }
    for name in ("forecast", "net", "posts"):
        found[f"replay_{name}"] = scaled(f"job_{{}}_{name}", rows)
    return found
