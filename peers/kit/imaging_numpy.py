"""Sorting, comparing, calibrating and adding beside NumPy, vectorised, which has one thread."""

from collections.abc import Iterator

import numpy as np

from kernels.imaging import arithmetic, masters, selfcal, sorting, tasks
from kernels.imaging.array import IM, RE
from kernels.imaging.masters import SIZES
from peers import Comparison, relative_difference


def _numpy_sort(records, order):
    """Stable sort of 16-bit keys, which NumPy does by radix, and one gather of whole records."""

    def peer():
        return records[np.argsort(sorting.keys_of(records, order).astype(np.uint16), kind="stable")]

    return peer


def _sorting(threads: int) -> Iterator[Comparison]:
    for name in ("large", "modern"):
        records = masters.masters(name).records
        out = np.empty_like(records)
        for order in ("baseline", "tile"):
            yield Comparison(
                "UVSRT",
                f"{len(records)} visibilities by {order}",
                lambda records=records, order=order, out=out: sorting.sort(records, order, out, threads),
                {"NumPy": _numpy_sort(records, order)},
                relative_difference,
                0.0,
            )


def _differences() -> Iterator[Comparison]:
    limits = np.float32(tasks.LIMITS)
    for name in ("large", "modern"):
        made = masters.masters(name)
        one, other = made.records, made.changed

        def peer(one=one, other=other):
            difference = np.abs(one - other)
            return np.stack([np.count_nonzero(difference > limits, axis=0), difference.max(axis=0)])

        yield Comparison(
            "UVDIF",
            f"{len(one)} visibilities",
            lambda one=one, other=other: np.stack(arithmetic.differences(one, other, tasks.LIMITS)),
            {"NumPy": peer},
            relative_difference,
            0.0,
        )


def _gains() -> Iterator[Comparison]:
    made, size = masters.masters("large"), SIZES["large"]
    model = np.ascontiguousarray(made.records[:, RE] + 1j * made.records[:, IM], np.complex64)
    sums = selfcal.sums(made.corrupted, model, size.intervals)
    yield Comparison(
        "gains of 27 antennas",
        f"{size.intervals} intervals at once",
        lambda: selfcal.solve(*sums).gains,
        {"NumPy, all intervals in one array": lambda: selfcal.solve_numpy(*sums).gains},
        relative_difference,
        1e-6,
    )


def _sums() -> Iterator[Comparison]:
    made = masters.masters("large")
    one, other, out = made.dirty, made.residual, np.empty_like(made.dirty)
    half, quarter = np.float32(0.5), np.float32(0.25)
    spare = np.empty_like(out)

    def peer():
        np.multiply(one, half, out=out)
        np.multiply(other, quarter, out=spare)
        return np.add(out, spare, out=out)

    mine = np.empty_like(out)
    yield Comparison(
        "COMB: a sum of two images, which memory limits",
        "1024²",
        lambda: arithmetic.combine(one, other, 0.5, 0.25, mine),
        {"NumPy": peer},
        relative_difference,
        1e-6,
    )


def comparisons(threads: int) -> Iterator[Comparison]:
    """UVSRT, and with one thread UVDIF, the gains of ASCAL and COMB."""
    yield from _sorting(threads)
    if threads > 1:
        return
    yield from _differences()
    yield from _gains()
    yield from _sums()
