"""STREAM's triad over a working set: ``kernels.memory.stream`` on arrays behind addresses."""

from numba import carray

from kernels.memory import stream
from kernels.portable.case import Answer, Array, Call, Case, Measure
from kernels.runtime.wasm import Export


def fill(a, b, c, n, x, y, z):
    """The arrays at their starting values."""
    carray(a, (n,))[:] = x
    carray(b, (n,))[:] = y
    carray(c, (n,))[:] = z


def triad(a, b, c, n, s, repeats):
    """a = b + s c."""
    stream.triad(carray(a, (n,)), carray(b, (n,)), carray(c, (n,)), s, repeats)


def found(a, n, answers):
    """Least and largest value of ``a``."""
    least = largest = carray(a, (n,))[0]
    for value in carray(a, (n,)):
        least, largest = min(least, value), max(largest, value)
    answers = carray(answers, (2,))
    answers[0], answers[1] = least, largest


_F = "float64[]"
EXPORTS = (
    Export("stream_fill", fill, (_F, _F, _F, "int64", "float64", "float64", "float64")),
    Export("stream_triad", triad, (_F, _F, _F, "int64", "float64", "int64")),
    Export("stream_found", found, (_F, "int64", _F)),
)


def case(n: int) -> Case:
    """Arrays of ``n`` words."""
    problem = stream.Problem(n=n, operation="triad")
    expected = stream.expected_values(problem)[0]
    x, y, z = stream.START
    return Case(
        name=f"triad-{n}",
        label=f"triad of three arrays of {n} words",
        kernel="stream",
        problem={"n": n, "operation": "triad"},
        arrays={name: Array(_F, n) for name in "abc"},
        whole={"n": n},
        real={"x": x, "y": y, "z": z, "s": stream.SCALAR},
        prepare=(Call("stream_fill", ("a", "b", "c", "n", "x", "y", "z")),),
        run=Call("stream_triad", ("a", "b", "c", "n", "s", "repeats")),
        verify=Call("stream_found", ("a", "n", "answers")),
        answers=tuple(Answer(f"{which} value of a", expected, 1e-13 * expected) for which in ("least", "largest")),
        work=stream.work(problem),
        measure=Measure("GB/s", 1e-9 * stream.work(problem).bytes),
    )
