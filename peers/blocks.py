"""The large blocks of 1982 written and read, beside fio, on every place that is a file.

Both sides have a file that is there already, and both carry one start of fio, which is a process of its own: ours
starts it with a single block first.  Places in the process's own memory have no peer in fio.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from kernels.files import devices, filesystem
from kernels.files.work_folder import WorkFolder
from peers import Absent, Comparison, differ
from peers.kit import fio

#: Blocks of the report's program, how many a file has, and how often it is moved: writing, or reading what is there.
_BLOCK, _BLOCKS, _LOOPS = 8 * 384_000, 32, 4
#: Bytes of our file and of fio's.
_DISK = 2 * _BLOCK * _BLOCKS


def _fio_blocks(program: str, folder: Path, rw: str, direct: bool, blocks: int = _BLOCKS, loops: int = _LOOPS) -> int:
    """Bytes that fio says it has moved, with a file that stays."""
    more = f"--loops={loops}", "--invalidate=0"
    return fio.moved(program, folder / "blocks", rw, _BLOCK, blocks, direct, *more)


def _our_blocks(program: str, folder: Path, rw: str, file) -> Callable[[], int]:
    """One start of fio, then the blocks of an open ``file`` as ``kernels.files.devices`` moves them."""
    buffer = devices.page_aligned((1, _BLOCK // 8))
    buffer[0] = 1.0
    view = memoryview(buffer[0]).cast("B")
    for number in range(_BLOCKS):
        file.write(number, view)
    move = file.write if rw == "write" else file.read

    def ours() -> int:
        _fio_blocks(program, folder, "write", False, 1, 1)
        for _ in range(_LOOPS):
            for number in range(_BLOCKS):
                move(number, view)
        return _LOOPS * _BLOCKS * _BLOCK

    return ours


def _device_comparisons(program: str, base: Path, where: str, places) -> Iterator[Comparison]:
    """The report's blocks written and read, each place of a folder; both sides with one start of fio."""
    for place in places:
        for rw in ("write", "read"):
            with WorkFolder(base, "peers-blocks", _DISK, "comparisons of blocks") as work:
                folder = work.path
                own = folder / "fio"
                own.mkdir()
                _fio_blocks(program, own, "write", place == "direct", loops=1)
                file = devices.File(folder / "ours", devices.Device(place), _BLOCKS, _BLOCK)
                yield Comparison(
                    group=f"large blocks, {where}",
                    label=f"{'O_DIRECT' if place == 'direct' else 'page cache'}, {rw}, both with one start of fio",
                    ours=_our_blocks(program, folder, rw, file),
                    peers={
                        "fio psync": lambda rw=rw, place=place, own=own: _fio_blocks(
                            program, own, rw, place == "direct"
                        )
                    },
                    check=differ,
                    tolerance=0.0,
                )
                file.close()


versions = fio.versions


def comparisons(threads: int) -> Iterator[Comparison | Absent]:
    """One job, on the file system of temporary files, and on one in memory if there is one."""
    if threads > 1:
        return
    program = shutil.which("fio")
    if program is None:
        yield Absent("fio with the report's blocks", "not installed")
        return
    folder = Path(tempfile.gettempdir())
    places = ["cache"] if filesystem.direct_refusal(folder) else ["cache", "direct"]
    facts = filesystem.describe(folder)
    yield from _device_comparisons(program, folder, f"{facts['type'] or 'unknown'} ({facts['kind']})", places)
    memory = Path(devices.Problem().tmpfs)
    if os.access(memory, os.W_OK) and filesystem.kind(filesystem.filesystem_type(memory)) == "memory":
        yield from _device_comparisons(program, memory, "a file system in memory", ["cache"])
