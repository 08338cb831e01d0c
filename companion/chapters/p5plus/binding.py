"""The section *What does binding gain?*: eight printed times, and the same work by bound and by free threads."""

from dataclasses import replace
from itertools import product

from companion import figures, host, tables
from companion.bench import Case
from companion.common import np, pd
from companion.experiments import experiment


def gained() -> str:
    """What SMT and what binding gained a day of T399, least and most over the other choices."""
    time = tables.load("p5plus", "smt_binding")["time"]
    smt = 100 * (time.sel(smt="N") / time.sel(smt="Y") - 1)
    bind = 100 * (time.sel(bind="N") / time.sel(bind="Y") - 1)
    alone, both = (
        f"{float(each.min()):.1f} to {float(each.max()):.1f} %" for each in (bind.sel(smt="N"), bind.sel(smt="Y"))
    )
    return (
        f"Two threads on a core made a forecast day {float(smt.min()):.0f} to {float(smt.max()):.0f} % faster. Binding "
        f"threads to processors gained {alone} without a second thread and {both} with one."
    )


def combinations() -> "figures.Shown":
    """Time of one T399 forecast day against SMT, binding and memory affinity."""
    cube = tables.load("p5plus", "smt_binding")
    time = cube["time"]
    figure, axis = figures.axes(height=2.7)
    for used, affinity in product("NY", "NY"):
        days = time.sel(smt=used, memory_affinity=affinity, bind=["N", "Y"]).values
        label = f"{'with' if used == 'Y' else 'without'} SMT, memory affinity {'on' if affinity == 'Y' else 'off'}"
        line = figures.points(axis, [0, 1], days, label=label, index="NY".index(used))
        line.set_linestyle("--" if affinity == "N" else "-")
    axis.set_xticks([0, 1], ["not bound", "bound"])
    axis.set(xlim=(-0.25, 1.25), ylim=(0, 1.08 * float(time.max())), ylabel="time [s]")
    figures.legend(axis, "lower center")
    return figures.show(
        figure,
        name="p5plus_smt_binding",
        data=cube,
        title="SMT, binding and memory affinity",
        caption="The same forecast day in eight combinations, as printed. Two threads on a core (SMT) save more than "
        "binding or memory affinity, and with SMT both of these save less.",
        tables="smt_binding",
    )


#: Runs of the binding test: whether there are twice the threads, the list that binds them, and both in words.
_BINDINGS = (
    (False, "", "one thread a core, not bound"),
    (False, "no_smt", "one thread a core, list without SMT"),
    (True, "", "two threads a core, not bound"),
    (True, "smt", "two threads a core, list with SMT"),
    (True, "smt_front_loaded", "two threads a core, front-loaded list"),
)


@experiment("p5plus-binding", item="P7, P11", rounds=11, seconds={"paper": None, "modern": None}, needs="affinity")
def binding(preset: str, threads: int) -> list[Case]:
    """Threads bound to CPUs or left to the scheduler.

    Two threads a core only where cores have two.
    """
    from companion.chapters.p5plus.loops import case, cores  # of another section, which may be half imported above

    cases = []
    for loop, (doubled, order, text) in product(("streaming", "skipping"), _BINDINGS):
        if threads > cores() or (order == "smt_front_loaded" and threads == 1):  # the same as the list before
            continue
        if not doubled or host.smt().ok:
            changes = {"doubled": doubled, "order": order, "binding": bool(order), "shared": True}
            made = case(loop, preset, text, threads, **changes)
            cases.append(replace(made, parameters={**made.parameters, "order": order, "doubled": doubled}))
    return cases


def _cases(run) -> "pd.DataFrame":
    """Cases of a run with their ``place`` there, and ``relative``: time over the median of those that are not bound.

    Older runs also have two threads that take turns on one hardware thread; these are left out.
    """
    frame = figures.cases(run, "loop", "kind", "order", "doubled").astype({"doubled": bool})
    frame = frame.assign(place=np.arange(len(frame)))[~frame["kind"].str.contains("turns").to_numpy()]
    free = frame[frame["order"] == ""].set_index(["loop", "doubled"])["median"]
    base = free.loc[list(zip(frame["loop"], frame["doubled"], strict=True))].to_numpy()
    what = frame["loop"] + ": " + frame["kind"].str.replace(", ", ",\n", n=1)
    return figures.quantities(frame.assign(what=what), relative=lambda seconds: seconds / base)


@binding.figure
def times(runs) -> "figures.Shown":
    """Time of each loop by kind of binding, over the median of its threads that are not bound."""
    runs = [run for run in runs if "order" in run]  # older ones were bound by no list
    return figures.dots(
        runs,
        [_cases(run) for run in runs],
        {"relative": "{}"},
        xlabel="time over that not bound",
        base=1,
        height=3.2,
        name="p5plus_binding",
        title="Bound and not bound",
        caption="Time of two loops, threads bound by the report's lists or placed by the system, over the median of "
        "those placed by the system. The report prints no times of these loops.",
        tables="binding_lists",
    )


def said(run) -> str:
    """That no list of the report changes the time of a loop."""
    seconds = run["seconds"].values
    for _, part in _cases(run).groupby(["loop", "doubled"], sort=False):
        free, *bound = (seconds[place] for place in part.sort_values("order")["place"])  # no order comes first
        assert not any(figures.times(free, each).measurable for each in bound)
    return f"On machine {figures.cpu(run)} binding makes no measurable difference to either loop."
