"""Other processes that load a file system: each makes, reads and removes small files until it is told to stop.

Each does so once at least, however soon it is told. They load no compiler and touch only a folder of their own, so
that what a measurement beside them feels is the file system and the processors, nothing else. A process that finds
its starter gone ends by itself.
"""

import os
from pathlib import Path

from kernels.files.processes import Processes

#: Sets of open, read or write, close of one small file: one that writes it, one that reads it.
SETS = 2
_TOGETHER = 50  # small files between two looks at the clock of the starter


def _make_read_remove(path: str, body: bytes) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(handle, body)
    finally:
        os.close(handle)
    handle = os.open(path, os.O_RDONLY)
    try:
        os.read(handle, len(body))
    finally:
        os.close(handle)
    os.unlink(path)


def _disturb(connection, folder: str, nbytes: int) -> None:
    body, sets = b"x" * nbytes, 0
    connection.send(0)
    try:
        while True:
            for number in range(_TOGETHER):
                _make_read_remove(f"{folder}/{number}", body)
            sets += SETS * _TOGETHER
            if connection.poll():  # a word, or the end of the starter
                break
        connection.recv()
        connection.send(sets)
    except (EOFError, BrokenPipeError):  # nobody listens any more
        pass
    except OSError as error:
        connection.send(f"{type(error).__name__}: {error}")


class Disturbers(Processes):
    """``count`` processes that storm small files of ``nbytes`` bytes, each in a folder of its own in ``folder``."""

    def __init__(self, folder: Path, count: int, nbytes: int):
        folders = [folder / f"others-{number}" for number in range(count)]
        for each in folders:
            each.mkdir(exist_ok=True)
        super().__init__(_disturb, [(str(each), nbytes) for each in folders])
        self.answers()

    def stop(self) -> int:
        """End them; sets of open, read or write, close that they did together.

        ``OSError`` if one of them could not go on.
        """
        try:
            self.send(None)
            answers = self.answers()
        finally:
            self.close()
        for answer in answers:
            if isinstance(answer, str):
                raise OSError(f"a process that loads the file system could not go on: {answer}")
        return sum(answers)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()
