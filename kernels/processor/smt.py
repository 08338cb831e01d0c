"""Five small loops that use a processor's floating-point pipes and memory differently.

=========  ====================================================  ============  ================
loop       one iteration                                         chains of     memory
                                                                 additions
=========  ====================================================  ============  ================
s1         s1 += 1                                               1             none
s2         s1 += 1, s2 += 1                                      2             none
s10        s1 += 1, …, s10 += 1                                  10            none
streaming  s1 += 1.1 a[i], s2 += 1.1 a[i+1], i += 2              2             every word
skipping   s1 += 1.1 a[i], s2 += 1.1 a[i+1], i += 10             2             2 words of 10
=========  ====================================================  ============  ================

(Hague, *Performance of P5+ at ECMWF*, 2006, table of the SMT benefit; the length of ``a`` is not given there.)  A chain
of additions leaves its pipe idle for all but one clock period of the addition's latency.  A second thread on the same
core (simultaneous multithreading, SMT) can fill the gaps until pipes or memory are busy.

``streams = 2`` runs two independent copies of the loop, interleaved iteration by iteration, in one
thread.  That is *no* SMT measurement, and no bound on one: the fused loop is another program.

The loops are to execute as written: ``opaque`` keeps sums from becoming lanes of a vector, and the additions in order
(product and sum may fuse); ``barrier``, whichever array it is given, keeps the compiler from dropping passes.  Where a
processor has 16 registers, six of the 20 sums of two fused ``s10`` pass through memory.  How many clock periods an
iteration takes, against what latency and pipes allow, has no number here; ``book/peers.md`` has times beside C.  In the
compiled loops ``iterations`` are those of a pass, and ``out``, float64, gets the sums of the last pass.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from supercomputers_rerun.kernels.contract import Check, Footprint, Presets, Work, one_of, whole
from supercomputers_rerun.kernels.decomposition import cut
from supercomputers_rerun.kernels.proof import Proof
from supercomputers_rerun.kernels.runtime.jit import CONTRACT, barrier, kernel, opaque
from supercomputers_rerun.kernels.runtime.resources import require_memory, require_threads, run_team, smt_siblings

__all__ = ["LISTS", "LOOPS", "PROOF", "Problem", "Result", "State", "array_loop", "chains", "expected_sums"]
__all__ += ["footprint", "list_cpus", "plain", "reference", "run", "scaling_factor", "setup", "smt_factor", "speedup"]
__all__ += ["thread_cpus", "verify", "work"]

#: The lists by which the report bound successive threads to logical processors, 2k and 2k + 1 being those of core k:
#: one thread a core (0 2 4 …), two a core (0 1 2 3 …), and first threads of all cores, then the second ones
#: (0 2 4 … 1 3 5 …).  Where a core has one hardware thread, its processor stands for both, and two threads take turns.
LISTS = ("no_smt", "smt", "smt_front_loaded")
#: Loop: (accumulators, step through the array in words or 0, flops an iteration).
LOOPS = {"s1": (1, 0, 1), "s2": (2, 0, 2), "s10": (10, 0, 10), "streaming": (2, 2, 4), "skipping": (2, 10, 4)}
FACTOR = 1.1


@kernel(fastmath=CONTRACT)
def plain(a, step, iterations):
    """The sums of ``streaming`` (step 2) or ``skipping`` (10), as one writes them; ``a``: iterations · step words."""
    s1 = 0.0
    s2 = 0.0
    for i in range(0, step * iterations, step):
        s1 += FACTOR * a[i]
        s2 += FACTOR * a[i + 1]
    return s1, s2


@kernel(inline=True)
def one_more(sums):
    """One added to each of 1, 2 or 10 ``sums``, a tuple of float64.  The compiler keeps one case of the three.

    ``opaque`` hides each sum, so that sums do not become lanes of a vector, nor an addition a constant.
    """
    if len(sums) == 1:
        return (opaque(sums[0]) + 1.0,)
    if len(sums) == 2:
        return opaque(sums[0]) + 1.0, opaque(sums[1]) + 1.0
    s1, s2, s3, s4, s5, s6, s7, s8, s9, s10 = sums
    return (
        opaque(s1) + 1.0,
        opaque(s2) + 1.0,
        opaque(s3) + 1.0,
        opaque(s4) + 1.0,
        opaque(s5) + 1.0,
        opaque(s6) + 1.0,
        opaque(s7) + 1.0,
        opaque(s8) + 1.0,
        opaque(s9) + 1.0,
        opaque(s10) + 1.0,
    )


@kernel
def chains(iterations, passes, zeros, out):
    """As many chains as ``zeros``, a tuple, has numbers: out[: len(zeros)] = iterations."""
    for _ in range(passes):
        sums = zeros
        for _i in range(iterations):
            sums = one_more(sums)
        out[: len(zeros)] = sums
        barrier(out)


@kernel
def chains_fused(iterations, passes, zeros, out):
    """Two fused streams of ``chains``: the sums of one stream, then those of the other."""
    for _ in range(passes):
        sums = zeros
        others = zeros
        for _i in range(iterations):
            sums = one_more(sums)
            others = one_more(others)
        out[: len(zeros)] = sums
        out[len(zeros) : 2 * len(zeros)] = others
        barrier(out)


@kernel(fastmath=CONTRACT)
def array_loop(a, step, iterations, passes, out):
    """Two chains fed by words i and i + 1 of every ``step`` of ``a``, float64 (at least iterations · step,)."""
    stride = np.uint64(step)  # unsigned: of a signed index numba asks whether it counts from the end
    for _ in range(passes):
        s1 = 0.0
        s2 = 0.0
        i = np.uint64(0)
        for _i in range(iterations):
            s1 = opaque(s1) + FACTOR * a[i]
            s2 = opaque(s2) + FACTOR * a[i + np.uint64(1)]
            i += stride
        out[0] = s1
        out[1] = s2
        barrier(a)


@kernel(fastmath=CONTRACT)
def array_loop_fused(a, b, step, iterations, passes, out):
    """Two fused streams of ``array_loop``, each on its own array: the sums of ``a``, then those of ``b``."""
    stride = np.uint64(step)
    for _ in range(passes):
        s1 = 0.0
        s2 = 0.0
        t1 = 0.0
        t2 = 0.0
        i = np.uint64(0)
        for _i in range(iterations):
            s1 = opaque(s1) + FACTOR * a[i]
            s2 = opaque(s2) + FACTOR * a[i + np.uint64(1)]
            t1 = opaque(t1) + FACTOR * b[i]
            t2 = opaque(t2) + FACTOR * b[i + np.uint64(1)]
            i += stride
        out[0] = s1
        out[1] = s2
        out[2] = t1
        out[3] = t2
        barrier(a)


@dataclass(frozen=True)
class Problem(Presets):
    """Which loop runs, and how threads and streams share the cores: presets ``quick`` (n = 2¹⁷), ``paper`` (2²³),
    ``modern`` (2²⁶). ``ValueError`` if a field is outside its range."""

    loop: one_of(*LOOPS) = "s1"  # "s1", "s2", "s10", "streaming" or "skipping"
    n: whole(20, 2**40) = 2**17  # iterations without an array, else words of one array
    threads_per_core: one_of(1, 2) = 1  # threads bound to a core: 1, or 2 where cores have two hardware threads
    streams: one_of(1, 2) = 1  # 2: two copies of the loop fused in each thread
    binding: bool = True  # bind each thread to a CPU of its own
    shared: bool = False  # the threads divide one loop's work instead of doing it each

    PRESETS: ClassVar = {"quick": {"n": 2**17}, "paper": {"n": 2**23}, "modern": {"n": 2**26}}

    @property
    def iterations(self) -> int:
        """Iterations of one pass through the loop."""
        step = LOOPS[self.loop][1]
        return self.n // step if step else self.n


@dataclass
class State:
    """Arrays, float64 (n,), of words 1, 2, …, 16, 1, …: one a thread and stream, made when first asked for."""

    arrays: list[np.ndarray]


@dataclass(frozen=True)
class Result:
    """What the accumulators held after the last pass."""

    sums: np.ndarray  # (threads, streams, accumulators) float64; ``shared``: (1, …), of all threads together


def list_cpus(name: str, cores: Sequence[Sequence[int]], threads: int) -> list[int]:
    """CPU of each of ``threads`` threads by the list ``name``; ``cores`` are the CPUs of every usable core.

    ``ValueError`` if there are too few cores, or an odd number of threads for a list that fills cores with two.
    """
    per_core = 1 if name == "no_smt" else 2
    if threads % per_core:
        raise ValueError(f"threads = {threads} is odd, and the list {name} puts two on a core; ask for {threads + 1}")
    used = threads // per_core
    if used > len(cores):
        raise ValueError(f"threads = {threads} by the list {name} needs {used} cores, {len(cores)} are usable")

    def place(thread: int) -> tuple[int, int]:
        """Number of its core, and of its hardware thread there."""
        return divmod(thread, 2) if name == "smt" else (thread % used, thread // used)

    return [cores[core][min(second, len(cores[core]) - 1)] for core, second in map(place, range(threads))]


def thread_cpus(problem: Problem, threads: int) -> list[int] | None:
    """CPU of each thread, one a core, or threads 2k and 2k + 1 on core k; None without binding.

    ``ValueError`` if two threads a core are asked for and the cores have one, or as :func:`list_cpus` says.
    """
    cores = smt_siblings()
    if problem.threads_per_core == 2:
        cores = [core for core in cores if len(core) > 1]
        if not cores:
            raise ValueError("threads_per_core = 2 needs SMT, and every usable core here has one hardware thread")
    if not problem.binding:
        return None
    return list_cpus(LISTS[problem.threads_per_core - 1], cores, threads)


def footprint(problem: Problem) -> Footprint:
    """An array for each stream of each thread (``shared``: of all threads together), if the loop reads one."""
    arrays = 8 * problem.n * problem.streams if LOOPS[problem.loop][1] else 0
    return Footprint(arrays, each_thread=0 if problem.shared else arrays)


def setup(problem: Problem, seed: int = 0) -> State:
    """The first thread's arrays, if the loop has one (the seed is not used); ``MemoryError`` if they do not fit."""
    state = State([])
    _extend(problem, state, 1, None)
    return state


def _extend(problem: Problem, state: State, threads: int, cpus) -> None:
    """Arrays for ``threads`` threads, each first touched by a thread on the CPU of ``cpus`` that will read it; without
    ``cpus``, as ``setup`` makes the first, wherever a thread runs, maybe far from its readers."""
    streams = problem.streams
    have = len(state.arrays) // streams
    missing = threads - have if LOOPS[problem.loop][1] else 0
    if missing <= 0:
        return
    require_memory(missing * footprint(problem).memory, f"smt: {missing * streams} array(s) of n = {problem.n} words")
    words = np.arange(1.0, 17.0)
    ours = cpus[have:] if cpus else None
    made = run_team(lambda _: [np.resize(words, problem.n) for _ in range(streams)], missing, ours)
    state.arrays += [array for arrays in made for array in arrays]


def run(problem: Problem, state: State, threads: int = 1, repeats: int = 1) -> Result:
    """Every thread runs its loop (or, ``shared``, its part of one loop) ``repeats`` times.

    ``ValueError`` if there are more threads than usable CPUs, or as ``thread_cpus`` says. ``MemoryError`` if the
    further threads' arrays do not fit.
    """
    cpus = thread_cpus(problem, require_threads(threads))
    accumulators, step, _flops = LOOPS[problem.loop]
    _extend(problem, state, 1 if problem.shared else threads, cpus)

    def one_thread(thread: int) -> np.ndarray:
        out = np.zeros(problem.streams * accumulators)
        low, high = cut(problem.iterations, threads, thread) if problem.shared else (0, problem.iterations)
        if step == 0:
            loop = chains if problem.streams == 1 else chains_fused
            loop(high - low, repeats, (0.0,) * accumulators, out)
        else:
            mine = 0 if problem.shared else thread * problem.streams
            a = state.arrays[mine][step * low :]
            if problem.streams == 1:
                array_loop(a, step, high - low, repeats, out)
            else:
                array_loop_fused(a, state.arrays[mine + 1][step * low :], step, high - low, repeats, out)
        return out.reshape(problem.streams, accumulators)

    sums = np.array(run_team(one_thread, threads, cpus))
    return Result(sums.sum(axis=0, keepdims=True) if problem.shared else sums)


def expected_sums(problem: Problem) -> np.ndarray:
    """(accumulators,) sums of one whole pass, in exact arithmetic, rounded once."""
    accumulators, step, _flops = LOOPS[problem.loop]
    if step == 0:
        return np.full(accumulators, float(problem.iterations))
    words = (step * np.arange(16)[:, None] + np.arange(2)) % 16 + 1  # of 16 iterations, which come again
    periods, rest = divmod(problem.iterations, 16)
    return FACTOR * (periods * words.sum(axis=0) + words[:rest].sum(axis=0))


def reference(problem: Problem, state: State) -> Result:
    """Sums of one whole pass of one thread, by the plain loop."""
    accumulators, step, _flops = LOOPS[problem.loop]
    if step == 0:
        sums = np.ones((problem.iterations, accumulators)).sum(axis=0)
    else:
        sums = np.array(plain(state.arrays[0], step, problem.iterations))
    return Result(np.tile(sums, (1, problem.streams, 1)))


def verify(problem: Problem, result: Result) -> list[Check]:
    """Each accumulator: exactly the iterations, or the array's sum to the rounding of its chain.

    A chain of m additions is off by at most m units of 2⁻⁵³, relative, its products and the expected sum by one each:
    twice m units are allowed; sums of ones are exact.
    """
    expected = expected_sums(problem)
    checks = []
    tolerance = problem.iterations * 2.0**-52 if LOOPS[problem.loop][1] else 0.0
    for thread, stream, k in np.ndindex(result.sums.shape):
        name = f"s{k + 1} of thread {thread}, stream {stream}"
        checks.append(Check.relative(name, result.sums[thread, stream, k], expected[k], tolerance))
    return checks


def work(problem: Problem, threads: int = 1) -> Work:
    """One repeat of all threads: a whole loop each, or one loop that they divide (``shared``).

    Bytes are those asked for; for 16 of them ``skipping`` moves a line of 64.
    """
    _accumulators, step, flops = LOOPS[problem.loop]
    words = 2 * problem.iterations if step else 0
    loop = Work(flops=problem.streams * problem.iterations * flops, bytes_read=8 * problem.streams * words)
    return loop if problem.shared else loop.times(threads)


def smt_factor(seconds_one: float, seconds_two: float) -> float:
    """S = 2 T₁/T₂: throughput of two copies on a core that take T₂ over that of one that takes T₁."""
    return 2 * seconds_one / seconds_two


def scaling_factor(seconds: float, seconds_doubled: float) -> float:
    """f = T(cores)/T(2 cores): gain of the same work (``shared``) from twice the threads on twice the cores."""
    return seconds / seconds_doubled


def speedup(S: float, f: float) -> float:
    """S·f/2: gain of a parallel job from SMT, which doubles its threads on the same cores (the report's model)."""
    return S * f / 2


PROOF = Proof({"n": 1000, "binding": False}, each={"loop": tuple(LOOPS), "streams": (1, 2), "shared": (False, True)})
