"""One BT run: its arrays in the layout of the solver, the way to and from the serial layout, time steps and norms.

∂U/∂t = R(U) + forcing is stepped towards its steady state on the unit cube, with N points a side, h = 1/(N − 1) apart.
``step`` has the equations and symbols.  The forcing is −R of a polynomial (``problem``), so that this polynomial is the
steady state; the distance from it is the error.

What makes it fast: components have rows of their own, so that eight neighbouring points of one component are one load
(``Box``), and a step passes over memory twice (``step``).  What either gains has no number; ``elimination`` says
what lanes gain, ``book/peers.md``, *Block-tridiagonal solver*, how whole runs compare with NPB's.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from supercomputers_rerun.kernels.bt.differences import weights
from supercomputers_rerun.kernels.bt.lines import Direction, Ends, Place
from supercomputers_rerun.kernels.bt.problem import SECOND, exact_parts, initial_component
from supercomputers_rerun.kernels.bt.step import sweeps, work_size
from supercomputers_rerun.kernels.contract import ceil_div, require_range
from supercomputers_rerun.kernels.runtime.arrays import aligned, require_array, zeros
from supercomputers_rerun.kernels.runtime.jit import kernel
from supercomputers_rerun.kernels.runtime.resources import require_threads
from supercomputers_rerun.kernels.runtime.team import run_parts
from supercomputers_rerun.kernels.runtime.vector import LANES

_FIVE = np.uint64(5)


def odd(number: int) -> int:
    """``number``, or the next if it is even."""
    return number | 1


class Box:
    """A box of the grid: where its points lie in a flat array (``place``), how lines along x, y and z end (``ends``),
    and the numbers of these directions (``directions``).

    ``points``: N, along every edge of the grid; ``dt``: time step; ``limits``: half-open ranges of i, j and k, by
    default the whole grid; ``halo``: layers of the neighbours' points on every side, 0 or 2.  Component m of U at point
    i, j, k, u[k, j, m, i] (not the velocity u), lies at ``base + k·plane + (5·j + m)·row + i``: ``row`` leads from one
    component to the next, and five components make one of the ``rows`` of a plane, rows of neighbours included.
    ``row`` and ``plane`` are odd multiples of a cache line, so that lines of any direction spread over all sets of a
    cache.  One component of a row of a box with neighbours::

        · · · · · · h h | ■ ■ ■ … ■ | h h · …      h: points of the neighbours
        beside, 8         ni                       ``row`` doubles in all

    The flat array is a vector longer at either end than its planes: what is loaded in whole vectors may begin before
    the first point or end behind the last one.
    """

    def __init__(self, points: int, dt: float, limits=None, halo: int = 0):
        self.points = points
        self.dt = float(dt)
        self.halo = halo
        self.limits = tuple(limits or 3 * ((0, points),))
        self.sizes = tuple(stop - start for start, stop in self.limits)
        ni, nj, nk = self.sizes
        beside = LANES if halo else 0  # doubles before the first point of a row, so that it begins a cache line
        self.row = LANES * odd(ceil_div(beside + ni + halo, LANES))
        # a tile takes eight rows: a box with neighbours has room for as many, also where it has fewer
        self.rows = max(nj, LANES if halo else 0) + 2 * halo
        self.plane = LANES * odd(self.rows * 5 * self.row // LANES)
        self.size = LANES + (nk + 2 * halo) * self.plane + LANES
        base = LANES + halo * (self.plane + 5 * self.row) + beside
        self.place = Place(
            base=np.uint64(base),
            plane=np.uint64(self.plane),
            row=np.uint64(self.row),
            ni=np.uint64(ni),
            nj=np.uint64(nj),
            nk=np.uint64(nk),
            beside=np.uint64(beside),
        )
        self.ends = tuple(Ends(start == 0, stop == points) for start, stop in self.limits)
        self.whole = tuple(all(ends) for ends in self.ends)  # no other box has a part of the lines
        self.directions = tuple(self._direction(axis) for axis in range(3))
        self.work_size = work_size(max(self.sizes) + 2 * beside)

    def _direction(self, axis: int) -> Direction:
        """The ``Direction`` of x, y or z.  Its weights, those of the dissipation, are of the cells that ``differences``
        visits: those from boundary to boundary, or as far as two cells before and behind the box."""
        start, stop = self.limits[axis]
        ends = self.ends[axis]
        # cell n is row n + 2 of the padded table; its zeros stand for cells outside the grid, which a box that begins
        # or ends next to the boundary would ask for, and the boxes of ranks never do
        padded = np.pad(weights(self.points, self.dt, SECOND[axis]), ((2, 2), (0, 0)))
        first = start + 2 if ends.low else start
        last = stop + 2 if ends.high else stop + 4
        h = 1.0 / (self.points - 1.0)
        return Direction(dt=self.dt, weights=padded[first:last].reshape(-1), second=SECOND[axis], h=h)

    def new(self, value: float = 0.0) -> np.ndarray:
        """Flat array of ``size`` doubles, all of them ``value``, that begins on a cache line; every page touched."""
        array = aligned(self.size)
        array[:] = value
        return array

    def view(self, array: np.ndarray, halo: int = 0) -> np.ndarray:
        """View [k, j, m, i] of a flat array: the box, with ``halo`` layers around it."""
        ni, nj, nk = self.sizes
        beside = int(self.place.beside)
        planes = array[LANES : self.size - LANES].reshape(-1, self.plane)
        whole = planes[:, : self.rows * 5 * self.row].reshape(len(planes), self.rows, 5, self.row)
        around = ((self.halo, nk), (self.halo, nj), (beside, ni))
        k, j, i = (slice(at - halo, at + n + halo) for at, n in around)
        return whole[k, j, :, i]

    def exact(self) -> Iterator[np.ndarray]:
        """The exact solution, plane after plane of k: float64 [j, m, i], of shape (nj, 5, ni)."""
        constant, parts = exact_parts(self.points)
        x, y, z = (part[:, a:b] for part, (a, b) in zip(parts, self.limits, strict=True))
        for k in range(self.sizes[2]):
            yield constant[:, None] + x + y.T[:, :, None] + z[:, k, None]


@dataclass
class State:
    """Everything one run needs of a ``box``; it owns the arrays, each flat float64 in the box's layout.

    Between two steps ``rhs`` holds, if ``ready``, dt · (forcing + z part of R) for the next right-hand side: the slabs
    of a step leave it so.  Else the next step begins by computing it.
    """

    box: Box
    u: np.ndarray  # the solution U; padding is 1, so that lanes beyond the grid stay finite
    rhs: np.ndarray  # dt · right-hand side, then the update; zero on the boundary of the grid after ``planes``
    forcing: np.ndarray  # dt · forcing
    initial: np.ndarray  # initial field
    ready: bool = False

    @classmethod
    def at_exact_solution(cls, box: Box) -> "State":
        """``u`` has the exact solution, ``initial`` the initial field, ``forcing`` is zero."""
        state = cls(box, u=box.new(1.0), rhs=box.new(), forcing=box.new(), initial=box.new(1.0))
        for plane, exact in zip(box.view(state.u), box.exact(), strict=True):
            plane[:] = exact
        initial = box.view(state.initial)
        cut = tuple(slice(*limits) for limits in reversed(box.limits))  # of k, j and i
        for m in range(5):
            initial[:, :, m] = initial_component(box.points, m)[cut]
        return state

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """``fields`` of :mod:`.step`."""
        return self.u, self.rhs, self.forcing

    def force(self) -> None:
        """The forcing becomes −``rhs``, which must hold dt · R of the exact solution (``right_hand_side`` while the
        forcing is zero): that solution is then steady.  Then back to the initial field."""
        np.negative(self.rhs, out=self.forcing)
        self.reset()

    def reset(self) -> None:
        """Back to the initial field."""
        self.u[:] = self.initial
        self.ready = False


@kernel
def _pack_planes(u, out, place, first, last):
    """The planes first … last − 1 of ``u``, which lie at ``place``, into ``out``, flat [k, j, i, m].

    Compiled, since NumPy takes 2.4 times as long for this copy (class W, Zen 3).
    """
    for k in range(first, last):
        for j in range(place.nj):
            source = place.base + k * place.plane + j * _FIVE * place.row
            target = (k * place.nj + j) * place.ni * _FIVE
            for i in range(place.ni):
                for m in range(_FIVE):
                    out[target + i * _FIVE + m] = u[source + m * place.row + i]


def pack(state: State, out: np.ndarray, first: int = 0, last: int | None = None) -> np.ndarray:
    """Copy planes ``first <= k < last`` of the solution of a box that is the whole grid into the serial layout.

    ``ValueError`` if ``out`` is of another shape, type or order, is read-only or shares memory with the solution, or
    if the range leaves 0 … N.

    Parameters
    ----------
    out : ndarray, float64, C-contiguous, shape (N, N, N, 5)
        Indexed [k, j, i, m]: the order in memory of a Fortran array u(5, N, N, N), component
        fastest.  Planes outside the range are left as they are.
    first, last : int
        Range of k; all planes by default.

    Returns
    -------
    ndarray
        ``out``.
    """
    points = state.box.points
    last = points if last is None else last
    require_array("out", out, np.float64, (points,) * 3 + (5,), writable=True, apart=(state.u,))
    require_range("first", first, 0, last)
    require_range("last", last, first, points)
    _pack_planes(state.u, out.reshape(-1), state.box.place, np.uint64(first), np.uint64(last))
    return out


def unpack(field: np.ndarray, state: State) -> None:
    """Make ``field`` (serial layout, see :func:`pack`) the solution of ``state``.

    ``ValueError`` if ``field`` is of another shape, type or order, or shares memory with the solution.
    """
    require_array("field", field, np.float64, (state.box.points,) * 3 + (5,), apart=(state.u,))
    state.box.view(state.u)[:] = np.swapaxes(field, 2, 3)
    state.ready = False


def solution(state: State) -> np.ndarray:
    """The solution as a new array of shape (N, N, N, 5), indexed [k, j, i, m]."""
    return pack(state, np.empty((state.box.points,) * 3 + (5,)))


class Stepper:
    """One state and one number of threads, ready to advance.

    Every plane and every slab is computed by one thread, with the same instructions however many threads there are, so
    results do not depend on their number.  ``ValueError`` if ``threads`` exceeds the CPUs this process may use.
    """

    def __init__(self, state: State, threads: int = 1):
        self.state = state
        self.threads = require_threads(threads)
        self.geometry = state.box.place, state.box.directions, state.box.ends  # as in ``step``
        # a cache line more than is needed, between what two threads write
        self.work = zeros((threads, LANES * (ceil_div(state.box.work_size, LANES) + 1)))

    def _sweeps(self, which: tuple[bool, bool], solves: tuple[bool, bool, bool], count: int = 1) -> None:
        """``planes``, ``slabs`` or both, as the pair ``which`` says, ``count`` times; ``solves`` as in ``step``."""
        team = np.zeros(1, np.int64), self.threads  # arrivals of the threads, see ``meet``, and how many they are
        task = count, which, solves
        run_parts(sweeps, self.threads, task, self.state.arrays, self.geometry, self.work, team)
        # Slabs that end a step leave in rhs what the next step begins with.  So does ``by_slabs(False)``, but whoever
        # calls it goes on at once to planes, which overwrite it: they add the x and y part.
        self.state.ready = which[1] and solves[2]

    def by_slabs(self, solve: bool) -> None:
        """If ``solve``, solution along z and update; then into rhs forcing and z part of the next right-hand side."""
        self._sweeps((False, True), (False, False, solve))

    def by_planes(self, solve: tuple[bool, bool]) -> None:
        """Add y and x part to rhs; then solve along x and along y where ``solve`` asks."""
        self._sweeps((True, False), (*solve, False))

    def right_hand_side(self) -> None:
        """dt · (R + forcing) of the present solution into ``state.rhs``."""
        self.by_slabs(False)
        self.by_planes((False, False))

    def step(self, count: int = 1) -> None:
        """``count`` time steps of a box that is the whole grid."""
        if not self.state.ready:
            self.by_slabs(False)
        self._sweeps((True, True), (True, True, True), count)


def squares(state: State) -> np.ndarray:
    """Sums over the box by component, float64 (2, 5): of (``state.rhs`` / dt)², then of (``u`` − exact solution)²."""
    box = state.box
    total = np.zeros((2, 5))
    for right, field, exact in zip(box.view(state.rhs), box.view(state.u), box.exact(), strict=True):
        total[0] += ((right / box.dt) ** 2).sum(axis=(0, 2))
        total[1] += ((field - exact) ** 2).sum(axis=(0, 2))
    return total


def norms(state: State, threads: int = 1) -> np.ndarray:
    """Residual and error as the benchmark defines them, float64 (2, 5): roots of ``squares`` over the number of inner
    points.  Leaves dt · (R + forcing) in ``state.rhs``: the next step begins its right-hand side anew."""
    Stepper(state, threads).right_hand_side()
    return np.sqrt(squares(state) / (state.box.points - 2) ** 3)
