"""What is forecast, on which grid, through which work files."""

from dataclasses import dataclass
from typing import ClassVar

from supercomputers_rerun.kernels.contract import Presets, one_of, real, require_range, whole
from supercomputers_rerun.kernels.fft import LARGEST_RADIX, factorise
from supercomputers_rerun.kernels.runtime.vector import LANES

LAG = 3  # rows that a row is behind the newest one before it is done with


@dataclass(frozen=True)
class Problem(Presets):
    """One forecast. ``ValueError`` if a field is outside its range, or fields do not go together."""

    ni: whole(16, 4096, "points") = 48  # points of a row of latitude
    nj: whole(8, 4096, "rows") = 24  # rows
    levels: whole(2, 200) = 5
    dt: real(1.0, 7200.0, "s") = 1800.0  # time step, s
    hours: real(0.0, 24.0 * 365, "h") = 3.0  # length of the forecast, h
    physics: bool = False  # column work and radiation; else dry dynamics
    radiation: real(0.01, 1000.0, "h") = 8.0  # hours between two radiation steps
    writeup: real(0.0, 1000.0, "h") = 6.0  # hours between two write-up steps; 0: none
    files: one_of(0, 1, 2, 4) = 0  # work files: 4, 2, 1, or 0 for a state that stays in memory
    place: one_of("memory", "cache", "direct", "paced") = "memory"  # of the work files; "paced": memory at a rate
    # transfers under way while a row is computed: none, one (reads), both
    overlap: one_of("none", "one", "both") = "none"
    # right-hand sides of the Helmholtz equations: memory, or three files read backwards
    rhs: one_of("memory", "files") = "memory"
    lines: int = 8  # rows that are read, and computed, together
    rate: real(1.0, 1e15, "bytes/s") = 1.0e9  # place "paced": bytes a second
    fsync: bool = False  # write-up steps wait for the device
    # where files go, of several folders work file i to folder i modulo their number; None: the system's temporary one
    folder: str | tuple[str, ...] | None = None

    PRESETS: ClassVar = {
        "quick": {},
        "paper": {"ni": 192, "nj": 96, "levels": 15, "dt": 900.0, "hours": 24.0},
        "modern": {"ni": 768, "nj": 384, "levels": 60, "dt": 225.0, "hours": 0.5, "lines": 4, "files": 2}
        | {"place": "cache", "overlap": "both", "writeup": 0.0},
    }

    def __post_init__(self):
        if self.ni % (2 * LANES) or max(factorise(self.ni)) > LARGEST_RADIX:
            raise ValueError(
                f"ni = {self.ni} must be a multiple of {2 * LANES} without prime factors above {LARGEST_RADIX}"
            )
        require_range("lines", self.lines, 1, self.nj - LAG, "rows, which leave enough to read ahead of")
        if self.files == 0 and (self.place != "memory" or self.overlap != "none"):
            raise ValueError(
                f"files = 0 keeps the state in memory; place = {self.place!r} and overlap = {self.overlap!r} "
                "need files = 1, 2 or 4"
            )

    @property
    def steps(self) -> int:
        """Time steps, rounded to whole ones."""
        return round(self.hours * 3600 / self.dt)

    def _every(self, hours: float) -> int:
        return max(1, round(hours * 3600 / self.dt))

    def kind(self, step: int) -> str:
        """What a step is beside the dynamics, "last", "radiation" and "write-up"; else "first" or "normal"."""
        parts = (("last", (self.steps,)), ("radiation", self.radiation_steps), ("write-up", self.writeup_steps))
        return " and ".join(name for name, steps in parts if step in steps) or ("normal" if step else "first")

    @property
    def writeup_steps(self) -> tuple[int, ...]:
        """Steps that write up the state they begin with; the last one is the forecast's end."""
        if not self.writeup:
            return ()
        return tuple(range(0, self.steps + 1, self._every(self.writeup)))

    @property
    def radiation_steps(self) -> tuple[int, ...]:
        """Steps that compute radiation anew, from step 1 on; until then there is no heating.

        Step 0 is Euler's and a write-up step. In the report write-up steps take 15 to 25 s each, too short for the
        43 s of a radiation step, so that none of them held one.
        """
        return tuple(range(1, self.steps, self._every(self.radiation))) if self.physics else ()
