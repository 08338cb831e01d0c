"""NetCDF solutions, read by a process of their own.

The library HDF5 looks for code while it reads: a filter that a file names is a shared library from HDF5_PLUGIN_PATH,
opened already for the metadata.  And it follows what a file says of sizes and depths until memory or stack end.  So
it sees a file in a child process only, which loads no plugins and has little memory and processor time.
This process gets numbers: what the file holds as a line of JSON, then the planes that it asks for.
"""

import json
import math
import operator
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from kernels.files.format.containers import DIMENSIONS, NAME, library
from kernels.files.format.layout import DTYPE, Layout, Solution, SolutionError
from kernels.files.format.seal import require_file_seal
from kernels.files.formulas import COMPONENTS
from kernels.runtime.interrupts import Deferred

#: Longest line with which the child says what there is.
_LINE = 2**24
#: What the library may take to find out, in bytes and whole seconds of processor time.
_MEMORY, _SECONDS = 150 * 2**20, 1
#: HDF5's word for no plugins at all.
_NO_PLUGINS = {"HDF5_PLUGIN_PRELOAD": "::", "OPENBLAS_NUM_THREADS": "1"}


class NetcdfSolution(Solution):
    """A finished NetCDF solution."""

    _child: subprocess.Popen | None = None

    def _open(self) -> None:
        require_file_seal(self.path)
        library("netCDF4")
        self._due = 0  # bytes that the child will still send
        self._child = subprocess.Popen(
            [sys.executable, "-m", __name__, str(self.path.absolute())],
            cwd=Path(__file__).parents[3],  # whose modules it imports, and not those beside the file
            env={**os.environ, **_NO_PLUGINS},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        try:
            found = json.loads(self._child.stdout.readline(_LINE) or "null")
        except ValueError:
            found = None
        if found is None:
            self._child.wait()
            raise SolutionError(
                f"{self.path} is damaged: the library of NetCDF gave up on it (exit code {self._child.returncode}); "
                "write or copy it again"
            )
        if "error" in found:
            raise SolutionError(f"{self.path} {found['error']}")
        self._announced(found)
        self.crc32 = found["crc32"]

    def planes(self, index: int):
        """Yield the N k-planes of dump ``index``, float64 (N, N, 5); one buffer is used again for every plane."""
        plane = np.empty((self.N, self.N, COMPONENTS), DTYPE)
        while self._due:  # of a dump that nobody read to its end
            self._due -= len(self._child.stdout.read(min(self._due, plane.nbytes)) or b"\0" * self._due)
        self._child.stdin.write(b"%d\n" % operator.index(index))
        self._child.stdin.flush()
        self._due = self.N * plane.nbytes
        for k in range(self.N):
            if self._child.stdout.readinto(plane.reshape(-1).view(np.uint8)) != plane.nbytes:
                raise SolutionError(f"{self.path} is damaged: dump {index} cannot be read from k-plane {k} on")
            self._due -= plane.nbytes
            yield plane

    def close(self) -> None:
        with Deferred():  # until the object is gone as well, in whose end Python drops an interrupt
            child, self._child = self._child, None
            if child is not None:
                child.kill()
                child.wait()
                child.stdin.close()
                child.stdout.close()
            del child


class _Refused(ValueError):
    """What follows the file's name in the sentence that refuses it."""


def _integer(holder, name: str) -> int:
    try:
        return operator.index(holder.getncattr(name))
    except (AttributeError, TypeError):
        raise _Refused(f"is not an NHT-1 solution: it lacks a whole number {name}") from None


def _variables(data, size: int) -> tuple[dict, list]:
    """What an open file holds, and its variables in order of time; ``_Refused`` unless they are plain words in it."""
    facts = {name: _integer(data, name) for name in ("N", "NS", "IW")}
    try:
        layout = Layout(**facts)
    except ValueError as error:
        raise _Refused(f"is not an NHT-1 solution: {error}") from None
    names = [NAME.format(step) for step in layout.steps]
    if set(data.variables) != set(names):
        held = len(set(data.variables) & set(names))
        raise _Refused(f"is truncated: it holds {held} of {layout.dumps} dumps, or other variables; write it again")
    if size < layout.dumps * layout.dump_bytes:
        raise _Refused(f"has {size} bytes, its attributes announce {layout.dumps * layout.dump_bytes}; write it again")
    found = [data.variables[name] for name in names]
    for step, variable in zip(layout.steps, found, strict=True):
        kind = (variable.dimensions, variable.shape, variable.dtype, variable.chunking())
        if kind != (DIMENSIONS, layout.shape, DTYPE, "contiguous") or _integer(variable, "step") != step:
            raise _Refused(
                f"has a dump of dimensions {kind[0]} {kind[1]}, type {kind[2]} and storage {kind[3]}; what is read is "
                f"one piece of {layout.shape}, {DTYPE}, with its step"
            )
    return facts | {"crc32": [_integer(variable, "crc32") for variable in found]}, found


def _limit(on: bool) -> None:
    """Little memory and time for the metadata, and no longer; the soft limits alone, so that they can be lifted."""
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    seconds = math.ceil(time.process_time()) + _SECONDS
    for kind, limit in ((resource.RLIMIT_DATA, used + _MEMORY), (resource.RLIMIT_CPU, seconds)):
        hard = resource.getrlimit(kind)[1]
        least = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(kind, (least if on else hard, hard))


def serve(path: str) -> None:
    """The child: says on standard output what the file holds, then sends each dump whose number comes in."""
    import netCDF4

    out = sys.stdout.buffer
    _limit(True)
    try:
        # byte by byte: where the locale is not UTF-8, a name with accents is no text
        data = netCDF4.Dataset(os.fsencode(path).decode("latin-1"), encoding="latin-1")
        data.set_auto_maskandscale(False)
        facts, variables = _variables(data, Path(path).stat().st_size)
    except _Refused as error:
        facts = {"error": str(error)}
    except Exception as error:  # whatever the library says of a file that it does not understand
        facts = {"error": f"is truncated or damaged: {type(error).__name__} on opening; write or copy it again"}
    out.write(json.dumps(facts).encode() + b"\n")
    out.flush()
    _limit(False)
    for line in sys.stdin:
        dump = variables[int(line)]
        for k in range(dump.shape[0]):
            out.write(np.ascontiguousarray(dump[k]).data)
        out.flush()


if __name__ == "__main__":
    serve(sys.argv[1])
