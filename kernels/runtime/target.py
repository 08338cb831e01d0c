"""What kernels are made for, and its vector registers: by default this processor; ``RERUN_TARGET`` names another.

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
from typing import NamedTuple

from llvmlite import binding
from numba.core import codegen, config

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
    apart = ("NUMBA_CACHE_DIR", "NUMBA_NUM_THREADS", "NUMBA_THREADING_LAYER")
    given = {**config._env_reloader.old_environ, **({} if TARGET == "host" else {_VARIABLE: TARGET})}
    return " ".join(f"{name}={given[name]}" for name in sorted(given) if name not in apart)


class Registers(NamedTuple):
    """Vector registers of a kind of processor."""

    machine: str  # first word of LLVM's name of the target
    feature: str  # that code is made for
    lanes: int  # doubles of one
    chains: int  # sums that fit beside two other numbers
    sums: bool = False  # whether a multiply-add overwrites its summand


#: The first that fits is taken.  Four pipes of latency 4 keep busy with 16 chains, with 12 they do not.
REGISTERS = (
    Registers("x86_64", "avx512f", 8, 24),
    Registers("x86_64", "avx", 4, 12),
    Registers("aarch64", "", 2, 24, sums=True),
    Registers("arm64", "", 2, 24, sums=True),
    Registers("", "", 2, 12),
)


def registers(target: str, features: str) -> Registers:
    """Those by LLVM's name of the ``target``, as x86_64-unknown-linux-gnu, and its ``features``, as +avx,-avx512f."""
    have = {"", *(word[1:] for word in features.split(",") if word.startswith("+"))}
    machine = target.split("-")[0]
    return next(row for row in REGISTERS if row.machine in ("", machine) and row.feature in have)


#: Those for which numba makes code, also where somebody has chosen features.
HERE = registers(
    binding.get_process_triple(),
    codegen.get_host_cpu_features() if config.CPU_FEATURES is None else config.CPU_FEATURES,
)
