"""The solution file of NHT-1 through MPI-IO: many ranks, each with a box of U, one file or many.

The layout is that of ``kernels.files.format.layout``, byte for byte: what ranks wrote together cannot
be told from what the serial writer wrote.  Four ways, those of NPB's BT-IO:

    collective   one call for all ranks (``Write_at_all``): the library may rearrange the data first
    independent  the same view of the file, every rank for itself (``Write_at``)
    elements     40 bytes a call, a point each
    per-rank     every rank a file of its own, joined afterwards, outside the clock
"""

import os
from pathlib import Path

import numpy as np

from kernels.contract import require_choice
from kernels.files.format.layout import DTYPE, Layout, checksum
from kernels.files.formulas import COMPONENTS
from kernels.files.groups import ELEMENT, rows_of, write_box
from kernels.files.ways import end_file, preallocate, pwrite_all
from kernels.files.work_folder import WorkFolder
from kernels.mpi import world

WAYS = ("collective", "independent", "elements", "per-rank")


def shared_folder(comm, base, name: str, nbytes: int, what: str) -> tuple[Path, WorkFolder | None]:
    """A work folder with room for ``nbytes`` that rank 0 made and holds (the second value is None elsewhere).

    ``OSError`` if rank 0 cannot make it, or another host does not see it.
    """
    keep = WorkFolder(base, name, nbytes, what) if comm.rank == 0 else None
    found = world.broadcast(comm, keep and str(keep.path))
    if world.total(comm, float(Path(found).is_dir())) < comm.size:
        raise OSError(f"the folder {base} is not shared by all hosts; name a shared one in folder")
    return Path(found), keep


def close(state) -> None:
    """Remove the files of ``state``, which has ``comm`` and what :func:`shared_folder` gave as ``keep``."""
    state.comm.Barrier()
    if state.keep is not None:
        state.keep.close()


class SharedSolution:
    """One solution file that the ranks of ``comm`` write together.

    ``path`` lies in a work folder, where an older file of that name makes room. ``layout`` has no record marks,
    ``limits`` are the half-open ranges of i, j and k that this rank holds, and ``way`` is one of ``WAYS``.
    """

    def __init__(self, comm, path: Path, layout: Layout, limits, way: str = "collective"):
        require_choice("way", way, WAYS)
        self.comm, self.path, self.layout, self.limits, self.way = comm, Path(path), layout, limits, way
        self.own = self.path.with_name(f"{self.path.name}.rank-{comm.rank}")
        MPI = world.mpi()
        if comm.rank == 0:
            self.path.unlink(missing_ok=True)
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
            preallocate(handle, layout.total_bytes)
            pwrite_all(handle, layout.header(), 0)
            os.close(handle)
        comm.Barrier()
        apart = way == "per-rank"
        place = MPI.COMM_SELF if apart else comm, str(self.own if apart else self.path)
        self.file = MPI.File.Open(*place, MPI.MODE_CREATE | MPI.MODE_WRONLY)
        sizes = [stop - start for start, stop in reversed(limits)]
        self.shape = (*sizes, COMPONENTS)
        self._view = None
        if way in ("collective", "independent"):
            starts = [start for start, _ in reversed(limits)]
            self._view = MPI.DOUBLE.Create_subarray(layout.shape, self.shape, [*starts, 0]).Commit()

    def write(self, index: int, u: np.ndarray) -> None:
        """Write dump ``index``; ``u`` is this rank's box, float64 [k, j, i, m], C-contiguous."""
        u = np.ascontiguousarray(u, DTYPE)
        if self.way == "per-rank":
            self.file.Write_at(index * u.nbytes, u)
        elif self.way == "elements":
            for place, row in rows_of(self.layout, index, u, self.limits):
                for i, point in enumerate(row.reshape(-1, COMPONENTS)):
                    self.file.Write_at(place + i * ELEMENT, point)
        else:
            self.file.Set_view(self.layout.offset(index), world.mpi().DOUBLE, self._view)
            (self.file.Write_at_all if self.way == "collective" else self.file.Write_at)(0, u)

    def finish(self, fsync: bool = False) -> None:
        """All transfers are complete; with ``fsync`` the device has them."""
        if fsync:
            self.file.Sync()
        self.file.Close()
        self.comm.Barrier()

    def complete(self) -> None:
        """After the clock: join what lies apart, checksums read back, trailer."""
        if self.way == "per-rank":
            self._join()
        if self._view is not None:
            self._view.Free()
        if self.comm.rank == 0:
            places = (self.layout.offset(index) for index in range(self.layout.dumps))
            count = int(np.prod(self.layout.shape))
            sums = [checksum([np.fromfile(self.path, DTYPE, count, offset=place)]) for place in places]
            handle = os.open(self.path, os.O_RDWR)
            end_file(handle, self.layout.trailer(sums), self.layout)
            os.close(handle)
        self.comm.Barrier()

    def _join(self) -> None:
        """Every rank copies its own file into the common one, row by row."""
        handle = os.open(self.path, os.O_WRONLY)
        boxes = np.fromfile(self.own, DTYPE).reshape(self.layout.dumps, *self.shape)
        for index, box in enumerate(boxes):
            write_box(handle, self.layout, index, box, self.limits)
        os.close(handle)
        self.own.unlink()
        self.comm.Barrier()
