"""Inverse Legendre transforms with messages in flight (C7): Ialltoallv against Alltoallv.

The fields are cut into groups.  While the coefficients of one group travel from spectral to Fourier space,
the matrices of the next are multiplied:

    alltoallv   a group is sent and received before the next is begun
    ialltoallv  the exchange is started, and waited for once the next group is computed

An MPI library moves data when it is called.  Without a core to spare for that, an exchange that is
only started may not get on before somebody waits for it.

The Legendre functions of all ranks together, which every problem has for itself, take 3 GB at T1198 on N640 and 13 GB
at T2047 on N1024.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from supercomputers_rerun.kernels import spectral
from supercomputers_rerun.kernels.contract import (
    Check,
    Footprint,
    Presets,
    Work,
    ceil_div,
    one_of,
    require_range,
    whole,
)
from supercomputers_rerun.kernels.mpi import world
from supercomputers_rerun.kernels.mpi.mesh import Mesh
from supercomputers_rerun.kernels.mpi.moves import copy_blocks
from supercomputers_rerun.kernels.mpi.traffic import Planned, Traffic
from supercomputers_rerun.kernels.runtime.resources import require_memory
from supercomputers_rerun.kernels.spectral.ranks import Transform, table_bytes

__all__ = ["Problem", "State", "footprint", "plain", "reference", "run", "setup", "verify", "work"]


@dataclass(frozen=True)
class Problem(Presets):
    """Truncation, grid and fields in groups, over ``ranks`` bands."""

    truncation: whole(1, 2047) = 63  # triangular truncation, 1
    grid: str = "F48"  # Gaussian grid
    fields: whole(1, 100_000) = 16  # fields in all, 1
    groups: int = 4  # groups of fields, 1
    ranks: whole(1, world.LARGEST) = 1  # ranks that take part
    way: one_of("alltoallv", "ialltoallv") = "alltoallv"  # see above

    PRESETS: ClassVar = {
        "quick": {},
        "paper": {"truncation": 1198, "grid": "N640", "fields": 16, "groups": 2},
        "modern": {"truncation": 2047, "grid": "N1024", "fields": 16, "groups": 2},
    }

    def __post_init__(self):
        require_range("groups", self.groups, 1, self.fields)
        self.mesh  # noqa: B018  refuses ranks that cannot share the work

    @property
    def mesh(self) -> Mesh:
        """The decomposition of one group, the largest."""
        return Mesh(self.grid, self.truncation, ceil_div(self.fields, self.groups), self.ranks, 1)


class State(NamedTuple):
    """One transform for all groups, and what is sent and received: an array a group."""

    transform: Transform
    spectra: list[np.ndarray]
    columns: list[np.ndarray]  # in the order of wavenumbers
    packed: list[np.ndarray]  # in the order of ranks
    waves: list[np.ndarray]


def setup(problem: Problem, seed: int = 0) -> State:
    """The rank's share of random spectra, group by group."""
    require_memory(footprint(problem).memory // problem.ranks, f"a rank's share of T{problem.truncation}")
    mesh = problem.mesh
    made = Transform(mesh, Traffic(world.team(problem.ranks)))
    spectra = []
    for group in range(problem.groups):
        rng = np.random.default_rng((seed, group))
        size = (problem.truncation + 1) * (problem.truncation + 2)
        spectra.append(made.own(rng.uniform(-1.0, 1.0, size).view(np.complex128) for _ in range(mesh.fields)))
    return _empty(State(made, spectra, [], [], []))


def _empty(state: State) -> State:
    """The same with new arrays for what is sent and received."""
    moves = state.transform.moves
    sizes = moves.column_counts.sum(), moves.column_counts.sum(), moves.wave_counts.sum()
    columns, packed, waves = ([np.zeros(int(size)) for _ in state.spectra] for size in sizes)
    return state._replace(columns=columns, packed=packed, waves=waves)


def plain(state: State, exchange, threads: int = 1) -> None:
    """The inverse transform: while one group of fields is on its way, the next is transformed.

    ``exchange(columns, waves)`` gives what is to be waited for, or None once all has been exchanged.
    """
    made, waiting = state.transform, None
    by_rank, by_wave, lengths = made.moves.blocks
    for spectrum, columns, packed, waves in zip(state.spectra, state.columns, state.packed, state.waves, strict=True):
        made._to_rows(spectrum, columns, threads)
        copy_blocks(columns, packed, by_wave, by_rank, lengths)
        begun = exchange(packed, waves)
        if waiting:
            waiting.Wait()
        waiting = begun
    if waiting:
        waiting.Wait()


def run(problem: Problem, state: State, threads: int = 1, repeats: int = 1) -> State:
    """Inverse Legendre transform of all groups with their exchanges, ``repeats`` times."""
    moves = state.transform.moves
    there = Planned(moves.traffic, moves.down, moves.column_counts, moves.wave_counts)
    call = there.comm.Alltoallv if problem.way == "alltoallv" else there.comm.Ialltoallv
    for _ in range(repeats):
        plain(state, lambda columns, waves: call(*there.buffers(columns, waves)), threads)
    return state


def reference(problem: Problem, state: State) -> State:
    """The same group after group by the transposition that ``spectral.ranks`` transforms with, into new arrays."""
    true, made = _empty(state), state.transform
    for spectrum, columns, waves in zip(true.spectra, true.columns, true.waves, strict=True):
        made._to_rows(spectrum, columns)
        made.moves.trmtol(columns, waves)
    return true


def verify(problem: Problem, result: State) -> list[Check]:
    """Bit for bit what the transposition of ``spectral.ranks`` gives."""
    true, comm = reference(problem, result), result.transform.traffic.comm
    wrong = sum(int((found != due).sum()) for found, due in zip(result.waves, true.waves, strict=True))
    for part in (*result.packed, *result.waves):
        part[:] = np.nan  # the next exchange has to bring them again, and nothing may be used before it has come
    return [Check.near("values that a transposition would place otherwise", world.total(comm, wrong), 0, 0)]


NO_OUTPUT = dict.fromkeys(("spectra", "columns", "packed"), "what is sent, and in what order")


def work(problem: Problem, threads: int = 1) -> Work:
    """Operations of the Legendre sums of all ranks, half of those there and back, and the coefficients moved."""
    fields = problem.mesh.fields * problem.groups
    legendre = dict(spectral.work(spectral.Problem(problem.truncation, problem.grid, fields)).parts)["Legendre"] // 2
    moved = 16 * fields * int(problem.mesh.counts.sum())
    return Work(flops=legendre, bytes_read=moved, bytes_written=moved, parts=(("Legendre", legendre),))


def footprint(problem: Problem) -> Footprint:
    """Bytes of Legendre functions, spectra and buffers of all ranks."""
    mesh, T = problem.mesh, problem.truncation
    fields = mesh.fields * problem.groups
    return Footprint(table_bytes(mesh) + fields * (3 * 16 * int(mesh.counts.sum()) + 24 * T * T))
