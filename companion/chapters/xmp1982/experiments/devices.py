"""The report's program for devices at its record sizes (X19), on this host's places."""

import os
import tempfile

from companion import tables
from companion.bench import Case
from companion.chapters import cases_of

#: Names of places as in the other sections: SSD, buffer memory, disk.
SSD, BMR, DISK = "memory", "cache", "direct"
#: Test of Fig. 7.2 on this host: (place, factor on the report's record, transfers) of each job.
TESTS = {
    "ssd": ((SSD, 1, 1600),),
    "ssd-2-jobs": ((SSD, 1, 1600), (SSD, 1, 1600)),
    "bmr": ((BMR, 1, 1600),),
    "bmr-2-jobs": ((BMR, 1, 1600), (BMR, 1, 1600)),
    "tmpfs": (("tmpfs", 1, 1600),),
    "tmpfs-2-jobs": (("tmpfs", 1, 1600), ("tmpfs", 1, 1600)),
    "disk": ((DISK, 2, 800),),
    "disks-both": ((DISK, 1, 32 * 80), (DISK, 1, 32 * 69)),
    "ssd-with-disk": ((SSD, 1, 1600), (DISK, 2, 800)),
    "bmr-with-disk": ((BMR, 1, 1600), (DISK, 2, 800)),
}
#: At ``quick`` records and transfers are divided by these.
_SMALLER = {"quick": (50, 40), "paper": (1, 1), "modern": (1, 1)}
#: Records of a file; at ``modern`` it has 1.6 GB, which no cache of a processor holds.
_RECORDS = {"quick": 8, "paper": 32, "modern": 512}


def places() -> dict[str, str]:
    """Place on this host by that of the tests: the page cache where O_DIRECT is refused."""
    from kernels.files.devices import Problem
    from kernels.files.filesystem import direct_refusal

    found = {SSD: SSD, BMR: BMR, DISK: "cache" if direct_refusal(tempfile.gettempdir()) else DISK}
    if os.access(Problem().tmpfs, os.W_OK):
        found["tmpfs"] = "tmpfs"
    return found


def observe(result) -> dict[str, float]:
    """Seconds and rates, job by job; a megaword is a million words of eight bytes."""
    found = {"clock": result.clock}
    for n, seconds in enumerate(result.seconds):
        found |= {f"job_{n}_time": seconds, f"job_{n}_written": result.written[n], f"job_{n}_read": result.read[n]}
    return found


@cases_of("xmp1982-devices")
def _cases(preset: str, threads: int) -> list[Case]:
    from kernels.files import devices

    shorter, fewer = _SMALLER[preset]
    words = int(tables.printed("xmp1982", "fig7_2")["record_length"].min())
    here, cases = places(), []
    for name, jobs in TESTS.items():
        if not all(place in here for place, *_ in jobs):
            continue
        made = []
        for place, factor, transfers in jobs:
            record = factor * words // shorter // 512 * 512 if shorter > 1 else factor * words
            made.append(devices.Job(here[place], record, max(2, transfers // fewer), _RECORDS[preset] // factor))
        problem = devices.Problem(tuple(made))
        mega = [job.record * job.transfers / 1e6 for job in made]
        parameters = {"test": name, "jobs": len(made), "mwords": mega[0], "mwords_second": (mega + [0.0])[1]}
        cases.append(Case(name, devices, problem, threads, parameters, observe))
    return cases
