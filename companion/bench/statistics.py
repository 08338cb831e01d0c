"""Statistics of timing samples that assume no distribution: order statistics, ranks, resampling."""

from dataclasses import dataclass
from functools import cache

import numpy as np

#: Samples below which the trend of a series is not judged (smallest exact p-value stays above 0.01).
MIN_TREND = 6


def median_interval(samples) -> tuple[float, float] | None:
    """Interval of 95 % of the median of ``samples``, array_like (n,), from order statistics.

    With n independent samples, the number below the true median is binomial (n, 1/2); the interval
    runs from the k-th smallest to the k-th largest sample for the largest k that keeps at least that
    confidence.  Six samples are the fewest that do; with fewer the answer is None.
    """
    ordered = np.sort(np.asarray(samples, dtype=float))
    rank = _rank(ordered.size)
    return (float(ordered[rank - 1]), float(ordered[ordered.size - rank])) if rank else None


@cache
def _rank(count: int) -> int:
    """The largest k for which fewer than k of so many samples lie below the median within half the error, 2.5 %."""
    from scipy.special import bdtr  # late, and without scipy.stats, which takes longer to load than all the rest

    below = bdtr(np.arange(count), count, 0.5)
    return int(np.searchsorted(below, (1 - 0.95) / 2, side="right"))


def trend(samples) -> float | None:
    """Relative change from first to last sample if it is a trend, otherwise None.

    A trend is a rank correlation with time (Kendall's tau) whose p-value is under 0.01 together with a
    Theil-Sen slope that moves the series by more than 2 % of its median.
    """
    samples = np.asarray(samples, dtype=float)
    if samples.size < MIN_TREND or np.ptp(samples) == 0:
        return None
    from scipy import stats  # late: it takes longer to load than all the rest

    order = np.arange(samples.size)
    if not stats.kendalltau(order, samples).pvalue < 0.01:
        return None
    change = stats.theilslopes(samples, order).slope * (samples.size - 1) / np.median(samples)
    return float(change) if abs(change) > 0.02 else None


@dataclass(frozen=True)
class Ratio:
    """Times of B over times of A: above 1, A is faster.

    ``times`` are the words for a page, in one sentence whatever was found: ``f"a day takes {found.times} as long"``.
    """

    minima: float  # minimum of B / minimum of A: capability
    medians: float  # median of B / median of A: experience
    interval: tuple[float, float] | None  # 95 % of the ratio of medians; None with too few samples

    @property
    def measurable(self) -> bool:
        """Whether the interval excludes 1: without an interval, no difference is measured."""
        return self.interval is not None and not self.interval[0] <= 1.0 <= self.interval[1]

    def _words(self, between: str) -> str:
        low, high = self.interval or (0.95 * self.medians, 1.05 * self.medians)
        # two digits of the interval's width, at most a thousandth
        decimals = int(np.clip(1 - np.floor(np.log10(max(high - low, 1e-9))), 0, 3))
        middle, least, most = (f"{each:.{decimals}f}" for each in (self.medians, low, high))
        if self.interval is None:
            return f"{middle} times (too few samples for an interval)"
        said = [between.format(least, most)] * bool(between) + ["no measurable difference"] * (not self.measurable)
        return f"{middle} times" + f" ({', '.join(said)})" * bool(said)

    @property
    def times(self) -> str:
        """``1.60 times (95 % interval 1.52 to 1.69)``, or why that is no measurable difference."""
        return self._words("95 % interval {} to {}")

    @property
    def briefly(self) -> str:
        """The same for prose, beside a figure or a box that has the interval: ``1.60 times``."""
        return self._words("")

    def __str__(self) -> str:
        bounds = "no interval" if self.interval is None else "{:.3f} … {:.3f}".format(*self.interval)
        return f"minima {self.minima:.3f}, medians {self.medians:.3f} ({bounds})"


def ratio(samples_a, samples_b, seed: int = 0) -> Ratio:
    """How many times faster A is than B.

    The interval is the 95 % percentile bootstrap of the ratio of medians (both sides resampled, seeded, so the same
    samples give the same interval); None when a side has under six samples. ``ValueError`` if a side is empty or holds
    a time that is not positive and finite.
    """
    from scipy import stats  # late: it takes longer to load than all the rest

    a, b = (np.asarray(samples, dtype=float) for samples in (samples_a, samples_b))
    for name, samples in (("samples_a", a), ("samples_b", b)):
        if samples.size == 0 or not np.all((samples > 0) & np.isfinite(samples)):
            raise ValueError(f"{name} must hold at least one time, and only finite times above zero")
    interval = None
    if min(a.size, b.size) >= MIN_TREND:

        def quotient(x, y, axis):
            return np.median(y, axis=axis) / np.median(x, axis=axis)

        low, high = stats.bootstrap(
            (a, b), quotient, method="percentile", n_resamples=2000, rng=np.random.default_rng(seed)
        ).confidence_interval
        interval = (float(low), float(high))
    return Ratio(float(b.min() / a.min()), float(np.median(b) / np.median(a)), interval)
