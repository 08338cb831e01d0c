"""companion.host.counters: with a perf that we script."""

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


def test_the_reports_arithmetic():
    assert counters.cycles_per_instruction({"cycles": 3.0}) is None
    assert counters.cycles_per_instruction({"cycles": 3.0, "instructions": 2.0}) == 1.5
    assert counters.cycle_shares({"cycles": 3.0}) is None
