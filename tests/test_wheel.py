"""The wheel, installed into an empty environment outside the checkout: one import name, with all that it needs inside.

The environment sees the packages that ``pip install`` without extras brings, as links to those of this one.
"""

import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))
import setup as build  # noqa: E402 - the file beside pyproject.toml

sys.path.remove(str(ROOT))

COPIED = ("kernels", "companion", "peers", "supercomputers_rerun", "data", "notebooks")
FILES = ("setup.py", "pyproject.toml", "MANIFEST.in", "README.md", "LICENSE", "CITATION.cff")

CALLS = """
import json
import sys
from supercomputers_rerun.companion import claims, drawings, tables
from supercomputers_rerun.companion.records import runs
from supercomputers_rerun.kernels.memory import latency

problem = latency.Problem.preset("quick")
state = latency.setup(problem)
print(json.dumps({
    "verified": all(check.ok for check in latency.verify(problem, latency.run(problem, state))),
    "table": dict(tables.load("xmp1982", "fig4_1").sizes),
    "claims": len(claims.check("nht1")),
    "runs": len(runs.committed("nht1-base")),
    "drawings": len(drawings.every_drawing()),
    "names": sorted({name.partition(".")[0] for name in sys.modules} & {"kernels", "companion", "peers"}),
}))
"""


def _uv(*arguments):
    subprocess.run([sys.executable, "-m", "uv", *arguments, "--quiet"], check=True)


def _needed():
    """Distributions that the base dependencies bring, with what those need."""
    found, waiting = {}, [*tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]]
    while waiting:
        requirement = Requirement(waiting.pop())
        if requirement.name in found or requirement.marker and not requirement.marker.evaluate({"extra": ""}):
            continue
        found[requirement.name] = importlib.metadata.distribution(requirement.name)
        waiting += found[requirement.name].requires or []
    return found.values()


def _linked(folder):
    """A folder of links to what the base dependencies install."""
    folder.mkdir()
    for distribution in _needed():
        for top in {path.parts[0] for path in distribution.files if path.parts[0] not in ("..", "__pycache__")}:
            if not (folder / top).exists():
                (folder / top).symlink_to(distribution.locate_file(top))
    return folder


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    source = tmp_path_factory.mktemp("source")
    for name in COPIED:
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        shutil.copyfile(ROOT / name, source / name)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*command, "--wheel-dir", source / "dist", source], check=True)
    (made,) = (source / "dist").iterdir()
    return made


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The folder of programs of an environment with the wheel, and the variables to run them with."""
    place = tmp_path_factory.mktemp("elsewhere")
    _uv("venv", "--python", sys.executable, str(place / "env"))
    python = next(path for path in (place / "env").glob("*/python*") if path.is_file())
    _uv("pip", "install", "--no-deps", "--no-index", "--python", str(python), str(wheel))
    site = subprocess.check_output([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], text=True)
    Path(site.strip(), "beside.pth").write_text(f"{_linked(place / 'beside')}\n")
    return python.parent, {**os.environ, "NUMBA_CACHE_DIR": str(place / "compiled")}


def _run(installed, *command):
    programs, environment = installed
    command = [programs / command[0], *command[1:]]
    return subprocess.run(command, capture_output=True, text=True, cwd=programs.parent, env=environment)


@pytest.mark.weekly
def test_the_wheel_installs_one_name_and_no_module_asks_for_another(wheel):
    with zipfile.ZipFile(wheel) as file:
        names = file.namelist()
        tops = {name.partition("/")[0] for name in names}
        sources = {name: file.read(name).decode() for name in names if name.endswith((".py", ".ipynb"))}
    assert len([name for name in tops if not name.endswith(".dist-info")]) == 1, tops
    left = re.compile(r"^[\s\"]*(?:from|import) (?:kernels|companion|peers)\b|-m (?:kernels|companion|peers)\b", re.M)
    assert {name: found[0] for name, text in sources.items() if (found := left.search(text))} == {}
    assert sum(name.endswith(".ipynb") for name in sources) == len(list((ROOT / "notebooks").glob("*.ipynb")))


@pytest.mark.weekly
def test_five_calls_without_the_checkout(installed):
    done = _run(installed, "python", "-c", CALLS)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found.pop("verified") and found.pop("names") == []
    assert all(found.values()), found


@pytest.mark.weekly
def test_the_command_says_its_version_and_lists(installed):
    version = importlib.metadata.version("supercomputers-rerun")
    assert _run(installed, "companion", "--version").stdout == f"supercomputers-rerun {version}\n"
    assert "p5plus-latency" in _run(installed, "companion", "list").stdout


@pytest.mark.weekly
def test_a_run_makes_a_record_with_the_names_of_a_checkout(installed, tmp_path):
    done = _run(installed, "companion", "run", "p5plus-latency", "--rounds", "3", "--budget", "1", "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    (record,) = tmp_path.glob("*.json")
    cases = json.loads(record.read_text())["measurements"]
    assert {case["kernel"] for case in cases} == {"kernels.memory.latency"}
    assert "without the report's values: matplotlib is not installed" in done.stdout
    shown = _run(installed, "companion", "show", record)
    assert shown.returncode == 0 and "[notebooks]" in shown.stdout, shown.stderr
    compared = _run(installed, "companion", "compare", record, record)
    assert compared.returncode == 0, compared.stderr


@pytest.mark.weekly
def test_what_an_extra_brings_is_missing_in_one_sentence(installed):
    done = _run(installed, "python", "-c", "from supercomputers_rerun.companion import figures")
    last = done.stderr.splitlines()[-1]
    assert last.endswith("matplotlib is not installed; pip install 'supercomputers-rerun[notebooks]' brings it")
    call = "from supercomputers_rerun.kernels.runtime import optional; optional.library('astropy.io.fits', 'this')"
    last = _run(installed, "python", "-c", call).stderr.splitlines()[-1]
    assert "this needs astropy, which is not installed; pip install 'supercomputers-rerun[imaging]' brings it" in last


def test_the_same_name_leads_to_the_same_modules_in_a_checkout():
    code = (
        "import sys, supercomputers_rerun.kernels.bt as one; import kernels.bt as two\n"
        "from supercomputers_rerun.companion import tables\n"
        "from companion import tables as same\n"
        "assert one is two and tables is same and one.__spec__.name == 'kernels.bt'\n"
        "assert sys.modules['kernels'] is sys.modules['supercomputers_rerun.kernels']\n"
    )
    code += "print('alike', flush=True)\nimport supercomputers_rerun.kernels.nothing"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, text=True, capture_output=True)
    assert done.stdout == "alike\n" and "ModuleNotFoundError" in done.stderr, done.stderr
    done = subprocess.run(
        [sys.executable, "-m", "supercomputers_rerun.companion", "--version"], cwd=ROOT, text=True, capture_output=True
    )
    assert done.stdout.startswith("supercomputers-rerun "), done.stderr


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("from kernels import bt\n", "from supercomputers_rerun.kernels import bt\n"),
        ("def f():\n    from companion.a import b\n", "def f():\n    from supercomputers_rerun.companion.a import b\n"),
        ("from . import x\nimport numpy\n", "from . import x\nimport numpy\n"),
        ("a = 'python -m peers x'\n", "a = 'python -m supercomputers_rerun.peers x'\n"),
        ('{\n  "from kernels import bt\\n",\n', '{\n  "from supercomputers_rerun.kernels import bt\\n",\n'),
        ("from kernels_of import x\nrow = {'peers': 1}\n", "from kernels_of import x\nrow = {'peers': 1}\n"),
    ],
)
def test_imports_move_to_the_package(source, expected):
    assert build.renamed(source) == expected


def test_an_import_that_cannot_move_stops_the_build():
    with pytest.raises(ValueError, match="line 1: import kernels.bt cannot move"):
        build.require_movable("import kernels.bt\n")
