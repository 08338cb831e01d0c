"""Both sides built for shorter vectors than the processor has: the table that a processor without AVX-512 would show.

``python -m peers --vectors 256`` starts itself anew with numba told to leave AVX-512 alone, with a cache folder of its
own, and adds the like to the options of every C build.  NumPy and the OpenBLAS below SciPy are told to choose what they
choose on such a processor.  Software that comes built, as ducc0 and SHTns do, cannot be told: it is compared with the
processor's own vectors only.
"""

import os
import sys

import numpy as np
from llvmlite import binding
from numba.core import config

from kernels.runtime.cache import CACHE_FOLDER

_VARIABLE = "RERUN_PEER_VECTORS"
#: Modules whose peers can be built, or told, to use shorter vectors.
COMPARED = ("analysis", "banks", "bt", "gridpoint", "memory", "routines", "smt")
_WITHOUT = {256: ("-mno-avx512f", "-mprefer-vector-width=256")}


def bits() -> int | None:
    """Bits of the vectors that this process was started for; None for the processor's own."""
    text = os.environ.get(_VARIABLE)
    return int(text) if text else None


def flags() -> tuple[str, ...]:
    """Options of gcc and clang that keep them to these vectors."""
    return _WITHOUT.get(bits() or 0, ())


def ours() -> str:
    """How numba compiles our kernels in this process."""
    without = " without AVX-512" if bits() == 256 else ""
    processor = config.CPU_NAME or binding.get_host_cpu_name()
    return f"numba -O{int(config.OPT)} for {processor}{without}, fast-math by flags that each function names"


def suffix() -> str:
    """What a variable's name ends in that says where a build with these vectors lies: ``_256``, or nothing."""
    return f"_{bits()}" if bits() else ""


def features(without: tuple[str, ...] = ("avx512",)) -> str:
    """The processor's features for numba, less those whose names begin so: ``+avx2,-avx512f,…``."""
    found = binding.get_host_cpu_features()
    return ",".join(f"{'+' if has and not name.startswith(without) else '-'}{name}" for name, has in found.items())


def _numpy_without() -> str:
    """Names of NumPy's features that need AVX-512, as far as it may choose them here."""
    from numpy._core import _multiarray_umath as inside

    named = [name for name in inside.__cpu_dispatch__ if name == "X86_V4" or name.startswith("AVX512")]
    return " ".join(name for name in named if inside.__cpu_features__.get(name))


def environment(wanted: int) -> dict[str, str]:
    """The environment of a process for vectors of ``wanted`` bits."""
    made = {**os.environ, _VARIABLE: str(wanted), "NUMBA_CPU_FEATURES": features(), "OPENBLAS_CORETYPE": "Haswell"}
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0" and (names := _numpy_without()):
        made["NPY_DISABLE_CPU_FEATURES"] = names
    if CACHE_FOLDER is not None:
        made["NUMBA_CACHE_DIR"] = str(CACHE_FOLDER.parent / f"vectors-{wanted}")
    return made


def require(wanted: int, names: list[str]) -> None:
    """``ValueError`` unless this processor has longer vectors, and every named module can do with ``wanted`` bits."""
    if wanted not in _WITHOUT:
        raise ValueError(f"vectors = {wanted} is unknown; choose {', '.join(map(str, _WITHOUT))}")
    if not binding.get_host_cpu_features().get("avx512f"):
        raise ValueError("this processor has no AVX-512, so that its own table is the one without; leave out --vectors")
    for name in names:
        if name not in COMPARED:
            raise ValueError(
                f"the peers of {name} come built, or move bytes only; with --vectors choose of {', '.join(COMPARED)}"
            )


def enter(wanted: int | None, names: list[str]) -> None:
    """Start this command anew in a process for ``wanted`` bits, unless it is one; None asks for nothing."""
    if wanted is None or bits() == wanted:
        return
    require(wanted, names)
    sys.stdout.flush()
    os.execve(
        sys.executable, [sys.executable, "-m", __package__.removesuffix(".kit"), *sys.argv[1:]], environment(wanted)
    )
