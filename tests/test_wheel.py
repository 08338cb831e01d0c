"""The wheel, installed into an empty folder outside the checkout: one import name, with all that it needs inside."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
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


def test_five_calls_from_an_installed_wheel(tmp_path):
    """Packages of others come from this environment, by its path alone: the ``.pth`` of the checkout has no effect."""
    source, place = tmp_path / "source", tmp_path / "installed"
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
    (tmp_path / "calls.py").write_text(CALLS.replace("checkout", str(ROOT / "kernels")))
    packages = next(path for path in sys.path if path.endswith("site-packages"))
    given = {**os.environ, "PYTHONPATH": os.pathsep.join([str(place), packages]), "NUMBA_CACHE_DIR": str(tmp_path)}

    def said(*command):
        done = subprocess.run(command, cwd=tmp_path, env=given, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    python = sys._base_executable  # beside no site-packages, whose .pth files would be read
    assert said(python, tmp_path / "calls.py") == "five calls\n"
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert said(python, place / "bin" / "companion", "--version") == f"supercomputers-rerun {version}\n"
    assert "p5plus-latency" in said(python, "-m", "supercomputers_rerun.companion", "list")
