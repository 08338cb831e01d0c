"""The harness, on toy kernels and a toy clock: no assertion depends on how fast anything is."""

import itertools
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import psutil
import pytest

from supercomputers_rerun.companion import bench, host
from supercomputers_rerun.companion.bench import Case, UnverifiedError, interleave, measure, study
from supercomputers_rerun.kernels.contract import Check, Footprint


class Clock:
    """A clock in nanoseconds that moves only when told to."""

    def __init__(self):
        self.now = 0

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    """The sampling clock, replaced; its grain is declared as one nanosecond."""
    clock = Clock()
    monkeypatch.setattr(bench, "_clock", clock)
    monkeypatch.setattr(bench, "clock_grain", lambda reads=0: 1e-9)
    return clock


def timed_kernel(clock, make_toy, costs):
    """A toy kernel whose n-th call lasts ``costs(n) * repeats`` nanoseconds on ``clock``."""
    kernel = make_toy()
    plain_run = kernel.run

    def run(problem, state, threads=1, repeats=1):
        result = plain_run(problem, state, threads, 1)
        kernel.repeats[-1] = repeats
        clock.now += int(costs(kernel.calls)) * repeats
        return result

    kernel.run = run
    return kernel


class ByOne(float):
    """A result of one thread, whatever was asked for."""

    threads = 1


def test_a_measurement_has_the_threads_that_computed(make_toy, monkeypatch):
    monkeypatch.setattr(host, "require_threads", lambda threads: threads)
    shares, stays = make_toy(), make_toy()
    stays.run = lambda *given, **options: ByOne(make_toy().run(*given, **options))
    problem = shares.Problem(10)
    cases = [Case(name, toy, problem, threads=2) for name, toy in (("shares", shares), ("stays", stays))]
    assert [each.threads for each in measure(cases, rounds=1, progress=False)] == [2, 1]


def test_every_part_of_a_measurement(toy_cases):
    measured = measure(toy_cases, rounds=7, progress=False)
    assert [m.label for m in measured] == ["ten", "thousand", "ten again"]
    first = measured[0]
    assert first.kernel == "toy"
    assert first.problem is toy_cases[0].problem
    assert bench.jsonable(first.recorded())["problem"] == {"n": 10}
    assert first.parameters == {"n": 10, "kind": "small"}
    assert len(first.samples) == 7
    assert min(first.samples) > 0
    low, high = bench.median_interval(first.samples)
    assert first.minimum <= low <= first.median <= high
    assert first.work == {"flops": 10, "bytes_read": 80, "bytes_written": 0, "parts": {"sum": 10}}
    assert first.checks_before[0]["ok"] is first.checks_after[0]["ok"] is True
    assert first.compile_s > 0 and first.setup_s >= 0 and first.batch == 0


def test_equal_kernel_and_problem_share_one_state(toy, toy_cases):
    measure(toy_cases, rounds=1, progress=False)
    assert toy.setups == 2


def test_the_first_call_is_timed_apart_and_never_calibrates(clock, make_toy):
    # 5 s for the call that compiles, 1 µs for each repeat afterwards.
    kernel = timed_kernel(clock, make_toy, lambda call: 5_000_000_000 if call == 1 else 1_000)
    found = measure([Case("one", kernel, kernel.Problem())], rounds=6, progress=False)[0]
    assert found.compile_s == pytest.approx(5.0)
    assert found.samples == [pytest.approx(1e-6)] * 6
    assert found.repeats * 1e-6 >= bench.MIN_SAMPLE
    assert kernel.repeats[:2] == [1, 1]


@pytest.mark.parametrize("interrupted", [[1], [2], [1, 2], [3, 5]])
def test_an_interrupted_call_does_not_end_the_calibration(clock, interrupted):
    # 50 µs for starting a team and 10 µs a repeat; some calls are interrupted for 30 ms.
    calls = itertools.count(1)

    def call(repeats):
        clock.now += 50_000 + 10_000 * repeats + 30_000_000 * (next(calls) in interrupted)

    repeats, seconds, _ = bench.calibrate(call, 0.010, "team")
    assert repeats * 10e-6 + 50e-6 == pytest.approx(seconds)  # no interruption is in the answer
    assert seconds >= 0.010


def test_the_grain_of_a_clock_is_its_step(monkeypatch):
    ticks = iter(range(10**6))
    monkeypatch.setattr(bench, "_clock", lambda: next(ticks) // 10 * 700)
    assert bench.clock_grain() == pytest.approx(700e-9)
    monkeypatch.setattr(bench, "_clock", lambda: 42)  # a clock that stands
    assert bench.clock_grain() == pytest.approx(1e-3)


def test_a_kernel_that_ignores_repeats_is_refused(clock, make_toy):
    kernel = make_toy()
    plain_run = kernel.run

    def run(problem, state, threads=1, repeats=1):
        clock.now += 1_000
        return plain_run(problem, state)

    kernel.run = run
    with pytest.raises(RuntimeError, match="ignores repeats"):
        measure([Case("one", kernel, kernel.Problem())], rounds=1, progress=False)


@pytest.mark.parametrize(("wrong_from", "when"), [(1, "before"), (4, "after")])
def test_an_unverified_result_is_never_reported(make_toy, wrong_from, when):
    kernel = make_toy(wrong_from)
    with pytest.raises(UnverifiedError, match=f"one: {when} timing, sum.*FAILED"):
        measure([Case("one", kernel, kernel.Problem())], rounds=8, progress=False)


def test_a_kernel_that_verifies_nothing_is_refused(toy):
    toy.verify = lambda problem, result: []
    with pytest.raises(UnverifiedError, match="no check"):
        measure([Case("one", toy, toy.Problem())], rounds=1, progress=False)


def test_nan_fails_verification(toy):
    toy.verify = lambda problem, result: [Check.near("sum", float("nan"), 0.0, 1.0)]
    with pytest.raises(UnverifiedError):
        measure([Case("one", toy, toy.Problem())], rounds=1, progress=False)


def test_drift_is_flagged(clock, make_toy):
    kernel = timed_kernel(clock, make_toy, lambda call: 20_000_000 + 1_000_000 * call)
    found = measure([Case("one", kernel, kernel.Problem())], rounds=11, progress=False)[0]
    assert "drift" in found.flags
    steady = timed_kernel(clock, make_toy, lambda call: 20_000_000)
    assert "drift" not in measure([Case("one", steady, steady.Problem())], rounds=11, progress=False)[0].flags


class FakeProcess:
    """psutil.Process with its own CPU time and affinity given."""

    own, hidden = 0.0, False

    def cpu_affinity(self):
        return [0, 1]

    def cpu_times(self):
        return SimpleNamespace(user=self.own, system=0.0, children_user=0.0, children_system=0.0)

    def children(self, recursive):
        if self.hidden:
            raise psutil.AccessDenied
        return []


class FakeHost:
    """Two CPUs of ours and one that is not, as psutil tells them; ``others`` of ours are busy with something else."""

    online = (0, 1, 2)

    def __init__(self, monkeypatch, others):
        self.row, self.now, self.others, self.busy = psutil.cpu_times(percpu=True)[0], 0.0, others, 0.0
        monkeypatch.setattr(bench.psutil, "Process", FakeProcess)
        monkeypatch.setattr(bench.psutil, "cpu_times", self.cpu_times)
        monkeypatch.setattr(bench, "online_cpus", lambda: self.online)
        monkeypatch.setattr(bench.time, "perf_counter", lambda: self.now)
        monkeypatch.setattr(FakeProcess, "own", 0.0)

    def cpu_times(self, percpu):
        values = dict.fromkeys(self.row._fields, 0.0) | {"user": self.busy / 2, "idle": 1.0 + self.now}
        return [self.row._replace(**values)] * 2 + [self.row._replace(user=1e6 * self.now)]

    def passes(self, seconds):
        """So much time, in which one CPU works for us."""
        self.now += seconds
        self.busy += (1.0 + self.others) * seconds
        FakeProcess.own += seconds


@pytest.mark.parametrize(("other", "flagged"), [(0.1, False), (0.25, False), (0.3, True), (1.0, True)])
def test_load_of_others_is_flagged_whether_or_not_a_cpu_is_free(monkeypatch, other, flagged):
    host = FakeHost(monkeypatch, other)
    load = bench.OtherLoad()
    host.passes(10.0)
    assert load.value() == pytest.approx(other)
    assert (bench.disturbed(round(load.value(), 9)) is not None) == flagged


@pytest.mark.parametrize(
    ("of", "name", "value"),
    [
        (FakeProcess, "hidden", True),
        (FakeHost, "online", (0, 1)),  # a row more
        (FakeHost, "online", (2, 3, 4)),  # CPUs of others
        (FakeHost, "cpu_times", lambda self, percpu: [self.row._replace(**dict.fromkeys(self.row._fields, 0.0))] * 3),
    ],
)
def test_load_of_others_that_cannot_be_known_is_none(monkeypatch, of, name, value):
    monkeypatch.setattr(of, name, value)
    host = FakeHost(monkeypatch, 0.1)
    load = bench.OtherLoad()
    host.now += 10.0
    assert load.value() is None


def test_each_long_case_has_the_load_of_its_own_samples(monkeypatch, clock, make_toy):
    """Others come while one case is sampled: it is flagged, and the one beside it is not; a short one has the mean."""
    host = FakeHost(monkeypatch, 0.0)

    def kernel(seconds, others):
        def cost(call):
            host.others = others
            host.passes(seconds)
            host.others = 0.0
            return seconds * 1e9

        return timed_kernel(clock, make_toy, cost)

    kernels = {"quiet": kernel(1.0, 0.0), "busy": kernel(1.0, 1.5), "short": kernel(0.05, 0.0)}
    cases = [Case(name, kernel, kernel.Problem()) for name, kernel in kernels.items()]
    found = {m.label: m for m in measure(cases, rounds=3, progress=False)}
    assert found["quiet"].other_load == pytest.approx(0.0) and "load" not in found["quiet"].flags
    assert found["busy"].other_load == pytest.approx(1.5) and "1.50 CPUs busy" in found["busy"].flags["load"]
    assert 0.6 < found["short"].other_load < 0.8 and "load" in found["short"].flags


def test_a_spent_budget_cuts_rounds_but_one_always_runs(toy_cases):
    for found in measure(toy_cases, rounds=9, budget=1e-9, progress=False):
        assert len(found.samples) == 1
        assert "1 of 9 rounds" in found.flags["budget"]
        assert found.checks_after


@pytest.mark.parametrize(("budget", "calls"), [(1e-9, 2), (1e6, 3)])
def test_a_long_call_that_calibrates_past_the_budget_is_the_sample(clock, make_toy, budget, calls):
    """One call compiles, one calibrates, and one is sampled where there is time; the n-th takes n seconds."""
    kernel, seen = timed_kernel(clock, make_toy, lambda n: n * 10**9), []
    case = Case("long", kernel, kernel.Problem(), observe=lambda _: seen.append(kernel.calls) or {"n": kernel.calls})
    (found,) = measure([case], rounds=1, budget=budget, progress=False)
    assert kernel.calls == calls and found.samples == [float(calls)] and found.observed == {"n": [float(calls)]}
    assert found.checks_after and seen == [calls]


def test_a_budget_of_zero_lets_each_case_run_once_and_says_so(toy, toy_cases):
    for found in measure(toy_cases, rounds=9, budget=0, progress=False):
        assert found.samples == [found.compile_s] and found.repeats == 1
        assert found.checks_before == found.checks_after and found.checks_after[0]["ok"]
        assert "first call" in found.flags["budget"]
    assert toy.calls == len(toy_cases) and set(toy.repeats) == {1}


def test_rounds_visit_every_case_in_seeded_order(make_toy):
    def visits(seed):
        seen = []
        kernels = {name: make_toy() for name in "abcdef"}
        cases = [
            Case(name, kernel, kernel.Problem(), observe=lambda _, name=name: seen.append(name) or {})
            for name, kernel in kernels.items()
        ]
        measure(cases, rounds=4, seed=seed, progress=False)
        return [tuple(seen[start : start + 6]) for start in range(0, 24, 6)]

    first = visits(1)
    assert all(sorted(order) == list("abcdef") for order in first)
    assert len(set(first)) > 1
    assert first == visits(1)
    assert first != visits(2)


def test_observations_are_kept_per_sample(toy):
    case = Case("one", toy, toy.Problem(4), observe=lambda result: {"sum": result})
    assert measure([case], rounds=3, progress=False)[0].observed == {"sum": [6.0, 6.0, 6.0]}


def test_states_that_do_not_fit_together_are_measured_in_batches(make_toy, monkeypatch):
    kernel, alive, most = make_toy(), [], []
    kernel.footprint = lambda problem: Footprint(problem.n)
    plain_setup = kernel.setup

    class State(np.ndarray):
        def __del__(self):
            if self.base is not None and self.size in alive:
                alive.remove(self.size)

    def setup(problem, seed=0):
        alive.append(problem.n)
        most.append(sum(alive))
        return plain_setup(problem).view(State)

    kernel.setup = setup
    monkeypatch.setattr(host, "available_memory", lambda: 1000)
    cases = [Case(str(n), kernel, kernel.Problem(n)) for n in (300, 250, 150, 390, 380)]
    found = measure(cases, rounds=1, progress=False)
    assert [m.label for m in found] == ["300", "250", "150", "390", "380"]
    assert [m.batch for m in found] == [0, 1, 1, 2, 3]
    assert max(most) <= 400


def test_interleave_gives_seconds_of_one_repeat(clock):
    def work(nanoseconds):
        return lambda repeats: setattr(clock, "now", clock.now + nanoseconds * repeats)

    found = interleave({"a": work(1_000), "b": work(3_000)}, rounds=5)
    np.testing.assert_allclose([found["a"], found["b"]], [[1e-6] * 5, [3e-6] * 5])
    assert bench.ratio(found["a"], found["b"]).minima == pytest.approx(3.0)


@pytest.mark.parametrize(("budget", "rounds"), [("0", 1), ("3", 11)])
def test_interleave_calls_once_where_the_budget_is_zero(clock, monkeypatch, budget, rounds):
    monkeypatch.setenv("RERUN_BUDGET", budget)
    asked = []

    def work(repeats):
        asked.append(repeats)
        clock.now += 1_000 * repeats

    found = interleave({"a": work})["a"]
    np.testing.assert_allclose(found, [1e-6] * rounds)
    assert (asked == [1]) == (rounds == 1)


def test_jsonable_turns_everything_into_json_types(toy):
    value = {"p": toy.Problem(3), "a": np.arange(2), "s": np.float64(1.5), "t": (1, None), "f": frozenset("ab"), 1: len}
    found = bench.jsonable(value)
    assert found["p"] == {"n": 3} and found["a"] == [0, 1] and found["s"] == 1.5
    assert found["t"] == [1, None] and found["f"] == ["a", "b"] and isinstance(found["1"], str)


def test_a_study_runs_each_case_once_and_keeps_its_result(toy, toy_cases):
    found = study(toy_cases, progress=False)
    assert toy.calls == len(toy_cases) and toy.repeats == [1] * len(toy_cases)
    assert [one.result for one in found] == [45.0, 499500.0, 45.0]
    for one, case in zip(found, toy_cases, strict=True):
        assert one.problem is case.problem and len(one.samples) == 1
        assert one.checks_before == one.checks_after and one.checks_after[0]["ok"]
        assert "result" not in one.recorded() and one.recorded()["problem"] is case.problem


def test_a_study_that_fails_its_checks_is_not_reported(make_toy):
    kernel = make_toy(wrong_from=1)
    with pytest.raises(UnverifiedError, match="one: after timing"):
        study([Case("one", kernel, kernel.Problem())], progress=False)


class ProofSpy:
    """Says that the problem of its length is small, and fails or not."""

    def __init__(self, off):
        self.off, self.asked = off, 0

    def problem(self, like):
        return replace(like, n=3)

    def checks(self, kernel, problem):
        self.asked += 1
        assert problem.n == 3
        return [Check.near("sum", self.off, 0.0, 0.0)]


def test_a_kernel_proves_itself_once_before_it_is_timed(toy):
    toy.PROOF = ProofSpy(0.0)
    cases = [Case(str(n), toy, toy.Problem(n)) for n in (10, 20)]
    assert measure(cases, rounds=1, progress=False) and study(cases, progress=False)
    assert toy.PROOF.asked == 1


@pytest.mark.parametrize("how", [lambda cases: measure(cases, rounds=1, progress=False), study])
def test_without_a_proof_nothing_is_timed(toy, how):
    toy.PROOF = ProofSpy(1.0)
    for _ in range(2):  # it is remembered, and refused again
        with pytest.raises(UnverifiedError, match="ten: a small problem came out otherwise.*sum: 1, expected 0"):
            how([Case("ten", toy, toy.Problem(10))])
    assert toy.calls == toy.setups == 0 and toy.PROOF.asked == 1


@pytest.mark.parametrize(
    ("step", "asked"),
    [
        (1_000_000, [1, 13, 13, 13]),  # 1 ms a repeat: three tenths more than the ten that it needs
        (10_000, [1, 100, 130 * 10, 130 * 10, 130 * 10]),  # 10 µs a repeat: at most a hundred times as many at once
        (200_000_000, [1]),  # as long as is certain
        (199_000_000, [1, 1, 1]),
    ],
)
def test_repeats_grow_by_what_the_clock_asks(clock, step, asked):
    said = []

    def call(repeats):
        said.append(repeats)
        clock.now += step * repeats

    bench.calibrate(call, 0.010, "steady")
    assert said == asked


@pytest.mark.parametrize(
    ("seconds", "repeats", "times"),
    [
        (0.0, 100**7, 8),  # no time at all: by hundreds, until the next would be more than 2⁴⁸
        (0.009, None, 24),  # nearly enough, always: so often and no more
    ],
)
def test_a_call_that_never_lasts_longer_is_given_up(seconds, repeats, times):
    said = []
    with pytest.raises(RuntimeError, match=f"{repeats or ''} repeats still last {seconds:.2g} s"):
        bench.calibrate(None, 0.010, "constant", lambda call, asked: (said.append(asked) or seconds, None))
    assert len(said) == times and said[1] == (100 if seconds == 0 else 2)
