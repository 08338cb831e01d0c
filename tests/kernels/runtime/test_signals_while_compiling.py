"""Ctrl-C in what LLVM calls while a function is compiled or loaded: it comes out, and the cache stays good.

LLVM calls Python back while it makes machine code.  Python drops an exception there: the signal was lost, and with it
the code, so that the next line failed with ``no compiled object yet``.
"""

import json

import pytest
from cases import tried
from interpreter import start

#: ``sys.settrace(trace)`` sends the signal before the operation ``target`` of the callbacks, and counts them.
TRACE = """
import importlib, json, pathlib, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from kernels.runtime import cache, jit

target, seen = 0, 0
CALLBACKS = ("_raw_object_cache_notify", "_raw_object_cache_getbuffer", "_object_compiled_hook",
             "_object_getbuffer_hook")

def trace(frame, event, argument):
    global seen
    if frame.f_code.co_name not in CALLBACKS:
        return None
    frame.f_trace_opcodes = True
    if event == "opcode":
        seen += 1
        if seen == target:
            sys.settrace(None)
            signal.raise_signal(signal.SIGINT)
    return trace
"""
#: Functions of modules that are imported anew, as by another process, each called twice.
CALLS = """
folder, quarters = sys.argv[1], json.loads(sys.argv[2])
sys.path.insert(0, folder)

def called(number, loaded):
    global target, seen
    target, seen = number, 0
    if not loaded:
        for path in pathlib.Path(folder, "cache").rglob("*.nb?"):
            path.unlink()
    sys.modules.pop("made", None)
    function = importlib.import_module("made").function
    sys.settrace(trace)
    try:
        found = function(2.0)
    except KeyboardInterrupt:
        found = "interrupted"
    sys.settrace(None)
    return seen, sum(function.stats.cache_hits.values()), found, function(2.0)

called(0, False)  # the first of a process compiles more than the function
for loaded in (False, True):
    undisturbed = called(0, loaded)
    operations = undisturbed[0]
    disturbed = [called(max(1, quarter * operations // 4), loaded) for quarter in quarters]
    print(json.dumps([loaded, undisturbed, disturbed]))
"""
MADE = """
from kernels.runtime.jit import kernel

@kernel
def function(x):
    return 3.0 * x
"""


@pytest.mark.parametrize("quarters", [[2], pytest.param([0, 1, 3, 4], marks=pytest.mark.weekly)])
def test_an_interrupt_in_a_callback_of_the_compiler_comes_out(tmp_path, quarters):
    (tmp_path / "made.py").write_text(MADE)
    program = TRACE + CALLS
    done = start(program, tmp_path, json.dumps(quarters), NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert done.returncode == 0 and done.stderr == "", done.stderr[-1500:]
    for loaded, (operations, hits, *answers), disturbed in map(json.loads, done.stdout.splitlines()):
        assert operations > 20 and hits == loaded and answers == [6.0, 6.0]  # other callbacks where it is loaded
        assert [found for *_, found, _ in disturbed] == len(quarters) * ["interrupted"]
        assert [again for *_, again in disturbed] == len(quarters) * [6.0]
        tried(len(quarters))


@pytest.mark.weekly
def test_the_command_line_ends_as_interrupted(tmp_path):
    """The signal comes in the callback of a run: exit code 130 and one sentence."""
    program = TRACE + (
        "target = 40\n"
        "from companion.__main__ import main\n"
        "sys.argv = ['companion', 'run', 'p5plus-latency', '--out', sys.argv[1], '--budget', '1']\n"
        "sys.settrace(trace)\nmain()\n"
    )
    done = start(program, tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert done.returncode == 130, done.stderr[-2000:]
    (line,) = done.stderr.strip().splitlines()
    assert line == "companion: interrupted; no unfinished file is left"
    assert [path.name for path in tmp_path.iterdir()] == ["cache"]
