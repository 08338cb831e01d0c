"""Claims of the 2006 report: nodes, binding, adapters, grids and the SMT model."""

from companion.claims.engine import Ledger

ledger = Ledger("p5plus")

# Nodes, chips, threads


@ledger.claim(
    where='slide "SMT: Simultaneous Multi Threading"',
    printed="{} CPUs",
    cell=("prose", "physical_cpus"),
    statement="A node's physical CPUs are its chips times the cores of a chip.",
)
def node_cpus(t):
    return t("prose")["chips"] * t("prose")["cores_per_chip"]


@ledger.claim(
    where='slide "ECMWF: Current and New (Phase4) System"',
    printed="{}-way",
    cell=("systems", "cpus_per_node", "p5plus"),
    statement="The CPUs of a node agree with the slide on SMT.",
)
def node_cpus_systems(t):
    return t("prose")["physical_cpus"]


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


@ledger.claim(
    where='slide "Binding (for P5+)"',
    printed="{} threads",
    cell=("prose", "affinity_threads"),
    statement="Without SMT MP_TASK_AFFINITY fits as many threads as a chip has cores.",
)
def affinity_threads(t):
    return t("prose")["cores_per_chip"]


@ledger.claim(
    where='slide "Binding (for P5+)"',
    printed="{} threads",
    cell=("prose", "affinity_threads_smt"),
    statement="With SMT MP_TASK_AFFINITY fits as many threads as a chip has logical CPUs.",
)
def affinity_threads_smt(t):
    return t("prose")["cores_per_chip"] * t("prose")["logical_per_physical"]


@ledger.each(where='slide "Binding (for P5+)"', statement="The list {item}, counted over all its entries.")
def binding_lists(t):
    def entries(column):
        sheet = t("binding_lists")
        return {int(key): int(sheet[key, column].mid) for (key,) in sheet.keys() if sheet[key, column]}

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


@ledger.claim(
    where="title of the plot of exchange bandwidth with N tasks a node",
    printed="{} links",
    cell=("plots", "4", "links_per_node"),
    statement="The links of a node are its adapters.",
)
def links_per_node(t):
    return t("systems")["adapters_per_node", "p5plus"]


@ledger.claim(
    where="title of the plot of transposition bandwidth",
    printed="{}-way",
    cell=("systems", "cpus_per_node", "p5plus"),
    statement="Tasks times threads fill the CPUs of a node.",
)
def transposition_cpus(t):
    return t("plots")["5", "tasks_per_node"] * t("plots")["5", "threads_per_task"]


@ledger.claim(
    where="title of the plot of memory bandwidth",
    printed="{} KB",
    cell=("plots", "1", "page"),
    statement="The page size is the medium page of the list of changes.",
)
def medium_page(t):
    return t("prose")["medium_page"]


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


@ledger.claim(
    where='slide "SMT for parallel jobs (on P5+)"',
    cell=("smt_model", "speedup"),
    statement="The speed-up due to SMT is S f/2 with the factors put into the formula.",
)
def smt_speedup(t):
    return t("smt_model")["S_in_formula"] * t("smt_model")["f_in_formula"] / 2


@ledger.claim(
    where='slide "SMT for parallel jobs (on P5+)"',
    cell=("smt_model", "speedup"),
    statement="The speed-up due to SMT is S f/2 with the factors of the bullet.",
    reason="The bullet gives S = 1.3, the formula under it uses 1.35; only 1.35 gives the printed "
    "speed-up exactly, so the bullet shortens S. The rounding of 1.3 just covers it.",
)
def smt_speedup_bullet(t):
    return t("smt_model")["S"] * t("smt_model")["f"] / 2


@ledger.claim(
    where='slide "SMT for parallel jobs (on P5+)"',
    cell=("smt_model", "S"),
    statement="S in the bullet is S in the formula.",
)
def smt_factor(t):
    return t("smt_model")["S_in_formula"].mid


@ledger.claim(
    where='slide "SMT for parallel jobs (on P5+)"',
    cell=("smt_model", "f"),
    statement="f in the bullet is f in the formula.",
)
def smt_scalability(t):
    return t("smt_model")["f_in_formula"].mid
