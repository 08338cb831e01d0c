"""Texts, zips and NetCDF files that have their name when they are complete."""

import os
import tempfile
import zipfile
from collections.abc import Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from kernels.runtime.atomic import atomic_write

#: Bytes that a folder for records must take: the largest committed record has half of it.
_RESERVE = 2**20
#: The least time that a zip can hold; a fixed one makes equal zips of equal files.
_EPOCH = (1980, 1, 1, 0, 0, 0)


@contextmanager
def prepared(folder):
    """Fail before a measurement, not after it, where no record could be written.

    Makes ``folder`` where it is missing and tries whether it takes a megabyte, more than any record has.  If the block
    fails, the folders made for it are removed as far as they are empty. ``OSError`` where the folder cannot be made or
    written; names ``folder``.
    """
    folder = Path(folder)
    made = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder) as file:
                file.write(b"\0" * _RESERVE)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(folder)) from None
        yield
    except BaseException:
        for each in made:
            with suppress(OSError):
                each.rmdir()
        raise


def write_text(path, text: str, overwrite: bool = False) -> Path:
    """Write ``text`` as UTF-8, whole or not at all, into a folder that is made where it is missing.

    ``FileExistsError`` where ``path`` exists and ``overwrite`` is false. ``OSError`` where the folder takes no file,
    or the disk is full; names ``path``.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path, new=not overwrite) as part:
        part.write_text(text, encoding="utf-8", newline="\n")
    return path


def write_zip(path, folder: str, members: Mapping[str, str | Path]) -> Path:
    """Write texts and files as one zip, all in ``folder``, by their names in it; programs stay executable.

    Equal members give equal bytes; an older zip is replaced.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as part, zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, member in members.items():
            entry = zipfile.ZipInfo(f"{folder}/{name}", _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            runs = isinstance(member, Path) and os.access(member, os.X_OK)
            entry.external_attr = (0o755 if runs else 0o644) << 16
            archive.writestr(entry, member.read_bytes() if isinstance(member, Path) else member)
    return path


def write_netcdf(data, path, overwrite: bool = False) -> Path:
    """Write an ``xarray.Dataset`` as NetCDF, whole or not at all; errors as :func:`write_text`."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path, new=not overwrite) as part:
        try:
            data.to_netcdf(part, engine="netcdf4")
        except RuntimeError as error:  # all that the library says of a full disk
            raise OSError(f"{path} cannot be written: {error}") from None
    return path
