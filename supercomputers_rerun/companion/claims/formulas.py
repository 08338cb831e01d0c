"""Formulas of claims: Python over printed cells, as ``claims.csv`` writes it.

``prose.word`` is a fact, ``systems[memory, ymp]`` the cell of a row and a column, ``table_1[..., N]`` every cell of a
column.  A name that is neither a table, nor bound by a loop, nor a column of its row, stands for its own text, so that
keys and columns need quotation marks only where they are no names; ``+`` joins texts.  In a loop over rows a name is a
column of the row: in arithmetic its number, in brackets its text.  ``row[section + _percent]`` is the column that the
loop names.  The formulas are this repository's own text and are evaluated as such.
"""

import math
import operator
import re
import statistics
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from types import CodeType
from typing import Any

import numpy as np

from supercomputers_rerun.companion.claims.intervals import Interval, as_interval, total
from supercomputers_rerun.companion.claims.sheets import Cell, EmptyCell, Reader, Row

_ROWS = re.compile(r"rows of (\S+)(?: and (\S+))?(?: where (\w+) is (not )?(.+))?")
_WORDS = re.compile(r"(\w+) in (.+)")
_CELL = re.compile(r"\{([^{}]+)\}")  # in what a claim prints


def _values(given) -> list[Interval]:
    """Numbers and columns as one list.  ``EmptyCell`` where one is no number."""
    values = [as_interval(one) for value in given for one in (value if isinstance(value, np.ndarray) else [value])]
    if any(math.isnan(value.mid) for value in values):
        raise EmptyCell("a cell of a formula is empty")
    return values


#: What formulas may call: ``exact`` is a printed number without its half unit, ``about`` one with another.
FUNCTIONS = {
    "about": lambda value, half: Interval.around(value.mid, as_interval(half).mid),
    "exact": lambda value: as_interval(value.mid),
    "floor": lambda value: as_interval(math.floor(value.mid)),
    "sum": lambda *given: total(_values(given)),
    "max": lambda *given: max(_values(given), key=operator.attrgetter("mid")),
    "median": lambda *given: Interval(  # each end for itself
        *(statistics.median(getattr(value, end) for value in _values(given)) for end in ("mid", "lo", "hi"))
    ),
    "nearest": lambda target, *given: min(_values(given), key=lambda value: abs(value.mid - as_interval(target).mid)),
}


@cache
def _code(text: str) -> CodeType:
    return compile(text, text, "eval")


@dataclass
class Turn:
    """What the names of a formula stand for in one turn of a loop, as a mapping for ``eval``."""

    reader: Reader
    words: dict[str, str] = field(default_factory=dict)  # bound by loops
    row: Row | None = None  # of the innermost loop over rows
    label: tuple[str, ...] = ()  # what each loop has reached

    def __getitem__(self, name: str):
        if name == "row":
            return self.row
        if self.row and name in self.row.columns:
            return self.row.named(name, self.words.get(name, name))
        for known in (self.words, FUNCTIONS):
            if name in known:
                return known[name]
        return self.reader(name) if name in self.reader.tables else name

    def _eval(self, text: str) -> Any:
        return eval(_code(text), {"__builtins__": {}}, self)  # type: ignore[arg-type]  # eval asks for no more

    def value(self, text: str) -> Interval:
        """What a formula computes.  ``EmptyCell`` where it has no number, ``ValueError`` for an unknown name."""
        try:
            (value,) = _values([self._eval(text)])
        except (KeyError, ValueError, TypeError, AttributeError, SyntaxError) as error:
            columns = f"; columns of its row are {', '.join(self.row.columns)}" if self.row else ""
            reason = error.args[0]
            if isinstance(error, (TypeError, AttributeError)) or "could not convert" in str(error):
                names = re.findall(r"\b[A-Za-z_]\w*", text)
                strange = next((name for name in names if self[name] == name not in self.words), None)
                reason = f"{strange!r} is no column, table or function" if strange else reason
            raise ValueError(f"formula {text!r}: {reason}{columns}") from error
        return value

    def sentence(self, text: str) -> str:
        """A printed value, with its cells in braces: ``"{prose.file_size} GBytes"``.

        In a loop over rows the cells must hold numbers: else ``EmptyCell``.  ``ValueError`` for what is no cell.
        """

        def printed(match: re.Match) -> str:
            cell = self._eval(match[1])
            if not isinstance(cell, Cell) and not (self.row and match[1] in self.row.columns):
                raise ValueError(f"{match[0]} is no cell of a table")
            if not isinstance(cell, Cell) or (self.row and math.isnan(cell.mid)):
                raise EmptyCell(f"{match[1]} is no printed number")
            self.reader.log.append((*cell.place, cell.text))
            return cell.text

        said = _CELL.sub(printed, text)
        if "{" in said or "}" in said:
            raise ValueError(f"{text!r} has a brace too many")
        return said


def loop(text: str, reader: Reader) -> Iterator[Turn]:
    """The turns of a loop: ``size in small, large; rows of ddt_{size}``; one where there is no loop."""
    turns = [Turn(reader)]
    for clause in filter(None, text.split("; ")):
        turns = [turn for before in turns for turn in _turns(clause, before)]
    yield from turns


def _turns(clause: str, turn: Turn) -> Iterator[Turn]:
    if rows := _ROWS.fullmatch(clause):
        table, other, column, unlike, wanted = rows.groups()
        both = set(turn.reader(other).keys()) if other else None
        sheet = turn.reader(table.format_map(turn.words))
        for row in (Row(sheet, key) for key in sheet.keys()):
            wrong = column and (row[column].text == wanted) is bool(unlike)
            if not wrong and (both is None or row.keys in both):
                yield Turn(turn.reader, {**turn.words, **row.words}, row, (*turn.label, row.key))
    elif words := _WORDS.fullmatch(clause):
        name, values = words.groups()
        for value in values.split(", "):
            yield Turn(turn.reader, {**turn.words, name: value}, turn.row, (*turn.label, value))
    else:
        raise ValueError(f"{clause!r} is no loop; write 'rows of table' or 'name in word, word'")
