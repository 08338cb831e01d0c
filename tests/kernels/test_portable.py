"""Every kernel compiled for other processors of this architecture: without vectors beyond its oldest, with vectors of
256 bits, and of 512 where this host has them.  Slower, and right.

What was compiled for the oldest is then translated for AArch64: no kernel may need an instruction of x86-64 by name.
The one piece of assembly that holds a value names its register as that machine calls it.
"""

import platform

import llvmlite.binding as llvm
import pytest
from interpreter import said
from kernels_found import SINGLE

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
failed, translated = complaints(name), len(texts)
"""
TRANSLATE = """
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
"""
ENDED = """
print(f"{translated} libraries of functions compiled", *failed, sep="\\n")
sys.exit(bool(failed) or translated < bool(texts))
"""


#: LLVM's names of the processors that kernels are compiled for; without their features, those of this host would stay.
X86 = {"256 bits": "x86-64-v3", "512 bits": "x86-64-v4"}
AVX512 = ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")


def targets() -> dict[str, str]:
    """The processors whose instructions this host has."""
    if platform.machine() != "x86_64":
        return {"the oldest": "generic"}
    has = llvm.get_host_cpu_features()
    found = {"256 bits": has.get("avx2"), "512 bits": all(has.get(name) for name in AVX512)}
    return {"the oldest": "x86-64"} | {bits: X86[bits] for bits, there in found.items() if there}


@pytest.mark.weekly
@pytest.mark.parametrize("target", targets().values(), ids=targets())
@pytest.mark.parametrize("name", SINGLE)
def test_another_processor_runs_every_kernel(name, target, tmp_path):
    program = RUN + TRANSLATE if target in ("x86-64", "generic") else RUN
    said(program + ENDED, name, NUMBA_CPU_NAME=target, NUMBA_CPU_FEATURES="", NUMBA_CACHE_DIR=str(tmp_path))
