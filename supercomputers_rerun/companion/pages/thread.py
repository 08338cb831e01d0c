"""The thread of the book in sentences: what each era's processor waited for, from the points of :mod:`.synthesis`.

Functions give the text below headings of the last chapter, and sums that these speak of; words that hang on numbers
are asserted beside them.
"""

from supercomputers_rerun.companion import figures, tables
from supercomputers_rerun.companion.chapters.p5plus import monitoring
from supercomputers_rerun.companion.chapters.xc30 import small_files
from supercomputers_rerun.companion.chapters.xmp1982 import blocks, forecast
from supercomputers_rerun.companion.pages import synthesis
from supercomputers_rerun.companion.pages.synthesis import about, of_book, printed
from supercomputers_rerun.companion.records import runs


def opens() -> str:
    """What a processor could add while it opens a small file."""
    return (
        "While it opens, reads and closes one small file, a processor could make about "
        f"{about(synthesis.additions())} additions."
    )


def findings() -> list[str]:
    """What the last chapter shows, in everyday English: a sentence and a number each."""
    then, now = synthesis.waited()
    return [
        f"Our disk moves large blocks about {about(synthesis.disks())} times as fast as a disk of 1982.",
        f"Our forecast, with its files on one disk of today, waits for {now:.0f} % of its time. The forecast of 1982, "
        f"with its files on four disks, waited for {then:.0f} %.",
        opens(),
    ]


def conditions() -> str:
    """Where today's numbers are from."""
    measured = ("xmp1982-forecast", "nht1-io", "xc30-transforms")
    first, *others = dict.fromkeys(figures.cpu(runs.latest(each)) for each in measured)
    where = f"They come from {first}, a virtual machine with two processors."
    if others:
        where = f"They come from {first}, or from {' or '.join(others)} where {first.partition(' (')[0]} has no run. "
        where += "All these are virtual machines with two processors."
    return (
        "Numbers of the past are printed in the reports, or follow from what they print. Today's numbers in the text "
        "are medians of stored runs. They were made with the preset *paper*: problems as large as those of the "
        "reports. Where a report prints no size, or its problem does not fit our machine, we chose a size ourselves, "
        f"larger than that of a quick run. {where} Figures show other virtual machines, too. Files are on a disk, or "
        "in memory that the system uses for files (the page cache). The point *memory* of the first figure is memory "
        "that a program reads and writes itself, without a file. Points on one axis may come from different programs "
        "and from problems of different size."
    )


def how_long() -> str:
    """What share of their time jobs wait."""
    busy, ddt = synthesis.computing(), tables.load("aips58", "ddt").sel(size="large")
    old = busy[(busy["kind"] == "report") & (busy["bound"] == "")]
    systems = ("convex_c1_nrao1", "cray_xmp24_clsc", "cray_xmp48_psc")
    convex, toronto, shared = (100 - printed(busy, each, "imaging, large problem") for each in systems)
    faster = float(ddt["cpu"].sel(system="NRAO1").sum() / ddt["cpu"].sel(system="CLSC").sum())
    spent = ddt["real"].sel(system="CLSC")
    assert spent.sel(problem=["IMLOD", "UVLOD"]).sum() < 0.05 * spent.sum(), "alone in all that counts"
    alone = 100 - old.loc[old["machine"] != synthesis.full_name(systems[-1]), "value"]
    imaging = 100 - of_book(busy, "imaging, large problem")
    large, small = (
        100 - of_book(busy, f"flow solver that writes, {way}")
        for way in ("five arrays, one a write", "40-byte elements")
    )
    assert convex < toronto <= alone.max() < shared and faster > 5
    assert imaging < min(5, convex / 3), "hardly at all, and less than on any machine of 1989"
    assert small > 2 * large
    return (
        f"In the next figure the jobs of the reports waited for about {alone.min():.0f} to {alone.max():.0f} % of "
        f"their time, and for {shared:.0f} % on one Cray shared with others. Jobs of which only a bound is known are "
        "not counted here. If only the processor becomes faster, a job may wait for a larger share, because its disks "
        "and other users stay as they were. According to the memo of 1989, the large imaging problems waited for "
        f"{convex:.0f} % of their time on a Convex. On a Cray in Toronto, with a CPU {about(faster)} times as fast, "
        f"the share was {toronto:.0f} %. Other users hardly explain this larger share: Toronto's machine had them "
        "during two short tasks only. Today our imaging, with its files in memory, hardly waits. Our flow solver waits "
        f"for {large:.0f} % of its time, and for {small:.0f} % if it writes 40 bytes at a time."
    )


def growth() -> tuple[float, float]:
    """How many times as fast as in 1982 the forecast computes a step and moves its data, by four disks then, by one."""
    computes, moves = forecast.grown(runs.latest("xmp1982-forecast"))
    assert synthesis.disks() > computes > 1.5 * moves > 15, "disk against disk it gained more than computing"
    return computes, moves


def by_speeds() -> float:
    """Share [%] of its time for which an ordinary step must wait today, since moving takes longer than computing."""
    then, now = synthesis.waited()
    share = 100 * (1 - 1 / forecast.over_computing(runs.latest("xmp1982-forecast")))
    assert then < share < 0.8 * now, "a part of the rise, not all"
    return share


def why_more() -> str:
    """Why the forecast waits for a larger share of its time although disks became faster, as far as sums say."""
    computes, moves = growth()
    run = runs.latest("xmp1982-forecast")
    rates = blocks.rates_then()
    hidden = forecast.moving_then()["disk"] / forecast.step_then()
    longer, with_four = (forecast.over_computing(run, disks) for disks in (1, 4))
    before, now = synthesis.waited()
    assert with_four < hidden < 1 < 1.3 < longer
    return (
        "It waits for a larger share of its time partly because four disks served it in 1982, and one virtual disk "
        f"serves it today. A single disk gained more than computing: it became {about(synthesis.disks())} times as "
        f"fast, and the forecast's computing about {about(computes)} times. But in 1982 four disks shared the work, "
        f"and together moved {about(rates['disks-diop'] / rates['disk'])} times as much as one of them. So moving the "
        f"files became only about {about(moves)} times as fast. A processor can compute while data moves (overlap). In "
        f"1982 moving a step's data took only {about(hidden)} times as long as computing the step, so that nearly all "
        "of it could go on while the processor computed. These times do not explain why the forecast still waited for "
        f"{before:.0f} %. Today moving takes {about(longer)} times as long as computing. Even if all computing goes on "
        f"while data move, the forecast must wait for at least {by_speeds():.0f} % of its time (calculated, for steps "
        f"that write no output). In fact the forecast waits for {now:.0f} %. The calculation takes the disk's rate for "
        "large blocks; the forecast asks for smaller ones, and probably waits longer for that reason. Suppose that "
        f"four disks like ours moved four times as much as one. Then moving would take only {about(with_four)} times "
        "as long as computing (calculated), and could go on meanwhile. So take the share as a lesson about one disk, "
        "not as a race of machines. Our program also has other physics than that of 1982."
    )


def one_request() -> str:
    """What one request costs, in additions."""
    load, opened = (synthesis.additions(request) for request in (synthesis.LOAD, synthesis.OPEN))
    assert load > 100 and opened > 20 * load
    return (
        f"It costs as much time as many additions: about {about(load)} for a load from a random place in memory, and "
        f"about {about(opened)} for a small file that is opened, read and closed."
    )


def counted() -> list[tuple[str, float, float]]:
    """What a report requests, how many times, and the seconds that one of these takes today."""
    frame, solver = synthesis.requests(), runs.latest("nht1-io")
    return [
        (
            "1993, a write for each point of the flow solver",
            synthesis.points_written(solver),
            of_book(frame, synthesis.WRITE),
        ),
        ("2014, small files of a forecast", small_files.counted_opens()["HRES"], of_book(frame, synthesis.OPEN)),
    ]


def held() -> str:
    """How much memory machines have for their speed."""
    frame = synthesis.memory_per_flop()
    old, now = frame[frame["kind"] == "report"], frame.loc[frame["order"] >= 0].sort_values("order")["value"].iloc[0]
    first, later = old["value"].iloc[0], old["value"].iloc[1:]
    assert first > 2 * max(later.max(), now) and len(later) == 4
    return (
        "The peak of a machine is the highest rate at which it can compute, in operations a second (flop/s). For each "
        f"flop/s of its peak the Cray Y-MP of 1993 had room for {about(first)} bytes in memory. Four machines of 2006 "
        f"and 2014 had {about(later.min())} to {about(later.max())} bytes, and the virtual machine of today has "
        f"{about(now)}. So for the same peak these machines hold a smaller problem than the Y-MP."
    )


def for_memory() -> str:
    """What a loop loses that skips most of what it reads past."""
    then, now = synthesis.skipping()
    return (
        "In 2006 one loop used all numbers of an array, another only two of every ten. For the same number of "
        f"operations the second took {then:.1f} times as long. Today it takes {now:.1f} times as long, probably "
        "because memory delivers whole blocks (cache lines), of which the loop skips most (not measured). The cause "
        "in 2006 may be another: the report does not print the lengths of its arrays, which may have fitted into a "
        "cache."
    )


def interrupted() -> tuple[float, float, float]:
    """Milliseconds that two processes wait for each other, interrupted in turn and at once; seconds of the first."""
    run = runs.latest("p5plus-sensors")
    apart, together = (1e3 * monitoring.medians(run, way)[1] for way in ("drifted", "synchronised"))
    assert apart > 3 * together
    return apart, together, float(run["median"].values[run["way"].values == "drifted"].item())


def for_others() -> str:
    """What ranks wait for: those that come late to a barrier."""
    jobs = tables.printed("p5plus", "ifs_times").set_index("job")
    barrier = 100 * jobs["barrier"] / jobs["wall"]
    apart, together, spent = interrupted()
    return (
        "They wait for the slowest of them. At a barrier each processor waits until all have come. In 2006 three jobs "
        f"of the weather centre stood at barriers for {barrier.min():.0f} to {barrier.max():.0f} % of their time. "
        "Programs that watched the machine, called sensors, interrupted the forecast. We imitate this with two "
        f"processes. If they are interrupted in turn, each waits on average {about(apart)} ms for the other "
        f"in a run of {about(spent)} s. If both are interrupted at the same step, each waits only {about(together)} ms."
    )


def of_peak() -> str:
    """How much of the peak forecasts reached."""
    share = synthesis.share_of_peak()
    old = share.loc[share["kind"] == "report", "value"]
    assert 5 < old.min() < old.max() < 15
    return (
        f"About a tenth of it: {old.min():.0f} to {old.max():.0f} % in five forecast runs of 2006 and 2014. No report "
        "says how much of the rest is waiting. That of 2006 gives parts of an answer: it prints how much time went "
        "into messages, into barriers, and into stalls. In a stall a processor waits for data, or for an earlier "
        "operation of its own."
    )


def speed() -> str:
    """What became of the speed."""
    (first, last), of_2014 = synthesis.hours_then(), tables.load("xc30", "forecast")
    places = tables.printed("xc30", "resolutions").set_index("linear")["grid_points"]
    points = float(places[int(of_2014["truncation"])] * of_2014["levels"])
    again = of_book(synthesis.forecast_hour(), "forecast of the size of 1982 with its jobs, files on disk")
    ours = forecast.sized("paper")
    finer = points / (ours.ni * ours.nj * ours.levels)
    assert again < last / 20 and finer > 100
    return (
        "Much of the speed went into finer models. In 1982 a forecast also needed jobs that convert its fields. On the "
        f"X-MP, with a file on the SSD, one hour of forecast took {first:.0f} s, these jobs included. On the Cray of "
        f"2014 one hour took about {last:.3g} s without such jobs. The model there had about {about(points / 1e6)} "
        f"million points. Our model has as many points as that of 1982; the model of 2014 has {about(finer)} times as "
        f"many. Ours has physics of its own, and its files on disk. Today it forecasts one hour in {about(again)} s, "
        "with the jobs."
    )
