"""Records with something in them changed, and of machines that nobody has."""

import copy
import math
from typing import Any

from supercomputers_rerun.companion.models import Constants, Level

#: Constants of no machine.
MADE_UP = Constants(
    write=1e-6,
    seek=2e-7,
    opened=8e-6,
    touched=2e-6,
    message=2e-6,
    message_rate=8e9,
    barrier=1e-7,
    cache_rate=2e9,
    disk_call=1e-4,
    disk_rate=3e9,
    bandwidth=2e10,
    bandwidth_all=3e10,
    peak=5e10,
    levels=(Level("L1", 2**15, 1e-9), Level("L2", 2**20, 4e-9), Level("memory", math.inf, 1e-7)),
)


def on(model: str, factor: float, record: dict[str, Any]) -> dict[str, Any]:
    """A record as of another machine, newer than all others, whose samples took ``factor`` times as long."""
    made = copy.deepcopy(record)
    made["machine"]["cpu"] |= {"model": model, "target": None, "signature": None}
    made["date"] = "2099-01-01T00:00:00Z"
    for case in made["measurements"]:
        case["samples"] = [factor * each for each in case["samples"]]
        for name, series in case["observed"].items():
            case["observed"][name] = [each if each is None else factor * each for each in series]
    return made


def changed(value, path, new):
    """A copy of ``value``, from JSON, in which what stands at ``path`` is another, or is gone (``...``)."""
    if not path:
        return copy.deepcopy(new)
    made = copy.deepcopy(value)
    *way, last = path
    place = made
    for key in way:
        place = place[key]
    if new is ...:
        del place[last]
    else:
        place[last] = new
    return made
