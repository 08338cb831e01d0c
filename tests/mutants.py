"""Where code can be changed in one place, and into what; ``mutation.py`` draws from it.

sign         + ↔ −, * ↔ /, unary minus dropped
constant     one digit of a number changed by one, any digit of it
bound        a range or a comparison moved by one (< ↔ <=, > ↔ >=, n ↔ n + 1 in ``range``)
index        an index, an address or a stride moved by one
last         the same in the last turn of a loop only: the last lane, line or column
call         a call made for its effect alone (a store, a step) left out
barrier      the same of what orders memory or threads
swap         two neighbouring arguments of a call exchanged
field        another field of the same named tuple, of the same type; two names that unpack one exchanged
logic        ``and`` ↔ ``or``, the condition of an ``if`` turned round
"""

import ast
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

#: Decorators of functions that are compiled.
COMPILED = ("kernel", "intrinsic")
#: What orders memory or threads and does nothing else.
BARRIERS = ("wait", "wait_aside", "fence", "barrier", "meet")
#: Calls whose arguments may come in any order.
SYMMETRIC = ("min", "max", "range", "prange", "isinstance")
#: Fields of a named tuple: name → annotation.
Fields = dict[str, str]


@dataclass(frozen=True)
class Mutant:
    """One change: ``start … end`` (bytes of the file) become ``text``."""

    path: str
    line: int
    kind: str
    start: int
    end: int
    old: str
    new: str

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}"


def named_tuples(sources: dict[str, str]) -> list[Fields]:
    """The fields of every named tuple that ``sources`` define."""
    trees = (ast.parse(text) for text in sources.values() if "NamedTuple" in text)
    classes = (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    return [
        {each.target.id: ast.unparse(each.annotation) for each in node.body if isinstance(each, ast.AnnAssign)}
        for node in classes
        if any(getattr(base, "id", None) == "NamedTuple" for base in node.bases)
    ]


class Sites(ast.NodeVisitor):
    """Every place of one file that can be changed, inside functions and outside docstrings; ``everywhere`` means in
    any function, else in compiled ones."""

    def __init__(self, path: str, source: str, tuples: list[Fields] | None = None, everywhere: bool = False):
        self.path, self.source, self.found, self._depth = path, source.encode(), [], 0
        self.tuples, self.everywhere = tuples or [], everywhere
        self._used: dict[str, set[str]] = {}  # fields that the function reads of each name
        self._loops: list[tuple[str, str, str]] = []  # variable, end and step of the loops around
        lines = source.splitlines(keepends=True)
        self._starts = [0]
        for line in lines:
            self._starts.append(self._starts[-1] + len(line.encode()))
        self.visit(ast.parse(source))

    def _span(self, node) -> tuple[int, int]:
        return (
            self._starts[node.lineno - 1] + node.col_offset,
            self._starts[node.end_lineno - 1] + node.end_col_offset,
        )

    def _text(self, node) -> str:
        start, end = self._span(node)
        return self.source[start:end].decode()

    def _add(self, node, kind: str, start: int, end: int, new: str) -> None:
        if self._depth:
            self.found.append(Mutant(self.path, node.lineno, kind, start, end, self.source[start:end].decode(), new))

    def visit_FunctionDef(self, node):
        named = {each.func if isinstance(each, ast.Call) else each for each in node.decorator_list}
        nodes = list(ast.walk(node))
        within = {each.id for each in nodes if isinstance(each, ast.Name)}
        counts = self.everywhere or any(getattr(each, "id", None) in COMPILED for each in named) or "prange" in within
        before = self._used
        self._used = {}
        for each in nodes:
            if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name):
                self._used.setdefault(each.value.id, set()).add(each.attr)
        self._depth += counts
        for statement in node.body:
            self.visit(statement)
        self._depth -= counts
        self._used = before

    def visit_AnnAssign(self, node):
        for part in (node.target, node.value):  # types are no arithmetic
            if part is not None:
                self.visit(part)

    def visit_Raise(self, node):
        return  # sentences are no arithmetic

    def visit_JoinedStr(self, node):
        return

    def visit_Constant(self, node):
        if isinstance(node.value, bool) or not isinstance(node.value, (int, float)):
            return
        start, end = self._span(node)
        text = self.source[start:end].decode()
        if text[1:2] in tuple("xXoObB"):
            return  # a digit of another base may have no next one
        places = [match.start() for match in re.finditer("[0-9]", re.split("[eE]", text)[0])]
        for place in places:
            digit = str((int(text[place]) + 1) % 10)
            self._add(node, "constant", start, end, text[:place] + digit + text[place + 1 :])

    def visit_BinOp(self, node):
        swaps = {ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*")}
        if type(node.op) in swaps:
            old, new = swaps[type(node.op)]
            self._replace(node, "sign", node.left, node.right, old, new)
        self.generic_visit(node)

    def _replace(self, node, kind, left, right, old: str, new: str) -> None:
        """Another word between two parts of ``node``."""
        place = self.source.find(old.encode(), self._span(left)[1], self._span(right)[0])
        if place >= 0:
            self._add(node, kind, place, place + len(old), new)

    def visit_UnaryOp(self, node):
        if isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant):
            start = self._span(node)[0]
            self._add(node, "sign", start, start + 1, "+")
        self.generic_visit(node)

    def visit_Compare(self, node):
        swaps = {ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">")}
        if len(node.ops) == 1 and type(node.ops[0]) in swaps:
            self._replace(node, "bound", node.left, node.comparators[0], *swaps[type(node.ops[0])])
        self.generic_visit(node)

    def visit_BoolOp(self, node):
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        if len(node.values) == 2:
            self._replace(node, "logic", *node.values, old, new)
        self.generic_visit(node)

    def visit_If(self, node):
        self._add(node.test, "logic", *self._span(node.test), f"not ({self._text(node.test)})")
        self.generic_visit(node)

    def visit_For(self, node):
        call = node.iter
        loop = isinstance(call, ast.Call) and getattr(call.func, "id", "") in ("range", "prange")
        if loop and isinstance(node.target, ast.Name) and call.args:
            end, step = call.args[min(1, len(call.args) - 1)], call.args[2] if len(call.args) > 2 else None
            self._loops.append((node.target.id, self._text(end), self._text(step) if step else "1"))
        self.generic_visit(node)
        if loop and isinstance(node.target, ast.Name) and call.args:
            self._loops.pop()

    def visit_Call(self, node):
        name = getattr(node.func, "id", "")
        if name in ("range", "prange") and node.args:
            last = node.args[min(1, len(node.args) - 1)]
            self._add(node, "bound", *self._span(last), f"({self._text(last)} - 1)")
        for one, two in itertools.pairwise(node.args):
            if name not in SYMMETRIC and self._text(one) != self._text(two):
                self._exchange("swap", one, two)
        self.generic_visit(node)

    def _exchange(self, kind: str, one, two) -> None:
        """Two neighbours of a list change places."""
        between = self.source[self._span(one)[1] : self._span(two)[0]].decode()
        self._add(one, kind, self._span(one)[0], self._span(two)[1], self._text(two) + between + self._text(one))

    def visit_Assign(self, node):
        if isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, (ast.Name, ast.Attribute)):
            for one, two in itertools.pairwise(node.targets[0].elts):
                self._exchange("field", one, two)
        self.generic_visit(node)

    def visit_Attribute(self, node):
        if isinstance(node.value, ast.Name):
            for other in self._alike(node.value.id, node.attr):
                end = self._span(node)[1]
                self._add(node, "field", end - len(node.attr), end, other)
        self.generic_visit(node)

    def _alike(self, name: str, field: str) -> Iterator[str]:
        """The next field of the same type in the first named tuple that has all that is read of ``name``."""
        for fields in self.tuples:
            if field in fields and self._used.get(name, set()) <= fields.keys():
                order = list(fields)
                ahead = order[order.index(field) + 1 :] + order[: order.index(field)]
                yield from [other for other in ahead if fields[other] == fields[field]][:1]
                return

    def visit_Subscript(self, node):
        if isinstance(node.slice, (ast.Name, ast.BinOp)):
            start, end = self._span(node.slice)
            text = self._text(node.slice)
            self._add(node, "index", start, end, f"{text} + 1")
            names = {each.id for each in ast.walk(node.slice) if isinstance(each, ast.Name)}
            for loop, stop, step in self._loops[-1:]:
                if loop in names:
                    self._add(node, "last", start, end, f"{text} if {loop} + {step} < {stop} else {text} - 1")
        self.generic_visit(node)

    def visit_Expr(self, node):
        if isinstance(node.value, ast.Call):
            kind = "barrier" if getattr(node.value.func, "id", "") in BARRIERS else "call"
            self._add(node, kind, *self._span(node), "pass")
        if not isinstance(node.value, ast.Constant):
            self.generic_visit(node)


def sites(root: Path, rooms) -> dict[str, list[Mutant]]:
    """Mutants by kind, of the files below ``rooms``; in ``kernels/`` those of compiled functions."""
    tops = {Path(room).parts[0] for room in rooms}
    every = [path for top in sorted(tops) for path in sorted((root / top).rglob("*.py"))]
    sources = {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in every}
    tuples = named_tuples(sources)
    found: dict[str, list[Mutant]] = {}
    for path, source in sources.items():
        if any(f"{path}/".startswith((f"{room}/", f"{room}.py/")) for room in rooms):
            for mutant in Sites(path, source, tuples, not path.startswith("kernels/")).found:
                found.setdefault(mutant.kind, []).append(mutant)
    return found
