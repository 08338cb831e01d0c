"""Fourier transforms of latitude rows, eight at a time in SIMD lanes: lengths, tables and Bluestein's chirp.

A row north of the equator and its mirror image have the same length, so they travel as real and
imaginary part of one complex row; odd lengths then cost nothing extra.  Lanes are eight fields of one row
pair, or eight neighbouring row pairs of one field.  Lengths with prime factors up to ``LARGEST_RADIX`` go
through Stockham passes (``fourier_passes``), long ones of them in two steps (``fourier_rows``); a larger prime factor
asks for Bluestein's algorithm.

Source: L. Bluestein, IEEE Trans. Audio Electroacoust. 18, 451 (1970).
"""

from typing import NamedTuple

import numpy as np

from kernels.runtime.jit import kernel
from kernels.runtime.registers import HERE
from kernels.runtime.vector import LANES, spread, store
from kernels.spectral.fourier_passes import ELEMENT, LARGEST_RADIX, element, multiply, put_element, root, stockham

FACTORS = 20  # room for the radices of one length
# neighbouring wavenumbers of a long row, 128 bytes of every field: single lines leave for memory at half the speed
GROUP = 16
# elements of a column of the first step that fit, measured: 40 of 48 KiB where vectors have 512 bits, 20 of 32 KiB on a
# processor without
COLUMN = 80 if HERE.lanes >= LANES else 40
SHORT = 192  # elements up to which a row stays in the first-level cache
# columns of ``FourierTables.info``: the length; where its roots of unity start in ``table``, doubles; number of the
# length of its convolution, and where chirp and filter start; numbers of both lengths of two steps, and where the
# factors between them start
N, START, PARTNER, CHIRP, FIRST, SECOND, TWIST = range(7)


def factorise(n: int) -> list[int]:
    """Radices of the passes: eights first (a pass costs memory traffic, so few passes), then the rest."""
    twos = (n & -n).bit_length() - 1
    n >>= twos
    eights, left = divmod(twos, 3)
    if left == 1 and eights:
        eights, left = eights - 1, 4
    radices = [8] * eights + {0: [], 1: [2], 2: [4], 4: [4, 4]}[left]
    p = 3
    while n > 1:
        while n % p == 0:
            radices.append(p)
            n //= p
        p += 2
    return radices


def smooth(n: int) -> int:
    """Smallest ``2ᵃ 3ᵇ 5ᶜ >= n``."""
    best = 1 << (n - 1).bit_length()
    five = 1
    while five < best:
        three = five
        while three < best:
            two = three
            while two < n:
                two *= 2
            best = min(best, two)
            three *= 3
        five *= 5
    return best


def roots(n: int) -> np.ndarray:
    """``exp(2πi j / n)``, float64[n, 2], each component to the last bit or nearly so."""
    j = np.arange(n)
    eighth = (8 * j + n) // (2 * n)  # quadrant, so that the angle stays within ±π/4
    angle = (np.pi / (2 * n)) * (4 * j - eighth * n)
    c, s = np.cos(angle), np.sin(angle)
    turn = eighth % 4
    real = np.choose(turn, [c, -s, -c, s])
    imag = np.choose(turn, [s, c, -s, -c])
    return np.stack([real, imag], axis=1)


def split(n: int) -> tuple[int, int]:
    """``n₁, n₂`` with ``n₁ n₂ = n`` for a transform in two steps; ``0, 0`` if one step is as good.

    The second step takes at most two passes.
    """

    def cost(n1, n2):
        passes = len(factorise(n1)) + len(factorise(n2))
        overlap = -(-n1 // GROUP) * GROUP / n1
        # columns of both steps should fit the first-level cache, the first ones with a copy
        excess = max(0.0, n1 / COLUMN - 1.0) + max(0.0, n2 / 20 - 1.0)
        return passes * overlap + excess

    if n <= SHORT or max(factorise(n)) > LARGEST_RADIX:
        return 0, 0
    pairs = [(n1, n // n1) for n1 in range(GROUP, n // 2 + 1) if n % n1 == 0 and len(factorise(n // n1)) <= 2]
    return min(pairs, key=lambda pair: (cost(*pair), abs(pair[0] - pair[1])), default=(0, 0))


class FourierTables(NamedTuple):
    """What the transforms of a set of row lengths need, one after the other; ``info`` has the columns named above.

    ``PARTNER`` and ``CHIRP`` are -1 where Bluestein's algorithm is not needed, ``FIRST``, ``SECOND`` and ``TWIST``
    where one step is enough.
    """

    info: np.ndarray  # int64, (lengths, 7), in the order of the lengths
    radices: np.ndarray  # int64, (lengths, FACTORS), 0-terminated
    table: np.ndarray  # float64, flat: roots of unity, chirps and filters
    largest: int  # complex elements of a row with room for its convolution or for overlapping groups
    columns: int  # complex elements of the columns of both steps

    def numbers(self, lengths) -> np.ndarray:
        """Number of each of some of the ``lengths``, int64."""
        return np.searchsorted(self.info[:, N], lengths)


def fourier_tables(lengths) -> FourierTables:
    """Tables of row ``lengths`` and of those that their transforms go through."""
    own = sorted({int(n) for n in lengths})
    large = [n for n in own if n > 1 and max(factorise(n)) > LARGEST_RADIX]
    steps = {n: pair for n in own if (pair := split(n))[0]}
    every = sorted({*own, *(smooth(2 * n - 1) for n in large), *(m for pair in steps.values() for m in pair)})
    id = {n: i for i, n in enumerate(every)}
    info = np.full((len(every), 7), -1, dtype=np.int64)
    radices = np.zeros((len(every), FACTORS), dtype=np.int64)
    parts, size = [], 0
    for i, n in enumerate(every):
        here = [roots(n)]
        info[i, [N, START]] = n, size
        if n in large:
            m = smooth(2 * n - 1)
            info[i, [PARTNER, CHIRP]] = id[m], size + 2 * n
            here += _chirp(n, m)
        else:
            found = factorise(n)
            radices[i, : len(found)] = found
        if n in steps:
            n1, n2 = steps[n]
            info[i, [FIRST, SECOND, TWIST]] = id[n1], id[n2], size + 2 * n
            here.append(here[0][np.outer(np.arange(n2), np.arange(n1)).ravel()])
        parts += [part.ravel() for part in here]
        size += sum(part.size for part in here)
    largest = max([*every, *(-(-n1 // GROUP) * GROUP * n2 for n1, n2 in steps.values())])
    columns = max([GROUP, *(2 * n1 for n1, _ in steps.values())])
    return FourierTables(info, radices, np.concatenate(parts), largest, columns)


def _chirp(n: int, m: int) -> list[np.ndarray]:
    """``exp(iπ j² / n)``, and the spectrum of its conjugate as a filter of length ``m``."""
    j = np.arange(n)
    w = roots(2 * n)[j * j % (2 * n)]
    conjugate = np.zeros(m, dtype=complex)
    conjugate[:n] = w[:, 0] - 1j * w[:, 1]
    conjugate[m - n + 1 :] = conjugate[n - 1 : 0 : -1]
    spectrum = np.fft.ifft(conjugate)  # sign +, divided by m as the convolution needs
    return [w, spectrum.view(np.float64)]


@kernel
def _multiply_by(work, x, n, table, offset, swap):
    """Multiply the ``n`` elements at ``x`` of ``work`` by the numbers at ``offset`` of a ``table``, one by one;
    ``swap`` exchanges the parts of the product."""
    for j in range(n):
        z = multiply(element(work, x + ELEMENT * j), root(table, offset + 2 * j))
        if swap:
            z = z[1], z[0]
        put_element(work, x + ELEMENT * j, z)


@kernel
def transform(work, x, y, id, info, radices, table):
    """``X_k = Σ_j x_j exp(2πi jk / n)`` of one row of eight lanes; the place of the result, ``x`` or ``y``.

    Parameters
    ----------
    work : address of float64
    x, y : int
        Places of the row and of scratch, each with room for ``FourierTables.largest`` elements, doubles.
    id : int
        Number of the length n.
    info : int64, (lengths, 7)
    radices, table : address of int64, address of float64
        See ``FourierTables``.
    """
    n, start, other, offset = info[id, N], info[id, START], info[id, PARTNER], info[id, CHIRP]
    if offset < 0:
        return stockham(work, x, y, n, 1, radices, FACTORS * id, table, start)
    m, start = info[other, N], info[other, START]
    _multiply_by(work, x, n, table, offset, False)
    for i in range(ELEMENT * n, ELEMENT * m, LANES):
        store(work, x + i, spread(0.0))
    a = stockham(work, x, y, m, 1, radices, FACTORS * other, table, start)
    b = y if a == x else x
    _multiply_by(work, a, m, table, offset + 2 * n, True)
    a = stockham(work, a, b, m, 1, radices, FACTORS * other, table, start)
    for j in range(n):
        z, w = element(work, a + ELEMENT * j), root(table, offset + 2 * j)
        put_element(work, a + ELEMENT * j, multiply((z[1], z[0]), w))
    return a
