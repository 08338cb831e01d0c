"""Opens a finished solution in whatever form it is: our own file, NetCDF, Zarr."""

import os
import stat
from pathlib import Path

from kernels.files.format.containers import NetcdfSolution, ZarrSolution
from kernels.files.format.layout import SolutionError, SolutionFile
from kernels.files.format.seal import MANIFEST


def open_solution(path):
    """Open a finished solution file of any kind: this module's, NetCDF or Zarr.

    Raises
    ------
    SolutionError
        It is no file or folder (a FIFO or a device would be waited for), or no finished solution.
    OSError
        It cannot be read.
    """
    path = Path(path)
    mode = os.stat(path).st_mode
    if stat.S_ISDIR(mode):
        if not any((path / name).is_file() for name in ("zarr.json", ".zgroup", MANIFEST)):
            raise SolutionError(f"{path} is a folder and no Zarr solution; name a solution file")
        return ZarrSolution(path)
    if not stat.S_ISREG(mode):
        raise SolutionError(f"{path} is no regular file; name a solution file")
    with open(path, "rb") as file:
        start = file.read(8)
    if start[:4] in (b"\x89HDF", b"CDF\x01", b"CDF\x02", b"CDF\x05"):
        return NetcdfSolution(path)
    return SolutionFile(path)
