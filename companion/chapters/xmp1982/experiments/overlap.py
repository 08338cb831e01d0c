"""What not overlapping costs (X6): on a device paced to the report's balance, and on this host's own devices.

The *paced* device is memory that gives bytes at a chosen rate: so slow that a step's computing and its transfers have
the report's proportion; the simulator computes, as long as makes such rates possible.  Measured and paced devices
stand in tables of their own.  Transfers *alone* are the same requests without a forecast; what overlaps perfectly takes
as long as the slower of the two.
"""

import tempfile
from dataclasses import replace

from companion import tables
from companion.bench import Case
from companion.chapters import cases_of
from companion.chapters.xmp1982.experiments.forecast import observe, sized

#: Work files of the paced comparison: device, overlap.
_PACED = (("SSD", "none"), ("SSD", "both"), ("BMR", "none"), ("BMR", "one"), ("BMR", "both"))
#: Length of the forecasts, h: shares do not depend on it.
HOURS = {"quick": 6.0, "paper": 6.0, "modern": 0.25}
#: Seconds that a step of the paced comparison computes, and its steps.
STEP = {"quick": 0.05, "paper": 0.4}
_PACED_STEPS = 6
#: Devices of the host: name, work files, place.
DEVICES = (("memory", 2, "memory"), ("page cache", 2, "cache"), ("disk, O_DIRECT", 4, "direct"))


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


def _paced(base, preset: str) -> list[Case]:
    """The simulator with long steps: a forecast computes so fast here that memory is too slow for its balance."""
    from kernels import gridpoint

    hours, step = _PACED_STEPS * base.dt / 3600, STEP[preset]
    cases, moved, kernel = [], 2 * gridpoint.record_bytes(base), _Stand(step)
    for device, overlap in _PACED:
        rate = moved / (balance()[device] * step)
        files = 2 if device == "SSD" else 1
        problem = replace(base, hours=hours, files=files, place="paced", overlap=overlap, rate=rate)
        parameters = {"device": device, "overlap": overlap, "paced": "yes", "rate": rate}
        cases.append(Case(f"paced as {device}, {overlap}", kernel, problem, 1, parameters, observe))
    return cases


def _measured(base, threads: int) -> list[Case]:
    from kernels import gridpoint
    from kernels.files.filesystem import direct_refusal

    cases, idle = [], _Stand(0.0)
    for device, files, place in DEVICES:
        if place == "direct" and direct_refusal(base.folder or tempfile.gettempdir()):
            continue
        if place == "memory" and base.allowed:
            continue
        for overlap in ("none", "one", "both", "alone"):
            way = "both" if overlap == "alone" else overlap
            problem = replace(base, files=files, place=place, overlap=way)
            kernel = idle if overlap == "alone" else gridpoint
            parameters = {"device": device, "overlap": overlap, "paced": "no"}
            cases.append(Case(f"{device}, {overlap}", kernel, problem, threads, parameters, observe))
    return cases


@cases_of("xmp1982-overlap")
def _cases(preset: str, threads: int) -> list[Case]:
    """Forecasts without write-ups or physics; the paced devices under the simulator, where memory is not bounded."""
    from kernels import gridpoint

    base = replace(sized(preset), hours=HOURS[preset], writeup=0.0, physics=False)
    if base.allowed:
        return _measured(base, threads)
    parameters = {"device": "none", "overlap": "in memory", "paced": "no"}
    memory = Case("in memory", gridpoint, base, threads, parameters, observe)
    return [memory, *_paced(base, preset), *_measured(base, threads)]
