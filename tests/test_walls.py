"""The walls between the rooms, read from the import statements."""

import ast
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
STANDARD = set(sys.stdlib_module_names)
KERNELS = {"numpy", "numba", "llvmlite", "zlib_ng", "kernels"}
#: folder or file of kernels/ -> packages it may import, inside functions only
LATE = {"mpi/world.py": {"mpi4py"}, "imaging": {"astropy", "casacore"}, "files": {"xarray", "netCDF4"}}


parsed = cache(ast.parse)  # several tests walk through the same modules


def imports(source, package=""):
    """``(module, in a function)`` of every import statement."""
    found = []

    def visit(node, late):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):  # no import is in one, and most nodes are
                continue
            if isinstance(child, ast.Import):
                found.extend((name.name, late) for name in child.names)
            elif isinstance(child, ast.ImportFrom):
                base = child.module or ""
                if child.level:
                    parts = package.split(".")
                    base = ".".join([*parts[: len(parts) - child.level + 1], *filter(None, [base])])
                # "from kernels.runtime import resources" imports kernels.runtime.resources
                found.extend((f"{base}.{name.name}", late) for name in child.names)
            visit(child, late or isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)))

    visit(parsed(source), False)
    return found


def modules(room):
    return sorted((ROOT / room).rglob("*.py"))


def package_of(path):
    return ".".join(path.relative_to(ROOT).parent.parts)


def kernel_breaches(path, source):
    inside = path.relative_to(ROOT / "kernels")
    late_allowed = LATE.get(inside.parts[0], set()) | LATE.get(inside.as_posix(), set())
    breaches = []
    for module, late in imports(source, package_of(path)):
        top = module.split(".")[0]
        if top in STANDARD | KERNELS or module.startswith("scipy.fft"):
            continue
        if not (late and top in late_allowed):
            breaches.append(module)
    return breaches


def at_home(module, inside):
    """Whether a chapter's module is imported by its own chapter; the shared part and other chapters know none.

    What ``companion/chapters/__init__.py`` itself defines is no chapter's: no folder has its name.
    """
    name = module.split(".")[2]
    own = inside[0] == "chapters" and len(inside) > 2 and name == inside[1]
    return own or not (ROOT / "companion/chapters" / name).is_dir()


def companion_breaches(path, source):
    inside = path.relative_to(ROOT / "companion").parts
    breaches = []
    for module, late in imports(source, package_of(path)):
        top = module.split(".")[0]
        if top in ("peers", "notebooks", "tests"):
            breaches.append(module)
        elif module.startswith("companion.chapters.") and not at_home(module, inside):
            breaches.append(module)
        elif top == "kernels":
            if inside[0] == "chapters" and inside[2].removesuffix(".py") == "experiments" and late:
                continue
            # how a file appears whole and how a foreign one is opened, here as there
            if module.startswith(("kernels.files.pending", "kernels.files.foreign")):
                continue
            if inside == ("host", "machine.py") and module.startswith(
                ("kernels.runtime.resources", "kernels.runtime.frequency")
            ):
                continue
            if inside[0] == "mpi" and late and module.startswith("kernels.mpi.world"):
                continue
            breaches.append(module)
    return breaches


def relative(path):
    return path.relative_to(ROOT).as_posix()


def report(find, *rooms):
    """What ``find(path, source)`` finds, by module; one test reads all modules of its rooms."""
    paths = [path for room in rooms for path in modules(room)]
    assert paths, rooms
    found = {relative(path): find(path, path.read_text(encoding="utf-8")) for path in paths}
    return {name: each for name, each in found.items() if each}


def peer_breaches(path, source):
    tops = {module.split(".")[0] for module, _ in imports(source, package_of(path))}
    return sorted(tops & {"notebooks", "tests"})


def test_kernels_know_nothing_of_the_rest():
    assert report(kernel_breaches, "kernels") == {}


def test_only_experiments_reach_for_kernels_and_late():
    assert report(companion_breaches, "companion") == {}


def test_peers_are_imported_by_nobody_and_import_no_notebooks():
    assert report(peer_breaches, "peers") == {}


def test_the_report_names_module_and_breach():
    assert report(lambda path, source: ["x"] if path.name == "contract.py" else [], "kernels") == {
        "kernels/contract.py": ["x"]
    }


@pytest.mark.parametrize(
    ("place", "source", "breaches"),
    [
        ("bt/solver.py", "import numpy\nfrom scipy.fft import rfft\nfrom . import lines\nimport os", []),
        ("bt/solver.py", "from scipy import linalg", ["scipy.linalg"]),
        ("bt/solver.py", "from companion import tables", ["companion.tables"]),
        ("bt/solver.py", "def f():\n    import matplotlib.pyplot", ["matplotlib.pyplot"]),
        ("mpi/world.py", "def f():\n    from mpi4py import MPI", []),
        ("mpi/world.py", "from mpi4py import MPI", ["mpi4py.MPI"]),
        ("mpi/exchange.py", "def f():\n    from mpi4py import MPI", ["mpi4py.MPI"]),
        ("bt/solver.py", "def f():\n    from mpi4py import MPI", ["mpi4py.MPI"]),
    ],
)
def test_the_walker_sees_breaches_in_kernels(place, source, breaches):
    assert kernel_breaches(ROOT / "kernels" / place, source) == breaches


@pytest.mark.parametrize(
    ("place", "source", "breaches"),
    [
        ("bench/__init__.py", "from kernels.contract import Check", ["kernels.contract.Check"]),
        ("host/machine.py", "from kernels.runtime import resources", []),
        ("host/machine.py", "from kernels.runtime import jit", ["kernels.runtime.jit"]),
        ("chapters/p5plus/experiments/smt.py", "def cases():\n    from kernels.processor import smt", []),
        ("chapters/p5plus/experiments/smt.py", "from kernels.processor import smt", ["kernels.processor.smt"]),
        ("mpi/job.py", "def f():\n    from kernels.mpi import world", []),
        ("mpi/job.py", "def f():\n    from kernels.mpi import exchange", ["kernels.mpi.exchange"]),
        ("mpi/job.py", "from kernels.mpi import world", ["kernels.mpi.world"]),
        ("figures/house.py", "def f():\n    import kernels", ["kernels"]),
        ("tables/__init__.py", "import peers", ["peers"]),
        ("tables/__init__.py", "from companion.chapters import rows", []),
        ("tables/__init__.py", "from companion.chapters import xc30", ["companion.chapters.xc30"]),
        ("chapters/xc30/claims.py", "from companion.chapters.xc30 import figures", []),
        ("chapters/xc30/claims.py", "from companion.chapters.nht1 import claims", ["companion.chapters.nht1.claims"]),
    ],
)
def test_the_walker_sees_breaches_in_companion(place, source, breaches):
    assert companion_breaches(ROOT / "companion" / place, source) == breaches


def prints(path, source):
    """Lines that print."""
    return [
        node.lineno
        for node in ast.walk(parsed(source))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]


def test_kernels_print_nothing():
    assert report(prints, "kernels") == {}
    assert prints(ROOT, "def f():\n    print(1)") == [2]


def unpickles(path, source):
    allowed = ["allow_pickle=True"] if "allow_pickle=True" in source else []
    return allowed + [
        module
        for module, _ in imports(source)
        if module.split(".")[0] in ("pickle", "cloudpickle", "dill", "joblib", "shelve", "marshal")
    ]


def test_nothing_is_unpickled():
    # numba's own files of compiled code, behind a seal and an owner (tests/kernels/runtime/test_cache.py)
    assert report(unpickles, "kernels", "companion") == {"kernels/runtime/cache.py": ["pickle"]}


def test_the_walker_sees_pickle():
    assert unpickles(ROOT, "def f():\n    import pickle") == ["pickle"]
    assert unpickles(ROOT, "numpy.load(path, allow_pickle=True)") == ["allow_pickle=True"]
