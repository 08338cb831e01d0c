"""The loops of ``kernels.processor.smt``, one thread and one stream, on arrays behind addresses."""

from numba import carray

from supercomputers_rerun.kernels.portable.case import Answer, Array, Call, Case
from supercomputers_rerun.kernels.processor import smt
from supercomputers_rerun.kernels.processor.smt import array_loop
from supercomputers_rerun.kernels.processor.smt import chains as added
from supercomputers_rerun.kernels.runtime.wasm import Export

_PERIOD = 16  # the words are 1, 2, … 16, 1, …


def fill(a, n):
    """The words that the two loops with an array add up."""
    a = carray(a, (n,))
    for i in range(n):
        a[i] = i % _PERIOD + 1.0


def chains(count):
    """A loop of ``count`` chains as an export: ``n`` additions a chain, ``repeats`` times, sums into ``out``."""
    zeros = (0.0,) * count

    def run(n, out, repeats):
        added(n, repeats, zeros, carray(out, (16,)))

    return run


def fed(a, n, step, out, repeats):
    """Two chains of multiply-adds, fed by two words of every ``step``."""
    array_loop(carray(a, (n,)), step, n // step, repeats, carray(out, (16,)))


def found(out, count, answers):
    """The sums of the last pass."""
    answers, out = carray(answers, (count,)), carray(out, (count,))
    for k in range(count):
        answers[k] = out[k]


EXPORTS = (
    Export("loops_fill", fill, ("float64[]", "int64")),
    *(Export(f"loops_s{count}", chains(count), ("int64", "float64[]", "int64")) for count in (1, 2, 10)),
    Export("loops_fed", fed, ("float64[]", "int64", "int64", "float64[]", "int64")),
    Export("loops_found", found, ("float64[]", "int64", "float64[]")),
)


def case(loop: str, n: int) -> Case:
    """One loop; ``n`` as in ``smt.Problem``."""
    problem = smt.Problem(loop=loop, n=n)
    accumulators, step, _ = smt.LOOPS[loop]
    expected = smt.expected_sums(problem)
    tolerance = problem.iterations * 2.0**-52 if step else 0.0
    return Case(
        name=f"loop-{loop}",
        label=f"loop {loop}",
        kernel="loops",
        problem={"loop": loop, "n": n},
        arrays={"a": Array("float64[]", n if step else 1), "out": Array("float64[]", 16)},
        whole={"n": n, "step": step, "count": accumulators},
        prepare=(Call("loops_fill", ("a", "n")),) if step else (),
        run=Call("loops_fed", ("a", "n", "step", "out", "repeats"))
        if step
        else Call(f"loops_{loop}", ("n", "out", "repeats")),
        verify=Call("loops_found", ("out", "count", "answers")),
        answers=tuple(Answer(f"s{k + 1}", float(s), tolerance * float(s)) for k, s in enumerate(expected)),
        work=smt.work(problem),
    )
