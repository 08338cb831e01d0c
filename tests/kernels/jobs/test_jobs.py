"""kernels.jobs: answers alone and in company, the queue, bindings, accounts, and processes that end."""

import multiprocessing
import os
import threading
from dataclasses import replace

import pytest

from supercomputers_rerun.kernels import analysis, gridpoint, jobs
from supercomputers_rerun.kernels.jobs import settings as forecast_settings
from supercomputers_rerun.kernels.runtime.resources import usable_cpus

TWO = pytest.mark.skipif(
    usable_cpus() < 2 or not hasattr(os, "sched_setaffinity"), reason="two CPUs that processes are bound to are needed"
)
DAY = gridpoint.Problem(hours=6.0, writeup=1.5, physics=True, fsync=True)
STORED = replace(DAY, files=2, place="cache", overlap="both")


@pytest.fixture(scope="module", autouse=True)
def pools():
    """The processes, kept from test to test."""
    yield [jobs.shared(count) for count in (1, 2)]


def went(problem, folder):
    problem = replace(problem, folder=str(folder))
    result = jobs.run(problem, jobs.setup(problem))
    assert [str(check) for check in jobs.verify(problem, result) if not check.ok] == []
    assert list(folder.iterdir()) == []
    return result


def test_two_forecasts_share_the_queue(tmp_path):
    found = went(jobs.Problem((jobs.Job("forecast", STORED), jobs.Job("forecast", DAY))), tmp_path)
    ends = [job.end for job in found.jobs] + [post.end for post in found.posts]
    assert found.complete == max(ends) and [post.job for post in found.posts].count(0) == 5
    # a process takes jobs when its own is done, and one at a time
    assert min(post.begin for post in found.posts) >= min(job.end for job in found.jobs)
    begins = sorted((post.begin, 1) for post in found.posts) + sorted((post.end, -1) for post in found.posts)
    running = [sum(change for _, change in sorted(begins)[: n + 1]) for n in range(len(begins))]
    assert max(running) <= 2
    first, second = found.jobs
    assert found.checksums[0] == found.checksums[1] and first.overlapped > second.overlapped == 0
    assert 0 < first.net < first.clock


def test_each_program_answers_as_it_does_alone(tmp_path):
    """Halves of two files, and the other programs."""
    problem = analysis.Problem(ni=24, nj=16, sondes=80, aircraft=20, rest="cache")
    short = gridpoint.Problem(32, 12, 5, files=4, place="cache", overlap="both", writeup=1.5)
    programs = {"forecast": short, "simulator": replace(short, files=2), "analysis": problem}
    found = went(jobs.Problem(tuple(jobs.Job(*each) for each in programs.items())), tmp_path)
    assert [len(each) - 1 for each in found.checksums] == [len(short.writeup_steps)] * 2 + [0]


@TWO
def test_jobs_beside_begin_while_the_forecast_goes_on(tmp_path):
    problem = jobs.Problem((jobs.Job("forecast", STORED),), "one each", "beside", small=True)
    for _ in range(5):  # where others keep both CPUs busy, the first job may get its turn too late
        found = went(problem, tmp_path)
        assert len(found.posts) == 5
        if found.posts[0].begin < found.jobs[0].clock:
            break
    assert found.posts[0].begin < found.jobs[0].clock


@TWO
def test_accounts_add_up_to_the_clock_and_show_who_waits_for_a_cpu(tmp_path, monkeypatch):
    job = jobs.Job("forecast", replace(STORED, hours=96.0, writeup=0.0))
    alone = went(jobs.Problem((job,), "one each", "none"), tmp_path).jobs
    monkeypatch.setattr(jobs, "affinity_cpus", lambda: [min(os.sched_getaffinity(0))])
    forced = went(jobs.Problem((job, job), "free", "none"), tmp_path).jobs
    for done in (*alone, *forced):
        waiting = sum(step.waiting for step in done.steps)
        assert 0 < done.executing + done.queued + waiting <= done.clock * 1.001
    assert min(done.queued / done.clock for done in forced) > 0.1


def test_a_killed_process_ends_the_others_and_leaves_nothing(tmp_path):
    others = set(multiprocessing.active_children())
    problem = jobs.Problem((jobs.Job("forecast", replace(STORED, hours=480.0)),) * 3, folder=str(tmp_path))
    state = jobs.State(jobs.Pool(3), (None,) * 3)
    mine = set(multiprocessing.active_children()) - others
    timer = threading.Timer(1.0, min(mine, key=lambda process: process.pid).kill)
    timer.start()
    with pytest.raises(OSError, match="ended early"):
        jobs.run(problem, state)
    assert set(multiprocessing.active_children()) == others and list(tmp_path.iterdir()) == []


def test_a_forecast_under_other_settings_is_the_same():
    """Bound threads and small pages; the process checks its own answer."""
    bound = hasattr(os, "sched_setaffinity")
    for changes in ({}, {"huge": False, "order": "no_smt" if bound else ""}):
        problem = forecast_settings.Problem(steps=4, **changes)
        state = forecast_settings.setup(problem)
        result = forecast_settings.run(problem, state, threads=min(2, usable_cpus()), repeats=2)
        assert [str(check) for check in forecast_settings.verify(problem, result) if not check.ok] == []
