"""Which machine the tables of ``faults`` were made on."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def this_host() -> str:
    """The machine in one line; asked in a process of its own, because tools that fork must not have our code loaded."""
    command = [sys.executable, "-c", "from companion.host import machine; print(machine.line())"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
