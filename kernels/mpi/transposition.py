"""The transpositions of a spectral model alone: bytes moved against time (P4, C5).

One repeat takes fields from grid to Fourier to spectral space and back, the four routines of ``moves``,
without computing anything between, and so without a barrier before each.  Every value carries its own
place as a number, so a value that arrived elsewhere shows.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from kernels.contract import Check, Footprint, Work
from kernels.mpi import world
from kernels.mpi.library import require_success
from kernels.mpi.mesh import Mesh, Shared
from kernels.mpi.moves import ROUTINES, Moves, there_and_back
from kernels.mpi.traffic import Traffic
from kernels.runtime.resources import require_memory


@dataclass(frozen=True)
class Problem(Shared):
    """Truncation, grid and fields, and the ranks that share them."""

    LARGEST: ClassVar[int] = 8000
    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {
        "quick": {},
        "paper": {"truncation": 399, "grid": "N200", "fields": 32},
        "modern": {"truncation": 1279, "grid": "N640", "fields": 16},
    }


class State(NamedTuple):
    """Arrays of one rank, see ``moves``; ``back`` takes the way home."""

    moves: Moves
    grid: np.ndarray
    lines: np.ndarray
    waves: np.ndarray
    columns: np.ndarray
    waves_back: np.ndarray
    grid_back: np.ndarray
    seconds: dict  # of each routine on this rank, last call of run
    repeats: list  # of the last call of run, one number


def places(moves: Moves) -> tuple[np.ndarray, ...]:
    """What ``grid``, ``lines``, ``waves`` and ``columns`` of this rank must hold."""
    mesh = moves.mesh
    total, width = mesh.grid.points, mesh.truncation + 1
    field = np.arange(mesh.fields)
    own = field[mesh.parts[moves.v] : mesh.parts[moves.v + 1]]
    first = mesh.first_point(moves.w)
    point = first + np.arange(moves.pieces[moves.v], moves.pieces[moves.v + 1])
    band = first + np.arange(moves.band_points)

    def coefficients(wavenumbers, low, count):
        rows = [
            ((np.arange(a, a + n) * width + m)[:, None] * mesh.fields + own) * 2
            for m, a, n in zip(wavenumbers, low, count, strict=True)
        ]
        return (np.concatenate([row.reshape(-1) for row in rows])[:, None] + np.arange(2)).reshape(-1).astype(float)

    owners = np.concatenate([mesh.wavenumbers(w) for w in range(mesh.W)])
    first_rows = np.searchsorted(mesh.counts[: mesh.grid.N], moves.m, side="right")
    return (
        (field[:, None] * total + point).astype(float),
        (own[:, None] * total + band).astype(float),
        coefficients(owners, *mesh.rows_with(owners, moves.w)),
        coefficients(moves.m, first_rows, moves.column_rows),
    )


def setup(problem: Problem, seed: int = 0) -> State:
    """Arrays filled with their places (``seed`` is not used)."""
    require_memory(footprint(problem).memory, f"transpositions of {problem.fields} fields of T{problem.truncation}")
    moves = Moves(problem.mesh, Traffic(world.team(problem.ranks), barriers=False))
    grid, lines, waves, columns = moves.spaces()
    grid[:], _, waves[:], _ = places(moves)
    return State(moves, grid, lines, waves, columns, np.zeros_like(waves), np.zeros_like(grid), {}, [1])


def run(problem: Problem, state: State, threads: int = 1, repeats: int = 1) -> State:
    """``repeats`` times there and back."""
    moves, grid, lines, waves, columns, waves_back, grid_back, seconds, counted = state
    traffic = moves.traffic
    traffic.start()
    took, counted[0] = np.zeros(len(ROUTINES)), repeats
    spaces = grid, lines, waves, columns
    require_success(there_and_back(moves.plan, spaces, (waves_back, grid_back), took, repeats))
    seconds.update(zip(ROUTINES, took.tolist(), strict=True))
    traffic.sent(repeats, *moves.collectives)
    return state


def reference(problem: Problem, state: State) -> State:
    """What the arrays of this rank must hold, from the places alone."""
    grid, lines, waves, columns = places(state.moves)
    return state._replace(lines=lines, columns=columns, waves_back=waves, grid_back=grid)


def verify(problem: Problem, result: State) -> list[Check]:
    """Every value lies where its place says, there and back; the bytes sent are those of the model."""
    from kernels.mpi.scale import transposition

    comm, true = result.moves.traffic.comm, reference(problem, result)
    checks = []
    for name in ("lines", "columns", "waves_back", "grid_back"):
        found = getattr(result, name)
        wrong = world.total(comm, int((found != getattr(true, name)).sum()))
        checks.append(Check.near(f"misplaced values in {name}", wrong, 0, 0))
        found[...] = -1.0  # the next repeat has to bring them again
    return checks + result.moves.traffic.checks(transposition(problem.mesh), result.repeats[0], "repeat")


NO_OUTPUT = dict.fromkeys(("grid", "waves"), "what is moved")


def times(result: State) -> dict[str, float]:
    """Seconds of every routine a repeat, that of the slowest rank, and what all sent; all ranks call it."""
    traffic, repeats = result.moves.traffic, result.repeats[0]
    found = {name: world.largest(traffic.comm, seconds / repeats) for name, seconds in result.seconds.items()}
    return found | traffic.counts(repeats)


def moved_bytes(mesh: Mesh) -> int:
    """Bytes of one repeat, whoever sends them: what stays on its rank included."""
    values = 2 * 8 * mesh.fields * mesh.grid.points
    return values + 2 * 16 * mesh.fields * int(mesh.counts.sum())


def work(problem: Problem, threads: int = 1) -> Work:
    """Bytes that one repeat reads and writes on all ranks, each value once a transposition."""
    return Work(bytes_read=moved_bytes(problem.mesh), bytes_written=moved_bytes(problem.mesh))


def footprint(problem: Problem) -> Footprint:
    """Bytes of the arrays and buffers of all ranks."""
    return Footprint(4 * moved_bytes(problem.mesh))
