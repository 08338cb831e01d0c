"""Files that appear whole or not at all, and sentences for what the system refuses."""

import errno
import os
import tempfile
from contextlib import contextmanager
from pathlib import Path

_REMEDIES = {
    errno.ENOSPC: "free space there or choose another folder",
    errno.EDQUOT: "free space there or choose another folder",
    errno.EFBIG: "choose another folder or raise the limit on file sizes",
    errno.EROFS: "choose a folder that can be written",
    errno.EACCES: "choose a folder that can be written",
    errno.EPERM: "choose a folder that can be written",
    errno.ENOENT: "check the name",
    errno.ENOTDIR: "choose a folder",
    errno.EEXIST: "choose a folder",
}


def sentence(error: OSError) -> str:
    """What the system refused, of which file, and the remedy; other texts stay as they are."""
    if error.errno is None or not error.strerror:
        return str(error) or type(error).__name__
    place = "" if error.filename is None else f"{error.filename}: "
    remedy = _REMEDIES.get(error.errno)
    return f"{place}{error.strerror}" + (f"; {remedy}" if remedy else "")


@contextmanager
def prepared(folder):
    """Fail before a measurement, not after it, where no record could be written.

    Makes ``folder`` where it is missing and writes a few kilobytes into it.  If the block fails, the
    folders made for it are removed as far as they are empty.

    Raises
    ------
    OSError
        The folder cannot be made or written; names ``folder``.
    """
    folder, made = Path(folder), []
    try:
        for parent in reversed([folder, *folder.parents]):
            if not parent.exists():
                parent.mkdir()
                made.append(parent)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"\0" * 4096)
            file.flush()
    except OSError as error:
        _remove(made)
        raise OSError(error.errno, error.strerror, str(folder)) from error
    try:
        yield
    except BaseException:
        _remove(made)
        raise


def _remove(folders: list[Path]) -> None:
    """Remove the folders, deepest first, as far as they are empty."""
    for folder in reversed(folders):
        try:
            folder.rmdir()
        except OSError:
            return


def write_atomically(path, write, overwrite: bool = False) -> Path:
    """Let ``write(temporary path)`` fill a file that then takes the name ``path``.

    The temporary file lies in the same folder and is removed whatever happens, Ctrl-C included.

    Raises
    ------
    FileExistsError
        ``path`` exists and ``overwrite`` is false.
    OSError
        The folder cannot be written, or the disk is full; names ``path`` and not the temporary file.
    """
    path = Path(path)
    name = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not overwrite:
            raise FileExistsError(f"{path} exists and is never replaced silently; choose another name or folder")
        handle, name = tempfile.mkstemp(prefix=f".{path.stem}.", suffix=path.suffix, dir=path.parent)
        os.close(handle)
        write(Path(name))
        with open(name, "rb") as file:
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)  # mkstemp keeps files private
        os.replace(name, path)
    except BaseException as error:
        if name is not None:
            Path(name).unlink(missing_ok=True)
        if isinstance(error, OSError) and error.strerror:
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
    return path


def write_text(path, text: str, overwrite: bool = False) -> Path:
    """Write ``text`` as UTF-8, whole or not at all; errors as :func:`write_atomically`."""

    def write(temporary: Path) -> None:
        # through the system's own calls: a library that closes its file quietly may lose the last block
        with open(temporary, "wb", buffering=0) as file:
            data = memoryview(text.encode("utf-8"))
            while data:
                data = data[file.write(data) :]

    return write_atomically(path, write, overwrite)


def write_netcdf(data, path) -> None:
    """Write an ``xarray.Dataset`` as NetCDF; ``OSError`` where the library says only that HDF failed."""
    try:
        data.to_netcdf(path, engine="netcdf4")
    except RuntimeError as error:
        raise OSError(errno.ENOSPC if _full(path) else errno.EIO, f"cannot be written ({error})", str(path)) from error


def _full(path) -> bool:
    # HDF5 writes blocks of some kilobytes; less than this cannot hold the smallest of our files.
    folder = os.statvfs(Path(path).parent)
    return folder.f_bavail * folder.f_frsize < 2**16
