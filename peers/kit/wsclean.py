"""wsclean, a program of its own, on a measurement set of the same visibilities; both sides go from file to file."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from kernels.files.work_folder import WorkFolder
from kernels.imaging import ddt, fits, masters, measurement_set, tasks
from kernels.imaging.masters import CELL, SIZES
from peers import Absent, Comparison, relative_difference

#: Options with which wsclean grids as accurately as we do; by default it images a smaller grid and enlarges that.
_SAME = ("-use-wgridder", "-wgridder-accuracy", "1e-5", "-no-small-inversion")


def command(program: str, threads: int, side: int, *options: str) -> list[str]:
    """wsclean without correction for w, weights as given, in memory; its image in ``OUT-image.fits``."""
    image = ["-size", str(side), str(side), "-scale", f"{CELL!r}rad", "-weight", "natural", "-pol", "i"]
    return [program, "-quiet", "-j", str(threads), *image, "-no-update-model-required", *options]


def _image_of(path: Path) -> np.ndarray:
    """wsclean's image in our order, right ascension growing with the column; the first column has no counterpart."""
    return fits.read_image(path)[:, :0:-1]


def absent() -> Absent | None:
    """Why wsclean cannot run here; None where it can."""
    if shutil.which("wsclean") is None:
        return Absent("wsclean", "not installed; Debian's package wsclean has it")
    try:
        measurement_set._casacore()
    except RuntimeError as error:
        return Absent("wsclean", str(error))
    return None


def versions() -> dict[str, str]:
    program = shutil.which("wsclean")
    if program is None:
        return {}
    told = subprocess.run([program, "--version"], check=False, capture_output=True, text=True).stdout
    return {"wsclean": told.split("version", 1)[-1].split()[0]}


def _both(threads: int, folder: Path) -> Comparison:
    size = SIZES["large"]
    problem = ddt.Problem(task="MXCLN", size="large", folder=str(folder))
    state = ddt.setup(problem)
    name = folder / "data.ms"
    measurement_set.write(name, masters.masters("large").records)
    limits, box = tasks.limits_of(size), tasks.subimage_box(size.side)
    mask = np.zeros((size.side, size.side), np.float32)  # its columns run the other way
    mask[box[0] : box[1] + 1, size.side - box[3] : size.side - box[2] + 1] = 1
    fits.write_image(folder / "mask.fits", mask, CELL)
    options = ["-niter", str(limits.components), "-gain", str(limits.gain), "-mgain", "0.85"]
    options += ["-fits-mask", str(folder / "mask.fits")]
    whole = [*command(shutil.which("wsclean"), threads, size.side, *options), "-name", str(folder / "out")]

    def peer(*gridder):
        subprocess.run([*whole, *gridder, str(name)], check=True, capture_output=True)
        return _image_of(folder / "out-dirty.fits"), _image_of(folder / "out-residual.fits")

    def ours():
        return ddt.run(problem, state, threads).products

    return Comparison(
        "MXCLN from file to file",
        "large problem: sort, image, beam, 15 000 components",
        ours,
        {"wsclean, same accuracy": lambda: peer(*_SAME), "wsclean, as it comes": lambda: peer("-use-wgridder")},
        _distance,
        3e-2,
    )


def _distance(ours, theirs) -> float:
    """The larger of two: distance of the dirty images, and of what both leave at most within the box, over the peak.

    Both stop after as many components; on extended sources these come in another order and carry other fluxes.
    """
    image, residual = theirs
    box = tasks.subimage_box(len(ours["dirty"]))
    rows, columns = slice(box[0], box[1] + 1), slice(box[2], box[3] + 1)
    left = [
        np.abs(ours["residual"][rows, columns]).max(),
        np.abs(residual[rows, columns.start - 1 : columns.stop - 1]).max(),
    ]
    return max(relative_difference(ours["dirty"][:, 1:], image), abs(left[0] - left[1]) / float(ours["dirty"].max()))


def comparisons(threads: int) -> Iterator[Comparison | Absent]:
    """The large MXCLN, beginning and ending with files on either side."""
    reason = absent()
    if reason is not None:
        yield reason
        return
    with WorkFolder(None, "peers-wsclean") as work:
        yield _both(threads, work.path)
