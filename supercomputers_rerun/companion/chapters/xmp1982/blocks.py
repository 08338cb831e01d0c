"""The section *How much faster is a disk?*: the report's program for devices at its record sizes."""

from supercomputers_rerun.companion import figures, tables
from supercomputers_rerun.companion.bench import Case
from supercomputers_rerun.companion.chapters.xmp1982.rows import along, grouped, observed, on_host, over
from supercomputers_rerun.companion.common import np, pd, rounded
from supercomputers_rerun.companion.conclusions import HOLDS, NOT, PARTLY, Finding, conclusion
from supercomputers_rerun.companion.experiments import experiment

#: Names of places as in the other sections: SSD, buffer memory, disk.
_SSD, _BMR, _DISK = "memory", "cache", "direct"
#: Test of Fig. 7.2 on this host: its row, and (place, factor on the report's record, transfers) of each job.
TESTS = {
    "ssd": ("SSD", [(_SSD, 1, 1600)]),
    "ssd-2-jobs": ("SSD, two jobs", [(_SSD, 1, 1600), (_SSD, 1, 1600)]),
    "ssd-with-disk": ("SSD, beside a disk job", [(_SSD, 1, 1600), (_DISK, 2, 800)]),
    "bmr": ("BMR", [(_BMR, 1, 1600)]),
    "bmr-2-jobs": ("BMR, two jobs", [(_BMR, 1, 1600), (_BMR, 1, 1600)]),
    "bmr-with-disk": ("BMR, beside a disk job", [(_BMR, 1, 1600), (_DISK, 2, 800)]),
    "disk": ("one disk", [(_DISK, 2, 800)]),
    "disks-both": ("eight disks, two jobs", [(_DISK, 1, 32 * 80), (_DISK, 1, 32 * 69)]),
}
#: Tests whose two jobs count together; in the others the second job only disturbs.
_BOTH = ("ssd-2-jobs", "bmr-2-jobs", "disks-both")
#: What the report says of files on disk without a time: how a file gets its room, in which order it is read, and a copy
#: from disk to disk.  One pass of writing and one of reading.
ON_DISK: dict[str, dict] = {
    "disk-allocated": {},
    "disk-growing": {"growing": True},
    "disk-copy": {"reads": "copy"},
    "disk-forward": {"reads": "forward"},
    "disk-backward": {"reads": "backward"},
    "disk-random": {"reads": "random"},
}
#: Of these the records are small, as those of right-hand sides: words of one.
_SMALL, _SMALL_WORDS = ("disk-forward", "disk-backward", "disk-random"), 3072
#: Records of a file of these tests, large and small, by preset.
_RECORDS = {"quick": (16, 64), "paper": (64, 1536)}
#: Records and transfers of the report are divided by the first two; the third is records of a file.
_SIZES = {"quick": (50, 40, 8), "paper": (1, 1, 32)}
_WORD = 8.0  # bytes


def _observe(result) -> dict[str, float]:
    """Seconds of both jobs together, and of each job."""
    return {"clock": result.clock} | {f"job_{n}_time": seconds for n, seconds in enumerate(result.seconds)}


def _observe_passes(result) -> dict[str, float]:
    """Seconds and CPU seconds of the one job, and seconds of its pass of reading."""
    (seconds,), (cpu,), (each,) = result.seconds, result.cpu, result.transfers
    return {"clock": result.clock, "job_0_time": seconds, "cpu": cpu, "reading": float(np.split(each, 2)[1].sum())}


def _observe_writes(result) -> dict[str, float]:
    """The same, and seconds of every write."""
    writes, _ = np.split(result.transfers[0], 2)
    return _observe_passes(result) | {f"write_{n}": float(seconds) for n, seconds in enumerate(writes)}


@experiment(
    "xmp1982-devices",
    item="X19",
    threads=1,
    rounds=7,
    seconds={"paper": 400},
    unit="MB/s written and read",
    of="clock",
)
def devices(preset: str, threads: int) -> list[Case]:
    """Large blocks written and read.

    Every test whose places this host has, and files on disk that grow, are read backwards or copied; the page cache is
    the disk where O_DIRECT is refused.
    """
    from supercomputers_rerun.kernels.files import devices

    shorter, fewer, records = _SIZES[preset]
    words = int(tables.printed("xmp1982", "fig7_2")["record_length"].min())
    cases = []
    for name, (_, jobs) in TESTS.items():
        made = []
        for place, factor, transfers in jobs:
            record = factor * words // shorter // 512 * 512  # whole pages for O_DIRECT; the report's is so already
            made.append(devices.Job(on_host(place), record, max(2, transfers // fewer), records // factor))
        mega = [job.record * job.transfers / 1e6 for job in made]
        parameters = {"test": name, "jobs": len(made), "mwords": mega[0], "mwords_second": (mega + [0.0])[1]}
        cases.append(Case(name, devices, devices.Problem(tuple(made)), threads, parameters, _observe))
    large, small = _RECORDS[preset]
    for name, form in ON_DISK.items():
        count = small if name in _SMALL else large
        record = _SMALL_WORDS if name in _SMALL else words // shorter // 512 * 512
        job = devices.Job(on_host(_DISK), record, 2 * count, count, **form)
        parameters = {"test": name, "jobs": 1, "mwords": job.record * job.transfers / 1e6, "mwords_second": 0.0}
        observe = _observe_passes if name in _SMALL else _observe_writes
        cases.append(Case(name, devices, devices.Problem((job,)), threads, parameters, observe))
    return cases


def rates_of(run):
    """MB/s of tests and samples of a run: of both jobs where both count, over the time of the longer one."""
    counted = {name: ("test", run[name].values.astype(float)) for name in ("mwords", "mwords_second")}
    cases = observed(run, "test").assign(counted)
    both = cases["test"].isin(_BOTH)
    words = cases["mwords"] + cases["mwords_second"].where(both, 0.0)
    return _WORD * words / cases["clock"].where(both, cases["job_0_time"])


def rates_now(run) -> dict[str, float]:
    """MB/s of each test of a run, medians."""
    return rates_of(run).median("sample").reindex(test=list(TESTS)).to_series().to_dict()


def rates_then() -> dict[str, float]:
    """MB/s of each test of 1982 (Fig. 7.2)."""
    return tables.printed("xmp1982", "fig7_2").set_index("test")["mbyte_rate"].astype(float).to_dict()


def faster(run) -> dict[str, float]:
    """How many times as fast as in 1982 one job moves large blocks to and from each place."""
    then, now = rates_then(), rates_now(run)
    return {test: now[test] / then[test] for test in ("ssd", "bmr", "disk")}


@devices.figure
def rates(runs) -> "figures.Shown":
    """Transfer rates of Fig. 7.2, then and now."""
    then, gain = rates_then(), faster(runs[0])
    one = ["disk", "bmr", "ssd"]
    rows = {name: TESTS[name][0] for name in (*one, *(name for name in TESTS if name not in one))}
    shown = figures.dots(
        runs,
        [along(run, rows, "test", today=lambda _, run=run: rates_of(run)) for run in runs],
        {"today": "today"},
        printed={"X-MP 1982": pd.Series([then[test] for test in rows], [*rows.values()])},
        log=True,
        xlabel="transfer rate [MB/s]",
        legend_at="above 2",
        name="xmp1982_devices_rerun",
        title=f"A disk became {rounded(gain['disk'])} times as fast, the fastest place for files only "
        f"{rounded(gain['ssd'])} times",
        tables="fig7_2",
        caption="Large blocks, written and read. Today one disk stands for eight.",
    )
    return grouped(shown, {"one job": len(one), "two jobs": len(rows) - len(one)}, at=0.02)


def said(run) -> str:
    """Devices of 1982 and places of today, one against another."""
    then, now, gain = rates_then(), rates_now(run), faster(run)
    apart = [rate["ssd"] / rate["disk"] for rate in (then, now)]
    assert 150 < gain["disk"] < 1000 and gain["disk"] > gain["bmr"] > gain["ssd"] and apart[0] > 5 * apart[1]
    return (
        f"In 1982 the SSD moved blocks {rounded(apart[0])} times as fast as a disk. Today memory is only "
        f"{rounded(apart[1])} times as fast as our disk."
    )


def _over(above: str, below: str, name: str = "job_0_time"):
    """Seconds of the first job of one test over those of another."""
    return over(devices.runs()[0], name, above, below, "test")


@conclusion(
    "xmp1982-c24",
    place="section 7.3",
    says="The SSD moves large blocks nearly seven times as fast as buffer memory.",
)
def ssd_over_buffer() -> Finding:
    """Time of the same blocks through the page cache over that in memory of the process."""
    now = _over("bmr", "ssd")
    return Finding(
        NOT,
        f"The two places that stand for them differ little: the same blocks take {now.times} as long through the page "
        "cache as in memory of the process, because both are main memory now.",
        bears=now.measurable and 1 < now.medians < 2,
    )


@conclusion(
    "xmp1982-c25",
    place="Figs 7.2 and 7.3",
    says="The SSD moves large blocks more than sixty times as fast as a disk.",
)
def ssd_over_disk() -> Finding:
    """Time of the same blocks on disk over that in memory of the process."""
    now = _over("disk", "ssd")
    return Finding(
        PARTLY,
        f"Memory is still faster, but by less than a tenth of that: on disk the blocks take {now.times} as long.",
        bears=now.measurable and 1 < now.medians and now.interval[1] < 6,
    )


@conclusion(
    "xmp1982-c26",
    place="section 7.2 and Fig. 7.2",
    says="A fast device slows down beside a job on a disk, buffer memory more than the SSD.",
)
def beside_a_disk() -> Finding:
    """Time beside a job on disk over that alone, in memory and in the page cache."""
    ssd, bmr = _over("ssd-with-disk", "ssd"), _over("bmr-with-disk", "bmr")
    slower = [each.measurable and each.medians > 1 for each in (ssd, bmr)]
    return Finding(
        HOLDS if all(slower) and bmr.medians > ssd.medians else PARTLY if any(slower) else NOT,
        f"Beside a job on disk memory takes {ssd.times} as long as alone, the page cache {bmr.times}.",
        bears=True,
    )


@conclusion(
    "xmp1982-c3",
    place="sections 3.1 and 3.2",
    says="Write-up steps and jobs vary considerably, because their data are not on pre-allocated contiguous space.",
)
def growing_files() -> Finding:
    """The slowest write over the median one, in a file that grows and in one that is allocated before."""
    cases = observed(devices.runs()[0], "test")
    writes = cases[[name for name in cases if str(name).startswith("write_")]].to_dataarray("write")
    every = [writes.sel(test=f"disk-{how}").dropna("write", how="all").values for how in ("growing", "allocated")]
    spread = [np.nanmax(each, axis=0) / np.nanmedian(each, axis=0) for each in every]
    more, longer = figures.times(*spread), figures.times(*(each.ravel() for each in every))
    varies, slow = (each.measurable and each.medians > 1 for each in (more, longer))
    return Finding(
        HOLDS if varies else PARTLY if slow else NOT,
        f"Of {len(every[0])} writes to a file that grows the slowest takes {np.nanmedian(spread[0]):.1f} times as long "
        f"as the median one, to a file allocated before {np.nanmedian(spread[1]):.1f} times: by this the growing file "
        f"varies {more.times} as much. Its writes take {longer.times} as long.",
        bears=True,
    )


@conclusion(
    "xmp1982-c4",
    place="section 3.4",
    says="Copying from disk to disk gains little from a new machine with the old disks.",
)
def copies() -> Finding:
    """CPU time of a copy from a file on disk to another over its clock: what a faster processor could gain at most."""
    cases = observed(devices.runs()[0], "test").sel(test="disk-copy")
    share = figures.of_samples([100 * (cases["cpu"] / cases["job_0_time"]).values], [""]).iloc[0]
    return Finding(
        HOLDS if share["high"] < 20 else PARTLY if share["low"] < 50 else NOT,
        f"To write a file on disk and copy it to another takes the processor {share['middle']:.0f} % of the time "
        f"({share['low']:.0f} to {share['high']:.0f}): with the same disk no processor, however fast, saves more.",
        bears=0 < share["low"] and share["high"] < 110,
    )


@conclusion(
    "xmp1982-c14",
    place="section 4.7",
    says="Reading a file backwards, by stepping back two records before each read, costs much.",
)
def backwards() -> Finding:
    """Time of reading the same records of a file on disk backwards, forwards and at random."""
    forth, chance = (_over("disk-backward", f"disk-{order}", "reading") for order in ("forward", "random"))
    costs = forth.measurable and forth.medians > 1
    return Finding(
        HOLDS if costs and forth.medians > 1.5 else PARTLY if costs else NOT,
        f"To read records of {_WORD * _SMALL_WORDS / 1000:.0f} KB on disk backwards takes {forth.times} as long as "
        f"forwards, and {chance.times} as long as at random, each by one call that names the place.",
        bears=True,
    )
