"""Files that others may have written: opened only where they are regular files, and read up to a limit.

A FIFO is waited for, a device may act when it is opened, and a sparse file is longer than what anybody holds.  So a
file is looked at before it is opened and again afterwards; ``O_NONBLOCK`` answers for what changes in between.
"""

import errno
import os
import stat
from typing import BinaryIO

_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


#: Nothing is waited for and nothing inherited; on Windows, which has other names, bytes stay as they are.
_FLAGS = os.O_RDONLY
for _name in ("O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY", "O_NOINHERIT"):
    _FLAGS |= getattr(os, _name, 0)


def _require_regular(mode: int, path) -> None:
    kind = next((words for matches, words in _KINDS if matches(mode)), None)
    if kind is not None:
        number = errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL
        raise OSError(number, f"it is {kind} and no regular file; name a file", str(path))


def opened(path, largest: int | None = None) -> BinaryIO:
    """The file ``path``, open for reading bytes.

    ``OSError`` where it is no regular file, has more than ``largest`` bytes, or cannot be read; carries ``path``.

    Parameters
    ----------
    largest : int, optional
        Most bytes that a file of this kind has.
    """
    _require_regular(os.stat(path).st_mode, path)
    handle = os.open(path, _FLAGS)
    try:
        found = os.fstat(handle)
        _require_regular(found.st_mode, path)
        if largest is not None and found.st_size > largest:
            raise OSError(errno.EINVAL, f"it has {found.st_size} bytes, at most {largest} are read", str(path))
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def content(path, largest: int) -> bytes:
    """All bytes of the file ``path``, which are at most ``largest``; raises as :func:`opened`."""
    with opened(path, largest) as file:
        found = file.read(largest + 1)
    if len(found) > largest:  # it grows, or the system makes it up as it is read
        raise OSError(errno.EINVAL, f"it has more than the {largest} bytes that are read", str(path))
    return found
