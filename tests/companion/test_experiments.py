"""The register: what its runs are, and that every entry in it holds together."""

import dataclasses
import os
import subprocess
import sys

import numpy as np
import pytest

from supercomputers_rerun.companion import experiments, host
from supercomputers_rerun.companion.experiments import Experiment, Unavailable, run_record
from supercomputers_rerun.companion.host import Finding
from supercomputers_rerun.companion.records import runs
from supercomputers_rerun.kernels.contract import Refused


def entry(**changes):
    fields = {"id": "toy-other", "document": "toy", "item": "T2", "title": "Other", "cases": lambda *_: []}
    return Experiment(**{**fields, **changes})


@pytest.fixture(autouse=True)
def own_register(monkeypatch):
    monkeypatch.setattr(experiments, "REGISTER", dict(experiments.REGISTER))


def test_a_run_is_a_dataset(toy_experiment):
    experiments.REGISTER["toy-sum"] = toy_experiment
    data = toy_experiment.run(preset="paper", progress=False)
    assert list(data.label.values) == ["n = 1000"]
    assert data.sizes["sample"] == 3
    assert data.attrs["preset"] == "paper" and data.attrs["item"] == "T1"
    assert data.cases.item() == 1


def test_a_record_holds_what_was_asked(toy_experiment):
    experiments.REGISTER["toy-sum"] = toy_experiment
    record = run_record("toy-sum", seed=4, rounds=2, progress=False)
    assert runs.validate(record) is record
    assert (record["seed"], record["preset"], record["threads"]) == (4, "quick", 1)
    assert record["simulated"] is False
    assert all(len(case["samples"]) == 2 for case in record["measurements"])
    assert record["machine"]["usable"]["cpus"] >= 1


def test_unmet_needs_are_one_sentence_with_the_remedy(monkeypatch):
    absent = Finding("SMT", False, "every core shows one thread", "enable it")
    monkeypatch.setitem(host.NEEDS, "smt", lambda: absent)
    experiments.REGISTER["toy-other"] = entry(needs=frozenset({"smt"}))
    with pytest.raises(Unavailable, match="^toy-other needs SMT: every core shows one thread; enable it$"):
        run_record("toy-other")
    monkeypatch.setitem(host.NEEDS, "smt", lambda: Finding("SMT", True, "yes"))
    assert experiments.unavailable(experiments.REGISTER["toy-other"]) is None


def test_a_model_without_cases_is_marked_as_simulated():
    outputs = {"clock": {"value": [1.0, 2.0], "units": "s", "dims": ["step"]}}
    experiments.REGISTER["toy-other"] = made = entry(outputs=lambda measurements: outputs, simulated=True)
    data = made.run()
    assert data.attrs["simulated"] == 1
    np.testing.assert_array_equal(data.clock, [1.0, 2.0])


def test_a_list_waits_for_no_library_that_it_does_not_need():
    code = (
        "import sys; from supercomputers_rerun.companion import experiments as e; "
        "print({'numpy', 'pandas', 'matplotlib'} & {*sys.modules}, e.BROKEN)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "set() {}\n"


REGISTERED = list(experiments.REGISTER)


@pytest.mark.parametrize("name", REGISTERED)
def test_every_entry_gives_distinct_cases_of_real_kernels(name):
    found = experiments.REGISTER[name]
    assert found.id.startswith(found.document)
    assert "quick" in found.presets
    assert set(found.budgets) <= set(found.presets)
    if experiments.unavailable(found):
        return
    for preset in found.presets:
        cases = found.cases(preset, 1)
        assert cases or found.outputs
        labels = [case.label for case in cases]
        assert len(set(labels)) == len(labels)
        for case in cases:
            assert case.threads >= 1
            assert all(callable(getattr(case.kernel, word)) for word in ("setup", "run", "verify", "work"))


def test_the_environment_shortens_timings(toy_experiment, monkeypatch):
    assert toy_experiment.seconds("quick") == float(os.environ["RERUN_BUDGET"])
    monkeypatch.setenv("RERUN_BUDGET", "0.5")
    assert toy_experiment.seconds("quick") == toy_experiment.seconds("paper") == 0.5
    assert dataclasses.replace(toy_experiment, kind="study").seconds("quick") == toy_experiment.budgets["quick"]
    monkeypatch.delenv("RERUN_BUDGET")
    assert toy_experiment.seconds("quick") == toy_experiment.budgets["quick"]
    assert toy_experiment.seconds("paper") is None


@pytest.mark.parametrize("wrong", [{"preset": "papre"}, {"threads": 4096}])
def test_a_wrong_parameter_is_one_sentence_in_a_notebook(toy_experiment, wrong):
    with pytest.raises(Refused) as refused:
        experiments.find("toy-sum").run(**wrong)
    (sentence,) = refused.value._render_traceback_()
    assert sentence.startswith(f"ValueError: {next(iter(wrong))} = ")
