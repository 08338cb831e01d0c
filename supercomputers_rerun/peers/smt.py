"""The five SMT loops beside the same in C, on the same threads, CPUs and arrays."""

from collections.abc import Callable, Iterator

import numpy as np

from supercomputers_rerun.kernels.processor import smt
from supercomputers_rerun.kernels.runtime.resources import run_team
from supercomputers_rerun.peers import Absent, Comparison, relative_difference
from supercomputers_rerun.peers.kit import compiled

N = {"s1": 2**14, "s2": 2**14, "s10": 2**14, "streaming": 2**23, "skipping": 2**23}
_PLACED = {1: "one thread a core", 2: "two threads a core (SMT)"}


def _c_side(library, problem: smt.Problem, state: smt.State, threads: int) -> Callable:
    accumulators, step, _flops = smt.LOOPS[problem.loop]
    name, kinds = ("array_loop", "annna") if step else (f"{problem.loop}_loop", "nna")
    function = compiled.function(library, name, kinds)
    cpus = smt.thread_cpus(problem, threads)

    def call(repeats=1):
        def work(number):
            out = np.zeros(16)
            function(*((state.arrays[number], step) if step else ()), problem.iterations, repeats, out)
            return out[:accumulators]

        return np.array(run_team(work, threads, cpus))

    return call


versions = compiled.versions


def comparisons(threads: int) -> Iterator[Comparison | Absent]:
    """Every loop with one thread a core, bound; and with two, where cores have two."""
    libraries, absent = compiled.variants("smt.c")
    yield from absent
    if not libraries:
        return
    for per_core, placed in _PLACED.items():
        for loop in smt.LOOPS:
            problem = smt.Problem(loop=loop, n=N[loop], threads_per_core=per_core)
            try:
                smt.thread_cpus(problem, threads)
            except ValueError as error:
                if threads > 1:
                    yield Absent(f"SMT loops with {per_core} threads a core", str(error))
                break
            state = smt.setup(problem)
            smt.run(problem, state, threads)  # makes the other threads' arrays

            def ours(repeats=1, problem=problem, state=state):
                return smt.run(problem, state, threads, repeats).sums[:, 0]

            peers = {name: _c_side(library, problem, state, threads) for name, library in libraries.items()}
            within = problem.iterations * 2.0**-52
            yield Comparison(f"SMT loops, {placed}", loop, ours, peers, relative_difference, within, builds=libraries)
