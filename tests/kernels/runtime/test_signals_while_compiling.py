"""Ctrl-C in what LLVM calls while a function is compiled or loaded: it comes out, and the cache stays good.

LLVM calls Python back while it makes machine code.  Python drops an exception there: the signal was lost, and with it
the code, so that the next line failed with ``no compiled object yet``.
"""

import pytest
from cases import tried
from interpreter import start

PROGRAM = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from kernels.runtime import cache, jit
sys.path.insert(0, sys.argv[1])
from made import function

target, seen = int(sys.argv[2]), 0
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

sys.settrace(trace)
try:
    found = function(2.0)
except KeyboardInterrupt:
    found = "interrupted"
sys.settrace(None)
print(seen, found, function(2.0))
"""
MADE = """
from kernels.runtime.jit import kernel

@kernel
def function(x):
    return 3.0 * x
"""


def run(folder, target):
    done = start(PROGRAM, folder, target, NUMBA_CACHE_DIR=str(folder / "cache"))
    tried()
    return done.returncode, done.stdout.split(), done.stderr


@pytest.mark.parametrize("quarters", [(2,), pytest.param((0, 1, 3, 4), marks=pytest.mark.weekly)])
@pytest.mark.parametrize("loaded", [False, True], ids=["compiled", "loaded"])
def test_an_interrupt_in_a_callback_of_the_compiler_comes_out(tmp_path, loaded, quarters):
    (tmp_path / "made.py").write_text(MADE)
    code, words, error = run(tmp_path, 0)
    assert (code, words[1:]) == (0, ["6.0", "6.0"]), error
    if loaded:
        code, words, error = run(tmp_path, 0)  # from the cache: other callbacks
    operations = int(words[0])
    assert operations > 20
    for target in (max(1, quarter * operations // 4) for quarter in quarters):
        if not loaded:
            for path in (tmp_path / "cache").rglob("*.nb?"):
                path.unlink()
        code, words, error = run(tmp_path, target)
        assert code == 0 and words[1:] == ["interrupted", "6.0"], (target, operations, words, error[-1500:])
        assert "Exception ignored" not in error and "Traceback" not in error, error


def test_the_command_line_ends_as_interrupted(tmp_path):
    """The signal comes in the callback of a run: exit code 130 and one sentence."""
    program = PROGRAM.split("sys.settrace(trace)")[0].replace("from made import function", "") + (
        "from companion.__main__ import main\n"
        "sys.argv = ['companion', 'run', 'p5plus-latency', '--out', sys.argv[1], '--budget', '1']\n"
        "sys.settrace(trace)\nmain()\n"
    )
    done = start(program, tmp_path, 40, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert done.returncode == 130, done.stderr[-2000:]
    (line,) = done.stderr.strip().splitlines()
    assert line == "companion: interrupted; no unfinished file is left"
    assert [path.name for path in tmp_path.iterdir()] == ["cache"]
