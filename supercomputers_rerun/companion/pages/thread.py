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
        f"Then: what the reports print. Today: {figures.cpu(run)}, a virtual machine with two processors; medians of "
        "stored runs at the preset paper; files in its page cache or on its disk. Points of one axis are alike in "
        "kind, and may differ in program or size."
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
    assert convex > toronto > pittsburgh and faster > 5
    return (
        f"Jobs of the reports waited for {100 - old['value'].max():.0f} to {100 - old['value'].min():.0f} % of it, "
        f"and a faster processor may wait longer. In 1982 the forecast spent {synthesis.waited()[0]:.0f} % of its "
        "time outside the CPU, with its files on four disks. In 1989 the large imaging problems computed for "
        f"{convex:.0f} % of the time on a Convex. On a Cray with a CPU {about(faster)} times as fast they computed "
        f"for {toronto:.0f} %, and for {pittsburgh:.0f} % on another Cray, which others used too. In 1993 the "
        f"iPSC/860 could spend over {100 - worst:.0f} % of a run on output. In 2006 the analysis spent "
        f"{100 - jobs.min():.0f} % of its time outside its parallel part."
    )


def why_more() -> str:
    """Why the forecast waits more although disks became faster."""
    computes, moves = synthesis.growth()
    run = runs.latest("xmp1982-forecast")
    place = run["configuration"].values.astype(str)
    memory, whole, waits = (
        float(figures.sampled(run, f"observed_{name}", place == where)["middle"].item())
        for name, where in (("forecast", "memory"), ("forecast", "disk4"), ("waiting", "disk4"))
    )
    assert whole - waits > 1.2 * memory
    return (
        f"It waits more because its computing sped up more than its files did: about {about(computes)} times, against "
        f"about {about(moves)}. Four disks served it then and one virtual disk serves it today, so the factor of a "
        f"single disk, {about(synthesis.disks())}, is not the one that counts. Our program has other physics: take "
        f"the share as a lesson and not as a race. And waiting is not all. Of {about(whole)} s beside the disk the "
        f"program waits {about(waits)} s; what is left is {about(whole - waits)} s, and with its fields in memory "
        f"{about(memory)} s. Why was not measured."
    )


def one_request() -> str:
    """What one request costs, in additions."""
    frame, rate = synthesis.requests(), 1e9 * of_book(synthesis.sustained_rate(), "additions in registers")
    kinds = ("a load from memory, at random", "a small file opened, read and closed")
    load, opened = (about(rate * of_book(frame, kind)) for kind in kinds)
    assert of_book(frame, kinds[1]) > 20 * of_book(frame, kinds[0])
    return (
        f"A load from a random place in memory costs as much time as {load} additions. A small file that is opened, "
        f"read and closed costs as much as {opened}."
    )


def counted() -> list[tuple[str, float, float]]:
    """What a report requests, how many times, and the seconds that one of these takes today."""
    frame, solver = synthesis.requests(), runs.latest("nht1-io")
    opens = tables.printed("xc30", "io_to_remove").set_index("suite").loc["HRES", "open_close"]
    return [
        ("1993, points of the flow solver", synthesis.points_written(solver), of_book(frame, synthesis.WRITE)),
        ("2014, small files of a forecast", float(opens), of_book(frame, synthesis.OPEN)),
    ]


def for_memory() -> str:
    """What a loop loses that skips most of what it reads past."""
    then, now = synthesis.skipping()
    return (
        f"A loop that skips eight numbers of ten took {then:.1f} times as long for the same arithmetic in 2006, and "
        f"takes {now:.1f} times as long today. Probably because memory hands over whole cache lines, and most of each "
        "line is skipped (no hardware counter was read)."
    )


def for_others() -> str:
    """What ranks wait for: those that come late to a barrier."""
    jobs = tables.printed("p5plus", "ifs_times").set_index("job")
    barrier = 100 * jobs["barrier"] / jobs["wall"]
    run = runs.latest("p5plus-sensors")
    wait = dict(zip(run["way"].values.astype(str), run["observed_wait"].values, strict=True))
    apart, together = (1e3 * float(np.nanmedian(wait[way])) for way in ("drifted", "synchronised"))
    assert apart > 3 * together
    return (
        f"They wait for the slowest of them. In 2006 three forecast jobs stood at barriers for {barrier.min():.0f} to "
        f"{barrier.max():.0f} % of their time, and their communication came on top. When imitated sensors interrupt "
        f"two of our processes in turn, these wait {about(apart)} ms for each other in a run. When the sensors "
        f"interrupt both at the same step, they wait {about(together)} ms, because then nobody is late."
    )


def of_peak() -> str:
    """How much of the peak forecasts reached."""
    share = synthesis.share_of_peak()
    old = share.loc[share["kind"] == "report", "value"]
    assert 5 < old.min() < old.max() < 15
    return (
        f"About a tenth of it: {old.min():.0f} to {old.max():.0f} % in the five forecasts of 2006 and 2014. The "
        "reports do not say how the rest divides into waiting and into instructions that do not compute."
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
        f"Most of the speed went into finer models. An hour of forecast took {first:.0f} s on the X-MP of 1982 and "
        f"{last:.3g} s on the Cray of 2014, which computed for about {about(points)} million points. A forecast of the "
        f"size of 1982, with our physics, takes {about(again)} s for an hour today."
    )
