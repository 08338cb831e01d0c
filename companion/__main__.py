"""``python -m companion``: the commands are in :mod:`companion.cli`.

They are imported within the reach of ``except``: Ctrl-C and SIGTERM end in a sentence from the first line on.
"""

import os
import signal
import sys
import threading
from pathlib import Path

#: exit code -> how the program ended; those of the shell for SIGINT and SIGTERM
_ENDS = {130: "interrupted", 143: "terminated"}


class _Terminated(KeyboardInterrupt):
    """SIGTERM: whatever cleans up after Ctrl-C cleans up after it too."""


def _ignore_signals() -> None:
    """A second signal must not stop the cleaning up."""
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, signal.SIG_IGN)


def _terminate(number, frame) -> None:
    _ignore_signals()
    raise _Terminated


def _send_again(heard) -> None:
    """Python drops an exception in what takes an object down; a signal that came there is sent once more."""
    if heard.exc_type is None or not issubclass(heard.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(heard)
        return
    number = signal.SIGTERM if issubclass(heard.exc_type, _Terminated) else signal.SIGINT
    signal.signal(number, _terminate if number == signal.SIGTERM else signal.default_int_handler)
    timer = threading.Timer(0.01, os.kill, (os.getpid(), number))
    timer.daemon = True
    timer.start()


def _cause(error: BaseException | None) -> int:
    """143 if a SIGTERM led to ``error``, 130 if not: the command line library turns both into 130."""
    while error is not None:
        if isinstance(error, _Terminated):
            return 143
        error = error.__cause__ or error.__context__
    return 130


def _open_streams() -> None:
    """Give a closed standard stream the null device: the next file opened would get its number, and what children
    print."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number, which is this one
            os.set_inheritable(number, True)
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, mode, closefd=False))


def main() -> None:
    """Entry point."""
    try:
        signal.signal(signal.SIGTERM, _terminate)
        sys.unraisablehook = _send_again
        _open_streams()
        from companion.cli import app

        name = Path(sys.argv[0]).name  # the installed command, whose words a shell completes
        app(prog_name=name if name == "companion" else "python -m companion")
        code: int | str | None = 0
    except KeyboardInterrupt as error:
        code = _cause(error)
    except SystemExit as end:
        code = _cause(end) if end.code == 130 else end.code
    except ImportError as error:
        from companion.extras import sentence

        said = str(error).startswith("NUMBA_DISABLE_JIT") or "supercomputers-rerun[" in str(error)
        reason = str(error) if said else sentence(error.name)
        if reason is None:
            raise
        code = f"companion: {reason}"  # sys.exit says it, with status 1
    _ignore_signals()  # the end is decided
    if isinstance(code, int) and code in _ENDS:
        try:
            print(f"companion: {_ENDS[code]}; no unfinished file is left", file=sys.stderr, flush=True)
        except (OSError, ValueError):  # nobody reads it any more
            pass
    sys.exit(code)


if __name__ == "__main__":
    main()
