"""Records with something in them changed, and of machines that nobody has."""

import copy
from typing import Any


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
