"""``outputs`` of an experiment is a function of measurements: it calls no clock, no kernel, no process and no file."""

import ast
import importlib
import inspect
import textwrap
import time
from types import FunctionType, ModuleType

import pytest

from companion import experiments

#: What measures, starts or reads something, by module or builtin.
FOREIGN = {"time", "subprocess", "tempfile", "multiprocessing", "threading", "socket", "ctypes"}
BUILTINS = {"open", "exec", "eval", "__import__"}
#: Words of a kernel that do its work.
WORDS = {"run", "reference"}
#: Modules whose functions are followed into; what lies elsewhere (NumPy, SciPy) computes.
OWN = ("companion.", "kernels.", __name__)
#: Facts of this host are no measurements.
FACTS = "companion.host."


def _named(tree: ast.AST, scope: dict) -> dict:
    """``scope`` with what import statements inside a function bring."""
    found = dict(scope)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for name in node.names:
                found[(name.asname or name.name).partition(".")[0]] = importlib.import_module(name.name)
        elif isinstance(node, ast.ImportFrom):
            base = importlib.import_module(node.module)
            for name in node.names:
                whole = f"{node.module}.{name.name}"
                found[name.asname or name.name] = (
                    getattr(base, name.name) if hasattr(base, name.name) else importlib.import_module(whole)
                )
    return found


def _resolved(node: ast.AST, scope: dict):
    """What a name or an attribute of a module stands for; None where it is a value's."""
    if isinstance(node, ast.Name):
        return scope.get(node.id)
    if isinstance(node, ast.Attribute):
        base = _resolved(node.value, scope)
        return getattr(base, node.attr, None) if isinstance(base, (ModuleType, type)) else None
    return None


def measures(function, seen: set | None = None) -> list[str]:
    """What a function, or one that it calls, does besides computing: ``module.function: call``."""
    seen = set() if seen is None else seen
    function = getattr(function, "py_func", inspect.unwrap(function) if callable(function) else function)
    if not isinstance(function, FunctionType) or function in seen:
        return []
    seen.add(function)
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    scope = _named(tree, {**function.__globals__, **inspect.getclosurevars(function).nonlocals})
    place, found = f"{function.__module__}.{function.__qualname__}", []
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Name, ast.Attribute)) or isinstance(node.ctx, ast.Store):
            continue
        target = _resolved(node, scope)
        module = getattr(target, "__module__", None) or ""
        if isinstance(target, ModuleType):
            continue
        if module.partition(".")[0] in FOREIGN or (isinstance(node, ast.Name) and node.id in BUILTINS - set(scope)):
            found.append(f"{place}: {ast.unparse(node)}")
        elif module.startswith("kernels.") and getattr(target, "__name__", "") in WORDS:
            found.append(f"{place}: {ast.unparse(node)}")
        elif (
            module.startswith(OWN)
            and not module.startswith(FACTS)
            and callable(target)
            and not isinstance(target, type)
        ):
            found += measures(target, seen)
    return found


#: A simulation has no measurements: its outputs are the model's.
MEASURED = [entry.id for entry in experiments.REGISTER.values() if entry.outputs and not entry.simulated]


@pytest.mark.parametrize("id", MEASURED)
def test_outputs_are_functions_of_measurements(id):
    assert measures(experiments.REGISTER[id].outputs) == []


def _clock(measurements):
    return {"late": time.perf_counter()}


def _through(measurements):
    return _clock(measurements)


def _kernel(measurements):
    from kernels import gridpoint

    return gridpoint.run(measurements[0].problem, gridpoint.setup(measurements[0].problem))


def _file(measurements):
    return open(measurements[0].label).read()


def _plain(measurements):
    from kernels.analysis.chain import STEPS

    return [len(STEPS), min(each.minimum for each in measurements)]


@pytest.mark.parametrize(("function", "count"), [(_clock, 1), (_through, 1), (_kernel, 1), (_file, 1), (_plain, 0)])
def test_what_is_refused(function, count):
    assert len(measures(function)) == count
