"""Kernels as WebAssembly: LLVM's text of a compiled function, for ``wasm32`` with vectors of 128 bits.

    python                 numba                       llvmlite                     here
    ──────                 ─────                       ────────                     ────
    Export ── CFunc ─→ LLVM's text ── retarget ─→ parse, link, optimise, emit ─→ module ─→ bytes

numba has no target for WebAssembly, but it hands out what it gives to LLVM: ``CFunc`` is a function of addresses and
numbers without Python wrappers, and its library has the text.  The rest is llvmlite, which has LLVM's back end for this
target.  What no public way offers is done to the text, in :func:`retargeted` alone: triple and data layout, the
attributes of the host, counted references (there is one owner, the caller), calls of Python (a kernel that would raise
an exception stops), prefetches, stores past the caches, and fences.  Empty pieces of assembly stay, so that what is
timed is computed.

The text must come before LLVM has optimised it for this processor, and vectors must have two lanes, so that a process
of its own does the work: :func:`environment` is what it needs.  Integers of 64 bits stay what they are, though
addresses have 32.
"""

import functools
import os
import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from llvmlite import binding
from numba import types
from numba.core.ccallback import CFunc
from numba.core.compiler_lock import global_compiler_lock

TRIPLE = "wasm32-unknown-unknown"
LAYOUT = "e-m:e-p:32:32-p10:8:8-p20:8:8-i64:64-i128:128-n32:64-S128-ni:1:10:20"
FEATURES = "+simd128,+bulk-memory"

#: Kinds of arguments: arrays by the address of their first element, and numbers.
KINDS = {
    "float64[]": types.CPointer(types.float64),
    "int64[]": types.CPointer(types.int64),
    "uint64[]": types.CPointer(types.uint64),
    "uint32[]": types.CPointer(types.uint32),
    "int64": types.int64,
    "float64": types.float64,
}

#: (pattern, replacement) of everything that is done to numba's text.
_CHANGES = [
    (r'target triple = "[^"]*"', f'target triple = "{TRIPLE}"'),
    (r'target datalayout = "[^"]*"', f'target datalayout = "{LAYOUT}"'),
    (r'"(target-cpu|target-features|tune-cpu|prefer-vector-width)"="[^"]*"', ""),
    # what numba calls the environment of a function, which only object mode looks at
    (r"= common (local_unnamed_addr )?global", "= internal global"),
    # references are not counted
    (r"(?m)^ *(tail )?call void @NRT_(incref|decref)\(.*\n", ""),
    # a value that the compiler does not know: any register, where x86-64 and AArch64 name one
    (r'"=[xw],0"', '"=r,0"'),
    (r"(?m)^ *(tail )?call void @llvm\.prefetch\..*\n", ""),
    (r"(?m)^ *fence .*\n", ""),
    (r", !nontemporal ![0-9]+", ""),
]
#: Functions of Python and of numba's runtime that only an exception reaches, or a reference that nobody counts.
_RAISING = re.compile(
    r"(?m)^declare ([^@\n]*)@(Py\w+|numba_(?:do_raise|gil_\w+|unpickle|runtime_build_excinfo_struct)"
    r"|NRT_(?:Free|MemInfo_call_dtor))\(([^)\n]*)\).*$"
)
#: What a module may import: memory, whose first bytes its data take, and a global from which the stack grows down.
_GIVEN = (b"__linear_memory", b"__stack_pointer")
_CUSTOM, _IMPORT, _EXPORT = 0, 2, 7  # sections


class Export(NamedTuple):
    """A function of addresses and numbers that a module offers."""

    name: str
    function: Callable[..., Any]  # Python; arrays arrive as addresses, see ``numba.carray``
    kinds: tuple[str, ...]  # of its arguments, keys of ``KINDS``; it returns nothing


def environment() -> dict[str, str]:
    """What the environment of a process that calls :func:`compiled` must have, beside what it has."""
    return {**os.environ, "RERUN_TARGET": "wasm32", "NUMBA_OPT": "0"}


def retargeted(text: str) -> str:
    """numba's LLVM ``text`` for this target."""
    for pattern, replacement in _CHANGES:
        text = re.sub(pattern, replacement, text)
    return _RAISING.sub(_stopping, text)


def _stopping(found: re.Match) -> str:
    """A definition that stops, instead of the declaration of a function that raises."""
    returns, name, arguments = found.groups()
    returns = returns.replace("noalias", "").strip()
    return (
        f"define internal {returns} @{name}({arguments}) cold noreturn {{\n  call void @llvm.trap()\n  unreachable\n}}"
    )


def _linked(exports: Iterable[Export]) -> binding.ModuleRef:
    """One module of all exports, of which only they can be seen from outside."""
    whole, names = binding.parse_assembly("declare void @llvm.trap()"), set()
    for export in exports:
        kinds = tuple(KINDS[kind] for kind in export.kinds)
        with global_compiler_lock:  # as numba's cfunc, but without machine code of this processor: 4 s less
            part = CFunc(export.function, (kinds, types.void), {}, {"error_model": "numpy"})._compile_uncached()
            part.library.finalize()
        whole.link_in(binding.parse_assembly(retargeted(part.library.get_llvm_str())))
        whole.get_function(part.fndesc.llvm_cfunc_wrapper_name).name = export.name
        names.add(export.name)
    for function in whole.functions:
        if not function.is_declaration:
            function.linkage = "external" if function.name in names else "internal"
    return whole


@functools.cache
def _prepare() -> None:
    """LLVM with all its back ends, and a little more unrolling than it has for this target: a loop's turn costs more
    here, since browsers look in each whether they should stop."""
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    binding.set_option("kernels", "-unroll-partial-threshold=60")


def compiled(exports: Iterable[Export]) -> bytes:
    """A WebAssembly module that offers ``exports``; it imports ``env.__linear_memory`` and ``env.__stack_pointer``.

    The process was started with :func:`environment`.  ``ValueError`` if a function needs what WebAssembly alone does
    not have, as a sine.
    """
    exports = list(exports)
    _prepare()
    machine = binding.Target.from_triple(TRIPLE).create_target_machine(opt=3, features=FEATURES)
    whole = _linked(exports)
    whole.verify()
    options = binding.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.slp_vectorization = True
    builder = binding.create_pass_builder(machine, options)
    builder.getModulePassManager().run(whole, builder)
    functions = [function.name for function in whole.functions if not function.is_declaration]
    return module(machine.emit_object(whole), {export.name: functions.index(export.name) for export in exports})


def module(data: bytes, exports: dict[str, int]) -> bytes:
    """LLVM's object ``data`` as a module that exports the functions of these names and numbers.

    Such an object is a module already: its code is numbered as if its data began at address 0, functions stand in the
    order of LLVM's module, and what it lacks it imports.  A section of exports is added, and what only a linker reads
    goes (the WebAssembly core specification, *Binary format*).  ``ValueError`` if it imports a function.
    """
    kept = [(kind, content) for kind, content in sections(data) if kind != _CUSTOM]
    for name in imports(dict(kept).get(_IMPORT, b"\0")):
        if name not in _GIVEN:
            raise ValueError(f"a module has no {name.decode()}; a kernel for WebAssembly must do without")
    entries = b"".join(_counted(name.encode()) + b"\0" + _number(number) for name, number in exports.items())
    place = next(number for number, (kind, _) in enumerate(kept) if kind > _EXPORT)
    kept.insert(place, (_EXPORT, _number(len(exports)) + entries))
    return data[:8] + b"".join(bytes([kind]) + _counted(content) for kind, content in kept)


def _read(data: bytes, at: int) -> tuple[int, int]:
    """A number (LEB128, unsigned), and the place behind it."""
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 128:
            return value, at


def _number(value: int) -> bytes:
    return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + _number(value >> 7)


def _counted(data: bytes) -> bytes:
    return _number(len(data)) + data


def sections(data: bytes) -> list[tuple[int, bytes]]:
    """Number and content of each section of an object or a module."""
    found, at = [], 8
    while at < len(data):
        size, begin = _read(data, at + 1)
        found.append((data[at], data[begin : begin + size]))
        at = begin + size
    return found


def imports(content: bytes) -> list[bytes]:
    """Names of what a section of imports asks for, all of it of "env"."""
    return [each[1 : 1 + each[0]] for each in content.split(b"\x03env")[1:]]
