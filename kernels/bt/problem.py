"""The BT problem: sizes, physical constants, exact solution, and the published values of classes S to C.

Residual norms are root-mean-square over interior points of the right-hand side divided by dt,
error norms root-mean-square differences from the exact solution, five components each
(density, three momenta, energy), after NS steps from the initial field.

Source: Bailey et al., *The NAS Parallel Benchmarks*, NASA Ames report RNR-94-007, chapter 3 (classes A and B
as N = 64 and 102), and the verification routine of NPB 3.4 (the other classes, all digits).
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from supercomputers_rerun.kernels.contract import Presets, one_of, real, whole

#: Grid points a side: offsets and sizes stay far inside 63 bits.  With five points, the fewest of the fourth
#: differences, those of both boundaries act on the middle one, and NPB's norms are others by 1 to 5 %.
SMALLEST_N, LARGEST_N = 6, 4096

# Ratio of specific heats and related constants of the model equations.
C1 = 1.4
C2 = 0.4
C3C4 = 0.1 * 1.0  # viscosity μ
C1345 = 1.4 * 1.4 * C3C4  # heat conduction
FOUR_THIRDS = 4.0 / 3.0
#: Second-difference dissipation of the x, y and z direction (equal for all components).
SECOND = (0.75, 0.75, 1.0)
#: Fourth-difference dissipation: a quarter of the largest of them.
FOURTH = 0.25 * max(SECOND)

#: Coefficients of the exact solution, one row a component: the constant, then for each power
#: 1 … 4 the factors of ξ, η and ζ.
EXACT = np.array(
    [
        [2.0, 0.0, 0.0, 4.0, 5.0, 3.0, 0.5, 0.02, 0.01, 0.03, 0.5, 0.4, 0.3],
        [1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 0.01, 0.03, 0.02, 0.4, 0.3, 0.5],
        [2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.04, 0.03, 0.05, 0.3, 0.5, 0.4],
        [2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.03, 0.05, 0.04, 0.2, 0.1, 0.3],
        [5.0, 4.0, 3.0, 2.0, 0.1, 0.4, 0.3, 0.05, 0.04, 0.03, 0.1, 0.3, 0.2],
    ]
)


class Published(NamedTuple):
    """Grid, steps, time step and norms of one class."""

    N: int
    NS: int
    dt: float
    residual: tuple[float, ...]
    error: tuple[float, ...]


#: Relative deviation that NPB accepts.
TOLERANCE = 1e-8

#: Class, N, NS and dt; residual norms; error norms.
_TABLE = """
S 12 60 0.01
0.17034283709541312 0.012975252070034096 0.032527926989486054 0.0264364212751668 0.1921178413174443
0.0004997691334581158 4.519566678296193e-05 7.397376517292135e-05 7.382123863243973e-05 0.0008926963098749145
W 24 200 0.0008
112.5590409344 11.80007595731 27.10329767846 24.69174937669 263.8427874317
4.419655736008 0.4638531260002 1.011551749967 0.9235878729944 10.18045837718
A 64 200 0.0008
108.06346714637264 11.319730901220813 25.974354511582465 23.66562254467891 252.78963211748345
4.2348416040525025 0.443902824969957 0.9669248013634565 0.8830206303976548 9.737990177082928
B 102 200 0.0003
1423.3597229287254 99.33052259015024 356.46025644535285 324.8544795908409 3270.7541254659363
52.96984714093686 4.463289611567067 13.122573342210174 12.006925323559145 124.59576151035986
C 162 200 0.0001
6239.8116551764615 507.93239190423964 1542.3530093013596 1330.238792929119 11604.087428436455
164.62008369091265 11.497107903824313 41.20744620746151 37.08765105969417 362.11053051841265
"""
_LINES = [line.split() for line in _TABLE.split("\n")[1:-1]]
CLASSES = {
    name: Published(int(N), int(NS), float(dt), *(tuple(map(float, each)) for each in norms))
    for (name, N, NS, dt), *norms in zip(_LINES[::3], _LINES[1::3], _LINES[2::3], strict=True)
}


@dataclass(frozen=True)
class Problem(Presets):
    """One BT run: a cube of N³ points, NS time steps of length dt.

    Presets: classes ``S``, ``W``, ``A``, ``B``, ``C``, and ``quick`` (S), ``paper`` (B), ``modern`` (C).
    ``ValueError`` if N < 6, NS < 1, or dt is not positive.
    """

    N: whole(SMALLEST_N, LARGEST_N, "points")  # grid points in each direction, boundaries included
    NS: whole(1, 10**9, "steps") = 200  # time steps
    dt: real(1e-12, 1.0, "time units") = 8e-4  # length of a time step, in the benchmark's units of time
    code: one_of("lanes", "plain") = "lanes"  # eight lines at once, or line by line with full blocks on one thread

    PRESETS: ClassVar = {
        name: {"N": entry.N, "NS": entry.NS, "dt": entry.dt}
        for name, entry in (CLASSES | {"quick": CLASSES["S"], "paper": CLASSES["B"], "modern": CLASSES["C"]}).items()
    }

    @property
    def published(self) -> Published | None:
        """The published verification values of exactly this problem, or None."""
        for entry in CLASSES.values():
            if (entry.N, entry.NS, entry.dt) == (self.N, self.NS, self.dt):
                return entry
        return None


def exact_parts(points: int) -> tuple[np.ndarray, np.ndarray]:
    """The exact solution of component m is c[m] + f[0, m, i] + f[1, m, j] + f[2, m, k].

    Returns
    -------
    c : ndarray, shape (5,)
    f : ndarray, shape (3, 5, points)
        The polynomials in ξ = i/(points−1), η and ζ.
    """
    x = np.arange(points) / (points - 1.0)
    parts = np.zeros((3, 5, points))
    for axis in range(3):
        first, second, third, fourth = (EXACT[:, 1 + axis + 3 * power, None] for power in range(4))
        parts[axis] = x * (first + x * (second + x * (third + x * fourth)))
    return EXACT[:, 0].copy(), parts


def exact_solution(points: int) -> np.ndarray:
    """Exact solution at every grid point, indexed [k, j, i, m]."""
    constant, parts = exact_parts(points)
    x, y, z = (part.T for part in parts)
    return constant + x[None, None, :] + y[None, :, None] + z[:, None, None]


def initial_component(points: int, m: int) -> np.ndarray:
    """Component m of the initial field, indexed [k, j, i].

    Transfinite interpolation of the six faces, P + Q + R − PQ − PR − QR + PQR with P, Q, R the
    linear interpolations in ξ, η, ζ; the faces themselves carry the exact solution.
    """
    constant, parts = exact_parts(points)
    x, y, z = parts[:, m]
    s = np.arange(points) / (points - 1.0)
    # Interpolated along one direction, only the polynomial of that direction changes.
    x_, y_, z_ = constant[m] + x[None, None, :], y[None, :, None], z[:, None, None]
    along_x = constant[m] + (s * x[-1] + (1.0 - s) * x[0])[None, None, :] + y_ + z_
    along_y = x_ + (s * y[-1] + (1.0 - s) * y[0])[None, :, None] + z_
    along_z = x_ + y_ + (s * z[-1] + (1.0 - s) * z[0])[:, None, None]
    field = along_x + along_y + along_z - along_x * along_y - along_x * along_z - along_y * along_z
    field += along_x * along_y * along_z
    exact = x_ + y_ + z_
    for face in (0, -1):
        field[face], field[:, face], field[:, :, face] = exact[face], exact[:, face], exact[:, :, face]
    return field


def initial_field(points: int) -> np.ndarray:
    """Initial field, indexed [k, j, i, m]."""
    return np.stack([initial_component(points, m) for m in range(5)], axis=-1)
