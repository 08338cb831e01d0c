"""What the first call of a process costs: code that is kept loaded, or compiled anew, and the plan of a transform.

No peer stands beside these times.  Every sample is a Python process of its own that has imported what it calls; its
own clock counts.  Whatever is compiled first, numba registers all types and functions that it knows, and for that
imports SciPy's linear algebra and more; code that is kept is loaded without (``kernels.runtime.cache``).
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from kernels.files.work_folder import WorkFolder
from peers import Absent, Comparison, alone, clocked

_ROOT = Path(__file__).parents[1]
_START = """
import time
from kernels import {package}
start = time.perf_counter()
"""
_BT = """
problem = bt.Problem.preset("S")
result = bt.run(problem, bt.setup(problem))
end = time.perf_counter()
assert all(check.ok for check in bt.verify(problem, result))
print(end - start)
"""
_PLAN = """
spectral.Plan("F640", 1279)
print(time.perf_counter() - start)
"""
#: label -> package, what is done, whether code is compiled anew
CASES = {
    "BT class S, set up and run, code kept": ("bt", _BT, False),
    "BT class S, set up and run, compiled anew": ("bt", _BT, True),
    "plan of T1279 on 1280 rows, code kept": ("spectral", _PLAN, False),
}


def process(package: str, body: str, anew: bool, bytecode: str) -> float:
    """Seconds that a fresh process says; ``bytecode`` is a folder that keeps Python's compiled modules."""
    with WorkFolder(None, "peers-first") as work:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": bytecode, "PYTHONPATH": str(_ROOT)}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        if anew:
            environment["NUMBA_CACHE_DIR"] = str(work.path)
        command = [sys.executable, "-c", _START.format(package=package) + body]
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return float(done.stdout.split()[-1])


def comparisons(threads: int) -> Iterator[Comparison | Absent]:
    """One thread, and nobody beside us."""
    if threads > 1:
        return
    with WorkFolder(None, "peers-bytecode") as work:
        bytecode = str(work.path)
        for label, case in CASES.items():
            yield alone("first calls of a process", label, clocked(lambda case=case: process(*case, bytecode)))
