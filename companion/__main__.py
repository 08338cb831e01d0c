"""``python -m companion``: the commands are in :mod:`companion.cli`."""

import signal
import sys
from pathlib import Path


def main() -> None:
    """Entry point; SIGTERM ends a command as Ctrl-C does, through every ``finally``, and both say so by its status."""
    stopped: list[int] = []

    def stop(number, frame):
        stopped.append(number)
        raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(128 + number)

    signal.signal(signal.SIGTERM, stop)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # a shell may let it be ignored
        signal.signal(signal.SIGINT, stop)
    from companion.cli import app

    name = Path(sys.argv[0]).name  # the installed command, whose words a shell completes
    try:
        app(prog_name=name if name == "companion" else "python -m companion")
    except SystemExit as end:
        raise SystemExit(128 + stopped[0] if stopped else end.code) from None


if __name__ == "__main__":
    main()
