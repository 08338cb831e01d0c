"""Spherical-harmonic transforms beside ducc0 and SHTns, each in the fastest way that it offers.

SHTns is called from C in each of its layouts, field by field and with all fields in one call (:mod:`peers._shtns`),
ducc0 from Python with its own threads or with a field a thread.  A short trial of every case finds each peer's fastest
way, which alone is then timed next to ours, and the row says which it was.  Each side keeps its layout: ours has
rows from north to south, longitudes contiguous, fields outermost.  Coefficients are scaled to a peer's normalisation
before the clock starts.

ducc0 aliases wavenumbers that a short row cannot carry, we leave them out; so on reduced grids the
answers are compared where both are defined alike: on rows that carry every wavenumber, and for
wavenumbers that every row carries.  On reduced grids ducc0 has no quadrature of its own: the weights are
multiplied in, inside its time.

``SPECTRAL_TRUNCATIONS``, for example ``159,399``, names the truncations to run; without it all are, which takes about
ten minutes for each number of threads.
"""

import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from supercomputers_rerun.companion.common import plural
from supercomputers_rerun.kernels import spectral
from supercomputers_rerun.kernels.runtime.resources import run_team
from supercomputers_rerun.peers import Absent, Comparison, _shtns, installed, relative_difference

#: Truncations on full grids with 2N = T + 1 rows, and linear classic reduced grids.
FULL = (159, 399, 639, 799, 1279)
REDUCED = ((399, "N200"), (799, "N400"), (1279, "N640"))
#: Many fields, as a model has them: 137 levels.
MANY = (159, 399)
TOLERANCE = 1e-10
_TRIALS = 5


class _Case:
    """One plan, its data, and what a peer needs of them."""

    def __init__(self, name: str, truncation: int, fields: int, threads: int):
        problem = spectral.Problem(truncation=truncation, grid=name, fields=fields)
        self.plan, self.spectrum, self.values, self.back = spectral.setup(problem)
        self.threads = threads
        self.label = f"T{truncation} {name}, {plural(fields, 'field')}"
        self.plan.inverse(self.spectrum, out=self.values, threads=threads)
        # orthonormal with Condon–Shortley sign, as ducc0 has it
        self.sign = (-1.0) ** self.plan.m * np.sqrt(4 * np.pi)

    def inverse(self):
        return self.plan.inverse(self.spectrum, out=self.values, threads=self.threads)

    def direct(self):
        return self.plan.direct(self.values, out=self.back, threads=self.threads)


class _Way(NamedTuple):
    """One way of calling a peer; either transform returns a function that gives its result in our order."""

    inverse: Callable
    direct: Callable
    fill: Callable = lambda: None  # gives it the case's own data
    close: Callable = lambda: None


def _ducc0(sht, case: _Case) -> dict[str, _Way]:
    """Inverse and direct callable of ducc0, by way: its own threads, or a field a thread."""
    grid, T = case.plan.grid, case.plan.truncation
    spectrum = (case.spectrum * case.sign)[:, None]
    values = case.values[:, None].copy()
    weighted, found = np.zeros_like(values), np.zeros_like(spectrum)
    weights = np.repeat(2 * np.pi * grid.weights / grid.pl, grid.pl)
    rows = dict(
        lmax=T,
        spin=0,
        theta=np.pi / 2 - np.radians(grid.latitudes),
        nphi=grid.pl.astype(np.uint64),
        phi0=np.zeros(2 * grid.N),
        ringstart=grid.starts.astype(np.uint64),
    )
    out = np.zeros_like(values)
    flat = dict(lmax=T, spin=0, geometry="GL")

    def synthesis(part: slice, threads: int):
        sht.synthesis(alm=spectrum[part], map=out[part], nthreads=threads, **rows)

    def analysis(part: slice, threads: int):
        if grid.full:
            shape = 1, 2 * grid.N, int(grid.pl[0])
            for field, into in zip(values[part], found[part], strict=True):
                sht.analysis_2d(map=field.reshape(shape), alm=into, nthreads=threads, **flat)
        else:
            np.multiply(values[part], weights, out=weighted[part])
            sht.adjoint_synthesis(map=weighted[part], alm=found[part], nthreads=threads, **rows)

    def all_threads(work: Callable, result: Callable) -> Callable:
        def call():
            work(slice(None), case.threads)
            return result

        return call

    def field_a_thread(work: Callable, result: Callable) -> Callable:
        def call():
            run_team(lambda number: work(slice(number, None, case.threads), 1), case.threads)
            return result

        return call

    results = (lambda: out[:, 0]), (lambda: found[:, 0] / case.sign)
    ways = {"its own threads": all_threads}
    if case.threads > 1 and len(case.spectrum) > 1:
        ways["a field a thread"] = field_a_thread
    return {name: _Way(made(synthesis, results[0]), made(analysis, results[1])) for name, made in ways.items()}


def _of_shtns(library, case: _Case) -> dict[str, _Way]:
    """Inverse and direct callable of SHTns, by way."""
    grid = case.plan.grid
    shape = _shtns.Shape(case.plan.truncation, 2 * grid.N, int(grid.pl[0]), len(case.spectrum))
    found = {}
    for name, layout, apart in _shtns.ways(case.threads, shape.fields):
        way = _shtns.Way(library, shape, layout, case.threads, apart)
        found[name] = _Way(way.inverse, way.direct, partial(way.put, case.spectrum, case.values), way.close)
    return found


def _fastest(ways: dict[str, _Way], direction: str) -> str:
    """The way with the fastest of a few calls, in turns; each has the case's own data before and after."""
    best = dict.fromkeys(ways, np.inf)
    for way in ways.values():
        way.fill()
    for trial in range(_TRIALS + 1):
        for name, way in ways.items():
            start = time.perf_counter()
            getattr(way, direction)()
            if trial:  # the first call has its own costs
                best[name] = min(best[name], time.perf_counter() - start)
    for way in ways.values():
        way.fill()
    return min(best, key=best.__getitem__)


def _checks(case: _Case):
    """Distances of two inverse and of two direct results; a peer gives a function that has its own."""
    plan = case.plan
    rows = np.repeat(plan.grid.pl > 2 * plan.truncation, plan.grid.pl)
    common = plan.m <= (int(plan.grid.pl.min()) - 1) // 2
    return (
        lambda ours, theirs: relative_difference(ours[:, rows], theirs()[:, rows]),
        lambda ours, theirs: relative_difference(ours[:, common], theirs()[:, common]),
    )


def _compare(case: _Case, libraries) -> Iterator[Comparison]:
    grid = "full" if case.plan.grid.full else "reduced"
    made = {peer: make(case) for peer, make in libraries.items()}
    fields = {1: "one field", 8: "eight fields"}.get(len(case.spectrum), f"{len(case.spectrum)} fields")
    try:
        for number, (direction, ours) in enumerate((("inverse", case.inverse), ("direct", case.direct))):
            found = {peer: _fastest(ways, direction) for peer, ways in made.items()}
            chosen = "; ".join(f"{peer}: {way}" for peer, way in found.items() if len(made[peer]) > 1)
            yield Comparison(
                group=f"spectral transform, {direction}, {grid} grid, {fields}",
                label=f"{case.label}, {direction}",
                ours=ours,
                peers={peer: getattr(made[peer][way], direction) for peer, way in found.items()},
                check=_checks(case)[number],
                tolerance=TOLERANCE,
                chosen=chosen,
            )
    finally:
        for ways in made.values():
            for way in ways.values():
                way.close()


def versions() -> dict[str, str]:
    """Versions of ducc0 and SHTns, each where it is installed."""
    return installed(ducc0="ducc0", SHTns="shtns")


def asked(truncations: tuple) -> list:
    """Those of the truncations, or of the pairs that begin with one, that are to run."""
    names = os.environ.get("SPECTRAL_TRUNCATIONS", "").replace(",", " ").split()
    return [each for each in truncations if not names or str(each[0] if isinstance(each, tuple) else each) in names]


def comparisons(threads: int) -> Iterator[Comparison | Absent]:
    """Full grids against both libraries, reduced grids against ducc0; one field and eight."""
    libraries = {}
    try:
        from ducc0 import sht

        libraries["ducc0"] = lambda case: _ducc0(sht, case)
    except ImportError:
        yield Absent("ducc0", "not installed")
    try:
        shtns = _shtns.library()
        full = {**libraries, "SHTns": lambda case: _of_shtns(shtns, case)}
    except ImportError as error:
        yield Absent("SHTns", f"{error}; build it from PyPI with FFTW's headers")
        full = libraries
    for fields in (1, 8, 137):
        for truncation in asked(FULL if fields < 137 else MANY):
            yield from _compare(_Case(f"F{(truncation + 1) // 2}", truncation, fields, threads), full)
        if libraries and fields < 137:
            for truncation, name in asked(REDUCED):
                yield from _compare(_Case(name, truncation, fields, threads), libraries)
