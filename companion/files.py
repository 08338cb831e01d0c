"""Files that appear whole or not at all, and sentences for what the system refuses."""

import errno
import os
import tempfile
import zipfile
from collections.abc import Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from companion import extras
from kernels.files.pending import Pending, write_bytes

_REMEDIES = {
    errno.ENOSPC: "free space there or choose another folder",
    errno.EDQUOT: "free space there or choose another folder",
    errno.EFBIG: "choose another folder or raise the limit on file sizes",
    errno.EROFS: "choose a folder that can be written",
    errno.EACCES: "choose another, or ask its owner for access",
    errno.EPERM: "choose another, or ask its owner for access",
    errno.ENOENT: "check the name",
    errno.ENOTDIR: "choose a folder",
    errno.EEXIST: "choose a folder",
}
#: Bytes that a folder for records must take: the largest committed record has half of it.
_RESERVE = 2**20
#: What filesystems say that know no links.
_WITHOUT_LINKS = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}
#: The least time that a zip can hold; a fixed one makes equal zips of equal files.
_EPOCH = (1980, 1, 1, 0, 0, 0)


def sentence(error: OSError) -> str:
    """What the system refused, of which file, and the remedy; other texts stay as they are."""
    if error.errno is None or not error.strerror:
        return str(error) or type(error).__name__
    if error.strerror.startswith("No usable temporary directory"):
        return "there is no folder for temporary files; set TMPDIR to one that can be written"
    place = "" if error.filename is None else f"{error.filename}: "
    remedy = _REMEDIES.get(error.errno)
    return f"{place}{error.strerror}" + (f"; {remedy}" if remedy else "")


@contextmanager
def prepared(folder):
    """Fail before a measurement, not after it, where no record could be written.

    Makes ``folder`` where it is missing and tries whether it takes a megabyte, more than any record has.  If the block
    fails, the folders made for it are removed as far as they are empty. ``OSError`` where the folder cannot be made or
    written; names ``folder``.
    """
    folder, made = Path(folder), []
    try:
        try:
            for parent in reversed([folder, *folder.parents]):
                if not parent.exists():
                    made.append(parent)  # before it is made: Ctrl-C may come between
                    parent.mkdir()
            with tempfile.TemporaryFile(dir=folder) as file:
                file.write(b"\0" * _RESERVE)
                file.flush()
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(folder)) from error
        yield
    except BaseException:
        _remove(made)
        raise


def _remove(folders: list[Path]) -> None:
    """Remove the folders, deepest first, as far as they are there and empty."""
    for folder in reversed(folders):
        with suppress(OSError):
            folder.rmdir()


def write_atomically(path, write, overwrite: bool = False) -> Path:
    """Let ``write(temporary path)`` fill a file that then takes the name ``path``.

    The temporary lies in the same folder under a name that no reader looks for, and is removed whatever happens, Ctrl-C
    included; what a killed writer left goes when the next one of that name begins.  The file is on the disk before it
    has its name, and the name before this returns: after a power cut there is the old file or the new one.  Of two
    writers of a new name, one is told that it exists. ``FileExistsError`` where ``path`` exists and ``overwrite`` is
    false. ``OSError`` where the folder cannot be written, or the disk is full; names ``path`` and not the temporary
    file.
    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not overwrite:
            raise _exists(path)
        with Pending(path) as pending:
            write(pending.part)
            with open(pending.part, "rb") as file:
                os.fsync(file.fileno())
            _name(pending.part, path, overwrite)
        _sync(path.parent)
    except OSError as error:
        if error.strerror:
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
    return path


def _exists(path: Path) -> FileExistsError:
    return FileExistsError(f"{path} exists and is never replaced silently; choose another name or folder")


def _name(temporary: Path, path: Path, overwrite: bool) -> None:
    """Give the file its name; one that must be new is linked to it, which fails if it exists by now."""
    if not overwrite:
        try:
            os.link(temporary, path)
            return
        except FileExistsError:
            raise _exists(path) from None
        except OSError as error:
            if error.errno not in _WITHOUT_LINKS:
                raise
    os.replace(temporary, path)


def _sync(folder: Path) -> None:
    """Write the folder's entries to the disk, where the system can."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)


def write_text(path, text: str, overwrite: bool = False) -> Path:
    """Write ``text`` as UTF-8, whole or not at all; errors as :func:`write_atomically`."""
    return write_atomically(path, lambda temporary: write_bytes(temporary, text.encode("utf-8")), overwrite)


def write_zip(path, folder: str, members: Mapping[str, str | Path]) -> Path:
    """Write texts and files as one zip, all in ``folder``, by their names in it; programs stay executable.

    Equal members give equal bytes; an older zip is replaced.  Errors as :func:`write_atomically`.
    """

    def fill(temporary: Path) -> None:
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, member in members.items():
                entry = zipfile.ZipInfo(f"{folder}/{name}", _EPOCH)
                entry.compress_type = zipfile.ZIP_DEFLATED
                runs = isinstance(member, Path) and os.access(member, os.X_OK)
                entry.external_attr = (0o755 if runs else 0o644) << 16
                archive.writestr(entry, member.read_bytes() if isinstance(member, Path) else member)

    return write_atomically(path, fill, overwrite=True)


def write_netcdf(data, path) -> None:
    """Write an ``xarray.Dataset`` as NetCDF.

    The file is made in memory: HDF5 may end the process where one of its own calls to the system fails.
    """
    extras.require("netCDF4")
    import netCDF4
    from xarray.backends import NetCDF4DataStore

    # nobody sees its name, which must not be one that the locale cannot write
    image = netCDF4.Dataset("image", "w", format="NETCDF4", memory=data.nbytes)
    try:
        data.dump_to_store(NetCDF4DataStore(image))
    finally:
        made = image.close()
    write_bytes(path, made)
