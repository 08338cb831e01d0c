"""What the system refuses, said with the file that it refused and what to do."""

import errno
import os
from contextlib import contextmanager
from pathlib import Path

#: Errors of a device that has no room, or of a file that may not grow.
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def named(what: str, path: Path):
    """Turn an ``OSError`` of the system into one sentence about ``what`` at ``path``."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename is None and str(path.name) in str(error):
            raise  # it has been said already
        remedy = "free some space there or choose another folder" if error.errno in FULL else "choose another folder"
        sentence = f"{what} {path.name} in {path.parent} failed: {os.strerror(error.errno)}; {remedy}"
        raise OSError(error.errno, sentence) from None
