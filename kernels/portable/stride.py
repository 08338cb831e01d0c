"""Strided sums over a working set: ``kernels.memory.stride`` on an array behind an address."""

import numpy as np
from numba import carray

from supercomputers_rerun.kernels.contract import require_choice
from supercomputers_rerun.kernels.memory import stride
from supercomputers_rerun.kernels.memory.stride import fill as fill_items
from supercomputers_rerun.kernels.memory.stride import sum_items
from supercomputers_rerun.kernels.memory.stride import sum_lines as sum_in_lines
from supercomputers_rerun.kernels.portable.case import Answer, Array, Call, Case, Measure, size
from supercomputers_rerun.kernels.runtime.wasm import Export

_OFFSET = 1
_LINE_ITEMS = 16  # items of a cache line


def fill(a, items, offset):
    """The items that the sums are formed of."""
    fill_items(carray(a, (items,)), np.uint32(offset))


def sum_lines(a, out, items, step, repeats):
    """Whole cache lines are loaded; the sum and the passes into ``out``."""
    words = carray(a, (items,)).view(np.int32)
    sum_in_lines(words, items, step, repeats, carray(out, (2,)))


def sum_firsts(a, out, items, repeats):
    """The first item of each cache line.  A step that the compiler knows becomes part of each load."""
    sum_items(carray(a, (items,)), items, _LINE_ITEMS, repeats, carray(out, (2,)))


def found(out, answers):
    """The sum of the last pass."""
    carray(answers, (1,))[0] = carray(out, (2,))[0]


EXPORTS = (
    Export("stride_fill", fill, ("uint32[]", "int64", "int64")),
    Export("stride_lines", sum_lines, ("uint32[]", "uint64[]", "int64", "int64", "int64")),
    Export("stride_firsts", sum_firsts, ("uint32[]", "uint64[]", "int64", "int64")),
    Export("stride_found", found, ("uint64[]", "float64[]")),
)


def case(nbytes: int, step: int) -> Case:
    """One working set (bytes) and stride (items); ``ValueError`` unless 1, 2, 4, 8, or the 16 of a cache line."""
    problem = stride.Problem(nbytes=nbytes, stride=step)
    if not problem.in_lines:
        require_choice("step", step, (_LINE_ITEMS,))
    run = Call("stride_lines", ("a", "out", "items", "step", "repeats"))
    return Case(
        name=f"stride-{nbytes}-{step}",
        label=f"sum over {size(nbytes)}, stride {step}",
        kernel="stride",
        problem={"nbytes": nbytes, "stride": step},
        arrays={"a": Array("uint32[]", problem.items), "out": Array("uint64[]", 2)},
        whole={"items": problem.items, "step": step, "offset": _OFFSET},
        prepare=(Call("stride_fill", ("a", "items", "offset")),),
        run=run if problem.in_lines else Call("stride_firsts", ("a", "out", "items", "repeats")),
        verify=Call("stride_found", ("out", "answers")),
        answers=(Answer("sum of one pass, modulo 2³²", float(stride.expected_sum(problem, _OFFSET)), 0.0),),
        work=stride.work(problem),
        measure=Measure("GB/s", 1e-9 * stride.work(problem).bytes),
    )
