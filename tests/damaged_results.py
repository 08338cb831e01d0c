"""Results of every kernel with one element damaged, and whether ``verify`` notices: writes tables of ``faults``.

The small problem of each kernel runs once, and once more for each option of its proof.  In each array of its result
one element at a time is changed: the first, the last and some that the seed draws, the more of them the larger the
array and the faster ``verify`` is; to NaN, to infinity, to zero, and by a thousandth of itself (a whole number by a
thousandth and at least one).  What changes nothing is no case.  ``verify`` must return a check that fails.  Each run
draws a seed of its own and says it; ``--seed`` repeats one.  Left out is what the kernel names in ``NO_OUTPUT``; of a
field in ``BOUNDED`` a change of its bound is tried as well, and one below it is no case (``kernels/contract.py``).
Kernels that run on ranks are damaged in ``tests/kernels/mpi``.
"""

import secrets
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple
from zlib import crc32

import numpy as np
import typer
from tqdm import tqdm

if __name__ == "__main__":  # before tests/, whose rooms have the names of those they test
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from kernels_found import KERNELS, SINGLE, small
from tools import FAULTS, keep_rows, read_rows, this_host, write_rows

#: Smaller than the small problem where every case takes long; whole blocks, whose places beyond the last column are
#: computed and read by nobody.
TINY = {
    "kernels.imaging.ddt": {"size": "tiny"},
    "kernels.spectral": {"truncation": 15},
    "kernels.routines.cloud": {"columns": 224},
}
KINDS = ("NaN", "infinite", "zero", "off by 1e-3", "off by its bound")
#: Processor seconds for the changes of one kernel in `make test`, and the elements of an array among which they are
#: divided at most; three of an array are changed in any case.
SECONDS, MOST = 0.5, 64
#: Kernels of which these three take longer, which only `make weekly` damages.
LONG = ("kernels.imaging.ddt", "kernels.memory.banks")


class Case(NamedTuple):
    """One damaged element."""

    array: str  # its path in the result
    place: int  # in the order of a flat array
    kind: str  # of KINDS

    def __str__(self) -> str:
        return f"{self.array} [{self.place}] {self.kind}"


def _arrays(state: Any, path: str = "state") -> list[tuple[str, np.ndarray]]:
    """Every array in nested dataclasses, named tuples, tuples, lists and dicts, with its path; others are left out."""
    if isinstance(state, np.ndarray):
        return [(path, state)] if state.dtype != object else []
    if is_dataclass(state) and not isinstance(state, type):
        inner = [(f"{path}.{field.name}", getattr(state, field.name, None)) for field in fields(state)]
    elif isinstance(state, tuple) and hasattr(state, "_fields"):
        inner = [(f"{path}.{name}", value) for name, value in zip(state._fields, state, strict=True)]
    elif isinstance(state, list | tuple):
        inner = [(f"{path}[]", value) for value in state]
    elif isinstance(state, dict):
        inner = [(f"{path}[{key!r}]", value) for key, value in state.items()]
    else:
        return []
    return [found for name, value in inner for found in _arrays(value, name)]


def named(result) -> list[tuple[str, np.ndarray]]:
    """Every array of a result with its path; one of records as its columns."""
    found = [(path.lstrip("."), array) for path, array in _arrays(result, "") if array.size]
    return [
        pair
        for path, array in found
        for pair in ([(f"{path}.{name}", array[name]) for name in array.dtype.names or ()] or [(path, array)])
    ]


def numbers(result, path: str = "") -> Iterator[tuple[str, tuple, Any]]:
    """Every number and text inside a result that is no array: its path, the steps to it, and its value."""
    if isinstance(result, (bool, int, float, str)):
        yield path.lstrip("."), (), result
        return
    if is_dataclass(result):
        found = [(f"{path}.{each.name}", each.name, getattr(result, each.name)) for each in fields(result)]
    elif isinstance(result, tuple) and hasattr(result, "_fields"):
        found = [(f"{path}.{name}", name, value) for name, value in zip(result._fields, result, strict=True)]
    elif isinstance(result, tuple):
        found = [(f"{path}[]", number, value) for number, value in enumerate(result)]
    else:
        return
    for name, step, value in found:
        yield from ((inside, (step, *steps), last) for inside, steps, last in numbers(value, name))


def instead(result, steps: tuple, value):
    """A copy of a result with one of its numbers another."""
    if not steps:
        return value
    step, *rest = steps
    if isinstance(step, int):
        return (*result[:step], instead(result[step], tuple(rest), value), *result[step + 1 :])
    made = instead(getattr(result, step), tuple(rest), value)
    return replace(result, **{step: made}) if is_dataclass(result) else result._replace(**{step: made})


def damaged_numbers(result, without, bounded) -> Iterator[tuple[Case, Any]]:
    """Results with one number changed."""
    for path, steps, value in numbers(result):
        if inner(path, without):
            continue
        for kind in KINDS[:4]:
            if isinstance(value, str):
                other = value[:-1] + ("-" if value[-1:] != "-" else "+") if kind == KINDS[3] else value
            else:
                with np.errstate(over="ignore"):
                    other = changed(np.asarray(value)[()], kind).item()
            if other != value and (other == other or value == value):
                yield Case(path, 0, kind), instead(result, steps, other)


def inner(path: str, names) -> bool:
    """Whether ``path`` is one of ``names``, or inside of what one of them names."""
    return any(path == name or path.startswith((f"{name}.", f"{name}[")) for name in names)


def changed(value, kind: str, least: float = 0.0):
    """``value``, a NumPy scalar, after one kind of damage; itself where that changes nothing or less than ``least``."""
    if kind == KINDS[4]:
        return value.dtype.type(value + least) if 0 < least < np.inf and value.dtype.kind in "fc" else value
    other = _changed(value, kind)
    finite = kind not in KINDS[:2]
    return value if finite and least and not abs(other - value) >= least else other


def _changed(value, kind: str):
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


def places(array: np.ndarray, generator, drawn: int = 2) -> list[int]:
    """First, last and so many drawn places of a flat array."""
    return sorted({0, array.size - 1, *generator.integers(array.size, size=drawn).tolist()})


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


def least(path: str, array: np.ndarray, bounded) -> float:
    """The smallest change of an element that must be noticed: none is too small, or what ``BOUNDED`` says."""
    names = [name for name in bounded if inner(path, [name])]
    if not names:
        return 0.0
    bound, _ = bounded[max(names, key=len)]
    return np.inf if bound is None else bound * float(np.max(np.abs(array), initial=0.0))


def damaged(result, seed: int, without, bounded, drawn: int = 2) -> Iterator[Case]:
    """Damage one element after another, each whole again before the next."""
    for path, array in named(result):
        if inner(path, without):
            continue
        generator = np.random.default_rng([seed, crc32(path.encode())])
        if array.flags.writeable:
            yield from _each(path, array, places(array, generator, drawn), least(path, array, bounded))


def _each(path, array, chosen, smallest) -> Iterator[Case]:
    for place in chosen:
        at = np.unravel_index(place, array.shape)
        value = array[at]
        for kind in KINDS:
            with np.errstate(over="ignore", invalid="ignore"):
                other = changed(value, kind, smallest)
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
    bounded: dict[str, tuple]  # arrays of which small changes need not be noticed: from which on, and why


def damage_kernel(name: str, seed: int | None = None, seconds: float = SECONDS) -> Found:
    """Damage the results of a kernel's small problems, in elements that ``seed`` draws, or a seed drawn here."""
    seed = secrets.randbits(32) if seed is None else seed
    kernel, found, paths = KERNELS[name], Found(0, [], {}, {}), set()
    with tempfile.TemporaryDirectory() as folder:
        every = problems(name, folder)
        for problem in every:
            result = kernel.run(problem, kernel.setup(problem))
            paths |= {path for path, *_ in [*named(result), *numbers(result)]}
            found = _damage_result(kernel, problem, result, seed, found, seconds / len(every))
    found = found._replace(bounded=declared(kernel, kernel.Problem.preset("paper"), "BOUNDED") | found.bounded)
    stale = [name for name in found.no_output | found.bounded if not any(inner(path, [name]) for path in paths)]
    return found._replace(taken=found.taken + [f"{name}: declared, and no array of a result" for name in stale])


def _damage_result(kernel, problem, result, seed, found: Found, seconds: float) -> Found:
    said = [declared(kernel, problem, word) for word in ("NO_OUTPUT", "BOUNDED")]
    taken, tried, begin = found.taken, found.tried, time.process_time()
    noticed(kernel, problem, result)
    each = (time.process_time() - begin) * len(KINDS) * max(1, len(named(result)))
    drawn = min(MOST, max(1, int(seconds / each) - 2)) if each else MOST
    for case in damaged(result, seed, *said, drawn):
        tried += 1
        try:
            if not noticed(kernel, problem, result):
                taken.append(f"{case} of {problem}, seed {seed}")
        except Exception as error:  # a failed check is asked for, no error
            taken.append(f"{case} of {problem}, seed {seed}: {type(error).__name__}: {error}")
    if not named(result):
        for case, other in damaged_numbers(result, *said):
            tried += 1
            if not noticed(kernel, problem, other):
                taken.append(f"{case} of {problem}")
    taken += [f"whole: {check}" for check in kernel.verify(problem, result) if not check.ok]
    return Found(tried, taken, found.no_output | said[0], found.bounded | said[1])


def reasons(name: str, found: Found) -> list[dict[str, str]]:
    """Rows of the page's table: what is not noticed of a kernel's results, and why."""
    said = [(path, "nothing", why) for path, why in sorted(found.no_output.items())]
    for path, (bound, why) in sorted(found.bounded.items()):
        more = "" if bound is None else f", changes of {bound:.2g} of the largest number"
        said.append((path, f"NaN and infinity{more}", why))
    return [{"kernel": name, "array": path, "noticed": noticed, "reason": why} for path, noticed, why in said]


def undamaged(name: str) -> Found:
    """What a kernel says of its results, whatever the problem, where they are not damaged here."""
    kernel = KERNELS[name]
    return Found(0, [], *(declared(kernel, None, word) for word in ("NO_OUTPUT", "BOUNDED")))


def printed(name: str) -> list[dict[str, str]]:
    """A kernel's rows of the page's table as it is committed."""
    return [row for row in read_rows(FAULTS / "no_output.csv") if row["kernel"] == name]


def main(
    seed: Annotated[int | None, typer.Option(help="Draws the elements; by default a seed drawn here.")] = None,
    seconds: Annotated[float, typer.Option(help="Of the processor, for each kernel.")] = 60.0,
) -> None:
    """Damage the results of every kernel of one process and write both tables."""
    seed = secrets.randbits(32) if seed is None else seed
    print(f"seed {seed}")
    found = {name: damage_kernel(name, seed, seconds) for name in tqdm(SINGLE, disable=None)}
    said = {name: found[name] if name in found else undamaged(name) for name in KERNELS}
    write_rows(FAULTS / "no_output.csv", [row for name, each in said.items() for row in reasons(name, each)])
    counted = {name: each for name, each in found.items() if each.tried}
    host = this_host()
    keep_rows(
        FAULTS / "results.csv",
        [
            {"kernel": name, "host": host, "damaged": each.tried, "taken for whole": len(each.taken)}
            for name, each in counted.items()
        ],
        ("kernel", "host"),
    )


if __name__ == "__main__":
    typer.run(main)
