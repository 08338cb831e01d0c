"""Gaussian grids: full, classic reduced and octahedral."""

import functools
import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from kernels.contract import require_range
from kernels.runtime.arrays import require_array
from kernels.spectral.gauss import half_nodes

#: Largest number of latitudes between pole and equator that a grid may have.
LARGEST = 8000
#: Most points on a row.
LONGEST = 8 * LARGEST


@functools.cache
def classic_rows() -> dict[int, tuple[int, ...]]:
    """Row lengths from pole to equator of every classic reduced grid, by number of rows."""
    text = (Path(__file__).parent / "classic_rows.txt").read_text()
    words = " ".join(line for line in text.splitlines() if not line.startswith("#")).split()
    rows: dict[int, list[int]] = {}
    for word in words:
        if word.startswith("N"):
            current = rows[int(word[1:])] = []
        else:
            length, _, count = word.partition("*")
            current += [int(length)] * int(count or 1)
    return {n: tuple(lengths) for n, lengths in rows.items()}


@dataclass(frozen=True)
class Grid:
    """A Gaussian grid with ``2N`` rows from north to south, each starting at longitude 0.

    Points are numbered along the rows, north to south; a row of ``n`` points has longitudes
    ``2π i / n``.
    """

    name: str  # as asked for: "N640", "O1280", "F400"
    N: int  # rows between pole and equator
    latitudes: np.ndarray = field(repr=False)  # degrees, 2N, north to south
    weights: np.ndarray = field(repr=False)  # Gaussian weights, 2N, sum 2
    pl: np.ndarray = field(repr=False)  # points on each row, int64, 2N, as many north as south of the equator

    def __post_init__(self):
        require_range("rows between pole and equator", self.N, 1, LARGEST)
        for name, dtype in (("latitudes", np.float64), ("weights", np.float64), ("pl", np.int64)):
            array = require_array(f"{name} of grid {self.name}", getattr(self, name), dtype, (2 * self.N,))
            if array.flags.writeable:  # nobody changes a grid on which a plan has been made
                array = array.copy()
                array.flags.writeable = False
                object.__setattr__(self, name, array)
        if not 1 <= self.pl.min() <= self.pl.max() <= LONGEST:
            raise ValueError(f"grid {self.name} has rows of {self.pl.min()} … {self.pl.max()}, not 1 … {LONGEST}")
        if (self.pl != self.pl[::-1]).any():
            raise ValueError(f"grid {self.name} has unlike rows north and south of the equator; give mirror images")
        if (np.diff(self.pl[: self.N]) < 0).any():  # a wavenumber has a first row, and all from there on
            raise ValueError(f"grid {self.name} has rows that become shorter towards the equator; give none")
        latitudes, weights = _gaussian(self.N)
        if not (np.allclose(self.latitudes, latitudes, 0, 1e-9) and np.allclose(self.weights, weights, 0, 1e-9)):
            raise ValueError(f"grid {self.name} has other latitudes or weights than Gauss's; take those of F{self.N}")

    def __repr__(self) -> str:
        kind = "full" if self.full else "reduced"
        lengths = f"{self.pl[0]} to {self.pl.max()}" if kind == "reduced" else self.pl[0]
        return f"Grid {self.name}: {kind}, {2 * self.N} rows of {lengths} points, {self.points} in all"

    @functools.cached_property
    def points(self) -> int:
        """Number of grid points."""
        return int(self.pl.sum())

    @property
    def full(self) -> bool:
        """Whether all rows have the same length."""
        return bool((self.pl == self.pl[0]).all())

    @functools.cached_property
    def starts(self) -> np.ndarray:
        """Index of the first point of each row, int64, 2N."""
        return np.concatenate([[0], np.cumsum(self.pl)[:-1]]).astype(np.int64)

    def longitudes(self, row: int) -> np.ndarray:
        """Longitudes of one row, degrees."""
        n = int(self.pl[row])
        return 360.0 * np.arange(n) / n

    def coordinates(self) -> tuple[np.ndarray, np.ndarray]:
        """Latitude and longitude of every point, radians, each float64 of ``points``."""
        mu = np.repeat(np.radians(self.latitudes), self.pl)
        index = np.arange(self.points) - np.repeat(self.starts, self.pl)
        return mu, 2 * np.pi * index / np.repeat(self.pl, self.pl)


def _lengths(name: str) -> tuple[int, tuple[int, ...]]:
    found = re.fullmatch(r"([FNO])([1-9][0-9]*)", name) if isinstance(name, str) else None
    if not found:
        raise ValueError(
            f"grid name {name!r} is unknown; use F, N or O and the number of rows between pole and "
            "equator, as in 'F400', 'N640', 'O1280'"
        )
    kind, n = found[1], int(found[2])
    require_range("rows between pole and equator", n, 1, LARGEST)
    if kind == "F":
        return n, (4 * n,) * n
    if kind == "O":
        return n, tuple(4 * i + 20 for i in range(n))
    rows = classic_rows()
    if n not in rows:
        known = ", ".join(f"N{k}" for k in rows)
        raise ValueError(
            f"grid name {name!r}: the rows of this classic reduced grid are not in the table; choose "
            f"one of {known}, or an octahedral (O{n}) or full (F{n}) grid"
        )
    return n, rows[n]


def _gaussian(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Latitudes (degrees, north to south) and weights of ``2n`` rows."""
    mu, _, cosine, _, weight = half_nodes(2 * n)
    latitude = np.degrees(np.arctan2(mu, cosine))
    return np.concatenate([latitude, -latitude[::-1]]), np.concatenate([weight, weight[::-1]])


@functools.lru_cache(maxsize=16)
def grid(name: str) -> Grid:
    """The named Gaussian grid.

    >>> grid("N32")
    Grid N32: reduced, 64 rows of 20 to 128 points, 6114 in all

    ``"F400"`` has ``4N`` points on each of its ``2N`` rows; ``"O1280"`` has ``20 + 4i`` points on the
    i-th row from a pole (``4N(N + 9)`` in all); ``"N640"`` is a classic reduced grid, whose row
    lengths are data (``classic_rows.txt``).
    ``ValueError`` if the name is not a letter F, N or O with a number, or the classic grid is not tabulated.
    """
    n, half = _lengths(name)
    return Grid(name, n, *_gaussian(n), np.array(half + half[::-1], dtype=np.int64))
