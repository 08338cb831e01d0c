"""Devices that take as long as they are told to, on any clock: nothing moves but the time.

A *channel* serves one request after another: each takes its cost, then its words at the channel's rate.  Channels may
share a *trunk*, through which the words of one request pass at a time.  Who asks for a channel that is busy waits; how
long, follows from what was asked for before, and from nothing else.
"""

from dataclasses import dataclass, field
from typing import NamedTuple


class Device(NamedTuple):
    """One device; times and rates are those that it is to have at full length."""

    name: str
    rate: float  # words a second of a channel
    request: float = 0.0  # s that a request costs before its words move
    channels: int = 1
    trunks: tuple[float, ...] = ()  # words a second of what channels share; channel n is on trunk n modulo their number


@dataclass
class Trunk:
    """What several channels share: the words of one request at a time, those first that can go first."""

    rate: float
    held: list[tuple[float, float]] = field(default_factory=list)  # begin and end of what is still to pass, in order
    passed: list[tuple[float, float]] = field(default_factory=list)  # of all that was ever asked for

    def hold(self, now: float, ready: float, words: float) -> float:
        """When ``words`` that are ready at ``ready`` have passed: in the first gap that is long enough."""
        need, begin = words / self.rate, ready
        self.held = [span for span in self.held if span[1] > now]
        place = 0
        for place, (busy, free) in enumerate(self.held):  # noqa: B007 - the place is where the loop ends
            if begin + need <= busy:
                break
            begin = max(begin, free)
        else:
            place = len(self.held)
        self.held.insert(place, (begin, begin + need))
        self.passed.append((begin, begin + need))
        return begin + need


@dataclass
class Channel:
    """One channel, and what it served."""

    rate: float
    request: float
    trunk: Trunk | None = None
    free: float = 0.0  # when the last request that was made will be done
    served: list[tuple[float, float]] = field(default_factory=list)  # begin and end of every one
    words: float = 0.0
    requests: int = 0

    def serve(self, now: float, words: float, requests: int) -> float:
        """When a request made ``now`` will be done; ``requests`` says for how many it stands, one right after another.

        Positioning is the channel's own affair; the trunk is taken while words move.
        """
        begin = max(now, self.free)
        placed = begin + requests * self.request
        self.free = placed + words / self.rate
        if self.trunk is not None:
            self.free = max(self.free, self.trunk.hold(now, placed, words))
        self.served.append((begin, self.free))
        self.words, self.requests = self.words + words, self.requests + requests
        return self.free


def channels(device: Device, scale: float) -> list[Channel]:
    """The channels of a device that is ``scale`` times as fast."""
    trunks = [Trunk(scale * rate) for rate in device.trunks]
    return [
        Channel(scale * device.rate, device.request / scale, trunks[n % len(trunks)] if trunks else None)
        for n in range(device.channels)
    ]


def collisions(spans: list[tuple[float, float]]) -> int:
    """How many spans begin before another that began no later has ended: none where one goes at a time."""
    ordered, last, found = sorted(spans), float("-inf"), 0
    for begin, end in ordered:
        found += begin < last - 1e-9 * abs(last)
        last = max(last, end)
    return found
