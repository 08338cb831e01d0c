"""What the processor and the package count while a call runs: perf_event_open(2) and RAPL, where Linux shows them.

A counter of the processor counts the calling thread alone, in user mode.  Virtual machines mostly hide these, and say
so by ENOENT; the counter of energy, in ``/sys/class/powercap``, is of the whole package, and root's alone as a rule.
"""

import ctypes
import os
import platform
import struct
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

_SYSCALL = {"x86_64": 298, "aarch64": 241}  # perf_event_open
_ENABLE, _DISABLE, _RESET = 0x2400, 0x2401, 0x2403  # ioctl
_SIZE = 112  # bytes of struct perf_event_attr, PERF_ATTR_SIZE_VER5
_READ_FORMAT = 0b11  # time enabled and time running beside the count
_FLAGS = 1 | 1 << 5 | 1 << 6  # disabled at first; neither the kernel nor a hypervisor is counted
_POWER = Path("/sys/class/powercap")


class Event(NamedTuple):
    """One event as perf_event_open(2) names it."""

    kind: int  # PERF_TYPE_…: 0 hardware, 1 software, 4 raw
    config: int
    weight: int = 1  # of one count, in what is counted


#: Events that every processor with counters has.
EVENTS: dict[str, tuple[Event, ...]] = {
    "cycles": (Event(0, 0),),
    "instructions": (Event(0, 1),),
    "cache_misses": (Event(0, 3),),
}
#: Operations of floating-point instructions that retired, by vendor.  Intel counts instructions by the length of their
#: vectors, a multiply-add twice (FP_ARITH_INST_RETIRED, double precision); AMD counts operations (FpRetSseAvxOps, Zen 2
#: and later).
FLOPS = {
    "GenuineIntel": tuple(Event(4, 0xC7 | mask << 8, weight) for mask, weight in ((1, 1), (4, 2), (16, 4), (64, 8))),
    "AuthenticAMD": (Event(4, 0x0F03),),
}


def events(vendor: str | None) -> dict[str, tuple[Event, ...]]:
    """:data:`EVENTS`, and ``flops`` where the events of a ``vendor`` are known (``"AuthenticAMD"``)."""
    flops = FLOPS.get(vendor or "", ())
    return EVENTS | ({"flops": flops} if flops else {})


def _opened(event: Event) -> int:
    """A file that counts an event of this thread; ``OSError`` where the system shows none."""
    number = _SYSCALL.get(platform.machine())
    if number is None or platform.system() != "Linux":
        raise OSError("perf_event_open(2) of Linux on x86-64 or AArch64 is needed")
    attributes = bytearray(_SIZE)
    struct.pack_into("=IIQ", attributes, 0, event.kind, _SIZE, event.config)
    struct.pack_into("=QQ", attributes, 32, _READ_FORMAT, _FLAGS)
    libc = ctypes.CDLL(None, use_errno=True)
    found = libc.syscall(number, (ctypes.c_char * _SIZE).from_buffer(attributes), 0, -1, -1, 0)
    if found < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return found


def _count(file: int) -> float:
    """What a file has counted, for the whole time where it shared its counter with others; NaN where it never ran."""
    value, enabled, running = struct.unpack("=QQQ", os.read(file, 24))
    return value * enabled / running if running else float("nan")


def counted(call: Callable[[], Any], wanted: Mapping[str, Sequence[Event]]) -> tuple[Any, dict[str, float]]:
    """Result of ``call()``, and what this thread counted meanwhile, by name: the sum of its events by weight.

    ``OSError`` where the system does not show an event.
    """
    import fcntl  # Windows has none, and imports this module, too

    files: dict[str, list[tuple[int, int]]] = {name: [] for name in wanted}
    try:
        for name, each in wanted.items():
            for event in each:
                files[name].append((_opened(event), event.weight))
        every = [file for pairs in files.values() for file, _ in pairs]
        for request in (_RESET, _ENABLE):
            for file in every:
                fcntl.ioctl(file, request, 0)
        try:
            result = call()
        finally:
            for file in every:
                fcntl.ioctl(file, _DISABLE, 0)
        return result, {name: sum(weight * _count(file) for file, weight in pairs) for name, pairs in files.items()}
    finally:
        for pairs in files.values():
            for file, _ in pairs:
                os.close(file)


def packages() -> list[Path]:
    """Folders of packages whose energy this process may read."""
    found = sorted(_POWER.glob("intel-rapl:[0-9]")) + sorted(_POWER.glob("intel-rapl:[0-9][0-9]"))
    return [folder for folder in found if os.access(folder / "energy_uj", os.R_OK)]


def energy_used(call: Callable[[], Any]) -> tuple[Any, float]:
    """Result of ``call()`` and joules of all packages meanwhile, others' work included; NaN where none can be read.

    A counter that began again at zero, as it does after minutes or hours, is taken for one that did so once.
    """
    folders = packages()
    before = [_microjoules(folder, "energy_uj") for folder in folders]
    result = call()
    used = 0
    for folder, start in zip(folders, before, strict=True):
        passed = _microjoules(folder, "energy_uj") - start
        used += passed if passed >= 0 else passed + _microjoules(folder, "max_energy_range_uj")
    return result, 1e-6 * used if folders else float("nan")


def _microjoules(folder: Path, name: str) -> int:
    return int((folder / name).read_text(encoding="ascii"))
