"""Run by every rank: damage results of kernels on one rank at a time, and see whether ``verify`` notices.

Takes JSON: a list of ``[name below kernels, fields of its Problem]``; a seed, by which numbers are drawn; and in how
many of three places (the first, the last, a drawn one) each array is damaged in each way.  Where checks take what they
have looked at away, so that a result passes them once alone, every case is a run of its own.  Rank 0 tells how many
cases there were, and which were taken for whole.
"""

import sys
from pathlib import Path
from random import Random

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parents[3]))  # before tests/, whose rooms have the names of those they test
from damaged_results import KINDS, changed, declared, inner, named
from on_ranks import over

from kernels.mpi import world


def cases(comm, kernel, problem, result, seed, count):
    """Array, which of its numbers, and kind of damage: the same on every rank."""
    without = declared(kernel, problem, "NO_OUTPUT")
    random = Random(seed)
    paths = sorted(set(sum(world.gather(comm, [path for path, _ in named(result)]), [])))
    for path in paths:
        if not inner(path, without):
            shares = (0.0, random.random(), 1.0)
            yield from ((path, share, kind) for kind in KINDS for share in random.sample(shares, count))


def damage(result, path, share, kind):
    """Change one number of an array on this rank; what puts it right again, or None where nothing changed."""
    array = next((array for name, array in named(result) if name == path), None)
    if array is None or not array.flags.writeable:
        return None
    at = np.unravel_index(int(share * (array.size - 1)), array.shape)
    value = array[at]
    array[at] = changed(value, kind)
    return (lambda: array.__setitem__(at, value)) if array[at] != value else None


def passes(kernel, problem, result):
    """Whether every check of a result holds."""
    with np.errstate(all="ignore"):
        return all(check.ok for check in kernel.verify(problem, result))


def damage_kernel(kernel, fields, seed, count):
    """Number of cases, and those that were taken for whole."""
    problem = kernel.Problem(**fields)
    comm = world.team(problem.ranks)
    state, tried, taken = kernel.setup(problem), 0, []
    result = kernel.run(problem, state)
    drawn = list(cases(comm, kernel, problem, result, seed, count))
    assert passes(kernel, problem, result)
    lasting = world.total(comm, passes(kernel, problem, result)) == comm.size
    for number, case in enumerate(drawn):
        result = result if lasting else kernel.run(problem, state)
        mend = damage(result, *case) if number % comm.size == comm.rank else None
        if not world.total(comm, mend is not None):
            continue
        tried += 1
        if passes(kernel, problem, result):
            taken.append(f"{case[0]} [{case[1]}] {case[2]} on rank {number % comm.size}")
        if mend is not None:
            mend()
    assert not lasting or passes(kernel, problem, result)
    if hasattr(kernel, "close"):
        kernel.close(state)
    return {"tried": tried, "taken": taken}


over(lambda kernel, fields: damage_kernel(kernel, fields, *map(int, sys.argv[2:])))
