"""What the problems of the Dirty Dozen Test start from, made once a size.

Sizes are ours, after run files of the test and AIPS Memo 85, which are not stored here: Memo 58 prints none but the
iterations of VTESS.  The data themselves are made: see ``array`` and ``sky``.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from supercomputers_rerun.kernels.imaging import array, clean, dirty, sky, sorting
from supercomputers_rerun.kernels.runtime.resources import require_memory

#: Radians of a pixel; the longest baseline is FILL / CELL wavelengths.
CELL, FILL = 2.1e-6, 0.36
#: Jy of noise in each part of a visibility.
NOISE = 0.01


@dataclass(frozen=True)
class Size:
    """One size of the test."""

    side: int  # pixels of a row of the image
    times: int  # samples of each of the 351 baselines
    components: int  # of CLEAN
    list_length: int  # pixels of the minor cycle's list
    skip: int  # pixels left out along the edges where images are compared
    weights: int = 1  # of how many values the weights of the visibilities are, from 1 on

    @property
    def visibilities(self) -> int:
        return self.times * array.PAIRS

    @property
    def intervals(self) -> int:
        """Solution intervals of ASCAL: four samples each, as far as they go."""
        return max(1, self.times // 4)


SIZES = {
    "tiny": Size(64, 12, 600, 1200, 4, 2),
    "small": Size(256, 23, 2000, 6000, 4),
    "medium": Size(512, 38, 5000, 10000, 8),
    "large": Size(1024, 221, 15000, 20050, 16),
    "modern": Size(1024, 2849, 15000, 20050, 16),
}


@dataclass(frozen=True)
class Masters:
    """Inputs of all problems of one size; images float32, records float32 (n, 8)."""

    records: np.ndarray  # in the order of time
    by_tile: np.ndarray  # the same sorted for imaging
    changed: np.ndarray  # the same with every 97th visibility changed by half a Jy
    corrupted: np.ndarray  # the same with the gains of the antennas
    truth: np.ndarray  # those gains, complex128 (intervals, 27)
    dirty: np.ndarray
    beam: np.ndarray  # of twice the side
    places: np.ndarray  # components of a CLEAN of ``dirty``
    fluxes: np.ndarray
    residual: np.ndarray
    flux: np.ndarray  # of the sky, Jy: one number


def bytes_of(size: Size) -> int:
    """Memory of the masters, and of the plan that makes them."""
    return 8 * 32 * size.visibilities + (4 * 4 + 60) * size.side**2


@lru_cache(maxsize=3)
def masters(name: str, seed: int = 0) -> Masters:
    """The masters of one size; ``MemoryError`` where they do not fit."""
    size = SIZES[name]
    require_memory(bytes_of(size), f"the {name} test")
    records = array.tracks(size.times, FILL / CELL)
    records[:, array.WEIGHT] += np.arange(len(records)) % size.weights
    sources = sky.synthetic(size.side, CELL, seed=seed)
    sky.observe(records, sources, NOISE, seed)
    truth = sky.gains(size.intervals, seed=seed)
    changed = records.copy()
    changed[::97, array.RE] += np.float32(0.5)
    image = dirty.dirty(records, size.side, CELL)
    beam = dirty.beam(records, 2 * size.side, CELL)
    found = clean.clark(image, beam, size.components, size.list_length)
    made = Masters(
        records,
        sorting.sort(records, "tile"),
        changed,
        sky.corrupt(records.copy(), truth),
        truth,
        image,
        beam,
        found.places,
        found.fluxes,
        found.residual,
        sources.flux.sum(keepdims=True).astype(np.float32),
    )
    for value in vars(made).values():
        value.flags.writeable = False
    return made
