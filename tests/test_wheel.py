"""The wheel, installed into an empty folder outside the checkout: one import name, with all that it needs inside.

Where it runs lies a package ``kernels`` of somebody else, as our own was called once.
"""

import os
import shutil
import subprocess
import sys
import tomllib

import pytest
from listings import KERNELS, ROOT, blocks, timeless

COPIED = ("kernels", "supercomputers_rerun", "data", "notebooks")
FILES = ("pyproject.toml", "README.md", "LICENSE")
CALLS = """
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
import supercomputers_rerun.kernels.memory.latency as latency
from supercomputers_rerun import peers
from supercomputers_rerun.companion import claims, tables
from supercomputers_rerun.companion.records import runs

if __name__ == "__main__":
    from supercomputers_rerun.kernels.memory import latency as same
    assert latency is same and latency.__name__ == "supercomputers_rerun.kernels.memory.latency"
    assert not {"kernels", "companion", "peers", "data"} & {*sys.modules}
    assert all("checkout" not in (getattr(module, "__file__", "") or "") for module in sys.modules.values())
    problem = latency.Problem.preset("quick")
    state = latency.setup(problem)
    assert all(check.ok for check in latency.verify(problem, latency.run(problem, state)))
    assert tables.load("xmp1982", "fig4_1").sizes and claims.check("nht1") and runs.committed("nht1-base")
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        assert pool.submit(latency.footprint, problem).result() == latency.footprint(problem)
    print("five calls")
"""
THEIRS = """
import {first}
import {second}
import sys
import supercomputers_rerun.kernels.memory.latency as ours
from supercomputers_rerun.companion.records import runs

assert runs.committed("nht1-base") and ours.footprint(ours.Problem.preset("quick"))
assert sys.modules["kernels"] is kernels and sys.modules["kernels.memory.latency"] is kernels.memory.latency
assert kernels.__file__.startswith(sys.path[0]) and ours.__file__.startswith({place!r})
print(kernels.memory.latency.Problem, "of", kernels.__doc__)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Where the wheel is installed, where it runs, and ``said(*command)``: what a command prints there.

    Packages of others come from this environment, by its path alone: the ``.pth`` of the checkout has no effect.
    """
    tmp_path = tmp_path_factory.mktemp("wheel")
    source, place, folder = tmp_path / "source", tmp_path / "installed", tmp_path / "folder"
    for name in COPIED:
        shutil.copytree(ROOT / name, source / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        shutil.copy(ROOT / name, source)
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run(
        [*pip, "wheel", "--no-deps", "--no-build-isolation", "--no-index", "-w", tmp_path, source], check=True
    )
    subprocess.run(
        [*pip, "install", "--no-compile", "--no-deps", "--no-index", "--target", place, *tmp_path.glob("*.whl")],
        check=True,
    )
    shutil.rmtree(source)
    (folder / "kernels" / "memory").mkdir(parents=True)
    (folder / "kernels" / "__init__.py").write_text('"""somebody else"""\n')
    (folder / "kernels" / "memory" / "__init__.py").touch()
    (folder / "kernels" / "memory" / "latency.py").write_text('Problem = "theirs"\n')
    packages = next(path for path in sys.path if path.endswith("site-packages"))
    given = {**os.environ, "PYTHONPATH": os.pathsep.join([str(place), packages])}

    def said(*command):
        # the interpreter beside no site-packages, whose .pth files would be read
        done = subprocess.run([sys._base_executable, *command], cwd=folder, env=given, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return place, folder, said


def test_five_calls_from_an_installed_wheel(wheel):
    place, folder, said = wheel
    (folder / "calls.py").write_text(CALLS.replace("checkout", str(ROOT / "kernels")))
    assert said("calls.py") == "five calls\n"
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert said(place / "bin" / "companion", "--version") == f"supercomputers-rerun {version}\n"
    assert "p5plus-latency" in said("-m", "supercomputers_rerun.companion", "list")


@pytest.mark.parametrize("turn", [1, -1], ids=["theirs first", "ours first"])
def test_a_package_of_the_readers_that_is_called_kernels_stays_theirs(wheel, turn):
    place, folder, said = wheel
    first, second = ("kernels.memory.latency", "supercomputers_rerun.kernels.memory.latency")[::turn]
    (folder / "theirs.py").write_text(THEIRS.format(first=first, second=second, place=str(place)))
    assert said("theirs.py") == "theirs of somebody else\n"


@pytest.mark.built  # half a minute of compiling, with a cache of its own
def test_the_listings_of_both_readmes_run_from_an_installed_wheel(wheel):
    _, folder, said = wheel
    (folder / "listing.py").write_text(blocks("python")[0])
    assert timeless(said("listing.py")) == timeless(blocks("text")[1])
    sessions = KERNELS.read_text(encoding="utf-8")
    assert sessions.count(">>> from supercomputers_rerun") == 3
    (folder / "sessions.md").write_text(sessions, encoding="utf-8")
    assert said("-m", "doctest", "sessions.md") == ""
