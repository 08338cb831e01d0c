"""Opens a finished solution in whatever form it is: our own file, NetCDF, Zarr."""

import os
import stat
from pathlib import Path

from kernels.files import foreign
from kernels.files.format.layout import Solution, SolutionError, SolutionFile
from kernels.files.format.read_netcdf import NetcdfSolution
from kernels.files.format.read_zarr import ZarrSolution
from kernels.files.format.seal import MANIFEST


def open_solution(path) -> Solution:
    """Open a finished solution of any form: our own file, NetCDF-4, or a Zarr folder.

    ``SolutionError`` where it is no file or folder (a FIFO or a device would be waited for), or no finished solution.
    ``OSError`` where it cannot be read.
    """
    path = Path(path)
    mode = os.stat(path).st_mode
    if stat.S_ISDIR(mode):
        if not any((path / name).is_file() for name in ("zarr.json", MANIFEST)):
            raise SolutionError(f"{path} is a folder and no Zarr solution; name a solution file")
        return ZarrSolution(path)
    if not stat.S_ISREG(mode):
        raise SolutionError(f"{path} is no regular file; name a solution file")
    with foreign.opened(path) as file:
        start = file.read(4)
    return (NetcdfSolution if start == b"\x89HDF" else SolutionFile)(path)
