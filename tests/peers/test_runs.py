"""Runs that are kept: the load of the host, its ceilings, and vectors shorter than the processor's."""

import os
import subprocess
import sys

import numpy as np
import pytest

from companion.host import machine
from companion.records import peer_records
from kernels.processor import peak
from peers import Comparison, Row
from peers.__main__ import main
from peers.kit import ceilings, vectors


def fake_module(monkeypatch, flags=()):
    """One module with one comparison, whose rows carry these flags one after the other, then none."""
    item = Comparison("g", "l", lambda: 1.0, {"same": lambda: 1.0}, lambda ours, theirs: 0.0)
    left = list(flags)
    monkeypatch.setattr("peers.kit.record.versions", lambda names: {"same": "1"})
    monkeypatch.setattr("peers.__main__.collect", lambda names, threads: iter([item]))
    monkeypatch.setattr(
        "peers.__main__.measure",
        lambda *given: Row("g", "l", np.array([1.0]), {"same": np.array([1.0])}, flags=left.pop(0) if left else {}),
    )
    return left


class Load:
    """What others keep busy, as a list of answers."""

    answers: list[float]

    def value(self):
        return Load.answers.pop(0)


@pytest.fixture
def book(monkeypatch, tmp_path):
    """The book's folder and the one beside it, here; a checkout without changes, a host that is not watched."""
    monkeypatch.setattr("peers.kit.record.WATCH", 0.0)
    monkeypatch.setattr("peers.kit.ceilings.of", lambda counts: {})
    monkeypatch.setattr(peer_records, "COMMITTED", tmp_path / "book")
    monkeypatch.setattr("peers.kit.record.ASIDE", tmp_path / "aside")
    monkeypatch.setattr("peers.kit.record.OtherLoad", Load)
    describe = machine.describe

    def clean(**given):
        found = describe(**given)
        return found | {"provenance": found["provenance"] | {"dirty": False}}

    monkeypatch.setattr(machine, "describe", clean)
    return tmp_path / "book"


def test_the_book_takes_records_of_a_quiet_host(monkeypatch, book, kept):
    Load.answers = [0.1, 0.2, 0.25]
    fake_module(monkeypatch)
    assert main(["smt", "--threads", "1", "--rounds", "3", "--out", str(book)]) == 0
    assert kept(book)["load"] == {"before": 0.1, "during": 0.2, "after": 0.25}
    assert "numba -O" in kept(book)["ours"]["kernels"]


def test_a_loaded_host_is_refused_before_anything_is_measured(monkeypatch, book, capsys):
    Load.answers = [0.5]
    monkeypatch.setattr("peers.__main__.collect", lambda names, threads: pytest.fail("measured"))
    assert main(["smt", "--threads", "1", "--rounds", "3", "--out", str(book)]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert "others keep 0.50 CPUs busy" in line and "at most 0.25" in line and "name another folder" in line


@pytest.mark.parametrize("answers", [[0.0, 0.3, 0.0], [0.0, 0.0, 0.3]])
def test_load_that_comes_later_keeps_the_record_out_of_the_book(monkeypatch, book, capsys, answers, kept):
    Load.answers = list(answers)
    fake_module(monkeypatch)
    assert main(["smt", "--threads", "1", "--rounds", "3", "--out", str(book)]) == 0
    assert list(book.iterdir()) == []
    assert kept(book.parent / "aside")["load"]["before"] == 0.0
    assert "others kept 0.30 CPUs busy" in capsys.readouterr().out


def test_other_folders_take_what_comes(monkeypatch, book, tmp_path, kept):
    Load.answers = [0.9, 0.9, 0.9]
    fake_module(monkeypatch)
    assert main(["smt", "--threads", "1", "--rounds", "3", "--out", str(tmp_path / "else")]) == 0
    assert kept(tmp_path / "else")["load"]["during"] == 0.9


def test_for_the_book_a_row_beside_other_load_is_measured_again(monkeypatch, book, tmp_path, kept):
    Load.answers = [0.0] * 9
    left = fake_module(monkeypatch, [{"load": "busy"}] * 2)
    assert main(["smt", "--threads", "1", "--rounds", "3", "--out", str(book)]) == 0
    assert left == [] and kept(book)["rows"][0]["flags"] == {}
    left = fake_module(monkeypatch, [{"load": "busy"}] * 9)
    assert main(["smt", "--threads", "1", "--rounds", "3", "--out", str(book)]) == 0
    assert len(left) == 1 and kept(tmp_path / "aside")["rows"][0]["flags"] == {"load": "busy"}
    left = fake_module(monkeypatch, [{"load": "busy"}] * 4)
    assert main(["smt", "--threads", "1", "--rounds", "3", "--out", str(tmp_path / "else")]) == 0
    assert len(left) == 3


def test_ceilings_fall_with_the_distance_of_the_level(monkeypatch):
    """Levels as the machine tells them; a nearer one that sampled slower counts as fast as the next."""
    monkeypatch.setattr(ceilings, "_caches", lambda threads: [("L1", 2**15), ("L2", 2**17)])
    monkeypatch.setattr(ceilings, "_LARGEST", 2**20)
    monkeypatch.setattr(
        ceilings, "_best", lambda module, problem, threads: 1.0 if module is peak else 1e-9 * len(module.__name__)
    )
    found = ceilings.measure(2)
    assert [level["level"] for level in found["levels"]] == ["L1", "L2", "memory"]
    assert [level["holds"] for level in found["levels"]] == [2**15, 2**17, None]
    rates = [level["rate"] for level in found["levels"]]
    assert rates == sorted(rates, reverse=True)
    assert found["flops"] == peak.work(peak.Problem(n=2**14), 2).flops


def test_a_kernel_gives_a_ceiling(monkeypatch):
    monkeypatch.setattr(ceilings, "_ROUNDS", 1)
    assert 0 < ceilings._best(peak, peak.Problem(n=2**10), 1) < 1
    assert ceilings._bandwidth(2**16, 1, True) > 0


def test_shorter_vectors_are_asked_for_in_words(capsys):
    assert main(["smt", "--vectors", "100"]) == 2
    assert "vectors = 100 is unknown; choose 256" in capsys.readouterr().err


def test_a_processor_without_longer_vectors_says_so(monkeypatch, capsys):
    monkeypatch.setattr(vectors.binding, "get_host_cpu_features", dict)
    assert main(["smt", "--vectors", "256"]) == 2
    assert "no AVX-512" in capsys.readouterr().err


AVX512 = vectors.binding.get_host_cpu_features().get("avx512f")


@pytest.mark.skipif(not AVX512, reason="the processor has no AVX-512")
def test_shorter_vectors_reach_both_sides(tmp_path):
    """In a process for 256 bits neither our code nor a C build touches a longer register."""
    code = (
        "import numpy as np\n"
        "from numba import float64\n"
        "from kernels.processor import peak\n"
        "from peers.kit import compiled, vectors\n"
        "assert vectors.bits() == 256 and (peak.LANES, peak.CHAINS) == (4, 12)\n"
        "peak.run(peak.Problem(n=16), peak.setup(peak.Problem(n=16)))\n"
        "(text,) = peak.chains_loop.inspect_asm().values()\n"
        "assert 'ymm' in text and 'zmm' not in text\n"
        "sets = compiled._sets(None)\n"
        "assert all('-mno-avx512f' in flags for flags in sets.values()) and '-O3 512-bit' not in sets\n"
        "print(vectors.suffix(), vectors.ours())\n"
    )
    given = {**os.environ, **vectors.environment(256), "NUMBA_CACHE_DIR": str(tmp_path)}
    found = subprocess.check_output([sys.executable, "-c", code], env=given, text=True)
    assert found.startswith("_256 numba -O") and "without AVX-512" in found


@pytest.mark.skipif(not AVX512, reason="the processor has no AVX-512")
def test_a_run_in_shorter_vectors_is_a_process_of_its_own(monkeypatch, capsys):
    assert main(["spectral", "--vectors", "256"]) == 2
    assert "the peers of spectral come built" in capsys.readouterr().err
    started = []
    monkeypatch.setattr("sys.argv", ["peers", "smt", "--vectors", "256"])

    def execve(*given):
        started.append(given)
        raise SystemExit(0)

    monkeypatch.setattr("os.execve", execve)
    with pytest.raises(SystemExit):
        vectors.enter(256, ["smt"])
    ((program, command, environment),) = started
    assert program == sys.executable and command[1:] == ["-m", "peers", "smt", "--vectors", "256"]
    assert environment["RERUN_PEER_VECTORS"] == "256" and "-avx512f" in environment["NUMBA_CPU_FEATURES"].split(",")
    assert "+avx2" in environment["NUMBA_CPU_FEATURES"].split(",")
