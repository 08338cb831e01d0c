"""Messages that are counted and timed.

A collective that waits for its slowest rank shows load imbalance as communication.  Like the timers of
IFS, :class:`Traffic` therefore lets the ranks meet at a barrier first and books that wait apart.
"""

from dataclasses import dataclass, field
from time import perf_counter

import numpy as np

from supercomputers_rerun.kernels.contract import Check
from supercomputers_rerun.kernels.mpi import world

__all__ = ["CLASSES", "Planned", "Traffic", "starts"]

#: What the time of a run is split into: the four classes of the 2014 report's pies, and output, which the report of
#: 2006 has apart and that of 2014 has not.
CLASSES = ("compute", "communication", "barrier", "serial", "output")


@dataclass
class Traffic:
    """What one rank sent to others, and where its time went."""

    comm: object
    messages: int = 0  # to other ranks
    bytes: int = 0  # in them
    seconds: dict = field(default_factory=lambda: dict.fromkeys(CLASSES, 0.0))
    _since: float = 0.0

    def start(self) -> None:
        """Nothing is sent or booked yet; from here on time counts as computing."""
        self.messages = self.bytes = 0
        self.seconds.update(dict.fromkeys(CLASSES, 0.0))
        self._since = perf_counter()

    def book(self, name: str) -> None:
        """Book the time since the last booking under ``name``."""
        now = perf_counter()
        self.seconds[name] += now - self._since
        self._since = now

    def meet(self, comm) -> None:
        """Barrier before a collective; what came before it was computing."""
        self.book("compute")
        comm.Barrier()
        self.book("barrier")

    def counts(self, repeats: int) -> dict[str, float]:
        """Messages and bytes of all ranks in one of ``repeats`` repeats, by name, on every rank."""
        return {name: world.total(self.comm, getattr(self, name)) / repeats for name in ("messages", "bytes")}

    def split(self, repeats: int) -> dict[str, float]:
        """Seconds of every class in one of ``repeats`` repeats, mean over the ranks, on every rank."""
        ranks = self.comm.size * repeats
        return {name: world.total(self.comm, value) / ranks for name, value in self.seconds.items()}

    def checks(self, counted, repeats: int) -> list[Check]:
        """What one of ``repeats`` repeats sent, against the formula's ``counted.messages`` and ``counted.bytes``."""
        found = self.counts(repeats)
        return [Check.near(f"{name} of one repeat", value, getattr(counted, name), 0) for name, value in found.items()]


class Planned:
    """``MPI_Alltoallv`` of float64 whose counts never change.

    Messages and bytes are counted once, and counts and offsets stand ready as MPI takes them: otherwise that takes as
    long as a message of some ten kilobytes.  Without ``own`` what a rank would send to itself stays where it is, with
    its place in both buffers.
    """

    def __init__(self, traffic: Traffic, comm, send_counts, receive_counts, own: bool = True):
        others = np.delete(send_counts, comm.rank)
        self.traffic, self.comm = traffic, comm
        self.messages, self.bytes = int((others > 0).sum()), 8 * int(others.sum())
        self.send, self.receive = (
            (counts.astype(np.intc), starts(counts).astype(np.intc)) for counts in (send_counts, receive_counts)
        )
        if not own:
            for counts, _ in (self.send, self.receive):
                counts[comm.rank] = 0
        self._type = world.mpi().DOUBLE

    def __call__(self, send: np.ndarray, receive: np.ndarray) -> None:
        """Exchange, count and time."""
        traffic = self.traffic
        traffic.meet(self.comm)
        self.comm.Alltoallv(*self.buffers(send, receive))
        traffic.messages += self.messages
        traffic.bytes += self.bytes
        traffic.book("communication")

    def buffers(self, send: np.ndarray, receive: np.ndarray) -> tuple[list, list]:
        """Both arrays as the calls of MPI take them."""
        return [send, self.send, self._type], [receive, self.receive, self._type]


def starts(counts: np.ndarray) -> np.ndarray:
    """Offsets of consecutive blocks of these lengths."""
    return np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(counts.dtype)
