"""The spectral shallow-water model on many ranks (C2, C3, P9, P10).

Equations, time step, filter and diffusion are those of ``kernels.shallow_water``.  A rank has the rows
of its band and the spectrum of its wavenumbers; grid-point products and the spectral step need nobody
else.  A step transposes four fields from spectra to rows and five back.

Where its time goes is booked in the classes of the 2014 report's pies: computing; communication; waiting
at the barrier before each exchange; and serial, what rank 0 does alone while the others wait.  Apart from them, as in
the report of 2006, output: rank 0 writes the surface height every ``output`` steps.
"""

from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple
from zlib import crc32

import numpy as np

from supercomputers_rerun.kernels import shallow_water as serial
from supercomputers_rerun.kernels.contract import Check, Footprint, Presets, Work, real, require_range, whole, worst
from supercomputers_rerun.kernels.files.work_folder import WorkFolder
from supercomputers_rerun.kernels.mpi import world
from supercomputers_rerun.kernels.mpi.mesh import Mesh
from supercomputers_rerun.kernels.mpi.traffic import Traffic
from supercomputers_rerun.kernels.runtime.atomic import atomic_write
from supercomputers_rerun.kernels.runtime.resources import require_memory
from supercomputers_rerun.kernels.shallow_water.plain import Derivatives, plain
from supercomputers_rerun.kernels.shallow_water.problem import GRAVITY, initial
from supercomputers_rerun.kernels.spectral.ranks import Transform, share, table_bytes

#: Fields that a step takes from spectra to the grid, and back.
INVERSE, DIRECT = 4, 5
#: Truncations up to this one are compared with the serial model, value by value.
COMPARED = 127


@dataclass(frozen=True)
class Problem(Presets):
    """One integration; the fields that ``kernels.shallow_water.Problem`` has mean what they mean there."""

    truncation: int = 42  # triangular truncation T, 1
    grid: str = "F32"  # Gaussian grid
    case: str = "galewsky"  # initial state
    dt: real(1e-3, 86400.0, "s") = 900.0  # time step, s
    steps: whole(1, 10**6) = 12  # time steps
    diffusion: float = 3.0  # e-folding time of degree T, h (0: none)
    output: int = 0  # steps between two outputs by rank 0 (0: none)
    ranks: whole(1, world.LARGEST) = 1  # ranks that take part

    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {
        "quick": {"output": 4},
        "paper": {"truncation": 1279, "grid": "N640", "dt": 35.0, "steps": 6, "output": 3},
        "modern": {"truncation": 1279, "grid": "N640", "dt": 35.0, "steps": 12, "output": 3},
    }

    def __post_init__(self):
        require_range("output", self.output, 0, self.steps)
        self.model  # noqa: B018  refuses what the serial model refuses
        self.mesh  # noqa: B018  refuses ranks that cannot share the work

    @property
    def model(self) -> serial.Problem:
        """The same integration for the serial model."""
        names = {field.name for field in fields(serial.Problem)} & {field.name for field in fields(self)} - {"output"}
        return serial.Problem(**{name: getattr(self, name) for name in names}, hours=self.steps * self.dt / 3600.0)

    @property
    def mesh(self) -> Mesh:
        """The decomposition: bands of rows, all fields together."""
        return Mesh(self.grid, self.truncation, DIRECT, self.ranks, 1)


class State(NamedTuple):
    """What one rank starts from."""

    traffic: Traffic
    inverse: Transform
    direct: Transform
    spectra: np.ndarray  # complex128 (3, own coefficients): ζ, φ', D
    mean: float  # mean geopotential, m²/s²
    coriolis: np.ndarray  # float64 (own points,), 1/s
    cosine: np.ndarray  # of latitude, own points
    keep: WorkFolder | None  # of rank 0, which writes
    ground: np.ndarray  # complex128 (own coefficients,), m²/s²


class Result(NamedTuple):
    """The end of an integration on this rank."""

    state: State
    spectra: np.ndarray  # complex128 (3, own coefficients)
    repeats: int
    steps: int


class Stepper:
    """One integration in progress on this rank; its ``threads`` share grid points and wavenumbers."""

    def __init__(self, problem: Problem, state: State, threads: int = 1):
        self.problem, self.state, self.threads = problem, state, threads
        self.old, self.now = state.spectra.copy(), state.spectra.copy()
        self.done = 0
        of_thread, columns = np.arange(threads + 1) / threads, state.inverse.at
        cuts = columns[np.searchsorted(columns, columns[-1] * of_thread)]  # between wavenumbers
        self._own = [slice(*ends) for ends in pairwise(cuts)]
        self._points = [slice(*ends) for ends in pairwise((state.coriolis.size * of_thread).astype(int))]
        degree, order = state.inverse.degree, state.inverse.order
        self._spectral = [Derivatives(problem.truncation, degree[own], order[own]) for own in self._own]
        self._up = np.empty((state.spectra.shape[1], INVERSE), np.complex128)
        self._down = np.empty((state.spectra.shape[1], DIRECT), np.complex128)
        self._grid = np.empty((INVERSE, state.coriolis.size))
        self._products = np.empty((DIRECT, state.coriolis.size))

    def _winds(self, thread: int) -> None:
        """Spectra that go to the grid."""
        own = self._own[thread]
        (vorticity, phi, divergence), up = self.now[:, own], self._up[own]
        up[:, 0], up[:, 1] = self._spectral[thread].wind(vorticity, divergence)
        up[:, 2], up[:, 3] = vorticity, phi

    def _multiply(self, thread: int) -> None:
        """Products at grid points."""
        here = self._points[thread]
        state, grid, products = self.state, self._grid[:, here], self._products[:, here]
        u, v = grid[:2] / state.cosine[here]
        absolute, depth = grid[2] + state.coriolis[here], grid[3]
        np.multiply(absolute, v, out=products[0])
        np.multiply(-absolute, u, out=products[1])
        np.multiply(depth, u, out=products[2])
        np.multiply(depth, v, out=products[3])
        products[:4] /= state.cosine[here]
        products[4] = 0.5 * (u * u + v * v)

    def _advance(self, thread: int) -> None:
        """Spectra of the next time level, from those of the products."""
        own, part, state = self._own[thread], self._spectral[thread], self.state
        old, now, down = self.old[:, own], self.now[:, own], self._down[own]
        curl, spread = part.vordiv(down[:, 0], down[:, 1])
        _, flux = part.vordiv(down[:, 2], down[:, 3])
        terms, first = (curl, spread, flux, down[:, 4]), self.done == 0
        about = self.problem.model, state.mean, state.ground[own], part.laplacian
        old[:], now[:] = plain(*about, terms, old, now, first)
        now *= part.inside

    def step(self) -> None:
        """One time step."""
        state, threads = self.state, self.threads
        share(self._winds, threads, threads)
        state.inverse.inverse(self._up, self._grid, threads)
        share(self._multiply, threads, threads)
        state.direct.direct(self._products, self._down, threads)
        share(self._advance, threads, threads)
        self.done += 1

    def write(self) -> None:
        """The surface height of all ranks, gathered and written by rank 0 while the others wait."""
        state, traffic, comm = self.state, self.state.traffic, self.state.traffic.comm
        mesh = self.problem.mesh
        counts = np.array([mesh.band_points(w) for w in range(mesh.W)])
        height = (self._grid[3] + state.mean) / GRAVITY
        everything = np.empty(mesh.grid.points) if comm.rank == 0 else None
        traffic.meet(comm)
        comm.Gatherv(height, None if everything is None else [everything, counts])
        traffic.book("communication")
        if comm.rank == 0:
            packed = everything.astype(np.float32)
            traffic.book("serial")
            with atomic_write(state.keep.path / f"{self.done:06d}.f32", fsync=False) as part:
                packed.tofile(part)
            traffic.book("output")
        comm.Barrier()
        traffic.book("barrier" if comm.rank else "output")


def setup(problem: Problem, seed: int = 0) -> State:
    """Legendre functions and the initial spectra of the rank's wavenumbers (``seed`` is not used)."""
    require_memory(footprint(problem).memory // problem.ranks, f"a rank's share of T{problem.truncation}")
    traffic, mesh = Traffic(world.team(problem.ranks)), problem.mesh
    direct = Transform(mesh, traffic, extra=1)
    inverse = direct.with_fields(INVERSE)
    here = direct.own_points()
    start = initial(problem.model, mesh.grid)
    rows = np.repeat(np.concatenate([direct.cosine, direct.cosine[::-1]]), mesh.grid.pl)[here]
    values = np.stack(
        [start.u[here] / rows, start.v[here] / rows, GRAVITY * start.depth[here], GRAVITY * start.ground[here], rows]
    )
    found = np.empty((int(direct.at[-1]), DIRECT), np.complex128)
    direct.direct(values, found)
    part = Derivatives(problem.truncation, direct.degree, direct.order)
    curl, spread = part.vordiv(found[:, 0], found[:, 1])
    spectra = np.stack([curl, found[:, 2] * part.inside, spread])
    zero = direct.degree == 0
    mean = world.total(traffic.comm, float(spectra[1, zero].real.sum()))
    spectra[:, zero] = 0.0
    disk = footprint(problem).disk
    keep = WorkFolder(None, "shallow-water", disk, "output steps") if traffic.comm.rank == 0 else None
    return State(traffic, inverse, direct, spectra, mean, start.coriolis[here], rows, keep, found[:, 3] * part.inside)


def run(problem: Problem, state: State, threads: int = 1, repeats: int = 1) -> Result:
    """Integrate from the initial state, ``repeats`` times."""
    traffic = state.traffic
    traffic.start()
    for _ in range(repeats):
        stepper = Stepper(problem, state, threads)
        for step in range(1, problem.steps + 1):
            stepper.step()
            if problem.output and step % problem.output == 0:
                stepper.write()
    traffic.book("compute")
    return Result(state, stepper.now, repeats, stepper.done)


def reference(problem: Problem, state: State) -> Result:
    """The serial model's spectra, cut to this rank's columns; rank 0 runs it."""
    comm, T = state.traffic.comm, problem.truncation
    spectra = np.zeros((3, (T + 1) * (T + 2) // 2), np.complex128)
    if comm.rank == 0:
        model = problem.model
        spectra[:] = serial.run(model, serial.setup(model)).spectra
    world.wait_aside(comm)
    comm.Bcast(spectra)
    return Result(state, state.direct.own(spectra)[:, :3].T, 1, problem.steps)


def verify(problem: Problem, result: Result) -> list[Check]:
    """Against the serial model (small T); steps; no mean of ζ and D."""
    comm = result.state.traffic.comm
    checks = []
    if problem.truncation <= COMPARED:
        true = reference(problem, result.state)
        turning = worst(true.spectra[0], true.spectra[2])  # of vorticity and divergence, which have the same unit
        sizes = turning, worst(true.spectra[1]), turning
        for name, found, expected, most in zip(("ζ", "φ", "D"), result.spectra, true.spectra, sizes, strict=True):
            size = world.largest(comm, most)
            error = world.largest(comm, worst(found - expected))
            checks.append(Check.near(f"{name} against the serial model, relative", error / size, 0, 1e-11))
    largest = world.largest(comm, worst(result.spectra))
    checks.append(Check("largest coefficient is finite", largest, largest, 0.0, bool(np.isfinite(largest))))
    checks.append(Check.near("steps", result.steps, problem.steps, 0))
    return checks


NO_OUTPUT = {"state": "what the integration starts from, and its work space"}


def split(result: Result) -> dict[str, float]:
    """Seconds of every class an integration, mean over the ranks, and its :func:`checksum`; all ranks call it."""
    return result.state.traffic.split(result.repeats) | {"checksum": checksum(result)}


def checksum(result: Result) -> int:
    """A number that is the same where every bit of the final spectra is, by whatever ranks; all ranks call it.

    The sum over wavenumbers m of a CRC-32 of m and of its coefficients of ζ, φ' and D; one rank has all of an m.
    """
    own = result.state.direct
    columns = zip(own.m, np.split(result.spectra, own.at[1:-1], axis=1), strict=True)
    found = sum(crc32(column.tobytes(), int(m)) for m, column in columns)
    return int(world.total(result.state.traffic.comm, float(found)))  # below 2⁵³, so exact


def work(problem: Problem, threads: int = 1) -> Work:
    """Operations and bytes of one integration on all ranks, as the serial model counts them."""
    return serial.work(problem.model)


def footprint(problem: Problem) -> Footprint:
    """Bytes of Legendre functions, spectra and grid values of all ranks."""
    mesh, T = problem.mesh, problem.truncation
    outputs = 4 * mesh.grid.points * (problem.steps // problem.output) if problem.output else 0
    return Footprint(table_bytes(mesh, extra=1) + 60 * 8 * mesh.grid.points + 60 * 16 * T * T, outputs)
