"""Small kernels with known behaviour, so that the harness is tested without any real kernel."""

import contextlib
import copy
import io
import json
import os
import shutil
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from hypothesis import settings

from supercomputers_rerun.companion import bench, experiments, host
from supercomputers_rerun.companion.bench import Case
from supercomputers_rerun.kernels.contract import Check, Footprint, Work

# timings never decide a test: a slow host is no failure
settings.register_profile("house", deadline=None)
settings.load_profile("house")
# nor does what a sample resolves
bench.MIN_SAMPLE = 1e-3


@dataclass(frozen=True)
class ToyProblem:
    n: int = 100


class ToyKernel:
    """Sums 0 … n-1.  ``wrong_from`` makes every result wrong from that call on (counted from 1)."""

    __name__ = "toy"
    Problem = ToyProblem

    def __init__(self, wrong_from=None):
        self.wrong_from = wrong_from
        self.setups, self.calls, self.repeats = 0, 0, []

    def setup(self, problem, seed=0):
        self.setups += 1
        return np.arange(problem.n, dtype=float)

    def run(self, problem, state, threads=1, repeats=1):
        self.calls += 1
        self.repeats.append(repeats)
        for _ in range(repeats):
            result = float(state.sum())
        return result + (self.wrong_from is not None and self.calls >= self.wrong_from)

    def reference(self, problem, state):
        return problem.n * (problem.n - 1) / 2

    def verify(self, problem, result):
        return [Check.near("sum", result, problem.n * (problem.n - 1) / 2, 1e-9)]

    def footprint(self, problem):
        return Footprint(8 * problem.n)

    def work(self, problem, threads=1):
        return Work(flops=problem.n, bytes_read=8 * problem.n, parts=(("sum", problem.n),))


@pytest.fixture
def toy():
    return ToyKernel()


@pytest.fixture
def make_toy():
    return ToyKernel


@pytest.fixture
def toy_cases(toy):
    """Three cases on two states."""
    return [
        Case("ten", toy, ToyProblem(10), parameters={"n": 10, "kind": "small"}),
        Case("thousand", toy, ToyProblem(1000), parameters={"n": 1000}),
        Case("ten again", toy, ToyProblem(10), parameters={"n": 10}),
    ]


#: Commit and changes of this checkout; git is asked once.
PROVENANCE = cache(host._provenance)


@pytest.fixture
def toy_experiment(monkeypatch, toy):
    """An experiment registered for one test, with time for all its samples."""
    monkeypatch.setenv("RERUN_BUDGET", "5")
    monkeypatch.setattr(host, "_provenance", PROVENANCE)

    def cases(preset, threads):
        sizes = {"quick": (10, 20), "paper": (1000,)}[preset]
        return [Case(f"n = {n}", toy, ToyProblem(n), threads, {"n": n}) for n in sizes]

    entry = experiments.Experiment(
        "toy-sum",
        "toy",
        "T1",
        "Sums of whole numbers",
        cases,
        presets=("quick", "paper"),
        budgets={"quick": 20.0},
        rounds=3,
        outputs=lambda measurements: {
            "cases": {"value": len(measurements), "units": "1"},
            "lengths": {"value": [m.parameters["n"] for m in measurements], "units": "1", "dims": ["size"]},
        },
    )
    monkeypatch.setitem(experiments.REGISTER, entry.id, entry)
    return entry


@pytest.fixture
def call():
    """``call(*arguments)`` of ``companion`` -> (exit code, stdout, stderr); a defect is raised."""
    from supercomputers_rerun.companion.__main__ import app

    def run(*arguments):
        code, out, err = 0, io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                app(list(map(str, arguments)))
            except SystemExit as end:
                code = end.code or 0
        return code, out.getvalue(), err.getvalue()

    return run


_RECORDS = []
#: Names of Chromium's program, and how it is started: in a container, without a display, and asking nobody.
CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-dev-shm-usage"]


@pytest.fixture
def record(toy_experiment):
    """A valid record, measured once and copied for each test."""
    if not _RECORDS:
        _RECORDS.append(experiments.run_record("toy-sum", progress=False))
    return copy.deepcopy(_RECORDS[0])


@pytest.fixture(scope="session")
def quick(tmp_path_factory):
    """``quick(experiment)``: the record of a run here, each case once on one thread, and with no proof before it.

    Two workers of one run of the tests make it once; ``tests/kernels/test_every_kernel.py`` has the proofs.
    """
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # that of all workers

    def make(name: str) -> str:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(bench, "require_proof", lambda *_: None)
            return json.dumps(experiments.run_record(name, budget=0, progress=False))

    def record(name: str) -> dict:
        import fcntl  # not on Windows, where nothing is measured

        with open(folder / f"{name}.json", "a+", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            if not (text := file.read()):
                file.write(text := make(name))
        return json.loads(text)

    return record


@pytest.fixture(scope="module")
def browser():
    """Chromium as the system has it.

    Of one module, because an open Playwright occupies the thread's event loop and would stop the next one
    and the notebooks that run in the same process.
    """
    executable = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if executable is None:
        sentence = "Chromium is not installed, so no page is tested in it; install the package chromium"
        if os.environ.get("RERUN_REQUIRE_BROWSER"):
            pytest.fail(sentence, pytrace=False)
        pytest.skip(sentence)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=executable, headless=True, args=FLAGS)
        yield launched
        launched.close()
