"""One writing session of a solution file.

    with SolutionWriter(path, N, NS, IW, way="positioned", asynchronous=True) as writer:
        ...
        writer.write(step, u)        # every IW steps
        ...
        writer.finish()              # transfers complete: T_T ends here
                                     # leaving the block: read back, compare, rename

Before the first dump: arguments, free memory and free space are checked, the file is
pre-allocated.  At the end every dump is read back and its checksum compared,
then the file gets its name; until then that name does not exist (or is an older, complete file).
"""

import errno
import os
import secrets
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from kernels.contract import require_choice
from kernels.files.filesystem import describe, drop_cache
from kernels.files.format.layout import DTYPE, Layout, checksum, require_checksums
from kernels.files.format.netcdf import estimated_bytes, open_solution
from kernels.files.formulas import dump_bytes
from kernels.files.ways import NAMES, WAYS, open_way
from kernels.runtime.pages import zeros
from kernels.runtime.resources import require_disk, require_memory


class SolutionWriter:
    """Writes U every IW steps into ``path``.

    ``ValueError`` for a way, size or schedule that makes no sense. ``MemoryError`` or ``OSError`` if memory or space do
    not suffice, or the folder cannot be written.

    Parameters
    ----------
    path : str or Path
        Final name.  Its folder must exist.
    N, NS, IW : int
        Points in each direction, time steps, steps between dumps.
    way : str
        One of ``ways.NAMES``.
    asynchronous : bool
        Dumps are copied into one of two buffers and written by another thread: double buffering.
    fsync : bool
        ``finish`` waits until the device has the data.

    Attributes
    ----------
    open_seconds, stalls, transfer_seconds, finish_seconds : float, list, list, float
        Time to open and pre-allocate; time the caller of each ``write`` stood still; time each
        transfer took; time of ``finish``.
    filesystem : dict
        ``filesystem.describe`` of the folder.
    """

    def __init__(self, path, N, NS, IW, way="positioned", asynchronous=False, fsync=False):
        self.path = Path(path)
        require_choice("way", way, NAMES)
        form = WAYS.get(way)
        self.layout = Layout(N, NS, IW, form is not None and form.records, form is not None and form.arrays)
        self.asynchronous, self.fsync = bool(asynchronous), bool(fsync)
        size = estimated_bytes(self.layout) if way == "netcdf" else self.layout.total_bytes
        require_disk(self.path.parent, size, f"the solution of {self.layout.dumps} dumps with N = {N}")
        buffers = 2 if asynchronous else 1
        require_memory(
            buffers * dump_bytes(N), f"writing {self.layout.dumps} dumps with N = {N} ({way}, {buffers} buffer(s))"
        )
        self.filesystem = describe(self.path.parent, fsync=fsync)
        self.checksums: list[int] = []
        self.stalls: list[float] = []
        self.transfer_seconds: list[float] = []
        self.finish_seconds = 0.0
        self._part = self.path.with_name(f".{self.path.name}.{secrets.token_hex(4)}.part")
        self._way = self._pool = None
        self._futures: list = []
        self._finished = False
        start = time.perf_counter()
        try:
            self._way = open_way(way, self._part, self.layout)
            # touched now: no dump shall pay for first use of the memory
            self._buffers = [zeros(self.layout.shape, DTYPE) for _ in range(buffers)]
            if asynchronous:
                self._pool = ThreadPoolExecutor(1, thread_name_prefix="solution-writer")
        except BaseException:
            self.abort()
            raise
        self.open_seconds = time.perf_counter() - start

    def write(self, step: int, u) -> None:
        """Write the dump of time step ``step``.

        ``step`` is the next multiple of IW.  ``u`` is the solution, float64 (N, N, N, 5) as [k, j, i, m], or a function
        that fills an array of that shape, which saves a copy where the solver keeps U in another order.
        """
        start = time.perf_counter()
        index = len(self.stalls)
        expected = (index + 1) * self.layout.IW
        if self._finished or step != expected:
            raise ValueError(
                f"step = {step} is not the next to be written: expected "
                f"{'none' if self._finished or expected > self.layout.NS else expected}"
            )
        if not callable(u) and np.shape(u) != self.layout.shape:
            raise ValueError(f"u has shape {np.shape(u)}, a dump with N = {self.layout.N} has {self.layout.shape}")
        if self.asynchronous:
            if index >= 2:
                self._futures[index - 2].result()  # its buffer is free again
            self._futures.append(self._pool.submit(self._transfer, index, self._fill(index, u)))
        else:
            plain = isinstance(u, np.ndarray) and u.flags.c_contiguous and u.dtype == DTYPE
            self._transfer(index, u if plain else self._fill(index, u))
        self.stalls.append(time.perf_counter() - start)

    def _fill(self, index: int, u) -> np.ndarray:
        """A copy of U in the buffer whose turn it is."""
        staged = self._buffers[index % len(self._buffers)]
        if callable(u):
            u(staged)
        else:
            np.copyto(staged, u)
        return staged

    def _transfer(self, index: int, u: np.ndarray) -> None:
        start = time.perf_counter()
        crc32 = checksum([u])
        self._way.put(index, u, crc32)
        self.checksums.append(crc32)
        self.transfer_seconds.append(time.perf_counter() - start)

    def finish(self) -> None:
        """Complete all transfers (and fsync, if asked for).  T_T ends when this returns."""
        if self._finished:
            return
        start = time.perf_counter()
        if len(self.stalls) != self.layout.dumps:
            raise ValueError(
                f"{len(self.stalls)} of {self.layout.dumps} dumps were written; write all of them before finish"
            )
        for future in self._futures:
            future.result()
        self._way.finish(self.layout.trailer(self.checksums), self.fsync)
        self._finished = True
        self.finish_seconds = time.perf_counter() - start

    def publish(self) -> None:
        """Read the file back, compare every checksum, give it its name.

        With ``fsync`` the pages are dropped first, so that the device is read and not the page cache (where the
        filesystem has a device).
        """
        self.finish()
        self._close()
        if self.filesystem["reached_device"]:
            drop_cache(self._part)
        with open_solution(self._part) as solution:
            if solution.crc32 != self.checksums:
                raise OSError(errno.EIO, f"{self.path} was not written: the checksums read back differ")
            require_checksums(solution)
        os.replace(self._part, self.path)

    def _close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None
        if self._way is not None:
            self._way.close()
            self._way = None

    def abort(self) -> None:
        """Stop writing and remove the temporary; the final name is left as it was."""
        try:
            self._close()
        finally:
            self._part.unlink(missing_ok=True)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        try:
            if kind is None:
                self.publish()
        finally:
            self.abort()
