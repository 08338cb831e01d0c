"""The separate verification of a solution file: read sequentially, one k-plane in memory at a time.

NHT-1 (section 2.4) asks for a program that reads the file on one processor and gives out the
diagonal u(i,i,i,1…5) of every dump, to be compared with the output of an implementation known to be
correct (``PROOF`` of ``application`` compares whole dumps).  NPB's BT-IO adds its own check: the error norms
against the exact solution, averaged over all dumps, and the residual of the last dump read back.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from supercomputers_rerun.kernels.contract import Check
from supercomputers_rerun.kernels.files.format.layout import COMPONENTS, Layout, Solution, SolutionError, crc32

__all__ = ["Verification", "checksum_check", "mean_error_checks", "verify_file"]

#: Mean error norms of all dumps by (N, NS, IW), one a component, at NPB's time step for that N.
#: IW = 5: published with NPB's BT-IO.  N = 12 with IW = 10, NHT-1's own schedule: from a run of
#: NPB 3.4's BT-IO with its write interval set to 10.
MEAN_ERROR_NORMS = {
    (12, 60, 5): (11.49036328945, 0.9156788904727, 2.857899428614, 2.598273346734, 26.52795397547),
    (12, 60, 10): (5.455412855115358, 0.49028799563708647, 1.3371620828646684, 1.2212312503953457, 12.857963577212542),
    (24, 200, 5): (67.29594398612, 5.26452308169, 16.77107142637, 15.08721463436, 147.7018363393),
    (64, 200, 5): (64.82218724961, 5.066461714527, 16.13931961359, 14.52010201481, 142.0099377681),
    (102, 200, 5): (147.7545106464, 11.08895555053, 36.98065590331, 33.1050558144, 315.7928282563),
    (162, 200, 5): (259.7156483475, 19.85384289495, 65.17950485788, 57.5723554152, 521.5668188726),
}
EPSILON = 1e-8  # relative tolerance of NPB


@dataclass(frozen=True)
class Verification:
    """What one sequential pass over a solution file found."""

    layout: Layout
    diagonal: np.ndarray  # float64 (dumps, N, 5): ``u(i,i,i,m)`` of each dump
    damaged: int  # dumps that do not have the checksum stored with them
    error_norms: np.ndarray | None  # float64 (dumps, 5): RMS difference to the exact solution, if one was given

    def lines(self) -> Iterator[str]:
        """The diagonal as the report's program prints it: F15.10, a value a line, i outside m."""
        for value in self.diagonal.ravel():
            yield f"{value:15.10f}"


@np.errstate(over="ignore")  # a norm that overflows is infinite, and fails
def verify_file(path, exact_plane: Callable[[int], np.ndarray] | None = None) -> Verification:
    """Read a solution file once, sequentially.

    ``exact_plane(k)`` gives the exact solution at ``[j, i, m]``, float64 (N, N, 5).  Error norm of component m:
    ``sqrt(sum((u − exact)²) / (N − 2)³)`` with the sum over all points, as NPB has it.  Dumps whose
    checksum differs are counted.  ``SolutionError`` if the file is truncated, not a solution, or holds values that are
    not finite.
    """
    solution = Solution(path)
    layout = solution.layout
    N, dumps = layout.N, layout.dumps
    diagonal = np.empty((dumps, N, COMPONENTS))
    squares, damaged = np.zeros((dumps, COMPONENTS)), 0
    for index, expected in enumerate(solution.crc32):
        crc, finite = 0, True
        for k, plane in enumerate(solution.planes(index)):
            crc = crc32(plane, crc)
            finite &= bool(np.isfinite(plane).all())
            diagonal[index, k] = plane[k, k]
            if exact_plane is not None:
                squares[index] += ((plane - exact_plane(k)) ** 2).sum(axis=(0, 1))
        damaged += crc != expected
        if not finite:
            why = "the run diverged" if crc == expected else "it is damaged, by its checksum"
            step = (index + 1) * layout.IW
            raise SolutionError(f"{path} has numbers that are not finite in the dump of step {step}: {why}")
    norms = None if exact_plane is None else np.sqrt(squares / (N - 2) ** 3)
    return Verification(layout, diagonal, damaged, norms)


def checksum_check(found: Verification) -> Check:
    """No dump may differ from its checksum."""
    return Check.near("dumps whose checksum differs", found.damaged, 0, 0)


def mean_error_checks(found: Verification) -> list[Check]:
    """BT-IO's check of the mean error norms; none where no constants are known for (N, NS, IW)."""
    known = MEAN_ERROR_NORMS.get((found.layout.N, found.layout.NS, found.layout.IW))
    if known is None or found.error_norms is None:
        return []
    return [
        Check.relative(f"mean error norm {m + 1} of all dumps", value, expected, EPSILON)
        for m, (value, expected) in enumerate(zip(found.error_norms.mean(axis=0), known, strict=True))
    ]
