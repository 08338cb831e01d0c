"""What kernels are made for: by default this processor; ``RERUN_TARGET`` in the environment names another.

==========  =====  =========  ==============================================================================
target      lanes  addresses  what it is
==========  =====  =========  ==============================================================================
host        8      64 bits    as many registers a vector as the processor needs, see ``kernels.runtime.vector``
host128     2      64 bits    the same processor with vectors of 128 bits, to be compared with the next
wasm32      2      32 bits    WebAssembly, see ``kernels.runtime.wasm``
==========  =====  =========  ==============================================================================

Where all registers have 128 bits, code for eight lanes keeps four times as many of them busy as there are, and a
factor is lost to spilling.  Transposes are written for both numbers; what is made for eight lanes alone says so.
"""

import os

_VARIABLE = "RERUN_TARGET"
_LANES = {"host": 8, "host128": 2, "wasm32": 2}

#: Name of the target.
TARGET = os.environ.get(_VARIABLE, "host")
if TARGET not in _LANES:
    raise ValueError(f"{_VARIABLE} = {TARGET!r} in the environment is unknown; choose one of {', '.join(_LANES)}")
#: Float64 numbers of a ``Vector``.
LANES = _LANES[TARGET]
#: Whether code is made for WebAssembly.
WASM = TARGET == "wasm32"


def settings() -> str:
    """What the environment, or numba's file of settings, asks of the code beyond its sources: ``"NUMBA_OPT=1"``."""
    from numba.core import config

    apart = ("NUMBA_CACHE_DIR", "NUMBA_NUM_THREADS", "NUMBA_THREADING_LAYER")
    given = {**config._env_reloader.old_environ, **({} if TARGET == "host" else {_VARIABLE: TARGET})}
    return " ".join(f"{name}={given[name]}" for name in sorted(given) if name not in apart)
