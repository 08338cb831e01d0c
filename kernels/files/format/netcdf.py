"""The solution as NetCDF-4: one variable ``U`` that grows by a dump along ``step``, with each dump's CRC-32 beside it.

No compression, so that every way of writing moves the same bytes.  The library lays the file out itself: space is
checked beforehand but not pre-allocated.
"""

import importlib
import os
from pathlib import Path

import numpy as np

from kernels.files.format.layout import DTYPE, Layout, Solution, SolutionError, SolutionFile
from kernels.files.formulas import COMPONENTS, WORD

DIMENSIONS = ("step", "k", "j", "i", "m")


def _dataset(path: Path, mode: str = "r"):
    return importlib.import_module("netCDF4").Dataset(path, mode)


def estimated_bytes(layout: Layout) -> int:
    """Space to have free before writing: the dumps and the library's own entries."""
    return layout.dumps * (COMPONENTS * WORD * layout.N**3 + 65536) + 2**20


class NetcdfWay:
    """Writes a NetCDF-4 file; see ``ways`` for the words."""

    def __init__(self, part: Path, layout: Layout):
        self.part, self.layout = part, layout
        self.file = _dataset(part, "w")
        self.file.setncatts({"title": "NHT-1 solution", "N": layout.N, "NS": layout.NS, "IW": layout.IW})
        for name, length in zip(DIMENSIONS, (None, *layout.shape), strict=True):
            self.file.createDimension(name, length)
        options = {"fill_value": False, "contiguous": False, "chunksizes": (1, *layout.shape)}
        self.u = self.file.createVariable("U", DTYPE, DIMENSIONS, **options)
        self.step = self.file.createVariable("step", "<i8", "step")
        self.crc32 = self.file.createVariable("crc32", "<u4", "step")

    def put(self, index, u, crc32):
        """Write dump ``index``."""
        self.u[index] = u
        self.step[index], self.crc32[index] = (index + 1) * self.layout.IW, crc32
        self.file.sync()

    def finish(self, tail: bytes, fsync: bool) -> None:
        self.close()
        if fsync:
            with open(self.part, "rb") as file:
                os.fsync(file.fileno())

    def close(self) -> None:
        if self.file.isopen():
            self.file.close()


class NetcdfSolution(Solution):
    """A finished NetCDF solution."""

    def __init__(self, path):
        self.path, self._file = Path(path), None
        try:
            self._file = _dataset(path)
            self._file.set_auto_maskandscale(False)
            self.layout = Layout(*(int(self._file.getncattr(name)) for name in ("N", "NS", "IW")))
            steps, self.crc32 = (self._file[name][:].tolist() for name in ("step", "crc32"))
            if steps != self.steps or self._file["U"].shape != (len(steps), *self.layout.shape):
                raise ValueError(f"it was never finished and holds {len(steps)} of {self.layout.dumps} dumps")
        except (OSError, RuntimeError, AttributeError, LookupError, TypeError, ValueError) as error:
            self.close()
            raise SolutionError(f"{path} is no NHT-1 solution, or a damaged one: {error}") from None

    def planes(self, index: int):
        """As :meth:`Solution.planes`."""
        for k in range(self.N):
            try:
                yield np.ascontiguousarray(self._file["U"][index, k], DTYPE)
            except (OSError, RuntimeError) as error:
                raise SolutionError(f"{self.path} is damaged: dump {index} ends in k-plane {k} ({error})") from None

    def close(self) -> None:
        if self._file is not None and self._file.isopen():
            self._file.close()


def open_solution(path) -> Solution:
    """Open a finished solution, our own file or NetCDF-4.

    ``SolutionError`` where it is no finished solution. ``OSError`` where it cannot be read.
    """
    with open(path, "rb") as file:
        start = file.read(4)
    return (NetcdfSolution if start == b"\x89HDF" else SolutionFile)(path)
