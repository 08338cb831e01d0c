"""The section *How fast are large blocks?*: the report's program for devices at its record sizes."""

from supercomputers_rerun.companion import figures, tables
from supercomputers_rerun.companion.bench import Case
from supercomputers_rerun.companion.chapters.xmp1982.rows import Measured, along, dots, observed, on_host
from supercomputers_rerun.companion.conclusions import NOT, PARTLY, Finding, conclusion
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
#: Records and transfers of the report are divided by the first two; the third is records of a file.
_SIZES = {"quick": (50, 40, 8), "paper": (1, 1, 32)}
_WORD = 8.0  # bytes


def _observe(result) -> dict[str, float]:
    """Seconds of both jobs together, and of each job."""
    return {"clock": result.clock} | {f"job_{n}_time": seconds for n, seconds in enumerate(result.seconds)}


@experiment("xmp1982-devices", item="X19", rounds=6, seconds={"paper": 400}, unit="MB/s written and read")
def devices(preset: str, threads: int) -> list[Case]:
    """Large blocks written and read.

    Every test whose places this host has; the page cache is the disk where O_DIRECT is refused.
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
    return cases


def _rates(cases):
    """MB/s of tests and samples: of both jobs where both count, over the time of the longer one."""
    both = cases["test"].isin(_BOTH)
    words = cases["mwords"] + cases["mwords_second"].where(both, 0.0)
    return _WORD * words / cases["clock"].where(both, cases["job_0_time"])


@devices.figure
def rates(runs) -> "figures.Shown":
    """Transfer rates of Fig. 7.2, then and now."""
    then = tables.printed("xmp1982", "fig7_2").set_index("test")["mbyte_rate"].astype(float)

    def here(run) -> dict[str, Measured]:
        counts = {name: ("test", run[name].values.astype(float)) for name in ("mwords", "mwords_second")}
        return {"today": along(run, TESTS, lambda cases: _rates(cases.assign(counts)), "test")}

    return dots(
        runs,
        {name: words for name, (words, _) in TESTS.items()},
        {"X-MP 1982": then[list(TESTS)].to_numpy()},
        here,
        log=True,
        xlabel="transfer rate [MB/s]",
        name="xmp1982_devices_rerun",
        title="Large blocks by device, then and now",
        tables="fig7_2",
        caption="Today all rows with disks are of one disk.",
    )


def said(run) -> str:
    """Devices of 1982 (Fig. 7.3) and places of today, one against another."""
    then = tables.load("xmp1982", "fig7_3")["stand_alone"].to_series()
    seconds = observed(run, "test")["job_0_time"]
    disk, ssd = (seconds.sel(test=test).values for test in ("disk", "ssd"))
    return (
        f"In 1982 one job moved {then['SSD'] / then['SINGLE DISK']:.0f} times as much a second on SSD as on a disk. "
        f"On {figures.cpu(run)} it moves {figures.times(disk, ssd).briefly} as much in memory of its own as on a disk, "
        "past the page cache."
    )


def _over(above: str, below: str):
    """Seconds of the first job of one test over those of another."""
    seconds = observed(devices.runs()[0], "test")["job_0_time"]
    return figures.times(*(seconds.sel(test=test).values for test in (above, below)))


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
        f"Memory is still faster, but by a tenth of that: on disk the blocks take {now.times} as long.",
        bears=now.measurable and 4 < now.medians < 9,
    )


@conclusion(
    "xmp1982-c26",
    place="section 7.2 and Fig. 7.2",
    says="A fast device slows down beside a job on a disk, buffer memory more than the SSD.",
)
def beside_a_disk() -> Finding:
    """Time beside a job on disk over that alone, in memory and in the page cache."""
    ssd, bmr = _over("ssd-with-disk", "ssd"), _over("bmr-with-disk", "bmr")
    return Finding(
        NOT,
        f"Beside a job on disk memory takes {ssd.times} as long as alone, the page cache {bmr.times}.",
        bears=not ssd.measurable and not bmr.measurable,
    )
