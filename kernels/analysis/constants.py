"""Constants of the analysis, and its standard levels."""

import numpy as np

from kernels.gridpoint.levels import GRAVITY, OMEGA, RADIUS, R

__all__ = ["GRAVITY", "KINDS", "LN_P", "NAMES", "OMEGA", "PRESSURES", "R", "RADIUS"]

#: Standard levels from the top downwards, Pa, and their ln p.
PRESSURES = np.array([10, 20, 30, 50, 70, 100, 150, 200, 250, 300, 400, 500, 700, 850, 1000], float) * 100
LN_P = np.log(PRESSURES)
#: What can be observed: geopotential, wind to the east and to the north, humidity.
KINDS = ("phi", "u", "v", "q")
#: Fields of a row on standard levels.
NAMES = ("phi", "u", "v", "T", "q")
