"""A guest in the reader's numba: what they compile after an import of ours is kept whole, in their own cache."""

import os
import subprocess
import sys

THEIRS = """
import numpy as np
from numba import carray, cfunc, float64, guvectorize, int64, njit, prange, types, vectorize

@vectorize(["float64(float64)"], cache=True)
def ufunc(a):
    return a * 3.0

@guvectorize(["(float64[:], float64[:])"], "(n)->(n)", cache=True)
def gufunc(a, out):
    for i in range(a.size):
        out[i] = a[i] * 3.0

@cfunc(float64(float64), cache=True)
def callback(a):
    return a * 3.0

@njit(parallel=True, cache=True)
def threads(a):
    total = 0.0
    for i in prange(3):
        total += a
    return total

@njit(cache=True)
def serial(a):
    return a * 3.0

def answers():
    return [float(ufunc(2.0)), float(gufunc(np.array([2.0]))[0]), callback.ctypes(2.0), threads(2.0), serial(2.0)]
"""


def test_what_a_reader_keeps_after_our_import_runs_without_us(tmp_path):
    """With another class for numba's libraries, as the second edition had one, the second process dies."""
    (tmp_path / "theirs.py").write_text(THEIRS)
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    for first in ("from supercomputers_rerun.kernels import bt, spectral", "pass"):
        code = f"{first}; import theirs; print(theirs.answers())"
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
        )
        assert (done.returncode, done.stdout.strip()) == (0, "[6.0, 6.0, 6.0, 6.0, 6.0]"), done.stderr
    assert len(list(tmp_path.rglob("*.nbc"))) >= 5  # each of the five was kept, and not compiled anew
