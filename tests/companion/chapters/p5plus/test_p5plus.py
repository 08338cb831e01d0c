"""Chapter 4: outputs of made-up times, the arithmetic of its figures, and what each experiment measures."""

from types import SimpleNamespace

import numpy as np
import pytest
from drawing import cases

from supercomputers_rerun.companion import experiments, host, tables
from supercomputers_rerun.companion.chapters.p5plus import binding, cycles, jobs, latency, loops, messages, monitoring
from supercomputers_rerun.companion.chapters.p5plus.words import about
from supercomputers_rerun.companion.host import Finding


def measurement(median, **parameters):
    return SimpleNamespace(median=median, parameters=parameters)


#: Seconds of every loop on a machine with two threads a core: S = 2 · 1/T2 and f = T(n)/T(2n) are the report's.
TIMES = {
    "one thread": 1.0,
    "two fused streams": 1.25,
    "SMT": 2 / 1.35,
    "shared work": 1.8,
    "shared work, two threads on one core": 1.5,
    "shared work, twice the threads": 1.0,
}


def factors(times):
    found = [measurement(seconds, loop=loop, kind=kind) for loop in loops.LOOPS for kind, seconds in times.items()]
    return {name: output["value"] for name, output in experiments.find("p5plus-smt").outputs(found).items()}


def test_the_model_with_smt_is_the_reports_arithmetic():
    found = factors(TIMES)
    for name, value in {"S": 1.35, "S_fused": 1.6, "f": 1.8, "speedup": 1.35 * 1.8 / 2, "speedup_timed": 1.2}.items():
        assert found[name] == pytest.approx(5 * [value]), name


def test_without_smt_or_a_second_core_nothing_is_invented():
    alone = factors({kind: TIMES[kind] for kind in ("one thread", "two fused streams")})
    assert np.isnan([alone[name] for name in ("S", "f", "speedup", "speedup_timed")]).all()
    one_core = factors({kind: seconds for kind, seconds in TIMES.items() if "twice" not in kind})
    assert np.isnan([one_core["f"], one_core["speedup"]]).all() and one_core["S"] == pytest.approx(5 * [1.35])


@pytest.mark.parametrize("smt", [True, False])
def test_two_threads_a_core_are_measured_only_where_cores_have_them(monkeypatch, smt):
    monkeypatch.setattr(host, "smt", lambda: Finding("SMT", smt, ""))
    monkeypatch.setattr(host, "usable_cpus", lambda: 2)
    monkeypatch.setattr(loops, "cores", lambda: 1)
    kinds = {case.parameters["kind"] for case in loops.loops.cases("quick", 1)}
    assert {"one thread", "two fused streams", "shared work"} <= kinds and ("SMT" in kinds) is smt
    for case in loops.loops.cases("quick", 1):
        fused = "fused" in case.parameters["kind"]
        assert fused == (getattr(case.problem, "streams", 1) == 2) == (case.parameters["streams"] == 2)
        assert not (fused and case.parameters["loop"] == loops.PRODUCT)
    assert {bool(case.parameters["doubled"]) for case in binding.changes.cases("quick", 1)} == {False, smt}


@pytest.mark.parametrize(("siblings", "cores"), [([[0, 2], [1, 3]], 2), ([[0, 1], [2, 3]], 1), (None, 2)])
def test_cores_count_what_this_process_may_use(monkeypatch, siblings, cores):
    monkeypatch.setattr(host, "affinity_cpus", lambda: [0, 1])
    monkeypatch.setattr(host, "smt_siblings", lambda: siblings)
    assert loops.cores() == cores


def test_a_walk_stands_at_the_cache_lines_that_it_loads():
    about = {"label": "a case", "threads": 1, "pages": "huge", "loads": 1000}
    rows = [{**about, "pattern": way, "nbytes": 2**20, "seconds": 3 * [1e-6]} for way in ("random", "stride")]
    found = latency.lines(cases(rows, reported_capacity=("cache", [2**15]))).set_index("pattern")
    assert found["touched"].to_dict() == {"random": 2**20, "stride": 2**14} and found["ns"].tolist() == [1.0, 1.0]


def test_the_parts_of_a_job_add_up_to_its_wall_time_and_those_of_ranks_to_all_of_it():
    spent = jobs.times()
    assert (abs(spent.sum(axis=1) - tables.load("p5plus", "ifs_times")["wall"].to_series()) <= 4).all()
    parts = {"compute": 6.0, "communication": 2.0, "barrier": 1.0, "serial": 0.4, "output": 0.2}
    rows = [
        {
            "label": "a",
            "threads": 1,
            "ranks": n,
            "seconds": 3 * [20.0 / n],
            "observed": {k: 3 * [v] for k, v in parts.items()},
        }
        for n in (1, 2)
    ]
    shown = jobs.shares([cases(rows)])
    today = shown.data[shown.data["job"].str.contains("spectral model, 2 ranks")].set_index("section")["share [%]"]
    assert today.tolist() == pytest.approx([60.0, 20.0, 10.0, 4.0, 2.0, 4.0]) and today.index.tolist() == [*spent]


def test_what_two_ranks_lack_to_a_doubling_is_said_where_it_is_measurable():
    """Of 5.8 s they wait 0.4 s and send for 0.1 s."""
    about = {"label": "a", "threads": 1}
    rows = [{**about, "ranks": n, "seconds": 6 * [s], "observed": {"communication": 6 * [m], "barrier": 6 * [b]}}
            for n, s, m, b in ((1, 10.0, 0.0, 0.0), (2, 5.8, 0.1, 0.4))]  # fmt: skip
    said = jobs.scaled(cases(rows))
    assert "1.7 times as fast as one, measurably less than twice" in said and "9 % of their time" in said
    rows[1] |= {"seconds": 6 * [5.0], "observed": {"communication": 6 * [0.1], "barrier": 6 * [0.3]}}
    assert "2.0 times as fast as one." in jobs.scaled(cases(rows))


def test_what_the_chapter_says_of_power_is_printed():
    equal, error = tables.printed("p5plus", "power_performance").set_index("system"), tables.load("p5plus", "prose")
    low, high = (equal["power"] * (1 + sign * float(error["power_error"]) / 100) for sign in (-1, 1))
    assert equal["power"].idxmin() == equal["cpus"].idxmax() == "BlueGene L" and equal["power"].idxmax() == "JS21 Blade"
    assert high["BlueGene L"] > low["Power5+"]


def test_what_a_change_gains_is_the_time_without_it_over_the_time_with_all():
    about = {"label": "a case", "threads": 2, "steps": 48}
    seconds = {"": 1.0, "medium pages": 1.1, "binding, basic": 1.25, "two threads a core smt": 0.8}
    run = cases([{**about, "without": name, "seconds": 6 * [time]} for name, time in seconds.items()])
    gain = binding.listed(run).set_index("change")["today"].dropna()
    assert gain.to_dict() == pytest.approx(
        {"medium pages": 10.0, "binding, basic": 25.0, "a second thread on each processor": 25.0}
    )
    assert "3 of 3 changes that we tried change the time" in binding.gains([run]).alt


def test_changes_without_a_measurable_difference_say_so():
    about = {"label": "a case", "threads": 2, "steps": 48, "seconds": [0.9, 1.1, 1.0, 0.95, 1.05, 1.0]}
    run = cases([{**about, "without": name} for name in ("", "medium pages")])
    said = binding.gains([run]).alt
    assert "No change that we tried" in said and said.count("no measurable difference") == 1


def test_runs_of_today_cannot_show_a_gain_of_a_tenth_as_the_register_of_items_says():
    today = binding.listed(binding.changes.runs()[0])[["today_low", "today_high"]].dropna()
    assert len(today) == 3 and (today["today_high"] - today["today_low"] > 2 * 10).all()


def test_exchange_counts_all_pairs_together():
    about = {"label": "a case", "threads": 1, "ranks": 2}
    rows = [{**about, "nbytes": k * 10**6, "pairs": n, "seconds": 3 * [float(k * n)]} for n in (1, 4) for k in (1, 2)]
    shown = messages.exchanged([cases(rows)])
    assert shown.data["MB_per_s"].tolist() == [1.0, 1.0, 0.25, 0.25] and set(shown.data["all_pairs_MB_per_s"]) == {1.0}


def test_gains_of_2006_are_times_without_over_times_with():
    """SMT: 182/152 to 202/159. Binding: 202/193 to 195/182 with one thread a processor, 155/152 to 159/155 with two."""
    assert "20 to 27 % faster" in loops.predicted(loops.loops.runs()[0])
    said = binding.multiplied()
    assert "up to 7 % with one thread on a processor, and up to 3 % with two" in said and "1.57 times" in said


def interrupted(**waits):
    """A run of sensors whose ranks compute for 1 s, and take 0.1 s for sensors; each way waits for so many seconds."""
    about = {"label": "a", "threads": 1, "ranks": 2}
    computing = {"none": 1.0} | dict.fromkeys(("synchronised", "drifted"), 1.1)
    return cases([{**about, "way": way, "seconds": 6 * [computing[way] + wait],
                   "observed": {"compute": 6 * [computing[way]], "wait": 6 * [wait]}}
                  for way, wait in waits.items()])  # fmt: skip


def test_interruptions_in_turn_cost_each_rank_those_of_the_others():
    run = interrupted(none=0.01, synchronised=0.01, drifted=0.11)
    assert monitoring.lost(run) == pytest.approx((0.1, 0.1, 0.2))
    assert "loses about twice as much" in monitoring.charged(run) and "about twice" in monitoring.disturbed(run)
    shown = monitoring.spent([run])
    assert "cost about twice as much as at the same time" in shown.words.title
    assert shown.data["sensor"].tolist() == pytest.approx([0, 10, 10])
    assert shown.data["wait"].tolist() == pytest.approx([1, 1, 11])
    busy = run.assign(flags=("case", ["", "", "load: others kept 1.9 CPUs busy"]))
    rows = [label.get_text() for label in monitoring.spent([run, busy]).figure.axes[0].get_yticklabels()]
    assert [row.endswith(", doubtful") for row in rows] == [False] * 5 + [True]


def test_where_interruptions_in_turn_cost_no_more_the_sentences_fail_and_the_title_turns():
    run = interrupted(none=0.01, synchronised=0.02, drifted=0.02)
    for said in (monitoring.charged, monitoring.disturbed):
        with pytest.raises(AssertionError):
            said(run)
    assert "cost" not in monitoring.spent([run]).words.title


@pytest.mark.parametrize(
    ("factor", "said"),
    [(1.23, "1.2 times"), (1.9, "about twice"), (8.6, "about nine times"), (12.2, "about twelve times"),
     (18.6, "about 19 times"), (141.0, "about 140 times")],
)  # fmt: skip
def test_factors_are_said_as_one_says_them(factor, said):
    assert about(factor) == said


def test_the_parts_of_the_cycles_are_all_of_them():
    assert cycles.shares().sum(axis=1).tolist() == pytest.approx(3 * [100.0], abs=0.2)
    assert "62 % of its cycles" in cycles.waits()
