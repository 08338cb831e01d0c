"""The imaging kernels of chapter 2 beside ducc0, FINUFFT, codex-africanus, pfb-imaging, wsclean and NumPy.

Every side gets float32 data and the same number of threads; what a peer wants in another form (lengths in
float64, weighted visibilities, a beam shifted by a pixel) is made before the clock starts.  Answers are
compared in every row: images and gains with each other, gridding by the image that follows from the grid,
and a CLEAN whose components come in another order by its flux.
"""

import ast
import importlib
import importlib.util
import logging
from collections.abc import Iterator
from pathlib import Path

import numba
import numpy as np
import scipy.fft

from kernels.imaging import clean, direct, gridding, hogbom, masters, taps
from kernels.imaging.array import U, V
from kernels.imaging.masters import CELL, SIZES
from kernels.runtime.threads import numba_threads
from peers import Absent, Comparison, installed, relative_difference
from peers.kit import dirty_images, imaging_numpy, wsclean
from peers.kit.dirty_images import LIGHT, complex_values

#: Components of a row of Högbom's CLEAN and of Clark's minor cycle.
HOGBOM, MINOR = 200, 1000
#: Taps and samples a cell of africanus's gridding function; taps must be odd.
AFRICAN_TAPS, AFRICAN_SAMPLES = 7, 127


# Parts beside codex-africanus


def _african_grid(records, side):
    """Gridding by the packed one-dimensional function of africanus's faceting gridder."""
    kernels = importlib.import_module("africanus.gridding.perleypolyhedron.kernels")
    gridder = importlib.import_module("africanus.gridding.perleypolyhedron.gridder").gridder
    grid = taps.grid_side(side)
    uvw = np.zeros((len(records), 3))
    uvw[:, :2] = records[:, [U, V]]
    vis = np.repeat(complex_values(records)[:, None, None], 2, axis=2)  # XX and YY, from which it makes Stokes I
    function = kernels.kbsinc(AFRICAN_TAPS, oversample=AFRICAN_SAMPLES)
    packed = kernels.pack_kernel(function, AFRICAN_TAPS, oversample=AFRICAN_SAMPLES)
    middle = np.array([[0.0, 0.0]])
    cell = np.degrees(CELL) * 3600  # arc seconds

    def peer():
        found = gridder(
            uvw, vis, np.ones(1), np.zeros(1, np.int64), grid, cell, middle[0], middle[0], packed, AFRICAN_TAPS,
            AFRICAN_SAMPLES, "None", "None", "I_FROM_XXYY", "conv_1d_axisymmetric_packed_scatter", np.complex64,
        )  # fmt: skip
        return lambda: _image_of_grid(found[0], side, kernels, function)

    return peer


def _image_of_grid(cells, side, kernels, function) -> np.ndarray:
    """The image of africanus's grid: transform, the middle, its taper taken off; 1 in the beam's middle."""
    grid = len(cells)
    image = np.fft.fftshift(scipy.fft.ifft2(np.fft.ifftshift(cells))).real
    taper = kernels.compute_detaper_dft_seperable(grid, function, AFRICAN_TAPS, AFRICAN_SAMPLES)
    inner = slice(grid // 2 - side // 2, grid // 2 + side // 2)
    return (image / taper)[inner, inner]


def _grid_distance(image):
    """Images agree but for a scale, away from the edges, where africanus's function leaves other images."""
    part = (slice(len(image) // 4, -len(image) // 4),) * 2

    def distance(_ours, theirs):
        found = theirs()[part]
        scale = (found * image[part]).sum() / (found * found).sum()
        return relative_difference(found * scale, image[part])

    return distance


def _gridding(threads) -> Iterator[Comparison]:
    side, records = SIZES["modern"].side, masters.masters("modern").records
    grid = taps.grid_side(side)
    cells = gridding.empty_grid(grid)

    def ours():
        cells[...] = 0
        gridding.spread(gridding.sort(records, grid * CELL, grid, threads), cells)
        return cells

    yield Comparison(
        "gridding alone, sort included",
        f"1.0 M visibilities onto {grid}²",
        ours,
        {f"africanus, {AFRICAN_TAPS} taps": _african_grid(records, side)},
        _grid_distance(masters.masters("modern").dirty),
        2e-2,
    )


def _prediction(threads) -> Iterator[Comparison]:
    made, size = masters.masters("small"), SIZES["small"]
    im_to_vis = importlib.import_module("africanus.dft").im_to_vis
    uvw = np.zeros((len(made.records), 3))
    uvw[:, :2] = made.records[:, [U, V]]
    lm = (made.places[:, ::-1] - size.side // 2) * CELL
    fluxes = made.fluxes.reshape(-1, 1, 1)
    frequency = np.array([LIGHT])

    def in_kind(dtype):
        return lambda: im_to_vis(fluxes, uvw, lm, frequency, dtype=dtype)[:, 0, 0]

    yield Comparison(
        "model visibilities by the direct sum",
        f"{len(uvw)} visibilities, {len(lm)} components",
        lambda: direct.predict(made.records, made.places, made.fluxes, size.side, CELL, threads),
        {"africanus im_to_vis, complex64": in_kind(np.complex64), "africanus im_to_vis": in_kind(np.complex128)},
        relative_difference,
        1e-4,
    )


def _hogbom() -> Iterator[Comparison]:
    made, side = masters.masters("large"), SIZES["large"].side
    module = importlib.import_module("africanus.deconv.hogbom")
    logging.getLogger().setLevel(logging.ERROR)  # it warns when it has made the components asked for
    beam = np.ascontiguousarray(np.roll(made.beam, (-1, -1), (0, 1)))
    limits = clean.Limits(HOGBOM, gain=0.1, box=(0, side - 1, 0, side - 1))
    yield Comparison(
        "Högbom's CLEAN, whole beam",
        f"1024², {HOGBOM} components",
        lambda: hogbom.clean(made.dirty, made.beam, limits).residual,
        {
            "africanus hogbom_clean": lambda: module.hogbom_clean(
                made.dirty, beam, gamma=0.1, threshold=0.0, niter=HOGBOM - 1
            )[1]
        },
        relative_difference,
        1e-4,
    )


# Clark's minor cycle beside pfb-imaging


def _subminor():
    """pfb-imaging's minor cycle, None where it is not installed.

    Importing the package asks for jax and ray and changes numba's settings for everybody, so the one function is
    taken from its file and compiled as the package compiles it.  It keeps the peak's value as a view, which changes
    when the peak itself is reached; what lies behind would lose too little, so here the value is copied.
    """
    spec = importlib.util.find_spec("pfb_imaging")
    if spec is None:
        return None
    path = Path(spec.submodule_search_locations[0]) / "deconv" / "clark.py"
    source = path.read_text().replace("xhat = a_set[:, pq]", "xhat = a_set[:, pq].copy()")
    parts = [node for node in ast.parse(source).body if getattr(node, "name", None) == "subminor"]
    parts[0].decorator_list = []
    names = {"np": np, "prange": numba.prange}
    exec(compile(ast.Module(parts, []), str(path), "exec"), names)
    return numba.njit(nogil=True, parallel=True)(names["subminor"])


def _minor(subminor) -> Iterator[Comparison]:
    """One minor cycle on the list of the large problem; pfb takes the beam's patch as the whole beam."""
    made, size = masters.masters("large"), SIZES["large"]
    minor, box = clean.Minor(made.beam), clean.Limits().within(size.side)
    limit = clean.list_limit(made.dirty, box, size.list_length, 0.0, 0.0)
    places, fluxes = np.empty((MINOR, 2), np.int32), np.empty(MINOR, np.float32)
    inside = np.zeros(made.dirty.shape, bool)
    inside[box[0] : box[1] + 1, box[2] : box[3] + 1] = True
    rows, columns = np.nonzero(inside & (np.abs(made.dirty) > limit))
    listed = made.dirty[None, rows, columns]
    middle = size.side
    patch = np.ascontiguousarray(
        made.beam[None, middle - clean.HALF : middle + clean.HALF + 1, middle - clean.HALF : middle + clean.HALF + 1]
    )
    model = np.zeros((1, *made.dirty.shape), np.float32)

    def ours():
        count = minor(made.dirty, box, limit, 0.1, size.list_length, places, fluxes)
        return fluxes[:count].sum(dtype=float)

    def peer():
        model[...] = 0
        with numba_threads(1):
            subminor(listed.copy(), patch, rows, columns, model, np.ones(1, np.float32), 0.1, float(limit), MINOR)
        return model.sum(dtype=float)

    yield Comparison(
        "Clark's minor cycle",
        f"list of {len(rows)} pixels, {MINOR} components",
        ours,
        {"pfb subminor, its view copied": peer},
        relative_difference,
        1e-3,
    )


def _found(name: str):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def versions() -> dict[str, str]:
    """Versions of the peers that are installed."""
    found = installed(ducc0="ducc0", FINUFFT="finufft", africanus="codex-africanus", pfb="pfb-imaging")
    return {"NumPy": np.__version__} | found | wsclean.versions()


def comparisons(threads: int) -> Iterator[Comparison | Absent]:
    """Images, gridding, prediction, CLEAN and records; peers of one thread stand beside one thread of ours.

    NumPy's sort has one thread, too, and stands beside as many of ours as are asked for.
    """
    ducc0, finufft = _found("ducc0"), _found("finufft")
    if ducc0 is None:
        yield Absent("ducc0", "not installed")
    if finufft is None:
        yield Absent("FINUFFT", "not installed; pip install finufft")
    if ducc0 is not None or finufft is not None:
        yield from dirty_images.comparisons(ducc0, finufft, threads)
    yield from wsclean.comparisons(threads)
    yield from imaging_numpy.comparisons(threads)
    if threads > 1:
        return
    if _found("africanus") is None:
        yield Absent("africanus", "not installed; pip install codex-africanus")
    else:
        yield from _gridding(threads)
        yield from _prediction(threads)
        yield from _hogbom()
    subminor = _subminor()
    if subminor is None:
        yield Absent("pfb", "not installed; pip install pfb-imaging")
    else:
        yield from _minor(subminor)
