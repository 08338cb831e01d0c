"""What a run will take of this machine, compared with what this process may use, before anything is started.

A kernel says in ``footprint`` what one problem takes; here that becomes what a whole run takes, and what an
interpreter takes itself.
"""

import os
import tempfile
from collections.abc import Iterable
from typing import Any

from companion.host import machine
from companion.labels import plural

#: Most ranks (times their threads) for each usable CPU, unless more are asked for in so many words.
_A_CPU = 4
#: Bytes that only one rank uses once its kernels are loaded: 140 to 210 MiB were measured (Linux, Python 3.11).
_RANK_BYTES = 256 * 2**20
#: Most ranks that anybody may ask for: what the scale model is drawn to (``kernels.mpi.world``).
MOST_RANKS = 100_000


def temporary() -> tuple[str, str]:
    """What names the folder for temporary files (a variable of the environment, or ``"default"``), and the folder.

    ``OSError`` where the folder that was named takes no files: Python would choose another, unasked, and measure a file
    system that nobody named.
    """
    source = next((name for name in ("TMPDIR", "TEMP", "TMP") if os.environ.get(name)), "default")
    asked, chosen = os.environ.get(source), tempfile.gettempdir()
    if asked is not None and os.path.realpath(asked) != os.path.realpath(chosen):
        raise OSError(f"{source} = {asked!r} takes no files; name a folder that can be written and has room")
    return source, chosen


def require_integer(field: str, value: int, least: int, most: int) -> None:
    """``ValueError`` unless ``value`` is a whole number of at least ``least`` and at most ``most``."""
    if not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"{field} = {value!r} must be a whole number of at least {least} and at most {most}")


def require_cases(what: str, cases: Iterable[Any]) -> None:
    """Refuse what one process cannot do: the largest of the cases, since they can be measured one by one.

    ``MemoryError`` or ``OSError`` where memory or disk do not suffice; the message names the case.
    """
    for case in cases:
        need, named = case.kernel.footprint(case.problem), f"{what}, {case.label},"
        machine.require_memory(need.memory_of(case.threads), named)
        if need.disk:
            machine.require_disk(_folder(case), need.disk, named)


def require_ranks(ranks: int, threads: int = 1, cases: Iterable[Any] = (), oversubscribe: bool = False) -> None:
    """Refuse ranks, of so many threads each, that this machine cannot hold.

    What they measure, ``cases``, is in memory, and its files on the disk, at once.  ``oversubscribe``: more than four a
    CPU are wanted. ``ValueError``: more than four a CPU. ``MemoryError`` or ``OSError`` where memory or disk do not
    suffice.
    """
    memory, disks = _total(cases)
    most, what = max(1, _A_CPU * machine.usable_cpus() // threads), f"a job of {plural(ranks, 'rank')}"
    if ranks > most and not oversubscribe:
        raise ValueError(
            f"ranks = {ranks} exceeds {most}, {_A_CPU} threads on each of the {machine.usable_cpus()} usable CPUs; "
            "ask for fewer, or say --oversubscribe (oversubscribe=True) if times do not matter"
        )
    machine.require_memory(ranks * _RANK_BYTES + memory, what, remedy="ask for fewer ranks or a smaller problem")
    for folder, disk in disks.items():
        machine.require_disk(folder, disk, what)


def require_share(cases: Iterable[Any], ranks: int, here: int) -> None:
    """``MemoryError`` if ``here`` of a job's ``ranks``, which run on this host, cannot hold their part of the cases.

    The cases of a job are all in memory at once.
    """
    machine.require_memory(_total(cases)[0] * here // ranks, f"the part of {plural(here, 'rank')} on one host")


def _total(cases: Iterable[Any]) -> tuple[int, dict[str, int]]:
    """Bytes of memory, and of disk by folder, of all cases together; those of one problem share a state."""
    memory: dict[Any, int] = {}
    files: dict[Any, tuple[str, int]] = {}
    for case in cases:
        key, need = (id(case.kernel), repr(case.problem)), case.kernel.footprint(case.problem)
        memory[key] = max(memory.get(key, 0), need.memory_of(case.threads))
        files[key] = _folder(case), need.disk
    disks = {folder: sum(disk for place, disk in files.values() if place == folder) for folder, _ in files.values()}
    return sum(memory.values()), {folder: disk for folder, disk in disks.items() if disk}


def _folder(case: Any) -> str:
    """Where the files of a case lie."""
    return str(getattr(case.problem, "folder", None) or tempfile.gettempdir())
