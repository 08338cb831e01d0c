"""Vector registers of the processor that code is made for: how many numbers a loop can keep at hand."""

from typing import NamedTuple

from llvmlite import binding
from numba.core import codegen, config


class Registers(NamedTuple):
    """Vector registers of a kind of processor."""

    machine: str  # first word of LLVM's name of the target
    feature: str  # that code is made for
    lanes: int  # doubles of one
    chains: int  # sums that fit beside two other numbers
    sums: bool = False  # whether a multiply-add overwrites its summand


#: The first that fits is taken.  Four pipes of latency 4 keep busy with 16 chains, with 12 they do not.
REGISTERS = (
    Registers("x86_64", "avx512f", 8, 24),
    Registers("x86_64", "avx", 4, 12),
    Registers("aarch64", "", 2, 24, sums=True),
    Registers("arm64", "", 2, 24, sums=True),
    Registers("", "", 2, 12),
)


def registers(target: str, features: str) -> Registers:
    """Those by LLVM's name of the ``target``, as x86_64-unknown-linux-gnu, and its ``features``, as +avx,-avx512f."""
    have = {"", *(word[1:] for word in features.split(",") if word.startswith("+"))}
    machine = target.split("-")[0]
    return next(row for row in REGISTERS if row.machine in ("", machine) and row.feature in have)


def _target_registers() -> Registers:
    """Those for which numba makes code, also where somebody has chosen features."""
    features = codegen.get_host_cpu_features() if config.CPU_FEATURES is None else config.CPU_FEATURES
    return registers(binding.get_process_triple(), features)


#: Registers of this processor.
HERE = _target_registers()
