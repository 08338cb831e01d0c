"""What the notebooks draw and tabulate from the run of an experiment, read from their cells.

Nothing lists them but the notebooks, which nobody can forget to keep up to date: ``python -m companion show`` draws
them from a record, and a test tries every one with other runs.
"""

import ast
import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from companion import notebook_files
from companion.figures.beside import on_machine_of
from companion.records import runs

RECORDS = "__records__"


@dataclass(frozen=True)
class Drawing:
    """One call of a chapter's figures with a run, and perhaps with those of other experiments on its machine."""

    experiment: str
    call: str  # source, with ``RECORDS["id"]`` in place of the runs
    before: str  # source of the _statements that it needs
    others: tuple[str, ...] = ()  # experiments whose runs it takes, too

    def __call__(self, record) -> Any:
        given = {self.experiment: record}
        for name in self.others:
            run = on_machine_of(record, name)
            given[name] = runs.latest(name) if run is None else run
        names: dict[str, Any] = {RECORDS: given}
        exec(self.before, names)
        return eval(self.call, names)

    def __str__(self) -> str:
        return f"{self.experiment}: {self.call.partition('(')[0]}"


def _statements(path: Path) -> list[ast.stmt]:
    """Every statement of a notebook's code cells, in order."""
    return [statement for source in notebook_files.sources(path) for statement in ast.parse(source).body]


def _is_run(node: ast.AST) -> bool:
    """Whether a node is ``runs.latest(…)``, ``experiments.run(…)`` or ``ranks.live(…)``."""
    asked = ("runs.latest", "experiments.run", "ranks.live")
    return isinstance(node, ast.Call) and ast.unparse(node.func) in asked


def _run_of(node: ast.AST) -> str | None:
    """The experiment of a run that a node asks for by name."""
    if not isinstance(node, ast.Call) or not _is_run(node):
        return None
    texts = [each.value for each in node.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    return texts[0] if texts else None


def _names_of(node: ast.AST) -> set[str]:
    """Names that an expression or statement takes from outside."""
    found = [each for each in ast.walk(node) if isinstance(each, ast.Name)]
    own = {each.id for each in found if isinstance(each.ctx, ast.Store)}
    own |= {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}
    return {each.id for each in found if isinstance(each.ctx, ast.Load)} - own


def _bound_by(statement: ast.stmt) -> set[str]:
    """Names that a statement gives."""
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return {(name.asname or name.name).partition(".")[0] for name in statement.names}
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return {statement.name}
    targets = [*getattr(statement, "targets", []), getattr(statement, "target", None)]
    stores = (each for target in targets if target is not None for each in ast.walk(target))
    return {each.id for each in stores if isinstance(each, ast.Name)}


def _figure_names(statement: ast.stmt) -> set[str]:
    """Names under which a statement imports a chapter's figures."""
    if not isinstance(statement, ast.ImportFrom) or not (statement.module or "").startswith(f"{__package__}.chapters."):
        return set()
    whole = {name.asname or name.name: f"{statement.module}.{name.name}" for name in statement.names}
    return {name for name, module in whole.items() if ".figures" in module}


def several(statement: ast.stmt) -> dict[str, str]:
    """Key -> experiment of ``x = {key: runs.latest(f"…{key}") for key in (…)}``."""
    value = getattr(statement, "value", None)
    if not isinstance(value, ast.DictComp) or not isinstance(value.value, ast.Call) or not _is_run(value.value):
        return {}
    (loop,) = value.generators
    assert isinstance(loop.target, ast.Name)
    keys = ast.literal_eval(loop.iter)
    named = ast.Expression(
        ast.Lambda(ast.arguments([], [ast.arg(loop.target.id)], None, [], [], None, []), value.value.args[0])
    )
    name = eval(compile(ast.fix_missing_locations(named), "<runs>", "eval"))
    return {key: name(key) for key in keys}


class _Runs(ast.NodeTransformer):
    """Puts ``RECORDS["id"]`` in place of runs, and notes of which experiments they were."""

    def __init__(self, variables: dict[str, str]):
        self.variables = variables
        self.found: set[str] = set()

    def visit(self, node):
        experiment = _run_of(node)
        if experiment is None and isinstance(node, (ast.Name, ast.Subscript)):
            experiment = self.variables.get(ast.unparse(node))
        if experiment is None:
            return self.generic_visit(node)
        self.found.add(experiment)
        return ast.Subscript(ast.Name(RECORDS, ast.Load()), ast.Constant(experiment), ast.Load())


def _calls(statement: ast.AST, figures: set[str]) -> list[ast.Call]:
    """Outermost calls of a chapter's figures; of ``ranks.drawn(f, record, …)``, the call ``f(record)``."""
    if isinstance(statement, ast.Call):
        name = statement.func
        if isinstance(name, ast.Attribute) and isinstance(name.value, ast.Name) and name.value.id in figures:
            return [statement]
        if ast.unparse(name) == "ranks.drawn":
            return [ast.Call(statement.args[0], [statement.args[1]], [])]
    if isinstance(statement, ast.FunctionDef):
        return []
    return [call for child in ast.iter_child_nodes(statement) for call in _calls(child, figures)]


def _needed(names: set[str], earlier: list[tuple[ast.stmt, set[str]]]) -> tuple[list[ast.stmt], set[str]]:
    """Statements that give ``names``, and the experiments whose runs they take."""
    chosen: list[ast.stmt] = []
    taken: set[str] = set()
    wanted = set(names)
    for statement, experiments in reversed(earlier):
        given = _bound_by(statement) & wanted
        if given:
            chosen.insert(0, statement)
            taken |= experiments
            wanted = (wanted - given) | _names_of(statement)
    return chosen, taken


def _with_runs_replaced(node, variables: dict[str, str]) -> tuple[Any, set[str]]:
    """A copy of a statement or expression that takes its runs from RECORDS, and their experiments."""
    taken = _Runs(variables)
    return ast.fix_missing_locations(taken.visit(copy.deepcopy(node))), taken.found


def drawings(path: Path) -> list[Drawing]:
    """Every call of a chapter's figures in one notebook that takes a run, once for each run that it takes."""
    found: list[Drawing] = []
    figures: set[str] = set()
    variables: dict[str, str] = {}
    earlier: list[tuple[ast.stmt, set[str]]] = []
    for statement in _statements(path):
        figures |= _figure_names(statement)
        for call in _calls(statement, figures):
            replaced, direct = _with_runs_replaced(call, variables)
            before, through = _needed(_names_of(replaced) - {RECORDS}, earlier)
            source = "\n".join(map(ast.unparse, before))
            for experiment in sorted(direct):
                others = tuple(sorted((direct | through) - {experiment}))
                found.append(Drawing(experiment, ast.unparse(replaced), source, others))
        experiments = list(filter(None, map(_run_of, ast.walk(statement))))
        earlier.append(_with_runs_replaced(statement, variables))
        for name in _bound_by(statement):
            variables = {key: value for key, value in variables.items() if key.partition("[")[0] != name}
            if isinstance(statement, ast.Assign) and experiments:
                variables[name] = experiments[-1]
            variables |= {f"{name}[{key!r}]": experiment for key, experiment in several(statement).items()}
    return found


def every_drawing() -> list[Drawing]:
    """Of all notebooks, each once."""
    return list(dict.fromkeys(each for path in notebook_files.paths() for each in drawings(path)))
