"""The Legendre transform as a product of small matrices (the work behind the name MXMAOP).

IFS sums over the degrees of each zonal wavenumber with a general matrix product.  Functions of even
and odd n − m are symmetric and antisymmetric about the equator, so that each wavenumber m takes two
products over the latitudes of one hemisphere,

    out(field, latitude) = Σ_n spectrum(n, field) · P(n, latitude),    n = m, m + 2, … and m + 1, m + 3, …

with (T − m)//2 + 1 and (T − m + 1)//2 terms: from T/2 down to one, and many fields at once.  The
values of P do not matter to a product that looks at none of them: they are random here, and the
transforms proper are in ``kernels.spectral``.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kernels.contract import Check, Footprint, Presets, Work, one_of, whole, worst
from kernels.proof import Proof
from kernels.routines.panel import Matrix, multiply, padded
from kernels.routines.width import WIDTHS
from kernels.runtime.jit import kernel
from kernels.runtime.pages import zeros
from kernels.runtime.resources import require_memory, require_threads
from kernels.runtime.threads import run_team


@dataclass(frozen=True)
class Problem(Presets):
    """Sizes of the products of one inverse transform. ``ValueError`` if a field is outside its range."""

    truncation: whole(1, 10_000) = 31  # T: wavenumbers m = 0 … T
    latitudes: whole(1, 10_000) = 16  # of one hemisphere, N
    fields: whole(1, 10_000) = 40  # transformed together
    build: one_of(*WIDTHS) = "vector"  # "vector" (eight latitudes an instruction) or "scalar" (one)

    PRESETS: ClassVar = {
        "quick": {"truncation": 63, "latitudes": 32, "fields": 40},
        "paper": {"truncation": 399, "latitudes": 200, "fields": 186},  # T399, three fields of 62 levels
        "modern": {"truncation": 639, "latitudes": 320, "fields": 137},
    }

    @property
    def terms(self) -> np.ndarray:
        """Number of terms of every product, (2 (T + 1),): even and odd of m = 0, of m = 1, …"""
        left = self.truncation - np.arange(self.truncation + 1)
        return np.column_stack([left // 2 + 1, (left + 1) // 2]).reshape(-1)


@dataclass(frozen=True)
class State:
    """The matrices of all products, one after another; every row is padded to whole vectors."""

    terms: np.ndarray  # (products,)
    spectrum: np.ndarray  # (all terms, padded fields)
    p: np.ndarray  # (all terms, padded latitudes)
    out: np.ndarray  # (products, fields, padded latitudes)


@kernel
def products(terms, spectrum, p, out, first, step, latitudes, fields, row, width):
    """Products ``first``, ``first + step``, … of all, ``width`` (``SCALAR`` or ``VECTOR``) latitudes at a time.

    ``terms``, int64 (products,): inner length of each; ``spectrum``, ``p``, ``out``, float64, flat: as ``State`` says,
    the last written; ``latitudes``, ``row``: places of a row that are computed, and that lie in memory; ``fields``.
    """
    done, line = 0, len(spectrum) // terms.sum()
    for number in range(len(terms)):
        if number % step == first:
            weights, x = Matrix(spectrum, done * line, line), Matrix(p, done * row, row)
            multiply(weights, x, Matrix(out, number * fields * row, row), fields, terms[number], latitudes, width)
        done += terms[number]


def footprint(problem: Problem) -> Footprint:
    """Both factors and the products of all wavenumbers."""
    terms, row = problem.terms, padded(problem.latitudes)
    factors = int(terms.sum()) * (padded(problem.fields) + row)
    return Footprint(8 * (len(terms) + factors + len(terms) * problem.fields * row))


def setup(problem: Problem, seed: int = 0) -> State:
    """Random matrices, uniform in ±1."""
    require_memory(footprint(problem).memory, "the Legendre product")
    terms, row = problem.terms, padded(problem.latitudes)
    line, total = padded(problem.fields), int(terms.sum())
    rng = np.random.default_rng(seed)
    spectrum, p = zeros((total, line)), zeros((total, row))
    for array in (spectrum, p):
        rng.random(out=array)
        array *= 2.0
        array -= 1.0
    return State(terms, spectrum, p, zeros((len(terms), problem.fields, row)))


def run(problem: Problem, state: State, threads: int = 1, repeats: int = 1) -> State:
    """All products; the answer is in ``out``.  Threads take turns, so that each gets long and short sums."""
    require_threads(threads)
    width = WIDTHS[problem.build]
    row = state.p.shape[1]
    count = row if problem.build == "vector" else problem.latitudes
    arrays = [array.reshape(-1) for array in (state.spectrum, state.p, state.out)]

    def member(number):
        for _ in range(repeats):
            products(state.terms, *arrays, number, threads, count, problem.fields, row, width)

    run_team(member, threads)
    return state


def reference(problem: Problem, state: State) -> State:
    """NumPy's product of every pair of matrices."""
    out, done = np.zeros_like(state.out), 0
    for number, terms in enumerate(state.terms):
        part = slice(done, done + terms)
        out[number] = state.spectrum[part, : problem.fields].T @ state.p[part]
        done += terms
    return State(state.terms, state.spectrum, state.p, out)


def verify(problem: Problem, result: State) -> list[Check]:
    """Weighted sums over all fields of a product, which a product of the summed spectrum gives as well."""
    shares = np.random.default_rng(problem.fields).uniform(0.5, 1.5, problem.fields)
    summed = result.spectrum[:, : problem.fields] @ shares
    done, n, off = 0, problem.latitudes, np.empty((len(problem.terms), problem.latitudes))
    for number, terms in enumerate(problem.terms):
        part = slice(done, done + terms)
        expected = summed[part] @ result.p[part, :n]
        size = np.abs(summed[part]) @ np.abs(result.p[part, :n]) + problem.fields
        off[number] = (shares @ result.out[number, :, :n] - expected) / size
        done += terms
    return [Check.near("largest relative difference of sums over the fields", worst(off), 0.0, 1e-12)]


NO_OUTPUT = dict.fromkeys(("terms", "spectrum", "p"), "a factor, or the place of one")


def work(problem: Problem, threads: int = 1) -> Work:
    """Operations and bytes of one repeat, which threads share: factors read, products written, each once."""
    total, products_ = int(problem.terms.sum()), len(problem.terms)
    return Work(
        2 * total * problem.fields * problem.latitudes,
        8 * total * (problem.fields + problem.latitudes),
        8 * products_ * problem.fields * problem.latitudes,
    )


PROOF = Proof({"truncation": 21, "latitudes": 16, "fields": 5}, each={"build": tuple(WIDTHS)}, within={"out": 2e-14})
