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
import stat
import struct
import zlib
from pathlib import Path

SEAL = b"\nSEAL U\n"
_TAIL = struct.Struct("<QII8s")
#: inside the array's own folder: readers of a Zarr group warn of files that they do not know beside it
MANIFEST = "U/nht1-seal.json"
_CHUNK = 2**22
#: Largest manifest that is read: a path, a size and a checksum for each dump and the folder's own entries.
_MANIFEST_BYTES = 2**24


class SealError(ValueError):
    """The bytes are not those that were sealed; the message says which and why."""


def _crc32(path: Path, nbytes: int) -> int:
    """CRC-32 of the first ``nbytes`` of a file, at most 4 MiB of it in memory."""
    crc, left = 0, nbytes
    with open(path, "rb") as file:
        while left:
            block = file.read(min(_CHUNK, left))
            if not block:
                raise SealError(f"{path} ends {left} bytes early; write or copy it again")
            crc, left = zlib.crc32(block, crc), left - len(block)
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

    Raises
    ------
    SealError
        There is no seal at its end, or any byte differs from what was sealed.
    """
    size = path.stat().st_size - _TAIL.size
    tail = b""
    if size >= 0:
        with open(path, "rb") as file:
            file.seek(size)
            tail = file.read(_TAIL.size)
    if len(tail) != _TAIL.size or _TAIL.unpack(tail)[::3] != (size, SEAL) or _TAIL.unpack(tail)[2]:
        raise SealError(f"{path} is truncated or was never finished: it does not end with its seal; write it again")
    if _crc32(path, size) != _TAIL.unpack(tail)[1]:
        raise SealError(f"{path} is damaged: its checksum is not the one it was sealed with; write or copy it again")


def _entries(folder: Path) -> dict[str, Path]:
    """Files below ``folder`` by their path in it, the seal left out; ``SealError`` for links, FIFOs, devices."""
    found = {}
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode
        if not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
            raise SealError(f"{path} is neither a file nor a folder, and a solution holds nothing else; remove it")
        if stat.S_ISREG(mode) and path.relative_to(folder).as_posix() != MANIFEST:
            found[path.relative_to(folder).as_posix()] = path
    return found


def seal_folder(folder: Path, fsync: bool = False) -> None:
    """Write the manifest of a finished folder; with ``fsync`` wait for the device."""
    entries = {}
    for name, path in _entries(folder).items():
        size = path.stat().st_size
        entries[name] = [size, _crc32(path, size)]
    text = json.dumps(entries, indent=0).encode("ascii") + b"\n"
    with open(folder / MANIFEST, "wb") as file:
        file.write(text + b"%08x\n" % zlib.crc32(text))
        file.flush()
        _sync(file.fileno(), fsync)


def _manifest(path: Path) -> dict[str, list[int]]:
    if not path.is_file():
        raise SealError(f"{path} is missing: the solution is truncated or was never finished; write or copy it again")
    if path.stat().st_size > _MANIFEST_BYTES:
        raise SealError(f"{path} is damaged: it has {path.stat().st_size} bytes, at most {_MANIFEST_BYTES} are read")
    content = path.read_bytes()
    text, seal = content[:-9], content[-9:]
    if seal != b"%08x\n" % zlib.crc32(text):
        raise SealError(f"{path} is damaged: its checksum does not match; write or copy the solution again")
    try:
        entries = json.loads(text)
        return {str(name): [int(size), int(crc)] for name, (size, crc) in entries.items()}
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise SealError(f"{path} is damaged: it is no list of files; write the solution again") from None


def require_folder_seal(folder: Path) -> None:
    """Read every file of the folder once.

    Raises
    ------
    SealError
        A file is missing, too many, of another length or other content; the sentence names it.
    """
    sealed, found = _manifest(folder / MANIFEST), _entries(folder)
    for name in sorted(set(sealed) ^ set(found)):
        what = "is missing" if name in sealed else "does not belong to the solution"
        raise SealError(f"{folder / name} {what}; write or copy the solution again")
    for name, (size, crc) in sealed.items():
        path = found[name]
        if path.stat().st_size != size:
            raise SealError(f"{path} has {path.stat().st_size} bytes instead of {size}; copy the solution again")
        if _crc32(path, size) != crc:
            raise SealError(f"{path} is damaged: its checksum differs from the sealed one; copy the solution again")
