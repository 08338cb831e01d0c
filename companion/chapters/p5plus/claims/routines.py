"""Claims of the 2006 report: profile, hardware counters and cycles."""

from companion.claims.engine import Ledger, total

ledger = Ledger("p5plus")

TREES = {"MAIN": "cpi_main", "LAITLI": "cpi_laitli", "CLOUDSC3": "cpi_cloudsc3"}


# Profile


@ledger.each(
    where='slide "MFLOPS per routine for T399 on P4+ (RAPS9)"',
    statement="Share of {item}: its time over the total that CLOUDSC's time and share imply.",
    reasons={"CLOUDSC": "The total is not printed; this row is checked against the total that CUADJTQ implies."},
)
def profile_shares(t):
    sheet = t("drhook")
    for (routine,) in sheet.keys():
        base = "CUADJTQ" if routine == "CLOUDSC" else "CLOUDSC"
        whole = sheet[base, "self_time"] / sheet[base, "self_percent"]
        yield routine, sheet.text(routine, "self_percent"), sheet[routine, "self_time"] / whole


@ledger.each(
    where='slide "MFLOPS per routine for T399 on P4+ (RAPS9)"',
    statement="Calls that belong together: {item}.",
)
def profile_calls(t):
    sheet = t("drhook")
    yield "VDFMAIN as often as VDFEXCU", sheet.text("VDFMAIN", "calls"), sheet["VDFEXCU", "calls"]
    yield "CUASCN twice for every CUBASEN", sheet.text("CUASCN", "calls"), 2 * sheet["CUBASEN", "calls"]


# Counters


def groups(t, event: str) -> set[str]:
    """Counter groups that hold an event."""
    return set(t("hpm_counters").text("PM_FPU_" + event, "groups").split())


@ledger.each(where='slide "MFLOPS on P5+"', statement="The two groups named hold every event of method {item}.")
def counter_groups(t):
    for method, events in (("1", ("FMA", "1FLOP", "FEST")), ("2", ("FMA", "FIN", "STF", "FEST"))):
        named = set(t("hpm_formulas").text(method, "groups").split())
        weights = [t("hpm_formulas").text(method, event.lower()) for event in events]
        yield (
            method,
            str(len([weight for weight in weights if weight])),
            sum(bool(groups(t, event) & named) for event in events),
        )


@ledger.each(
    where='slide "MFLOPS on P5+"',
    statement="No single group holds every event of method {item}, so it needs two runs.",
)
def counter_runs(t):
    for method, events in (("1", ("FMA", "1FLOP", "FEST")), ("2", ("FMA", "FIN", "STF", "FEST"))):
        common = set.intersection(*(groups(t, event) for event in events))
        yield (
            method,
            t("hpm_formulas").text(method, "runs"),
            1 if common else len(t("hpm_formulas").text(method, "groups").split()),
        )


# Cycles


@ledger.each(where='slides "CPI Analysis", {item}', statement="Fraction of the cycles of T: {item}.")
def cpi_fractions(t):
    for routine, table in TREES.items():
        sheet = t(table)
        for group, node in sheet.keys():
            printed = sheet.text(group, node, "fraction")
            if printed:
                yield f"{routine} {node}", printed, sheet[group, node, "cycles"] / sheet["T", "T", "cycles"]


@ledger.each(where='slides "CPI Analysis", {item}', statement="The parts add up to {item}.")
def cpi_sums(t):
    for routine, table in TREES.items():
        sheet = t(table)
        for parent in dict.fromkeys(group for group, _ in sheet.keys()):
            parts = [sheet[group, node, "cycles"] for group, node in sheet.keys() if group == parent != node]
            yield f"{routine} {parent}", sheet.text(parent, parent, "cycles"), total(parts)


@ledger.each(where='slides "CPI Analysis", {item}', statement="The heading repeats the cycles of {item}.")
def cpi_headings(t):
    for routine, table in TREES.items():
        sheet = t(table)
        parents = {node: group for group, node in sheet.keys() if group != node}
        for group, node in sheet.keys():
            if group == node != "T":
                yield (
                    f"{routine} {node}",
                    sheet.text(group, node, "cycles"),
                    sheet[parents[node], node, "cycles"],
                )
