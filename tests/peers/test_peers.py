"""The peer framework: what is checked, timed, said and kept; and our C sources."""

import importlib
import importlib.metadata
import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from supercomputers_rerun import peers
from supercomputers_rerun.peers import Absent, Comparison, collect, measure, ratios, relative_difference
from supercomputers_rerun.peers.__main__ import main
from supercomputers_rerun.peers.kit import compiled

HAS_C = bool(compiled.compilers())


def test_every_module_offers_comparisons():
    for name in peers.modules():
        assert callable(importlib.import_module(f"supercomputers_rerun.peers.{name}").comparisons)
    assert {"memory", "smt"} <= set(peers.modules())


def names(sides) -> list[str]:
    return [side["parameters"]["side"] for side in sides]


def test_a_peer_with_another_answer_is_not_timed(comparison):
    answers = {"same": lambda: 1.0, "other": lambda: 1.5, "nan": lambda: float("nan")}
    sides, wrong = measure(comparison(peers=answers), threads=1, rounds=2, seed=0)
    assert names(sides) == ["ours", "same"] and [len(side["samples"]) for side in sides] == [2, 2]
    assert list(map(str, wrong)) == [
        "other (another answer for g, l: distance 0.5)",
        "nan (another answer for g, l: distance nan)",
    ]


def test_both_sides_are_asked_for_the_same_repeats(monkeypatch, comparison):
    asked = {"ours": [], "peer": []}

    def side(name):
        def call(repeats=1):
            asked[name].append(repeats)
            return 1.0

        return call

    monkeypatch.setattr(peers, "calibrate", lambda call, shortest, label: (7, shortest, None))
    monkeypatch.setattr(
        "supercomputers_rerun.peers.interleave",
        lambda functions, rounds, seed: {name: [function(1) * 14.0] * rounds for name, function in functions.items()},
    )
    sides, _ = measure(comparison(ours=side("ours"), peers={"peer": side("peer")}), threads=1, rounds=2, seed=0)
    assert asked == {"ours": [1, 7], "peer": [1, 7]}  # checked once, then timed
    assert [side["samples"] for side in sides] == [[2.0, 2.0], [2.0, 2.0]]  # seconds of one repeat


def test_ratios_are_peer_over_ours():
    assert ratios({"samples": [1.0, 2.0, 2.0]}, {"samples": [0.5, 1.0, 3.0]}) == (0.5, 0.5)


def test_relative_difference():
    assert relative_difference([1.0, 2.0], [1.0, 2.0]) == 0
    assert relative_difference([1.0, 2.2], [1.0, 2.0]) == pytest.approx(0.1)
    assert relative_difference([1.0], [1.0, 2.0]) == float("inf")
    assert relative_difference([], []) == 0


def test_a_trial_leaves_the_fastest_builds_to_the_rounds(monkeypatch, comparison):
    """Three calls in turns, or only that which checks where it is long; other peers are timed whatever they take."""
    clock, cost = [0.0], {"a": 0.4, "b": 0.1, "c": 0.3, "d": 0.2, "slow": 9.0}
    calls = []

    def side(name):
        def call():
            calls.append(name)
            clock[0] += cost[name]
            return 1.0

        return call

    monkeypatch.setattr("supercomputers_rerun.peers.time.perf_counter", lambda: clock[0])
    monkeypatch.setattr(
        "supercomputers_rerun.peers.interleave",
        lambda functions, rounds, seed: {name: [1.0] * rounds for name in functions},
    )
    sides, _ = measure(comparison(peers={name: side(name) for name in cost}, builds="abcd"), 1, rounds=2, seed=0)
    assert names(sides) == ["ours", "b", "d", "slow"]
    assert sides[0]["observed"] == {"trial of c": pytest.approx([0.3]), "trial of a": pytest.approx([0.4])}
    assert calls == [*cost, *"abcd" * 3]
    sides, _ = measure(comparison(peers={name: side(name) for name in "ab"}, builds="ab"), 1, rounds=2, seed=0)
    assert names(sides) == ["ours", "a", "b"] and sides[0]["observed"] == {}
    calls.clear()
    cost |= {name: 10 * seconds for name, seconds in cost.items()}
    sides, _ = measure(comparison(peers={name: side(name) for name in "abcd"}, builds="abcd"), 1, rounds=2, seed=0)
    assert names(sides) == ["ours", "b", "d"] and calls == [*"abcd"]


def test_a_run_is_said_and_kept_as_a_record_of_kind_peer(tmp_path, capsys, comparison, offered, kept):
    offered([comparison(), Absent("ghost", "GHOST is unset")])
    options = ["--threads", "1", "--rounds", "3", "--seed", "5", "--out", str(tmp_path / "a" / "b")]
    assert main(["smt", "smt", *options]) == 0
    record = kept(tmp_path / "a" / "b")
    assert (record["kind"], record["item"], record["threads"], record["seed"]) == ("peer", "smt", 1, 5)
    assert record["absent"] == [{"threads": 1, "name": "ghost", "reason": "GHOST is unset"}]
    ours, peer = record["measurements"]
    assert ours["parameters"] == {"family": "g", "case": "l", "side": "ours"} and len(ours["samples"]) == 3
    assert peer["checks"][0]["value"] == 0 and peer["label"] == "g: l, 1 thread, same"
    assert record["software"]["ours"].startswith("numba -O") and record["machine"]["software"]["numba"]
    said = capsys.readouterr().out
    assert "same" in said and "ghost (GHOST is unset)" in said and "kept in" in said


def test_a_comparison_beside_other_load_is_measured_again(monkeypatch, tmp_path, comparison, offered, kept):
    loads = [0.5, 0.4, 0.1]
    monkeypatch.setattr("supercomputers_rerun.peers.OtherLoad", lambda: SimpleNamespace(value=lambda: loads.pop(0)))
    offered([comparison()])
    assert main(["smt", "--threads", "1", "--rounds", "1", "--out", str(tmp_path)]) == 0
    assert loads == [] and [side["other_load"] for side in kept(tmp_path)["measurements"]] == [0.1, 0.1]


def test_disagreement_fails_the_run(capsys, comparison, offered):
    offered([comparison(peers={"other": lambda: 2.0})])
    assert main(["smt", "--threads", "1", "--rounds", "1"]) == 1
    assert "another answer" in capsys.readouterr().out


@pytest.mark.skipif(not HAS_C, reason="no C compiler is found")
def test_our_c_sources_agree_with_us(monkeypatch):
    """Every comparison of both modules gives one answer on both sides, on small data, untimed."""
    from supercomputers_rerun.peers import memory, smt

    monkeypatch.setattr(memory, "available_memory", lambda: 6 * 2**23)
    monkeypatch.setattr(smt, "N", {**smt.N, "streaming": 1000, "skipping": 1000})
    monkeypatch.setattr(compiled, "OPTION_SETS", {"C": ("-O1", "-march=native")})
    groups = {}
    for item in itertools.chain(collect("memory", 1), collect("smt", 1)):
        if isinstance(item, Comparison):
            ours = item.ours()
            assert all(item.check(ours, peer()) <= item.tolerance for peer in item.peers.values()), item.label
            groups[item.group] = groups.get(item.group, 0) + 1
    assert groups["stride bandwidth"] >= 40 and groups["random latency"] >= 4
    assert sum(count for group, count in groups.items() if group.startswith("SMT loops")) >= 5
    assert "triad, plain" in groups


@pytest.mark.skipif(not HAS_C, reason="no C compiler is found")
@pytest.mark.parametrize("option", ["-ffast-math", "-Ofast"])
def test_a_fast_library_leaves_our_own_arithmetic_alone(option):
    """Loaded the usual way it would make this process flush subnormal numbers to zero."""
    for path in compiled.compilers().values():
        compiled.build("smt.c", ("-O1", option), path)
    assert np.all(np.full(64, np.finfo(float).tiny) / 4 > 0)
