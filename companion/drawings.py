"""What chapters draw and tabulate of runs: rows of ``companion/chapters/<document>/drawings.csv``.

A row is a call of a function of the chapter's figures.  ``takes`` has what it is called with, separated by semicolons:
``run xc30-forecast``, the run of an experiment; ``printed fig4_1``, a table as printed; ``load fig4_1``, the same for
analysis, ``load prose clock``, one number of it, and ``count prose cpus``, a whole one (a table of another document is
``p5plus/drhook``); ``text``, the words that follow; and the ``name`` of another row, whose value it takes.  ``key=``
before any of these gives it by keyword.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from typing import Any

from companion import chapters, tables
from companion.records import runs

COLUMNS = ("name", "function", "takes")


def _split(document: str, words: str) -> tuple[str, str, str]:
    """Document, table and field of ``"p5plus/drhook field"``; of its own document and no field where these are left."""
    place, _, field = words.partition(" ")
    home, _, table = place.rpartition("/")
    return home or document, table, field


def _load(document: str, words: str) -> Any:
    home, table, field = _split(document, words)
    found = tables.load(home, table)
    return found[field].item() if field else found


#: What a word before a table or a text gives.
_KINDS: dict[str, Callable[[str, str], Any]] = {
    "load": _load,
    "count": lambda document, words: int(_load(document, words)),
    "printed": lambda document, words: tables.printed(*_split(document, words)[:2]),
    "text": lambda document, words: words,
}


@dataclass(frozen=True)
class Drawing:
    """One call of a chapter's figures with a run, and perhaps with those of other experiments on its machine."""

    document: str
    experiment: str
    function: str
    takes: str
    others: tuple[str, ...] = ()  # experiments whose runs it takes, too

    def __call__(self, record) -> Any:
        from companion.figures.beside import on_machine_of  # what is drawn is listed without matplotlib

        given = {self.experiment: record}
        for name in self.others:
            run = on_machine_of(record, name)
            given[name] = runs.latest(name) if run is None else run
        return _called(self.document, {"function": self.function, "takes": self.takes}, given)

    def __str__(self) -> str:
        return f"{self.experiment}: {self.function}"


@cache
def _rows() -> dict[str, list[dict[str, str]]]:
    return chapters.rows("drawings.csv", COLUMNS)


def _named(document: str, name: str) -> dict[str, str]:
    """The row whose value others take by its name. ``ValueError`` if there is none."""
    found = next((row for row in _rows()[document] if row["name"] == name), None)
    if found is None:
        raise ValueError(f"{document}/drawings.csv: {name!r} is neither a table nor a run nor the name of a row")
    return found


def _arguments(row: dict[str, str]) -> list[tuple[str, str, str]]:
    """Keyword, kind and words of everything that a row takes."""
    found = []
    for each in row["takes"].split("; "):
        key, _, value = each.rpartition("=")
        kind, _, words = value.partition(" ")
        found.append((key, kind, words))
    return found


def _called(document: str, row: dict[str, str], given: dict[str, Any]) -> Any:
    """The value of a row with the runs ``given``."""

    def value(kind: str, words: str) -> Any:
        if kind == "run":
            return given[words]
        return _KINDS[kind](document, words) if kind in _KINDS else _called(document, _named(document, kind), given)

    found = [(key, value(kind, words)) for key, kind, words in _arguments(row)]
    call = attrgetter(row["function"])(chapters.part(document, "figures"))
    return call(*(each for key, each in found if not key), **{key: each for key, each in found if key})


def _experiments(document: str, row: dict[str, str]) -> list[str]:
    """Experiments whose runs a row takes, itself or through others."""
    found = []
    for _, kind, words in _arguments(row):
        if kind not in _KINDS:
            found += [words] if kind == "run" else _experiments(document, _named(document, kind))
    return list(dict.fromkeys(found))


def of(document: str) -> list[Drawing]:
    """What a chapter draws of runs, once for each experiment whose run it takes.

    ``ValueError`` if a row takes a value that no row has.
    """
    return [
        Drawing(document, experiment, row["function"], row["takes"], tuple(sorted(set(taken) - {experiment})))
        for row in _rows().get(document, [])
        for taken in [_experiments(document, row)]
        for experiment in taken
    ]


def every_drawing() -> list[Drawing]:
    """Of all chapters, each once."""
    return list(dict.fromkeys(each for document in _rows() for each in of(document)))
