"""A folder for the files of one measurement."""

import os
import secrets
import shutil
import signal
import tempfile
import threading
import weakref
from pathlib import Path

from supercomputers_rerun.kernels.runtime.resources import require_disk

__all__ = ["WorkFolder"]


def _remove(path: Path) -> None:
    """Remove a folder.  Ctrl-C or SIGTERM that comes meanwhile comes again afterwards: Python would drop it here, where
    the folder's owner has gone."""
    try:
        shutil.rmtree(path, ignore_errors=True)
    except (KeyboardInterrupt, SystemExit) as stopped:
        shutil.rmtree(path, ignore_errors=True)
        number = signal.SIGINT if isinstance(stopped, KeyboardInterrupt) else signal.SIGTERM
        again = threading.Timer(0.1, os.kill, (os.getpid(), number))
        again.daemon = True  # a command that has ended by then does not wait for it
        again.start()


class WorkFolder:
    """A new folder inside ``base`` (default: the system's folder for temporary files), removed with this object.

    ``OSError`` where ``base`` takes no files, or has no room for the ``nbytes`` of ``what``.
    """

    def __init__(self, base, name: str, nbytes: int = 0, what: str = ""):
        base = tempfile.gettempdir() if base is None else base
        if nbytes:
            require_disk(base, nbytes, what)
        self.path = Path(base) / f".{name}-{secrets.token_hex(8)}"
        self.close = weakref.finalize(self, _remove, self.path)  # before there is a folder: a signal may come between
        self.path.mkdir(mode=0o700)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()
