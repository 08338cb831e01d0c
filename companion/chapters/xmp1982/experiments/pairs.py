"""Two forecasts at once on two CPUs, with the report's job queue; accounts of time; a forced hang (X7, X12–X15)."""

from collections.abc import Sequence
from dataclasses import replace

from companion.bench import Case, Measurement
from companion.chapters.xmp1982.experiments.forecast import degraded, observe, places, sized
from companion.experiments import Experiment, Unavailable, column, register

#: The pairings of the report.
PAIRINGS = (
    ("disk4", "disk4"),
    ("ssd1-async", "ssd1-async"),
    ("bmr1", "disk4"),
    ("ssd1-async", "disk4"),
    ("ssd1-async", "bmr1"),
    ("ssd2-async", "disk4"),
    ("ssd2-async", "bmr1"),
)
#: Of these the accounts are kept, without write-ups.
ACCOUNTED = (("disk4",), ("ssd1-async",), ("bmr1",), ("bmr1", "disk4"), ("ssd1-async", "disk4"), ("ssd1-async", "bmr1"))
#: The pair that is bound to one CPU while the other idles.
FORCED = ("ssd1-async", "bmr1")
#: Tests of each kind, one round after another.
ROUNDS = {"quick": 1, "paper": 3}


def _checked(tests) -> None:
    """Every forecast must give the same bits, alone or in company."""
    known = {each["digest"] for found in tests for each in found.forecasts}
    if len(known) != 1:
        raise RuntimeError(f"forecasts of one problem gave {len(known)} different answers; no time is reported")


def _cases(preset: str, threads: int) -> list[Case]:
    """The forecast in memory; what is measured in pairs is in the outputs."""
    from kernels import gridpoint
    from kernels.runtime.resources import usable_cpus

    if usable_cpus() < 2:
        raise Unavailable("forecasts in pairs need two CPUs, one may be used; give the process a second one")
    parameters = {"configuration": "memory", "tests": ROUNDS[preset]}
    return [Case("in memory", gridpoint, sized(preset), 1, parameters, observe)]


def _pairs(measurements: Sequence[Measurement]) -> dict[str, dict]:
    """Times of all pairings, of their write-up steps and jobs, round by round."""
    from kernels.gridpoint import jobs

    base, count = measurements[0].problem, measurements[0].parameters["tests"]
    rounds = []
    with jobs.Pool() as pool:
        for _ in range(count):
            alone = pool.pair([places(base, "disk4")])
            tests = [pool.pair([places(base, name) for name in pairing]) for pairing in PAIRINGS]
            rounds.append((alone, tests, pool.beside(degraded(base))))
    _checked([found for alone, tests, beside in rounds for found in (alone, beside, *tests)])
    return _together([(alone, tests) for alone, tests, _ in rounds]) | _beside([beside for *_, beside in rounds])


def _together(rounds) -> dict[str, dict]:
    """Figs 5.3 and 5.4, and the reference: two forecasts and their jobs in turn."""
    names = ["+".join(pairing) for pairing in PAIRINGS]
    turns = [2 * (alone.forecasts[0]["clock"] + sum(job["clock"] for job in alone.posts[0])) for alone, _ in rounds]
    complete = [[test.complete for test in tests] for _, tests in rounds]
    found = {
        "pairing": column(names, None, "work files of both forecasts", "pairing_number"),
        "alone": column([alone.forecasts[0]["clock"] for alone, _ in rounds], "s", "forecast alone, disk", "round"),
        "alone_steps": column(
            [alone.forecasts[0]["write_ups"] for alone, _ in rounds], "s", "its write-up steps", "round", "step"
        ),
        "one_after_another": column(turns, "s", "two forecasts and their jobs in turn", "round"),
        "complete": column(complete, "s", "time to complete the test", "round", "pairing_number"),
        "throughput": column(
            [[turn / each for each in row] for turn, row in zip(turns, complete, strict=True)],
            "1",
            "gain of the pair over one after another",
            "round",
            "pairing_number",
        ),
    }
    dims = ("round", "pairing_number", "job")
    for key, text in (("clock", "forecast"), ("net", "forecast without write-up steps")):
        values = [[[each[key] for each in test.forecasts] for test in tests] for _, tests in rounds]
        found[f"forecast_{key}"] = column(values, "s", text, *dims)
    posts = [[[sum(job["clock"] for job in each) for each in test.posts] for test in tests] for _, tests in rounds]
    found["posts"] = column(posts, "s", "post-processing jobs of a forecast", *dims)
    ups = [[[each["write_ups"] for each in test.forecasts] for test in tests] for _, tests in rounds]
    return found | {"write_step": column(ups, "s", "each write-up step", *dims, "step")}


def _beside(rounds) -> dict[str, dict]:
    """Fig. 4.3: the forecast with less memory, its jobs on the other CPU while it goes on."""
    forecasts, posts = [found.forecasts[0] for found in rounds], [found.posts[0] for found in rounds]
    values = {
        "forecast_cpu": ([each["cpu"] for each in forecasts], "s", "CPU time of the forecast"),
        "forecast_clock": ([each["clock"] for each in forecasts], "s", "the forecast"),
        "forecast_net": ([each["net"] for each in forecasts], "s", "the forecast without write-up steps"),
        "post_clock": ([sum(job["clock"] for job in each) / len(each) for each in posts], "s", "a job, mean"),
        "post_cpu": ([sum(job["cpu"] for job in each) / len(each) for each in posts], "s", "CPU time of a job, mean"),
        "complete": ([found.complete for found in rounds], "s", "until the last job's end"),
        "jobs_beside": (
            [sum(job["begin"] < each["clock"] for job in row) for each, row in zip(forecasts, posts, strict=True)],
            "1",
            "jobs that began while the forecast went on",
        ),
    }
    found = {f"degraded_{name}": column(*value, "round") for name, value in values.items()}
    steps = [each["write_ups"] for each in forecasts]
    return found | {"degraded_write_step": column(steps, "s", "each write-up step", "round", "step")}


def _accounts(measurements: Sequence[Measurement]) -> dict[str, dict]:
    """Executing, waiting to execute, waiting for transfers, and clock; last two forecasts on one CPU."""
    from kernels.gridpoint import jobs

    base = replace(measurements[0].problem, writeup=0.0)
    tests = [*((names, False) for names in ACCOUNTED), (FORCED, True)]
    with jobs.Pool() as pool:
        rounds = [
            [pool.pair([places(base, n) for n in names], posts=False, one_cpu=forced) for names, forced in tests]
            for _ in range(measurements[0].parameters["tests"])
        ]
    _checked([found for row in rounds for found in row])
    jobs_of = [(names, n, forced) for names, forced in tests for n in range(len(names))]
    result = {
        "account": column(["+".join(names) for names, *_ in jobs_of], None, "work files of the test", "row"),
        "account_job": column([names[n] for names, n, _ in jobs_of], None, "work files of the job", "row"),
        "account_forced": column([int(forced) for *_, forced in jobs_of], "1", "both on one CPU", "row"),
    }
    for key, text in (
        ("executing", "executing in a CPU"),
        ("waiting", "waiting to execute"),
        ("transfers", "waiting for transfers"),
        ("clock", "clock"),
    ):
        values = [[each[key] for found in row for each in found.forecasts] for row in rounds]
        result[f"account_{key}"] = column(values, "s", text, "round", "row")
    return result


register(
    Experiment(
        id="xmp1982-pairs",
        document="xmp1982",
        item="X7, X12, X13, X14",
        title="Two forecasts at once with their post-processing jobs, and one whose jobs run beside it",
        cases=_cases,
        presets=("quick", "paper"),
        outputs=_pairs,
        rounds=3,
        budgets={"quick": 5.0, "paper": 40.0},
    )
)
register(
    Experiment(
        id="xmp1982-accounts",
        document="xmp1982",
        item="X15",
        title="Accounts of the time of forecasts alone, in pairs, and of a pair that is left on one CPU",
        cases=_cases,
        presets=("quick", "paper"),
        outputs=_accounts,
        rounds=3,
        budgets={"quick": 5.0, "paper": 40.0},
    )
)
