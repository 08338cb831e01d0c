"""A folder for the files of one measurement, or one on each of several devices."""

import os
import secrets
import shutil
import signal
import threading
import weakref
from pathlib import Path

from supercomputers_rerun.kernels.runtime.resources import bases, require_disk

__all__ = ["WorkFolder"]


def _remove(paths: tuple[Path, ...]) -> None:
    """Remove folders.  Ctrl-C or SIGTERM that comes meanwhile comes again afterwards: Python would drop it here, where
    the folders' owner has gone."""
    try:
        for path in paths:
            shutil.rmtree(path, ignore_errors=True)
    except (KeyboardInterrupt, SystemExit) as stopped:
        for path in paths:
            shutil.rmtree(path, ignore_errors=True)
        number = signal.SIGINT if isinstance(stopped, KeyboardInterrupt) else signal.SIGTERM
        again = threading.Timer(0.1, os.kill, (os.getpid(), number))
        again.daemon = True  # a command that has ended by then does not wait for it
        again.start()


class WorkFolder:
    """A new folder ``path`` inside ``base`` (see :func:`bases`), removed with this object.

    Of several bases each has one, ``paths``, of which the first is ``path``.
    ``OSError`` where a base takes no files, or has no room for the ``nbytes`` of ``what``.
    """

    def __init__(self, base, name: str, nbytes: int = 0, what: str = ""):
        for each in bases(base) if nbytes else ():
            require_disk(each, nbytes, what)
        # names of their own, since two bases may be one folder
        self.paths = tuple(Path(each) / f".{name}-{secrets.token_hex(8)}" for each in bases(base))
        self.path = self.paths[0]
        self.close = weakref.finalize(self, _remove, self.paths)  # before there is a folder: a signal may come between
        for path in self.paths:
            path.mkdir(mode=0o700)

    def of(self, number: int) -> Path:
        """The folder of work file ``number``: they take them in turn."""
        return self.paths[number % len(self.paths)]

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()
