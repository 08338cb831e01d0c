"""Published verification values of the NAS Parallel Benchmarks' BT, classes S to C.

Residual norms are root-mean-square over interior points of the right-hand side divided by dt,
error norms root-mean-square differences from the exact solution, five components each
(density, three momenta, energy), after NS steps from the initial field.

Source: Bailey et al., *The NAS Parallel Benchmarks*, NASA Ames report RNR-94-007 (classes A and B
as N = 64 and 102), and the verification routine of NPB 3.4 (the other classes, all digits).
"""

from typing import NamedTuple


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


def _classes() -> dict[str, Published]:
    lines = [line.split() for line in _TABLE.split("\n")[1:-1]]
    found = {}
    for (name, N, NS, dt), *norms in zip(lines[::3], lines[1::3], lines[2::3], strict=True):
        found[name] = Published(int(N), int(NS), float(dt), *(tuple(map(float, each)) for each in norms))
    return found


CLASSES = _classes()
