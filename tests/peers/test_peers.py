"""The peer framework: what is checked, timed, summarised and said; and our C sources."""

import importlib
import importlib.metadata

import numpy as np
import pytest

import peers
from peers import Absent, Comparison, Row, collect, measure, relative_difference
from peers.__main__ import main
from peers.kit import compiled

HAS_C = bool(compiled.compilers())


def test_every_module_offers_comparisons():
    for name in peers.modules():
        assert callable(importlib.import_module(f"peers.{name}").comparisons)
    assert {"memory", "smt"} <= set(peers.modules())


def test_a_peer_with_another_answer_is_not_timed(comparison):
    row = measure(
        comparison(peers={"same": lambda: 1.0, "other": lambda: 1.1, "nan": lambda: float("nan")}), rounds=2, seed=0
    )
    assert list(row.peers) == ["same"] and len(row.ours) == 2
    assert row.wrong["other"] == pytest.approx(0.1)
    assert np.isnan(row.wrong["nan"])


def test_both_sides_are_asked_for_the_same_repeats(monkeypatch, comparison):
    asked = {"ours": [], "peer": []}

    def side(name):
        def call(repeats=1):
            asked[name].append(repeats)
            return 1.0

        return call

    monkeypatch.setattr(peers, "calibrate", lambda call, shortest, label: (7, shortest))
    monkeypatch.setattr(
        "peers.interleave",
        lambda functions, rounds, seed: {name: [function() * 14.0] * rounds for name, function in functions.items()},
    )
    row = measure(comparison(ours=side("ours"), peers={"peer": side("peer")}), rounds=2, seed=0)
    assert asked == {"ours": [1, 7], "peer": [1, 7]}  # checked once, then timed
    assert row.ours.tolist() == row.peers["peer"].tolist() == [2.0, 2.0]  # seconds of one repeat


def test_ratios_are_peer_over_ours():
    theirs = {"slow": np.array([2.0, 4.0, 4.0]), "fast": np.array([0.5, 1, 3])}
    row = Row("g", "l", np.array([1.0, 2.0, 2.0]), theirs)
    assert (row.ratio_min("slow"), row.ratio_median("slow")) == (2, 2)
    assert (row.ratio_min("fast"), row.ratio_median("fast")) == (0.5, 0.5)
    assert row.best == "fast"


def test_relative_difference():
    assert relative_difference([1.0, 2.0], [1.0, 2.0]) == 0
    assert relative_difference([1.0, 2.2], [1.0, 2.0]) == pytest.approx(0.1)
    assert relative_difference([1.0], [1.0, 2.0]) == float("inf")
    assert relative_difference([], []) == 0


def test_an_absent_compiler_is_said_and_no_failure(monkeypatch, capsys):
    monkeypatch.setattr(compiled, "compilers", dict)
    items = list(collect(["memory", "smt"], 1))
    assert [type(item) for item in items] == [Absent, Absent]
    assert main(["memory", "smt", "--threads", "1", "--rounds", "1"]) == 0
    said = capsys.readouterr().out
    assert "Absent, so not compared" in said and "install one or set CC" in said


def compiler(folder, name, said):
    path = folder / name
    path.write_text(f"#!/bin/sh\necho '{said}'\n")
    path.chmod(0o755)
    return path


def test_every_compiler_counts_once(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CC", "no-such-compiler-here")
    assert compiled.compilers() == {}
    compiler(tmp_path, "cc", "cc 1")
    assert list(compiled.compilers()) == ["cc"]  # only where neither of the usual ones is
    (tmp_path / "gcc").symlink_to(tmp_path / "cc")
    compiler(tmp_path, "clang", "clang 2")
    assert list(compiled.compilers()) == ["gcc", "clang"]
    compiler(tmp_path, "mine", "mine 3")
    monkeypatch.setenv("CC", "mine -some-option")
    assert list(compiled.compilers()) == ["mine", "gcc", "clang"]
    compiler(tmp_path, "again", "clang 2")  # another file that is the same by its own account
    monkeypatch.setenv("CC", "again")
    assert list(compiled.compilers()) == ["again", "gcc"]
    assert compiled.versions({"-O9": ("-O9", "-x")}) == {"again -O9": "clang 2, -O9 -x", "gcc -O9": "cc 1, -O9 -x"}


@pytest.mark.skipif(not HAS_C, reason="no C compiler is found")
def test_a_refused_option_is_absent_with_its_reason():
    built, absent = compiled.variants("smt.c", {"good": ("-O1",), "bad": ("-fno-such-option-here",)})
    assert list(built) == [f"{name} good" for name in compiled.compilers()]
    refused = [str(item) for item in absent if " bad of " in item.name]
    assert len(refused) == len(built) and all("no-such-option-here" in reason for reason in refused)


@pytest.mark.skipif(not HAS_C, reason="no C compiler is found")
def test_a_compiler_that_is_not_here_is_said(monkeypatch, tmp_path):
    name, path = next(iter(compiled.compilers().items()))
    monkeypatch.setattr(compiled, "_USUAL", ("nocc", name))
    (absent,) = compiled.variants("smt.c", {"good": ("-O1",)})[1]
    assert str(absent) == "builds by nocc (not found; install it or set CC)"


@pytest.mark.skipif(not HAS_C, reason="no C compiler is found")
def test_builds_of_the_same_machine_code_count_once():
    options = {"one": ("-O2",), "same": ("-O2", "-Wextra"), "other": ("-O0",)}
    built, absent = compiled.variants("smt.c", options)
    assert list(built) == [f"{name} {kind}" for name in compiled.compilers() for kind in ("one", "other")]
    assert not any("same" in item.name for item in absent)


def test_slower_builds_leave_a_trial_before_its_longer_steps(monkeypatch):
    clock, calls = [0.0], []

    def side(number):
        def call(repeats=1):
            calls.append((number, repeats))
            clock[0] += number * repeats + (1000 if len(calls) == 5 else 0)  # an interruption
            return 1.0

        return call

    monkeypatch.setattr("peers.time.perf_counter", lambda: clock[0])
    names = {f"build {number}": side(number) for number in range(1, 21)}
    tried = peers._trial(names, 64, dict.fromkeys(names, 0.1))
    assert set(names) - set(tried) == {"build 1", "build 2"}
    assert [count for _, count in calls] == [2] * 20 + [16] * 16 + [64] * 10
    assert [number for number, count in calls if count == 64] == [1, 2, 3, 4, 6, 7, 1, 2, 3, 4]
    assert tried["build 5"] == 505  # it left when it was interrupted
    calls.clear()
    peers._trial(names, 64, {name: number for number, name in enumerate(names, 1)})
    assert calls == []  # calls that were long are the trial
    peers._trial(names, 4, {name: number / 100 for number, name in enumerate(names, 1)})
    assert [count for _, count in calls] == [1] * 16 + [4] * 10  # a call of one repeat was the first step


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

    monkeypatch.setattr("peers.time.perf_counter", lambda: clock[0])
    monkeypatch.setattr(
        "peers.interleave", lambda functions, rounds, seed: {name: [1.0] * rounds for name in functions}
    )
    row = measure(comparison(peers={name: side(name) for name in cost}, builds="abcd"), rounds=2, seed=0)
    assert list(row.peers) == ["b", "d", "slow"]
    assert row.tried == pytest.approx({"c": 0.3, "a": 0.4}) and set(row.apart) == set(cost)
    assert calls == [*cost, *"abcd" * 3]
    few = measure(comparison(peers={name: side(name) for name in "ab"}, builds="ab"), rounds=2, seed=0)
    assert few.tried == {} and list(few.peers) == ["a", "b"]
    calls.clear()
    cost |= {name: 10 * seconds for name, seconds in cost.items()}
    row = measure(comparison(peers={name: side(name) for name in "abcd"}, builds="abcd"), rounds=2, seed=0)
    assert row.tried == pytest.approx({"c": 3.0, "a": 4.0}) and calls == [*"abcd"]


def test_truncations_are_those_asked_for(monkeypatch):
    from peers import spectral

    assert spectral.asked(spectral.FULL) == list(spectral.FULL)
    monkeypatch.setenv("SPECTRAL_TRUNCATIONS", "159,399")
    assert spectral.asked(spectral.FULL) == [159, 399] and spectral.asked(spectral.REDUCED) == [(399, "N200")]


def test_parts_of_a_transform_are_timed_where_they_add_up_to_it(monkeypatch):
    """Nine fields: a group of eight and one alone."""
    from peers import spectral

    case = spectral._Case("F8", 15, 9, 1)
    items = list(spectral._parts(case))
    assert [(item.group.split()[-1], item.label.split(", ")[-1]) for item in items] == [
        (direction, name) for direction, names in spectral.PARTS.items() for name in names
    ]
    for first, second in (items[:2], items[2:]):
        assert first.work.flops + second.work.flops == case.work.flops
        assert first.work.bytes_written == second.work.bytes_read == 32 * 9 * case.plan.waves
        assert first.work.bytes_read + second.work.bytes_written == case.size
    case.values[:] = 0
    items[1].ours()
    assert case.values[8].any() and not items[1].peers
    part = case.part
    monkeypatch.setattr(case, "part", lambda direct, number, group: part(direct, number, group) if number else None)
    found = next(spectral._parts(case))  # the second part finds what another group left
    assert isinstance(found, Absent) and "another answer" in str(found)


def test_a_module_that_cannot_be_imported_is_absent(monkeypatch):
    monkeypatch.setattr(peers, "modules", lambda: ["missing_module"])
    (item,) = collect(["missing_module"], 1)
    assert isinstance(item, Absent) and "cannot be imported" in str(item)


def test_bad_input(capsys):
    assert main(["nobody"]) == 2
    assert "'nobody' is unknown; choose one of" in capsys.readouterr().err
    assert main(["smt", "--threads", "100000"]) == 2
    assert "ask for fewer threads" in capsys.readouterr().err
    assert main(["smt", "--rounds", "0"]) == 2


def test_the_report(monkeypatch, capsys, comparison, offered):
    ghost = Absent("ghost", "GHOST is unset")
    offered([comparison(), ghost, ghost])
    assert main(["smt", "--threads", "1", "--rounds", "2"]) == 0
    said = capsys.readouterr().out
    assert "same" in said and said.count("ghost (GHOST is unset)") == 1


def test_disagreement_fails_the_run(monkeypatch, capsys, comparison, offered):
    offered([comparison(peers={"other": lambda: 2.0})])
    assert main(["smt", "--threads", "1", "--rounds", "1"]) == 1
    assert "another answer" in capsys.readouterr().out


@pytest.mark.skipif(not HAS_C, reason="no C compiler is found")
def test_our_c_sources_agree_with_us(monkeypatch):
    """Every comparison of both modules gives one answer on both sides, on small data, untimed."""
    from peers import memory, smt

    monkeypatch.setattr(memory, "available_memory", lambda: 6 * 2**23)
    monkeypatch.setattr(memory.stride, "_TRIAL", 1)  # which of our loops is the fastest, nobody asks here
    monkeypatch.setattr(smt, "N", {**smt.N, "streaming": 1000, "skipping": 1000})
    monkeypatch.setattr(compiled, "OPTION_SETS", {"C": ("-O1", "-march=native")})
    groups = {}
    for item in collect(["memory", "smt"], 1):
        if isinstance(item, Comparison):
            ours = item.ours()
            assert all(item.check(ours, peer()) <= item.tolerance for peer in item.peers.values()), item.label
            groups[item.group] = groups.get(item.group, 0) + 1
    assert groups["stride bandwidth"] >= 40 and groups["random latency"] >= 4
    assert sum(count for group, count in groups.items() if group.startswith("SMT loops")) >= 5
    assert "triad, plain" in groups


@pytest.mark.skipif(not HAS_C, reason="no C compiler is found")
def test_nothing_compiled_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    compiled.build.cache_clear()
    for path in compiled.compilers().values():
        compiled.build("smt.c", ("-O1",), path)
    assert list(tmp_path.iterdir()) == []
    assert not list(compiled.SOURCES.glob("*.so"))


@pytest.mark.skipif(not HAS_C, reason="no C compiler is found")
@pytest.mark.parametrize("option", ["-ffast-math", "-Ofast"])
def test_a_fast_library_leaves_our_own_arithmetic_alone(option):
    """Loaded the usual way it would make this process flush subnormal numbers to zero."""
    for path in compiled.compilers().values():
        compiled.build("smt.c", ("-O1", option), path)
    assert np.all(np.full(64, np.finfo(float).tiny) / 4 > 0)


def test_versions_are_those_that_the_modules_name():
    found = peers.versions(["smt", "routines", "spectral", "files"])
    assert found["ducc0"] == importlib.metadata.version("ducc0")
    assert found["NumPy"] == np.__version__
    assert peers.versions(["no_such_module"]) == {}
    for name in compiled.compilers():
        assert "-ffast-math" in found[f"{name} -O3 fast-math"]
        assert "-fno-tree-vectorize" in found[f"{name} -O3 scalar"]
        assert any(digit.isdigit() for digit in found[f"{name} -O3"].partition(",")[0])
