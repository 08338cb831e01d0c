"""What goes to the terminal: one function prints, and nothing in it moves the cursor or hides what stands there.

Arguments, names of files and texts of foreign files may hold control characters.  They are shown as Python writes
them, ``\\x1b`` for instance; so are characters that the terminal's encoding does not have.
"""

import json
import re
import shutil
import sys
from collections.abc import Collection, Iterable, Sequence
from io import StringIO
from typing import Any

#: Control characters, marks that turn the direction of writing, line ends of Unicode, bytes of names that are no text.
HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def plain(text: str) -> str:
    """``text`` with every control character written out."""
    return HIDDEN.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def say(*lines: str, err: bool = False) -> None:
    """Print each of ``lines`` as one line, on standard output or standard error.

    ``OSError`` where it cannot be written; carries the name of the stream.
    """
    stream = sys.stderr if err else sys.stdout
    encoding = stream.encoding or "utf-8"
    text = "".join(f"{plain(line)}\n" for line in lines)
    try:
        print(text.encode(encoding, "backslashreplace").decode(encoding), end="", file=stream, flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, "standard error" if err else "standard output") from error


def is_terminal() -> bool:
    """Whether someone reads standard output as it comes, and not a file or another program."""
    return sys.stdout.isatty()


def say_table(heads: Sequence[str], rows: Iterable[Sequence[str]], numbers: Collection[str] = ()) -> None:
    """Print a table for a terminal, as wide as it is; columns named in ``numbers`` are set to the right."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for head in heads:
        table.add_column(Text(plain(head)), justify="right" if head in numbers else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(plain(cell)) for cell in row))
    drawn = StringIO()
    Console(file=drawn, width=shutil.get_terminal_size().columns).print(table)
    say(*(line.rstrip() for line in drawn.getvalue().splitlines()))


def say_json(value: Any) -> None:
    """Print ``value`` as JSON of ASCII characters, which holds no control character but line ends."""
    say(*json.dumps(value, indent=1, allow_nan=False).split("\n"))
