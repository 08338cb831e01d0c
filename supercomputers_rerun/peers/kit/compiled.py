"""Compile our own C sources on the spot, with every compiler found, and load them with ctypes.

Each compiler with each set of options makes a peer of its own, named after both: ``gcc -O3 512-bit``.  Nothing
compiled is kept: the shared object is built in a temporary folder, loaded, and the folder removed at once.
Functions called through ctypes release the interpreter lock, so that one team of threads can drive our code and
the C code alike.
"""

import ctypes
import functools
import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np

from supercomputers_rerun.kernels.files.work_folder import WorkFolder
from supercomputers_rerun.peers import Absent

SOURCES = Path(__file__).parents[1] / "c"

#: With each compiler each option set is one peer; the fastest of them is the one we compare ourselves with.
OPTION_SETS = {
    "-O3": ("-O3", "-march=native"),
    "-O3 fast-math": ("-O3", "-march=native", "-ffast-math"),
    "-O3 512-bit": ("-O3", "-march=native", "-mprefer-vector-width=512"),
}

#: Kept from the linker: with them gcc adds start-up code that makes the whole process flush subnormal
#: numbers to zero as soon as the library is loaded, our own kernels included.
_NOT_FOR_THE_LINKER = ("-ffast-math", "-Ofast", "-funsafe-math-optimizations")

#: Compilers that are looked for; ``cc`` stands in where none of them is there.
_USUAL = ("gcc", "clang")


@functools.cache
def _says(path: str) -> str:
    """How the compiler at ``path`` names itself."""
    said = subprocess.run([path, "--version"], check=False, capture_output=True, text=True).stdout
    return next(iter(said.splitlines()), "").strip() or Path(path).name


def compilers() -> dict[str, str]:
    """Paths of the compilers by name: the one that ``CC`` names, then those that are usual.

    One that is found under two names, or calls itself the same, counts once.
    """
    found: dict[str, str] = {}
    for name in (*os.environ.get("CC", "").split()[:1], *_USUAL, "cc"):
        path = shutil.which(name)
        if path is None or (name == "cc" and found):
            continue
        if not any(os.path.samefile(path, other) or _says(path) == _says(other) for other in found.values()):
            found.setdefault(Path(name).name, path)
    return found


@functools.cache
def build(source: str, options: tuple[str, ...], path: str) -> ctypes.CDLL:
    """Compile ``source`` (a path, or a name under ``peers/c``) with the compiler at ``path`` into a loaded library.

    Its ``code`` is the digest of the object file, which is equal where the machine code is.  ``RuntimeError`` if the
    compiler refuses the source or an option; the message carries its first complaint.
    """
    with WorkFolder(None, "peers") as work:
        folder, library = work.path, work.path / "library.so"
        linking = [option for option in options if option not in _NOT_FOR_THE_LINKER]
        for command in (
            [path, *options, "-fPIC", "-c", "-o", "part.o", str(SOURCES / source)],
            [path, *linking, "-shared", "-fPIC", "-o", str(library), "part.o", "-lm"],
        ):
            done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=folder)
            if done.returncode:
                lines = done.stderr.splitlines() or ["it gave no reason"]
                complaint = next((line for line in lines if "error" in line), lines[0])
                raise RuntimeError(f"{Path(path).name} {' '.join(options)}: {complaint.strip()}")
        loaded = ctypes.CDLL(str(library))
        loaded.code = hashlib.sha256((folder / "part.o").read_bytes()).digest()
        return loaded


def variants(source: str) -> tuple[dict[str, ctypes.CDLL], list[Absent]]:
    """The source by every compiler found and every option set that works there, and what is absent with the reason.

    Builds of the same machine code count once, by the first name: a trial of both would measure noise.
    """
    present = compilers()
    if not present:
        return {}, [Absent("c peers", f"none of {', '.join(_USUAL)} is found; install one or set CC")]
    absent = [
        Absent(f"builds by {name}", "not found; install it or set CC")
        for name in _USUAL
        if shutil.which(name) is None and not any(each.startswith(name) for each in present)
    ]
    built = {}
    for compiler, path in present.items():
        for options, flags in OPTION_SETS.items():
            name = f"{compiler} {options}"
            try:
                library = build(source, flags, path)
            except RuntimeError as error:
                absent.append(Absent(f"{name} of {source}", str(error)))
                continue
            if all(library.code != other.code for other in built.values()):
                built[name] = library
    return built, absent


KINDS = {"a": ctypes.c_void_p, "n": ctypes.c_int64, "d": ctypes.c_double}


def function(library: ctypes.CDLL, name: str, kinds: str, result: type | None = None) -> Callable:
    """A C function, its arguments arrays (``a``), whole numbers (``n``) and doubles (``d``)."""
    found = getattr(library, name)
    found.argtypes, found.restype = [KINDS[kind] for kind in kinds], result
    return lambda *args: found(*(arg.ctypes.data if isinstance(arg, np.ndarray) else arg for arg in args))


def versions() -> dict[str, str]:
    """By name of a build, the compiler as it names itself and the options; empty without a compiler."""
    return {
        f"{compiler} {options}": f"{_says(path)}, {' '.join(flags)}"
        for compiler, path in compilers().items()
        for options, flags in OPTION_SETS.items()
    }
