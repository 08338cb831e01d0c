"""Compile our own C (or Fortran) sources on the spot and load them with ctypes.

Nothing compiled is kept: the shared object is built in a temporary folder, loaded, and the folder
removed at once.  Functions called through ctypes release the interpreter lock, so that one team of
threads can drive our code and the C code alike.
"""

import ctypes
import functools
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from peers import Absent

SOURCES = Path(__file__).parents[1] / "c"

#: Each option set is one peer; the fastest of them is the one we compare ourselves with.
OPTION_SETS = {
    "C -O3": ("-O3", "-march=native"),
    "C -O3 fast-math": ("-O3", "-march=native", "-ffast-math"),
    "C -O3 512-bit": ("-O3", "-march=native", "-mprefer-vector-width=512"),
}

#: Kept from the linker: with them gcc adds start-up code that makes the whole process flush subnormal
#: numbers to zero as soon as the library is loaded, our own kernels included.
_NOT_FOR_THE_LINKER = ("-ffast-math", "-Ofast", "-funsafe-math-optimizations")

_CANDIDATES = {"c": ("CC", ("cc", "gcc", "clang")), "fortran": ("FC", ("gfortran", "flang"))}


def compiler(language: str = "c") -> str | None:
    """Path of the compiler: the environment's choice (``CC``, ``FC``) or the first found; or None."""
    variable, names = _CANDIDATES[language]
    chosen = os.environ.get(variable, "").split()
    for name in [*chosen[:1], *names]:
        if path := shutil.which(name):
            return path
    return None


@functools.cache
def build(source: str, options: tuple[str, ...], language: str = "c") -> ctypes.CDLL:
    """Compile ``source`` (a path, or a name under ``peers/c``) into a loaded library.

    Raises
    ------
    FileNotFoundError
        If no compiler for the language is found.
    RuntimeError
        If the compiler refuses the source or an option; the message carries its first complaint.
    """
    path = compiler(language)
    if path is None:
        variable, names = _CANDIDATES[language]
        raise FileNotFoundError(f"none of {', '.join(names)} is found; install one or set {variable}")
    with tempfile.TemporaryDirectory(prefix="peers-") as folder:
        library = Path(folder) / "library.so"
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
        return ctypes.CDLL(str(library))


def variants(source: str, option_sets=None, language: str = "c") -> tuple[dict[str, ctypes.CDLL], list[Absent]]:
    """The source under every option set that works here, and what is absent with the reason."""
    built, absent = {}, []
    for name, options in (option_sets or OPTION_SETS).items():
        try:
            built[name] = build(source, tuple(options), language)
        except FileNotFoundError as error:
            return {}, [Absent(f"{language} peers", str(error))]
        except RuntimeError as error:
            absent.append(Absent(f"{name} of {source}", str(error)))
    return built, absent


def versions(option_sets=None, language: str = "c") -> dict[str, str]:
    """By name of an option set, the compiler as it names itself and the options; empty without one."""
    path = compiler(language)
    if path is None:
        return {}
    said = subprocess.run([path, "--version"], check=False, capture_output=True, text=True).stdout
    name = next(iter(said.splitlines()), "").strip() or Path(path).name
    return {each: f"{name}, {' '.join(options)}" for each, options in (option_sets or OPTION_SETS).items()}


def address(array) -> ctypes.c_void_p:
    """Address of the array's first element, as an argument."""
    return ctypes.c_void_p(array.ctypes.data)
