"""Solution files beside the shortest other ways to put the same bytes on the same filesystem.

Opening, pre-allocation and removal of the file are part of the time on every side, read-back and
renaming on none.  numpy, h5py and netCDF4 get the CRC-32 that our files carry, because a checksum is
work.  fio is a process of its own: our side of that comparison starts the same fio with one block
before it writes, so that both carry one start, and writes without checksum, as fio does.
"""

import importlib
import os
import shutil
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from kernels.files import filesystem, ways
from kernels.files.format.layout import Layout
from kernels.files.format.solution import SolutionWriter
from kernels.files.work_folder import WorkFolder
from peers import Absent, Comparison, differ, installed
from peers.kit import fio

N, _DUMPS = 64, 8  # 10 485 760 bytes a dump: whole blocks, as fio needs them for O_DIRECT
_DISK = 2 * _DUMPS * 40 * N**3  # bytes: our file, and one of a peer


def _session(folder: Path, u: np.ndarray, way: str) -> Callable[[], int]:
    """Our writer up to the complete transfer; returns the checksum of what was written."""

    def ours() -> int:
        writer = SolutionWriter(folder / "ours", N, _DUMPS, 1, way)
        try:
            for step in range(1, _DUMPS + 1):
                writer.write(step, u)
            writer.finish()
        finally:
            writer.abort()
        return writer.checksums[-1]

    return ours


def _library(path: Path, u: np.ndarray, opened: Callable, dataset: Callable) -> Callable[[], int]:
    """Every dump into what ``dataset`` makes in the file that ``opened`` gives, each with its checksum."""

    def peer() -> int:
        with opened(path, "w") as file:
            data = dataset(file)
            for index in range(_DUMPS):
                data[index] = u
                crc = zlib.crc32(u)
        path.unlink()
        return crc

    return peer


def _tofile(folder: Path, u: np.ndarray) -> Callable[[], int]:
    def peer() -> int:
        path = folder / "tofile"
        with open(path, "wb") as file:
            for _ in range(_DUMPS):
                u.tofile(file)
                crc = zlib.crc32(u)
        path.unlink()
        return crc

    return peer


def _h5py(folder: Path, u: np.ndarray, module) -> Callable[[], int]:
    return _library(folder / "h5py", u, module.File, lambda file: file.create_dataset("U", (_DUMPS, *u.shape), "<f8"))


def _netcdf4(folder: Path, u: np.ndarray, module) -> Callable[[], int]:
    names = ("step", "k", "j", "i", "m")

    def dataset(file):
        for name, length in zip(names, (None, *u.shape), strict=True):
            file.createDimension(name, length)
        return file.createVariable("U", "<f8", names, chunksizes=(1, *u.shape), fill_value=False)

    return _library(folder / "netcdf4", u, module.Dataset, dataset)


def _fio(program: str, folder: Path, direct: bool, blocks: int = _DUMPS) -> int:
    """Bytes that fio says it has written."""
    block = 5 * 8 * N**3 if blocks > 1 else filesystem.ALIGNMENT
    return fio.moved(program, folder / "fio", "write", block, blocks, direct, "--unlink=1")


def _raw(program: str, folder: Path, u: np.ndarray, direct: bool) -> Callable[[], int]:
    """One start of fio, then our positioned writes without checksum; returns the bytes of U."""
    layout = Layout(N, _DUMPS, 1)

    def ours() -> int:
        _fio(program, folder, direct, blocks=1)
        path = folder / "raw"
        way = ways.open_way("positioned", path, layout, direct)
        try:
            for index in range(_DUMPS):
                way.put(index, u, 0)
            way.finish(b"", False)
        finally:
            way.close()
        size = os.path.getsize(path) - layout.offset(0)
        path.unlink()
        return size

    return ours


def _fio_comparisons(folder: Path, u: np.ndarray, where: str) -> Iterator[Comparison | Absent]:
    program = shutil.which("fio")
    if program is None:
        yield Absent("fio", "not installed")
        return
    for direct in (False, True):
        if direct and (reason := filesystem.direct_refusal(folder)):
            yield Absent("fio with O_DIRECT", reason)
            return
        yield Comparison(
            group=f"solution file, {where}, {'O_DIRECT' if direct else 'page cache'}, no checksum",
            label="positioned, both with one start of fio",
            ours=_raw(program, folder, u, direct),
            peers={"fio psync": lambda direct=direct: _fio(program, folder, direct)},
            check=differ,
            tolerance=0.0,
        )


def versions() -> dict[str, str]:
    """What numpy, h5py, netCDF4 and fio call themselves, each where it is installed."""
    return {"numpy tofile": np.__version__} | installed(h5py="h5py", netCDF4="netCDF4") | fio.versions()


def comparisons(threads: int) -> Iterator[Comparison | Absent]:
    """Synchronous writing, one thread; more threads add nothing to compare."""
    if threads > 1:
        return
    u = np.random.default_rng(0).random((N, N, N, 5))
    with WorkFolder(None, "peers-files", _DISK, "comparisons of files") as work:
        folder = work.path
        facts = filesystem.describe(folder)
        where = f"{facts['type'] or 'unknown filesystem'} ({facts['kind']})"
        libraries = {}
        for module, make in (("h5py", _h5py), ("netCDF4", _netcdf4)):
            try:
                libraries[module] = make(folder, u, importlib.import_module(module))
            except ImportError:
                yield Absent(module, "not installed")
        for way in ("positioned", "array", "records", "mapped"):
            yield Comparison(
                group=f"solution file, {where}, page cache",
                label=way,
                ours=_session(folder, u, way),
                peers={"numpy tofile": _tofile(folder, u)},
                check=differ,
                tolerance=0.0,
            )
        if libraries:
            for way in ("positioned", "netcdf"):
                yield Comparison(
                    group=f"container, {where}, page cache",
                    label=way,
                    ours=_session(folder, u, way),
                    peers=libraries,
                    check=differ,
                    tolerance=0.0,
                )
        yield from _fio_comparisons(folder, u, where)
