"""Claims of *Performance of P5+ at ECMWF* (2006) that are more than a formula."""

from supercomputers_rerun.companion.claims.intervals import total

_TREES = {"MAIN": "cpi_main", "LAITLI": "cpi_laitli", "CLOUDSC3": "cpi_cloudsc3"}
#: hardware events of each of the two ways to count operations
_EVENTS = {"1": ("FMA", "1FLOP", "FEST"), "2": ("FMA", "FIN", "STF", "FEST")}


def binding_lists(t):
    """Entries, or pairs of them, that are as the list is described."""

    def entries(column):
        sheet = t("binding_lists")
        return {int(key): int(sheet[key, column].mid) for (key,) in sheet.keys() if sheet[key, column].text}

    physical = t("prose").text("physical_cpus")
    pair = t("prose")["logical_per_physical"].mid
    alone, both, front = entries("no_smt"), entries("smt"), entries("smt_front_loaded")
    task = int(t("prose")["front_loaded_threads"].mid)

    def front_loaded(position):
        start, place = position // task * task, position % task
        return start + 2 * (place % (task // 2)) + place // (task // 2)

    def pairs_right(right):
        """Pairs of neighbouring entries or logical CPUs of which both are right."""
        return sum(right(int(pair * n)) and right(int(pair * n) + 1) for n in range(len(both) // int(pair)))

    named = list(front.values())
    found = {
        "without SMT: entries that are the first logical CPU of a physical one, in order": sum(
            cpu == 2 * position for position, cpu in alone.items()
        ),
        "with SMT: pairs of entries in order": pairs_right(lambda n: both[n] == n),
        "front loaded: pairs of logical CPUs that are named once each": pairs_right(lambda cpu: named.count(cpu) == 1),
        "front loaded: pairs of entries where first logical CPUs of a task come before its second ones": pairs_right(
            lambda n: front[n] == front_loaded(n)
        ),
    }
    for what, right in found.items():
        yield what, physical, right


def grid_spacing(t):
    """Half the Earth's circumference over the truncation."""
    half_circumference = 20_000  # km; the metre was defined by the quarter meridian
    for model in ("T799", "T399"):
        truncation = int(t("models").text(model, "truncation")[1:])
        yield model, t("models").text(model, "resolution"), half_circumference / truncation


def groups(t, event: str) -> set[str]:
    """Counter groups that hold an event."""
    return set(t("hpm_counters").text("PM_FPU_" + event, "groups").split())


def counter_groups(t):
    """Events with a weight, and those that the groups named hold."""
    for method, events in _EVENTS.items():
        named = set(t("hpm_formulas").text(method, "groups").split())
        weights = [t("hpm_formulas").text(method, event.lower()) for event in events]
        held = sum(bool(groups(t, event) & named) for event in events)
        yield method, str(len([weight for weight in weights if weight])), held


def counter_runs(t):
    """As many runs as groups, one if a single group holds every event."""
    for method, events in _EVENTS.items():
        named = t("hpm_formulas").text(method, "groups").split()
        common = set.intersection(*(groups(t, event) for event in events))
        yield method, t("hpm_formulas").text(method, "runs"), 1 if common else len(named)


def cpi_sums(t):
    """Cycles of a node, and the sum of its parts."""
    for routine, table in _TREES.items():
        sheet = t(table)
        for parent in dict.fromkeys(group for group, _ in sheet.keys()):
            parts = [sheet[group, node, "cycles"] for group, node in sheet.keys() if group == parent != node]
            yield f"{routine} {parent}", sheet.text(parent, parent, "cycles"), total(parts)


def cpi_headings(t):
    """Cycles of a node where it heads its parts, and where it is a part itself."""
    for routine, table in _TREES.items():
        sheet = t(table)
        parents = {node: group for group, node in sheet.keys() if group != node}
        for group, node in sheet.keys():
            if group == node != "T":
                yield f"{routine} {node}", sheet.text(group, node, "cycles"), sheet[parents[node], node, "cycles"]
