"""The section *What does overlapping save?*: devices paced to the report's balance, and this host's own.

The *paced* device is memory that gives bytes at a chosen rate: so slow that a step's computing and its transfers have
the report's proportion; the simulator computes, as long as makes such rates possible.
"""

from dataclasses import replace
from types import SimpleNamespace

from supercomputers_rerun.companion import figures, models, tables
from supercomputers_rerun.companion.bench import Case
from supercomputers_rerun.companion.chapters.xmp1982 import forecast
from supercomputers_rerun.companion.chapters.xmp1982.rows import along, at_mark, grouped, in_rows, observed, on_host
from supercomputers_rerun.companion.common import np, pd, span, xr
from supercomputers_rerun.companion.conclusions import NOT, PARTLY, Finding, conclusion
from supercomputers_rerun.companion.experiments import experiment
from supercomputers_rerun.companion.records.runs import partner

#: Seconds that a step of the paced comparison computes, and its steps.
_STEP, _PACED_STEPS = {"quick": 0.05, "paper": 0.4}, 6
#: Rows that the paced comparison reads together: 96 rows in 32 steps, for the first and last of which nothing can hide
#: what moves.  31 of 33 and half of that are the report's 94 and 47 %.
_PACED_LINES = 3
#: A model that predicts over this many times what is measured fails.
_FAILS = 1.5
#: Work files and place of each device; the first two are paced.
_DEVICES = {
    "paced as SSD": (2, "paced"),
    "paced as BMR": (1, "paced"),
    "memory": (2, "memory"),
    "page cache": (2, "cache"),
    "disk, O_DIRECT": (4, "direct"),
}


def balance() -> dict[str, float]:
    """Transfers of a step over its computing, as the report has them, by device."""
    moving, computing = forecast.moving_then(), forecast.step_then()
    return {device: moving[device.lower()] / computing for device in ("SSD", "BMR")}


def _simulator(seconds: float) -> SimpleNamespace:
    """The simulator as a kernel whose steps compute for ``seconds``."""
    from supercomputers_rerun.kernels.gridpoint import simulator

    words = {name: getattr(simulator, name) for name in ("footprint", "run", "verify", "work")}
    return SimpleNamespace(
        __name__=f"kernels.gridpoint.simulator, steps of {seconds:g} s",
        setup=lambda problem, seed=0: replace(simulator.setup(problem), steps={"normal": seconds}),
        **words,
    )


@experiment(
    "xmp1982-overlap", item="X6, X24, X27", threads=1, rounds=7, seconds={"paper": 400}, unit="s of the clock", of="net"
)
def drivers(preset: str, threads: int) -> list[Case]:
    """The cost of not overlapping.

    A forecast computes so fast here that memory is too slow for the balance of 1982; the simulator has longer steps.
    """
    from supercomputers_rerun.kernels import gridpoint

    base = replace(forecast.sized(preset), hours=6.0, writeup=0.0, physics=False)  # shares do not depend on hours
    step, share, cases = _STEP[preset], balance(), []
    for device, (files, place) in _DEVICES.items():
        if on_host(place) != place:
            continue
        paced, problem = place == "paced", replace(base, files=files, place=place)
        if paced:
            rate = 2 * gridpoint.record_bytes(base) / (share[device.removeprefix("paced as ")] * step)
            hours = _PACED_STEPS * base.dt / 3600
            problem = replace(problem, hours=hours, rate=rate, lines=_PACED_LINES)
        for overlap in ("none", "one", "both")[:: 1 if files == 1 else 2]:
            label, parameters = f"{device}, {overlap}", {"device": device, "overlap": overlap}
            kernel, count = (_simulator(step), 1) if paced else (gridpoint, threads)
            cases.append(Case(label, kernel, replace(problem, overlap=overlap), count, parameters, forecast.observe))
    return cases


def _rows(run) -> dict[str, str]:
    """Devices of a run and their rows."""
    known = run["label"].values
    words = {"paced as SSD": "SSD", "paced as BMR": "buffer memory", "disk, O_DIRECT": "disk"}
    return {name: words.get(name, name) for name in _DEVICES if f"{name}, none" in known}


def _saved(run, devices) -> "np.ndarray":
    """What overlapping saves on ``devices``, %: the median with it against every sample without it."""
    net = observed(run, "label")["net"]
    none, both = (net.sel(label=[f"{name}, {way}" for name in devices]) for way in ("none", "both"))
    return 100 * (1 - both.median("sample").values[:, None] / none.values)


def own_savings(run) -> "pd.DataFrame":
    """The same of a machine's own devices, in the order of its rows: ``low``, ``middle`` and ``high``."""
    devices = [*_rows(run)][2:]
    return figures.of_samples(_saved(run, devices), [""] * len(devices))


def saved_then() -> float:
    """What overlapping saved with two files on the SSD of 1982, % (Fig. 4.2)."""
    net = tables.load("xmp1982", "fig4_2")["net_forecast"]
    slow, fast = (float(net.sel(configuration=f"ssd2-{driver}")) for driver in ("sync", "async"))
    return 100 * (slow - fast) / slow


@models.predicts(
    "xmp1982_overlap_rerun",
    models.overlap,
    "what overlapping saves, by device",
    "that moving takes a CPU's time and memory from computing, and that threads hand over each record",
    "disk_call disk_rate write cache_rate bandwidth",
    "xmp1982-overlap",
)
def hiding(run, machine):
    """Share of the net time that overlap saves at best, in per cent: the shorter of computing and of transfers."""
    cases = observed(run, "label").median("sample")
    moved = dict(zip(run["label"].values, (run["bytes_read"] + run["bytes_written"]).values.astype(float), strict=True))
    share, rows = balance(), []
    alone = float((cases["net"] - cases["waiting"]).sel(label="memory, none"))
    for name, words in _rows(run).items():
        files, place = _DEVICES[name]
        if place == "paced":
            computing, transfers = 1.0, share[name.removeprefix("paced as ")]
        else:
            nbytes, preset = moved[f"{name}, none"], run.attrs["preset"]
            computing, transfers = alone, forecast.moving(on_host(place), files, nbytes, preset, machine)
        saved = 1 - models.overlap(computing, transfers) / (computing + transfers)
        both, none = (float(cases["net"].sel(label=f"{name}, {way}")) for way in ("both", "none"))
        rows.append((words, 100 * (1 - both / none), 100 * float(saved)))
    return pd.DataFrame(rows, columns=["what", "measured", "predicted"])


@drivers.figure
def savings(runs) -> "figures.Shown":
    """Section 4.6: what overlapping saves by the report, on devices paced to its balance, and on a machine's own."""
    facts, rows, expected = tables.load("xmp1982", "prose"), _rows(runs[0]), hiding.frame(runs[0])

    def here(run) -> "pd.DataFrame":
        cases = observed(run, "label")
        none, both = (cases.sel(label=[f"{name}, {way}" for name in rows]) for way in ("none", "both"))
        saved = _saved(run, rows)
        flagged, own = none["flagged"].values | both["flagged"].values, np.arange(len(rows))[:, None] >= 2
        return in_rows(rows.values(), flagged, paced=np.where(own, np.nan, saved), own=np.where(own, saved, np.nan))

    old = [float(facts["cost_ssd"]), float(facts["cost_bmr"])]
    own, frames = own_savings(runs[0])["middle"], [*map(here, runs)]
    paced = frames[0]["paced"].iloc[: len(old)].tolist()
    shown = figures.dots(
        runs,
        frames,
        {"paced": "today, slowed down", "own": "today, at full speed"},
        printed={"the report": pd.Series(old + [np.nan] * (len(rows) - 2), [*rows.values()])},
        xlabel="share of the forecast's time that overlapping saves [%]",
        legend_at="above 2",
        name="xmp1982_overlap_rerun",
        title=f"Moving data while computing saved {old[0]:.0f} % with the SSD of 1982; imitated today it saves "
        f"{paced[0]:.0f} %",
        tables="prose",
        caption="Above, memory and computing are slowed to the proportion of 1982; below, neither. The report deduced "
        "buffer memory's value. No write-up steps, no physics.",
        model=models.by_row(expected),
        note=models.said(hiding, expected),
    )
    axis = shown.figure.axes[0]
    both = [f"{then:.0f} → {now:.0f} %" for then, now in zip(old, paced, strict=True)]
    figures.at_right(axis, [*both, *(f"{each:.0f} %" for each in own)])
    for number in axis.texts[: len(both)]:  # of the title
        number.set_weight("bold")
    predicted, measured = (models.by_row(expected, column) for column in ("predicted", "measured"))
    for place, words in enumerate(rows.values()):
        if words in predicted and predicted[words] > _FAILS * measured[words]:
            at_mark(axis, (predicted[words], place), "the model fails", right=-6, weight="normal")
    return grouped(shown, {"as in 1982": 2, "at full speed": len(rows) - 2}, row=0.0)


@drivers.figure
def hidden(runs) -> "figures.Shown":
    """Section 3.1: the share of the transfers that computing can hide, as printed, and that it hid: on paced devices,
    and in whole forecasts of the same machine with their files in the places of 1982."""
    possible = tables.printed("xmp1982", "sec3_1").set_index("work_files")["overlap"].astype(float)
    rows = two, one, four = "two files, reads and writes", "one file, reads alone", "four files on disk"
    paced, own = {"paced as SSD, both": two, "paced as BMR, one": one}, {"ssd2-async": two, "bmr1": one, "disk4": four}

    def here(run) -> "pd.DataFrame":
        frame = along(run, paced, "label", paced=_hidden)
        whole = partner(run, forecast.forecast.id)
        if whole is None:
            return frame
        return frame.merge(along(whole, own, own=_hidden), "outer", ["what", "flagged"], sort=False)

    frames = [*map(here, runs)]
    return figures.dots(
        runs,
        frames,
        {"paced": "today, paced"} | ({"own": "today, whole forecast"} if "own" in frames[0] else {}),
        printed={"possible, 1982": pd.Series(possible.loc[[2, 1, 4]].to_numpy(), [*rows])},
        names=rows,
        xlabel="bytes that move while a row is computed [%]",
        legend_at="above 2",
        name="xmp1982_hidden",
        title=f"With two files {possible[2]:.0f} % of the bytes could move while the forecast computes, with one "
        f"{possible[1]:.0f} %",
        tables="sec3_1",
        caption="The report says what could overlap; we measure what did, on devices paced as in 1982 and in whole "
        "forecasts (SSD: memory; buffer: page cache).",
    )


def _hidden(cases) -> "xr.DataArray":
    """Share of the bytes that moved while a row was computed, %."""
    return 100 * cases["overlapped"]


def saved(lines: int | None = None) -> list[float]:
    """Memory (section 4.6) that a forecast does not need without overlapping, and with right-hand sides in files too.

    Shares of what it computes in with the asynchronous driver, in per cent, counted from the sizes of its arrays.
    ``lines``: rows that it reads together, as many as usual unless given.
    """
    from supercomputers_rerun.kernels.gridpoint.state import resident

    size = forecast.sized("paper")
    usual = forecast.places(replace(size, lines=lines or size.lines), "ssd2-async")
    less = replace(usual, overlap="none"), replace(usual, overlap="none", rhs="files")
    return [100 * (1 - resident(each) / resident(usual)) for each in less]


def _late(run, device: str) -> float:
    """Transfers of a paced device over its computing, without overlap, in units of the report's balance."""
    cases = observed(run, "label")[["net", "waiting"]].median("sample").sel(label=f"paced as {device}, none")
    return float(cases["waiting"] / (cases["net"] - cases["waiting"])) / balance()[device]


def said(run) -> str:
    """What overlapping saves today, and how far that is from hiding all of the shorter."""
    own, expected = own_savings(run), hiding.frame(run)
    predicted, measured = (models.by_row(expected, name)["page cache"] for name in ("predicted", "measured"))
    assert saved_then() < 100 * balance()["SSD"] < 6 and own["middle"].min() > saved_then()
    assert own["low"].max() <= own["high"].min() and predicted > _FAILS * measured
    assert expected["predicted"].iloc[2:].min() > 2 * 100 * balance()["SSD"], "moving takes a larger share of the time"
    late = _late(run, "SSD")
    assert 1.2 < late and abs(_late(run, "BMR") - 1) < 0.1
    cached = observed(run, "label")[["net", "waiting"]].sel(label="page cache, none")
    waits = 100 * float((cached["waiting"] / cached["net"]).median("sample"))
    assert measured < waits < predicted
    return (
        f"To imitate the SSD we slow each transfer in memory down to a set time; in fact it took {late:.1f} times "
        f"that. At full speed overlap saves {span(own['middle'], 0)} %, and our samples scatter too much to tell the "
        "places apart. Our forecasts at full speed leave out the physics, the part that is computed for each "
        "column of air alone, and so compute for a shorter time. For files in the page cache the dashed model says "
        f"{predicted:.0f} %. But without overlap the forecast waited in this run for only {waits:.0f} % of its time, "
        "because moving was faster than the model assumes. So overlap could save no more than that. We measured "
        f"{measured:.0f} %, and do not know why it is not more."
    )


@conclusion(
    "xmp1982-c10",
    place="section 3.1",
    says="With two or four files computing can hide nearly all transfers, with one file half of them.",
)
def hides_transfers() -> Finding:
    """Share of the bytes that computing hid on paced devices, with two files and with one, and on the disk of today."""
    cases = observed(drivers.runs()[0], "label")["overlapped"]
    two, one = (100 * float(cases.sel(label=name).median()) for name in ("paced as SSD, both", "paced as BMR, one"))
    run = forecast.forecast.runs()[0]
    disk = 100 * float(observed(run)["overlapped"].sel(configuration="disk4").median())
    longer = forecast.over_computing(run)
    possible = tables.printed("xmp1982", "sec3_1").set_index("work_files")["overlap"].astype(float)
    return Finding(
        PARTLY,
        f"On devices paced to the balance of 1982, computing hid {two:.0f} % of the bytes with two files and half of "
        f"that, {one:.0f} %, with one (medians), less than the {possible[2]:.0f} and {possible[1]:.0f} % that the "
        "report says were possible and that our groups of rows allow (why was not measured). On our disk, which needs "
        f"longer to move a step's data than computing takes, it hid {disk:.0f} % with four files.",
        bears=80 < two < 90 and 0.45 < one / two < 0.55 and disk < 50 and longer > 1,
    )


@conclusion(
    "xmp1982-c11",
    place="section 4.6",
    says="Not overlapping transfers to SSD costs under 4 % of the time; buffer memory would cost about a quarter.",
)
def overlap_is_cheap() -> Finding:
    """What not overlapping costs on the devices of today."""
    run = drivers.runs()[0]
    ways = {"memory": "in memory", "page cache": "in the page cache", "disk, O_DIRECT": "on disk"}
    own, (ssd, bmr) = (np.nanmedian(_saved(run, names), axis=1) for names in (ways, ("paced as SSD", "paced as BMR")))
    meant = {device: 100 * share / (1 + share) for device, share in balance().items()}
    return Finding(
        NOT,
        "The cheap device of today is not that cheap: not overlapping costs "
        + ", ".join(f"{saved:.0f} % {words}" for saved, words in zip(own, ways.values(), strict=True))
        + f" (medians, on {figures.cpu(run)}). On devices paced to the balance of 1982 it costs "
        f"{ssd:.0f} % in place of the SSD, more than was put in, and {bmr:.0f} % in place of buffer memory, about what "
        "was put in.",
        bears=min(*own, ssd, bmr) > 5 and ssd > 1.2 * meant["SSD"] and abs(bmr / meant["BMR"] - 1) < 0.1,
    )


@conclusion(
    "xmp1982-c12",
    place="section 4.6",
    says="Without overlapping the forecast would need at least a third less main memory.",
)
def less_memory() -> Finding:
    """What ours would need less, by the sizes of its arrays."""
    (without, neither), rows = saved(), forecast.sized("paper").lines
    (fewer, _), (more, _) = saved(rows // 2), saved(2 * rows)
    return Finding(
        PARTLY,
        "It depends on how many rows are read together, which the report does not print. Counted from the sizes of its "
        f"arrays, ours, which reads {rows}, would need {without:.0f} % less, and {neither:.0f} % less with its "
        f"right-hand sides in files too. With {rows // 2} rows it would need {fewer:.0f} % less, with {2 * rows} "
        f"{more:.0f} %.",
        bears=fewer < without < 100 / 3 < min(more, neither),
    )
