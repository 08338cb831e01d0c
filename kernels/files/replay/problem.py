"""What is replayed: programs, jobs and devices, with times and rates as they are at full length."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from kernels.contract import Presets, real, require_choice, require_range
from kernels.files.paced import Device

OVERLAPS = ("none", "one", "both")
FILES = (1, 2, 4)


class Program(NamedTuple):
    """What every forecast does; times are CPU seconds at full length."""

    steps: int = 6  # that write nothing up
    step: float = 4.0  # of every step
    radiations: int = 1  # steps that radiate
    radiation: float = 30.0  # on top
    write_ups: int = 2  # steps that write up
    write_up: float = 12.0  # on top
    words: float = 3.0e6  # that a step reads, and writes
    written: float = 2.0e6  # words that a write-up step writes to the device for output
    post: float = 17.0  # of a post-processing job
    post_words: float = 6.0e6  # that a post-processing job moves: half of them read, then half written
    rows: int = 32  # requests of one pass over a file
    bands: int = 8  # pieces of a scan

    @property
    def scans(self) -> int:
        """Steps, those that write up included."""
        return self.steps + self.write_ups

    @property
    def writing(self) -> dict[int, int]:
        """Step that writes up -> which write-up it is; from the first step to the last at equal distances."""
        apart = (self.scans - 1) / max(self.write_ups - 1, 1)
        return {round(n * apart): n for n in range(self.write_ups)}

    @property
    def radiating(self) -> set[int]:
        """Steps that radiate: none of those that write up."""
        writing = self.writing
        found, plain = set(), [n for n in range(self.scans) if n not in writing]
        for n in range(self.radiations):
            found.add(plain[int((n + 0.5) * len(plain) / self.radiations)])
        return found

    @property
    def cpu(self) -> float:
        """CPU seconds of a forecast."""
        return self.scans * self.step + self.radiations * self.radiation + self.write_ups * self.write_up


class Job(NamedTuple):
    """One forecast."""

    device: str = "disk"  # of its work files
    files: int = 4  # of FILES: four hold halves, two change places after a step, one is updated in place
    overlap: str = "both"  # of OVERLAPS
    system: float = 0.0  # CPU seconds of a step beside the program's


@dataclass(frozen=True)
class Problem(Presets):
    """Forecasts that start together, each a worker. ``ValueError`` if a field is outside its range."""

    jobs: tuple[Job, ...] = (Job(), Job("ssd", 1, "none"))
    program: tuple = Program()
    devices: tuple[Device, ...] = (Device("ssd", 3e7), Device("bmr", 5e6), Device("disk", 5e5, 0.03, 8, (1.5e6, 1.5e6)))
    output: str = "disk"  # device of write-ups, and of post-processing jobs
    scale: real(1.0, 1e6) = 1000.0  # how many times as fast all of it is

    PRESETS: ClassVar = {
        "quick": {},
        "paper": {"program": Program(94, 4.6, 3, 39.0, 5, 12.0, 3.4e6, 2.5e6, 17.0, 8e6, 96, 16), "scale": 150.0},
        "modern": {"program": Program(94, 4.6, 3, 39.0, 5, 12.0, 3.4e6, 2.5e6, 17.0, 8e6, 96, 16), "scale": 1000.0},
    }

    def __post_init__(self):
        require_range("jobs", len(self.jobs), 1, 16)
        require_range("devices", len(self.devices), 1, 16)
        for name, kind in (("jobs", Job), ("devices", Device)):
            for each in getattr(self, name):
                if not isinstance(each, kind):
                    raise ValueError(f"{name} holds {each!r}; give a tuple of {kind.__name__}")
        if not isinstance(self.program, Program):
            raise ValueError(f"program = {self.program!r} is no Program")
        for device in self.devices:
            require_range("rate", device.rate, 1e-3, 1e15, "words a second")
            require_range("request", device.request, 0.0, 1e6, "s")
            require_range("channels", device.channels, 1, 64)
            for rate in device.trunks:
                require_range("trunks", rate, 1e-3, 1e15, "words a second")
        names = tuple(device.name for device in self.devices)
        require_choice("output", self.output, names)
        for job in self.jobs:
            require_choice("device", job.device, names)
            require_choice("overlap", job.overlap, OVERLAPS)
            require_range("system", job.system, 0.0, 1e6, "s")
            if job.files not in FILES:
                raise ValueError(f"files = {job.files!r} is unknown; choose one of 1, 2, 4")
        _require_program(self.program)


def _require_program(program: Program) -> None:
    require_range("steps", program.steps, 1, 10**6)
    require_range("radiations", program.radiations, 0, program.steps)
    require_range("write_ups", program.write_ups, 0, program.steps)
    require_range("bands", program.bands, 1, 10**6)
    require_range("rows", program.rows, program.bands, 10**9)
    if program.rows % program.bands:
        raise ValueError(f"rows = {program.rows} must be a multiple of bands = {program.bands}")
    for name in ("step", "radiation", "write_up", "words", "written", "post", "post_words"):
        require_range(name, getattr(program, name), 0.0, 1e15)
