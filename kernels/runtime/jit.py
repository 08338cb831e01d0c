"""The one place that says how code is compiled, and where compiled code is kept.

``kernel`` is numba's ``njit`` under the house policy: the compiled code is cached, releases the
interpreter lock, divides as IEEE 754 does instead of raising, and gets no fast-math flag that
its caller does not name.

numba alone keeps the old code of a cached caller when a helper in another file changes.  Here its files lie in a folder
named after a digest of all sources.
"""

import contextlib
import functools
import hashlib
import os
import shutil
import time
import warnings
from pathlib import Path

import llvmlite
import numba
from numba.core import caching, config
from numba.core.runtime import rtsys

from kernels.runtime.compiling import Dispatcher
from kernels.runtime.target import settings

if config.DISABLE_JIT:
    raise ImportError(
        "NUMBA_DISABLE_JIT is set: the kernels are made of machine instructions and addresses that the interpreter "
        "has no words for; unset it"
    )

#: Sums may be reordered so that a reduction vectorises; NaN and infinity keep their meaning.
REDUCE = frozenset({"reassoc", "nsz", "contract", "arcp"})
#: Multiply and add may fuse; the order of operations stays as written.
CONTRACT = frozenset({"nsz", "contract"})
#: As CONTRACT, and the data are promised to be finite (verified outside the kernel).
FINITE = frozenset({"nsz", "contract", "arcp", "nnan", "ninf"})
#: IEEE 754 as written.
STRICT = frozenset()


@functools.cache
def source_digest() -> str:
    """Hexadecimal digest over every source file of this package, the compilers and their settings."""
    here = Path(__file__).parents[1]
    digest = hashlib.sha256(f"{numba.__version__} {llvmlite.__version__} {settings()}".encode())
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
    """numba's files of one function."""

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


def kernel(function=None, *, fastmath=STRICT, inline=False, cache=True):
    """Compile ``function`` under the house policy (usable bare or with arguments).

    ``fastmath`` is a set of LLVM's flags, normally ``REDUCE``, ``CONTRACT``, ``FINITE`` or ``STRICT``; ``TypeError``
    for anything else: ``True``, all flags at once, lets LLVM reorder what must stay in order.  ``inline`` asks LLVM to
    inline the function into its callers; ``cache`` is off only for functions that hold addresses or intrinsics numba
    cannot cache.
    """
    if not isinstance(fastmath, (set, frozenset)):
        raise TypeError(f"fastmath must be a set of LLVM flag names, got {fastmath!r}")
    options = {
        "nopython": True,
        "boundscheck": None,
        "nogil": True,
        "error_model": "numpy",
        "fastmath": set(fastmath) or False,
    }
    if inline:
        options["forceinline"] = True

    def decorate(plain):
        compiled = Dispatcher(plain, targetoptions=options)
        # where numba is told not to optimise (``kernels.runtime.wasm``) its text is wanted, which no cache has
        # a function of a notebook's cell has no file
        if cache and CACHE_FOLDER is not None and config.OPT != 0 and os.path.exists(plain.__code__.co_filename):
            compiled._cache = Cache(plain)
        return compiled

    return decorate if function is None else decorate(function)
