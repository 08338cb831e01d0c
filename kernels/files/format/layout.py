"""The NHT-1 solution file: a serial file of U that any machine can read, and the quantities of the benchmark.

    byte 0        header of a NumPy file, padded to 4096 bytes
    byte 4096     dump 0, dump 1, …  (NS/IW dumps of U, each written at the end of IW time steps)
    after them    trailer: one line of JSON

``numpy.load(path, mmap_mode="r")`` reads it.  Everything is little-endian.  U is 5×N×N×N IEEE 754 double precision with
the component running fastest, ``u[k][j][i][m]`` in C order, u(m,i,j,k) in Fortran, or five arrays one after the other,
``u[m][k][j][i]``, or k-planes each of which is a Fortran sequential unformatted record: its length in bytes as a 4-byte
integer before and after the data.

The trailer holds N, NS, IW, which of the three it is, and the CRC-32 (as zlib computes it) of every dump, over the
words of U alone, so that two files with the same solution carry the same numbers.  A file without it is not finished.

Symbols are the report's (Fineberg, RND-93-007, section 2.3): N points in each direction, NS time steps, IW steps
between two writes, w = 8 bytes a word, T_T elapsed time with writing.
"""

import json
import struct
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.lib import format as npy

from supercomputers_rerun.kernels.contract import require_range

try:
    from zlib_ng.zlib_ng import crc32
except ImportError:  # a system that has no wheel of it: the same numbers, more slowly
    from zlib import crc32

__all__ = ["COMPONENTS", "DTYPE", "WORD", "Layout", "Solution", "SolutionError", "checksum", "dump_bytes", "plain"]

HEADER_BYTES = 4096
MAGIC = npy.magic(3, 0)  # a version whose broken headers NumPy does not try to mend
DTYPE = np.dtype("<f8")
COMPONENTS = 5  # conserved variables a grid point
WORD = 8  # bytes of a 64-bit word


def dump_bytes(N: int) -> int:
    """Bytes of one dump of U: 5 w N³."""
    return COMPONENTS * WORD * N**3


class SolutionError(ValueError):
    """A solution file that cannot be used; the message says which and why."""


@dataclass(frozen=True)
class Layout:
    """Sizes and places in one solution file.

    ``ValueError`` if IW is outside 1 … NS, or does not divide NS (the last steps would not be in the file).
    """

    N: int
    NS: int
    IW: int
    records: bool = False  # k-planes as Fortran records
    arrays: bool = False  # five arrays of three dimensions one after the other, not one of four

    def __post_init__(self):
        require_range("N", self.N, 1, 2000, "grid points")
        require_range("NS", self.NS, 1, 10**9, "time steps")
        require_range("IW", self.IW, 1, self.NS, "time steps")
        if self.NS % self.IW:
            raise ValueError(
                f"IW = {self.IW} does not divide NS = {self.NS}, so the last {self.NS % self.IW} steps would not be "
                "written; choose an IW that divides NS"
            )

    @property
    def dumps(self) -> int:
        """Number of dumps, NS/IW."""
        return self.NS // self.IW

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Of one dump: (k, j, i, m)."""
        return (self.N, self.N, self.N, COMPONENTS)

    @property
    def plane_bytes(self) -> int:
        """Bytes of one k-plane without record marks: 5 w N²."""
        return COMPONENTS * WORD * self.N**2

    @property
    def solution_bytes(self) -> int:
        """Bytes of U in all dumps: 5 w N³ NS/IW."""
        return self.dumps * dump_bytes(self.N)

    def offset(self, index: int) -> int:
        """Byte at which dump ``index`` starts."""
        return HEADER_BYTES + index * (dump_bytes(self.N) + (8 * self.N if self.records else 0))

    @property
    def trailer_offset(self) -> int:
        """Byte at which the trailer starts."""
        return self.offset(self.dumps)

    @property
    def dtype(self) -> np.dtype:
        """Of the file's array: a word, or a k-plane between its record marks."""
        marked = [("length", "<u4"), ("u", DTYPE, self.shape[1:]), ("again", "<u4")]
        return np.dtype(marked) if self.records else DTYPE

    def header(self) -> bytes:
        """The first 4096 bytes."""
        order = (self.N,) if self.records else (COMPONENTS, *self.shape[:3]) if self.arrays else self.shape
        facts = {"descr": npy.dtype_to_descr(self.dtype), "fortran_order": False, "shape": (self.dumps, *order)}
        head = MAGIC + struct.pack("<I", HEADER_BYTES - len(MAGIC) - 4) + repr(facts).encode("ascii")
        return head.ljust(HEADER_BYTES - 1) + b"\n"

    def trailer(self, checksums: list[int]) -> bytes:
        """What closes a file whose dumps have these CRC-32s."""
        return json.dumps(asdict(self) | {"crc32": checksums}).encode("ascii") + b"\n"

    @property
    def total_bytes(self) -> int:
        """Upper bound of the whole file's size (the trailer's JSON varies by a few digits)."""
        return self.trailer_offset + 512 + 32 * self.dumps


class Solution:
    """A finished solution file, opened for reading plane by plane; it closes with this object.

    ``layout`` has its sizes, ``crc32`` the checksum of each dump as it is stored.  ``SolutionError`` if it is
    truncated, damaged, or no solution.
    """

    def __init__(self, path):
        self.path = Path(path)
        try:
            with open(path, "rb") as file:
                if not (head := file.read(HEADER_BYTES)).startswith(MAGIC):
                    raise ValueError("it does not begin as one")
                self._data = npy.open_memmap(path, mode="r")
                file.seek(HEADER_BYTES + self._data.nbytes)
                facts = json.load(file)
            self.crc32 = facts.pop("crc32")
            self.layout = Layout(**facts)
            if head != self.layout.header() or len(self.crc32) != self.layout.dumps:
                raise ValueError("its header and its trailer do not fit each other")
        except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError) as error:
            raise SolutionError(
                f"{path} is no solution of NHT-1, or truncated, unfinished or damaged: {error}"
            ) from None

    def planes(self, index: int):
        """Yield the N k-planes of dump ``index``, float64 (N, N, 5) as ``[j, i, m]``, C-contiguous."""
        u, layout = self._data[index], self.layout
        if layout.records:
            if any((u[mark] != layout.plane_bytes).any() for mark in ("length", "again")):
                raise SolutionError(f"{self.path} has a damaged record mark in dump {index}")
            u = u["u"]
        for plane in np.moveaxis(u, 0, -1) if layout.arrays else u:
            yield np.ascontiguousarray(plane)

    def dump(self, index: int) -> np.ndarray:
        """Dump ``index``, float64 (N, N, N, 5) as [k, j, i, m]."""
        return np.array(list(self.planes(index)))

    def checksums(self) -> list[int]:
        """CRC-32 of each dump as it is found, which ``crc32`` should be."""
        return [checksum(self.planes(index)) for index in range(self.layout.dumps)]


def checksum(planes) -> int:
    """CRC-32 of a dump given plane by plane."""
    crc = 0
    for plane in planes:
        crc = crc32(np.ascontiguousarray(plane, DTYPE), crc)
    return crc


def plain(path: Path, layout: Layout, dumps) -> list[int]:
    """A whole solution file without record marks, one dump (float64 (N, N, N, 5)) after another; checksums of these."""
    sums = []
    with open(path, "wb") as file:
        file.write(layout.header())
        for u in dumps:
            file.write(np.ascontiguousarray(u, DTYPE).tobytes())
            sums.append(checksum([u]))
        file.write(layout.trailer(sums))
    return sums
