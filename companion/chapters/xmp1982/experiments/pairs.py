"""Two forecasts at once on two CPUs, with the report's job queue; three accounts of time; a forced hang (X12–X15)."""

from collections.abc import Sequence
from dataclasses import replace

from companion.bench import Case, Measurement
from companion.chapters.xmp1982.experiments.forecast import observe, places, sized
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


def _name(pairing) -> str:
    return "+".join(pairing)


def _checked(found, known: set) -> None:
    """Every forecast must give the same bits, alone or in company."""
    known |= {each["digest"] for each in found.forecasts}
    if len(known) != 1:
        raise RuntimeError(f"forecasts of one problem gave {len(known)} different answers; no time is reported")


def _cases(preset: str, threads: int) -> list[Case]:
    """The forecast in memory; what is measured in pairs is in the outputs."""
    from kernels import gridpoint
    from kernels.runtime.resources import usable_cpus

    if usable_cpus() < 2:
        raise Unavailable("xmp1982-pairs needs two CPUs, one may be used; give the process a second one")
    return [Case("in memory", gridpoint, sized(preset), 1, {"configuration": "memory"}, observe)]


def _pairs(measurements: Sequence[Measurement]) -> dict[str, dict]:
    """Times of all pairings, of their write-up steps and jobs, and the accounts."""
    from kernels.gridpoint import jobs

    base, known = measurements[0].problem, set()
    with jobs.Pool() as pool:
        alone = pool.pair([places(base, "disk4")])
        tests = [pool.pair([places(base, name) for name in pairing]) for pairing in PAIRINGS]
        accounts = _accounts(base, pool)
    for found in (alone, *tests):
        _checked(found, known)
    sequence = 2 * (alone.forecasts[0]["clock"] + sum(alone.posts[0]))
    names = [_name(pairing) for pairing in PAIRINGS]
    result = {
        "pairing": column(names, None, "work files of both forecasts", "pairing_number"),
        "alone": {"value": alone.forecasts[0]["clock"], "units": "s", "long_name": "forecast alone, disk"},
        "one_after_another": {"value": sequence, "units": "s", "long_name": "two forecasts and their jobs in turn"},
        "complete": column([t.complete for t in tests], "s", "time to complete the test", "pairing_number"),
        "throughput": column([sequence / t.complete for t in tests], "1", "gain of the pair", "pairing_number"),
    }
    for key, long_name in (("clock", "forecast"), ("net", "forecast without write-up steps")):
        values = [[each[key] for each in t.forecasts] for t in tests]
        result[f"forecast_{key}"] = column(values, "s", long_name, "pairing_number", "job")
    posts = [[sum(each) for each in t.posts] for t in tests]
    result["posts"] = column(posts, "s", "post-processing jobs of a forecast", "pairing_number", "job")
    ups = [[each["write_ups"] for each in t.forecasts] for t in tests]
    result["write_step"] = column(ups, "s", "each write-up step", "pairing_number", "job", "step")
    return result | accounts


def _accounts(base, pool) -> dict:
    """Executing, waiting to execute, waiting for transfers, and clock; last two forecasts on one CPU."""
    quiet, known = replace(base, writeup=0.0), set()
    tests = [(pool.pair([places(quiet, n) for n in names], posts=False), _name(names)) for names in ACCOUNTED]
    forced = [places(quiet, name) for name in ("ssd1-async", "bmr1")]
    tests.append((pool.pair(forced, posts=False, one_cpu=True), "ssd1-async+bmr1 on one CPU"))
    rows = []
    for found, name in tests:
        _checked(found, known)
        rows += [(name, each) for each in found.forecasts]
    result = {"account": column([name for name, _ in rows], None, "test", "row")}
    for key, long_name in (
        ("executing", "executing in a CPU"),
        ("waiting", "waiting to execute"),
        ("transfers", "waiting for transfers"),
        ("clock", "clock"),
    ):
        result[f"account_{key}"] = column([each[key] for _, each in rows], "s", long_name, "row")
    return result


register(
    Experiment(
        id="xmp1982-pairs",
        document="xmp1982",
        item="X12, X13, X14, X15",
        title="Two forecasts at once with their post-processing jobs, and the accounts of their time",
        cases=_cases,
        presets=("quick", "paper"),
        outputs=_pairs,
        rounds=3,
        budgets={"quick": 5.0, "paper": 20.0},
    )
)
