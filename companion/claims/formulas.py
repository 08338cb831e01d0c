"""Formulas of claims: arithmetic on printed cells, as ``claims.csv`` writes it.

``prose.word`` is a fact, ``systems[memory, ymp]`` the cell of a row and a column, ``table_1[..., N]`` every cell of a
column.  In brackets a word is text, unless a loop binds it; ``+`` joins words, and quotation marks hold what is no
word.  In a loop over rows a word outside brackets is a column of the row, ``row[section + _percent]`` the column that
the loop names.  A formula is translated once, by its syntax tree; what is not listed here is refused.
"""

import ast
import math
import operator
import re
import statistics
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from companion.claims.intervals import Interval, as_interval, total
from companion.claims.sheets import Reader, Row, Sheet

_Value = Interval | float | list[Interval]
_Values = list[Interval]


@dataclass(frozen=True)
class _Scope:
    """What the words of a formula stand for."""

    reader: Reader
    words: Mapping[str, str] = field(default_factory=dict)  # bound by loops
    row: Row | None = None  # of the innermost loop over rows
    label: tuple[str, ...] = ()  # what each loop has reached


def _median(values: _Values) -> Interval:
    """Each end for itself."""
    return Interval(*(statistics.median(getattr(value, end) for value in values) for end in ("mid", "lo", "hi")))


_OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}
#: name -> what it makes of its values: ``exact`` is a printed number without its half unit, ``about`` one with the half
#: width that follows it; ``nearest`` has its target first
FUNCTIONS: dict[str, Callable[[_Values], Interval]] = {
    "about": lambda values: Interval.around(values[0].mid, values[1].mid),
    "exact": lambda values: as_interval(values[0].mid),
    "floor": lambda values: as_interval(math.floor(values[0].mid)),
    "sum": total,
    "max": lambda values: max(values, key=operator.attrgetter("mid")),
    "median": _median,
    "nearest": lambda values: min(values[1:], key=lambda value: abs(value.mid - values[0].mid)),
}
_CELL = re.compile(r"\{([^{}]+)\}")  # in what a claim prints
_ROWS = re.compile(r"rows of (\S+)(?: and (\S+))?(?: where (\w+) is (not )?(.+))?")
_WORDS = re.compile(r"(\w+) in (.+)")


def _refuse(node: ast.AST) -> ValueError:
    return ValueError(f"{ast.unparse(node)!r} is none of cells, numbers, + - * / and {', '.join(FUNCTIONS)}")


def _word(node: ast.expr) -> Callable[[_Scope], object]:
    """A part of an address: text, or ``...`` for all."""
    match node:
        case ast.Constant(value=value) if value is ... or type(value) in (str, int):
            text = value if value is ... else str(value)
            return lambda scope: text
        case ast.Name(id=name):
            return lambda scope: scope.words.get(name, name)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            first, second = _word(left), _word(right)
            return lambda scope: f"{first(scope)}{second(scope)}"
    raise _refuse(node)


def _cell(node: ast.expr) -> Callable[[_Scope], tuple[Sheet, tuple]]:
    """The sheet and the address of a cell."""
    parts: list[Callable[[_Scope], object]]
    match node:
        case ast.Name(id=column):
            table, parts = "row", [lambda scope: column]
        case ast.Attribute(value=ast.Name(id=table), attr=fact):
            parts = [lambda scope: fact]
        case ast.Subscript(value=ast.Name(id=table), slice=place):
            parts = [_word(part) for part in (place.elts if isinstance(place, ast.Tuple) else [place])]
        case _:
            raise _refuse(node)

    def found(scope: _Scope) -> tuple[Sheet, tuple]:
        address = tuple(part(scope) for part in parts)
        if table != "row":
            return scope.reader(table), address
        if scope.row is None:
            raise ValueError(f"{ast.unparse(node)!r} is a column, and no loop gives its row")
        return scope.row.sheet, (*scope.row.keys, *address)

    return found


def _printed(node: ast.expr) -> Callable[[_Scope], _Value]:
    """The number in a cell, or in every cell of a column."""
    place = _cell(node)

    def value(scope: _Scope) -> _Value:
        sheet, address = place(scope)
        if ... not in address:
            return sheet[address]
        *key, column = address
        chosen = [own for own in sheet.keys() if all(part in (..., word) for part, word in zip(key, own, strict=True))]
        return [sheet[(*own, column)] for own in chosen]

    return value


def _pairwise(apply: Callable, first: _Value, second: _Value) -> _Value:
    if isinstance(first, list) and isinstance(second, list):
        return [apply(one, other) for one, other in zip(first, second, strict=True)]
    return apply(first, second)


def _translate(node: ast.expr) -> Callable[[_Scope], _Value]:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return lambda scope: number
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            apply, first, second = _OPERATORS[type(op)], _translate(left), _translate(right)
            return lambda scope: _pairwise(apply, first(scope), second(scope))
        case ast.Call(func=ast.Name(id=name), args=[_, *_] as given, keywords=[]) if name in FUNCTIONS:
            function, parts = FUNCTIONS[name], [_translate(each) for each in given]
            return lambda scope: function(_flat([part(scope) for part in parts]))
        case ast.Name() | ast.Attribute() | ast.Subscript():
            return _printed(node)
    raise _refuse(node)


def _flat(values: list[_Value]) -> _Values:
    return [one for value in values for one in (value if isinstance(value, list) else [as_interval(value)])]


def _tree(text: str) -> ast.expr:
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError as error:
        raise ValueError(f"{text!r} is no formula: {error.msg}") from None


@cache
def formula(text: str) -> Callable[[_Scope], _Value]:
    """What computes a formula.  ``ValueError`` where it is none."""
    return _translate(_tree(text))


@cache
def sentence(text: str) -> Callable[[_Scope], str]:
    """What writes a printed value: ``"{prose.file_size} GBytes"``.  In a loop over rows its cells must hold numbers."""
    words = _CELL.split(text)
    places = [_cell(_tree(each)) for each in words[1::2]]

    def write(scope: _Scope) -> str:
        result = words[0]
        for place, after in zip(places, words[2::2], strict=True):
            sheet, address = place(scope)
            if scope.row is not None:
                sheet[address]  # EmptyCell where no number is printed
            result += sheet.text(*address) + after
        return result

    return write


def loop(text: str, reader: Reader) -> Iterator[_Scope]:
    """A scope for every turn of a loop: ``size in small, large; rows of ddt_{size}``; one where there is no loop."""
    scopes = [_Scope(reader)]
    for clause in filter(None, text.split("; ")):
        scopes = [turn for scope in scopes for turn in _turns(clause, scope)]
    yield from scopes


def _turns(clause: str, scope: _Scope) -> Iterator[_Scope]:
    if rows := _ROWS.fullmatch(clause):
        table, other, column, unlike, wanted = rows.groups()
        for row in scope.reader(table.format_map(scope.words)).lines():
            if other and row.keys not in scope.reader(other).rows:
                continue
            if column is None or (row.text(column) == wanted) is not bool(unlike):
                yield _Scope(scope.reader, {**scope.words, **row.words()}, row, (*scope.label, row.key))
    elif words := _WORDS.fullmatch(clause):
        name, values = words.groups()
        for value in values.split(", "):
            yield _Scope(scope.reader, {**scope.words, name: value}, scope.row, (*scope.label, value))
    else:
        raise ValueError(f"{clause!r} is no loop; write 'rows of table' or 'name in word, word'")
