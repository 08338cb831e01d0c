"""The one place that says how code is compiled.

``kernel`` is numba's ``njit`` under the house policy: the compiled code is cached, releases the
interpreter lock, divides as IEEE 754 does instead of raising, and gets no fast-math flag that
its caller does not name.
"""

import os

import numba

from kernels.runtime.cache import CACHE_FOLDER, Cache
from kernels.runtime.compiling import Dispatcher

if numba.config.DISABLE_JIT:
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


def kernel(function=None, *, fastmath=STRICT, parallel=False, inline=False, cache=True):
    """Compile ``function`` under the house policy (usable bare or with arguments).

    ``TypeError`` if ``fastmath`` is not a set of flag names.

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
    """
    if not isinstance(fastmath, (set, frozenset)):
        raise TypeError(f"fastmath must be a set of LLVM flag names, got {fastmath!r}")
    options = {
        "nopython": True,
        "boundscheck": None,
        "nogil": True,
        "error_model": "numpy",
        "fastmath": set(fastmath) or False,
        "parallel": parallel,
    }
    if inline:
        options["forceinline"] = True

    def decorate(plain):
        compiled = Dispatcher(plain, targetoptions=options)
        # where numba is told not to optimise (``kernels.runtime.wasm``) its text is wanted, which no cache has
        # a function of a notebook's cell has no file
        if cache and CACHE_FOLDER is not None and numba.config.OPT != 0 and os.path.exists(plain.__code__.co_filename):
            compiled._cache = Cache(plain)
        return compiled

    return decorate if function is None else decorate(function)


def versions() -> dict[str, str]:
    """Versions of the compiler chain, for run records."""
    import llvmlite

    return {"numba": numba.__version__, "llvmlite": llvmlite.__version__}
