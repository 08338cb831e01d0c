"""First calls: each in a fresh process that says its own time; nobody beside us."""

import pytest

from companion.pages import peers as page
from companion.records import peer_records
from peers import Clocked, Comparison, first_calls, measure
from peers.__main__ import _lines
from peers.kit.record import Run


def test_a_process_says_its_own_time_and_keeps_to_its_folders(tmp_path):
    body = "import os; print(os.environ.get('NUMBA_CACHE_DIR', 'none') != 'none'); print(0.25)"
    assert first_calls.process("runtime", body, True, str(tmp_path)) == 0.25
    assert any(tmp_path.rglob("*.pyc"))
    with pytest.raises(RuntimeError, match="a first call of runtime failed: ValueError: so it is"):
        first_calls.process("runtime", "raise ValueError('so it is')", False, str(tmp_path))


def test_every_case_is_a_program_that_ends_in_a_number():
    for package, body, _ in first_calls.CASES.values():
        compile(first_calls._START.format(package=package) + body, "case", "exec")
    items = list(first_calls.comparisons(1))
    assert [item.label for item in items] == list(first_calls.CASES) and not list(first_calls.comparisons(2))


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


def test_times_without_a_peer_are_kept_and_shown(monkeypatch):
    said = iter([9.0, 9.0, 0.5, 0.25, 1.0, 7.0, 7.0])
    side = Clocked(lambda: (next(said), None))
    item = Comparison("first calls of a process", "a case", side, {}, lambda ours, theirs: 0.0)
    monkeypatch.setattr("peers.interleave", lambda functions, rounds, seed: {
        name: [function() for _ in range(rounds)] for name, function in functions.items()})  # fmt: skip
    row = measure(item, rounds=3, seed=0)
    assert list(row.ours) == side.seconds[-3:] == [9.0, 0.5, 0.25]  # its own clock; the first call was the check
    assert row.best is None and "a case" in _lines(row)[0]
    run = Run(["first_calls"], [1], 3, 0)
    run.add("first_calls", 1, row)
    record = peer_records.validate(run.record())
    assert "500.0 ms" in page.family([record], "first_calls").html
    assert "python -m peers first_calls" in repr(page.family([], "first_calls"))
    assert "no ratios to show" in repr(page.overview([record]))
