"""Results of every kernel with one element damaged, and whether ``verify`` notices: writes tables of ``faults``.

The small problem of each kernel runs once, and once more for each option of its proof.  In each array of its result
one element at a time is changed: the first, the last and two that the seed draws; to NaN, to infinity, to zero, and by
a thousandth of itself (a whole number by a thousandth and at least one).  What changes nothing is no case.  ``verify``
must return a check that fails.  Left out is what the kernel names in ``NO_OUTPUT``; where it names a field in
``BOUNDED``, NaN and infinity must be noticed (``kernels/contract.py``).  Kernels that run on ranks are damaged in
``tests/kernels/mpi``.
"""

import csv
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import numpy as np
from tqdm import tqdm

if __name__ == "__main__":  # before tests/, whose rooms have the names of those they test
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from kernels_found import KERNELS, SINGLE, small

from kernels.runtime.states import arrays

#: Kernels whose results are single numbers, each compared with the one that it must be.
SINGLE_NUMBERS = {
    f"kernels.{name}" for name in ("files.devices", "files.messages", "files.replay", "files.stripes", "jobs")
}
JUDGED = [name for name in SINGLE if name not in SINGLE_NUMBERS]
TABLES = Path(__file__).with_name("faults")
#: Smaller than the small problem where every case takes long; whole blocks, whose places beyond the last column are
#: computed and read by nobody.
TINY = {
    "kernels.imaging.ddt": {"size": "tiny"},
    "kernels.spectral": {"truncation": 15},
    "kernels.routines.cloud": {"columns": 224},
}
KINDS = ("NaN", "infinite", "zero", "off by 1e-3")


class Case(NamedTuple):
    """One damaged element."""

    array: str  # its path in the result
    place: int  # in the order of a flat array
    kind: str  # of KINDS

    def __str__(self) -> str:
        return f"{self.array} [{self.place}] {self.kind}"


def named(result) -> list[tuple[str, np.ndarray]]:
    """Every array of a result with its path; one of records as its columns."""
    found = [(path.lstrip("."), array) for path, array in arrays(result, "") if array.size]
    return [
        pair
        for path, array in found
        for pair in ([(f"{path}.{name}", array[name]) for name in array.dtype.names or ()] or [(path, array)])
    ]


def inner(path: str, names) -> bool:
    """Whether ``path`` is one of ``names``, or inside of what one of them names."""
    return any(path == name or path.startswith((f"{name}.", f"{name}[")) for name in names)


def changed(value, kind: str):
    """``value`` (a NumPy scalar) after one kind of damage; itself where that changes nothing."""
    sort = value.dtype.kind
    if sort == "b":
        return ~value if kind == KINDS[3] else value
    if sort not in "fc" and kind in KINDS[:2]:
        return value
    if kind == "NaN":
        return value.dtype.type(np.nan)
    if kind == "infinite":
        return value.dtype.type(np.inf)
    if kind == "zero":
        return value.dtype.type(0)
    if sort in "fc":
        return value.dtype.type(value * 1.001)
    return value.dtype.type(int(value) ^ 1 if abs(int(value)) < 2000 else int(value) - int(value) // 1000)


def places(array: np.ndarray, generator) -> list[int]:
    """First, last and two drawn places of a flat array."""
    return sorted({0, array.size - 1, *generator.integers(array.size, size=2).tolist()})


def problems(name: str, folder) -> list:
    """The small problem of a kernel, and the same with each option of its proof in turn."""
    kernel, base = KERNELS[name], replace(small(name, folder), **TINY.get(name, {}))
    each = getattr(getattr(kernel, "PROOF", None), "each", {})
    others = [replace(base, **{field: value}) for field, values in each.items() for value in values]
    return list(dict.fromkeys([base, *others]))


def declared(kernel, problem, word: str) -> dict[str, str]:
    """What a kernel says under ``word``: paths of arrays with their reasons."""
    said = getattr(kernel, word, {})
    return said(problem) if callable(said) else said


def damaged(result, seed: int, without=(), bounded=()) -> Iterator[Case]:
    """Damage one element after another, each whole again before the next."""
    for path, array in named(result):
        if inner(path, without):
            continue
        generator = np.random.default_rng([seed, crc32(path.encode())])
        if array.flags.writeable:
            yield from _each(path, array, generator, KINDS[:2] if inner(path, bounded) else KINDS)


def _each(path, array, generator, kinds) -> Iterator[Case]:
    for place in places(array, generator):
        at = np.unravel_index(place, array.shape)
        value = array[at]
        for kind in kinds:
            with np.errstate(over="ignore"):
                other = changed(value, kind)
            if other == value or (other != other and value != value):
                continue
            array[at] = other
            yield Case(path, place, kind)
            array[at] = value


def noticed(kernel, problem, result) -> bool:
    """Whether ``verify`` returns a check that fails."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return any(not check.ok for check in kernel.verify(problem, result))


class Found(NamedTuple):
    """What came of one kernel."""

    tried: int
    taken: list[str]  # damaged results that ``verify`` took for whole
    no_output: dict[str, str]  # arrays that are not looked at, with reasons
    bounded: dict[str, str]  # arrays of which only NaN and infinity are asked to be noticed


def judge(name: str, seed: int = 0) -> Found:
    """Damage the results of a kernel's small problems."""
    kernel, found, paths = KERNELS[name], Found(0, [], {}, {}), set()
    with tempfile.TemporaryDirectory() as folder:
        for problem in problems(name, folder):
            result = kernel.run(problem, kernel.setup(problem))
            paths |= {path for path, _ in named(result)}
            found = _judged(kernel, problem, result, seed, found)
    stale = [name for name in found.no_output | found.bounded if not any(inner(path, [name]) for path in paths)]
    return found._replace(taken=found.taken + [f"{name}: declared, and no array of a result" for name in stale])


def _judged(kernel, problem, result, seed, found: Found) -> Found:
    said = [declared(kernel, problem, word) for word in ("NO_OUTPUT", "BOUNDED")]
    taken, tried = found.taken, found.tried
    for case in damaged(result, seed, *said):
        tried += 1
        try:
            if not noticed(kernel, problem, result):
                taken.append(f"{case} of {problem}")
        except Exception as error:  # a judgement is asked for, no error
            taken.append(f"{case} of {problem}: {type(error).__name__}: {error}")
    taken += [f"whole: {check}" for check in kernel.verify(problem, result) if not check.ok]
    return Found(tried, taken, found.no_output | said[0], found.bounded | said[1])


def reasons(name: str, found: Found) -> list[dict[str, str]]:
    """Rows of the page's table: what is not noticed of a kernel's results, and why."""
    said = {"nothing": found.no_output, "NaN and infinity": found.bounded}
    return [
        {"kernel": name, "array": path, "noticed": noticed, "reason": why}
        for noticed, paths in said.items()
        for path, why in sorted(paths.items())
    ]


def undamaged(name: str) -> Found:
    """What a kernel says of its results, whatever the problem, where they are not judged here."""
    kernel = KERNELS[name]
    return Found(0, [], *(declared(kernel, None, word) for word in ("NO_OUTPUT", "BOUNDED")))


def printed(name: str) -> list[dict[str, str]]:
    """A kernel's rows of the page's table as it is committed."""
    with (TABLES / "no_output.csv").open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["kernel"] == name]


def _write(name: str, rows: list[dict]) -> None:
    with (TABLES / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def main() -> None:
    """Judge every kernel of one process and write both tables."""
    found = {name: judge(name) for name in tqdm(JUDGED, disable=None)}
    said = {name: found[name] if name in found else undamaged(name) for name in KERNELS}
    _write("no_output", [row for name, each in said.items() for row in reasons(name, each)])
    counted = {name: each for name, each in found.items() if each.tried}
    _write(
        "results",
        [{"kernel": name, "damaged": each.tried, "taken for whole": len(each.taken)} for name, each in counted.items()],
    )


if __name__ == "__main__":
    main()
