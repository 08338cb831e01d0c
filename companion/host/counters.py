"""Hardware counters of a Python program, through ``perf stat``, and the arithmetic done with them.

Many virtual machines and containers offer no counters.  Then every call answers None.  Only the program's own
(user-mode) events are counted.

The arithmetic is that of Hague, *Performance of P5+ at ECMWF*, 2006: two ways to floating-point
operations and cycles an instruction with their breakdown.
"""

import functools
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence

from kernels.files.work_folder import WorkFolder

_STALLED = ("stalled-cycles-frontend", "stalled-cycles-backend")
_GENERIC = ("cycles", "instructions", "branches", "branch-misses", "cache-misses", *_STALLED)

#: Event -> floating-point operations of one count.  A fused multiply-add counts twice in each of them.
_FLOPS = {
    "fp_arith_inst_retired.scalar_double": 1,  # Intel
    "fp_arith_inst_retired.128b_packed_double": 2,
    "fp_arith_inst_retired.256b_packed_double": 4,
    "fp_arith_inst_retired.512b_packed_double": 8,
    "fp_ret_sse_avx_ops.all": 1,  # AMD
}


def _stat(events: Sequence[str], command: Sequence[str], timeout: float | None = None) -> dict[str, float]:
    """What perf counted: event -> count, the uncounted left out.

    ``RuntimeError`` if the command, or perf itself, fails.
    """
    with WorkFolder(None, "counters") as folder:
        report, counted = folder.path / "report", ",".join(f"{event}:u" for event in events)
        called = ["perf", "stat", "-x", ";", "-o", str(report), "-e", counted, "--", *command]
        environment = os.environ | {"LC_ALL": "C"}
        done = subprocess.run(called, capture_output=True, text=True, check=False, timeout=timeout, env=environment)
        if done.returncode:
            lines = done.stderr.strip().splitlines() or ["it gave no reason"]
            raise RuntimeError(f"perf stat ended with {done.returncode}: {lines[-1]}")
        return _parse(report.read_text())


def _parse(report: str) -> dict[str, float]:
    """Counts of a report with ``;`` between its fields: value, unit, event, …"""
    counts = {}
    for line in report.splitlines():
        value, _, rest = line.partition(";")
        fields = rest.split(";")
        if len(fields) < 2:
            continue
        try:
            counts[fields[1].removesuffix(":u")] = float(value)
        except ValueError:
            pass  # "<not supported>" or "<not counted>"
    return counts


def _counts_here(event: str) -> bool:
    try:
        return event in _stat([event], [sys.executable, "-S", "-c", ""], 60)
    except (OSError, RuntimeError, subprocess.TimeoutExpired):
        return False


@functools.cache
def events() -> tuple[str, ...]:
    """The known events that this machine counts; empty where it counts none."""
    if platform.system() != "Linux" or shutil.which("perf") is None or not _counts_here("instructions"):
        return ()
    return tuple(event for event in (*_GENERIC, *_FLOPS) if _counts_here(event))


def per_repeat(source: str, few: int = 1, many: int = 101) -> dict[str, float] | None:
    """Counts of one repeat of a piece of Python, or None where nothing can be counted.

    The program runs in processes of its own with the variable ``repeats`` set: once uncounted (so that compiled code is
    in its cache), then with ``few`` and with ``many`` repeats, 1 ≤ few < many.  What start, imports and loading cost
    is alike in both and falls out of the difference.  ``"flops"`` is added where the processor counts floating-point
    operations. ``RuntimeError`` if the program fails.
    """
    if not events():
        return None

    def counted(repeats: int) -> dict[str, float]:
        counts = _stat(events(), [sys.executable, "-c", f"repeats = {repeats}\n{source}"])
        known = [counts[event] * weight for event, weight in _FLOPS.items() if event in counts]
        return counts | ({"flops": sum(known)} if known else {})

    counted(few)
    low, high = counted(few), counted(many)
    return {event: (high[event] - low[event]) / (many - few) for event in high if event in low}


def cycles_per_instruction(counts: Mapping[str, float]) -> float | None:
    """CPI, or None unless cycles and instructions were counted."""
    if not counts.get("instructions") or "cycles" not in counts:
        return None
    return counts["cycles"] / counts["instructions"]


def cycle_shares(counts: Mapping[str, float]) -> dict[str, float] | None:
    """Shares of the cycles: waiting for instructions, waiting for results or data, and the rest.

    The first two stand beside the report's *GCT* (nothing to complete) and *stalls*; the rest beside
    *groups* (completing).  None unless all three events were counted.
    """
    names = ("cycles", *_STALLED)
    if not all(name in counts for name in names) or not counts["cycles"]:
        return None
    cycles, front, back = (counts[name] for name in names)
    return {"completing": 1.0 - (front + back) / cycles, "no instructions": front / cycles, "stalled": back / cycles}
