"""The register of claims: ``companion/chapters/<document>/claims.csv`` made into a ledger.

The first row of a claim has its place and its sentence.  Rows that follow under the same name are more items of it, or
the reason of one.  ``formula`` is arithmetic on cells (``companion.claims.formulas``); ``python`` where the function of
that name in the chapter's ``claims.py`` computes; empty where the document does not give the inputs.
"""

from collections.abc import Callable
from functools import cache
from itertools import groupby
from types import ModuleType

from companion import chapters
from companion.claims import formulas
from companion.claims.engine import ALL, Items, Maker
from companion.claims.sheets import EmptyCell, Reader
from companion.claims.verdicts import INSTEAD, Bound

COLUMNS = ("claim", "item", "where", "statement", "for", "printed", "bound", "formula", "instead", "reason", "note")
PYTHON = "python"
_Line = dict[str, str]


def _bounded(text: str, bound: str) -> str:
    """``bound`` is a sign before the printed value, or all that the value is held to."""
    if not bound:
        return text
    return Bound(bound if any(map(str.isdigit, bound)) else f"{bound} {text}", text)


def _items(line: _Line, reader: Reader, function: Callable | None) -> Items:
    """What a row makes: one item, or one for each turn of its loop."""
    for scope in formulas.loop(line["for"], reader):
        try:
            if function:
                value = function(reader)
            else:
                value = formulas.formula(line["formula"])(scope) if line["formula"] else None
            text = formulas.sentence(line["printed"])(scope)  # the last cell read is the printed one
        except (EmptyCell, ZeroDivisionError):
            if scope.row is None:
                raise
            continue  # a row without the number makes no claim
        item = line["item"].format_map(scope.words) if line["item"] else " ".join(scope.label)
        yield item, _bounded(text, line["bound"]), value


def _function(name: str, parts: list[_Line], functions: ModuleType | None) -> Callable | None:
    if all(line["formula"] != PYTHON for line in parts):
        return None
    if not hasattr(functions, name):
        raise ValueError("its formula is python, and claims.py has no function of its name")
    return getattr(functions, name)


def _maker(document: str, name: str, group: list[_Line], functions: ModuleType | None) -> Maker:
    """One claim from its rows.  ``ValueError`` says what is wrong with them."""
    first, parts = group[0], [line for line in group if line["printed"] or line["formula"]]
    function = _function(name, parts, functions)
    if not (first["where"] and first["statement"] and parts):
        raise ValueError("its rows lack a place, a sentence or a printed value")
    for line in group:
        formulas.sentence(line["printed"])
        if line["formula"] not in ("", PYTHON):
            formulas.formula(line["formula"])
        if line["instead"] not in ("", *INSTEAD):
            raise ValueError(f"{line['instead']!r} is none of {', '.join(map(repr, INSTEAD))}")

    def make(reader: Reader) -> Items:
        for line in parts:
            if function and not line["printed"]:
                yield from function(reader)
            else:
                yield from _items(line, reader, function if line["formula"] == PYTHON else None)

    noted = [(item, line) for line in group for item in ([ALL] if line["for"] else line["item"].split(" | "))]
    reasons, instead = ({item: line[what] for item, line in noted if line[what]} for what in ("reason", "instead"))
    return Maker(name, document, first["where"], first["statement"], make, reasons, instead)


def build(document: str, rows: list[_Line], functions: ModuleType | None = None) -> list[Maker]:
    """The entries of rows and the functions that some of them name.  ``ValueError`` names the claim that is wrong."""
    found: dict[str, Maker] = {}
    for name, group in groupby(rows, key=lambda line: line["claim"]):
        try:
            if name in found:
                raise ValueError("two claims have this name; rename one")
            found[name] = _maker(document, name, list(group), functions)
        except ValueError as error:
            raise ValueError(f"{document}/claims.csv, claim {name}: {error}") from None
    return list(found.values())


@cache
def ledger(document: str) -> list[Maker]:
    """The claims of one document, in the order of its register."""
    functions = chapters.part(document, "claims") if document in chapters.documents("claims") else None
    return build(document, chapters.rows("claims.csv", COLUMNS)[document], functions)
