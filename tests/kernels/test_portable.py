"""Every kernel on a processor without vectors beyond the architecture's oldest: slower, and right."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from kernels_found import KERNELS

ROOT = Path(__file__).resolve().parents[2]
RUN = """
import sys, tempfile
sys.path.insert(0, "tests")
from kernels_found import KERNELS, small

name = sys.argv[1]
kernel = KERNELS[name]
with tempfile.TemporaryDirectory() as folder:
    problem = small(name, folder)
    result = kernel.run(problem, kernel.setup(problem))
    failed = [str(check) for check in kernel.verify(problem, result) if not check.ok]
    del result
print("\\n".join(failed))
sys.exit(bool(failed))
"""


@pytest.mark.weekly
@pytest.mark.parametrize("name", [name for name in KERNELS if not hasattr(KERNELS[name].Problem, "ranks")])
def test_a_generic_processor_runs_every_kernel(name, tmp_path):
    environment = {**os.environ, "NUMBA_CPU_NAME": "generic", "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", RUN, name], cwd=ROOT, env=environment, text=True, capture_output=True, timeout=580
    )
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
