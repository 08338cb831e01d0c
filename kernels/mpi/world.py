"""Communicators, and who runs where.  mpi4py is imported when a rank first asks for it."""

import ctypes
import functools
import json
import re
import signal
import socket
import sys
import time
from pathlib import Path

import numpy as np

from supercomputers_rerun.kernels.runtime.resources import affinity_cpus

__all__ = ["HOW_TO_GET_IT", "LARGEST", "broadcast", "describe", "end_with_parent", "gather", "largest", "mpi", "team"]
__all__ += ["total", "wait_aside"]

#: Most ranks that a problem may name: what the scale model is drawn to.
LARGEST = 100_000
HOW_TO_GET_IT = (
    "install the extra: pip install -e '.[mpi]' in the source, or 'FILE.whl[mpi]' (mpi4py and MPICH as wheels), "
    "or mpi4py beside the MPI of the system"
)


def end_with_parent() -> None:
    """Let this process be killed when the one that started it ends, however that ends (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


@functools.cache
def mpi():
    """The module ``mpi4py.MPI``, initialised; ``ImportError`` where it cannot be loaded, which says how to get it."""
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:  # mpi4py is there and finds no library: RuntimeError
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ImportError(f"MPI cannot be loaded ({reason}); {HOW_TO_GET_IT}") from None
    MPI.COMM_WORLD.Barrier()
    if sys.platform == "linux":  # all ranks have MPICH's shared memory: without a name it goes with them, killed or not
        for name in re.findall(r"/dev/shm/mpich_\w+", Path("/proc/self/maps").read_text()):
            Path(name).unlink(missing_ok=True)
    return MPI


@functools.cache
def team(ranks: int):
    """Communicator of the first ``ranks`` ranks of the job; None on a rank that is not among them.

    ``ValueError`` if the job is smaller.
    """
    world = mpi().COMM_WORLD
    if ranks > world.size:
        raise ValueError(
            f"ranks = {ranks} exceeds the {world.size} of this job; start it with mpiexec -n {ranks} "
            f"or companion run … --ranks {ranks}"
        )
    if world.rank >= ranks:
        return None
    return world.Create_group(world.group.Range_incl([(0, ranks - 1, 1)]))


def gather(comm, value) -> list:
    """The values of all ranks (whatever JSON holds), on every rank."""
    data = np.frombuffer(json.dumps(value).encode(), np.uint8)
    sizes = np.empty(comm.size, np.int32)
    comm.Allgather(np.array([data.size], np.int32), sizes)
    found = np.empty(int(sizes.sum()), np.uint8)
    comm.Allgatherv(data, [found, sizes])
    return [json.loads(bytes(each)) for each in np.split(found, np.cumsum(sizes)[:-1])]


def broadcast(comm, value):
    """The value of rank 0 (whatever JSON holds), on every rank."""
    return gather(comm, value if comm.rank == 0 else None)[0]


def total(comm, value: float) -> float:
    """Sum over the ranks, on every rank."""
    found = np.empty(1)
    comm.Allreduce(np.array([value], float), found)
    return float(found[0])


def largest(comm, value: float) -> float:
    """Largest of the ranks' values, on every rank; NaN where one is, which the reduction of MPI may lose."""
    found = np.empty(comm.size)
    comm.Allgather(np.array([value], float), found)
    return float(found.max())


def wait_aside(comm, patience: float = 0.002) -> None:
    """A barrier for ranks without work: they sleep, where MPI's own would keep a CPU busy."""
    request = comm.Ibarrier()
    while not request.Test():
        time.sleep(patience)


def describe(comm) -> dict:
    """Library and rank map of a job, for run records; the same on every rank.

    ``library`` and ``device`` as the library names itself; hosts by number in order of appearance, since a record names
    no machine of anybody; ``cpus_of_rank`` by affinity.
    """
    lines = [line.strip() for line in mpi().Get_library_version().replace("\x00", "").splitlines() if line.strip()]
    device = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("MPICH Device")), None)
    found = gather(comm, [socket.gethostname(), affinity_cpus()])
    hosts = list(dict.fromkeys(name for name, _ in found))
    return {
        "library": " ".join(lines[0].split(",")[0].split()),
        "device": device,
        "ranks": comm.size,
        "host_of_rank": [hosts.index(name) for name, _ in found],
        "cpus_of_rank": [cpus for _, cpus in found],
    }
