"""Everything the host can measure: what is planned, kept, left out, and taken up again."""

import signal
import time
from dataclasses import replace
from functools import partial

import pytest

from supercomputers_rerun.companion import bench, experiments, suite
from supercomputers_rerun.companion.records import runs


@pytest.fixture
def bench_of_three(call, toy_experiment, make_toy, monkeypatch, tmp_path):
    """``bench_of_three(*arguments)``: ``bench`` on a register of three: one works, one lacks MPI, one has no quick."""
    lacking = replace(toy_experiment, id="toy-lacking", needs=frozenset({"mpi"}))
    large = replace(toy_experiment, id="toy-large", presets=("paper",))
    register = {entry.id: entry for entry in (toy_experiment, lacking, large)}
    monkeypatch.setattr(experiments, "REGISTER", register)
    monkeypatch.setattr(
        experiments, "unavailable", lambda entry: f"{entry.id} needs MPI: none found" if entry.needs else None
    )

    return partial(call, "bench", "--out", tmp_path / "kept", "--threads", 1)


def test_what_can_be_measured_is_and_the_rest_is_a_sentence(bench_of_three, tmp_path):
    code, out, err = bench_of_three()
    assert (code, err) == (0, "")
    (path,) = (tmp_path / "kept").iterdir()
    assert runs.read(path)["experiment"] == "toy-sum"
    assert "1 experiment to measure, about" in out and "1 of 1: toy-sum" in out
    assert "left out: toy-lacking needs MPI: none found" in out
    assert "left out: toy-large has no preset quick; it has paper" in out


def test_a_second_call_goes_on_where_the_first_ended(bench_of_three, tmp_path, toy):
    bench_of_three()
    calls = toy.calls
    code, out, _ = bench_of_three()
    assert code == 0 and "0 experiments to measure" in out and "1 done before" in out
    assert toy.calls == calls and len(list((tmp_path / "kept").iterdir())) == 1
    assert "1 experiment to measure" in bench_of_three("--seed", 1)[1]


def test_a_record_of_other_source_is_no_reason_to_skip(bench_of_three, tmp_path, monkeypatch):
    bench_of_three()
    described = experiments.host.describe()
    changed = described | {"provenance": described["provenance"] | {"commit": "0" * 40}}
    monkeypatch.setattr(suite.host, "describe", lambda *_: changed)
    assert "0 done before" in bench_of_three("--plan")[1]


def test_an_interruption_keeps_what_is_done(bench_of_three, tmp_path, monkeypatch, toy_experiment):
    experiments.REGISTER["toy-second"] = replace(toy_experiment, id="toy-second")
    run_record = experiments.run_record

    def interrupted(name, *asked, **options):
        if name == "toy-second":
            raise KeyboardInterrupt
        return run_record(name, *asked, **options)

    with monkeypatch.context() as patch:
        patch.setattr(experiments, "run_record", interrupted)
        assert bench_of_three()[0] == 130
    (path,) = (tmp_path / "kept").iterdir()
    code, out, _ = bench_of_three()
    assert code == 0 and "1 done before" in out and "1 of 1: toy-second" in out
    assert path.exists() and len(list((tmp_path / "kept").iterdir())) == 2


def test_a_wrong_result_leaves_the_others_alone(bench_of_three, tmp_path, toy, make_toy, toy_experiment):
    wrong = make_toy(wrong_from=1)
    bad = replace(toy_experiment, id="toy-bad", cases=lambda p, t: [bench.Case("bad", wrong, toy.Problem(), t)])
    experiments.REGISTER["toy-bad"] = bad
    code, out, err = bench_of_three()
    assert code == 3 and "no record of toy-bad" in err
    assert "toy-bad: no record." in out and "not reported" in out
    assert len(list((tmp_path / "kept").iterdir())) == 1


def test_what_others_disturbed_is_measured_again_until_it_is_quiet(bench_of_three, tmp_path, monkeypatch):
    """Two of four records are disturbed; the third is quiet, and the last is never asked for."""
    busy = iter([2.0, 2.0, 0.0, 0.0])
    monkeypatch.setattr(bench.OtherLoad, "value", lambda *_: load)
    run_record = experiments.run_record

    def seen(*asked, **options):
        nonlocal load
        load = next(busy)
        return run_record(*asked, **options) | {"date": f"203{int(load)}-01-01T00:00:00Z"}

    load = 0.0
    monkeypatch.setattr(experiments, "run_record", seen)
    code, out, _ = bench_of_three("--again", 5)
    assert code == 0 and "again, 1 of 5: toy-sum: 2 doubtful cases for 2; the earlier record stays" in out
    assert "again, 2 of 5: toy-sum: 0 doubtful cases for 2" in out and "again, 3" not in out
    assert next(busy) == 0.0
    kept = [runs.read(path) for path in (tmp_path / "kept").iterdir()]
    assert sorted(suite.doubtful_cases(record) for record in kept) == [0, 2]


def test_a_later_call_measures_again_what_an_earlier_one_left_doubtful(bench_of_three, tmp_path, monkeypatch, toy):
    """The first record is disturbed; the second call has no tries, the third finds a quiet hour, the fourth nothing."""
    load = 2.0
    monkeypatch.setattr(bench.OtherLoad, "value", lambda *_: load)
    run_record, years = experiments.run_record, iter(range(2030, 2040))
    monkeypatch.setattr(
        experiments,
        "run_record",
        lambda *asked, **options: run_record(*asked, **options) | {"date": f"{next(years)}-01-01T00:00:00Z"},
    )
    bench_of_three()
    calls = toy.calls
    code, out, _ = bench_of_three()
    assert code == 0 and "doubtful, as others kept CPUs busy or samples moved: toy-sum; --again 3 repeats them" in out
    assert toy.calls == calls
    load = 0.0
    code, out, _ = bench_of_three("--again", 2, "--plan")
    assert code == 0 and "toy-sum; measured up to 2 times again, about " in out and " s, again\n" in out
    assert toy.calls == calls
    code, out, _ = bench_of_three("--again", 2)
    assert code == 0 and "again, 1 of 2: toy-sum: 0 doubtful cases for 2" in out and "1 record written" in out
    assert toy.calls > calls
    calls = toy.calls
    code, out, _ = bench_of_three("--again", 2)
    assert code == 0 and "1 done before" in out and "doubtful" not in out and toy.calls == calls
    kept = sorted((tmp_path / "kept").iterdir())
    assert [suite.doubtful_cases(runs.read(path)) for path in kept] == [2, 0]


def test_what_cannot_be_measured_again_stays(bench_of_three, tmp_path, monkeypatch):
    monkeypatch.setattr(bench.OtherLoad, "value", lambda *_: 2.0)
    bench_of_three()

    def refuse(*_, **__):
        raise MemoryError("the toy needs 3 GiB")

    monkeypatch.setattr(experiments, "run_record", refuse)
    code, out, err = bench_of_three("--again", 2)
    assert (code, err) == (0, "") and "toy-sum: no record, the earlier one stays. the toy needs 3 GiB" in out
    assert "again, 2" not in out and len(list((tmp_path / "kept").iterdir())) == 1


def test_a_plan_names_each_experiment_with_its_time(bench_of_three, tmp_path):
    code, out, _ = bench_of_three("--plan")
    assert code == 0 and "  toy-sum " in out and not (tmp_path / "kept").exists()


def test_minutes_are_a_deadline(bench_of_three, tmp_path, toy, toy_experiment, monkeypatch):
    """One experiment takes longer than was planned and is ended; for the next no time is left."""
    experiments.REGISTER["toy-next"] = replace(toy_experiment, id="toy-next")
    monkeypatch.setattr(suite, "estimate", lambda entry, preset: 0.5)
    monkeypatch.setattr(suite, "COMPILING", 0)
    monkeypatch.setattr(toy, "run", lambda *_, **__: time.sleep(30))
    begun = time.monotonic()
    code, out, err = bench_of_three("--minutes", 2 / 60)
    assert code == 2 and "ended within --minutes 0.0333333, of toy-sum, toy-next: end what else" in err
    assert time.monotonic() - begun < 10
    assert "1 of 2: toy-sum: dropped after " in out and "toy-next" not in out
    assert list((tmp_path / "kept").iterdir()) == []
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


@pytest.mark.parametrize("minutes", [0, -1])
def test_minutes_are_above_zero(bench_of_three, minutes):
    code, _, err = bench_of_three("--minutes", minutes)
    assert code == 2 and f"--minutes {minutes} must be above zero" in err


@pytest.mark.parametrize(
    ("arguments", "message"), [(["absent"], "'absent' is unknown"), (["--preset", "huge"], "preset = 'huge'")]
)
def test_bad_requests_are_one_sentence(bench_of_three, tmp_path, arguments, message):
    code, _, err = bench_of_three(*arguments)
    assert code == 2 and message in err and "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


def test_where_nothing_is_compiled_a_plan_counts_compiling(bench_of_three, tmp_path, monkeypatch):
    monkeypatch.setattr("supercomputers_rerun.kernels.runtime.jit.CACHE_FOLDER", tmp_path)
    assert "most of it compiling" in bench_of_three("--plan")[1]
    (tmp_path / "stride.nbi").touch()
    assert "longer where code is not compiled yet" in bench_of_three("--plan")[1]
