"""What is forecast, on which grid, through which work files."""

from dataclasses import dataclass
from typing import ClassVar

from kernels.contract import Presets, require_choice, require_range
from kernels.runtime.vector import LANES
from kernels.spectral.fourier import factorise
from kernels.spectral.fourier_passes import LARGEST_RADIX

CASES = ("wave", "steady", "rest")
PLACES = ("memory", "tmpfs", "cache", "direct", "paced")
ON_DEVICES = ("tmpfs", "cache", "direct")  # places outside the forecast's own memory
OVERLAPS = ("none", "one", "both")
WORD = 8
#: Rows that a row must be behind the newest one before it is complete.
LAG = 3


@dataclass(frozen=True)
class Problem(Presets):
    """One forecast. ``ValueError`` if a field is outside its range, or fields do not go together."""

    ni: int = 48  # points of a row of latitude
    nj: int = 24  # rows
    levels: int = 5
    dt: float = 1800.0  # time step, s
    hours: float = 3.0  # length of the forecast, h
    case: str = "wave"  # initial state, see ``cases``
    mountain: float = 0.0  # height of a mountain under the case "rest", m
    lapse: float = 0.0  # lapse rate of the case "rest", K/m
    physics: bool = False  # column work and radiation; else dry dynamics
    polar: bool = True  # filter of short waves near the poles
    epsilon: float = 0.05  # coefficient of the time filter
    tau4: float = 3.0  # damping time of the shortest wave, h; 0: no diffusion
    radiation: float = 8.0  # hours between two radiation steps
    writeup: float = 6.0  # hours between two write-up steps; 0: none
    files: int = 0  # work files: 4, 2, 1, or 0 for a state that stays in memory
    place: str = "memory"  # where the work files are, see ``PLACES``
    overlap: str = "none"  # transfers under way while a row is computed: none, one, both (read and write)
    rhs: str = "memory"  # right-hand sides of the Helmholtz equations: memory, or three files read backwards
    lines: int = 8  # rows that are read, and computed, together
    rate: float = 1.0e9  # place "paced": bytes a second
    request: float = 0.0  # place "paced": seconds a request
    fsync: bool = False  # write-up steps wait for the device
    folder: str | None = None  # where files go; None: the system's temporary folder
    allowed: float = 0.0  # bytes of memory that the forecast may take; 0: what the machine has

    PRESETS: ClassVar = {
        "quick": {},
        "paper": {"ni": 192, "nj": 96, "levels": 15, "dt": 900.0, "hours": 24.0},
        "modern": {"ni": 768, "nj": 384, "levels": 60, "dt": 225.0, "hours": 0.5, "lines": 4, "files": 2}
        | {"place": "cache", "overlap": "both", "writeup": 0.0, "allowed": 1.0e9},
    }

    def __post_init__(self):
        require_range("ni", self.ni, 16, 4096, "points")
        if self.ni % (2 * LANES) or max(factorise(self.ni)) > LARGEST_RADIX:
            raise ValueError(
                f"ni = {self.ni} must be a multiple of {2 * LANES} without prime factors above {LARGEST_RADIX}"
            )
        require_range("nj", self.nj, 8, 4096, "rows")
        require_range("levels", self.levels, 2, 200)
        require_range("dt", self.dt, 1.0, 7200.0, "s")
        require_range("hours", self.hours, 0.0, 24.0 * 365, "h")
        require_choice("case", self.case, CASES)
        require_range("mountain", self.mountain, 0.0, 5000.0, "m")
        require_range("lapse", self.lapse, 0.0, 0.0098, "K/m")
        require_range("epsilon", self.epsilon, 0.0, 0.5)
        require_range("tau4", self.tau4, 0.0, 1000.0, "h")
        require_range("radiation", self.radiation, 0.01, 1000.0, "h")
        require_range("writeup", self.writeup, 0.0, 1000.0, "h")
        require_choice("files", self.files, (0, 1, 2, 4))
        require_choice("place", self.place, PLACES)
        require_choice("overlap", self.overlap, OVERLAPS)
        require_choice("rhs", self.rhs, ("memory", "files"))
        require_range("lines", self.lines, 1, self.nj - LAG, "rows, which leave enough to read ahead of")
        require_range("rate", self.rate, 1.0, 1e15, "bytes/s")
        require_range("request", self.request, 0.0, 10.0, "s")
        if self.files == 0 and (self.place != "memory" or self.overlap != "none"):
            raise ValueError(
                f"files = 0 keeps the state in memory; place = {self.place!r} and overlap = {self.overlap!r} "
                "need files = 1, 2 or 4"
            )
        require_range("allowed", self.allowed, 0.0, 1e15, "bytes")
        if self.allowed and self.place not in ON_DEVICES:
            raise ValueError(
                f"allowed = {self.allowed:g} bytes bounds memory, and place = {self.place!r} keeps the state there; "
                f"choose one of {', '.join(map(repr, ON_DEVICES))}"
            )

    @property
    def steps(self) -> int:
        """Time steps, rounded to whole ones."""
        return round(self.hours * 3600 / self.dt)

    def _every(self, hours: float) -> int:
        return max(1, round(hours * 3600 / self.dt))

    def kind(self, step: int) -> str:
        """What a step does beside the dynamics, "radiation" and "write-up"; else "first", "last" or "normal"."""
        parts = (("radiation", self.radiation_steps), ("write-up", self.writeup_steps))
        which = "last" if step == self.steps else "normal" if step else "first"
        return " and ".join(name for name, steps in parts if step in steps) or which

    @property
    def writeup_steps(self) -> tuple[int, ...]:
        """Steps that write up the state they begin with; the last one is the forecast's end."""
        if not self.writeup:
            return ()
        return tuple(range(0, self.steps + 1, self._every(self.writeup)))

    @property
    def radiation_steps(self) -> tuple[int, ...]:
        """Steps that compute radiation anew."""
        return tuple(range(0, self.steps, self._every(self.radiation))) if self.physics else ()
