"""Two jobs at once on two CPUs, and each of them alone in the same way: what the second CPU is worth (X12 to X15)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from companion.bench import Case, Measurement
from companion.chapters import cases_of, outputs_of
from companion.chapters.xmp1982.experiments.forecast import held, places, sized
from companion.experiments import Unavailable

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
#: Length of the forecasts of a pair, h; with five write-ups, post-processing has about the report's share of it.
HOURS = {"quick": 24.0, "paper": 8.0, "modern": 0.25}
#: Of these the accounts are kept, without write-ups.
ACCOUNTED = (("disk4",), ("ssd1-async",), ("bmr1",), ("bmr1", "disk4"), ("ssd1-async", "disk4"), ("ssd1-async", "bmr1"))
#: The pair that is bound to one CPU while the other idles.
_FORCED = ("ssd1-async", "bmr1")


def observe(result) -> dict[str, float]:
    """When all was complete, and of each job its times, accounts, write-up steps and post-processing jobs."""
    found = {"complete": result.complete}
    for n, job in enumerate(result.jobs):
        posts = [post for post in result.posts if post.job == n]
        ups = [step.clock for step in job.steps if "write-up" in step.kind]
        values = {"clock": job.clock, "cpu": job.cpu, "net": job.net, "posts": sum(post.clock for post in posts)}
        values |= {"executing": job.executing, "queued": job.queued, "waiting": job.waiting}
        values |= {f"write_step_{number + 1}": clock for number, clock in enumerate(ups)}
        if posts:
            values["post_cpu"] = sum(post.cpu for post in posts) / len(posts)
        found |= {f"job_{n}_{name}": value for name, value in values.items()}
    return found


def require_two() -> None:
    """``Unavailable`` if only one CPU may be used."""
    from kernels.runtime.resources import usable_cpus

    if usable_cpus() < 2:
        raise Unavailable("two jobs at once need two CPUs, one may be used; give the process a second one")


def case(programs: Sequence[tuple[str, str, Any]], binding: str, driver: str = "", posts: str = "after") -> Case:
    """Jobs, each (name, program, problem), that start together; a job alone is a case like any other."""
    from kernels import jobs

    problem = jobs.Problem(tuple(jobs.Job(program, each) for _, program, each in programs), binding, posts)
    test = "+".join(name for name, *_ in programs)
    parameters = {"test": test, "jobs": len(programs), "driver": driver, "binding": binding}
    return Case(", ".join(filter(None, (test, driver, binding))), jobs, problem, 1, parameters, observe)


def _pairs(binding: str, driver: str):
    """The pairings and their references under one binding and one driver."""

    def cases(preset: str, threads: int) -> list[Case]:
        require_two()
        hours, base, found = HOURS[preset], sized(preset), []
        base = replace(base, hours=hours, writeup=0.0 if base.allowed else hours / 4)
        pairings = [pairing for pairing in PAIRINGS if all(held(base, name) for name in pairing)]
        alone = dict.fromkeys(name for pairing in pairings for name in pairing)
        for names in (*((name,) for name in alone), *pairings):
            problems = [places(base, name) for name in names]
            if driver == "synchronous":
                problems = [replace(problem, overlap="none") for problem in problems]
            jobs = [(name, "forecast", problem) for name, problem in zip(names, problems, strict=True)]
            found.append(case(jobs, binding, driver))
        return found

    return cases


@cases_of("xmp1982-limits")
def _limits(preset: str, threads: int) -> list[Case]:
    """Pairs with less and less to share: files on each device, records that are copied, a state, registers alone."""
    require_two()
    from kernels import gridpoint

    base = replace(sized(preset), hours=HOURS[preset], writeup=0.0)
    small = gridpoint.Problem(physics=True, hours=20 * HOURS[preset], writeup=0.0, folder=base.folder)
    copied = places(base, "ssd2-sync")
    programs = {
        "registers": ("simulator", base),
        "a small state": ("forecast", small),
        "the whole state": ("forecast", base),
        "records in memory": ("forecast", copied),
        "records in page cache": ("forecast", replace(copied, place="cache")),
        "records on disk": ("forecast", replace(copied, place=places(base, "disk4").place)),
    }
    return [
        case(count * [(name, *program)], "one each", "synchronous", "none")
        for name, program in programs.items()
        for count in (1, 2)
    ]


def gain(measurements: Sequence[Measurement]) -> dict[str, Any]:
    """What the second CPU is worth: both one after another, in the same way and places, over both at once."""
    complete = {each.parameters["test"]: each.observed["complete"] for each in measurements}
    names = [each.parameters["test"] for each in measurements if each.parameters["jobs"] == 2]
    halves = [name.split("+") for name in names]
    rounds = range(len(complete[names[0]]))
    values = [
        [(complete[a][n] + complete[b][n]) / complete[name][n] for name, (a, b) in zip(names, halves, strict=True)]
        for n in rounds
    ]
    return {"pairing": names, "throughput": values}


worth = outputs_of("xmp1982-pairs", "xmp1982-pairs-synchronous", "xmp1982-pairs-free", "xmp1982-limits")(gain)


@cases_of("xmp1982-accounts")
def _accounted(preset: str, threads: int) -> list[Case]:
    require_two()
    base = replace(sized(preset), hours=HOURS[preset], writeup=0.0)
    tests = [*((names, "one each") for names in ACCOUNTED), (_FORCED, "one for all")]
    return [case([(name, "forecast", places(base, name)) for name in names], how, "", "none") for names, how in tests]


@outputs_of("xmp1982-accounts")
def _accounts(measurements: Sequence[Measurement]) -> dict[str, Any]:
    """Executing, waiting to execute, waiting for transfers, and clock; last two forecasts on one CPU."""
    rows = [(each, n) for each in measurements for n in range(each.parameters["jobs"])]
    names = [each.parameters["test"].split("+")[n] for each, n in rows]
    result = {
        "account": [each.parameters["test"] for each, _ in rows],
        "account_job": names,
        "account_forced": [int(each.parameters["binding"] == "one for all") for each, _ in rows],
    }
    named = {"executing": "executing", "waiting": "queued", "transfers": "waiting", "clock": "clock"}
    for key, name in named.items():
        values = zip(*(each.observed[f"job_{n}_{name}"] for each, n in rows), strict=True)
        result[f"account_{key}"] = [list(sample) for sample in values]
    return result


cases_of("xmp1982-pairs")(_pairs("one each", "overlapped"))
cases_of("xmp1982-pairs-synchronous")(_pairs("one each", "synchronous"))
cases_of("xmp1982-pairs-free")(_pairs("free", "overlapped"))
