"""Spherical-harmonic transforms beside ducc0 and SHTns, each in the layout it is used in.

All sides take coefficients ``m`` by ``m`` and rows from north to south, longitude contiguous, fields
outermost; a code that prefers another order pays for the change.  Coefficients are scaled to a peer's
normalisation before the clock starts.  Several fields: ducc0 takes them in one call; SHTns's Python
interface takes one at a time.

ducc0 aliases wavenumbers that a short row cannot carry, we leave them out; so on reduced grids the
answers are compared where both are defined alike: on rows that carry every wavenumber, and for
wavenumbers that every row carries.  On reduced grids ducc0 has no quadrature of its own: the weights are
multiplied in, inside its time.
"""

from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from companion.labels import counted
from kernels import spectral
from peers import Absent, Comparison, relative_difference

#: Truncations on full grids with 2N = T + 1 rows, and linear classic reduced grids.
FULL = (159, 399, 639, 799, 1279)
REDUCED = ((399, "N200"), (799, "N400"), (1279, "N640"))
TOLERANCE = 1e-10


class _Case:
    """One plan, its data, and what a peer needs of them."""

    def __init__(self, name: str, truncation: int, fields: int, threads: int):
        problem = spectral.Problem(truncation=truncation, grid=name, fields=fields)
        self.plan, self.spectrum, self.values, self.back = spectral.setup(problem)
        self.threads = threads
        self.label = f"T{truncation} {name}, {counted(fields, 'field')}"
        self.plan.inverse(self.spectrum, out=self.values, threads=threads)
        # orthonormal with Condon–Shortley sign, as ducc0 has it
        self.sign = (-1.0) ** self.plan.m * np.sqrt(4 * np.pi)

    def inverse(self):
        return self.plan.inverse(self.spectrum, out=self.values, threads=self.threads)

    def direct(self):
        return self.plan.direct(self.values, out=self.back, threads=self.threads)


def _ducc0(sht, case: _Case):
    """Inverse and direct callable of ducc0."""
    grid, T = case.plan.grid, case.plan.truncation
    spectrum = (case.spectrum * case.sign)[:, None]
    values = case.values[:, None].copy()
    weighted, found = np.zeros_like(values), np.zeros_like(spectrum)
    weights = np.repeat(2 * np.pi * grid.weights / grid.pl, grid.pl)
    rows = dict(
        lmax=T,
        spin=0,
        nthreads=case.threads,
        theta=np.pi / 2 - np.radians(grid.latitudes),
        nphi=grid.pl.astype(np.uint64),
        phi0=np.zeros(2 * grid.N),
        ringstart=grid.starts.astype(np.uint64),
    )
    out = np.zeros_like(values)

    def inverse():
        return sht.synthesis(alm=spectrum, map=out, **rows)[:, 0]

    def direct():
        if grid.full:
            shape = 1, 2 * grid.N, int(grid.pl[0])
            for field, into in zip(values, found, strict=True):
                sht.analysis_2d(
                    map=field.reshape(shape), alm=into, lmax=T, spin=0, geometry="GL", nthreads=case.threads
                )
        else:
            np.multiply(values, weights, out=weighted)
            sht.adjoint_synthesis(map=weighted, alm=found, **rows)
        return found[:, 0], case.sign

    return inverse, direct


def _shtns(shtns, case: _Case):
    """Inverse and direct callable of SHTns, tuned by its own timing, longitude contiguous."""
    grid, T = case.plan.grid, case.plan.truncation
    made = shtns.sht(T, T, 1, shtns.sht_fourpi | shtns.SHT_NO_CS_PHASE, case.threads)
    made.set_grid(2 * grid.N, int(grid.pl[0]), shtns.sht_gauss | shtns.SHT_PHI_CONTIGUOUS, 1e-10)
    shape = len(case.spectrum), 2 * grid.N, int(grid.pl[0])
    values, out = case.values.reshape(shape).copy(), np.zeros(shape)
    spectrum, found = case.spectrum.copy(), np.zeros_like(case.spectrum)

    def inverse():
        for field, into in zip(spectrum, out, strict=True):
            made.SH_to_spat(field, into)
        return out.reshape(case.values.shape)

    def direct():
        for field, into in zip(values, found, strict=True):
            made.spat_to_SH(field, into)
        return found, np.ones(case.plan.ncoef)

    return inverse, direct


def _checks(case: _Case):
    """Distances of two inverse and of two direct results; the latter come with the peer's scale."""
    plan = case.plan
    rows = np.repeat(plan.grid.pl > 2 * plan.truncation, plan.grid.pl)
    common = plan.m <= (int(plan.grid.pl.min()) - 1) // 2
    return (
        lambda ours, theirs: relative_difference(ours[:, rows], theirs[:, rows]),
        lambda ours, theirs: relative_difference(ours[:, common], (theirs[0] / theirs[1])[:, common]),
    )


def _compare(case: _Case, libraries) -> Iterator[Comparison]:
    grid = "full" if case.plan.grid.full else "reduced"
    found = {name: make(case) for name, make in libraries.items()}
    for number, (direction, ours) in enumerate((("inverse", case.inverse), ("direct", case.direct))):
        many = "one field" if len(case.spectrum) == 1 else "eight fields"
        yield Comparison(
            group=f"spectral transform, {direction}, {grid} grid, {many}",
            label=f"{case.label}, {direction}",
            ours=ours,
            peers={name: pair[number] for name, pair in found.items()},
            check=_checks(case)[number],
            tolerance=TOLERANCE,
        )


def versions() -> dict[str, str]:
    """Versions of ducc0 and SHTns, each where it is installed."""
    found = {}
    for peer, package in (("ducc0", "ducc0"), ("SHTns", "shtns")):
        try:
            found[peer] = version(package)
        except PackageNotFoundError:
            continue
    return found


def comparisons(threads: int) -> Iterator[Comparison | Absent]:
    """Full grids against both libraries, reduced grids against ducc0; one field and eight."""
    libraries = {}
    try:
        from ducc0 import sht

        libraries["ducc0"] = lambda case: _ducc0(sht, case)
    except ImportError:
        yield Absent("ducc0", "not installed")
    try:
        import shtns

        full = {**libraries, "SHTns": lambda case: _shtns(shtns, case)}
    except ImportError:
        yield Absent("SHTns", "not installed; build it from PyPI with FFTW's headers")
        full = libraries
    for fields in (1, 8):
        for truncation in FULL:
            yield from _compare(_Case(f"F{(truncation + 1) // 2}", truncation, fields, threads), full)
        if libraries:
            for truncation, name in REDUCED:
                yield from _compare(_Case(name, truncation, fields, threads), libraries)
