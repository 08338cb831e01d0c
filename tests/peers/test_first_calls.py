"""First calls: each in a fresh process that says its own time; nobody beside us."""

from peers import first_calls


def test_a_process_says_its_own_time_and_keeps_to_its_folders(tmp_path):
    body = "import os; print(os.environ.get('NUMBA_CACHE_DIR', 'none') != 'none'); print(0.25)"
    assert first_calls.process("runtime", body, True, str(tmp_path)) == 0.25
    assert any(tmp_path.rglob("*.pyc"))


#: Two kernels; compiled code of the second calls functions of numba's own, whose modules a cache must not import.
CALLS = """
import sys, numpy
from kernels.memory.stride import fill
from kernels.spectral.gauss import half_nodes
a = numpy.zeros(3, numpy.uint32)
fill(a, 7)
assert a.tolist() == [7, 2654435768, 1013904233]
assert abs(half_nodes(2)[0][0] ** 2 - 1 / 3) < 1e-15
print(sum(f"numba.np.{name}" in sys.modules for name in ("linalg", "arraymath")))
"""


def test_kept_code_is_loaded_without_the_registries_of_numba(monkeypatch, tmp_path):
    """They are many imports, SciPy among them; what compiles has them."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert first_calls.process("memory", CALLS, False, "") == 2
    assert first_calls.process("memory", CALLS, False, "") == 0
