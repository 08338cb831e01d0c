"""The column process of chapter 5 beside ECMWF's CLOUDSC: columns a second of two schemes, a rate beside a rate.

The dwarf ``dwarf-p-cloudsc`` is not part of this repository.  The variable ``CLOUDSC`` names a folder of the reader's
in which ``dwarf-cloudsc-fortran`` lies, itself or under ``bin``, beside its ``input.h5`` and ``reference.h5``, as the
dwarf's own bundle leaves them; ``CLOUDSC_BUILD`` may say version, compiler and options, which the program does not.

The two do not give one answer.  CLOUDSC has five kinds of water, sedimentation by an implicit solver and the budgets of
twenty processes; ours has cloud water, rain and snow and six steps.  Both work on blocks of NPROMA columns of 137
levels, and each verifies itself: the dwarf against its reference, ours by the water and energy it keeps.  Its time is
that of its own clock around the blocks, without reading its input; each side has the NPROMA that a trial finds best.
"""

import os
import re
import subprocess
import time
from collections.abc import Iterator
from math import inf
from pathlib import Path
from typing import NamedTuple

from companion.labels import plural
from kernels.routines import cloud
from peers import Absent, Clocked, Comparison, Items
from peers.kit import vectors

_PEER = "CLOUDSC"
_COLUMNS, _LEVELS = 8192, 137
BLOCKS = (16, 32, 64, 128)
#: Largest relative difference, in per cent, at which the dwarf's own validation is believed.
_TOLERANCE = 1e-6
_NUMBER = r"[-+]?\d\.\d+E[-+]\d+"


class _Report(NamedTuple):
    """What a run of the dwarf says about itself."""

    seconds: float
    columns: int
    flops: float  # of one column, as the dwarf counts them
    error: float  # largest relative difference from its reference, per cent


def program(folder: str) -> Path | None:
    """The dwarf's Fortran program in ``folder`` or its ``bin``; or None."""
    found = (Path(folder).resolve() / place / "dwarf-cloudsc-fortran" for place in ("", "bin"))
    return next((path for path in found if os.access(path, os.X_OK) and path.is_file()), None)


def read(said: str) -> _Report:
    """The dwarf's table, its line of totals, and the worst line of its validation.

    ``RuntimeError`` if ``said`` holds something else.
    """
    total = re.search(r"^ *\d+ x *\d+ +(\d+) +\d+ +\d+ +\d+ +-1 : +(\d+) +\d+ +\d+ : TOTAL *$", said, re.MULTILINE)
    count = re.search(r"Reference MFLOP count for 100 columns : +([\d.]+)", said)
    errors = re.findall(rf"^ *\S+ \dD\d(?: +{_NUMBER}){{4}} +({_NUMBER})", said, re.MULTILINE)
    if not (total and count and errors and int(total[2])):
        raise RuntimeError(f"{_PEER} ended without its table; run it by hand where CLOUDSC points to")
    return _Report(int(total[2]) / 1e3, int(total[1]), float(count[1]) * 1e4, max(map(float, errors)))


def run(path: Path, folder: str, threads: int, nproma: int) -> _Report:
    """One run of the dwarf on :data:`_COLUMNS` columns. ``RuntimeError`` if it prints no table."""
    done = subprocess.run(
        [path, str(threads), str(_COLUMNS), str(nproma)],
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": str(threads)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
    )
    return read(done.stdout)


def _ours(nproma: int, threads: int):
    """Our side with one NPROMA, run once, and what it is called with."""
    problem = cloud.Problem(columns=_COLUMNS, levels=_LEVELS, nproma=nproma)
    state = cloud.setup(problem)
    cloud.run(problem, state, threads)
    start = time.perf_counter()
    cloud.run(problem, state, threads)
    return time.perf_counter() - start, problem, state


def versions() -> dict[str, str]:
    """What ``CLOUDSC_BUILD`` says, where there is a program."""
    folder = os.environ.get("CLOUDSC")
    if not folder or program(folder) is None:
        return {}
    return {_PEER: os.environ.get("CLOUDSC_BUILD", "dwarf-p-cloudsc in Fortran, the reader's build")}


def comparisons(threads: int) -> Iterator[Comparison | Absent]:
    """One comparison where the reader has the dwarf."""
    folder = os.environ.get("CLOUDSC")
    if not folder or vectors.bits():
        yield Absent(_PEER, "CLOUDSC does not name a folder with dwarf-cloudsc-fortran")
        return
    path = program(folder)
    if path is None:
        yield Absent(_PEER, "no dwarf-cloudsc-fortran in the folder that CLOUDSC names, nor in its bin")
        return
    reported, theirs = min((run(path, folder, threads, nproma), nproma) for nproma in BLOCKS)
    _, problem, state = min((_ours(nproma, threads) for nproma in BLOCKS), key=lambda each: each[0])

    def peer() -> tuple[float, bool]:
        report = run(path, folder, threads, theirs)
        return report.seconds, report.error <= _TOLERANCE and report.columns == _COLUMNS

    own = cloud.work(problem, threads).flops
    yield Comparison(
        group="two cloud schemes",
        label=f"{plural(_COLUMNS, 'column')} of {_LEVELS} levels",
        ours=lambda: cloud.run(problem, state, threads),
        peers={_PEER: Clocked(peer)},
        check=lambda mine, other: 0.0 if other and all(each.ok for each in cloud.verify(problem, mine)) else inf,
        tolerance=0,
        work=cloud.work(problem, threads),
        size=cloud.footprint(problem).memory_of(threads),
        chosen=f"NPROMA {problem.nproma} of ours, {theirs} of {_PEER}",
        items=Items("columns", _COLUMNS, {"ours": own, _PEER: reported.flops * _COLUMNS}),
    )
