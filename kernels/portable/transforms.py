"""Spectral transforms from one block of memory, which has what a plan of ``kernels.spectral`` keeps in many arrays.

A block is words of 64 bits: where its entries are, the entries, then zeros in which compiled code works.  An entry is a
table, or what one transform is given (``spectral.transforms.Call``): sizes, and where its own tables are.  These places
are bytes from the beginning of the block until :func:`settle` makes addresses of them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import carray

from kernels.runtime.jit import kernel
from kernels.runtime.pages import LINE
from kernels.runtime.vector import LANES, address, place_at
from kernels.spectral import Plan
from kernels.spectral.functions import LegendreTables
from kernels.spectral.legendre import coefficients
from kernels.spectral.rows import Lengths
from kernels.spectral.tasks import Buffer, Rows
from kernels.spectral.transforms import Call, direct_legendre, direct_rows, inverse_legendre, inverse_rows

#: Fields of one transform of few: pairs with two lanes, which have no code for one.
GROUP = 2 if LANES == 2 else 1
_WORD = 8  # bytes
#: Words of a block: how many places there are, the list of their words, the tables of Legendre functions; then entries.
_PLACES, _LISTED, _FACTORS, _OFFSET, _TERMS, _HEAD = range(6)


@dataclass(eq=False)
class Part:
    """A piece of a block: words, of which a part stands for its place, or so many zeros."""

    words: list[Any] | np.ndarray
    zeros: int = 0
    at: int = 0  # where it begins, words


class Block:
    """Collects the entries; :meth:`words` is the block."""

    def __init__(self, plan: Plan):
        self._plan = plan
        self._arrays: list[np.ndarray] = []  # whose addresses stay theirs until the block is made
        self._parts: dict[tuple[int, int], Part] = {}  # by address and size
        self._entries: list[Part] = []

    def table(self, array: np.ndarray) -> int:
        """Number of the entry of an array, float64 or int64."""
        return self._entry(self._part(array))

    def space(self, size: int) -> int:
        """Number of the entry of so many zeros."""
        return self._entry(Part([], size))

    def transform(self, direct: bool, fields: int, power: int = 0) -> int:
        """Number of the entry of a transform; ``power`` of ``cos φ`` is divided out, see ``kernels.spectral.winds``."""
        call, _ = self._plan._call(direct, fields, power, 1)
        zeros = {each.ctypes.data for each in (call.tables.factors, call.buffer.values, call.scratch, call.work)}
        words: list[Any] = []
        for each in _flat(call):
            if isinstance(each, np.ndarray):
                words += [self._part(each, each.ctypes.data in zeros), *each.shape]
            else:
                words.append(int(each))
        return self._entry(Part(words))

    def _entry(self, part: Part) -> int:
        self._entries.append(part)
        return _HEAD + len(self._entries) - 1

    def _part(self, array: np.ndarray, zeros: bool = False) -> Part:
        key = array.ctypes.data, array.size
        if key not in self._parts:
            self._arrays.append(array)
            self._parts[key] = Part([], array.size) if zeros else Part(array.view(np.int64).ravel())
        return self._parts[key]

    def words(self) -> tuple[np.ndarray, int]:
        """How the block begins, int64, and how many words it has."""
        tables = self._plan._tables
        factors, offset = self._part(tables.factors, zeros=True), self._part(tables.offset)
        listed = Part([])
        head = Part([0, listed, factors, offset, tables.factors.shape[1], *self._entries])
        parts = dict.fromkeys([head, *self._entries, *self._parts.values()])
        places = [(part, i) for part in parts for i, word in enumerate(part.words) if isinstance(word, Part)]
        listed.words, head.words[_PLACES] = [0] * len(places), len(places)
        end = 0
        for part in sorted([*parts, listed], key=lambda part: (part is not head, part.zeros > 0)):
            part.at = end
            end += -(-(len(part.words) + part.zeros) * _WORD // LINE) * LINE // _WORD
        listed.words = [part.at + i for part, i in places]
        begin = min(part.at for part in parts if part.zeros)
        found = np.zeros(begin, np.int64)
        for part in (*parts, listed):
            known = [_WORD * word.at if isinstance(word, Part) else word for word in part.words]
            found[part.at :][: len(known)] = known
        return found, end


def _flat(arguments: Any) -> Iterator[Any]:
    """Arrays and numbers out of tuples of either."""
    for each in arguments:
        if isinstance(each, tuple | list):
            yield from _flat(each)
        else:
            yield each


@kernel
def settle(block, reals, truncation):
    """Make addresses of all places, and compute the tables of the Legendre functions.

    ``block`` (int64) as :class:`Block` has it, here and below; ``reals`` is any array of float64; ``truncation`` is the
    plan's.
    """
    base, count, listed = block.ctypes.data, block[_PLACES], block[_LISTED] // _WORD
    for i in range(count):
        block[block[listed + i]] += base
    offset = carray(place_at(block[_OFFSET], block), (truncation + 1,))
    coefficients(truncation, offset, entry(block, _FACTORS, reals, (5, block[_TERMS])))


@kernel(inline=True)
def entry(block, number, like, shape):
    """The entry ``number`` of ``block`` as an array of this ``shape``, of the type of ``like``."""
    return carray(place_at(block[number], like), shape)


@kernel(inline=True)
def complexes(reals, shape):
    """complex128 of this shape where ``reals`` (float64, flat) has real and imaginary parts in turn."""
    return carray(address(reals[:2].view(np.complex128)), shape)


@kernel(inline=True)
def _line(words, i, like):
    """The array of one dimension at place ``i`` of ``words``, of the type of ``like``; and the next place."""
    return carray(place_at(words[i], like), (words[i + 1],)), i + 2


@kernel(inline=True)
def _table(words, i, like):
    """The array of two dimensions at place ``i`` of ``words``, of the type of ``like``; and the next place."""
    return carray(place_at(words[i], like), (words[i + 1], words[i + 2])), i + 3


@kernel
def _call(words, reals):
    """The ``Call`` of an entry of :meth:`Block.transform`; ``reals`` is any array of float64."""
    factors, i = _table(words, 0, reals)
    offset, i = _line(words, i, words)
    squares, i = _line(words, i, reals)
    rows, i = words[i], i + 1
    first_row, i = _line(words, i, words)
    begins, i = _table(words, i, words)
    seeds, i = carray(place_at(words[i], reals), (words[i + 1], words[i + 2], words[i + 3])), i + 4
    tables = LegendreTables(factors, offset, squares, rows, first_row, begins, seeds)
    columns, i = _line(words, i, words)
    extra, i = words[i], i + 1
    lanes, i = _line(words, i, words)
    fields, i = words[i], i + 1
    where, i = _table(words, i, words)
    scales, i = _table(words, i, reals)
    info, i = _table(words, i, words)
    roots, i = _line(words, i, reals)
    longest, i = words[i], i + 1
    space, i = _line(words, i, reals)
    places, i = _line(words, i, words)
    counts, i = _line(words, i, words)
    buffer, i = Buffer(space, places, counts, words[i] != 0), i + 1
    scratch, i = _table(words, i, reals)
    work, i = _table(words, i, reals)
    lengths = Lengths(info, roots, longest)
    return Call(tables, columns, extra, lanes, fields, Rows(where, scales), lengths, buffer, scratch, work, words[i])


@kernel
def inverse(block, number, fields, spectra, values):
    """``fields`` inverse transforms by the entry ``number`` of ``block``.

    ``spectra`` are complex128 (fields, coefficients), ``values`` float64, flat: field after field.
    """
    call, grid = _call(entry(block, number, block, (1,)), values), values.reshape((fields, values.size // fields))
    for first in range(0, fields, call.fields):
        inverse_legendre(np.int64(0), np.int64(1), call, spectra, grid, first)
        inverse_rows(np.int64(0), np.int64(1), call, spectra, grid, first)


@kernel
def direct(block, number, fields, values, spectra):
    """``fields`` direct transforms by the entry ``number`` of ``block``; ``values``, ``spectra`` as for the inverse."""
    call, grid = _call(entry(block, number, block, (1,)), values), values.reshape((fields, values.size // fields))
    for first in range(0, fields, call.fields):
        direct_rows(np.int64(0), np.int64(1), call, spectra, grid, first)
        direct_legendre(np.int64(0), np.int64(1), call, spectra, grid, first)
