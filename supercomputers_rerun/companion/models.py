"""Five reasons to wait: short formulas that say why something takes as long as it does.

====================  ==========================================  ================================================
function              seconds, or the gain                        in words
====================  ==========================================  ================================================
:func:`transfer`      calls × latency + bytes / rate              every request costs, however little it asks for
:func:`fixed_toll`    toll + work / rate                          what is paid once weighs on short tasks alone
:func:`amdahl`        1 / (serial + (1 - serial) / workers)       what is shared bounds the gain; so do
                                                                  :func:`shared_device` and :func:`two_a_core`
:func:`overlap`       longer + (1 - hidden) × shorter             what runs at once hides at most the shorter
:func:`slowest`       the largest of all, step by step            at a barrier everybody waits for the slowest
====================  ==========================================  ================================================

The functions take numbers or arrays, :func:`slowest` an array.  The constants are those of :class:`Constants`, which
the experiment ``constants`` measures on a machine in seconds.  A :class:`Prediction` takes them from that run of the
same machine, from the report or from the plan of a run; :func:`parted` says how far model and measurement are apart.
"""

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from supercomputers_rerun.companion import host
from supercomputers_rerun.companion.common import np, pd, significant
from supercomputers_rerun.companion.records import runs

#: The experiment that measures the constants.
EXPERIMENT = "constants"
#: Beyond this factor a text says what a model leaves out.
_FAR = 2.0


def transfer(calls, latency, nbytes=0.0, rate=math.inf):
    """Seconds that ``calls`` take which together move ``nbytes``: ``calls × latency + nbytes / rate``.

    ``calls``: how many, writes, opens or messages; ``latency``: seconds that one costs without its bytes; ``rate``:
    bytes a second of very long ones.  At ``latency × rate`` bytes (:func:`half_size`) a call costs as much as its
    bytes.

    Source: R. W. Hockney, *The communication challenge for MPP* (1994), whose n½ is that size.
    It fails where calls run at once, where a library takes another way for long messages than for short ones, and
    where the rate depends on the size, as it does once the bytes no longer fit into a cache.
    """
    return calls * latency + nbytes / rate


def half_size(latency, rate):
    """Bytes at which a call of :func:`transfer` costs as much as what it moves: ``latency × rate``."""
    return latency * rate


def fixed_toll(work, toll, rate=1.0):
    """Seconds of a task: ``toll + work / rate``.

    ``work``: what the task has to do, in any unit, or the seconds that it takes on a machine of the same rate
    (``rate`` is then 1, and ``toll`` the difference of both tolls); ``toll``: seconds that every task pays, whatever
    its size.  The ratio of two machines of one rate falls with the size of the task, while the difference stays.

    Source: R. W. Hockney and C. R. Jesshope, *Parallel Computers* (1981), of vectors: a start-up time and a rate.
    It fails where the toll grows with the work (messages for each datum, files for each step).  Of machines with
    different rates the difference does not stay.
    """
    return toll + work / rate


def amdahl(serial, workers):
    """How many times as fast ``workers`` are as one, where the share ``serial`` of the time of one cannot be divided.

    ``1 / (serial + (1 - serial) / workers)``, at most ``1 / serial``; shares are between 0 and 1.

    Source: G. M. Amdahl, *Validity of the single processor approach* (1967).
    It fails where the workers get in each other's way, which makes the gain smaller, and where together they have more
    cache than one, which makes it larger.
    """
    return 1 / (serial + (1 - serial) / workers)


def shared_device(share, jobs=2):
    """How many times as fast ``jobs`` at once are as one after the other, at most: ``min(jobs, 1 / share)``.

    Each job has a CPU of its own and needs one device, which serves one at a time, for the ``share`` of its time alone
    (0 to 1).

    Source: P. J. Denning and J. P. Buzen, *The operational analysis of queueing network models* (1978): the busiest
    device bounds the throughput.
    It is a bound: jobs that meet at the device by chance wait although it has time for both, and a device that serves
    two requests faster together than in turn gives more.
    """
    return np.minimum(float(jobs), 1 / np.asarray(share, dtype=float))


def two_a_core(S, f):
    """Speed-up of a program by two threads a core in place of one, ``S f / 2``.

    ``S``: how many times as much two copies of a program get done on a core as one; ``f``: how many times as fast the
    program is with twice the threads on twice the cores.

    Source: J. Hague, *Performance of P5+ at ECMWF* (2006).
    It fails where the two threads share data in the cache, which copies do not.
    """
    return S * f / 2


def overlap(one, other, hidden=1.0):
    """Seconds of two activities of ``one`` and ``other`` seconds that run at once: the longer, and what is not hidden.

    ``max(one, other) + (1 - hidden) × min(one, other)``: all of the shorter is hidden at best (``hidden`` = 1) and
    nothing without overlap (0).  So overlap saves half of the time at most, where both are equally long.

    Source: S. Williams, A. Waterman and D. Patterson, *Roofline* (2009), of computing and memory traffic, all hidden.
    It fails where both need the same thing, a core to copy or the memory's bandwidth: then each becomes longer.
    """
    return np.maximum(one, other) + (1 - hidden) * np.minimum(one, other)


def slowest(seconds):
    """Seconds of steps at whose end all wait for all: the sum over the steps of the largest of the ranks' times.

    ``seconds``: array_like (ranks, steps), what each rank needs by itself; a rank waits for the difference to its own
    sum.

    Source: L. G. Valiant, *A bridging model for parallel computation* (1990); F. Petrini, D. J. Kerbyson and S. Pakin,
    *The case of the missing supercomputer performance* (2003), of interruptions that come to each rank by itself.
    It fails where ranks wait only for their neighbours, so that a delay needs many steps to reach all, and where
    the barrier itself costs as much as a step.
    """
    return np.asarray(seconds, dtype=float).max(axis=0).sum()


class Parted(NamedTuple):
    """How far measured numbers are from predicted ones: ratios, measured over predicted."""

    median: float  # of the ratios
    worst: float  # the ratio that is farthest from 1, as a factor in either direction
    pairs: int  # numbers that were compared

    def __str__(self) -> str:
        return f"measured over model: {self.median:.2g} in the median, {self.worst:.2g} at worst"


def parted(measured, predicted) -> Parted:
    """How many times what was predicted was measured: the median of the ratios and the worst one.

    Times that overlap, and gains of two jobs, are within a factor of two of their models even where nothing is hidden
    or gained: compare what is saved.

    Both are array_like of one shape; pairs with NaN, or with a number that is not above zero, are left out.
    ``ValueError`` where none is left.
    """
    above, below = np.broadcast_arrays(np.asarray(measured, float), np.asarray(predicted, float))
    known = np.isfinite(above) & np.isfinite(below) & (above > 0) & (below > 0)
    if not known.any():
        raise ValueError("measured and predicted have no pair of numbers above zero")
    ratios = above[known] / below[known]
    return Parted(float(np.median(ratios)), float(ratios[np.abs(np.log(ratios)).argmax()]), int(known.sum()))


class Level(NamedTuple):
    """A level of memory."""

    name: str  # "L1", "L2" …, "memory"
    nbytes: float  # what it holds; infinite of memory
    latency: float  # seconds of a load that depends on the one before, in a random order


class Constants(NamedTuple):
    """What one machine needs, in seconds, bytes a second and operations a second; NaN where it was not measured."""

    write: float = math.nan  # s, a write of 8 bytes into the page cache
    seek: float = math.nan  # s, a seek
    opened: float = math.nan  # s, open, read and close of a file of 4 KB that is cached
    touched: float = math.nan  # s, a page of 4 KB of memory that is touched for the first time
    message: float = math.nan  # s, an exchange of 8 bytes between two ranks
    message_rate: float = math.nan  # byte/s, that one of two ranks sends while it receives as much
    barrier: float = math.nan  # s, of two threads
    cache_rate: float = math.nan  # byte/s, writes of 1 MB into the page cache
    disk_call: float = math.nan  # s, a record of 4 KB past the page cache, written or read
    disk_rate: float = math.nan  # byte/s, records of 4 MB past the page cache, written and read
    bandwidth: float = math.nan  # byte/s of memory, one thread
    bandwidth_all: float = math.nan  # byte/s of memory, all threads of the run together
    peak: float = math.nan  # flop/s of one thread
    levels: tuple[Level, ...] = ()  # caches and memory, the smallest first


#: Constants in words, and what one of them is counted in.
WORDS = {
    "write": ("a write of 8 bytes into the page cache", "s"),
    "seek": ("a seek", "s"),
    "opened": ("open, read and close of a small cached file", "s"),
    "touched": ("a new page of memory, 4 KB", "s"),
    "message": ("an exchange of 8 bytes between two ranks", "s"),
    "barrier": ("a barrier of two threads", "s"),
    "disk_call": ("4 KB to or from the disk, past the page cache", "s"),
    "message_rate": ("long messages between two ranks, each way", "byte/s"),
    "cache_rate": ("writing into the page cache", "byte/s"),
    "disk_rate": ("the disk, past the page cache", "byte/s"),
    "bandwidth": ("memory, one thread", "byte/s"),
    "bandwidth_all": ("memory, all threads", "byte/s"),
    "peak": ("peak of one thread", "flop/s"),
}
_STEPS = {
    "s": ((1, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")),
    "byte/s": ((1e9, "GB/s"), (1e6, "MB/s")),
    "flop/s": ((1e9, "GFLOP/s"), (1e6, "MFLOP/s")),
}


def spoken(value: float, units: str, digits: int = 2) -> str:
    """A constant as people say it: ``310 ns``, ``5.2 µs``, ``12 GB/s``, ``39 GFLOP/s``; "unknown" for NaN."""
    if not math.isfinite(value):
        return "unknown"
    size, name = next((step for step in _STEPS[units] if value >= step[0]), _STEPS[units][-1])
    return f"{significant(value / size, digits)} {name}"


def constants(run) -> Constants | None:
    """The constants of the machine of ``run``, from its newest record of them; None where it has none.

    They come from a run of their own: a figure with a :class:`Prediction` has not measured them itself.
    """
    found = runs.partner(run, EXPERIMENT)
    return None if found is None else of_record(found)


def of_record(record) -> Constants:
    """The constants in a record of the experiment that measures them, an ``xarray.Dataset``."""
    single = {name: float(record[name]) for name in WORDS if name in record}
    levels: tuple[Level, ...] = ()
    if "latency" in record:
        held = record["held"].values.astype(float)  # NaN of memory
        names, seconds = record["level_name"].values, record["latency"].values
        levels = tuple(Level(str(name), math.inf if np.isnan(size) else float(size), float(latency))
                       for name, size, latency in zip(names, held, seconds, strict=True))  # fmt: skip
    return Constants(**single, levels=levels)


def in_words(found: Constants) -> Iterator[tuple[str, str]]:
    """Constants with what they are, in the units in which people speak of them; what was not measured is left out."""
    for name, (words, units) in WORDS.items():
        if math.isfinite(value := getattr(found, name)):
            yield words, spoken(value, units)
    for level in found.levels:
        where = "memory" if math.isinf(level.nbytes) else f"the cache {level.name}"
        yield f"a load from {where}", spoken(level.latency, "s")


def here(folder: Path) -> list[str]:
    """The constants of this machine from its newest record of them in ``folder``, a line each, or how to get them."""
    found = [record for record, _ in runs.native(EXPERIMENT, folder) if runs.same(record["machine"], host.describe())]
    if not found:
        return [f"constants of this machine: not in {folder}; companion run {EXPERIMENT} --out {folder} measures them"]
    newest = max(found, key=lambda record: record["date"])
    said = in_words(of_record(runs.outputs(newest)))
    return [f"constants of this machine, {newest['date'][:10]}:", *(f"{value:>12s}  {words}" for words, value in said)]


class Prediction(NamedTuple):
    """A figure that a model explains."""

    figure: str  # its name
    model: str  # function of this module
    what: str  # the quantity, in words
    leaves_out: str  # a clause: what the model does not count
    needs: tuple[str, ...]  # constants, fields of :class:`Constants`
    experiment: str  # whose runs the figure draws; empty where a report's own numbers are enough
    #: ``of(run, constants)`` gives a frame with columns ``measured`` and ``predicted``, and what else the figure draws
    of: Callable

    def frame(self, run=None) -> "pd.DataFrame | None":
        """Measured and predicted numbers of a run; None without constants of its machine, or a pair above zero."""
        found = constants(run) if self.needs else Constants()
        if found is None or not all(_known(getattr(found, name)) for name in self.needs):
            return None
        made = self.of(run, found)
        return made if ((made["measured"] > 0) & (made["predicted"] > 0)).any() else None


#: By the name of the figure.
PREDICTIONS: dict[str, Prediction] = {}


def predicts(figure: str, model: Callable, what: str, leaves_out: str, needs: str = "", experiment: str = ""):
    """Register what a ``model`` says of a ``figure``, ``function(run, constants)``; parameters as :class:`Prediction`.

    The function stands in the module of the figure, which draws the same frame: ``expected = sharing.frame(run)``.
    """

    def register(function: Callable) -> Prediction:
        words = figure, model.__name__, what, leaves_out, tuple(needs.split()), experiment
        PREDICTIONS[figure] = Prediction(*words, function)
        return PREDICTIONS[figure]

    return register


def _known(constant) -> bool:
    return bool(constant) if isinstance(constant, tuple) else math.isfinite(constant)


def by_row(frame: "pd.DataFrame | None", column: str = "predicted") -> dict[str, float]:
    """What is predicted by name of row, as :func:`companion.figures.dots` takes it; empty without a frame."""
    return {} if frame is None else dict(zip(frame["what"], frame[column], strict=True))


#: The models as formulas in words.
FORMULAS = {
    "transfer": "calls × latency + bytes / rate",
    "fixed_toll": "a fixed toll and a rate",
    "shared_device": "one device for both jobs",
    "overlap": "overlap hides the shorter of two times",
    "slowest": "all wait for the slowest",
    "chase": "loads × the latency of the cache or memory",
}


def said(prediction: Prediction, frame: "pd.DataFrame | None") -> str:
    """What a caption says of a model and of how far it is from what was measured; empty where ``frame`` is None.

    Where the two are more than a factor of two apart, it says what the model leaves out.
    """
    if frame is None:
        return ""
    found = parted(frame["measured"], frame["predicted"])
    far = max(found.worst, 1 / found.worst) > _FAR
    rest = f" The model leaves out {prediction.leaves_out}." if far else ""
    source = ", with constants of another run" if prediction.needs else ""
    median, worst = significant(found.median, 2), significant(found.worst, 2)
    ends = f"A measured value is {median} times that of the model in the median; the worst is {worst} times it"
    return f"Dashed, the model: {FORMULAS[prediction.model]}{source}. {ends}.{rest}"


def chase(nbytes, levels: tuple[Level, ...]):
    """Seconds of one dependent load from a random place among ``nbytes`` (array_like), by :class:`Level`.

    A load finds its line in a cache with the probability that the cache holds it, what it holds over ``nbytes``, if
    not in a smaller one; the last level has everything.  It fails where caches are shared with others, or do not hold
    every set of addresses alike.
    """
    size = np.asarray(nbytes, dtype=float)
    seconds, reached = np.zeros(size.shape), np.zeros(size.shape)
    for level in levels:
        held = np.minimum(1.0, level.nbytes / size)
        seconds = seconds + (held - reached).clip(0) * level.latency
        reached = np.maximum(reached, held)
    return seconds
