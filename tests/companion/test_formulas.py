"""Formulas that form published numbers, each held by a value that was worked out by hand.

Samples, times and counts are chosen so that another sign, factor, base or end gives another number.
"""

import copy
import json
import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import psutil
import pytest
from drawing import cases

from supercomputers_rerun.companion import answers, bench, common, experiments, figures, host, suite, tables
from supercomputers_rerun.companion.bench import Case, Ratio
from supercomputers_rerun.companion.claims.intervals import Interval
from supercomputers_rerun.companion.figures import kit
from supercomputers_rerun.companion.records import runs
from supercomputers_rerun.kernels.contract import Footprint

# The clock, and what others keep busy


def test_a_clock_is_as_fine_as_its_step_or_the_cost_of_reading_it(monkeypatch):
    """Steps of 100, 300 and 300 ns by turns: the smallest is 100, a reading costs 300."""
    stamps = iter(np.cumsum([100, 300, 300] * 700).tolist())
    monkeypatch.setattr(bench, "_clock", lambda: next(stamps))
    assert bench.clock_grain() == pytest.approx(300e-9)


@pytest.mark.parametrize(("grain", "seconds"), [(1e-4, 0.1), (1e-9, 0.02)])
def test_a_sample_lasts_a_thousand_grains_and_the_least(monkeypatch, grain, seconds):
    monkeypatch.setattr(bench, "clock_grain", lambda: grain)
    monkeypatch.setattr(bench, "MIN_SAMPLE", 0.02)
    assert bench.shortest_sample() == pytest.approx(seconds)


def test_a_call_lasts_from_its_start_to_its_end(monkeypatch):
    stamps = iter([5_000_000_000, 7_500_000_000])
    monkeypatch.setattr(bench, "_clock", lambda: next(stamps))
    assert bench.timed(lambda repeats: 3 * repeats, 4) == (2.5, 12)


def times_of(*powers):
    """CPU times of a process: user, system, and those of the children that have ended."""
    names = ("user", "system", "children_user", "children_system")
    return lambda: SimpleNamespace(**dict(zip(names, powers, strict=True)))


def test_cpu_time_of_ours_is_user_and_system_of_all_descendants_living_or_not():
    watch = bench.OtherLoad()
    child = SimpleNamespace(cpu_times=times_of(16.0, 32.0, 64.0, 128.0))
    watch._process = SimpleNamespace(cpu_times=times_of(1.0, 2.0, 4.0, 8.0), children=lambda recursive: [child])
    assert watch.ours() == 255.0


def test_cpus_are_busy_with_all_but_waiting_and_what_counts_twice(monkeypatch):
    """Busy: user 1, nice 2, system 4, irq 32, softirq 64, steal 128; idle, iowait and both kinds of guests are not."""
    names = "user nice system idle iowait irq softirq steal guest guest_nice".split()
    row = dict(zip(names, [2.0**n for n in range(10)], strict=True))
    monkeypatch.setattr(psutil, "cpu_times", lambda percpu: 3 * [SimpleRow(row)])
    monkeypatch.setattr(bench, "online_cpus", lambda: [0, 1, 5])
    watch = bench.OtherLoad()
    watch._cpus = [1, 5]
    assert watch.busy() == 2 * (1 + 2 + 4 + 32 + 64 + 128)


class SimpleRow:
    """A row of psutil."""

    def __init__(self, values):
        self.values = values

    def _asdict(self):
        return self.values

    def __iter__(self):
        return iter(self.values.values())


@pytest.mark.parametrize(
    ("wall", "busy", "ours", "others"),
    [
        (10.0, 25.0, 5.0, 2.0),
        (0.2, 0.3, 0.1, 1.0),
        (0.19, 0.3, 0.1, None),
        (4.0, 1.0, 3.0, 0.0),
        (4, math.nan, 1, None),
    ],
)
def test_others_had_what_was_busy_less_ours_over_the_time(wall, busy, ours, others):
    assert bench.OtherLoad().value(np.array([wall, busy, ours])) == (
        others if others is None else pytest.approx(others)
    )


# Rounds, budget


class Timed(bench.Sampler):
    """A sampler of one second, on a clock that it moves."""

    def __init__(self, clock):
        super().__init__("one")
        self.clock_of, self.expected = clock, 1.0

    def call(self, repeats):
        self.clock_of.now += 1.0

    def clock(self, call, repeats):
        call(repeats)
        return 1.0, None


@pytest.fixture
def hand(monkeypatch):
    """A clock that moves only by hand, for samples and for the budget."""
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(bench, "_clock", lambda: int(1e9 * clock.now))
    monkeypatch.setattr(bench, "clock_grain", lambda: 1e-9)
    monkeypatch.setattr(bench.time, "perf_counter", lambda: clock.now)
    return clock


def test_the_round_before_the_last_leaves_time_for_two(hand):
    """Rounds of one second until 5 s: at 3 s two more end in time, at 4 s they do not, so that the next is the last."""
    sampler, by = Timed(hand), bench.Alone(False)
    with by.steps(10):
        said = bench.sample_rounds([sampler], 9, 0, 5.0, by)
    assert len(sampler.samples) == 5 and said == "the time budget ended after 5 of 9 rounds"


def kernel_of_seconds(hand, make_toy, seconds=1.0):
    kernel = make_toy()
    plain = kernel.run

    def run(problem, state, threads=1, repeats=1):
        hand.now += seconds * repeats
        return plain(problem, state)

    kernel.run = run
    return kernel


def test_rounds_have_what_preparing_leaves_of_the_budget(hand, make_toy):
    """One call compiles and one calibrates: 2 s of 7; then a second each, five of them."""
    kernel = kernel_of_seconds(hand, make_toy)
    (found,) = bench.measure([Case("one", kernel, kernel.Problem())], rounds=20, budget=7.0, progress=False)
    assert len(found.samples) == 5 and found.compile_s == 1.0 and found.samples[0] == 1.0


def test_each_batch_has_its_share_of_the_budget(hand, make_toy, monkeypatch):
    """Of 14 s, 2 prepare; half of the other 12 are the first batch's, to 8 s; two more prepare, and 4 are left."""
    kernel = kernel_of_seconds(hand, make_toy)
    kernel.footprint = lambda problem: Footprint(1000)
    monkeypatch.setattr(host, "available_memory", lambda: 3000)
    found = bench.measure([Case(str(n), kernel, kernel.Problem(n)) for n in (1, 2)], 20, 0, 14.0, False)
    assert [(m.batch, len(m.samples)) for m in found] == [(0, 6), (1, 4)]


@pytest.mark.parametrize(
    ("peak", "said"),
    [
        ({"flops": 20.0}, "50 flop/s exceed the 40 flop/s that the threads can reach"),
        ({"flops": 25.0}, None),
        ({"bytes": 24.0}, "50 byte/s exceed the 48 byte/s that the threads can reach"),
        ({"bytes": 25.0}, None),
    ],
)
def test_a_rate_is_all_work_over_the_fastest_sample_and_its_limit_that_of_all_threads(monkeypatch, peak, said):
    monkeypatch.setattr(host, "ceiling", lambda: peak)
    work = {"flops": 100, "bytes_read": 60, "bytes_written": 40, "parts": {}}
    assert bench._over_peak(SimpleNamespace(work=work, minimum=2.0), 2) == said


class Four(bench.Alone):
    """Four ranks that measure together."""

    def described(self, case):
        return {"ranks": 4}, {}


@pytest.mark.parametrize(("peak", "flagged"), [(6.0, False), (4.0, True)])
def test_threads_of_all_ranks_share_the_limit(hand, make_toy, monkeypatch, peak, flagged):
    """100 flop in 5 s by one thread of each of four ranks: 20 flop/s, of 24 or of 16."""
    monkeypatch.setattr(host, "ceiling", lambda: {"flops": peak})
    kernel = kernel_of_seconds(hand, make_toy, 5.0)
    (found,) = bench.measure([Case("one", kernel, kernel.Problem())], rounds=1, by=Four(False))
    assert ("rate over peak" in found.flags) is flagged


def test_a_measurement_is_its_fastest_sample_and_its_median():
    values = dict.fromkeys((each for each in bench.Measurement.__dataclass_fields__), None)
    found = bench.Measurement(**values | {"samples": [4.0, 1.0, 2.0, 8.0]})
    assert (found.minimum, found.median) == (1.0, 3.0)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (Ratio(1.5, 1.6049, (1.52, 1.69)), "1.60 times (95 % interval 1.52 to 1.69)"),
        (Ratio(1.5, 16.05, (15.2, 16.9)), "16.1 times (95 % interval 15.2 to 16.9)"),
        (Ratio(1.5, 160.4, (120.2, 190.9)), "160 times (95 % interval 120 to 191)"),
        (Ratio(1, 1.00004, (0.99996, 1.0001)), "1.000 times (95 % interval 1.000 to 1.000, no measurable difference)"),
        (Ratio(2, 2.0, None), "2.00 times (too few samples for an interval)"),
        (Ratio(2, 240.0, None), "240 times (too few samples for an interval)"),
    ],
)
def test_a_ratio_has_two_digits_of_its_width(found, said):
    assert found.times == said


def test_a_ratio_is_the_second_over_the_first():
    found = bench.ratio(6 * [2.0], 5 * [6.0] + [5.0])
    assert (found.minima, found.medians) == (2.5, 3.0) and found.interval[1] == 3.0
    assert bench.ratio([2.0, 4.0, 3.0], [9.0, 15.0, 12.0]) == Ratio(4.5, 4.0, None)


@pytest.mark.parametrize(("ends", "measurable"), [((1.0, 1.2), False), ((1.01, 1.2), True), ((0.8, 1.0), False)])
def test_a_difference_is_measured_where_the_interval_leaves_one_out(ends, measurable):
    assert Ratio(1, 1, ends).measurable is measurable


# What is planned


CASES = [
    {"setup_s": 1.0, "compile_s": 2.0, "repeats": 3, "samples": [0.5, 0.25]},
    {"setup_s": 0.25, "compile_s": 0.5, "repeats": 10, "samples": [0.125]},
]


def test_an_estimate_is_starting_setup_compiling_and_every_repeat(tmp_path, monkeypatch):
    """5 + (1 + 2 + 3 · 0.75) + (0.25 + 0.5 + 10 · 0.125) s, of the newest record."""
    monkeypatch.setattr(runs, "COMMITTED", tmp_path)
    for date, measured in (("20300101T000000Z", CASES), ("20290101T000000Z", CASES[:1])):
        (tmp_path / f"p5plus-smt_paper_t1_{date}.json").write_text(json.dumps({"measurements": measured}))
    assert suite.estimate(experiments.find("p5plus-smt"), "paper") == 12.25
    assert suite.estimate(experiments.find("p5plus-smt"), "quick") == 8.0  # its budget, whatever that of tests


@pytest.mark.parametrize(("compiled", "seconds"), [(True, 7.0), (False, 22.0)])
def test_a_plan_counts_compiling_where_nothing_is_compiled(tmp_path, monkeypatch, toy_experiment, compiled, seconds):
    monkeypatch.setattr("supercomputers_rerun.kernels.runtime.jit.CACHE_FOLDER", tmp_path)
    if compiled:
        (tmp_path / "stride.nbi").touch()
    monkeypatch.setattr(suite, "estimate", lambda entry, preset: 7.0)
    assert suite.plan(tmp_path, ["toy-sum"], "quick", 1, 0).todo == {"toy-sum": seconds}


@pytest.mark.parametrize(
    ("seconds", "chosen"), [(60, ["a", "c"]), (70, ["a", "b"]), (54, ["a"]), (95, ["a", "b", "c"])]
)
def test_what_fits_is_chosen_in_turn(seconds, chosen):
    planned = suite.Plan("quick", 1, 0, {"a": 30.0, "b": 40.0, "c": 25.0})
    assert list(suite.within(planned, seconds).todo) == chosen


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.4, "1 s"), (89.4, "89 s"), (90, "2 min"), (5340, "89 min"), (5400, "1 h 30 min"), (9000, "2 h 30 min")],
)
def test_seconds_are_said_as_a_reader_says_them(seconds, said):
    assert suite.duration(seconds) == said


def test_a_plan_announces_the_sum_of_its_seconds():
    planned = suite.Plan("quick", 1, 0, {"a": 30.0, "b": 40.0}, done=["c"])
    assert suite.announcement(planned)[0].startswith("2 experiments to measure, about 70 s, longer where")


# Records


def test_a_record_as_a_dataset_has_each_number_in_its_place(record):
    case = record["measurements"][0]
    case |= {"samples": [3.0, 1.0, 2.0, 7.0, 6.0, 9.0], "setup_s": 0.5, "compile_s": 0.25, "repeats": 4}
    case |= {"other_load": 0.125, "batch": 3}
    case["work"] |= {"flops": 11, "bytes_read": 12, "bytes_written": 13}
    record["machine"]["cpu"] |= {"nominal_hz": 2_000_000_000, "measured_hz": 3_000_000_000}
    record["machine"]["memory"]["total_bytes"] = 2**34
    data = runs.dataset(record)
    names = "minimum median maximum median_low median_high setup_s compile_s repeats flops bytes_read bytes_written"
    found = [float(data[name].values[0]) for name in (*names.split(), "other_load", "batch")]
    assert found == [1.0, 4.5, 9.0, 1.0, 9.0, 0.5, 0.25, 4.0, 11.0, 12.0, 13.0, 0.125, 3.0]
    assert data.attrs["clock"] == 3_000_000_000 and data.attrs["memory"] == 2**34
    record["machine"]["cpu"]["measured_hz"] = None
    assert runs.dataset(record).attrs["clock"] == 2_000_000_000


#: 3 GFLOP, 5 GB read and 3 written, by two threads, on a problem of four steps.
ANSWERED = {
    "label": "a case",
    "threads": 2,
    "problem": {"steps": 4},
    "parameters": {},
    "samples": [2.0, 1.0, 4.0],
    "observed": {"wait": [0.5, None, 1.5]},
    "work": {"flops": 3_000_000_000, "bytes_read": 5_000_000_000, "bytes_written": 3_000_000_000},
    "flags": {},
}


@pytest.mark.parametrize(
    ("unit", "per", "of", "values"),
    [
        ("GB/s", "", "", [4.0, 8.0, 2.0]),
        ("GB/s a thread", "threads", "", [2.0, 4.0, 1.0]),
        ("GFLOPS", "", "", [1.5, 3.0, 0.75]),
        ("MFLOPS", "", "", [1500.0, 3000.0, 750.0]),
        ("ms a step", "steps", "", [500.0, 250.0, 1000.0]),
        ("ns", "", "wait", [0.5e9, 1.5e9]),
        ("GB/s", "absent", "", []),
    ],
)
def test_a_case_is_answered_in_the_unit_of_its_experiment(unit, per, of, values):
    assert answers._quantities(ANSWERED, unit, per, of) == pytest.approx(values)


def test_rates_count_what_is_read_and_what_is_written():
    row = answers._row(ANSWERED, "s", "", "", False)
    assert row.rates == {"GB/s": 4.0, "GFLOPS": 1.5} and (row.median, row.low, row.high) == (2.0, 1.0, 4.0)
    many = ANSWERED | {"samples": [3.0, 1.0, 2.0, 7.0, 6.0, 9.0, 8.0, 10.0, 11.0]}  # the second to the last but one
    row = answers._row(many, "s", "", "", True)
    assert (row.median, row.low, row.high, row.samples, row.rates) == (7.0, 2.0, 10.0, 9, {})
    assert answers.Printed("a", "s", 6.0, 5.0, 7.0, "table 1", 2.0).ratio == 3.0


def test_a_machine_is_known_by_rounded_sizes(record):
    machine = copy.deepcopy(record["machine"])
    machine["cpu"]["nominal_hz"], machine["memory"]["total_bytes"] = 2_649_000_000, 25_276_514_304
    kind = {"line_bytes": 64, "ways": 8, "shared_by": 2}
    sizes = [(1, "data", 48 << 10), (1, "instruction", 32 << 10), (2, "unified", 1280 << 10), (3, "unified", 32 << 20)]
    machine["caches"] = [{"level": n, "type": what, "bytes": size} | kind for n, what, size in sizes]
    found = runs.fingerprint(machine)
    assert (found["nominal clock"], found["memory"]) == (2.6, 24.0)  # GHz, GiB: 23.54
    assert found["caches"][0] == (1, "data", 49152, 2)
    traits = runs._traits(machine)
    assert (traits["first cache"], traits["last cache"]) == ("L1 48 KB", "L3 32 MB")
    machine["caches"] = machine["caches"][1:3]
    traits = runs._traits(machine)
    assert (traits["first cache"], traits["last cache"]) == ("L1i 32 KB", "L2 1280 KB")


# Printed numbers


@pytest.mark.parametrize(
    ("text", "half"), [("0.354", 0.0005), ("12e15", 5e14), ("3.5E-3", 5e-5), ("100", 0.5), ("1.20", 0.005), ("7.", 0.5)]
)
def test_half_a_unit_in_the_last_printed_place(text, half):
    assert tables.half_unit(text) == pytest.approx(half)


@pytest.mark.parametrize(
    ("field", "unit", "half"),
    [({}, None, 5.0e-2), ({"resolution": 10}, None, 5.0), ({"exact": True}, None, 0.0), ({}, "count", 0.0)],
)
def test_half_the_resolution_of_a_cell(field, unit, half):
    assert tables.half(field, "12.5", unit) == pytest.approx(half) and math.isnan(tables.half(field, "–", unit))


def test_intervals_are_carried_through_by_hand():
    a, b = Interval(8.0, 7.0, 10.0), Interval(2.0, 1.0, 4.0)
    assert a + b == Interval(10.0, 8.0, 14.0) and a - b == Interval(6.0, 3.0, 9.0)
    assert a * b == Interval(16.0, 7.0, 40.0) and a / b == Interval(4.0, 1.75, 10.0)
    assert 3 - b == Interval(1.0, -1.0, 2.0) and 8 / b == Interval(4.0, 2.0, 8.0)
    assert Interval.around(5.0, 0.5) == Interval(5.0, 4.5, 5.5)


@pytest.mark.parametrize(
    ("value", "digits", "said"), [(1234.6, 2, "1235"), (0.012345, 3, "0.0123"), (2e15, 2, "2.0e+15")]
)
def test_significant_digits(value, digits, said):
    assert common.significant(value, digits) == said


@pytest.mark.parametrize(("nbytes", "said"), [(2**24, "16 MB"), (2**19, "512 KB"), (3 * 2**19, "1536 KB")])
def test_sizes_are_powers_of_two(nbytes, said):
    assert common.size(nbytes) == said


# Figures


@pytest.mark.parametrize(
    ("value", "said"), [(0.01, "0.01"), (9999, "9999"), (20_000, "20 k"), (2e7, "20 M"), (3e9, "3 G"), (2.5e6, "2.5 M")]
)
def test_a_tick_has_no_exponent(value, said):
    assert kit.plain(value).replace("\u2009", " ").replace("\u00a0", " ") == said


@pytest.mark.parametrize(
    ("value", "said"), [(512, "512 B"), (2**14, "16 KB"), (2**21, "2 MB"), (2**30, "1 GB"), (1023, "1023 B")]
)
def test_bytes_are_said_in_powers_of_1024(value, said):
    assert kit.bytes_label(value) == said


def test_every_third_power_of_two_is_labelled():
    _, axis = figures.axes()
    axis.plot([3000, 70_000], [1, 1])
    figures.bytes_axis(axis, [3000, 70_000])
    assert list(axis.get_xticks()) == [2**11, 2**14, 2**17]


ROWS = [
    {"label": "a", "threads": 1, "seconds": [1.0, 2.0, 4.0], "flags": "load"},
    {"label": "b", "threads": 1, "seconds": [8.0, 16.0, 32.0]},
]


def held(frame, *columns):
    return frame[list(columns or ("low", "middle", "high"))].to_numpy().tolist()


def test_few_samples_have_their_range_and_many_their_interval():
    frame = figures.cases(cases(ROWS), "label")
    assert held(kit.intervals(frame)) == [[1, 2, 4], [8, 16, 32]]
    assert kit.intervals(frame)["flagged"].tolist() == [True, False]
    frame["median_low"], frame["median_high"] = 1.5, 2.5
    assert held(kit.intervals(frame))[0] == [1.5, 2.0, 2.5]
    found = kit.of_samples([[3, 1, 2, 7, 6, 9, 8, 10, 11.0], [2.0, np.nan, 4.0] + 6 * [np.nan]], ["", "load"])
    assert held(found) == [[2, 7, 10], [2, 3, 4]] and found["flagged"].tolist() == [False, True]


def test_a_rate_falls_with_time_and_a_share_of_it_rises():
    frame = kit.of_samples([[1.0, 2.0, 4.0]], [""])
    assert held(kit.converted(frame, lambda seconds: 8 / seconds)) == [[2, 4, 8]]
    assert held(kit.converted(frame, lambda seconds: 10 * seconds)) == [[10, 20, 40]]


def test_the_ends_of_a_quotient_lie_farthest_apart():
    above, below = kit.of_samples([[6.0, 12.0, 24.0]], [""]), kit.of_samples([[1.0, 2.0, 3.0]], ["load"])
    found = kit.quotient(above, below)
    assert held(found) == [[2, 6, 24]] and found["flagged"].tolist() == [True]


def test_ratios_of_few_samples_end_at_their_extremes():
    """1 to 4 s over 8 to 32 s: from 1/32 to 4/8."""
    run = cases(ROWS)
    found = figures.ratios(run, [0, 1], [1, 0])
    assert held(found) == [[1 / 32, 1 / 8, 1 / 2], [2, 8, 32]] and found["flagged"].all()
    assert held(figures.ratios(run, [1], 1)) == [[1 / 4, 1, 4]]
    many = cases([{"label": "a", "seconds": 6 * [2.0]}, {"label": "b", "seconds": 6 * [5.0]}])
    assert held(figures.ratios(many, [1], [0])) == [[2.5, 2.5, 2.5]]


def test_a_quantity_keeps_its_ends_under_its_name():
    frame = figures.quantities(figures.cases(cases(ROWS), "label"), rate=lambda seconds: 32 / seconds)
    assert held(frame, "rate_low", "rate", "rate_high") == [[8, 16, 32], [1, 2, 4]]
    assert held(kit.spread_of(frame, "rate"))[0] == [8, 16, 32]
    both = kit.with_spread(pd.DataFrame({"x": [1]}), a=kit.of_samples([[1.0]], [""]), b=kit.of_samples([[2.0]], ["l"]))
    assert both["flagged"].tolist() == [True]


# The host


@pytest.mark.parametrize(("text", "nbytes"), [("48K", 49152), ("2M", 2097152), ("1G", 2**30), ("64", 64), ("x", None)])
def test_sizes_of_the_system(text, nbytes):
    assert host._bytes(text) == nbytes


def test_no_processor_of_this_architecture_reaches(monkeypatch):
    """Two units of 16 singles, a multiplication and an addition each; two loads and a store of 64 bytes; 6.5 GHz."""
    monkeypatch.setattr(host.platform, "machine", lambda: "x86_64")
    assert host.ceiling() == {"flops": 2 * 16 * 2 * 6.5e9, "bytes": 3 * 64 * 6.5e9}


@pytest.mark.parametrize(("most", "counts"), [(1, [1]), (2, [1, 2]), (6, [1, 2, 4, 6]), (8, [1, 2, 4, 8])])
def test_a_sweep_counts_by_powers_of_two_to_the_most(most, counts):
    assert experiments.counts_to(most) == counts
