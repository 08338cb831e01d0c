"""companion.host.counters: with a perf that we script, and with whatever this machine has."""

import stat
import sys

import pytest

from companion.host import counters

PERF = """#!{python}
import subprocess, sys
args = sys.argv[1:]
report, command = args[args.index("-o") + 1], args[args.index("--") + 1:]
events = args[args.index("-e") + 1].split(",")
done = subprocess.run(command, capture_output=True, text=True)
if done.returncode:
    sys.stderr.write(done.stderr)
    sys.exit(done.returncode)
work = float(done.stdout or 0)
known = {{"cycles:u": 5000 + 3 * work, "instructions:u": 9000 + 6 * work,
         "stalled-cycles-frontend:u": 100 + 0.3 * work, "stalled-cycles-backend:u": 200 + 0.6 * work,
         "fp_arith_inst_retired.scalar_double:u": 7 + work,
         "fp_arith_inst_retired.512b_packed_double:u": work}}
with open(report, "w") as out:
    out.write("# started on some day\\n\\n")
    for event in events:
        value = known.get(event, "<not supported>")
        out.write(f"{{value}};;{{event}};1234;100.00;;\\n")
"""


@pytest.fixture
def scripted(tmp_path, monkeypatch):
    """A ``perf`` whose counts follow from what the command prints."""
    program = tmp_path / "perf"
    program.write_text(PERF.format(python=sys.executable))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr("platform.system", lambda: "Linux")
    counters.events.cache_clear()
    yield
    counters.events.cache_clear()


def test_start_and_imports_fall_out_of_the_difference(scripted):
    found = counters.per_repeat("print(1000 * repeats)", few=1, many=11)
    assert found["cycles"] == pytest.approx(3000) and found["instructions"] == pytest.approx(6000)
    assert found["flops"] == pytest.approx(1000 + 8 * 1000)
    assert "cache-misses" not in found  # not counted on this machine
    assert counters.cycles_per_instruction(found) == pytest.approx(0.5)
    assert counters.cycle_shares(found) == pytest.approx({"completing": 0.7, "no instructions": 0.1, "stalled": 0.2})


def test_a_failing_program_is_an_error(scripted):
    with pytest.raises(RuntimeError, match="perf stat ended with 1: ZeroDivisionError"):
        counters.per_repeat("1 / 0")
    with pytest.raises(ValueError, match="few = 5, many = 5"):
        counters.per_repeat("", few=5, many=5)


def test_what_is_missing_is_said(monkeypatch, tmp_path):
    counters.events.cache_clear()
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("platform.system", lambda: "Linux")
    assert counters.events() == () and "perf is not installed" in counters.unavailable()
    assert counters.count(["true"]) is None and counters.per_repeat("pass") is None
    monkeypatch.setattr("shutil.which", lambda name: name)
    monkeypatch.setattr(counters, "PARANOID", tmp_path / "level")
    (tmp_path / "level").write_text("3\n")
    assert "perf_event_paranoid = 3" in counters.unavailable()
    (tmp_path / "level").write_text("2\n")
    assert "no hardware counters" in counters.unavailable()
    monkeypatch.setattr("platform.system", lambda: "Darwin")
    assert "Darwin" in counters.unavailable()
    counters.events.cache_clear()


def test_this_machine_counts_or_says_why_not():
    counters.events.cache_clear()
    reason = counters.unavailable()
    found = counters.per_repeat("sum(range(1000 * repeats))", few=100, many=1100)
    if reason is None:
        assert found["instructions"] > 5000  # a thousand additions in the interpreter
    else:
        assert found is None and reason.count(".") <= 1 and len(reason) < 150


def test_the_reports_arithmetic():
    assert counters.cycles_per_instruction({"cycles": 3.0}) is None
    assert counters.cycles_per_instruction({"cycles": 3.0, "instructions": 2.0}) == 1.5
    assert counters.cycle_shares({"cycles": 3.0}) is None
