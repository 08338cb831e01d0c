"""Commands of this project, each in a process of its own that a server forks with its modules imported.

Starting an interpreter and importing the command line takes a second or more; a fork takes some milliseconds.  What
depends on how an interpreter starts (locale, closed streams, signals while it imports) needs one of its own.
"""

import io
import multiprocessing
import os
import runpy
import sys
import tempfile
from subprocess import CompletedProcess

_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload(
    [
        *("companion.cli", "companion.claims", "companion.notebooks", "companion.experiments", "companion.files"),
        *("companion.records.display", "companion.mpi.reframe", "kernels.files.format.opening", "xarray", "pandas"),
    ]
)


def _enter(module: str, arguments: list[str], folder: str, streams: list[str]) -> None:
    """What an interpreter does that starts in ``folder`` with these streams; both are UTF-8."""
    os.chdir(folder)
    for number, (name, mode) in enumerate(((os.devnull, "r"), (streams[0], "w"), (streams[1], "w"))):
        with open(name, mode) as file:
            os.dup2(file.fileno(), number)
    sys.stdin = open(0, closefd=False)
    for number, name, errors in ((1, "stdout", "strict"), (2, "stderr", "backslashreplace")):
        file = open(number, "wb", buffering=0, closefd=False)
        stream = io.TextIOWrapper(file, "utf-8", errors, write_through=True)
        setattr(sys, name, stream)
    sys.argv = [module, *arguments]
    sys.modules.pop(module, None)  # or runpy warns that it was imported before
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def run(module: str, *arguments, cwd, timeout: float = 120) -> CompletedProcess[str]:
    """``python -m module arguments`` in the folder ``cwd``: status, and what it wrote on its two streams.

    Raises
    ------
    TimeoutError
        It was still running after ``timeout`` seconds, and was killed.
    """
    with tempfile.TemporaryDirectory() as place:
        streams = [os.path.join(place, name) for name in ("out", "err")]
        process = _SERVER.Process(target=_enter, args=(module, list(map(str, arguments)), str(cwd), streams))
        process.start()
        process.join(timeout)
        if process.is_alive():
            process.kill()
            process.join()
            raise TimeoutError(f"{module} {arguments} was still running after {timeout:g} s")
        said = [open(name, encoding="utf-8", errors="surrogateescape").read() for name in streams]
    return CompletedProcess([module, *arguments], process.exitcode, *said)
