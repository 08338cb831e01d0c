"""Pointer chase over a working set: ``kernels.memory.latency`` with a cycle drawn by compiled code."""

import numpy as np
from numba import carray

from kernels.memory import latency
from kernels.memory.latency import chase, link
from kernels.portable.case import Answer, Array, Call, Case, Measure, size
from kernels.runtime.jit import kernel
from kernels.runtime.wasm import Export

LOADS = 2**14  # of one repeat
#: Steele, Lea and Flood, *Fast splittable pseudorandom number generators*, OOPSLA 2014.
_GAMMA, _MIX1, _MIX2 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@kernel
def _drawn(seed, below):
    """The ``seed``-th number of a random sequence, from 0 to ``below`` − 1."""
    z = np.uint64(seed) * _GAMMA
    z = (z ^ (z >> np.uint64(30))) * _MIX1
    z = (z ^ (z >> np.uint64(27))) * _MIX2
    return np.int64(((z ^ (z >> np.uint64(31))) >> np.uint64(32)) % np.uint64(below))


def fill(items, places, nodes, step):
    """One random cycle through every block of ``step`` items, each node at a random item of its block."""
    places, items = carray(places, (nodes,)), carray(items, (nodes * step,))
    for k in range(nodes):
        places[k] = k * step + _drawn(k + nodes, step)
    for k in range(nodes - 1, 0, -1):
        other = _drawn(k, k + 1)
        places[k], places[other] = places[other], places[k]
    link(items, places)


def follow(items, places, at, nodes, step, loads, repeats):
    """``repeats`` times ``loads`` loads from where the last run ended; ``at`` is the item, and all loads so far."""
    items, at, count = carray(items, (nodes * step,)), carray(at, (2,)), loads * repeats
    begin = carray(places, (nodes,))[0] if at[1] == 0 else at[0]
    at[0] = chase(items, begin, count)
    at[1] += count


def found(places, at, nodes, answers):
    """How far the item that was reached is from the one that the order has there."""
    places, at = carray(places, (nodes,)), carray(at, (2,))
    carray(answers, (1,))[0] = abs(np.int64(places[at[1] % nodes]) - at[0])


_U, _I = "uint32[]", "int64[]"
EXPORTS = (
    Export("latency_fill", fill, (_U, _U, "int64", "int64")),
    Export("latency_follow", follow, (_U, _U, _I, "int64", "int64", "int64", "int64")),
    Export("latency_found", found, (_U, _I, "int64", "float64[]")),
)


def case(nbytes: int) -> Case:
    """One working set."""
    problem = latency.Problem(nbytes=nbytes, loads=LOADS)
    return Case(
        name=f"latency-{nbytes}",
        label=f"chase through {size(nbytes)}",
        kernel="latency",
        problem={"nbytes": nbytes, "loads": LOADS},
        arrays={
            "items": Array(_U, nbytes // latency.ITEM),
            "places": Array(_U, problem.nodes),
            "at": Array(_I, 2),
        },
        whole={"nodes": problem.nodes, "step": problem.spacing // latency.ITEM, "loads": LOADS},
        prepare=(Call("latency_fill", ("items", "places", "nodes", "step")),),
        run=Call("latency_follow", ("items", "places", "at", "nodes", "step", "loads", "repeats")),
        verify=Call("latency_found", ("places", "at", "nodes", "answers")),
        answers=(Answer("items from the one that the order has there", 0.0, 0.0),),
        work=latency.work(problem),
        measure=Measure("ns a load", 1e9 / LOADS, rate=False),
    )
