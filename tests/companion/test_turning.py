"""Verdicts that follow the newest record: of runs made here at the preset quick, with some of their samples changed.

A stored run may lack the cases that test a conclusion.  Then it is not tested, and says what that takes; the first
record with these cases turns it.
"""

import copy

import pytest
from synthetic import on

from supercomputers_rerun.companion import conclusions, experiments
from supercomputers_rerun.companion.chapters.nht1 import writing
from supercomputers_rerun.companion.chapters.p5plus import loops as smt_loops
from supercomputers_rerun.companion.conclusions import HOLDS, NOT, PARTLY, UNTESTED, Turned
from supercomputers_rerun.companion.records import runs
from supercomputers_rerun.kernels.files import application
from supercomputers_rerun.kernels.runtime.resources import usable_cpus

ROUNDS = 6  # the fewest that give an interval: each case is measured once, and its sample repeated
CONCLUSIONS = {each.id: each for each in conclusions.conclusions()}


@pytest.fixture(scope="module")
def made(quick):
    """Records of runs by experiment, made once: ``options`` where they are not those of every quick run."""
    known: dict[str, dict] = {}

    def record(name: str, threads: int = 1, **options) -> dict:
        if reason := experiments.unavailable(experiments.find(name)):
            pytest.skip(reason)
        if threads > usable_cpus():
            pytest.skip(f"{threads} CPUs")
        if (threads > 1 or options) and name not in known:
            known[name] = experiments.run_record(name, "quick", threads, budget=0, progress=False, **options)
        run = copy.deepcopy(known[name]) if name in known else quick(name)
        for each in run["measurements"]:
            each["samples"] *= ROUNDS
            each["observed"] = {key: ROUNDS * values for key, values in each["observed"].items()}
        return run

    return record


@pytest.fixture
def judged(tmp_path, monkeypatch):
    """The finding of a conclusion from these records alone."""
    monkeypatch.setattr(runs, "COMMITTED", tmp_path)

    def finding(id: str, *records: dict) -> conclusions.Finding:
        for path in tmp_path.glob("*.json"):
            path.unlink()
        for record in records:
            runs.save(record, tmp_path)
        return CONCLUSIONS[id].found()

    return finding


def stored(name: str) -> dict:
    """The newest record of the book."""
    return runs.read(max(runs.HOME.joinpath("data", "runs").glob(f"{name}_*.json")))


def case(record: dict, **parameters) -> dict:
    """The one case with these parameters, ``n`` among them its threads."""
    (found,) = (
        each
        for each in record["measurements"]
        if parameters.items() <= (each["parameters"] | {"n": each["threads"]}).items()
    )
    return found


def test_files_that_grow_vary_where_their_slowest_write_does(made, judged):
    record = made("xmp1982-devices")
    growing, allocated = (case(record, test=f"disk-{kind}")["observed"] for kind in ("growing", "allocated"))
    growing |= allocated
    assert judged("xmp1982-c3", record).verdict == NOT
    slower = {name: [2 * each for each in allocated[name]] for name in allocated if name.startswith("write_")}
    growing |= slower
    assert judged("xmp1982-c3", record).verdict == PARTLY
    growing["write_3"] = [100 * each for each in growing["write_3"]]
    assert judged("xmp1982-c3", record).verdict == HOLDS


@pytest.mark.parametrize(("share", "verdict"), [(0.05, HOLDS), (0.4, PARTLY), (0.9, NOT)])
def test_a_copy_gains_what_the_processor_takes_of_it(made, judged, share, verdict):
    record = made("xmp1982-devices")
    copied = case(record, test="disk-copy")["observed"]
    copied["cpu"] = [share * each for each in copied["job_0_time"]]
    found = judged("xmp1982-c4", record)
    assert found.verdict == verdict and f"{100 * share:.0f} % of the time" in found.sentence


@pytest.mark.parametrize(("factor", "verdict"), [(1.0, NOT), (0.5, NOT), (3.0, HOLDS)])
def test_reading_backwards_costs_what_it_takes_over_forwards(made, judged, factor, verdict):
    record = made("xmp1982-devices")
    forward = case(record, test="disk-forward")["observed"]["reading"]
    case(record, test="disk-backward")["observed"]["reading"] = [factor * each for each in forward]
    assert judged("xmp1982-c14", record).verdict == verdict


def test_a_job_hangs_where_it_waits_beside_an_idle_cpu_and_takes_longer(made, judged):
    record = made("xmp1982-accounts")
    two, bound = (case(record, test=f"ssd1-sync+ssd1-sync{how}")["observed"] for how in (", free", ""))
    three = case(record, test="ssd1-sync+ssd1-sync+ssd1-sync, free")["observed"]
    for found, jobs in ((two, 2), (three, 3)):
        for n in range(jobs):
            found[f"job_{n}_queued"] = ROUNDS * [0.0]
            found[f"job_{n}_cpu"] = [0.5 * each for each in found[f"job_{n}_clock"]]
    two["complete"] = bound["complete"]
    assert judged("xmp1982-c17", record).verdict == NOT
    for found, jobs in ((two, 2), (three, 3)):
        for n in range(jobs):
            found[f"job_{n}_queued"] = [0.2 * each for each in found[f"job_{n}_clock"]]
    assert judged("xmp1982-c17", record).verdict == PARTLY
    two["complete"] = [9 * max(bound["complete"]) + each for each in bound["complete"]]
    assert judged("xmp1982-c17", record).verdict == HOLDS


def test_a_day_is_typical_where_steps_are_alike_but_for_the_first_three(made, judged):
    record = made("xmp1982-typical")
    (observed,) = (each["observed"] for each in record["measurements"])
    observed["second_day"] = observed["first_day"]
    observed["first_three"] = observed["later_three"]
    assert judged("xmp1982-c5", record).verdict == PARTLY
    observed["first_three"] = [9 * max(observed["later_three"]) + each for each in observed["later_three"]]
    assert judged("xmp1982-c5", record).verdict == HOLDS
    observed["second_day"] = [3 * each for each in observed["first_day"]]
    assert judged("xmp1982-c5", record).verdict == NOT


def test_gather_is_faster_where_the_loop_takes_longer(made, judged):
    record = made("aips58-gather")
    for task in ("APCLN", "MXCLN"):
        loop, instruction = (case(record, task=task, method=method) for method in ("fetched", "gather"))
        loop["observed"]["cpu"] = list(instruction["observed"]["cpu"])
    assert judged("aips58-c13", record).verdict == NOT
    noisy = copy.deepcopy(record)
    for task in ("APCLN", "MXCLN"):
        loop = case(noisy, task=task, method="fetched")["observed"]
        loop["cpu"] = [seconds * (0.7, 1.4)[n % 2] for n, seconds in enumerate(loop["cpu"])]
    assert judged("aips58-c13", noisy).verdict == UNTESTED
    for task in ("APCLN", "MXCLN"):
        loop = case(record, task=task, method="fetched")["observed"]
        loop["cpu"] = [9 * max(loop["cpu"]) for _ in loop["cpu"]]
        assert judged("aips58-c13", record).verdict == (PARTLY if task == "APCLN" else HOLDS)


def test_output_steps_vary_as_every_step_says(made, judged):
    record = made("xc30-bulk")
    alone, loaded = (case(record, load=load, tasks=480)["observed"] for load in (0, 1))
    names = [name for name in alone if name.startswith("before step")]
    first = alone[names[0]]
    for name in names:
        alone[name] = loaded[name] = first
    assert [judged(id, record).verdict for id in ("xc30-c13", "xc30-c14")] == [NOT, NOT]
    for name in names[::2]:
        loaded[name] = [9 * each for each in first]
    assert judged("xc30-c14", record).verdict == HOLDS
    alone[names[1]] = [3 * each for each in first]
    assert judged("xc30-c13", record).verdict == HOLDS


def test_another_file_system_is_another_where_its_small_files_take_longer(made, judged):
    record = made("xc30-records")
    disk, *_, memory = (each["observed"] for each in record["measurements"])
    memory |= disk
    assert judged("xc30-c16", record).verdict == NOT
    memory["small"] = [each / 2 for each in disk["small"]]
    found = judged("xc30-c16", record)
    assert found.verdict == PARTLY and "2.000 times" in found.sentence
    del record["measurements"][-1]
    assert judged("xc30-c16", record).verdict == UNTESTED


def test_changes_count_where_a_forecast_without_them_takes_longer(judged):
    record = stored("p5plus-changes")
    every, *others = record["measurements"]
    for other in others:
        other["samples"] = list(every["samples"])
    assert [judged(id, record).verdict for id in ("p5plus-c1", "p5plus-c2")] == [UNTESTED, UNTESTED]  # they scatter
    for each in (every, *others):
        each["samples"] = [1.0] * len(each["samples"])
    assert [judged(id, record).verdict for id in ("p5plus-c1", "p5plus-c2")] == [NOT, NOT]
    for other in others:
        other["samples"] = [9 * max(every["samples"]) for _ in every["samples"]]
    assert [judged(id, record).verdict for id in ("p5plus-c1", "p5plus-c2")] == [HOLDS, HOLDS]


def twin(record: dict, factor: float, of: dict, **parameters) -> None:
    """One case more in a record: another's, with these parameters, that takes ``factor`` times as long."""
    made = copy.deepcopy(case(record, **of))
    made["samples"] = [factor * each for each in made["samples"]]
    made["label"] = f"{made['label']}, {parameters}"
    made["parameters"] |= parameters
    record["measurements"].append(made)


@pytest.mark.parametrize(("factor", "verdict"), [(1.0, NOT), (1 / 1.2, HOLDS), (1 / 3.0, PARTLY)])
def test_two_threads_on_a_core_gain_a_forecast_what_it_takes_less(judged, factor, verdict):
    record = stored("p5plus-changes")
    first = case(record, without="")
    first["samples"] = [first["samples"][0]] * len(first["samples"])
    assert judged("p5plus-c6", record).verdict == UNTESTED
    twin(record, factor, {"without": ""}, without="two threads a core smt")
    assert judged("p5plus-c6", record).verdict == verdict


def with_product(record: dict) -> dict:
    """A record of the five loops, with cases of a product of matrices at 15 times the rate of ten chains."""
    alike = [each["parameters"] for each in record["measurements"] if each["parameters"]["loop"] == "s10"]
    for parameters in alike:
        if parameters["streams"] == 1:
            twin(record, 1 / 15, parameters, loop="product")
    for name, output in record["outputs"].items():
        output["value"].append("product" if name == "loop_name" else output["value"][2])
    return record


@pytest.mark.parametrize("programs", [5, 6])
def test_gains_of_loops_are_those_of_a_machine_that_shows_two_threads_on_a_core(judged, programs):
    """By factors of time: chains run at twice the rate, the loop that skips at 1.1 times, the others as before."""
    changed, stored_loops = stored("p5plus-changes"), stored("p5plus-smt")
    of_five = [each for each in stored_loops["measurements"] if each["parameters"]["loop"] != "product"]
    loops = stored_loops | {"measurements": of_five}
    for output in loops["outputs"].values():
        output["value"] = output["value"][:5]
    if programs == 6:
        loops = with_product(loops)
    ids = ("p5plus-c11", "p5plus-c12", "p5plus-c13")
    assert [judged(id, loops, changed).verdict for id in ids] == 3 * [UNTESTED]
    assert ("product of matrices" in judged("p5plus-c12", loops, changed).sentence) is (programs == 6)
    factors = {"s1": 0.5, "s2": 0.5, "s10": 1.0, "streaming": 1.0, "skipping": 1 / 1.1, "product": 1.0}
    for name, factor in list(factors.items())[:programs]:
        one = case(loops, loop=name, kind="one thread")
        one["samples"] = [one["samples"][0]] * len(one["samples"])
        twin(loops, factor, {"loop": name, "kind": "one thread"}, kind="SMT")
    for name, value in {"speedup": 1.2, "speedup_timed": 1.25}.items():
        loops["outputs"][name]["value"] = programs * [value]
    assert [judged(id, loops, changed).verdict for id in ids] == 3 * [HOLDS]
    loops["outputs"]["speedup_timed"]["value"] = [1.2, *(programs - 1) * [2.0]]
    busy = "s10" if programs == 5 else "product"
    case(loops, loop=busy, kind="SMT")["samples"] = [
        0.5 * each for each in case(loops, loop=busy, kind="SMT")["samples"]
    ]
    case(loops, loop="s1", kind="SMT")["samples"] = list(case(loops, loop="s1", kind="one thread")["samples"])
    assert [judged(id, loops, changed).verdict for id in ids] == 3 * [PARTLY]


def test_a_product_of_matrices_stands_below_the_loops_where_a_record_has_it(judged):
    record = stored("p5plus-smt")
    if not any(each["parameters"]["loop"] == "product" for each in record["measurements"]):
        record = with_product(record)
    judged("p5plus-c12", record, stored("p5plus-changes"))
    (run,) = smt_loops.loops.runs()
    drawn = smt_loops.rates([run]).data
    printed = drawn[smt_loops.THEN]
    assert drawn["what"].iloc[-1].startswith("product of matrices") and len(drawn) == 6
    assert drawn["host"].notna().all() and printed.isna().tolist() == [*5 * [False], True]
    assert len(smt_loops.second([run]).data) == 6
    times = drawn["host"].iloc[5] / drawn["host"].iloc[2]
    assert f"{times:.1f} times as fast as ten chains do today" in smt_loops.outrun(run)


@pytest.fixture
def grids(monkeypatch):
    """Two small grids at the preset quick, the second of which is as the report's largest."""
    monkeypatch.setitem(application.Problem.PRESETS, "next", {"N": 16, "NS": 20, "IW": 5})
    monkeypatch.setitem(writing.SIZES, "quick", ("small", "next"))
    monkeypatch.setattr(writing, "_LARGE", 15)


def test_writing_adds_more_with_more_threads_and_beside_the_solver(grids, made, judged):
    record = made("nht1-io", 2)
    every = record["measurements"]
    assert {each["parameters"]["way"] for each in every if each["parameters"]["N"] == 16} >= {
        writing.LATER,
        *(writing.FLUSHED.format(way) for way in (*writing.METHODS, writing.WAY)),
    }
    for each in every:
        alone = case(record, N=each["parameters"]["N"], n=each["threads"], way="none")["samples"]
        if each["observed"]:
            # all intervals overlap: equal ones would part by rounding
            each["observed"]["T_T"] = [(1.2, 1.3)[number % 2] * value for number, value in enumerate(alone)]
    assert [judged(id, record).verdict for id in ("nht1-c1", "nht1-c9")] == [NOT, NOT]
    for N, verdict in ((12, PARTLY), (16, HOLDS)):
        for way in (writing.LATER, next(iter(writing.METHODS))):
            slow = case(record, N=N, n=2, way=way)
            alone = case(record, N=N, n=2, way="none")["samples"]
            slow["observed"]["T_T"] = [9 * max(alone) for _ in alone]
        assert judged("nht1-c1", record).verdict == verdict
    found = judged("nht1-c9", record)
    assert found.verdict == HOLDS and "With N = 16 and 2 threads" in found.sentence


def test_a_solver_divided_along_one_dimension_is_slower_by_what_it_takes(made, judged):
    record = made("nht1-division", ranks=2)
    boxes, slabs = (case(record, layout=layout) for layout in ("boxes", "slabs"))
    for factor, verdict in ((1.0, NOT), (1.2, PARTLY), (2.0, HOLDS)):
        slabs["samples"] = [factor * each for each in boxes["samples"]]
        assert judged("nht1-c14", record).verdict == verdict


def test_a_verdict_that_its_numbers_contradict_fails(grids, made, judged):
    """Planes that add less with two threads than with one."""
    record = made("nht1-io", 2)
    way = next(iter(writing.METHODS))
    one = case(record, N=12, n=1, way=way)["observed"]
    one["T_T"] = [99 * each for each in one["T_T"]]
    with pytest.raises(Turned, match="nht1-c1"):
        judged("nht1-c1", record)


def test_bits_of_two_machines_are_the_same_where_their_checksums_are(judged):
    record = stored("xmp1982-builds")
    other = on("Slowpoke 1000", 1.0, record)
    assert judged("xmp1982-c28", record, other).verdict == HOLDS
    other["outputs"]["checksum"]["value"][1][0] += 1
    found = judged("xmp1982-c28", record, other)
    assert found.verdict == PARTLY and "On 2 machines 1 of 2 builds" in found.sentence
