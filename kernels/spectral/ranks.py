"""The distributed spectral transform: rows ↔ wavenumbers over the mesh of ``mesh`` (C2).

Each rank has the Legendre functions of its own wavenumbers, once: two matrices each (even and odd degrees), of
the rows that carry the wavenumber.  It multiplies all fields of its part with them at once, as IFS does, and with
their transposes on the way back, when the fields have been weighted.  At T1279 on N640 that takes 3.3 GB on all
ranks together, and V times as much on a mesh W × V (``table_bytes``).  Fourier transforms run along whole rows.
Between them values change hands (``moves``).  Every sum runs inside one rank in an order that
does not depend on W, so that results are the same bit for bit however the rows are cut, and by however many threads of
a rank: they share its wavenumbers and its rows.  One thread alone moves values to other ranks.

Coefficients are those of ``kernels.spectral.Plan``, in columns of the rank's wavenumbers: complex128
(own coefficients, fields of the part), degree after degree, ``m … T + extra`` of each m.
"""

import copy
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from time import perf_counter
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import fft

from supercomputers_rerun.kernels.contract import Check, Footprint, Presets, Work, whole, worst
from supercomputers_rerun.kernels.mpi import world
from supercomputers_rerun.kernels.mpi.mesh import Mesh, shape, transposition
from supercomputers_rerun.kernels.mpi.moves import Moves
from supercomputers_rerun.kernels.mpi.traffic import Traffic
from supercomputers_rerun.kernels.runtime.resources import require_memory, run_team
from supercomputers_rerun.kernels.spectral import Plan
from supercomputers_rerun.kernels.spectral import work as serial_work
from supercomputers_rerun.kernels.spectral.grids import half_nodes
from supercomputers_rerun.kernels.spectral.legendre import epsilon, position

#: Truncations up to this one are compared with the serial plan value by value.
COMPARED = 255
ROUTINES = ("TRGTOL", "TRLTOM", "TRMTOL", "TRLTOG")


def legendre_functions(m: int, top: int, mu: np.ndarray, cosine: np.ndarray) -> np.ndarray:
    """``P_n^m`` for n = m … top at some latitudes, float64 (latitudes, degrees).

    The three-term recurrence in extended precision, whose range carries ``cos^m φ`` near the poles.
    """
    k = np.arange(1, m + 1, dtype=np.longdouble)
    start = np.sqrt(np.prod((2 * k + 1) / (2 * k))) * cosine.astype(np.longdouble) ** m
    last, now = np.zeros_like(start), start
    found = np.empty((mu.size, top + 1 - m))
    n = np.arange(m, top + 2)
    eps = epsilon(n, np.full(n.size, m))
    for i in range(top + 1 - m):
        found[:, i] = now
        last, now = now, (mu * now - eps[i] * last) / eps[i + 1]
    return found


def table_bytes(mesh: Mesh, extra: int = 0) -> int:
    """Bytes of the Legendre functions of all ranks, up to degree T + ``extra``.

    A northern row has those of the wavenumbers that it carries, on each of the V ranks of a band of rows.
    """
    m = np.arange(mesh.truncation + 1)
    rows = mesh.grid.N - np.searchsorted(mesh.counts[: mesh.grid.N], m, side="right")
    return 8 * mesh.V * int((rows * (mesh.truncation + extra + 1 - m)).sum())


def share(one: Callable[[int], object], count: int, threads: int) -> None:
    """``one(i)`` for every i < count; each of a rank's ``threads`` takes every ``threads``-th."""

    def part(thread: int) -> None:
        for i in range(thread, count, threads):
            one(i)

    if threads == 1:
        part(0)
    else:
        run_team(part, threads)


class Transform:
    """Inverse and direct transform of this rank's share, with ``extra`` degrees beyond T, which winds need."""

    def __init__(self, mesh: Mesh, traffic: Traffic, extra: int = 0):
        self.mesh, self.traffic, self.extra = mesh, traffic, extra
        self.moves = Moves(mesh, traffic)
        self.m = self.moves.m
        self.lengths = mesh.truncation + extra + 1 - self.m
        self.at = np.concatenate([[0], np.cumsum(self.lengths)]).astype(np.int64)
        self.order = np.repeat(self.m, self.lengths)  # zonal wavenumber of every own coefficient
        self.degree = np.arange(self.at[-1]) - np.repeat(self.at[:-1], self.lengths) + self.order
        mu, _, cosine, _, weight = half_nodes(2 * mesh.grid.N)
        self.cosine = cosine
        self._weight = 0.5 * weight[:, None]
        self._matrices = []
        for m, rows in zip(self.m, self.moves.column_rows, strict=True):
            first = mesh.grid.N - int(rows) // 2
            table = legendre_functions(int(m), mesh.truncation + extra, mu[first:], cosine[first:])
            self._matrices.append(tuple(np.ascontiguousarray(table[:, parity::2]) for parity in (0, 1)))
        self._rows = self._row_tables()
        self.seconds = dict.fromkeys(ROUTINES, 0.0)  # of each routine, without waiting for others at its barrier

    def with_fields(self, fields: int) -> "Transform":
        """The same for another number of fields; the Legendre functions are shared."""
        other = copy.copy(self)
        other.mesh = Mesh(self.mesh.name, self.mesh.truncation, fields, self.mesh.W, self.mesh.V)
        other.moves = Moves(other.mesh, self.traffic)
        other._rows = other._row_tables()
        return other

    def _row_tables(self):
        """For every row of the band: where its points and its coefficients lie."""
        mesh, moves, width = self.mesh, self.moves, 2 * self.moves.fields
        tables, place = [], 0
        for row in range(mesh.bands[moves.w], mesh.bands[moves.w + 1]):
            length, count = int(mesh.grid.pl[row]), int(mesh.counts[row])
            index = moves.wave_at[:count] // width + row - moves.wave_row[:count]
            tables.append((place, length, index))
            place += length
        return tables

    def _to_rows(self, spectrum: np.ndarray, columns: np.ndarray, threads: int = 1) -> None:
        width = 2 * self.moves.fields

        def one(i: int) -> None:
            even, odd = self._matrices[i]
            a, rows = self.moves.column_at[i], int(self.moves.column_rows[i])
            values = columns[a : a + rows * width].reshape(rows, width)
            column = spectrum[self.at[i] : self.at[i + 1]].view(np.float64)
            symmetric, other = even @ column[0::2], odd @ column[1::2]
            np.add(symmetric, other, out=values[: rows // 2])
            np.subtract(symmetric, other, out=values[rows // 2 :][::-1])

        share(one, self.m.size, threads)

    def _to_degrees(self, columns: np.ndarray, spectrum: np.ndarray, threads: int) -> None:
        width = 2 * self.moves.fields

        def one(i: int) -> None:
            even, odd = self._matrices[i]
            a, rows = self.moves.column_at[i], int(self.moves.column_rows[i])
            values = columns[a : a + rows * width].reshape(rows, width)
            north, south = values[: rows // 2], values[rows // 2 :][::-1]
            column = spectrum[self.at[i] : self.at[i + 1]].view(np.float64)
            weight = self._weight[self.mesh.grid.N - rows // 2 :]
            column[0::2] = even.T @ (weight * (north + south))
            column[1::2] = odd.T @ (weight * (north - south))

        share(one, self.m.size, threads)

    def _to_points(self, waves: np.ndarray, lines: np.ndarray, threads: int) -> None:
        values = waves.view(np.complex128).reshape(-1, self.moves.fields)

        def one(number: int) -> None:
            place, length, index = self._rows[number]
            row = np.zeros((length // 2 + 1, self.moves.fields), np.complex128)
            row[: index.size] = values[index]
            lines[:, place : place + length] = fft.irfft(row, length, axis=0, norm="forward").T

        share(one, len(self._rows), threads)

    def _to_waves(self, lines: np.ndarray, waves: np.ndarray, threads: int) -> None:
        values = waves.view(np.complex128).reshape(-1, self.moves.fields)

        def one(number: int) -> None:
            place, length, index = self._rows[number]
            row = fft.rfft(lines[:, place : place + length].T, axis=0, norm="forward")
            values[index] = row[: index.size]

        share(one, len(self._rows), threads)

    def inverse(self, spectrum: np.ndarray, grid: np.ndarray, threads: int = 1) -> None:
        """Grid values of the rank's piece, float64 (fields, points), from its columns of the spectrum."""
        self._to_rows(spectrum, self.moves.columns, threads)
        self._timed("TRMTOL", self.moves.columns, self.moves.waves)
        self._to_points(self.moves.waves, self.moves.lines, threads)
        self._timed("TRLTOG", self.moves.lines, grid)

    def direct(self, grid: np.ndarray, spectrum: np.ndarray, threads: int = 1) -> None:
        """The rank's columns of the spectrum from the values of its piece."""
        self._timed("TRGTOL", grid, self.moves.lines)
        self._to_waves(self.moves.lines, self.moves.waves, threads)
        self._timed("TRLTOM", self.moves.waves, self.moves.columns)
        self._to_degrees(self.moves.columns, spectrum, threads)

    def _timed(self, routine: str, source: np.ndarray, target: np.ndarray) -> None:
        begin, waited = perf_counter(), self.traffic.seconds["barrier"]
        getattr(self.moves, routine.lower())(source, target)
        self.seconds[routine] += perf_counter() - begin - (self.traffic.seconds["barrier"] - waited)

    def own(self, spectra: Iterable[np.ndarray]) -> np.ndarray:
        """This rank's columns and fields of global spectra, one after the other, (ncoef,) in the order of ``Plan``."""
        T, parts = self.mesh.truncation, self.mesh.parts
        found = np.zeros((int(self.at[-1]), self.moves.fields), np.complex128)
        inside = self.degree <= T
        index = position(self.order, self.degree, T)
        for i, spectrum in enumerate(islice(spectra, *parts[self.moves.v : self.moves.v + 2])):
            found[inside, i] = spectrum[index[inside]]
        return found

    def own_points(self) -> slice:
        """Where the rank's piece lies among the points of the grid."""
        first = int(self.mesh.grid.starts[self.mesh.bands[self.moves.w]])
        return slice(first + int(self.moves.pieces[self.moves.v]), first + int(self.moves.pieces[self.moves.v + 1]))


@dataclass(frozen=True)
class Problem(Presets):
    """Truncation, grid and fields (levels times variables), and the ranks that share them."""

    truncation: whole(1, 2000) = 63  # triangular truncation, 1
    grid: str = "F48"  # Gaussian grid
    fields: whole(1, 100_000) = 8  # fields transformed at once, 1
    ranks: whole(1, world.LARGEST) = 1  # ranks that take part

    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {
        "quick": {},
        "paper": {"truncation": 1279, "grid": "N640", "fields": 8},
        "modern": {"truncation": 1279, "grid": "N640", "fields": 16},
    }

    def __post_init__(self):
        self.mesh  # noqa: B018  refuses ranks that cannot share the work

    @property
    def mesh(self) -> Mesh:
        """The decomposition."""
        return Mesh(self.grid, self.truncation, self.fields, *shape(self.ranks))


class State(NamedTuple):
    """Share of one rank: spectrum, grid values and the way back."""

    transform: Transform
    spectrum: np.ndarray
    grid: np.ndarray
    back: np.ndarray
    seed: int
    repeats: list  # of the last call of run, one number


def global_spectra(problem: Problem, seed: int) -> Iterator[np.ndarray]:
    """What all ranks together hold, field after field: as ``kernels.spectral`` draws it."""
    rng = np.random.default_rng(seed)
    for _ in range(problem.fields):
        spectrum = rng.uniform(-1.0, 1.0, (problem.truncation + 1) * (problem.truncation + 2)).view(np.complex128)
        spectrum[: problem.truncation + 1].imag = 0.0
        yield spectrum


def setup(problem: Problem, seed: int = 0) -> State:
    """Legendre functions and the rank's share of a spectrum that ``seed`` draws."""
    require_memory(footprint(problem).memory // problem.ranks, f"a rank's share of T{problem.truncation}")
    transform = Transform(problem.mesh, Traffic(world.team(problem.ranks)))
    spectrum = transform.own(global_spectra(problem, seed))
    return State(transform, spectrum, transform.moves.grid, np.zeros_like(spectrum), seed, [1])


def run(problem: Problem, state: State, threads: int = 1, repeats: int = 1) -> State:
    """Inverse transform of every field, then the direct one, ``repeats`` times."""
    traffic = state.transform.traffic
    state.repeats[0] = repeats
    state.transform.seconds.update(dict.fromkeys(ROUTINES, 0.0))
    traffic.start()
    for _ in range(repeats):
        state.transform.inverse(state.spectrum, state.grid, threads)
        state.transform.direct(state.grid, state.back, threads)
    traffic.book("compute")
    return state


def reference(problem: Problem, state: State) -> State:
    """The rank's share of what the serial plan gives for the whole problem; rank 0 runs it."""
    transform, comm = state.transform, state.transform.traffic.comm
    values = np.empty((problem.fields, transform.mesh.grid.points))
    spectra = np.stack(list(global_spectra(problem, state.seed)))
    if comm.rank == 0:
        plan = Plan(problem.grid, problem.truncation)
        plan.inverse(spectra, out=values)
        spectra = plan.direct(values)
    world.wait_aside(comm)
    comm.Bcast(values)
    comm.Bcast(spectra)
    return state._replace(grid=values[:, transform.own_points()], back=transform.own(spectra))


def verify(problem: Problem, result: State) -> list[Check]:
    """Against the serial plan (small T), the quadrature identity, the round trip, the counted messages."""
    transform, comm = result.transform, result.transform.traffic.comm
    size = np.sqrt(2.0 * (problem.truncation + 1) ** 2 / 3.0)
    checks = []
    if problem.truncation <= COMPARED:
        true = reference(problem, result)
        for name, scale in (("grid", size), ("back", 1.0)):
            error = worst(getattr(result, name) - getattr(true, name)) / scale
            checks.append(Check.near(f"{name} against the serial plan, relative", world.largest(comm, error), 0, 2e-12))
    shares = transform.mesh.grid.shares[transform.own_points()]
    square = world.total(comm, float((shares * result.grid**2).sum()))
    twice = np.where(transform.order == 0, 1.0, 2.0)[:, None]
    product = world.total(comm, float(((result.spectrum.conj() * result.back).real * twice).sum()))
    checks.append(Check.relative("mean square on the grid against spectra", product, square, 1e-11))
    if transform.mesh.grid.full:
        error = world.largest(comm, worst(result.back - result.spectrum))
        checks.append(
            Check.near("round trip, coefficients within ±1", error, 0.0, 4e-12 * max(1.0, problem.truncation / 400))
        )
    return checks + transform.traffic.checks(transposition(problem.mesh), result.repeats[0])


NO_OUTPUT = {"spectrum": "what is transformed"}


def times(result: State) -> dict[str, float]:
    """Seconds of every routine a repeat, that of the slowest rank, and what all sent; all ranks call it."""
    transform, repeats = result.transform, result.repeats[0]
    found = {name: world.largest(transform.traffic.comm, transform.seconds[name] / repeats) for name in ROUTINES}
    return found | transform.traffic.counts(repeats)


def work(problem: Problem, threads: int = 1) -> Work:
    """Operations and bytes of one repeat on all ranks, counted as ``kernels.spectral`` does."""
    from supercomputers_rerun.kernels import spectral

    return serial_work(spectral.Problem(problem.truncation, problem.grid, problem.fields))


def footprint(problem: Problem) -> Footprint:
    """Bytes of Legendre functions, spectra, grid values and buffers of all ranks."""
    mesh, ncoef = problem.mesh, (problem.truncation + 1) * (problem.truncation + 2) // 2
    waves = int(mesh.counts.sum())
    each = 3 * 8 * mesh.grid.points + 4 * 16 * waves + 2 * 16 * ncoef
    drawn = problem.ranks * 3 * 16 * ncoef  # one field at a time
    return Footprint(table_bytes(mesh) + problem.fields * each + drawn + mesh.V * 8 * (waves + 4 * ncoef))
