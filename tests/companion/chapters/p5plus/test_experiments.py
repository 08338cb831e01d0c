"""The Power5+ experiments: what is measured, and the outputs computed from given times."""

from types import SimpleNamespace

import pytest

from companion import experiments
from companion.chapters.p5plus import experiments as p5plus
from companion.host import machine
from companion.host.doctor import Finding


def measurement(median, **parameters):
    return SimpleNamespace(median=median, parameters=parameters)


def loops(times):
    """Measurements of every loop with the same times by kind."""
    return [measurement(seconds, loop=loop, kind=kind) for loop in p5plus.LOOPS for kind, seconds in times.items()]


MODEL = {"one thread": 1.0, p5plus.PAIR: 2 / 1.35, "shared work": 1.8, f"shared work, {p5plus.PAIR}": 1.5}


def test_the_model_with_smt_is_the_documents_arithmetic():
    # S = 2 T1/T2 and f = T(n)/T(2n) of made-up times; the product rule is the report's.
    found = p5plus._model_outputs(loops(MODEL | {"shared work, twice the threads": 1.0}))
    assert found["S"]["value"] == [pytest.approx(1.35)] * 5
    assert found["f"]["value"] == [pytest.approx(1.8)] * 5
    assert found["speedup"]["value"] == [pytest.approx(1.35 * 1.8 / 2)] * 5
    assert found["speedup_timed"]["value"] == [pytest.approx(1.2)] * 5


def test_without_a_second_core_nothing_is_invented():
    found = p5plus._model_outputs(loops(MODEL))
    assert found["f"]["value"] == found["speedup"]["value"] == [None] * 5
    assert found["S"]["value"] == [pytest.approx(1.35)] * 5


@pytest.mark.parametrize("smt", [True, False])
def test_nothing_takes_turns_in_the_place_of_smt(monkeypatch, smt):
    finding = Finding("SMT", smt, "every core shows one thread")
    monkeypatch.setattr(p5plus.doctor, "smt", lambda: finding)
    monkeypatch.setitem(p5plus.doctor.NEEDS, "smt", lambda: finding)
    assert {bool(case.parameters["doubled"]) for case in p5plus._binding("quick", 1)} == {False, smt}
    refused = experiments.unavailable(experiments.REGISTER["p5plus-model"])
    assert (refused is None) if smt else "every core shows one thread" in refused


@pytest.mark.parametrize("smt", [True, False])
def test_smt_is_measured_only_where_cores_have_two_threads(monkeypatch, smt):
    monkeypatch.setattr(p5plus.doctor, "smt", lambda: Finding("SMT", smt, ""))
    monkeypatch.setattr(experiments.machine, "usable_cpus", lambda: 2)
    kinds = {case.parameters["kind"] for case in p5plus._smt("quick", 1)}
    assert kinds == {"one thread", "two fused streams"} | ({"SMT"} if smt else set())
    for case in p5plus._smt("quick", 1):
        assert (case.problem.threads_per_core == 2) == (case.parameters["kind"] == "SMT")
        assert (case.problem.streams == 2) == ("fused" in case.parameters["kind"])


@pytest.mark.parametrize(("siblings", "cores"), [([[0, 2], [1, 3]], 2), ([[0, 1], [2, 3]], 1), (None, 2)])
def test_cores_count_what_this_process_may_use(monkeypatch, siblings, cores):
    monkeypatch.setattr(machine, "affinity_cpus", lambda: [0, 1])
    monkeypatch.setattr(machine, "smt_siblings", lambda: siblings)
    assert p5plus._cores() == cores


def test_latency_outputs_find_the_plateaus_of_a_made_up_curve():
    sizes = [2**power for power in range(12, 25)]
    steps = [1e-6 if size <= 2**15 else 4e-6 if size <= 2**19 else 80e-6 for size in sizes]
    curve = [
        measurement(seconds, nbytes=size, pattern="random", pages="huge", loads=1000)
        for size, seconds in zip(sizes, steps, strict=True)
    ]
    others = [("random", "small"), ("stride", "huge"), ("stride", "small")]
    rest = [measurement(1.0, nbytes=n, pattern=way, pages=kind, loads=1000) for n in sizes for way, kind in others]
    found = experiments.find("p5plus-latency").outputs(curve + rest)
    assert found["plateau_ns"]["value"] == [pytest.approx(1.0), pytest.approx(4.0), pytest.approx(80.0)]
    assert 2**15 <= found["plateau_capacity"]["value"][0] <= 2**16
    assert found["plateau_capacity"]["value"][-1] is None
    assert found["reported_capacity"]["value"] == [
        cache["bytes"] for cache in machine.describe()["caches"] if cache["type"] != "instruction"
    ]


@pytest.mark.parametrize(
    ("preset", "caches", "free", "words", "level"),
    [
        ("quick", 2**25, None, 2**17, "cache"),
        ("paper", 2**25, None, 2**24, "memory"),  # 4 · 32 MiB / 8 bytes
        ("paper", 1000, None, 2**23, "memory"),
        ("paper", 2**25, 2**28, 2**23, "cache"),  # 384 MiB do not fit
        ("paper", None, None, 2**23, "unknown"),
    ],
)
def test_stream_leaves_the_caches_or_says_that_it_does_not(monkeypatch, preset, caches, free, words, level):
    monkeypatch.setattr(p5plus.machine, "last_caches", lambda: caches)
    monkeypatch.setattr(p5plus.machine, "available_memory", lambda: free)
    cases = p5plus._stream(preset, 1)
    assert {case.problem.n for case in cases} == {words}
    assert {case.parameters["level"] for case in cases} == {level}
