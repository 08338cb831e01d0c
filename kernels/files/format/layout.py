"""The NHT-1 solution file: a serial file of U that any machine can read, and the quantities of the benchmark.

    byte 0        header, 4096 bytes
    byte 4096     dump 0, dump 1, …  (NS/IW dumps of U, each written at the end of IW time steps)
    after them    trailer: JSON, then 24 bytes that close the file

Everything is little-endian.  U is 5×N×N×N IEEE 754 double precision with the component running
fastest, ``u[k][j][i][m]`` in C order, u(m,i,j,k) in Fortran, or five arrays one after the other,
``u[m][k][j][i]``; the header says which.  The header starts with 8 characters
and an endianness mark; the rest is one line of JSON padded with spaces, so that both a person and a
program of a few lines can read it.  With ``records = "k-plane"`` each k-plane is a Fortran
sequential unformatted record: its length in bytes as a 4-byte integer before and after the data.

The trailer holds the time step and the CRC-32 (as zlib computes it) of every dump, over the words of
U alone, so that two files with the same solution carry the same numbers.  A file without a trailer is not finished.

Symbols are the report's (Fineberg, RND-93-007, section 2.3): N points in each direction, NS time steps, IW steps
between two writes, w = 8 bytes a word, T_T elapsed time with writing.
"""

import json
import os
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kernels.contract import require_range

try:
    from zlib_ng.zlib_ng import crc32
except ImportError:  # a system that has no wheel of it: the same numbers, more slowly
    from zlib import crc32

__all__ = ["COMPONENTS", "DTYPE", "WORD", "Layout", "Solution", "SolutionError", "checksum"]
__all__ += ["dump_bytes", "plain", "require_checksums", "require_schedule", "solution_bytes"]
__all__ += ["transfer_rate"]

HEADER_BYTES = 4096
MAGIC = b"NHT-1 U\n"
END = b"\nEND U\r\n"
MARK = 0x0102030405060708
VERSION = 1
DTYPE = np.dtype("<f8")
COMPONENTS = 5  # conserved variables a grid point
WORD = 8  # bytes of a 64-bit word
_ORDERS = ("u[k][j][i][m], m fastest", "u[m][k][j][i], i fastest")  # one array, five arrays
_TAIL = struct.Struct("<QII8s")  # bytes of JSON, its CRC-32, zero, END


def require_schedule(NS: int, IW: int) -> int:
    """Number of dumps NS/IW.

    ``ValueError`` if IW is outside 1 … NS, or does not divide NS (the last steps would not be in the file).
    """
    require_range("NS", NS, 1, 10**9, "time steps")
    require_range("IW", IW, 1, NS, "time steps")
    if NS % IW:
        raise ValueError(
            f"IW = {IW} does not divide NS = {NS}, so the last {NS % IW} steps would not be "
            "written; choose an IW that divides NS"
        )
    return NS // IW


def dump_bytes(N: int) -> int:
    """Bytes of one dump of U: 5 w N³."""
    return COMPONENTS * WORD * N**3


def solution_bytes(N: int, NS: int, IW: int) -> int:
    """Bytes of all dumps: 5 w N³ NS/IW."""
    return dump_bytes(N) * require_schedule(NS, IW)


def transfer_rate(N: int, NS: int, IW: int, T_T: float) -> float:
    """R_IO = 5 w N³ (NS/IW) / T_T, bytes per second.

    The rate of the whole application, computing included; not that of the disk.
    """
    return solution_bytes(N, NS, IW) / T_T


class SolutionError(ValueError):
    """A solution file that cannot be used; the message says which and why."""


@dataclass(frozen=True)
class Layout:
    """Sizes and places in one solution file."""

    N: int
    NS: int
    IW: int
    records: bool = False  # k-planes as Fortran records
    arrays: bool = False  # five arrays of three dimensions one after the other, not one of four

    def __post_init__(self):
        require_range("N", self.N, 1, 2000, "grid points")
        require_schedule(self.NS, self.IW)

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
    def dump_bytes(self) -> int:
        """Bytes of one dump in the file, record marks included."""
        return dump_bytes(self.N) + (8 * self.N if self.records else 0)

    def offset(self, index: int) -> int:
        """Byte at which dump ``index`` starts."""
        return HEADER_BYTES + index * self.dump_bytes

    @property
    def trailer_offset(self) -> int:
        """Byte at which the trailer starts."""
        return self.offset(self.dumps)

    def header(self) -> bytes:
        """The first 4096 bytes."""
        facts = {"format": "NHT-1 solution", "version": VERSION, "N": self.N, "NS": self.NS, "IW": self.IW}
        facts |= {"dumps": self.dumps, "word": DTYPE.str, "order": _ORDERS[self.arrays]}
        facts |= {"records": "k-plane" if self.records else "none"}
        facts |= {"header_bytes": HEADER_BYTES, "dump_bytes": self.dump_bytes}
        head = MAGIC + struct.pack("<Q", MARK) + json.dumps(facts).encode("ascii")
        return head.ljust(HEADER_BYTES - 1) + b"\n"

    @property
    def steps(self) -> list[int]:
        """Time step of every dump."""
        return list(range(self.IW, self.NS + 1, self.IW))

    def trailer(self, checksums: list[int]) -> bytes:
        """What closes a file whose dumps have these CRC-32s."""
        text = json.dumps({"steps": self.steps, "crc32": checksums}).encode("ascii")
        return text + _TAIL.pack(len(text), zlib.crc32(text), 0, END)

    @property
    def total_bytes(self) -> int:
        """Upper bound of the whole file's size (the trailer's JSON varies by a few digits)."""
        return self.trailer_offset + 512 + 32 * self.dumps


def _parse_header(path: Path, head: bytes) -> Layout:
    if head[:8] == MAGIC[::-1] or head[8:16] == struct.pack(">Q", MARK):
        raise SolutionError(f"{path} has the wrong endianness; swap the bytes of every 8-byte word")
    try:
        facts = json.loads(head[16:])
        sizes = (facts[name] for name in ("N", "NS", "IW"))
        layout = Layout(*sizes, facts["records"] == "k-plane", facts["order"] == _ORDERS[1])
        if head == layout.header():
            return layout
    except (LookupError, TypeError, ValueError):
        pass
    raise SolutionError(f"{path} is not an NHT-1 solution file, or its header is truncated or damaged; copy it again")


class Solution:
    """A finished solution file, opened for reading plane by plane; it closes with this object.

    ``layout`` has its sizes, ``crc32`` the checksum of each dump as it is stored.  ``SolutionError`` if it is
    truncated, damaged, of the wrong endianness, or no solution.
    """

    def __init__(self, path):
        self.path, size = Path(path), os.path.getsize(path)
        data = np.memmap(self.path, np.uint8, "r") if size else np.zeros(0, np.uint8)
        self._data, self.layout = data, _parse_header(self.path, bytes(data[:HEADER_BYTES]))
        begin = self.layout.trailer_offset
        text, tail = bytes(data[begin : -_TAIL.size]), bytes(data[-_TAIL.size :])
        if size < begin + _TAIL.size or tail != _TAIL.pack(len(text), zlib.crc32(text), 0, END):
            raise SolutionError(f"{path} is truncated, was never finished, or has a damaged trailer; copy it again")
        self.crc32: list[int] = json.loads(text)["crc32"]

    def planes(self, index: int):
        """Yield the N k-planes of dump ``index``, float64 (N, N, 5) as ``[j, i, m]``, C-contiguous."""
        layout, shape = self.layout, self.layout.shape
        data = self._data[layout.offset(index) : layout.offset(index + 1)]
        if layout.arrays:
            yield from (np.stack(parts, -1) for parts in data.view(DTYPE).reshape(shape[3], *shape[:3]).swapaxes(0, 1))
        elif not layout.records:
            yield from data.view(DTYPE).reshape(shape)
        else:
            mark = np.frombuffer(struct.pack("<I", layout.plane_bytes), np.uint8)
            for k, record in enumerate(data.reshape(layout.N, -1)):
                if (record[:4] != mark).any() or (record[-4:] != mark).any():
                    raise SolutionError(f"{self.path} has a damaged record mark at dump {index}, k-plane {k}")
                yield np.frombuffer(record[4:-4].tobytes(), DTYPE).reshape(shape[1:])

    def dump(self, index: int) -> np.ndarray:
        """Dump ``index``, float64 (N, N, N, 5) as [k, j, i, m]."""
        return np.array(list(self.planes(index)))


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


def require_checksums(solution: Solution) -> None:
    """``SolutionError`` unless every dump of an opened solution has the checksum stored with it."""
    for index, (step, expected) in enumerate(zip(solution.layout.steps, solution.crc32, strict=True)):
        found = checksum(solution.planes(index))
        if found != expected:
            raise SolutionError(
                f"{solution.path} is damaged: the dump of step {step} has CRC-32 "
                f"{found:08x} where {expected:08x} was stored; write or copy it again"
            )
