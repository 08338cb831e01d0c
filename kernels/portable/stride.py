"""Strided sums over a working set: ``kernels.memory.stride`` on an array behind an address."""

import numpy as np
from numba import carray

from kernels.memory import stride
from kernels.memory.stride import fill as fill_items
from kernels.memory.sums import sum_in_lines, sum_strided
from kernels.portable.case import Answer, Array, Call, Case, Measure, size
from kernels.runtime.wasm import Export

_OFFSET = 1


def fill(a, items, offset):
    """The items that the sums are formed of."""
    fill_items(carray(a, (items,)), np.uint32(offset))


def sum_lines(a, out, items, step, repeats):
    """Whole cache lines are loaded; the sum and the passes into ``out``."""
    sum_in_lines(carray(a, (items,)), items, step, 0, repeats, carray(out, (16,)))


def sum_items(a, out, items, step, repeats):
    """A load for each item."""
    sum_strided(carray(a, (items,)), items, step, 0, repeats, carray(out, (16,)))


def found(out, answers):
    """The sum of the last pass."""
    carray(answers, (1,))[0] = carray(out, (16,))[0]


EXPORTS = (
    Export("stride_fill", fill, ("uint32[]", "int64", "int64")),
    Export("stride_lines", sum_lines, ("uint32[]", "uint32[]", "int64", "int64", "int64")),
    Export("stride_items", sum_items, ("uint32[]", "uint32[]", "int64", "int64", "int64")),
    Export("stride_found", found, ("uint32[]", "float64[]")),
)


def case(nbytes: int, step: int) -> Case:
    """One working set and stride."""
    problem = stride.Problem(nbytes=nbytes, stride=step)
    return Case(
        name=f"stride-{nbytes}-{step}",
        label=f"sum over {size(nbytes)}, stride {step}",
        kernel="stride",
        problem={"nbytes": nbytes, "stride": step},
        arrays={"a": Array("uint32[]", problem.items), "out": Array("uint32[]", 16)},
        whole={"items": problem.items, "step": step, "offset": _OFFSET},
        prepare=(Call("stride_fill", ("a", "items", "offset")),),
        run=Call("stride_lines" if problem.in_lines else "stride_items", ("a", "out", "items", "step", "repeats")),
        verify=Call("stride_found", ("out", "answers")),
        answers=(Answer("sum of one pass, modulo 2³²", float(stride.expected_sum(problem, _OFFSET)), 0.0),),
        work=stride.work(problem),
        measure=Measure("GB/s", 1e-9 * stride.work(problem).bytes),
    )
