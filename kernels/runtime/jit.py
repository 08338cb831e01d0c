"""The one place that says how code is compiled.

``kernel`` is numba's ``njit`` under the house policy: the compiled code is cached, releases the
interpreter lock, divides as IEEE 754 does instead of raising, and gets no fast-math flag that
its caller does not name.
"""

import atexit
import hashlib
import os
import re
import shutil
import tempfile
import time
from pathlib import Path

import numba
from numba import njit
from numba.core import caching

#: Sums may be reordered so that a reduction vectorises; NaN and infinity keep their meaning.
REDUCE = frozenset({"reassoc", "nsz", "contract", "arcp"})
#: Multiply and add may fuse; the order of operations stays as written.
CONTRACT = frozenset({"nsz", "contract"})
#: As CONTRACT, and the data are promised to be finite (verified outside the kernel).
FINITE = frozenset({"nsz", "contract", "arcp", "nnan", "ninf"})
#: IEEE 754 as written.
STRICT = frozenset()


def source_digest() -> str:
    """Hexadecimal digest over every source file of this package."""
    here = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(here.rglob("*.py")):
        digest.update(path.relative_to(here).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _prune(base: Path, keep: Path, newest: int = 16, days: float = 30.0) -> None:
    """Remove caches of sources that are no longer used from ``base``.

    Every process touches its folder when it starts.  A folder goes if it was not touched for ``days``,
    or for one day when ``newest`` younger ones exist; so what a running process uses stays.  Each is
    renamed before it is removed: of two processes that prune at once, one finds it gone.
    """
    now = time.time()
    try:
        found = [path for path in base.iterdir() if re.fullmatch("[0-9a-f]{16}", path.name) and path != keep]
        used = sorted(((path.stat().st_mtime, path) for path in found), reverse=True)
    except OSError:
        return
    for rank, (touched, path) in enumerate(used):
        age = (now - touched) / 86400
        if age > days or (rank >= newest and age > 1):
            doomed = path.with_name(f"{path.name}.{os.getpid()}.old")
            try:
                path.rename(doomed)
            except OSError:
                continue
            shutil.rmtree(doomed, ignore_errors=True)


def _cache_folder() -> Path:
    """First writable of: the checkout's ``.cache``, the user's cache folder, a temporary one.

    numba does not recompile a cached caller when a helper in another file changes, so the folder
    carries the digest of all sources: an edited kernel can never answer with its old machine code.
    """
    user = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    checkout = Path(__file__).parents[2]
    candidates = [checkout / ".cache"] if (checkout / "pyproject.toml").exists() else []
    for base in [*candidates, user / "supercomputers-rerun"]:
        folder = base / "numba" / source_digest()
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            os.utime(folder)
            _prune(folder.parent, keep=folder)
            return folder
    folder = tempfile.mkdtemp(prefix="supercomputers-rerun-numba-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


#: Where the compiled code of ``kernel`` functions is kept; None where ``NUMBA_CACHE_DIR`` says it.
CACHE_FOLDER = None if "NUMBA_CACHE_DIR" in os.environ else _cache_folder()


class _Locator(getattr(caching, "UserProvidedCacheLocator", None) or caching._UserProvidedCacheLocator):
    """numba's locator for a folder that the user names, with the folder of this package instead."""

    def __init__(self, py_func, py_file):
        super().__init__(py_func, py_file)
        self._cache_path = str(CACHE_FOLDER / self.get_suitable_cache_subpath(py_file))

    @classmethod
    def from_function(cls, py_func, py_file):
        if not Path(py_file).exists():  # a cell of a notebook, which has no file to tell its age by
            return None
        located = cls(py_func, py_file)
        located.ensure_cache_path()
        return located


class _CacheImpl(caching.CompileResultCacheImpl):
    _locator_classes = [_Locator, *caching.CompileResultCacheImpl._locator_classes]


class _Cache(caching.FunctionCache):
    """The cache of one function.  ``numba.config.CACHE_DIR`` would move the user's own functions as well."""

    _impl_class = _CacheImpl


def kernel(function=None, *, fastmath=STRICT, parallel=False, inline=False, cache=True):
    """Compile ``function`` under the house policy (usable bare or with arguments).

    Parameters
    ----------
    fastmath : set of str
        LLVM flags by name, normally ``REDUCE``, ``CONTRACT``, ``FINITE`` or ``STRICT``.
        ``True`` is refused: all flags at once let LLVM reorder what must stay in order.
    parallel : bool
        Enables ``prange``.
    inline : bool
        Asks LLVM to inline the function into its callers.
    cache : bool
        Off only for functions that hold addresses or intrinsics numba cannot cache.

    Raises
    ------
    TypeError
        If ``fastmath`` is not a set of flag names.
    """
    if not isinstance(fastmath, (set, frozenset)):
        raise TypeError(f"fastmath must be a set of LLVM flag names, got {fastmath!r}")
    options = {
        "cache": cache and CACHE_FOLDER is None,
        "nogil": True,
        "error_model": "numpy",
        "fastmath": set(fastmath) or False,
        "parallel": parallel,
    }
    if inline:
        options["forceinline"] = True

    def decorate(plain):
        compiled = njit(**options)(plain)
        if cache and CACHE_FOLDER is not None and hasattr(compiled, "enable_caching"):  # not with NUMBA_DISABLE_JIT
            compiled._cache = _Cache(compiled.py_func)
        return compiled

    return decorate if function is None else decorate(function)


def versions() -> dict[str, str]:
    """Versions of the compiler chain, for run records."""
    import llvmlite

    return {"numba": numba.__version__, "llvmlite": llvmlite.__version__}
