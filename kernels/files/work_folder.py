"""A folder for the files of one measurement."""

import shutil
import tempfile
import weakref
from pathlib import Path

from kernels.runtime.resources import require_disk


class WorkFolder:
    """A new folder inside ``base`` (default: the system's folder for temporary files), removed with this object.

    ``OSError`` where ``base`` takes no files, or has no room for the ``nbytes`` of ``what``.
    """

    def __init__(self, base, name: str, nbytes: int = 0, what: str = ""):
        base = tempfile.gettempdir() if base is None else base
        if nbytes:
            require_disk(base, nbytes, what)
        self.path = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=base))
        self.close = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()
