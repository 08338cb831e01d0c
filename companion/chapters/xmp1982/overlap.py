"""The section *What does overlapping save?*: devices paced to the report's balance, and this host's own.

The *paced* device is memory that gives bytes at a chosen rate: so slow that a step's computing and its transfers have
the report's proportion; the simulator computes, as long as makes such rates possible.  Transfers *alone* are the same
requests without a forecast; what overlaps perfectly takes as long as the slower of the two.
"""

import tempfile
from dataclasses import replace

import numpy as np

from companion import figures, tables
from companion.bench import Case
from companion.chapters.xmp1982 import forecast
from companion.chapters.xmp1982.rows import Measured, dots, observed
from companion.experiments import experiment

#: Work files of the paced comparison: device, overlap.
_PACED = (("SSD", "none"), ("SSD", "both"), ("BMR", "none"), ("BMR", "one"), ("BMR", "both"))
#: Length of the forecasts, h: shares do not depend on it.
HOURS = 6.0
#: Seconds that a step of the paced comparison computes, and its steps.
_STEP, _PACED_STEPS = {"quick": 0.05, "paper": 0.4}, 6
#: Devices of the host: name, work files, place; and where files on them are, in a sentence.
_DEVICES = (("memory", 2, "memory"), ("page cache", 2, "cache"), ("disk, O_DIRECT", 4, "direct"))
_WHERE = {"memory": "in memory", "page cache": "in the page cache", "disk, O_DIRECT": "on a disk, past the page cache"}


def balance() -> dict[str, float]:
    """Transfers of a step over its computing, as the report has them: volume over rate over CPU time of a step."""
    files = tables.load("xmp1982", "sec3_1")
    moved = 2 * 8 * float((files["file_size"] * files["work_files"]).max() / 2)  # Mbyte: what is read, and written
    rates = tables.load("xmp1982", "fig7_3")["stand_alone"]
    step = float(tables.load("xmp1982", "fig4_4")["cpu"].sel(section="NORMAL FORECAST TIME STEP", machine="Cray X-MP"))
    return {device: moved / float(rates.sel(target=device)) / step for device in ("SSD", "BMR")}


class _Stand:
    """The simulator with steps that compute for ``seconds``; for none, transfers alone."""

    def __init__(self, seconds: float):
        from kernels.gridpoint import simulator

        self.__name__ = "kernels.gridpoint.simulator, " + (f"steps of {seconds:g} s" if seconds else "transfers alone")
        self.footprint, self.run = simulator.footprint, simulator.run
        self.verify, self.work = simulator.verify, simulator.work
        self._setup, self._seconds = simulator.setup, seconds

    def setup(self, problem, seed: int = 0):
        """The pace."""
        return replace(self._setup(problem), steps={"normal": self._seconds})


@experiment(
    "xmp1982-overlap",
    item="X6",
    title="The cost of not overlapping",
    rounds=5,
    seconds={"quick": 3, "paper": 400},
    presets=("quick", "paper"),
)
def drivers(preset: str, threads: int) -> list[Case]:
    """Forecasts without write-ups or physics: in memory, on paced devices, and on those of the host.

    A forecast computes so fast here that memory is too slow for the balance of 1982; the simulator has longer steps.
    """
    from kernels import gridpoint
    from kernels.files.filesystem import direct_refusal

    base = replace(forecast.sized(preset), hours=HOURS, writeup=0.0, physics=False)

    def one(label: str, kernel, problem, device: str, overlap: str, paced: str, count: int) -> Case:
        parameters = {"device": device, "overlap": overlap, "paced": paced}
        return Case(label, kernel, problem, count, parameters, forecast.observe)

    cases = [one("in memory", gridpoint, base, "none", "in memory", "no", threads)]
    step, share = _STEP[preset], balance()
    for device, overlap in _PACED:
        rate, files = 2 * gridpoint.record_bytes(base) / (share[device] * step), 2 if device == "SSD" else 1
        problem = replace(
            base, hours=_PACED_STEPS * base.dt / 3600, files=files, place="paced", overlap=overlap, rate=rate
        )
        cases.append(one(f"paced as {device}, {overlap}", _Stand(step), problem, device, overlap, "yes", 1))
    for device, files, place in _DEVICES:
        if place == "direct" and direct_refusal(base.folder or tempfile.gettempdir()):
            continue
        for overlap in ("none", "one", "both", "alone"):
            alone = overlap == "alone"
            problem = replace(base, files=files, place=place, overlap="both" if alone else overlap)
            kernel = _Stand(0.0) if alone else gridpoint
            cases.append(one(f"{device}, {overlap}", kernel, problem, device, overlap, "no", threads))
    return cases


def _nets(run, paced: str) -> dict[str, dict[str, np.ndarray]]:
    """Net times of every device by way of overlapping, sample by sample, and whether one is ``flagged``."""
    cases, found = observed(run, "label"), {}
    device, way, kind = (run[name].values.astype(str) for name in ("device", "overlap", "paced"))
    for name in dict.fromkeys(device[(kind == paced) & (device != "none")]):
        rows = np.flatnonzero((device == name) & (kind == paced))
        found[name] = {way[row]: cases["net"].values[row] for row in rows}
        found[name]["flagged"] = cases["flagged"].values[rows].any()
    return found


@drivers.figure
def savings(runs) -> "figures.Shown":
    """Section 4.6: what overlapping saves by the report, on devices paced to its balance, and on a machine's own."""
    facts, own = tables.load("xmp1982", "prose"), list(_nets(runs[0], "no"))

    def here(run) -> dict[str, Measured]:
        each = [_nets(run, "yes")[name] for name in ("SSD", "BMR")] + [_nets(run, "no")[name] for name in own]
        saved = np.stack([100 * (net["none"] - np.nanmedian(net["both"])) / net["none"] for net in each])
        flagged, mine = np.array([bool(net["flagged"]) for net in each]), np.arange(len(each)) >= 2
        return {f"today, {words}": Measured(np.where(which[:, None], saved, np.nan), flagged & which)
                for words, which in (("paced", ~mine), ("own devices", mine))}  # fmt: skip

    return dots(
        runs,
        {name: name for name in ("SSD", "buffer memory", *own)},
        {"the report": [float(facts["cost_ssd"]), float(facts["cost_bmr"])] + [np.nan] * len(own)},
        here,
        xlabel="share of the net time that overlapping saves [%]",
        name="xmp1982_overlap_rerun",
        title="What overlapping saves, at the balance of 1982 and of today",
        tables="prose",
    )


def said(run) -> list[str]:
    """What not overlapping cost in 1982 by the report's own numbers, and costs on the devices of today."""
    net, rates = tables.load("xmp1982", "fig4_2")["net_forecast"], tables.load("xmp1982", "fig7_3")["two_copies"]
    slow, fast = (float(net.sel(configuration=f"ssd2-{driver}")) for driver in ("sync", "async"))
    cost = 100 * (slow - fast) / slow
    ratio = float(rates.sel(target="SSD") / rates.sel(target="BMR"))
    found = [f"{figures.times(net['none'], net['both']).times} as long with files {_WHERE[device]}"
             for device, net in _nets(run, "no").items()]  # fmt: skip
    return [
        f"On SSD it saved {cost:.1f} % of the net time, by the report's own times. Multiplied by the ratio of the "
        f"rates this would be {cost * ratio:.0f} % in buffer memory. The report weighs it against main memory: without "
        "overlapping the forecast needs at least a third less.",
        f"Today a forecast that does not overlap takes {'; '.join(found)}.",
    ]
