"""What is analysed, from how many observations, and where the files between the steps lie; constants and levels."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from supercomputers_rerun.kernels.contract import Presets, ceil_div, one_of, real, require_range, whole

BOX = 8  # grid points along a side of a box
SLAB = 5  # standard levels of a slab
#: Standard levels from the top downwards: ln of p in Pa.
LN_P = np.log(np.array([10, 20, 30, 50, 70, 100, 150, 200, 250, 300, 400, 500, 700, 850, 1000], float) * 100)
#: Of these, what is observed: the lowest thirteen.
SEEN = slice(2, None)
#: What can be observed: geopotential, wind to the east and to the north, humidity.
KINDS = ("phi", "u", "v", "q")
#: Fields of a row on standard levels.
NAMES = ("phi", "u", "v", "T", "q")
#: Standard deviations from its neighbours at which a datum is rejected.
REJECT = 4.0


@dataclass(frozen=True)
class Problem(Presets):
    """One analysis of synthetic observations.

    ``ValueError`` if a field is outside its range, or fields do not go together.
    """

    ni: int = 48  # points of a row of latitude
    nj: int = 24  # rows
    levels: whole(5, 200) = 15  # sigma levels of the forecast
    sondes: whole(1, 10**6) = 200  # ascents that report height, wind and humidity at standard levels
    aircraft: whole(0, 10**7) = 60  # single reports of wind
    most: whole(1, 1000, "data") = 95  # data of one box at most
    length: real(1e4, 1e7, "m") = 1.5e6  # scale of the background error's horizontal correlation, m
    depth: real(0.05, 5.0) = 0.5  # the same in the vertical, in ln p
    wind: real(0.01, 100.0, "m/s") = 5.0  # standard deviation of the background's wind components, m/s
    # where the work files are, read and written at random: in memory reached by copying, in the page cache, on a device
    # past it; half: the larger ones with the sequential files
    work: one_of("memory", "cache", "direct", "half") = "memory"
    rest: one_of("memory", "cache", "direct") = "memory"  # where the sequential files are
    ahead: bool = False  # a thread reads the next record of a file in memory before it is asked for
    folder: str | None = None  # where files go; None: the system's temporary folder

    PRESETS: ClassVar = {
        "quick": {},
        "paper": {"ni": 192, "nj": 96, "sondes": 700, "aircraft": 1200, "most": 191, "length": 6.0e5},
        "modern": {"ni": 384, "nj": 192, "levels": 31, "sondes": 3000, "aircraft": 20000, "most": 383}
        | {"length": 4.0e5},
    }

    def __post_init__(self):
        for name, value in (("ni", self.ni), ("nj", self.nj)):
            require_range(name, value, 2 * BOX, 4096, "points")
            if value % BOX:
                raise ValueError(f"{name} = {value} must be a multiple of {BOX}, the side of a box")

    @property
    def padded(self) -> int:
        """``most`` rounded up to whole vectors."""
        return ceil_div(self.most, 8) * 8
