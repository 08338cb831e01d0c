"""Modules and their cases, see ``build``: ``python -m … FOLDER MODULE …``, with this module's full name."""

import json
import sys
from pathlib import Path

from supercomputers_rerun.kernels.portable import bt, forecast, loops, stride
from supercomputers_rerun.kernels.runtime import wasm

#: Working sets, bytes: in every cache of a core and beyond all of them, and no more than a telephone gives a page.
SETS = [2**p for p in (12, 14, 16, 18, 20, 23, 26)]
#: Additions of a chain, or words of the array that feeds two of the loops, 16 MB.
LOOPS = {"s1": 2**15, "s2": 2**15, "s10": 2**15, "streaming": 2**21, "skipping": 2**21}
#: By name, a module and the arguments of its cases.  Strides: every byte of a line, a line for each item.
CASES = {
    "stride": (stride, [(nbytes, step) for nbytes in SETS for step in (1, 16)]),
    "loops": (loops, list(LOOPS.items())),
    "bt": (bt, [("S",), ("W",)]),
}


def write(folder: Path, name: str) -> None:
    """The files ``NAME.wasm`` and ``NAME.json``, its cases."""
    if name == "forecast":
        exports, case = forecast.made()
        cases = [case]
    else:
        module, arguments = CASES[name]
        exports, cases = module.EXPORTS, [module.case(*each) for each in arguments]
    (folder / f"{name}.wasm").write_bytes(wasm.compiled(exports))
    described = [case.described() for case in cases]
    (folder / f"{name}.json").write_text(json.dumps(described, ensure_ascii=False, allow_nan=False), encoding="utf-8")


def gather(folder: Path) -> None:
    """The file ``cases.json`` of all cases that were written; the forecast, which a page says first, is the first."""
    parts = [folder / f"{name}.json" for name in ("forecast", *CASES)]
    found = [case for part in parts if part.exists() for case in json.loads(part.read_text(encoding="utf-8"))]
    (folder / "cases.json").write_text(json.dumps(found, ensure_ascii=False), encoding="utf-8")


if __name__ == "__main__":
    for each in sys.argv[2:]:
        write(Path(sys.argv[1]), each)
