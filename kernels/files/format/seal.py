"""A checksum over all bytes of a file or folder whose format leaves some of them unprotected.

NetCDF and Zarr check neither attributes nor coordinates nor the bytes between chunks.  A finished
NetCDF file therefore carries 24 more bytes after its last one (HDF5 ignores what follows the end that
its superblock names), a finished Zarr folder one more file:

    NetCDF    8 bytes  number of bytes before the seal, little-endian
              4 bytes  their CRC-32
              4 bytes  zero
              8 bytes  ``SEAL``
    Zarr      ``U/nht1-seal.json``: for every other file its path, bytes and CRC-32; the last line is
              the CRC-32 of the lines before it, hexadecimal
"""

import json
import os
import struct
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from kernels.files import foreign
from kernels.files.format.layout import SolutionError, crc32

SEAL = b"\nSEAL U\n"
_TAIL = struct.Struct("<QII8s")
#: inside the array's own folder: readers of a Zarr group warn of files that they do not know beside it
MANIFEST = "U/nht1-seal.json"
_CHUNK = 2**22
#: Largest manifest that is read, and the dumps whose paths, sizes and checksums are sure to fit into it.
_MANIFEST_BYTES, MOST_FOLDER_DUMPS = 2**22, 2**14


def _crc32(path: Path, nbytes: int) -> int:
    """CRC-32 of the first ``nbytes`` of a file, at most 4 MiB of it in memory."""
    crc, left = 0, nbytes
    with foreign.opened(path) as file:
        while left:
            block = file.read(min(_CHUNK, left))
            if not block:
                raise SolutionError(f"{path} ends {left} bytes early; write or copy it again")
            crc, left = crc32(block, crc), left - len(block)
    return crc


def _sync(handle: int, fsync: bool) -> None:
    if fsync:
        os.fsync(handle)


def seal_file(path: Path, fsync: bool = False) -> None:
    """Append the seal to a finished file; with ``fsync`` wait for the device."""
    size = path.stat().st_size
    crc = _crc32(path, size)
    with open(path, "ab") as file:
        file.write(_TAIL.pack(size, crc, 0, SEAL))
        file.flush()
        _sync(file.fileno(), fsync)


def require_file_seal(path: Path) -> None:
    """Read the whole file once.

    ``SolutionError`` where there is no seal at its end, or any byte differs from what was sealed.
    """
    size = path.stat().st_size - _TAIL.size
    tail = b""
    if size >= 0:
        with foreign.opened(path) as file:
            file.seek(size)
            tail = file.read(_TAIL.size)
    if len(tail) != _TAIL.size or _TAIL.unpack(tail)[::3] != (size, SEAL) or _TAIL.unpack(tail)[2]:
        raise SolutionError(f"{path} is truncated or was never finished: it does not end with its seal; write it again")
    if _crc32(path, size) != _TAIL.unpack(tail)[1]:
        raise SolutionError(
            f"{path} is damaged: its checksum is not the one it was sealed with; write or copy it again"
        )


def _files(folder: Path, known: set[str] | None = None) -> Iterator[str]:
    """Files below ``folder`` by their path in it, the seal left out; of ``known`` ones and their folders alone.

    ``SolutionError`` for links, FIFOs and devices, and for what is not known, at the first of them.
    """
    folders = [""]
    if known is not None:
        known = {*known, MANIFEST, *(parent.as_posix() for name in known for parent in PurePosixPath(name).parents)}
    while folders:
        inside = folders.pop()
        with os.scandir(folder / inside) as entries:
            for entry in entries:
                name = f"{inside}{entry.name}"
                is_folder = entry.is_dir(follow_symlinks=False)
                if not is_folder and not entry.is_file(follow_symlinks=False):
                    raise SolutionError(
                        f"{folder / name} is neither a file nor a folder, and a solution holds nothing else; remove it"
                    )
                if known is not None and name not in known:
                    raise SolutionError(f"{folder / name} does not belong to the solution; remove it or copy again")
                if is_folder:
                    folders.append(f"{name}/")
                elif name != MANIFEST:
                    yield name


def seal_folder(folder: Path, fsync: bool = False) -> None:
    """Write the manifest of a finished folder; with ``fsync`` wait for the device."""
    entries = {}
    for name in sorted(_files(folder)):
        size = (folder / name).stat().st_size
        entries[name] = [size, _crc32(folder / name, size)]
    text = json.dumps(entries, indent=0).encode("ascii") + b"\n"
    with open(folder / MANIFEST, "wb") as file:
        file.write(text + b"%08x\n" % crc32(text))
        file.flush()
        _sync(file.fileno(), fsync)


def sealed_files(folder: Path) -> dict[str, tuple[int, int]]:
    """Bytes and CRC-32 of each file of a folder, by its seal; ``SolutionError`` unless its own checksum is right."""
    path = folder / MANIFEST
    try:
        found = foreign.content(path, _MANIFEST_BYTES)
    except FileNotFoundError:
        raise SolutionError(
            f"{path} is missing: the solution is truncated or was never finished; write or copy it again"
        ) from None
    except OSError as error:
        raise SolutionError(f"{path} is damaged: {error.strerror}; write or copy the solution again") from None
    text, seal = found[:-9], found[-9:]
    if seal != b"%08x\n" % crc32(text):
        raise SolutionError(f"{path} is damaged: its checksum does not match; write or copy the solution again")
    try:
        entries = json.loads(text)
        return {str(name): (int(size), int(crc)) for name, (size, crc) in entries.items()}
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError):
        raise SolutionError(f"{path} is damaged: it is no list of files; write the solution again") from None


def holds_nothing_else(folder: Path) -> bool:
    """Whether a folder is a sealed solution and nothing more, which another solution may replace."""
    try:
        sealed = sealed_files(folder)
        return set(_files(folder, set(sealed))) == set(sealed)
    except (SolutionError, OSError):
        return False


def require_folder_seal(folder: Path, sealed: dict[str, tuple[int, int]]) -> None:
    """Read every file of the folder once.

    ``SolutionError`` where a file is missing, too many, of another length or other content than ``sealed`` says; the
    sentence names it.
    """
    found = set(_files(folder, set(sealed)))
    for name in sorted(set(sealed) - found):
        raise SolutionError(f"{folder / name} is missing; write or copy the solution again")
    for name, (size, _) in sealed.items():
        held = (folder / name).stat().st_size
        if held != size:
            raise SolutionError(f"{folder / name} has {held} bytes instead of {size}; copy the solution again")
    for name, (size, crc) in sealed.items():
        if _crc32(folder / name, size) != crc:
            raise SolutionError(
                f"{folder / name} is damaged: its checksum differs from the sealed one; copy the solution again"
            )
