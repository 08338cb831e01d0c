"""U written as NetCDF and Zarr, through xarray, appended dump by dump; ``read_netcdf`` and ``read_zarr`` read them.

NetCDF gets one variable ``U_000005``, ``U_000010``, … a dump (xarray appends variables, not steps);
Zarr gets one variable ``U`` with a growing dimension ``step``.  No compression, so that every way of
writing moves the same bytes.  Both libraries lay their files out themselves: space is checked
beforehand but not pre-allocated.  xarray and its engines are loaded when first used.

The NetCDF file grows in memory and is written here when it is finished: where a call of its own fails, on a
full disk for instance, HDF5 may end the whole process.  That takes as much memory as the file.
"""

import os
from pathlib import Path

import numpy as np

from kernels.contract import require_range
from kernels.files.format.layout import DTYPE, Layout
from kernels.files.format.seal import MOST_FOLDER_DUMPS, seal_file, seal_folder
from kernels.files.formulas import COMPONENTS, WORD
from kernels.files.pending import final, write_bytes
from kernels.runtime import optional
from kernels.runtime.interrupts import Deferred

DIMENSIONS = ("k", "j", "i", "m")
NAME = "U_{:06d}"


def library(name: str):
    """The library ``name``; ``ImportError`` with a remedy where it is missing."""
    return optional.library(name, "writing and reading this form")


def _attributes(layout: Layout) -> dict:
    return {"title": "NHT-1 solution", "N": layout.N, "NS": layout.NS, "IW": layout.IW}


def _fsync_tree(path: Path) -> None:
    files = [path] if path.is_file() else [entry for entry in path.rglob("*") if entry.is_file()]
    for entry in files:
        handle = os.open(entry, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


class _Container:
    """Common part of both writers; see ``ways`` for the four words."""

    ENGINE = ""

    def __init__(self, part, layout: Layout):
        library(self.ENGINE)
        self.xarray = library("xarray")
        self.part, self.layout = Path(part), layout

    def finish(self, tail: bytes, fsync: bool) -> None:
        if fsync:
            _fsync_tree(self.part)

    def seal(self, fsync: bool) -> None:
        """Protect every byte by a checksum, after T_T: the reader refuses what is not sealed."""
        (seal_folder if self.part.is_dir() else seal_file)(self.part, fsync)

    def close(self) -> None:
        pass


class Netcdf(_Container):
    """One NetCDF-4 file, one variable a dump; in memory until ``finish``."""

    ENGINE = "netCDF4"

    def __init__(self, part, layout: Layout):
        super().__init__(part, layout)
        import netCDF4

        with open(self.part, "xb"):  # a folder that takes no files shows now and not at the end
            pass
        # nobody sees its name, which must not be one that the locale cannot write
        self.image = netCDF4.Dataset("image", "w", format="NETCDF4", memory=estimated_bytes(layout))

    def put(self, index, u, crc32):
        u = np.ascontiguousarray(u, DTYPE)
        step = (index + 1) * self.layout.IW
        variable = self.xarray.Variable(DIMENSIONS, u, {"step": step, "crc32": crc32})
        name = NAME.format(step)
        data = self.xarray.Dataset({name: variable}, attrs=_attributes(self.layout) if index == 0 else {})
        try:
            with Deferred():  # where the libraries take something down, an exception of Ctrl-C would be dropped
                store = self.xarray.backends.NetCDF4DataStore(self.image)
                data.dump_to_store(store, encoding={name: {"_FillValue": None}})
                del store
        except RuntimeError as error:  # of the library, which asks nothing but memory of the system
            raise MemoryError(
                f"{final(self.part)} cannot grow to step {step} in memory ({error}); choose another way"
            ) from None

    def finish(self, tail: bytes, fsync: bool) -> None:
        with Deferred():
            data, self.image = self.image.close(), None
        write_bytes(self.part, data, fsync)

    def close(self) -> None:
        if self.image is not None:
            with Deferred():
                self.image.close()
                self.image = None


class Zarr(_Container):
    """One Zarr folder, dumps appended along ``step``, one chunk a dump."""

    ENGINE = "zarr"

    def __init__(self, part, layout: Layout):
        require_range("NS/IW", layout.dumps, 1, MOST_FOLDER_DUMPS, "dumps in Zarr")
        super().__init__(part, layout)

    def put(self, index, u, crc32):
        u = np.ascontiguousarray(u, DTYPE)[np.newaxis]
        data = self.xarray.Dataset(
            {"U": (("step", *DIMENSIONS), u), "crc32": ("step", np.array([crc32], "<u4"))},
            coords={"step": np.array([(index + 1) * self.layout.IW], "<i8")},
            attrs=_attributes(self.layout),
        )
        plain = {"compressors": None}
        how = {"mode": "w", "encoding": {"U": {**plain, "chunks": u.shape}, "crc32": plain, "step": plain}}
        try:
            with Deferred():  # a thread of the library would go on writing into a folder that is being removed
                data.to_zarr(self.part, consolidated=False, **({"append_dim": "step"} if index else how))
        except (KeyError, ValueError, AttributeError) as error:  # the library misses what it wrote a moment ago
            raise FileNotFoundError(
                f"{final(self.part)} lost files while step {(index + 1) * self.layout.IW} was written "
                f"({type(error).__name__}: {error}); write again, into a folder that nobody moves or clears"
            ) from None


WRITERS = {"netcdf": Netcdf, "zarr": Zarr}


def memory_bytes(way: str, layout: Layout) -> int:
    """Memory that a way of writing takes for the whole file, beside the dump that it is given."""
    return estimated_bytes(layout) if way == "netcdf" else 0


def estimated_bytes(layout: Layout) -> int:
    """Space to have free before writing: the dumps and the library's own entries."""
    return layout.dumps * (COMPONENTS * WORD * layout.N**3 + 65536) + 2**20
