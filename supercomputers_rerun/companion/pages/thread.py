"""The thread of the book in sentences: what each era's processor waited for, from the points of :mod:`.synthesis`.

Each function gives the text below a heading of the last chapter; words that hang on numbers are asserted beside them.
"""

import numpy as np

from supercomputers_rerun.companion import figures, tables
from supercomputers_rerun.companion.pages import synthesis
from supercomputers_rerun.companion.pages.synthesis import about, of_book, printed
from supercomputers_rerun.companion.records import runs


def conditions() -> str:
    """Where today's numbers are from."""
    run = runs.latest("xmp1982-forecast")
    return (
        "Numbers of *then* are printed in the reports, or follow from what they print. Numbers of *today* are "
        "medians of stored runs on "
        f"{figures.cpu(run)}, a virtual machine with two processors, in the size called *paper*. Its files are on its "
        "disk, or in memory that the system uses for files (the page cache). Points on one axis measure the same kind "
        "of thing, with programs and sizes that may differ."
    )


def how_long() -> str:
    """What share of their time jobs spend otherwise than computing."""
    busy, ddt = synthesis.computing(), tables.load("aips58", "ddt").sel(size="large")
    old = busy[(busy["kind"] == "report") & (busy["bound"] == "")]
    systems = ("convex_c1_nrao1", "cray_xmp24_clsc", "cray_xmp48_psc")
    convex, toronto, pittsburgh = (printed(busy, each, "imaging, large problem") for each in systems)
    faster = float(ddt["cpu"].sel(system="NRAO1").sum() / ddt["cpu"].sel(system="CLSC").sum())
    jobs = old.loc[old["year"] == 2006, "value"]
    worst = busy.loc[(busy["bound"] == "<") & (busy["year"] == 1993), "value"].item()
    alone = old.loc[old["machine"] != synthesis.full_name(systems[-1]), "value"]
    imaging = 100 - of_book(busy, "imaging, large problem")
    assert convex > toronto > pittsburgh and pittsburgh < alone.min() and faster > 5
    assert imaging < (100 - convex) / 3, "less than on any machine of 1989"
    return (
        f"In the reports about {100 - alone.max():.0f} to {100 - alone.min():.0f} % of the time is without computing "
        "(in 2006: outside the parallel part), and more on one Cray shared with others. A faster processor may wait "
        f"for a larger share of its time. In 1982 the forecast was without a CPU for {synthesis.waited()[0]:.0f} % of "
        "its time, with its files on four disks. In 1989 the "
        f"large imaging problems were without a CPU for {100 - convex:.0f} % of the time on a Convex. On a Cray in "
        f"Toronto, with a CPU {about(faster)} times as fast, the share was {100 - toronto:.0f} %. On the shared Cray, "
        f"in Pittsburgh, it was {100 - pittsburgh:.0f} %. In 1993 the iPSC/860 could spend over "
        f"{100 - worst:.0f} % of a run on output. In 2006 the analysis spent {100 - jobs.min():.0f} % "
        "of its time outside its parallel part. The share does not always grow: our imaging waits for only "
        f"{imaging:.0f} % of its time today, less than on any machine of 1989."
    )


def why_more() -> str:
    """Why the forecast waits for a larger share of its time although disks became faster, as far as sums say."""
    computes, moves = synthesis.growth()
    run = runs.latest("xmp1982-forecast")
    place = run["configuration"].values.astype(str)
    memory, whole, waits = (
        float(figures.sampled(run, f"observed_{name}", place == where)["middle"].item())
        for name, where in (("forecast", "memory"), ("forecast", "disk4"), ("waiting", "disk4"))
    )
    rest = (whole - waits) / memory
    (then, now), (hidden, longer) = synthesis.waited(), synthesis.balance()
    assert rest > 1.2 and hidden < 1 < 1.3 < longer
    return (
        "It waits for a larger share of its time partly because four disks served it in 1982, and one virtual disk "
        f"serves it today. A single disk gained more than computing: it became {about(synthesis.disks())} times as "
        f"fast, the forecast's computing about {about(computes)} times. But one disk now does the work of four, so "
        f"that moving the files became only about {about(moves)} times as fast. These speeds alone would raise the "
        f"share from {then:.0f} to {synthesis.by_speeds():.0f} % (calculated), and it is {now:.0f} %. Another part is "
        f"overlap. In 1982 moving a step's data took {about(hidden)} times as long as computing the step, so that it "
        f"could hide behind the computing. Today it takes {about(longer)} times as long, so that a part must be waited "
        f"for. Computing also takes {about(rest)} times as long with files on the disk as without work files (why was "
        "not measured). That lowers the share. Our program has other physics: take the share as a lesson and not as a "
        "race."
    )


def one_request() -> str:
    """What one request costs, in additions."""
    frame, rate = synthesis.requests(), 1e9 * of_book(synthesis.sustained_rate(), "additions in registers")
    kinds = ("a load from memory, at random", "a small file opened, read and closed")
    load, opened = (about(rate * of_book(frame, kind)) for kind in kinds)
    assert of_book(frame, kinds[1]) > 20 * of_book(frame, kinds[0])
    return (
        f"A load from a random place in memory costs as much time as {load} additions. A small file that is opened, "
        f"read and closed costs as much as {opened} additions."
    )


def counted() -> list[tuple[str, float, float]]:
    """What a report requests, how many times, and the seconds that one of these takes today."""
    frame, solver = synthesis.requests(), runs.latest("nht1-io")
    opens = tables.printed("xc30", "io_to_remove").set_index("suite").loc["HRES", "open_close"]
    return [
        ("1993, points of the flow solver", synthesis.points_written(solver), of_book(frame, synthesis.WRITE)),
        ("2014, small files of a forecast", float(opens), of_book(frame, synthesis.OPEN)),
    ]


def held() -> str:
    """How much memory machines have for their speed."""
    frame = synthesis.memory_per_flop()
    old, now = frame[frame["kind"] == "report"], frame.loc[frame["order"] >= 0].sort_values("order")["value"].iloc[0]
    first, later = old["value"].iloc[0], old["value"].iloc[1:]
    assert first > 2 * max(later.max(), now)
    return (
        f"Relative to peak speed, memory is smaller than on the Cray of 1993. The Cray Y-MP had {about(first)} "
        "bytes for each "
        f"flop/s of peak, the machines of 2006 and 2014 had {about(later.min())} to {about(later.max())}, and today's "
        f"has {about(now)}. So for the same peak a machine holds a smaller problem."
    )


def for_memory() -> str:
    """What a loop loses that skips most of what it reads past."""
    then, now = synthesis.skipping()
    return (
        f"In 2006 a loop that skips eight numbers of every ten took {then:.1f} times as long as a loop that uses all "
        f"ten, for the same arithmetic. Today it takes {now:.1f} times as long. The reason is probably that memory "
        "delivers whole cache lines, and most of each line is skipped (not measured; the report does not print whether "
        "its arrays fit into a cache)."
    )


def for_others() -> str:
    """What ranks wait for: those that come late to a barrier."""
    jobs = tables.printed("p5plus", "ifs_times").set_index("job")
    barrier = 100 * jobs["barrier"] / jobs["wall"]
    run = runs.latest("p5plus-sensors")
    wait = dict(zip(run["way"].values.astype(str), run["observed_wait"].values, strict=True))
    apart, together = (1e3 * float(np.nanmedian(wait[way])) for way in ("drifted", "synchronised"))
    spent = float(np.nanmedian(run["seconds"].values[run["way"].values.astype(str) == "drifted"]))
    assert apart > 3 * together
    return (
        f"They wait for the slowest of them. In 2006 three forecast jobs stood at barriers for {barrier.min():.0f} to "
        f"{barrier.max():.0f} % of their time, and spent further time on communication. Programs that watched the "
        "machine, *sensors*, interrupted the forecast; we imitate them. If they interrupt two of our processes in "
        f"turn, the processes wait {about(apart)} ms for each other in a run of {about(spent)} s. If they "
        f"interrupt both at the same step, the processes wait {about(together)} ms, because then nobody is late."
    )


def of_peak() -> str:
    """How much of the peak forecasts reached."""
    share = synthesis.share_of_peak()
    old = share.loc[share["kind"] == "report", "value"]
    assert 5 < old.min() < old.max() < 15
    return (
        f"About a tenth of it: {old.min():.0f} to {old.max():.0f} % in the five forecasts of 2006 and 2014. The "
        "reports do not say how much of the rest is waiting, and how much is instructions that do not compute."
    )


def speed() -> str:
    """What became of the speed."""
    hour, of_2014 = synthesis.forecast_hour(), tables.load("xc30", "forecast")
    first = printed(hour, "cray_xmp_1982", "forecast of 1982 with its jobs, a file on SSD")
    last = hour.loc[hour["machine"] == synthesis.full_name("cray_xc30"), "value"].item()
    points = float(of_2014["grid_points"] * of_2014["levels"]) / 1e6
    again = of_book(hour, "forecast of the size of 1982 with its jobs, files on disk")
    assert 2 < first / last < 5 and again < last / 20
    return (
        f"Much of the speed went into finer models. To forecast one hour took {first:.0f} s on the X-MP of 1982, with "
        f"a file on the SSD, and {last:.3g} s on the Cray of 2014, whose model had about {about(points)} million "
        f"points. A model of the size of 1982, with our physics, forecasts one hour in {about(again)} s today."
    )
