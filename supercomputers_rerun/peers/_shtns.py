"""SHTns through its C interface, in every layout and way that it offers.

Its Python extension holds the C library, whose functions are called by address here: no copy, no check, none of
Python's work between two fields.  Fields may have their longitudes or their latitudes next to each other, the latter
with rows padded apart, and several fields of the latter kind may be one call.  With several threads a transform is
shared by them, or each takes fields of its own.  SHTns times its own variants of each when a grid is set; stored
polynomials are no longer among them (version 3).
"""

import ctypes
import importlib.metadata
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from supercomputers_rerun.kernels.runtime.resources import run_team

_NO_PHASE = 256 * 4
_FOUR_PI, _GAUSS = 1, 0
_THETA, _PHI, _PADDED = 256, 512, 256 * 256
_SCALAR = 256 * 16
_ACCURACY = 1e-10

#: way -> (flags of the layout, all fields in one call)
LAYOUTS = {
    "longitudes contiguous": (_PHI, False),
    "latitudes contiguous": (_THETA, False),
    "latitudes contiguous, padded": (_THETA | _PADDED, False),
    "latitudes contiguous, fields in one call": (_THETA, True),
    "latitudes contiguous, padded, fields in one call": (_THETA | _PADDED, True),
}


class _Info(ctypes.Structure):
    """The public beginning of ``struct shtns_info``."""

    _fields_ = [
        ("nlm", ctypes.c_uint), ("lmax", ctypes.c_ushort), ("mmax", ctypes.c_ushort), ("mres", ctypes.c_ushort),
        ("nlat_2", ctypes.c_ushort), ("nlat", ctypes.c_uint), ("nphi", ctypes.c_uint), ("nspat", ctypes.c_uint),
        ("li", ctypes.c_void_p), ("mi", ctypes.c_void_p), ("ct", ctypes.c_void_p), ("st", ctypes.c_void_p),
        ("nlat_padded", ctypes.c_uint),
    ]  # fmt: skip


def library() -> ctypes.CDLL:
    """The C library inside SHTns's Python extension.

    ``ImportError`` where SHTns is not installed as a package, or its extension does not show the functions.
    """
    import _shtns  # the package ``shtns`` brings it

    found = ctypes.CDLL(_shtns.__file__)
    pointer, whole = ctypes.c_void_p, ctypes.c_int
    try:
        for name, result, *arguments in (
            ("shtns_create", pointer, whole, whole, whole, whole),
            ("shtns_set_many", whole, pointer, whole, ctypes.c_long),
            ("shtns_set_grid", whole, pointer, whole, ctypes.c_double, whole, whole),
            ("shtns_use_threads", whole, whole),
            ("shtns_malloc", pointer, ctypes.c_size_t),
            ("shtns_free", None, pointer),
            ("shtns_destroy", None, pointer),
            ("SH_to_spat", None, pointer, pointer, pointer),
            ("spat_to_SH", None, pointer, pointer, pointer),
        ):
            function = getattr(found, name)
            function.restype, function.argtypes = result, arguments
    except AttributeError as error:
        raise ImportError(f"the extension of SHTns shows no {error.name or error}") from error
    importlib.metadata.version("shtns")  # which a record has to name: without it ImportError as well
    return found


@dataclass(frozen=True)
class Shape:
    """What is transformed: degrees to ``truncation`` on ``rows`` × ``columns`` points, so many fields."""

    truncation: int
    rows: int
    columns: int
    fields: int


class Way:
    """SHTns in one layout: its own aligned arrays, and what a transform does with them.

    ``inverse`` and ``direct`` return a function that gives the result in our order, fields outermost and longitudes
    contiguous; so the change of order stays outside their time.  An analysis may spend its input, as SHTns says: the
    first call sees the field, later ones what the calls before have left, at the same cost.
    """

    def __init__(self, library: ctypes.CDLL, shape: Shape, layout: str, threads: int, apart: bool):
        """``apart``: each thread takes fields of its own, instead of all sharing each transform."""
        flags, self.together = LAYOUTS[layout]
        self.library, self.shape, self.apart = library, shape, apart
        self.threads = threads if apart else 1
        library.shtns_use_threads(1 if apart else threads)
        self.config = library.shtns_create(shape.truncation, shape.truncation, 1, _FOUR_PI | _NO_PHASE)
        self.nlm = _Info.from_address(self.config).nlm
        if self.together:
            library.shtns_set_many(self.config, shape.fields, self.nlm)
        library.shtns_set_grid(self.config, _GAUSS | flags | _SCALAR, _ACCURACY, shape.rows, shape.columns)
        info = _Info.from_address(self.config)
        each = info.nspat // (shape.fields if self.together else 1)
        self.by_longitude, self.padded = flags & _PHI != 0, info.nlat_padded
        self.grid = self._array((shape.fields, each), np.float64)
        self.spectrum = self._array((shape.fields, self.nlm), np.complex128)

    def _array(self, shape: tuple[int, int], dtype) -> np.ndarray:
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        address = self.library.shtns_malloc(size)
        if not address:
            raise MemoryError(f"SHTns has no memory for {size} bytes")
        made = np.frombuffer((ctypes.c_byte * size).from_address(address), dtype).reshape(shape)
        made[:] = 0
        return made

    def close(self) -> None:
        """Give the memory back; the arrays must not be used any more."""
        for array in (self.grid, self.spectrum):
            self.library.shtns_free(array.ctypes.data)
        self.library.shtns_destroy(self.config)

    def _each(self, function, source: np.ndarray, target: np.ndarray) -> None:
        if self.together:
            function(self.config, source.ctypes.data, target.ctypes.data)
            return
        starts = [(source[n].ctypes.data, target[n].ctypes.data) for n in range(self.shape.fields)]

        def part(number: int) -> None:
            for start in starts[number :: self.threads]:
                function(self.config, *start)

        if self.threads == 1:
            part(0)
        else:
            run_team(part, self.threads)

    def put(self, spectrum: np.ndarray, values: np.ndarray) -> None:
        """Coefficients and fields in our order into the arrays that transforms read."""
        shape = self.shape
        self.spectrum[:] = spectrum
        fields = values.reshape(shape.fields, shape.rows, shape.columns)
        if self.by_longitude:
            self.grid[:, : shape.rows * shape.columns] = fields.reshape(shape.fields, -1)
        else:
            self.grid.reshape(shape.fields, shape.columns, -1)[:, :, : shape.rows] = fields.transpose(0, 2, 1)

    def taken(self) -> np.ndarray:
        """What a synthesis left, in our order."""
        shape = self.shape
        if self.by_longitude:
            return self.grid[:, : shape.rows * shape.columns].copy()
        fields = self.grid.reshape(shape.fields, shape.columns, -1)[:, :, : shape.rows]
        return fields.transpose(0, 2, 1).reshape(shape.fields, -1)

    def inverse(self) -> Callable[[], np.ndarray]:
        """Synthesis."""
        self._each(self.library.SH_to_spat, self.spectrum, self.grid)
        return self.taken

    def direct(self) -> Callable[[], np.ndarray]:
        """Analysis."""
        self._each(self.library.spat_to_SH, self.grid, self.spectrum)
        return self.spectrum.copy


def ways(threads: int, fields: int) -> list[tuple[str, str, bool]]:
    """Name, layout and whether threads work apart, of every way for so many threads and fields."""
    found = []
    for layout, (_, together) in LAYOUTS.items():
        if together and fields == 1:
            continue
        found.append((layout, layout, False))
        if threads > 1 and fields > 1 and not together:
            found.append((f"{layout}, a field a thread", layout, True))
    return found
