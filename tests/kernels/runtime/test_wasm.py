"""Kernels as WebAssembly: the change of numba's text, and modules from toy kernels, looked at and run under Node."""

import json
import shutil
import subprocess
import sys

import pytest

from supercomputers_rerun.kernels.runtime import wasm
from supercomputers_rerun.kernels.runtime.wasm import imports, sections

TEXT = """target datalayout = "e-m:e-p270:32:32"
target triple = "x86_64-unknown-linux-gnu"
@env = common local_unnamed_addr global ptr null
declare void @numba_gil_ensure(ptr)
declare noalias ptr @PyUnicode_FromString(ptr)
declare void @NRT_MemInfo_call_dtor(ptr)
declare ptr @NRT_MemInfo_alloc(i64)
declare double @sin(double)
define void @f(ptr %a) "target-cpu"="znver4" {
  call void @NRT_incref(ptr %a)
  tail call void @NRT_decref(ptr %a)
  call void asm sideeffect "", "r,~{memory}"(ptr %a)
  %x = call double asm "", "=x,0"(double 1.0)
  call void @llvm.prefetch.p0(ptr %a, i32 0, i32 2, i32 1)
  store <2 x double> zeroinitializer, ptr %a, align 64, !nontemporal !7
  fence seq_cst
  ret void
}
"""
TOYS = """
import sys
from pathlib import Path
import numpy as np
from numba import carray
from supercomputers_rerun.kernels.runtime import wasm
from supercomputers_rerun.kernels.runtime.jit import barrier
from supercomputers_rerun.kernels.runtime.vector import LANES, load, store


def kept(a, passes):
    a = carray(a, (2,))
    for _ in range(passes):
        a[0] = 1.0
        barrier(a)


def dropped(a, passes):
    a = carray(a, (2,))
    for _ in range(passes):
        a[0] = 1.0


def doubled(a, n):
    a = carray(a, (n,))
    for i in range(0, n, LANES):
        store(a, i, load(a, i) + load(a, i))


def divided(a, n):
    if n == 0:
        raise ValueError("nothing")
    carray(a, (n,))[0] = 1.0


def sine(a, n):
    carray(a, (n,))[0] = np.sin(carray(a, (n,))[0])


def export(function):
    return wasm.Export(function.__name__, function, ("float64[]", "int64"))


for functions in ((kept, dropped, doubled, divided), (kept,), (dropped,), (sine,)):
    try:
        data = wasm.compiled(map(export, functions))
    except ValueError as error:
        data = str(error).encode()
    Path(sys.argv[1], "_".join(each.__name__ for each in functions)).write_bytes(data)
"""
RUN = """
const [, path] = process.argv, memory = new WebAssembly.Memory({ initial: 3 });
const stack = new WebAssembly.Global({ value: "i32", mutable: true }, 131072);
const module = new WebAssembly.Module(require("fs").readFileSync(path));
const { exports } = new WebAssembly.Instance(module, { env: { __linear_memory: memory, __stack_pointer: stack } });
const a = new Float64Array(memory.buffer, 131072, 4);
a.set([1, 2, 3, 4]);
exports.doubled(131072, 4n);
let trapped = false;
try { exports.divided(131072, 0n); } catch (error) { trapped = error instanceof WebAssembly.RuntimeError; }
console.log(JSON.stringify({ names: Object.keys(exports), doubled: [...a], trapped }));
"""


@pytest.fixture(scope="module")
def toys(tmp_path_factory):
    folder = tmp_path_factory.mktemp("toys")
    (folder / "toys.py").write_text(TOYS)
    subprocess.run([sys.executable, folder / "toys.py", folder], env=wasm.environment(), check=True)
    return folder


def test_the_text_is_changed_where_the_target_differs():
    text = wasm.retargeted(TEXT)
    for gone in ("x86_64", "p270", "target-cpu", "znver4", "incref", "decref", "prefetch", "nontemporal", "fence"):
        assert gone not in text
    assert f'"{wasm.TRIPLE}"' in text and f'"{wasm.LAYOUT}"' in text
    assert "@env = internal global" in text
    assert 'asm sideeffect "", "r,~{memory}"' in text and '"=r,0"' in text


def test_what_only_an_exception_calls_stops_and_nothing_else_does():
    text = wasm.retargeted(TEXT)
    for name in ("numba_gil_ensure", "PyUnicode_FromString", "NRT_MemInfo_call_dtor"):
        assert f"@{name}" in text and f"declare void @{name}" not in text
    assert text.count("call void @llvm.trap()") == 3
    assert "declare ptr @NRT_MemInfo_alloc(i64)" in text and "declare double @sin(double)" in text


def test_a_module_imports_memory_and_stack_alone(toys):
    content = dict(sections((toys / "kept_dropped_doubled_divided").read_bytes()))
    assert set(imports(content[2])) <= {b"__linear_memory", b"__stack_pointer"}
    assert 0 not in content  # what a linker reads is gone


def test_a_barrier_keeps_a_loop(toys):
    loop = b"\x03\x40"
    codes = {name: dict(sections((toys / name).read_bytes()))[10] for name in ("kept", "dropped")}
    assert loop in codes["kept"] and loop not in codes["dropped"]


def test_a_kernel_that_needs_a_library_is_refused_by_name(toys):
    assert (toys / "sine").read_text() == "a module has no sin; a kernel for WebAssembly must do without"


def test_a_module_computes_and_stops_instead_of_raising(toys):
    node = shutil.which("node")
    if node is None:
        pytest.skip("no Node here to run a module in")
    command = [node, "-e", RUN, toys / "kept_dropped_doubled_divided"]
    found = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
    assert found == {
        "names": ["kept", "dropped", "doubled", "divided"],
        "doubled": [2.0, 4.0, 6.0, 8.0],
        "trapped": True,
    }
