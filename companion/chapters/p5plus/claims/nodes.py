"""Claims of the 2006 report: nodes, binding, adapters, grids and the SMT model."""

from companion.claims.engine import Ledger

ledger = Ledger("p5plus")

# Nodes, chips, threads


ledger.equal(
    "node_cpus",
    'slide "SMT: Simultaneous Multi Threading"',
    "A node's physical CPUs are its chips times the cores of a chip.",
    ("prose", "physical_cpus"),
    lambda t: t("prose")["chips"] * t("prose")["cores_per_chip"],
    form="{} CPUs",
)


ledger.equal(
    "node_cpus_systems",
    'slide "ECMWF: Current and New (Phase4) System"',
    "The CPUs of a node agree with the slide on SMT.",
    ("systems", "cpus_per_node", "p5plus"),
    ("prose", "physical_cpus"),
    form="{}-way",
)


@ledger.each(
    where='slide "ECMWF: Current and New (Phase4) System"',
    statement="The size or clock of {item} agrees with a later slide.",
)
def systems_elsewhere(t):
    systems = t("systems")
    yield (
        "P4+ CPUs of a node",
        systems.text("cpus_per_node", "p4plus"),
        t("blade_systems")["cpus_per_node", "p4plus"],
    )
    yield (
        "P4+ memory of a node",
        systems.text("memory_per_node", "p4plus"),
        t("blade_systems")["memory_per_node", "p4plus"],
    )
    yield "P4+ clock", systems.text("clock", "p4plus"), t("blade_systems")["clock", "p4plus"]
    yield "P5+ clock", systems.text("clock", "p5plus"), t("power_systems")["Power5+", "frequency"]
    yield "P5+ CPUs of a node", systems.text("cpus_per_node", "p5plus"), t("power_systems")["Power5+", "ways"]
    yield (
        "JS21 clock",
        t("blade_systems").text("clock", "js21"),
        t("power_systems")["JS21 Blade", "frequency"],
    )
    yield (
        "JS21 CPUs of a blade",
        t("blade_systems").text("cpus_per_node", "js21"),
        t("power_systems")["JS21 Blade", "ways"],
    )


ledger.equal(
    "affinity_threads",
    'slide "Binding (for P5+)"',
    "Without SMT MP_TASK_AFFINITY fits as many threads as a chip has cores.",
    ("prose", "affinity_threads"),
    ("prose", "cores_per_chip"),
    form="{} threads",
)


ledger.equal(
    "affinity_threads_smt",
    'slide "Binding (for P5+)"',
    "With SMT MP_TASK_AFFINITY fits as many threads as a chip has logical CPUs.",
    ("prose", "affinity_threads_smt"),
    lambda t: t("prose")["cores_per_chip"] * t("prose")["logical_per_physical"],
    form="{} threads",
)


@ledger.each(where='slide "Binding (for P5+)"', statement="The list {item}, counted over all its entries.")
def binding_lists(t):
    def entries(column):
        sheet = t("binding_lists")
        return {int(key): int(sheet[key, column].mid) for (key,) in sheet.keys() if sheet.get(key, column)}

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

    yield (
        "without SMT: entries that are the first logical CPU of a physical one, in order",
        physical,
        sum(cpu == 2 * position for position, cpu in alone.items()),
    )
    yield "with SMT: pairs of entries in order", physical, pairs_right(lambda n: both[n] == n)
    named = list(front.values())
    yield (
        "front loaded: pairs of logical CPUs that are named once each",
        physical,
        pairs_right(lambda cpu: named.count(cpu) == 1),
    )
    yield (
        "front loaded: pairs of entries where first logical CPUs of a task come before its second ones",
        physical,
        pairs_right(lambda n: front[n] == front_loaded(n)),
    )


@ledger.each(
    where="titles of the plots of switch bandwidth, plot {item}",
    statement="Tasks sharing a link are the tasks of a node over its adapters (plot {item}).",
)
def tasks_per_link(t):
    for plot in ("3", "5"):
        yield (
            plot,
            t("plots").text(plot, "tasks_per_link"),
            t("plots")[plot, "tasks_per_node"] / t("systems")["adapters_per_node", "p5plus"],
        )


ledger.equal(
    "links_per_node",
    "title of the plot of exchange bandwidth with N tasks a node",
    "The links of a node are its adapters.",
    ("plots", "4", "links_per_node"),
    ("systems", "adapters_per_node", "p5plus"),
    form="{} links",
)


ledger.equal(
    "transposition_cpus",
    "title of the plot of transposition bandwidth",
    "Tasks times threads fill the CPUs of a node.",
    ("systems", "cpus_per_node", "p5plus"),
    lambda t: t("plots")["5", "tasks_per_node"] * t("plots")["5", "threads_per_task"],
    form="{}-way",
)


ledger.equal(
    "medium_page",
    "title of the plot of memory bandwidth",
    "The page size is the medium page of the list of changes.",
    ("plots", "1", "page"),
    ("prose", "medium_page"),
    form="{} KB",
)


@ledger.each(
    where='slide "IFS (Integrated Forecast System)"',
    statement="The grid spacing of {item} is half the Earth's circumference over the truncation.",
)
def grid_spacing(t):
    half_circumference = 20_000  # km; the metre was defined by the quarter meridian
    for model in ("T799", "T399"):
        truncation = int(t("models").text(model, "truncation")[1:])
        yield model, t("models").text(model, "resolution"), half_circumference / truncation


# SMT


ledger.equal(
    "smt_speedup",
    'slide "SMT for parallel jobs (on P5+)"',
    "The speed-up due to SMT is S f/2 with the factors put into the formula.",
    ("smt_model", "speedup"),
    lambda t: t("smt_model")["S_in_formula"] * t("smt_model")["f_in_formula"] / 2,
)


ledger.equal(
    "smt_speedup_bullet",
    'slide "SMT for parallel jobs (on P5+)"',
    "The speed-up due to SMT is S f/2 with the factors of the bullet.",
    ("smt_model", "speedup"),
    lambda t: t("smt_model")["S"] * t("smt_model")["f"] / 2,
    reason="The bullet gives S = 1.3, the formula under it uses 1.35; only 1.35 gives the printed "
    "speed-up exactly, so the bullet shortens S. The rounding of 1.3 just covers it.",
)


ledger.equal(
    "smt_factor",
    'slide "SMT for parallel jobs (on P5+)"',
    "S in the bullet is S in the formula.",
    ("smt_model", "S"),
    lambda t: t("smt_model")["S_in_formula"].mid,
    reason="A half rounds away from zero, so 1.35 would be printed as 1.4. The bullet cuts the 1.35 of the formula "
    "off, or was written before it.",
)


ledger.equal(
    "smt_scalability",
    'slide "SMT for parallel jobs (on P5+)"',
    "f in the bullet is f in the formula.",
    ("smt_model", "f"),
    lambda t: t("smt_model")["f_in_formula"].mid,
)


for _name, _statement, _reason in (
    ("smt_memory_bound", "Programs with much memory traffic for each operation gain nothing from SMT.",
     "No program is named. Of the report's own loops the streaming one gains 43 percent, the skipping one 10."),
    ("smt_fp_bound", "Programs bound by the floating-point pipes, like SGEMM, gain nothing from SMT.",
     "SGEMM is not in the table. Ten chains that fill both pipes gain 20 percent there."),
):  # fmt: skip
    ledger.not_checkable(
        _name,
        where='slide "SMT: Simultaneous Multi Threading"',
        statement=_statement,
        printed="no benefit",
        reason=_reason,
    )
