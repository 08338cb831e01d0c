"""``python tests/ranges.py lowest-direct | highest``: the ends of the ranges in ``pyproject.toml``, each tried.

uv makes an environment in a folder of its own, with the packages that the ranges allow at that end, and small programs
use them: kernels, tables, claims, a figure, NetCDF, Zarr and FITS.  Needs nothing but Python, uv and an index.  On
Linux x86-64 the line of this Python in ``data/platforms.csv`` then says so.
"""

import platform
import subprocess
import sys
import tempfile
from pathlib import Path

import platforms
from tools import ROOT

WORDS = {"lowest-direct": "lowest versions of the ranges used", "highest": "newest versions used"}
EXTRAS = "notebooks,formats,imaging"
SMOKE = """
import tempfile
from pathlib import Path

import astropy, netCDF4, numcodecs, zarr
from supercomputers_rerun.companion import claims, figures, tables
from supercomputers_rerun.companion.records import runs
from supercomputers_rerun.kernels import bt, spectral
from supercomputers_rerun.kernels.memory import stream

for kernel in (bt, stream, spectral):
    problem = kernel.Problem.preset("quick")
    failed = [str(check) for check in kernel.PROOF.checks(kernel, kernel.PROOF.problem(problem)) if not check.ok]
    assert not failed, failed
assert claims.check("nht1") and runs.committed("nht1-base")
figures.axes()
table = tables.load("xmp1982", "fig4_1")
with tempfile.TemporaryDirectory() as folder:
    table.to_netcdf(Path(folder, "table.nc"), engine="netcdf4")
    table.to_zarr(Path(folder, "table.zarr"))
print("as it should be:", *(f"{each.__name__} {each.__version__}" for each in (zarr, netCDF4, numcodecs, astropy)))
"""


def main(resolution: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        python = Path(folder, "env", "Scripts" if sys.platform == "win32" else "bin", "python")
        subprocess.run(
            [sys.executable, "-m", "uv", "venv", "--python", sys.executable, Path(folder, "env")], check=True
        )
        command = [sys.executable, "-m", "uv", "pip", "install", "--python", python, "--resolution", resolution]
        subprocess.run([*command, f"{ROOT}[{EXTRAS}]"], check=True)
        subprocess.run([python, "-c", SMOKE], check=True, cwd=folder)
    if (platform.system(), platform.machine()) == ("Linux", "x86_64") and platform.libc_ver()[0] == "glibc":
        platforms.note(platforms.HERE, ".".join(platform.python_version_tuple()[:2]), tried=WORDS[resolution])


if __name__ == "__main__":
    main(*sys.argv[1:])
