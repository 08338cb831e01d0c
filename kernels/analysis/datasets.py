"""Files between the steps: records of words in memory, in a file system in memory, in the page cache or past it."""

import threading
from pathlib import Path

import numpy as np

from kernels.files.filesystem import ALIGNMENT, BlockFile, page_aligned


def record_bytes(words: int) -> int:
    """Bytes of a record on the device: whole blocks."""
    return -(-8 * words // ALIGNMENT) * ALIGNMENT


class Dataset:
    """One file of equal records.  Any thread may use it; ``moved`` counts bytes read and written."""

    def __init__(self, folder: Path, name: str, place: str, records: int, words: int):
        self.records, self.words, self.moved = records, words, [0, 0]
        size = record_bytes(words)
        self._file = BlockFile(folder / name, place, records, size)
        self._buffer = page_aligned((1, size // 8))
        self._lock = threading.Lock()

    def put(self, record: int, values: np.ndarray) -> None:
        """Write one record; shorter ones are filled with zeros."""
        flat = np.ravel(values)
        with self._lock:
            self._buffer[0, : flat.size] = flat
            self._buffer[0, flat.size :] = 0.0
            self._file.write(record, memoryview(self._buffer[0]).cast("B"))
            self.moved[1] += self._buffer.nbytes

    def get(self, record: int, *shape: int) -> np.ndarray:
        """Read one record; the numbers that ``shape`` asks for, or all."""
        with self._lock:
            self._file.read(record, memoryview(self._buffer[0]).cast("B"))
            self.moved[0] += self._buffer.nbytes
            count = int(np.prod(shape)) if shape else self.words
            found = self._buffer[0, :count].copy()
        return found.reshape(shape) if shape else found

    def close(self) -> None:
        """Let the file go."""
        self._file.close()
