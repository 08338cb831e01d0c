"""Hardware counters of two routines whose cycles the report of 2006 broke down."""

from typing import Any

from companion.host import counters

#: Routines of the report's trees that are written here.
ROUTINES = ("LAITLI", "CLOUDSC")
#: What one of 96 processors had of T399: long enough to stand out of what a process costs to start.
PRESET = "share"

_PROGRAM = """
from kernels.routines import PROFILE
module, fields = PROFILE[{name!r}]
problem = module.Problem.preset({preset!r}, **fields)
module.run(problem, module.setup(problem), repeats=repeats)
"""


def routine_counters(many: int = 1001) -> dict[str, Any]:
    """Counts of one repeat of each routine; empty where the host counts nothing.

    Of every routine: ``cpi``, cycles an instruction; ``shares`` of its cycles; ``flops`` counted by the processor (each
    None where the events are missing); ``work``, the flops counted from the algorithm. ``RuntimeError`` if a routine
    fails in its process.
    """
    from kernels.routines import PROFILE

    found = {}
    for name in ROUTINES:
        counts = counters.per_repeat(_PROGRAM.format(name=name, preset=PRESET), many=many)
        if counts is None:
            return {}
        module, fields = PROFILE[name]
        found[name] = {
            "cpi": counters.cycles_per_instruction(counts),
            "shares": counters.cycle_shares(counts),
            "flops": counts.get("flops"),
            "work": module.work(module.Problem.preset(PRESET, **fields)).flops,
        }
    return found
