"""The cache of compiled code: under a digest of all sources, sealed, and read from nobody else.

numba keeps compiled functions as pickles, and whoever can write a pickle can run code in whoever reads it.
So a file is read only if it belongs to this user or to root, if nobody else may write it, and if the SHA-256
at its front is that of the rest: what is damaged, truncated or foreign is compiled anew.  A cache that cannot
be written costs time and one warning.

Processes that begin together, as the ranks of a job do, ask for the same functions at the same time.  One of them
compiles a function that Python calls, and the others wait for its file.
"""

import contextlib
import functools
import hashlib
import io
import os
import pickle
import re
import shutil
import stat
import sys
import time
import warnings
from pathlib import Path

from numba.core import caching, config, environment
from numba.core.runtime import rtsys

from kernels.runtime.target import TARGET

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

_SEAL = hashlib.sha256().digest_size
#: A cache of this package, or one that a killed process was about to remove.
_FOLDER = re.compile(r"(rerun-[0-9a-f]{16})(\.[0-9]+\.old)?")
_OLD_TEMPORARY = 3600.0  # s, after which a file that a writer left half done goes
_LONGEST = 120.0  # s, after which who waits for another process compiles for itself


@functools.cache
def source_digest() -> str:
    """Hexadecimal digest over every source file of this package, and what they are compiled for."""
    here = Path(__file__).parents[1]
    digest = hashlib.sha256(b"" if TARGET == "host" else TARGET.encode())
    for path in sorted(here.rglob("*.py")):
        digest.update(path.relative_to(here).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _own(path: Path) -> bool:
    found = path.lstat()
    return stat.S_ISDIR(found.st_mode) and (not hasattr(os, "geteuid") or found.st_uid == os.geteuid())


def prune(base: Path, keep: Path, newest: int = 16, days: float = 30.0) -> None:
    """Remove caches of sources that are no longer used from ``base``, and temporaries of killed writers from ``keep``.

    Every process touches its folder when it starts.  A folder goes if it was not touched for ``days``,
    or for one day when ``newest`` younger ones exist; so what a running process uses stays.  Each is
    renamed before it is removed: of two processes that prune at once, one finds it gone.  Only folders of this
    user go whose name is one that :func:`cache_folder` gives: ``base`` may be shared with other programs.
    """
    now = time.time()
    try:
        found = [path for path in base.iterdir() if _FOLDER.fullmatch(path.name) and path != keep and _own(path)]
        used = sorted(((path.stat().st_mtime, path) for path in found), reverse=True)
        for path in keep.rglob("*.tmp.*"):
            if now - path.stat().st_mtime > _OLD_TEMPORARY:
                path.unlink()
    except OSError:
        return
    for rank, (touched, path) in enumerate(used):
        age = (now - touched) / 86400
        if age > days or (rank >= newest and age > 1):
            doomed = path.with_name(f"{_FOLDER.match(path.name)[1]}.{os.getpid()}.old")
            try:
                path.rename(doomed)
            except OSError:
                continue
            shutil.rmtree(doomed, ignore_errors=True)


def _places() -> list[Path]:
    """Where the cache may lie, best first: ``NUMBA_CACHE_DIR`` alone, or the checkout and the user's cache folder."""
    named = os.environ.get("NUMBA_CACHE_DIR")
    if named:
        return [Path(named)]
    checkout = Path(__file__).parents[2]
    places = [checkout / ".cache" / "numba"] if (checkout / "pyproject.toml").exists() else []
    with contextlib.suppress(RuntimeError):  # a user without a home
        user = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        places.append(user / "supercomputers-rerun" / "numba")
    return places


def cache_folder() -> Path | None:
    """The first place that can be written, with the digest of all sources; None where there is none.

    numba does not recompile a cached caller when a helper in another file changes, so the folder
    carries the digest: an edited kernel can never answer with its old machine code.
    """
    places = _places()
    for base in places:
        folder = base / f"rerun-{source_digest()}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if not os.access(folder, os.W_OK):
                continue
            os.utime(folder)
        except OSError:
            continue
        prune(folder.parent, keep=folder)
        return folder
    where = " nor ".join(str(place) for place in places) or "any place (there is no home folder)"
    warnings.warn(
        f"compiled code is not kept: {where} cannot be written; every run compiles again, unless NUMBA_CACHE_DIR "
        "names a folder that can",
        RuntimeWarning,
        stacklevel=2,
    )
    return None


#: Where the compiled code of ``kernel`` functions is kept; None where nowhere can be written.
CACHE_FOLDER = cache_folder()


def seal(payload: bytes) -> bytes:
    """``payload`` with its digest in front."""
    return hashlib.sha256(payload).digest() + payload


def _without_waiting(path: str, flags: int) -> int:
    """What opens a file, also a FIFO that somebody has put there, at once."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def unsealed(path: str) -> bytes | None:
    """What :func:`seal` sealed, None unless the file is whole and only this user or root can have written it."""
    try:
        with open(path, "rb", opener=_without_waiting) as file:
            found = os.fstat(file.fileno())
            foreign = hasattr(os, "geteuid") and (
                found.st_uid not in (os.geteuid(), 0) or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
            )
            data = b"" if foreign or not stat.S_ISREG(found.st_mode) else file.read()
    except OSError:
        return None
    return data[_SEAL:] if data and hashlib.sha256(data[_SEAL:]).digest() == data[:_SEAL] else None


def _environment(module, constants, name):
    """numba's environment ``name`` of a compiled function, without importing the ``module`` of a function of numba's.

    Its globals are read by code for Python objects alone, which ``kernel`` never makes; numba's modules import SciPy.
    """
    if environment.lookup_environment(name) is not None or module in sys.modules or not module.startswith("numba."):
        return environment._rebuild_env(module, constants, name)
    found = environment.Environment({"__name__": module})
    found.consts[:], found.env_name = constants, name
    environment.Environment._memo[name] = found
    return found


class _Unpickler(pickle.Unpickler):
    """Reads what numba has pickled, and makes environments by :func:`_environment`."""

    def find_class(self, module, name):
        found = super().find_class(module, name)
        return _environment if found is environment._rebuild_env else found


class _Files(caching.IndexDataCacheFile):
    """numba's index and data files, sealed; one that cannot be trusted is none."""

    def _load_index(self):
        payload = unsealed(self._index_path)
        if payload is None:
            return {}
        version, stamp, overloads = pickle.loads(payload)
        return overloads if (version, stamp) == (self._version, self._source_stamp) else {}

    def _save_index(self, overloads):
        self._save(self._index_path, (self._version, self._source_stamp, overloads))

    def _load_data(self, name):
        payload = unsealed(self._data_path(name))
        if payload is None:
            raise FileNotFoundError(name)  # numba compiles anew and writes it again
        return _Unpickler(io.BytesIO(payload)).load()

    def _save_data(self, name, data):
        self._save(self._data_path(name), data)

    def _save(self, path, data):
        with self._open_for_write(path) as file:
            if hasattr(os, "fchmod"):  # not on Windows before Python 3.13
                os.fchmod(file.fileno(), 0o644)
            file.write(seal(self._dump(data)))


class _Locator(getattr(caching, "UserProvidedCacheLocator", None) or caching._UserProvidedCacheLocator):
    """numba's locator for a folder that the user names, with the folder of this package instead."""

    def __init__(self, py_func, py_file):
        super().__init__(py_func, py_file)
        self._cache_path = str(CACHE_FOLDER / self.get_suitable_cache_subpath(py_file))

    @classmethod
    def get_suitable_cache_subpath(cls, py_file):
        """As numba has it, of the path's bytes: where the locale is not UTF-8, a name with accents is no text."""
        folder = os.path.dirname(os.path.abspath(py_file))
        return f"{os.path.basename(folder)}_{hashlib.sha1(os.fsencode(folder)).hexdigest()}"

    @classmethod
    def from_function(cls, py_func, py_file):
        if not Path(py_file).exists():  # a cell of a notebook, which has no file to tell its age by
            return None
        return cls(py_func, py_file)


class _CacheImpl(caching.CompileResultCacheImpl):
    _locator_classes = [_Locator]


def _hold(path: Path) -> contextlib.ExitStack | None:
    """Wait until no other process holds the file ``path``, and hold it until the answer is closed.

    None where there are no such locks, and where another process has held it for ``_LONGEST``.
    """
    end = time.monotonic() + _LONGEST
    with contextlib.suppress(OSError), contextlib.ExitStack() as held:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644)
        held.callback(os.close, handle)
        while True:
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return held.pop_all()
            if time.monotonic() > end:
                break
            time.sleep(0.02)
    return None


class _Cache(caching.FunctionCache):
    """The cache of one function.  ``numba.config.CACHE_DIR`` would move the user's own functions as well."""

    _impl_class = _CacheImpl
    _full = False  # whether a write failed: one warning is enough
    bare = False  # whether what is loaded and saved now has no wrappers for Python
    _lock = None  # what is held while the function is compiled

    def __init__(self, py_func):
        super().__init__(py_func)
        files = self._cache_file
        self._cache_file = _Files(files._cache_path, self._impl.filename_base, files._source_stamp)

    def _index_key(self, sig, codegen):
        return (*super()._index_key(sig, codegen), *(["bare"] * self.bare))

    def load_overload(self, sig, target_context):
        """What has wrappers serves compiled callers as well.  Who finds nothing compiles it, while others wait for
        :meth:`release`.

        numba would register all types and functions that it knows before, and import SciPy for that.  Machine code
        needs numba's reference counts alone, and who compiles registers the rest then.
        """
        rtsys.initialize(target_context)
        bare, self.bare = self.bare, False
        try:
            found = self._load(sig, target_context)
            if found is None and not bare and self._hold():
                found = self._load(sig, target_context)
        finally:
            self.bare = bare
        return super().load_overload(sig, target_context) if found is None and bare else found

    def _load(self, sig, target_context):
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)

    def _hold(self) -> bool:
        """Begin to hold the function's lock, and whether it is held."""
        if self._lock is None and fcntl is not None:
            with contextlib.suppress(OSError):
                self._impl.locator.ensure_cache_path()
            self._lock = _hold(Path(self._cache_file._index_path).with_suffix(".lock"))
        return self._lock is not None

    def release(self) -> None:
        """Let others load the function, or compile it where this process could not."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def save_overload(self, sig, data):
        if _Cache._full:
            return
        try:
            super().save_overload(sig, data)
        except OSError as error:
            _Cache._full = True
            warnings.warn(
                f"compiled code is not kept: {CACHE_FOLDER}: {error.strerror or error}; the next run compiles again",
                RuntimeWarning,
                stacklevel=2,
            )


def enable(compiled) -> None:
    """Let the compiled function ``compiled`` keep its machine code, if it has a file and there is a folder.

    Where numba is told not to optimise (``kernels.runtime.wasm``), its text is wanted, which no cache has.
    """
    if CACHE_FOLDER is not None and config.OPT != 0:
        with contextlib.suppress(RuntimeError):  # numba's word for "no locator": a function of a notebook's cell
            compiled._cache = _Cache(compiled.py_func)
