"""The three lists by which the report of 2006 bound successive threads to logical processors.

=================  ======================  ===================================================
list               logical processors      threads
=================  ======================  ===================================================
no_smt             0 2 4 6 …               one a core
smt                0 1 2 3 …               two a core, neighbours together
smt_front_loaded   0 2 4 … 1 3 5 …         first threads of all cores, then the second ones
=================  ======================  ===================================================

(Hague, *Performance of P5+ at ECMWF*, 2006, slide on binding; logical processors 2k and 2k + 1 are the hardware
threads of core k.)  Where a core has one hardware thread, its processor stands for both, and two threads take turns.
"""

from collections.abc import Sequence

LISTS = ("no_smt", "smt", "smt_front_loaded")


def list_cpus(name: str, cores: Sequence[Sequence[int]], threads: int) -> list[int]:
    """CPU of each of ``threads`` threads by the list ``name``; ``cores`` are the CPUs of every usable core.

    ``ValueError`` if there are too few cores, or an odd number of threads for a list that fills cores with two.
    """
    each = 1 if name == "no_smt" else 2
    if threads % each:
        raise ValueError(f"threads = {threads} is odd, and the list {name} puts two on a core; ask for {threads + 1}")
    half = threads // each
    if half > len(cores):
        raise ValueError(f"threads = {threads} by the list {name} needs {half} cores, {len(cores)} are usable")
    if name == "no_smt":
        return [core[0] for core in cores[:threads]]
    place = (lambda t: (t // 2, t % 2)) if name == "smt" else (lambda t: (t % half, t // half))
    return [cores[core][min(second, len(cores[core]) - 1)] for core, second in map(place, range(threads))]
