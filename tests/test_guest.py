"""A guest in the reader's Python: what importing any part of the project leaves behind for other people's code."""

import json
import os
import subprocess
import sys

import pytest

#: Everything that one imports: packages, the command, the kernels with unusual needs, figures and pages.
PARTS = (
    "kernels.bt, kernels.spectral, kernels.gridpoint, kernels.imaging, kernels.memory.stride, kernels.processor.smt",
    "kernels.mpi.exchange, kernels.portable.build, kernels.runtime.wasm",
    "companion.tables, companion.claims, companion.records.runs, companion.__main__",
    "companion.figures.kit, companion.figures.rendering, companion.figures.tabular, companion.pages.report",
    "peers",
)
#: Prints what other people's code can see of numba, llvmlite, matplotlib, the import system, warnings and environment,
#: before and after the import; libraries are imported first, since what they do themselves is theirs.
PROGRAM = """
import json, os, signal, sys, warnings
import llvmlite.binding, llvmlite.ir, matplotlib, numba, numba.core.caching, numba.core.codegen, numba.core.config
import numba.core.dispatcher, numba.core.registry, pandas, scipy.special, xarray, astropy.io.fits
sys.path.append(sys.argv[1])

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
told = {}
for part in sys.argv[2:]:
    before = seen()
    for name in part.split(", "):
        __import__(f"supercomputers_rerun.{name}")
    after = seen()
    told[part] = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def changed(tmp_path_factory):
    """What the import of each part changes, one after another in one process."""
    folder = tmp_path_factory.mktemp("guest")
    command = [sys.executable, "-c", PROGRAM, str(folder), *PARTS]
    done = subprocess.run(command, cwd=folder, env={**os.environ}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("part", PARTS)
def test_importing_changes_nothing_for_other_code(part, changed):
    assert changed[part] == []


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
    from pathlib import Path

    import supercomputers_rerun

    found = []
    for folder in ("chapters", "pages"):
        for path in (Path(supercomputers_rerun.__file__).parent / "companion" / folder).rglob("*.py"):
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.FunctionDef) and "figures.axes(" in ast.unparse(node):
                    if not any(ast.unparse(each).endswith((".styled", ".figure")) for each in node.decorator_list):
                        found.append(f"{path.name}: {node.name}")
    assert found == []
