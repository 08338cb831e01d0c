"""The section *What does the second CPU gain?*: two simulated forecasts at once, their accounts, and degraded jobs."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from supercomputers_rerun.companion import figures, models, tables
from supercomputers_rerun.companion.bench import Case
from supercomputers_rerun.companion.chapters.xmp1982 import forecast
from supercomputers_rerun.companion.chapters.xmp1982.rows import (
    along,
    bounded,
    grouped,
    in_rows,
    label,
    observed,
    over,
    spreads,
    two_machines,
)
from supercomputers_rerun.companion.common import np, pd, span, xr
from supercomputers_rerun.companion.conclusions import HOLDS, NOT, PARTLY, Finding, conclusion
from supercomputers_rerun.companion.experiments import experiment, of

#: The pairings of the report, and of which forecasts, alone or in pairs, the accounts are kept.
PAIRINGS = (
    "disk4+disk4 ssd1-async+ssd1-async bmr1+disk4 ssd1-async+disk4 ssd1-async+bmr1 ssd2-async+disk4 ssd2-async+bmr1"
).split()
ACCOUNTED = ("disk4", "ssd1-async", "bmr1", "bmr1+disk4", "ssd1-async+disk4", "ssd1-async+bmr1")
#: Two equal jobs of one thread each on two CPUs, and one more, which the system may place as it likes.
TWO, THREE = "+".join(2 * ["ssd1-sync"]), "+".join(3 * ["ssd1-sync"])
#: What the system accounts to a job: executing in a CPU, waiting to execute, waiting for transfers.
_ACCOUNTS = ("executing", "queued", "waiting")
#: CPUs of the X-MP, and of a pair; a share of the clock, %, that is too small to be called waiting.
_CPUS, _SELDOM = 2, 1.0
#: Post-processing jobs of a forecast.
JOBS = 5
_STEPS = [f"write_step_{number + 1}" for number in range(JOBS)]
#: Parts of a forecast with its jobs, and what was observed of them.
PARTS = {"net forecast": ["net"], "write-up steps": _STEPS, "post-processing": ["posts"]}
#: Of pairs without and with a forecast on disk.
_ROWS = [(part, disk) for part in PARTS for disk in (False, True)]


def printed_name(name: str) -> str:
    """The report's name of a pairing."""
    return str(name).replace("-async", "")


def _job(test: str, n: int) -> str:
    """A job for a reader."""
    return label(printed_name(test)) + (f", job {n + 1}" if "+" in test else "")


def case(programs: Sequence[tuple[str, str, Any]], posts: str = "after", binding: str = "one each") -> Case:
    """Jobs, each (name, program, problem), that start together on a CPU each; a job alone is a case like any other.

    Where the ``binding`` is "free" the system places them, and the test bears that word.
    """
    from supercomputers_rerun.kernels import jobs

    problem = jobs.Problem(tuple(jobs.Job(program, each) for _, program, each in programs), binding, posts)
    test = "+".join(name for name, *_ in programs) + (", free" if binding == "free" else "")
    named = test if binding == "free" else f"{test}, one each"
    return Case(named, jobs, problem, 1, {"test": test, "jobs": len(programs)}, observe)


def simulated(test: str, problem, posts: str = "after", binding: str = "one each") -> Case:
    """Simulated forecasts of ``problem``, as in the report, with their work files in the places of a test."""
    programs = [(name, "simulator", forecast.places(problem, name)) for name in test.split("+")]
    return case(programs, posts, binding)


def observe(result) -> dict[str, float]:
    """When all was complete, and of each job its times, accounts, write-up steps and post-processing jobs."""
    found = {"complete": result.complete}
    for n, job in enumerate(result.jobs):
        posts = [post for post in result.posts if post.job == n]
        values = of(job, "clock", "net", "cpu", "executing", "queued")
        values |= {"posts": sum(post.clock for post in posts), "waiting": sum(step.waiting for step in job.steps)}
        ups = [step.clock for step in job.steps if "write-up" in step.kind]
        values |= {f"write_step_{number + 1}": clock for number, clock in enumerate(ups)}
        found |= {f"job_{n}_{name}": value for name, value in values.items()}
    return found


def gains(run) -> "pd.DataFrame":
    """Both one after another over both at once, in the same places: pairings by the report's names, by rounds."""
    complete = observed(run, "test")["complete"].transpose("test", "sample").to_pandas()
    pairs = [name for name in complete.index if "+" in name]
    found = {printed_name(name): complete.loc[name.split("+")].sum() / complete.loc[name] for name in pairs}
    return pd.DataFrame(found).T


@experiment(
    "xmp1982-pairs",
    item="X12, X13, X14, X28",
    threads=1,
    rounds=7,
    seconds={"paper": 640},
    needs="affinity pair",
    unit="s of the clock",
    of="complete",
)
def pairs(preset: str, threads: int) -> list[Case]:
    """Two simulated forecasts at once with their post-processing jobs, and each alone: a CPU each."""
    alone = dict.fromkeys("+".join(PAIRINGS).split("+"))
    return [simulated(test, forecast.sized(preset)) for test in (*alone, *PAIRINGS)]


def printed_worth(driver: str = "sync") -> "pd.Series":
    """What the second CPU of the X-MP was worth, by pairing, from Figs 5.1 and 5.3: both in turn over both at once.

    In turn, each is a simulated forecast with its five jobs, its files in the same place, on SSD with ``driver``.
    """
    alone, both = tables.load("xmp1982", "fig5_1"), tables.load("xmp1982", "fig5_3")
    each = (alone["forecast_clock"] + JOBS * alone["pp_clock"]).to_series()
    complete = both["complete"].max("job").to_series().drop("ecmwf")
    turns = {name: sum(each[half + (f"-{driver}" if half.startswith("ssd") else "")] for half in name.split("+"))
             for name in complete.index}  # fmt: skip
    return pd.Series(turns) / complete


def printed_parts() -> tuple["pd.DataFrame", "pd.DataFrame", "pd.DataFrame"]:
    """Seconds of each job of a pair by part, and of the same job alone; ratios of its write-up steps (Figs 5.1 to 5.4).

    Files on SSD are compared with those of the synchronous driver.
    """
    alone, breakdown, both, ups = (tables.printed("xmp1982", f"fig5_{n}") for n in (1, 2, 3, 4))
    pairs = both.merge(ups, on=["test", "job"]).query("test != 'ecmwf'").set_index("test")
    names = [test.split("+")[int(job) - 1] for test, job in pairs["job"].items()]
    single = alone.merge(breakdown, on="configuration").set_index("configuration")
    tested = [name + ("-sync" if name.startswith("ssd") else "") for name in names]
    single = single.loc[tested].set_axis(pairs.index)
    paired = (pairs["total"] - pairs["write_sum"], pairs["write_sum"], pairs["pp_5_jobs"])
    each = (single["net_forecast"], single["write_sum"], JOBS * single["pp_clock"])
    first, second = (pd.concat(seconds, axis=1, keys=PARTS).astype(float) for seconds in (paired, each))
    return first, second, pairs[_STEPS].astype(float) / single[_STEPS].astype(float)


@models.predicts(
    "xmp1982_worth",
    models.shared_device,
    "what the second CPU is worth, by pairing",
    "jobs that meet at the disk although it has time for both, and memory that both use",
    "disk_rate",
    "xmp1982-pairs",
)
def sharing(run, machine):
    """Both in turn over both at once, if nobody waits but for the longer job and the one disk: an upper bound."""
    complete = observed(run, "test")["complete"].median("sample").to_series()
    moved = pd.Series((run["bytes_read"] + run["bytes_written"]).values.astype(float), run["test"].values)
    rows = []
    for name in (name for name in complete.index if "+" in name):
        jobs = name.split("+")
        turns, longer_one = sum(complete[jobs]), max(complete[jobs])
        disk = sum(moved[job] / machine.disk_rate for job in jobs if job.startswith("disk"))
        bound = models.shared_device(max(disk / turns, 1e-9), len(jobs))
        rows.append((label(printed_name(name)), turns / complete[name], float(min(bound, turns / longer_one))))
    return pd.DataFrame(rows, columns=["what", "measured", "predicted"])


@pairs.figure
def worth(runs) -> "figures.Shown":
    """What the second CPU was worth in 1982 and is today, by pairing."""
    then, expected = printed_worth().sort_values(ascending=False), sharing.frame(runs[0])
    names = [label(name) for name in then.index]

    def here(run) -> "pd.DataFrame":
        doubt = observed(run, "test")["flagged"].to_series().rename(printed_name)
        flagged = [doubt[[name, *name.split("+")]].any() for name in then.index]
        return in_rows(names, flagged, today=gains(run).loc[then.index])

    on_disk, frames = then.index.str.contains("disk"), [*map(here, runs)]
    now = frames[0]["today"]
    (fast, slow), (faster, slower) = (([each[~on_disk].median(), each[on_disk].median()]) for each in (then, now))
    job = tables.load("xmp1982", "fig5_1")["pp_clock"].to_series()
    assert all(job[f"ssd{files}-async"] > job[f"ssd{files}-sync"] for files in (1, 2)), "longer jobs"
    shown = figures.dots(
        runs,
        frames,
        {"today": "today"},
        printed={"X-MP 1982": then.set_axis(names)},
        xlabel="times as fast as in turn, two forecasts at the same time",
        legend_at="above 2 0.3",
        name="xmp1982_worth",
        title=f"Without a disk two CPUs are worth {span([fast, faster], 1)} of one; with a disk {slow:.1f} in 1982, "
        f"{slower:.1f} today",
        tables="fig5_1 fig5_3",
        caption='In italics: medians. On SSD, "in turn" was timed with the synchronous driver. With the other '
        f"it took longer, and the gain reaches {printed_worth('async').max():.2f}.",
        model=models.by_row(expected),
        note=models.said(sharing, expected),
    )
    shown.figure.axes[0].set_xlim(0.95, 2.1)
    groups = (("no disk", fast, faster, ~on_disk), ("a disk", slow, slower, on_disk))
    counts = {f"{name}:\n{old:.1f} then,\n{new:.1f} today": rows.sum() for name, old, new, rows in groups}
    return grouped(bounded(shown, float(_CPUS), "ideal"), counts, at=0.02)


def longer(cases, test: str, n: int, part: str) -> "np.ndarray":
    """What a part of job ``n`` takes in a pair over what it takes alone: of each round and write-up step."""
    own = test.split("+")[n]
    return np.concatenate([cases[f"job_{n}_{name}"].sel(test=test) / cases[f"job_0_{name}"].sel(test=own).median()
                           for name in PARTS[part]])  # fmt: skip


def parts_now(run) -> "pd.DataFrame":
    """What the :data:`_ROWS` take in the pairs of a run over what they take alone: median and range of all jobs and
    rounds."""
    cases, found = observed(run, "test"), []
    for part, disk in _ROWS:
        tests = [test for test in cases["test"].values if "+" in test and ("disk" in test) == disk]
        every = np.concatenate([longer(cases, test, n, part) for test in tests for n in (0, 1)])
        doubt = any(bool(cases["flagged"].sel(test=[test, *test.split("+")]).any()) for test in tests)
        found.append((np.nanmin(every), np.nanmedian(every), np.nanmax(every), doubt))
    return pd.DataFrame(found, columns=["low", "middle", "high", "flagged"])


@pairs.figure
def lost(runs) -> "figures.Shown":
    """What each part of a job takes in a pair over what it takes alone, then and now; pairs with a disk apart."""
    paired, alone, steps = printed_parts()
    ratios, disk = paired / alone, paired.index.str.contains("disk")
    then = [steps[disk == with_disk].stack() if part == "write-up steps" else ratios[part][disk == with_disk]
            for part, with_disk in _ROWS]  # fmt: skip
    names = [f"{part}, {'a disk' if with_disk else 'no disk'}" for part, with_disk in _ROWS]
    old = pd.Series(np.concatenate(then), np.repeat(names, [len(each) for each in then]))
    frames = [figures.with_spread(pd.DataFrame({"what": names}), today=parts_now(run)) for run in runs]
    return figures.dots(
        runs,
        frames,
        {"today": "today, all jobs and rounds"},
        printed={"X-MP 1982, each job": old},
        xlabel="time in a pair over time alone",
        name="xmp1982_lost",
        title=f"Beside another job a write-up step took up to {np.nanmax(then[3]):.0f} times as long then, and up to "
        f"{frames[0]['today_high'].iloc[2:4].max():.0f} times today",
        tables="fig5_1 fig5_2 fig5_3 fig5_4",
        caption="A square is a forecast, a write-up step or the five jobs of a forecast, beside another and over the "
        "same alone. Bars are ranges.",
    )


@pairs.figure
def job_times(runs) -> "figures.Shown":
    """Seconds of each simulated forecast of a pair and of its five jobs (Fig. 5.3), then and now."""
    printed = tables.load("xmp1982", "fig5_3")
    jobs = [(test, n) for test in PAIRINGS for n in (0, 1)]
    names = [_job(*job) for job in jobs]

    def then(name: str) -> "pd.Series":
        return pd.Series([float(printed[name].sel(test=printed_name(test), job=n + 1)) for test, n in jobs], names)

    def here(run) -> "pd.DataFrame":
        cases = observed(run, "test")
        doubt = [bool(cases["flagged"].sel(test=test)) for test, _ in jobs]
        clock, posts = ([cases[f"job_{n}_{name}"].sel(test=test).values for test, n in jobs]
                        for name in ("clock", "posts"))  # fmt: skip
        return in_rows(names, doubt, forecast=clock, posts=posts)

    frames = [*map(here, runs)]
    return figures.dots(
        runs,
        frames,
        {"forecast": "forecast, today", "posts": "its five jobs, today"},
        printed={"forecast, 1982": then("forecast"), "its five jobs, 1982": then("pp_5_jobs")},
        log=True,
        xlabel="clock of a job of a pair [s]",
        name="xmp1982_job_times",
        title=f"A forecast of a pair took {span(then('forecast'), 0)} s then, and takes "
        f"{span(frames[0][['forecast_low', 'forecast_high']], 1)} s today",
        tables="fig5_3",
    )


@pairs.figure
def throughput(runs) -> "figures.Shown":
    """Throughput of each pair over that of the Cray 1-A, which ran both days in turn on disk (section 5.4).

    Of today it is that of pairs on one machine over the slower one of two, with both days in turn on disk.
    """
    complete = tables.load("xmp1982", "fig5_3")["complete"].max("job").to_series()
    then = (complete["ecmwf"] / complete.drop("ecmwf")).sort_values(ascending=False)
    rows = pd.DataFrame({"what": [label(name) for name in then.index]})
    pair = two_machines(runs, lambda run: observed(run, "test")["complete"].sel(test="ssd2-async").median())
    frames, known = [rows], ""
    if pair:
        slow, fast = (observed(run, "test") for run in pair)
        tests = [next(test for test in PAIRINGS if printed_name(test) == name) for name in then.index]
        alone = figures.converted(spreads(slow, "complete", len(tests) * ["disk4"], "test"), lambda time: 2 * time)
        ratio = figures.quotient(alone, spreads(fast, "complete", tests, "test"))
        frames = [figures.with_spread(rows, today=ratio), rows]
        names = [figures.letter(run) for run in (pair[1], pair[0])]
        known = f", on {names[0]} {span(ratio['middle'], 1)} times that of {names[1]}"
    return figures.dots(
        pair or runs[:1],
        frames,
        {"today": "today, two machines"},
        printed={"X-MP over Cray 1-A": then.set_axis(rows["what"])},
        xlabel="throughput of a pair over that of the other machine on disk",
        name="xmp1982_throughput",
        title=f"A pair on the X-MP did {span(then, 1)} times the work of a Cray 1-A{known}",
        caption="The slower machine runs both days and their jobs in turn, with four files on disk.",
        tables="fig5_3",
    )


def printed_idle() -> "xr.DataArray":
    """Share of a pair's time in which one CPU had nothing to do, %, by pairing (Fig. 5.3)."""
    printed = tables.load("xmp1982", "fig5_3").drop_sel(test="ecmwf")
    return 100 * (2 - (printed["forecast"] + printed["pp_5_jobs"]).sum("job") / printed["complete"].max("job"))


def idle_share(cases: "xr.Dataset") -> "xr.DataArray":
    """The same of every sample of what was :func:`observed`; of jobs alone NaN."""
    busy = sum(cases[f"job_{n}_{name}"] for n in (0, 1) for name in ("clock", "posts"))
    return 100 * (2 - busy / cases["complete"])


def _by_disks() -> dict[str, list[str]]:
    """Pairings by how many of their forecasts are on disk."""
    words = {"one on disk": 1, "both on disk": 2, "no disk": 0}
    return {name: [test for test in PAIRINGS if test.count("disk") == count] for name, count in words.items()}


def idle_now(run) -> dict[str, "np.ndarray"]:
    """Share of a pair's time in which one CPU has nothing to do, %, medians, by how many forecasts are on disk."""
    shares = idle_share(observed(run, "test")).median("sample")
    return {name: shares.sel(test=tests).values for name, tests in _by_disks().items()}


def starts_now(run, tests) -> "np.ndarray":
    """Part of :func:`idle_share` of these pairs in which programs start, %: as long as in both forecasts alone."""
    cases = observed(run, "test")
    alone = (cases["complete"] - cases["job_0_clock"] - cases["job_0_posts"]).median("sample")
    both = [sum(float(alone.sel(test=own)) for own in test.split("+")) for test in tests]
    return 100 * np.array(both) / cases["complete"].sel(test=tests).median("sample").values


@pairs.figure
def idle_in_pairs(runs) -> "figures.Shown":
    """Share of a pair's time in which one CPU has nothing to do (section 5.2), then and now."""
    rows = {test: label(printed_name(test)) for tests in _by_disks().values() for test in tests}
    then = printed_idle().sel(test=[printed_name(test) for test in rows]).values
    idle = idle_now(runs[0])
    now = idle["one on disk"]
    one = then[: len(now)]  # they are the first rows
    without, *others = (shares - starts_now(runs[0], _by_disks()[name]) for name, shares in idle.items())
    shown = figures.dots(
        runs,
        [along(run, rows, "test", idle=idle_share) for run in runs],
        {"idle": "today"},
        printed={"X-MP 1982": pd.Series(then, [*rows.values()])},
        xlabel="share of a pair's time in which one CPU has no job [%]",
        legend_at="above 2",
        name="xmp1982_idle",
        title=f"With one of two forecasts on disk a CPU runs out of jobs: for {span(now, 0)} % today, in 1982 for "
        f"{span(one, 0)} %",
        tables="fig5_3",
        caption=f"Right: 1982 → today on {figures.letter(runs[0])}. Today without the start of "
        f"programs: {span(without, 0)} % (one on disk), elsewhere at most {max(map(np.max, others)):.0f} %.",
    )
    figures.at_right(shown.figure.axes[0], [f"{old:.0f} → {new:.0f} %" for old, new in zip(one, now, strict=True)])
    return grouped(shown, {name: len(tests) for name, tests in _by_disks().items()}, at=0.42)


@experiment(
    "xmp1982-accounts",
    item="X15",
    threads=1,
    rounds=7,
    seconds={"paper": 600},
    needs="affinity pair",
    unit="s of the clock",
    of="complete",
)
def accounts(preset: str, threads: int) -> list[Case]:
    """Accounts of simulated forecasts alone and in pairs, without write-ups, bound to a CPU each or placed freely.

    Two equal jobs, bound and free, and three show whether one waits while a CPU is idle.
    """
    base = replace(forecast.sized(preset), writeup=0.0)
    pairs = [test for test in ACCOUNTED if "+" in test]
    bound = [simulated(test, base, "none") for test in (*ACCOUNTED, TWO)]
    return bound + [simulated(test, base, "none", "free") for test in (*pairs, TWO, THREE)]


@accounts.figure
def overheads(runs) -> "figures.Shown":
    """System and problem overhead as shares of the clock (Fig. 5.5), then and now.

    System overhead is the clock that no account explains; problem overhead what the accounts exceed those of the same
    job alone.
    """
    printed, then = tables.load("xmp1982", "fig5_5"), []
    jobs = [(test, n) for test in ACCOUNTED for n in range(1 + test.count("+"))]
    names = [_job(*job) for job in jobs]
    for name, n in jobs:
        test = printed_name(name)
        known = printed.sel(test="disk4-biop" if test == "disk4" else test, job=n + 1)
        then.append([100 * float(known[f"{kind}_overhead"] / known["clock"]) for kind in ("system", "problem")])
    old = pd.DataFrame(then, names, ["system overhead, 1982", "problem overhead, 1982"])

    def shares(run) -> "pd.DataFrame":
        cases, doubt = observed(run, "test"), bool((run["flags"] != "").any())
        usual = {test: sum(np.median(cases[f"job_0_{part}"].sel(test=test)) for part in _ACCOUNTS)
                 for test in ACCOUNTED if "+" not in test}  # fmt: skip

        def both(test: str, n: int, how: str = "") -> tuple:
            clock, *parts = (cases[f"job_{n}_{part}"].sel(test=test + how).values for part in ("clock", *_ACCOUNTS))
            more = sum(parts) - usual[test.split("+")[n]] if "+" in test else np.nan * clock
            return 100 * (clock - sum(parts)) / clock, 100 * more / clock

        system, problem = np.array([both(*job) for job in jobs]).swapaxes(0, 1)
        placed = [both(test, n, ", free" if "+" in test else "")[1] for test, n in jobs]
        return in_rows(names, doubt, system=system, problem=problem, free=placed)

    frames = [*map(shares, runs)]
    return figures.dots(
        runs,
        frames,
        {
            "system": "system overhead, today",
            "problem": "problem overhead, today",
            "free": "problem overhead, jobs not bound",
        },
        printed=dict(old.items()),
        xlabel="share of the clock [%]",
        name="xmp1982_accounts_rerun",
        title=f"Accounts left {old['system overhead, 1982'].max():.0f} % of the clock unexplained in 1982, and leave "
        f"{frames[0]['system_high'].max():.0f} % today, at most",
        tables="fig5_5",
    )


_USUAL, _LESS = "usual forecast, usual jobs, in turn", "degraded forecast, degraded jobs, second CPU"


@experiment(
    "xmp1982-degraded",
    item="X7",
    threads=1,
    rounds=7,
    seconds={"paper": 120},
    needs="affinity pair",
    unit="s of the clock",
    of="forecast",
)
def degraded(preset: str, threads: int) -> list[Case]:
    """A forecast with less memory, its jobs on the second CPU, beside the usual one."""
    base = forecast.sized(preset)
    usual, less = forecast.places(base, "ssd1-sync"), replace(base, files=1, place="memory", rhs="files")
    return [
        forecast.case(_USUAL, "forecast", usual, threads, binding="one each"),
        forecast.case(_LESS, "forecast", less, threads, binding="one each", posts="beside", small=True),
    ]


@degraded.figure
def completed(runs) -> "figures.Shown":
    """Every time of a degraded forecast and its jobs beside it over the usual ones in turn (Figs 4.1 to 4.3)."""

    def printed(row: str, *names: str) -> "pd.Series":
        return pd.concat([tables.printed("xmp1982", each).set_index("configuration").loc[row] for each in names])

    usual = printed("ssd1-sync", "fig4_1", "fig4_2")
    less = printed("ssd1+3-degraded", "fig4_3_times", "fig4_3_breakdown")
    rows = {"forecast_cpu": "forecast, CPU time", "forecast_clock": "forecast, clock", "net_forecast": "net forecast"}
    rows |= {step: f"write-up step {n}" for n, step in enumerate(_STEPS, 1)} | {"write_sum": "sum of write-up steps"}
    rows |= {"pp_cpu": "a job, CPU time", "pp_clock": "a job, clock"}
    rows |= {"complete_cpu": "all, CPU time", "complete_clock": "until all is complete"}

    def here(run) -> "pd.DataFrame":
        cases = observed(run)
        computing = cases["cpu"] - cases["moving"]  # the channels of 1982 moved records
        ups = cases[_STEPS].to_dataarray("step")
        cpu, clock = (forecast.jobs_of(cases, key) for key in ("cpu", "clock"))
        known = [computing, cases["forecast"], cases["net"], *ups, ups.sum("step"), cpu, clock]
        known += [computing + JOBS * cpu, cases["complete"]]
        values = [(each.sel(configuration=_LESS) / each.sel(configuration=_USUAL).median()).values for each in known]
        return in_rows(rows.values(), bool(cases["flagged"].any()), today=values)

    old, frames = [float(less[name] / usual[name.replace("complete", "total")]) for name in rows], [*map(here, runs)]
    return figures.dots(
        runs,
        frames,
        {"today": "today"},
        printed={"X-MP 1982": pd.Series(old, [*rows.values()])},
        xlabel="degraded and on the second CPU over usual and in turn",
        name="xmp1982_completed",
        title=f"With its jobs on the second CPU the day took {old[-1]:.2f} of its time then, and takes "
        f"{frames[0]['today'].iloc[-1]:.2f} today",
        tables="fig4_1 fig4_2 fig4_3_times fig4_3_breakdown",
        caption="A degraded job of today holds one field and reads its whole input anew for each of five.",
    )


def said(run) -> list[str]:
    """Why a disk in the pair costs about as much as in 1982: contention then, load imbalance now."""
    then, now, prose = printed_worth(), gains(run).median(axis=1), tables.load("xmp1982", "prose")
    on_disk, idle = then.index.str.contains("disk"), idle_now(run)
    least, most = (float(prose[f"write_step_{end}"]) for end in ("least", "most"))
    usual = tables.load("xmp1982", "fig5_2")["write_step"].values
    net = {
        name: [np.median(longer(observed(run, "test"), test, n, "net forecast")) for test in tests for n in (0, 1)]
        for name, tests in _by_disks().items()
    }
    crowded, rest = net.pop("both on disk"), sum(net.values(), [])
    now = now.loc[then.index]
    assert (then < 2).all() and (now < 2).all() and printed_idle().max() < 10
    assert (
        all(each[~on_disk].min() > 1.8 > each[on_disk].max() for each in (then, now))
        and (now / then - 1).abs().max() < 0.1
    )
    assert min(crowded) > 1.1 > max(rest) and usual.max() < most / 2
    assert idle["one on disk"].min() > 2 * max(idle["no disk"].max(), idle["both on disk"].max())
    clocks, tests = observed(run, "test").median("sample"), _by_disks()["one on disk"]
    jobless = (idle["one on disk"] - starts_now(run, tests)) / 100 * clocks["complete"].sel(test=tests).values
    for test, seconds in zip(tests, jobless, strict=True):
        first, second = (float(clocks[f"job_{n}_clock"].sel(test=test)) for n in (0, 1))
        assert (first > second) == ("disk" in test.split("+")[0]), "the forecast that is not on disk ends first"
        assert seconds > abs(first - second) / 2, "for most of the rest its CPU has no job"
    expected = models.by_row(sharing.frame(run))
    above = {name: now[name] / expected[label(name)] for name in then.index[on_disk]}
    assert above.pop("disk4+disk4") < 1 < min(above.values()), "less than by the model, and more"
    assert expected[label("disk4+disk4")] > 1.99, "the disk has time for both"
    return [
        "In 1982 both CPUs had a job nearly all the time, and the jobs slowed each other down. The work files of two "
        "forecasts were spread over all eight disks, so that a write-up step could not always find a disk without "
        f"them. Such a step took {least:.0f} to {most:.0f} s in a pair, and {span(usual, 0)} s alone.",
        "Today, with one of two forecasts on disk, the other ends long before it: load imbalance. The CPU that is "
        "then free takes over post-processing jobs of the longer forecast, but mostly it has no job until the longer "
        "forecast ends. In the dashed model it takes over no jobs, so that the model gives a smaller speed-up. With "
        f"both on our one disk, each forecast takes {span(crowded, 1)} times as long as alone: contention. For this "
        "pair the model gives a larger speed-up, probably because it counts the disk as busy only while data move, "
        "not during the latency of requests (not measured). Counted like that, the disk is busy for less than half "
        "of the time that a forecast takes alone, and could serve both forecasts.",
    ]


@conclusion(
    "xmp1982-c13",
    place="section 4.7",
    says="If the forecast needs less memory, the jobs can run beside it on the second CPU, and the day ends sooner.",
)
def less_memory_second_cpu() -> Finding:
    """Until all is complete, degraded and on the second CPU over usual and in turn."""
    now = over(degraded.runs()[0], "complete", _LESS, _USUAL)
    times, usual = (tables.printed("xmp1982", name).set_index("configuration") for name in ("fig4_3_times", "fig4_1"))
    then = float(times["complete_clock"].iloc[0]) / float(usual["total_clock"]["ssd1-sync"])
    return Finding(
        PARTLY,
        f"It runs so today as well. In 1982 it took {then:.2f} times as long as one after another, today it takes "
        f"{now.times} as long.",
        bears=now.medians < 1 and not now.measurable and then < 1,
    )


@conclusion(
    "xmp1982-c15",
    place="section 5.3",
    says="In pairs write-up steps take 18 to 63 s, because they share disks with other files.",
)
def write_ups_vary() -> Finding:
    """Shortest and longest write-up step of pairs and of single forecasts."""
    cases = observed(pairs.runs()[0], "test")

    def spread(tests) -> float:
        steps = [cases[f"job_{n}_{step}"].sel(test=test) for test in tests for n in range(test.count("+") + 1)
                 for step in _STEPS]  # fmt: skip
        return float(np.nanmax(steps) / np.nanmin(steps))

    both, alone = spread(PAIRINGS), spread(dict.fromkeys("+".join(PAIRINGS).split("+")))
    return Finding(
        PARTLY,
        f"The longest write-up step of our pairs takes {both:.1f} times as long as the shortest, that of single "
        f"forecasts {alone:.1f} times. All share one disk, so that disks of their own were not tried.",
        bears=both > 2.5 and both > 1.2 * alone,
    )


@conclusion(
    "xmp1982-c16",
    place="section 5.4",
    says="Only pairs without a disk exceed three times the throughput of a Cray 1; contention for disks is the cause.",
)
def without_disks() -> Finding:
    """What the second CPU is worth with and without a forecast on disk."""
    found = gains(pairs.runs()[0])
    disk = found.index.str.contains("disk")
    fast, slow = (found[each].median(axis=1) for each in (~disk, disk))
    more = figures.times(*(found[each].values for each in (~disk, disk)))
    return Finding(
        PARTLY,
        "The throughput of a Cray 1 cannot be had. But two CPUs are worth "
        f"{span(fast)} of one in pairs without a disk, and {span(slow)} in pairs with one (medians): {more.times} as "
        "much. The cause differs: in most of our pairs with a disk a CPU runs out of work.",
        bears=fast.min() > slow.max() and more.measurable and more.medians > 1,
    )


def held_up(cases, test: str) -> "pd.DataFrame":
    """Of a test that the system placed, shares of the clock, %: how long a job ``waited`` for a CPU, by the mean of all
    jobs, and how much of the two CPUs was ``idle``, each with ``low``, ``middle`` and ``high``."""
    found, jobs = cases.sel(test=test), range(test.count("+") + 1)
    clock = np.max([found[f"job_{n}_clock"] for n in jobs], axis=0)
    computing, queued = (sum(found[f"job_{n}_{what}"].values for n in jobs) for what in ("cpu", "queued"))
    shares = [100 * queued / (len(jobs) * clock), 100 * np.clip(1 - computing / (_CPUS * clock), 0, None)]
    return figures.of_samples(shares, ["", ""]).set_axis(["waited", "idle"])


@conclusion(
    "xmp1982-c17",
    place="sections 5.5 and 5.6",
    says="A job sometimes waits for a CPU while one stands idle: a fault of the scheduler that delays pairs.",
)
def hang() -> Finding:
    """What two jobs that the system may place wait for a CPU, and what they lose to the same bound; three jobs."""
    run = accounts.runs()[0]
    free = over(run, "complete", f"{TWO}, free", TWO, "test")
    two, three = (held_up(observed(run, "test"), f"{test}, free")["middle"] for test in (TWO, THREE))
    # nobody waits for an idle CPU longer than it is idle
    hangs = [min(each["waited"], each["idle"]) > _SELDOM for each in (two, three)]
    delayed = free.measurable and free.medians > 1
    return Finding(
        HOLDS if delayed and hangs[0] else PARTLY if any(hangs) else NOT,
        f"Of two jobs that the system places on two CPUs each waits for one {two['waited']:.1f} % of its time, while "
        f"{two['idle']:.1f} % of the CPUs' time is left; they take {free.times} as long as bound to a CPU each. Of "
        f"three each waits {three['waited']:.0f} %, while {three['idle']:.1f} % is left.",
        bears=min(*two, *three) >= 0,
    )
