"""Every case, and the modules that they need: ``python -m kernels.portable.everything FOLDER``, see ``build``."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from kernels.portable import bt, forecast, latency, loops, stride
from kernels.portable.case import Case
from kernels.runtime import wasm

MODULES = {module.__name__.rpartition(".")[2]: module for module in (bt, forecast, latency, loops, stride)}
#: Working sets, bytes: in every cache of a core and beyond all of them, and no more than a telephone gives a page.
SETS = [2**p for p in (12, 14, 16, 18, 20, 23, 26)]
#: Strides, items of four bytes: every byte of a line, a line for each item.
STRIDES = (1, 16)
#: Words of the array that feeds two of the loops: 16 MB.
LOOP_WORDS = 2**21


def cases() -> Iterator[Case]:
    """All of them."""
    for nbytes in SETS:
        for step in STRIDES:
            yield stride.case(nbytes, step)
    for nbytes in SETS:
        yield latency.case(nbytes)
    for loop in ("s1", "s2", "s10", "streaming", "skipping"):
        yield loops.case(loop, LOOP_WORDS if loop in ("streaming", "skipping") else 2**15)
    for letter in "SW":
        yield bt.case(letter)
    yield forecast.case()


def write(folder: Path) -> None:
    """``cases.json`` and a file ``NAME.wasm`` for each of :data:`MODULES`."""
    for name, module in MODULES.items():
        (folder / f"{name}.wasm").write_bytes(wasm.compiled(module.EXPORTS))
    described = [case.described() for case in cases()]
    (folder / "cases.json").write_text(json.dumps(described, ensure_ascii=False, allow_nan=False), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
