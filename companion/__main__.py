"""``python -m companion``: the commands are in :mod:`companion.cli`."""

import signal
import sys
from pathlib import Path


def main() -> None:
    """Entry point; SIGTERM ends a command as Ctrl-C does, through every ``finally``."""
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    from companion.cli import app

    name = Path(sys.argv[0]).name  # the installed command, whose words a shell completes
    app(prog_name=name if name == "companion" else "python -m companion")


if __name__ == "__main__":
    main()
