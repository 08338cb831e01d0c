"""The one place that says how code is compiled, for which registers, and where compiled code is kept.

``kernel`` is numba's ``njit`` under the house policy: the compiled code is cached, releases the
interpreter lock, divides as IEEE 754 does instead of raising, and gets no fast-math flag that
its caller does not name.

numba alone keeps the old code of a cached caller when a helper in another file changes.  Here its files lie in a folder
named after a digest of all sources.

**A guest.**  No class, function or setting of numba is changed: what a reader or a library of theirs compiles in this
process, and keeps in a cache, is numba's alone (``tests/kernels/runtime/test_guest.py``).  Four classes of numba have a
subclass here, which our functions alone use, and these private names of numba stand in them.  What they buy was
measured with numba 0.68 in seconds of CPU time: BT of class S, eight fields of T159, a quick forecast:

=======================================  ============================================================================
``Dispatcher``: ``_cache``,              no wrapper for Python where compiled code alone calls: first call with an
``_compiler._customize_flags``           empty cache 6.7, 27, 33; with the public ``no_cfunc_wrapper`` alone 8.0, 29, 43
``Cache``: ``_load_overload``            first call from the cache 0.5, 0.7, 0.5; with numba's refresh of all its types,
                                         which imports SciPy, 0.8, 0.9, 1.0
``Cache``: ``_impl_class``               a folder of our own for compiled code, without changing the reader's setting
``Contents``: ``_locator_classes``
``Place``: ``_py_file``
``Cache``: ``_index_key``,               code with and without wrappers is told apart, and so are files of processes
``_cache_file._data_name_pattern``       that compile at once
=======================================  ============================================================================

Three more stand elsewhere:

=======================================  ============================================================================
``compute_fingerprint``, ``team.py``     types of a call in 0.2 µs; ``numba.typeof`` takes longer than the call
``_compile_uncached``, ``wasm.py``       LLVM's text of a function; the public ``compile`` makes machine code of it
                                         as well, for this processor: 4 s more
``_getvalue``, ``portable/frozen.py``    an array as a value of LLVM, as numba's manual takes that of its own types
=======================================  ============================================================================

**Loops that are timed** must be executed as often as they are written.  LLVM removes passes whose results are
overwritten, hoists loads that cannot have changed and folds chains of constants.  An empty piece of assembly that
claims to read and write memory (``barrier``) or a value (``opaque``) stops that and adds no instruction.
"""

import contextlib
import functools
import hashlib
import os
import shutil
import sys
import time
import warnings
from pathlib import Path
from typing import NamedTuple

import llvmlite
import numba
from llvmlite import binding, ir
from numba import types
from numba.core import caching, cgutils, config
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.runtime import rtsys
from numba.core.sigutils import normalize_signature
from numba.extending import intrinsic

from supercomputers_rerun import HOME

if config.DISABLE_JIT:
    raise ImportError(
        "NUMBA_DISABLE_JIT is set, and kernels are compiled code, parts of which no Python can run; unset it"
    )

#: Sums may be reordered so that a reduction vectorises, a division may become a product with the reciprocal, and the
#: sign of zero is free; NaN and infinity keep their meaning.
REDUCE = frozenset({"reassoc", "nsz", "contract", "arcp"})
#: Multiply and add may fuse, and the sign of zero is free; the order of operations stays as written.
CONTRACT = frozenset({"nsz", "contract"})
#: As CONTRACT, with reciprocals for divisions; the data are promised to be finite (verified outside the kernel).
FINITE = frozenset({"nsz", "contract", "arcp", "nnan", "ninf"})
#: IEEE 754 as written.
STRICT = frozenset()


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
        "nogil": True,
        "error_model": "numpy",
        "fastmath": set(fastmath) or False,
    }
    if inline:
        options["forceinline"] = True

    def decorate(plain):
        compiled = Dispatcher(plain, targetoptions=options)
        # no cache: where nothing can be written; where ``kernels.runtime.wasm`` wants LLVM's text, unoptimised; for a
        # function of a notebook's cell, which has no file
        if cache and CACHE_FOLDER is not None and config.OPT != 0 and os.path.exists(plain.__code__.co_filename):
            compiled._cache = Cache(plain)
        return compiled

    return decorate if function is None else decorate(function)


# Registers

#: Whether code is made for WebAssembly (``kernels.runtime.wasm``), as the environment asks, instead of this processor.
WASM = os.environ.get("RERUN_TARGET", "") == "wasm32"
#: Float64 numbers of a ``Vector``: as many registers a vector as the processor needs.  Where all registers have 128
#: bits, code for eight lanes keeps four times as many of them busy as there are, and a factor is lost to spilling.
LANES = 2 if WASM else 8


def settings() -> str:
    """What the environment asks of the code beyond its sources: ``"NUMBA_OPT=1"``."""
    apart = ("NUMBA_CACHE_DIR", "NUMBA_NUM_THREADS", "NUMBA_THREADING_LAYER")
    names = [name for name in os.environ if name.startswith("NUMBA_") and name not in apart]
    if WASM:
        names.append("RERUN_TARGET")
    return " ".join(f"{name}={os.environ[name]}" for name in sorted(names))


class Registers(NamedTuple):
    """Vector registers of a kind of processor."""

    lanes: int  # doubles of one
    chains: int  # sums that fit beside two other numbers: 16 keep four pipes of latency 4 busy, 12 do not
    sums: bool = False  # whether a multiply-add overwrites its summand


def registers(target: str, features: str) -> Registers:
    """Those by LLVM's name of the ``target``, as x86_64-unknown-linux-gnu, and its ``features``, as +avx,-avx512f."""
    have = features.split(",")
    if target.startswith(("aarch64", "arm64")):
        return Registers(2, 24, sums=True)
    return Registers(8, 24) if "+avx512f" in have else Registers(4 if "+avx" in have else 2, 12)


_TRIPLE = binding.get_process_triple()
#: Registers of the processor that numba makes code for, also where somebody has chosen features.
HERE = registers(
    _TRIPLE, binding.get_host_cpu_features().flatten() if config.CPU_FEATURES is None else config.CPU_FEATURES
)


# Loops that are timed

#: The constraint that names a register of float64.
REGISTER = "x" if _TRIPLE.startswith("x86_64") else "w"


@intrinsic
def barrier(typingctx, array):
    """``barrier(array)``, for the compiler (``team.meet`` is one of threads): what was stored is stored here, and read
    again after here."""
    if not isinstance(array, types.Array):
        return None

    def codegen(context, builder, signature, args):
        pointer = cgutils.create_struct_proxy(array)(context, builder, args[0]).data
        kind = ir.FunctionType(ir.VoidType(), [pointer.type])
        builder.asm(kind, "", "r,~{memory}", [pointer], side_effect=True)
        return context.get_dummy_value()

    return types.void(array), codegen


@intrinsic
def opaque(typingctx, value):
    """``opaque(x) -> x`` for a float64, int64 or uint64, with a value that the compiler does not know.

    Inside a loop it also keeps the loop from being vectorised.  For x86-64, AArch64 and WebAssembly.
    """
    if value not in (types.float64, types.int64, types.uint64):
        return None
    register = REGISTER if value == types.float64 else "r"

    def codegen(context, builder, signature, args):
        kind = ir.FunctionType(args[0].type, [args[0].type])
        return builder.asm(kind, "", f"={register},0", [args[0]], side_effect=False)

    return value(value), codegen


# Where compiled code is kept


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

    Code of other sources that nobody has used for 30 days is deleted.
    """
    named = os.environ.get("NUMBA_CACHE_DIR")
    own = [HOME / ".cache" / "numba"] if (HOME / "pyproject.toml").exists() else []
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


class Place(caching.InTreeCacheLocator):
    """Where numba looks for the files of one of our functions."""

    def get_cache_path(self):
        return str(CACHE_FOLDER / self.get_suitable_cache_subpath(self._py_file))


class Contents(caching.CompileResultCacheImpl):
    """How numba writes one compiled function: in that place alone."""

    _locator_classes = [Place]


@functools.cache
def say_that_it_compiles() -> None:
    """Once in a process, on a terminal: the first call of a kernel may take half a minute without a word else."""
    if sys.stderr is not None and sys.stderr.isatty():
        print("supercomputers_rerun compiles what is called for the first time; later calls find it", file=sys.stderr)


class Cache(caching.FunctionCache):
    """numba's files of one function."""

    _impl_class = Contents
    bare = False  # whether what is loaded and saved now has no wrappers for Python

    def __init__(self, py_func):
        super().__init__(py_func)
        self.lock = Path(self.cache_path, f"{py_func.__qualname__}-{py_func.__code__.co_firstlineno}.lock")
        # processes that compile at once, as ranks do, write no file of another, whose code would answer for theirs; the
        # number is that of the process that imports: a child by fork would share it
        pattern = self._cache_file._data_name_pattern
        self._cache_file._data_name_pattern = pattern.replace("{number", f"{os.getpid()}.{{number")

    def held(self):
        """A context that holds the function: of processes that begin together one compiles it, the others load it."""
        held = contextlib.ExitStack()
        with contextlib.suppress(OSError, ImportError):  # a filesystem without locks; Windows
            import fcntl

            file = held.enter_context(open(self.lock, "w"))
            fcntl.flock(file, fcntl.LOCK_EX)
        return held

    def _index_key(self, sig, codegen):
        key = super()._index_key(sig, codegen)
        return (*key, "bare") if self.bare else key

    def load_overload(self, sig, target_context):
        """Without numba's refresh of all types, which imports SciPy."""
        rtsys.initialize(target_context)
        kept = self._load_overload(sig, target_context)
        if kept is None:
            say_that_it_compiles()
        return kept

    def save_overload(self, sig, data):
        try:
            super().save_overload(sig, data)
        except OSError as error:
            warnings.warn(f"compiled code is not kept: {CACHE_FOLDER}: {error.strerror or error}", stacklevel=2)


# What compiled callers call


def bare(result) -> bool:
    """Whether a compile result has no wrapper for Python, so that only compiled code can call it."""
    return not result.library.get_pointer_to_function(result.fndesc.llvm_cpython_wrapper_name)


class Dispatcher(CPUDispatcher):
    """Compiles without wrappers what a compiled caller asks for, and with them, anew where need be, the rest."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self._asked = False  # a compiled caller is asking now
        self._bare = False  # what is compiled now gets no wrappers
        self._compiler._customize_flags = self._flags

    def _flags(self, flags):
        flags.no_cpython_wrapper = flags.no_cfunc_wrapper = self._bare
        return flags

    @global_compiler_lock
    def get_call_template(self, args, kws):
        """What compiled callers ask for the types of a call."""
        self._asked = True
        try:
            return super().get_call_template(args, kws)
        finally:
            self._asked = False

    def get_compile_result(self, sig):
        """For a function whose address is taken, that of its wrapper for C: a bare overload is compiled anew."""
        self._forget(sig)
        return super().get_compile_result(sig)

    @global_compiler_lock
    def compile(self, sig):
        outer = self._bare
        without_wrappers = self._asked
        self._asked = False  # what is compiled within asks for itself
        if not without_wrappers:
            self._forget(sig)
        self._set(without_wrappers)
        # bare code is made while its caller's lock is held
        locked = not without_wrappers and isinstance(self._cache, Cache)
        try:
            with self._cache.held() if locked else contextlib.nullcontext():
                return super().compile(sig)
        finally:
            self._set(outer)

    def _set(self, bare):
        self._bare = bare
        self._cache.bare = bare  # numba's ``NullCache`` ignores it

    def _forget(self, sig):
        """Let an overload without wrappers be none; who calls it already keeps it."""
        args = tuple(normalize_signature(sig)[0])
        if args in self.overloads and bare(self.overloads[args]):
            del self.overloads[args]

    def add_overload(self, result):
        if bare(result):
            # numba's own table is for calls from Python, which need the wrapper
            self.overloads[tuple(result.signature.args)] = result
        else:
            super().add_overload(result)
