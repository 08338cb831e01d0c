"""What the programs of this project share: words for numbers, libraries that may be missing, whole files, refusals."""

import argparse
import importlib.util
import json
import math
import os
import re
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from supercomputers_rerun.kernels.runtime.atomic import atomic_write

# NumPy, pandas, psutil and xarray, imported when something of them is first asked for.  They take longer than the rest
# of a command that reads no table, and every rank of a job would wait for pandas and xarray.
if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import psutil
    import xarray as xr
else:

    class _Late:
        """A module by its name."""

        def __init__(self, name: str):
            self._name = name

        def __getattr__(self, word: str) -> Any:
            return getattr(import_module(self._name), word)

    np, pd, psutil, xr = _Late("numpy"), _Late("pandas"), _Late("psutil"), _Late("xarray")

#: module -> extra of this project, which no index has
EXTRAS = {
    **dict.fromkeys(("matplotlib", "PIL", "IPython", "nbclient", "nbformat"), "notebooks"),
    "netCDF4": "formats",
    "mpi4py": "mpi",
    "ducc0": "peers",
    "threadpoolctl": "peers",
}
#: What figures need, and so the tables that stand beside them.
DRAWING = ("matplotlib", "PIL")


def sentence(module: str | None) -> str | None:
    """That a module is missing and which extra brings it; None for what no extra brings."""
    top = (module or "").partition(".")[0]
    if top not in EXTRAS:
        return None
    extra = f"[{EXTRAS[top]}]"
    ways = f"pip install -e '.{extra}' in the source, or of a wheel pip install 'FILE.whl{extra}'"
    return f"{top} is not installed; {ways}, brings it"


def missing(*modules: str) -> str | None:
    """The sentence for the first of the modules that is not there; nothing is imported."""
    return next((sentence(module) for module in modules if importlib.util.find_spec(module) is None), None)


def require(*modules: str) -> None:
    """``ImportError`` with the sentence unless every module is there."""
    if reason := missing(*modules):
        raise ImportError(reason)


def plural(number, noun: str) -> str:
    """``1 thread``, ``2 threads``."""
    return f"{int(number)} {noun}" if number == 1 else f"{int(number)} {noun}s"


def size(nbytes: int) -> str:
    """Bytes in words, in powers of 1024 as in the figures: ``8 bytes``, ``512 KB``, ``16 MB``."""
    if nbytes < 2**10:
        return plural(nbytes, "byte")
    return f"{nbytes // 2**20} MB" if nbytes % 2**20 == 0 else f"{nbytes / 2**10:g} KB"


#: What labels of older records say: KiB for the KB of 1024, and parts of a KB for bytes.
_BINARY, _PART = re.compile(r"\b([KMG])iB\b"), re.compile(r"\b0\.\d+ KB\b")


def plain_bytes(text: str) -> str:
    """A stored label with bytes as :func:`size` says them."""
    said = _BINARY.sub(r"\1B", text)
    return _PART.sub(lambda found: size(round(2**10 * float(found[0].removesuffix(" KB")))), said)


def significant(value, digits: int) -> str:
    """``value`` to ``digits`` significant digits, without an exponent between 1e-4 and 1e15."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if not isinstance(value, float) or value == 0:
        return str(value)
    if not 1e-4 <= abs(value) < 1e15:
        return f"{value:.{digits - 1}e}"
    return f"{value:.{max(0, digits - 1 - math.floor(math.log10(abs(value))))}f}"


def rounded(value: float, digits: int = 2) -> str:
    """A number in a sentence, to so many significant digits: 740, 19, 0.88."""
    return f"{float(f'{value:.{digits}g}'):g}"


def span(values, decimals: int = 2) -> str:
    """Least and largest of several numbers, NaN left out: ``1.4 to 1.6``; one where both are written alike."""
    ends = (f"{end:.{decimals}f}" for end in (np.nanmin(values), np.nanmax(values)))
    return " to ".join(dict.fromkeys(ends))


#: Bytes that a folder for records must take: the largest committed record has half of it.
_RESERVE = 2**20


@contextmanager
def prepared(folder):
    """Fail before a measurement, not after it, where no record could be written.

    Makes ``folder`` where it is missing and tries whether it takes a megabyte, more than any record has.  If the block
    fails, the folders made for it are removed as far as they are empty. ``OSError`` where the folder cannot be made or
    written; names ``folder``.
    """
    folder = Path(folder)
    made = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder) as file:
                file.write(b"\0" * _RESERVE)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(folder)) from None
        yield
    except BaseException:
        for each in made:
            with suppress(OSError):
                each.rmdir()
        raise


def write_text(path, text: str, overwrite: bool = False) -> Path:
    """Write ``text`` as UTF-8, whole or not at all, into a folder that is made where it is missing.

    ``FileExistsError`` where ``path`` exists and ``overwrite`` is false. ``OSError`` where the folder takes no file,
    or the disk is full; names ``path``.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path, new=not overwrite) as part:
        part.write_text(text, encoding="utf-8", newline="\n")
    return path


def write_zip(path, folder: str, root: Path, files: Iterable[Path]) -> Path:
    """Write files as one zip, all in ``folder``, by their names under ``root``; programs stay executable."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as part, zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            archive.write(file, Path(folder) / file.relative_to(root))
    return path


def write_netcdf(data, path) -> Path:
    """Write an ``xarray.Dataset`` as NetCDF, whole or not at all, in place of an older file.

    ``OSError`` where the folder takes no file, or the disk is full; names ``path``.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as part:
        try:
            data.to_netcdf(part, engine="netcdf4")
        except RuntimeError as error:  # all that the library says of a full disk
            raise OSError(f"{path} cannot be written: {error}") from None
    return path


def require_integer(field: str, value: int, least: int, most: int) -> None:
    """``ValueError`` unless ``value`` is a whole number of at least ``least`` and at most ``most``."""
    if not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"{field} = {value!r} must be a whole number of at least {least} and at most {most}")


def _constant(word: str):
    raise ValueError(f"{word} is not JSON")


def _finite(text: str) -> float:
    if math.isinf(value := float(text)):
        raise ValueError(f"{text[:40]} is more than a number can be")
    return value


def _whole(text: str) -> int:
    if len(text) > _MOST_DIGITS:
        raise ValueError(f"a whole number has {len(text)} digits; no count has more than {_MOST_DIGITS - 1}")
    return int(text)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(found := dict(pairs)) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice!r} stands twice in one object")
    return found


#: Characters of a whole number: 2**64 has twenty digits.
_MOST_DIGITS = 21


def strict_json(text: str) -> Any:
    """JSON that says one thing.

    ``ValueError`` for what Python's reader takes besides: NaN, infinity in any spelling, one name twice, and whole
    numbers beyond 64 bits.
    """
    return json.loads(text, object_pairs_hook=_unique, parse_constant=_constant, parse_float=_finite, parse_int=_whole)


#: What a terminal takes for more than text: controls, directions of writing, halves of characters.
_CONTROLS = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """``text`` with each character that steers a terminal as its escape: a foreign record's label, a file's name."""
    return _CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


class Printed:
    """A stream to which only text goes (:func:`printable`)."""

    def __init__(self, stream):
        self._stream = stream

    def write(self, text: str) -> int:
        """Write ``text``, its controls escaped."""
        return self._stream.write(printable(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class Refusal(RuntimeError):
    """A request that cannot be met, said in one sentence; ``status`` is that of a program that ends with it."""

    status = 2
    output = ""  # of a job that failed: what it said


class UnverifiedError(Refusal):
    """A result failed its verification; its timing is not reported."""

    status = 3


class Unavailable(Refusal):
    """The machine lacks what the experiment needs; the message is one sentence with the remedy."""


def stop(program: str, message: object, code: int = 2) -> NoReturn:
    """End with one sentence on standard error."""
    print(printable(f"{program}: {' '.join(str(message).split())}"), file=sys.stderr)
    raise SystemExit(code)


class Parser(argparse.ArgumentParser):
    """A command line whose refusals are one sentence each."""

    def error(self, message: str) -> NoReturn:
        stop(self.prog.partition(" ")[0], f"{message}; see --help")


@contextmanager
def one_sentence(program: str) -> Iterator[None]:
    """Turn what a user can cause into one sentence; a defect keeps its traceback.

    The status is 1 where a library is missing, 2 for a request that cannot be met, 3 for a failed verification, 130
    after Ctrl-C.
    """
    try:
        yield
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    except BrokenPipeError:  # whoever read the output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        raise SystemExit(1) from None
    except (ValueError, OSError, MemoryError) as error:
        stop(program, str(error) or "memory ran out; choose a smaller preset")
    except ImportError as error:
        reason = sentence(error.name) if error.name else str(error)  # without a name it is one of ours
        if reason is None:
            raise
        stop(program, reason, 1)
    except Refusal as error:
        if error.output:
            print(printable(error.output), file=sys.stderr)
        stop(program, error, error.status)
    except RuntimeError as error:
        if str(error) != "can't start new thread":  # of Python, where the system allows no more
            raise
        stop(program, error)
