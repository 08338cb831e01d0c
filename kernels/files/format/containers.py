"""U as NetCDF and Zarr, through xarray, appended dump by dump.

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

from kernels.files.format.layout import DTYPE, Layout, SolutionError
from kernels.files.format.seal import SealError, require_file_seal, require_folder_seal, seal_file, seal_folder
from kernels.files.formulas import COMPONENTS, WORD
from kernels.files.pending import write_bytes

DIMENSIONS = ("k", "j", "i", "m")
_NAME = "U_{:06d}"


def _xarray(engine: str):
    try:
        __import__(engine)
        import xarray
    except ImportError as error:
        raise ImportError(
            f"writing and reading this form needs {error.name}, which is not installed; "
            "install it or choose another way"
        ) from None
    return xarray


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
        self.xarray = _xarray(self.ENGINE)
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
        self.image = netCDF4.Dataset(self.part.name, "w", format="NETCDF4", memory=estimated_bytes(layout))

    def put(self, index, u, crc32):
        u = np.ascontiguousarray(u, DTYPE)
        step = (index + 1) * self.layout.IW
        variable = self.xarray.Variable(DIMENSIONS, u, {"step": step, "crc32": crc32})
        name = _NAME.format(step)
        data = self.xarray.Dataset({name: variable}, attrs=_attributes(self.layout) if index == 0 else {})
        try:
            data.dump_to_store(self.xarray.backends.NetCDF4DataStore(self.image), encoding={name: {"_FillValue": None}})
        except RuntimeError as error:  # of the library, which asks nothing but memory of the system
            raise MemoryError(
                f"{self.part} cannot grow to step {step} in memory ({error}); choose another way"
            ) from None

    def finish(self, tail: bytes, fsync: bool) -> None:
        data, self.image = self.image.close(), None
        write_bytes(self.part, data, fsync)

    def close(self) -> None:
        if self.image is not None:
            self.image.close()
            self.image = None


class Zarr(_Container):
    """One Zarr folder, dumps appended along ``step``, one chunk a dump."""

    ENGINE = "zarr"

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
            data.to_zarr(self.part, consolidated=False, **({"append_dim": "step"} if index else how))
        except (KeyError, ValueError, AttributeError) as error:  # the library misses what it wrote a moment ago
            raise FileNotFoundError(
                f"{self.part} lost files while step {(index + 1) * self.layout.IW} was written "
                f"({type(error).__name__}: {error}); write again, into a folder that nobody moves or clears"
            ) from None


WRITERS = {"netcdf": Netcdf, "zarr": Zarr}


class _ContainerSolution:
    """As ``layout.SolutionFile``, for a file that xarray reads."""

    ENGINE = ""
    WHOLE = 0  # dumps in memory while a plane is read

    def __init__(self, path):
        self.path = Path(path)
        xarray = _xarray(self.ENGINE)
        try:
            (require_folder_seal if self.path.is_dir() else require_file_seal)(self.path)
            self.data = self._open(xarray)
        except SealError as error:
            raise SolutionError(str(error)) from None
        except (OSError, ValueError, KeyError) as error:
            raise SolutionError(
                f"{self.path} is truncated or damaged: {type(error).__name__} on opening; write or copy it again"
            ) from None
        try:
            attributes = self.data.attrs
            self.N, self.NS, self.IW = (int(attributes[name]) for name in ("N", "NS", "IW"))
            self.layout = Layout(self.N, self.NS, self.IW)
            self.planes_in_memory = self.WHOLE * self.N + 2
            self._index()
        except KeyError as error:
            self.close()
            raise SolutionError(f"{self.path} is not an NHT-1 solution: it lacks {error}") from None
        except (TypeError, ValueError) as error:
            self.close()
            raise SolutionError(f"{self.path} is not an NHT-1 solution: {error}") from None
        expected = list(range(self.IW, self.NS + 1, self.IW))
        if self.steps != expected:
            self.close()
            raise SolutionError(
                f"{self.path} is truncated: it holds {len(self.steps)} of {len(expected)} dumps; write it again"
            )

    def planes(self, index: int):
        """Yield the N k-planes of dump ``index``, float64 (N, N, 5)."""
        dump = self._dump(index)
        if dump.shape != self.layout.shape or dump.dtype != DTYPE:
            raise SolutionError(
                f"{self.path} has a dump of shape {dump.shape} and type {dump.dtype}, its "
                f"attributes announce {self.layout.shape} and {DTYPE}"
            )
        for k in range(self.N):
            yield dump[k].values

    def close(self) -> None:
        self.data.close()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()


class NetcdfSolution(_ContainerSolution):
    """A finished NetCDF solution."""

    ENGINE = "netCDF4"

    def _open(self, xarray):
        return xarray.open_dataset(self.path, engine="netcdf4", cache=False)

    def _index(self):
        self._names = sorted(name for name in self.data.data_vars if name.startswith("U_"))
        self.steps = [int(self.data[name].attrs["step"]) for name in self._names]
        self.crc32 = [int(self.data[name].attrs["crc32"]) for name in self._names]

    def _dump(self, index):
        return self.data[self._names[index]]


class ZarrSolution(_ContainerSolution):
    """A finished Zarr solution.  Its chunk is a dump, so that much memory is used to read a plane."""

    ENGINE = "zarr"
    WHOLE = 2

    def _open(self, xarray):
        return xarray.open_zarr(self.path, consolidated=False, chunks=None)

    def _index(self):
        self.steps = [int(step) for step in self.data["step"].values]
        self.crc32 = [int(value) for value in self.data["crc32"].values]

    def _dump(self, index):
        # A plane at a time would read the whole chunk N times.
        return self.data["U"][index].load()


def memory_bytes(way: str, layout: Layout) -> int:
    """Memory that a way of writing takes for the whole file, beside the dump that it is given."""
    return estimated_bytes(layout) if way == "netcdf" else 0


def estimated_bytes(layout: Layout) -> int:
    """Space to have free before writing: the dumps and the library's own entries."""
    return layout.dumps * (COMPONENTS * WORD * layout.N**3 + 65536) + 2**20
