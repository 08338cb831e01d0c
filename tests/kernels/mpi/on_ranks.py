"""Run by every rank: verify problems of kernels, and see whether ``verify`` notices damage.

Takes JSON: a list of ``[name below kernels, fields of its Problem, whether to damage its result]``.  Rank 0 tells what
failed: checks after one run and after a repeated one, and damaged arrays that were taken for whole.
"""

import importlib
import json
import re
import sys
from dataclasses import fields, is_dataclass, replace

import numpy as np

from supercomputers_rerun.companion.mpi.job import fail, send
from supercomputers_rerun.kernels.mpi import world


def arrays(value, path: str = ""):
    """Every array of a result, with its path."""
    if isinstance(value, np.ndarray):
        yield path, value
    elif is_dataclass(value) or hasattr(value, "_fields"):
        for name in getattr(value, "_fields", None) or [field.name for field in fields(value)]:
            yield from arrays(getattr(value, name), f"{path}.{name}".lstrip("."))
    elif isinstance(value, tuple | list):
        for number, each in enumerate(value):
            yield from arrays(each, f"{path}[{number}]")


def wrong(kernel, problem, result) -> list[str]:
    """The checks of a result that do not hold."""
    with np.errstate(all="ignore"):
        checks = kernel.verify(problem, result)
    assert checks
    return [f"{check.name}: {check.value}, expected {check.expected}" for check in checks if not check.ok]


def damage(array, place: int, kind: int) -> bool:
    """Whether one number of an array could be changed: to NaN, to zero, or by a thousandth (a whole one by 1)."""
    at = np.unravel_index(place % array.size, array.shape)
    value = array[at]
    if array.dtype.kind in "fc":
        array[at] = (np.nan, 0.0, value * 1.001)[kind]
    else:
        array[at] = value ^ 1
    return bool(array[at] != value)


def unnoticed(kernel, problem, state, comm) -> list[str]:
    """Damage each output array on one rank after the other, in runs of their own; what ``verify`` took for whole."""
    without = getattr(kernel, "NO_OUTPUT", {})
    paths = sum(world.gather(comm, [path for path, _ in arrays(kernel.run(problem, state))]), [])
    output = dict.fromkeys(path for path in paths if not any(re.match(rf"{name}([.[]|$)", path) for name in without))
    found, tried = [], 0
    for number, (path, kind) in enumerate((path, kind) for path in output for kind in range(3)):
        result = kernel.run(problem, state)
        array = dict(arrays(result)).get(path)
        mine = number % comm.size == comm.rank and array is not None and array.size
        changed = world.total(comm, bool(mine and damage(array, 7919 * number, kind)))
        tried += changed
        if changed and not wrong(kernel, problem, result):
            found.append(f"{path}, damage {kind} on rank {number % comm.size}")
    return found if tried or not output else ["nothing could be damaged"]


def look(kernel, options: dict, damaged: bool) -> list[str]:
    """What is wrong with one problem, on the ranks that take part."""
    problem = kernel.Problem(**options)
    comm = world.team(problem.ranks)
    state = kernel.setup(problem)
    found = wrong(kernel, problem, kernel.run(problem, state))
    found += wrong(kernel, problem, kernel.run(problem, state, threads=2, repeats=2))
    if kernel.__name__ == "supercomputers_rerun.kernels.spectral.ranks":
        held = world.total(comm, sum(part.nbytes for parts in state.transform._matrices for part in parts))
        found += [f"{held} bytes of Legendre functions"] if held != kernel.table_bytes(problem.mesh) else []
    if kernel.__name__ == "supercomputers_rerun.kernels.shallow_water.ranks":
        result = kernel.run(problem, state)
        cut = kernel.checksum(result)
        if comm.rank == 0:  # on one rank: the same bits
            whole = replace(problem, ranks=1)
            alone = kernel.checksum(kernel.run(whole, kernel.setup(whole)))
            found += [f"checksum {cut} on {comm.size} ranks, {alone} on one"] if cut != alone else []
        shared = kernel.checksum(kernel.run(problem, state, threads=3))
        found += [f"checksum {cut} by one thread, {shared} by three"] if cut != shared else []
        result.spectra[0, -1] = np.nextafter(result.spectra[0, -1].real, 1) + 1j * result.spectra[0, -1].imag
        found += ["the checksum misses a last bit"] if kernel.checksum(result) == cut else []
    if kernel.__name__ == "supercomputers_rerun.kernels.mpi.exchange":
        kernel.plain(state, 2)
        found += wrong(kernel, problem, state)
    if damaged:
        found += unnoticed(kernel, problem, state, comm)
    if hasattr(kernel, "close"):
        kernel.close(state)
    return found


if __name__ == "__main__":
    world.end_with_parent()
    comm = world.mpi().COMM_WORLD
    try:
        for name, options, damaged in json.loads(sys.argv[1]):
            found = look(importlib.import_module(f"supercomputers_rerun.kernels.{name}"), options, damaged)
            if comm.rank == 0:
                send({"problem": [name, options], "found": found})
    except BaseException as error:
        fail(comm, error)
