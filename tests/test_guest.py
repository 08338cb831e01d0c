"""A guest in the reader's Python: what importing any part of the project leaves behind for other people's code."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import supercomputers_rerun
from supercomputers_rerun.companion.common import EXTRAS

PARTS = ("kernels", "companion", "peers")
#: Modules of others that no part may need in order to be imported, but the peers that are compared with them.
OPTIONAL = sorted(module for module, extra in EXTRAS.items() if extra != "notebooks")
#: Prints what other people's code can see of numba, llvmlite, matplotlib, the import system, warnings and environment,
#: and the imports of each group of modules change; libraries are imported first, since what they do themselves is
#: theirs, and those that are optional are not there.
PROGRAM = """
import importlib, json, os, signal, sys, warnings
import llvmlite.binding, llvmlite.ir, matplotlib, numba, numba.core.caching, numba.core.codegen, numba.core.config
import numba.core.dispatcher, numba.core.registry, pandas, scipy.special, xarray, astropy.io.fits, IPython, nbformat
import ipykernel.ipkernel, jupyter_server.services.contents.largefilemanager
optional, *asked = sys.argv[1:]
sys.modules.update(dict.fromkeys(optional.split()))
sys.path.append(os.getcwd())

def attributes(thing):
    return {name: repr(value) if isinstance(value, (bool, int, float, str, tuple, frozenset)) else id(value)
            for name, value in vars(thing).items() if not name.startswith("__")}

def seen():
    found = {}
    for module in (numba.core.caching, numba.core.codegen, numba.core.dispatcher, llvmlite.binding, llvmlite.ir):
        found |= {f"{module.__name__}.{name}": value for name, value in attributes(module).items()}
        for thing in list(vars(module).values()):
            if isinstance(thing, type) and thing.__module__.partition(".")[0] in ("numba", "llvmlite"):
                found |= {f"{thing.__qualname__}.{name}": value for name, value in attributes(thing).items()}
    found |= {f"config.{name}": repr(value) for name, value in vars(numba.core.config).items() if name.isupper()}
    found |= {f"matplotlib {name}": repr(value) for name, value in matplotlib.rcParams.items()}
    found |= {f"environment {name}": value for name, value in os.environ.items()}
    found |= {"path": repr(sys.path), "finders": repr(sys.meta_path), "hooks": repr(sys.path_hooks)}
    found |= {"warnings": repr(warnings.filters), "interrupt": repr(signal.getsignal(signal.SIGINT))}
    found |= {"folder": os.getcwd(), "hook": repr(sys.excepthook), "rows": pandas.get_option("display.max_rows")}
    found |= {f"blocked {name}": "" for name, module in sys.modules.items() if module is None}
    found |= {f"module {name}": "" for name in ("kernels", "companion", "peers", "data") if name in sys.modules}
    return found

matplotlib.rcParams["lines.linewidth"] = 7.0  # the reader's own
changed, lacking, before = {}, {}, seen()
for group in asked:
    for name in group.split():
        try:
            importlib.import_module(f"supercomputers_rerun.{name}")
        except ModuleNotFoundError as error:
            lacking[name] = error.name
    after = seen()
    if different := sorted(each for each in before.keys() | after.keys() if before.get(each) != after.get(each)):
        changed[group] = different
    before = after
print(json.dumps([changed, lacking]))
"""


def modules(part: str) -> list[str]:
    """Every module of a part, as it is named below ``supercomputers_rerun``."""
    home = supercomputers_rerun.HOME if part == "kernels" else Path(supercomputers_rerun.__file__).parent
    names = (".".join(path.relative_to(home).with_suffix("").parts) for path in sorted((home / part).rglob("*.py")))
    return [name.removesuffix(".__init__") for name in names]


def imported(groups: list[str], folder: Path) -> tuple[dict[str, list[str]], dict[str, str]]:
    """What the import of each group of modules changes, one after another in one process, and what modules lack."""
    command = [sys.executable, "-c", PROGRAM, " ".join(OPTIONAL), *groups]
    done = subprocess.run(command, cwd=folder, env={**os.environ}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return tuple(json.loads(done.stdout))


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What the import of each part changes, all in one process, and what modules lack."""
    return imported([" ".join(modules(part)) for part in PARTS], tmp_path_factory.mktemp("guest"))


@pytest.mark.parametrize("part", PARTS)
def test_importing_changes_nothing_for_other_code(part, found, tmp_path):
    """What cannot be imported without a library that is optional is a peer, and changes nothing by the attempt."""
    changed, lacking = found
    names = modules(part)
    if different := changed.get(" ".join(names)):
        pytest.fail(f"{different} by {imported(names, tmp_path)[0]}")
    lacks = {name: what for name, what in lacking.items() if name in names}
    assert part == "peers" or lacks == {}
    for name, what in lacks.items():
        assert imported([name], tmp_path) == ({}, {name: what}) and what in OPTIONAL


def test_the_modules_that_are_imported_are_those_of_the_tree():
    found = [name for part in PARTS for name in modules(part)]
    assert {"kernels.bt", "companion.chapters.nht1.solver", "companion.mpi.job", "peers.kit.compiled"} <= {*found}
    assert len(found) == len({*found}) > 200


def test_a_figure_is_drawn_in_the_house_style_and_the_readers_settings_stay(tmp_path):
    import matplotlib as mpl

    from supercomputers_rerun.companion import figures

    @figures.styled
    def lines():
        figure, axis = figures.axes()
        return axis.plot([0, 1], label="a")[0].get_linewidth(), figure

    with mpl.rc_context({"lines.linewidth": 7.0}):
        assert lines()[0] == 1.6
        assert mpl.rcParams["lines.linewidth"] == 7.0


def test_every_function_that_makes_axes_is_in_the_house_style():
    """What draws later than ``figures.axes``, as a legend, takes its looks from the settings of that moment."""
    import ast

    found = []
    for folder in ("chapters", "pages"):
        for path in (Path(supercomputers_rerun.__file__).parent / "companion" / folder).rglob("*.py"):
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.FunctionDef) and "figures.axes(" in ast.unparse(node):
                    if not any(ast.unparse(each).endswith((".styled", ".figure")) for each in node.decorator_list):
                        found.append(f"{path.name}: {node.name}")
    assert found == []
