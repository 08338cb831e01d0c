"""The cache of compiled code: numba's own files, in a folder named after a digest of all sources.

numba alone keeps the old code of a cached caller when a helper in another file changes.
"""

import contextlib
import functools
import hashlib
import os
import shutil
import time
import warnings
from pathlib import Path

from numba.core import caching, config
from numba.core.runtime import rtsys

from kernels.runtime.target import TARGET


@functools.cache
def source_digest() -> str:
    """Hexadecimal digest over every source file of this package, and what they are compiled for."""
    here = Path(__file__).parents[1]
    digest = hashlib.sha256(TARGET.encode())
    for path in sorted(here.rglob("*.py")):
        digest.update(path.relative_to(here).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def cache_folder() -> Path | None:
    """A folder in ``NUMBA_CACHE_DIR``, else in the checkout or the user's cache folder, else None and a warning.
    Code of other sources that nobody has used for 30 days goes."""
    checkout, named = Path(__file__).parents[2], os.environ.get("NUMBA_CACHE_DIR")
    own = [checkout / ".cache" / "numba"] if (checkout / "pyproject.toml").exists() else []
    user = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "supercomputers-rerun", "numba")
    for base in [Path(named)] if named else [*own, user]:
        folder = base / f"rerun-{source_digest()}"
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            os.utime(folder)
            for other in base.glob("rerun-*"):
                if time.time() - other.stat().st_mtime > 30 * 86400:
                    shutil.rmtree(other, ignore_errors=True)
            return folder
    warnings.warn("compiled code is not kept: name a folder that can be written in NUMBA_CACHE_DIR", stacklevel=2)
    return None


#: Where the compiled code of ``kernel`` functions is kept; None where nowhere can be written.
CACHE_FOLDER = cache_folder()


class Cache(caching.FunctionCache):
    bare = False  # whether what is loaded and saved now has no wrappers for Python

    def __init__(self, py_func):
        before, config.CACHE_DIR = config.CACHE_DIR, str(CACHE_FOLDER)  # the user's own functions go elsewhere
        try:
            super().__init__(py_func)
        finally:
            config.CACHE_DIR = before
        # processes that compile at once, as ranks do, write no file of another, whose code would answer for theirs
        pattern = self._cache_file._data_name_pattern
        self._cache_file._data_name_pattern = pattern.replace("{number", f"{os.getpid()}.{{number")

    def held(self):
        """A context that holds the function: of processes that begin together one compiles it, the others load it."""
        held = contextlib.ExitStack()
        with contextlib.suppress(OSError, ImportError):  # a filesystem without locks; Windows
            import fcntl

            file = held.enter_context(open(f"{self._cache_file._index_path}.lock", "w"))
            fcntl.flock(file, fcntl.LOCK_EX)
        return held

    def _index_key(self, sig, codegen):
        return (*super()._index_key(sig, codegen), *(["bare"] * self.bare))

    def load_overload(self, sig, target_context):
        """Without numba's refresh of all types, which imports SciPy: 0.9 s of the 2.2 s of a first run of BT."""
        rtsys.initialize(target_context)
        return self._load_overload(sig, target_context)

    def save_overload(self, sig, data):
        try:
            super().save_overload(sig, data)
        except OSError as error:
            warnings.warn(f"compiled code is not kept: {CACHE_FOLDER}: {error.strerror or error}", stacklevel=2)
