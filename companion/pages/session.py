"""What commands of the page *Run it yourself* print, executed one after the other while the book is built."""

import os
import subprocess
import sys
import tempfile
from functools import cache
from html import escape
from pathlib import Path

from companion.figures.rendering import Shown

_ROOT = Path(__file__).parents[2]
#: Lines of an output that the page shows.
_LINES = 14


@cache
def _folder() -> tempfile.TemporaryDirectory:
    """Where the commands run; removed when the program ends."""
    return tempfile.TemporaryDirectory(prefix="session-")


def _named(command: str, folder: Path) -> list[str]:
    """The arguments of a command; ``records/p5plus-smt*.json`` stands for the newest file of that name."""
    arguments: list[str] = []
    for word in command.split():
        found = sorted(folder.glob(word)) if "*" in word else []
        arguments.append(str(found[-1].relative_to(folder)) if found else word)
    return arguments


def ran(*commands: str, lines: int = _LINES) -> Shown:
    """Commands of ``python -m companion`` and the first ``lines`` lines that each prints.

    They run in one folder, which the next call finds as it was left. ``RuntimeError`` where a command ended with a
    status above 1, with what it said; 1 is a finding, as of a record that does not belong to the book.
    """
    folder, parts = Path(_folder().name), []
    for command in commands:
        arguments = _named(command, folder)
        done = subprocess.run(
            [sys.executable, "-m", "companion", *arguments], cwd=folder, capture_output=True, text=True, check=False,
            env=os.environ | {"PYTHONPATH": str(_ROOT), "COLUMNS": "100"},
        )  # fmt: skip
        if done.returncode > 1:
            raise RuntimeError(f"python -m companion {command}: status {done.returncode}. {done.stderr.strip()}")
        printed = done.stdout.replace(f"{folder}/", "").rstrip().split("\n")
        more = [f"… {len(printed) - lines} more lines"] if len(printed) > lines else []
        parts.append("\n".join([f"$ python -m companion {' '.join(arguments)}", *printed[:lines], *more]))
    text = "\n\n".join(parts)
    return Shown(f'<pre class="rerun-plain rerun-session" tabindex="0">{escape(text)}</pre>', text)
