"""Every kernel on a processor without vectors beyond the architecture's oldest: slower, and right.

What was compiled for it is then translated for AArch64: no kernel may need an instruction of x86-64 by name.  The
one piece of assembly that holds a value names its register as that machine calls it.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from kernels_found import KERNELS

ROOT = Path(__file__).resolve().parents[2]
RUN = """
import re, sys
sys.path.insert(0, "tests")
import llvmlite.binding as llvm
from numba.core import codegen

# as it is before the machine's own passes, which leave their marks
texts, finalise = [], codegen.CPUCodeLibrary._finalize_final_module
codegen.CPUCodeLibrary._finalize_final_module = lambda library: (
    texts.append(str(library._final_module)), finalise(library)
)[1]

from kernels_found import complaints

name = sys.argv[1]
failed = complaints(name)

llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()
arm = llvm.Target.from_triple("aarch64-unknown-linux-gnu").create_target_machine()
translated = 0
for text in texts:
    text = re.sub('^target (triple|datalayout) = .*$', "", text, flags=re.MULTILINE)
    text = re.sub('"target-(cpu|features)"="[^"]*"', "", text).replace('"=x,0"', '"=w,0"')
    # numba's own, which the machine's passes have been over: its real build has another for each machine
    text = re.sub(r'^define [^\\n]*@NRT_decref[(].*?^}$', "declare void @NRT_decref(ptr)", text, flags=re.M | re.S)
    text = re.sub('^declare .*@llvm[.]x86[.].*$', "", text, flags=re.M)
    asked = sorted(set(re.findall("llvm[.]x86[.][a-z0-9.]+", text)))
    failed += [f"asks for {word}" for word in asked]
    if not asked:
        module = llvm.parse_assembly(text)
        module.triple, module.data_layout = arm.triple, str(arm.target_data)
        translated += len(arm.emit_object(module)) > 0
print(f"{translated} libraries of functions translated", *failed, sep="\\n")
sys.exit(bool(failed) or not translated)
"""


@pytest.mark.weekly
@pytest.mark.parametrize("name", [name for name in KERNELS if not hasattr(KERNELS[name].Problem, "ranks")])
def test_a_generic_processor_runs_every_kernel(name, tmp_path):
    environment = {**os.environ, "NUMBA_CPU_NAME": "generic", "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", RUN, name], cwd=ROOT, env=environment, text=True, capture_output=True, timeout=580
    )
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
