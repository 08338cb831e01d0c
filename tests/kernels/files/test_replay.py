"""Programs on paced devices: what channels serve, how long it takes without a host, what a damaged replay shows."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.files import paced, replay
from kernels.files.paced import Channel, Device, Trunk
from kernels.files.replay import Job, Problem, Program, programs, workers

REQUESTS = st.lists(st.tuples(st.floats(0, 5), st.floats(0, 100), st.integers(0, 9)), max_size=30)
#: No radiation, no write-ups: every step is like the others.
PLAIN = Program(5, 4.0, 0, 0.0, 0, 0.0, 3.2e6, 0.0, 0.0, 0.0, 32, 8)


def alone(overlap, files=2, rate=4e6, step=4.0, **changes):
    """Seconds of a step of one forecast at full length, on a clock of its own."""
    job, program = Job("ssd", files, overlap), PLAIN._replace(step=step)
    problem = Problem((job,), program, (Device("ssd", rate),), output="ssd", scale=1.0, **changes)
    return replay.reference(problem).steps[0][0]


@given(REQUESTS)
def test_a_channel_serves_one_request_after_another(asked):
    channel, now, done = Channel(10.0, 0.5), 0.0, 0.0
    for pause, words, requests in asked:
        now += pause
        done = max(now, done) + 0.5 * requests + words / 10
        assert channel.serve(now, words, requests) == pytest.approx(done)
    assert paced.collisions(channel.served) == 0
    assert channel.words == pytest.approx(sum(words for _, words, _ in asked))


@given(REQUESTS, st.integers(1, 4))
def test_words_of_one_request_at_a_time_pass_a_trunk(asked, count):
    trunk = Trunk(15.0)
    found, now = [Channel(10.0, 0.5, trunk) for _ in range(count)], 0.0
    for n, (pause, words, requests) in enumerate(asked):
        now += pause
        begun = max(now, found[n % count].free)
        done = found[n % count].serve(now, words, requests)
        assert done >= begun + 0.5 * requests + words / 10 - 1e-9
    assert paced.collisions(trunk.passed) == 0
    assert sum(end - begin for begin, end in trunk.passed) == pytest.approx(sum(each[1] for each in asked) / 15)


def test_who_is_ready_first_passes_the_trunk_first():
    trunk = Trunk(1.0)
    assert trunk.hold(0.0, 10.0, 2.0) == 12.0
    assert trunk.hold(0.0, 1.0, 2.0) == 3.0  # asked for later, ready earlier
    assert trunk.hold(0.0, 2.0, 7.0) == 10.0  # fills the gap to the second
    assert trunk.hold(0.0, 2.0, 1.0) == 13.0 and paced.collisions(trunk.passed) == 0


def test_collisions_are_found():
    assert paced.collisions([(0.0, 2.0), (3.0, 4.0), (1.0, 2.5)]) == 1


def test_a_step_takes_what_its_overlap_leaves():
    read = write = 3.2e6 / 4e6
    band = 0.8 / 8
    assert alone("none") == pytest.approx(4 + read + write)
    assert alone("one") == pytest.approx(4 + band + write)
    assert alone("both") == pytest.approx(4 + 2 * band)
    assert alone("none", files=4) == pytest.approx(alone("none")) == pytest.approx(alone("none", files=1))


def test_a_slow_device_decides_once_it_takes_longer_than_computing():
    """Bands are read one after another without a pause, and between them the last ones are written."""
    step = alone("both", rate=1e6, step=0.8)
    assert 6.4 < step < 6.4 + 2 * 0.1 + 1e-9


def test_files_on_channels_of_their_own_do_not_meet():
    one = Problem((Job("disk", 4, "both"),), PLAIN, (Device("disk", 1e6, 0.01, 8),), scale=1.0)
    usual = replay.reference(one).ends[0]
    apart = replay.reference(replace(one, jobs=2 * one.jobs))
    assert apart.ends == (pytest.approx(usual), pytest.approx(usual))
    near = replay.reference(replace(one, jobs=2 * one.jobs, devices=(Device("disk", 1e5, 0.01, 4),)))
    assert min(near.ends) > 1.5 * usual


@given(st.integers(1, 3), st.sampled_from([1, 2, 4]), st.sampled_from(["none", "one", "both"]))
def test_one_channel_for_more_jobs_makes_none_of_them_earlier(count, files, overlap):
    one = Problem((Job("ssd", files, overlap),), Program(), (Device("ssd", 2e6),), "ssd", 1.0)
    single, many = (replay.reference(replace(one, jobs=n * one.jobs)) for n in (1, count))
    assert all(end >= single.ends[0] - 1e-9 for end in many.ends)
    assert many.complete <= count * single.complete + 1e-9
    assert many.words[0] == pytest.approx(count * single.words[0])


def test_post_processing_jobs_are_taken_by_who_is_done():
    fast, slow = Job("ssd", 2, "both"), Job("bmr", 1, "none")
    found = replay.reference(Problem((fast, slow)))
    assert {post.worker for post in found.posts if post.job == 0} == {0}
    assert found.posts[-1].end == found.complete and len(found.posts) == 4
    assert min(post.begin for post in found.posts) == pytest.approx(min(found.ends))


def test_the_scale_divides_everything():
    whole, tenth = (replay.reference(Problem(scale=scale)) for scale in (1.0, 10.0))
    assert whole.complete == pytest.approx(10 * tenth.complete)
    assert whole.steps[1] == pytest.approx([10 * step for step in tenth.steps[1]])


def test_steps_that_write_up_or_radiate():
    program = Program(94, 4.0, 3, 30.0, 5, 12.0)
    assert list(program.writing) == [0, 24, 49, 74, 98] and list(program.writing.values()) == list(range(5))
    assert len(program.radiating) == 3 and not program.radiating & set(program.writing)
    assert program.cpu == 99 * 4.0 + 90 + 60
    assert Program(3, write_ups=1).writing == {0: 0} and Program(3, write_ups=0).writing == {}


@pytest.mark.parametrize("overlap", ["none", "one", "both"])
@pytest.mark.parametrize("files", [1, 2, 4])
def test_the_host_does_what_the_reference_does(files, overlap):
    problem = Problem((Job("disk", files, overlap), Job("bmr", 1, "one")), scale=10_000.0)
    found = replay.run(problem, replay.setup(problem))
    assert [str(check) for check in replay.verify(problem, found) if not check.ok] == []
    expected = replay.reference(problem)
    assert (found.words, found.requests, found.scans) == (expected.words, expected.requests, expected.scans)
    assert found.complete >= max(found.ends) and len(found.posts) == len(expected.posts)
    assert all(end >= problem.program.cpu / problem.scale for end in found.ends)


def test_an_early_read_is_noticed(monkeypatch):
    """A driver that does not wait for what it wrote before it reads it again."""
    problem = Problem((Job("bmr", 1, "both"),), PLAIN._replace(step=0.0), scale=1.0)
    scan = programs._scan

    def hasty(site, n, step):
        asked = list(scan(site, n, step))
        yield programs.BUSY, asked[0][1] * 0

    monkeypatch.setattr(programs, "_scan", hasty)
    found = replay.reference(problem)
    assert found.wrong[0] > 0 and not all(check.ok for check in replay.verify(problem, found))


def test_the_error_of_one_worker_ends_the_others(monkeypatch):
    problem = Problem()
    state, compute = replay.setup(problem), workers._Cpu.compute

    def failing(cpu, seconds):
        if len(going.site.steps[1]) > 2:
            raise OSError("the device is gone")
        compute(cpu, seconds)

    going = workers.Going(problem, state.links)
    monkeypatch.setattr(workers._Cpu, "compute", failing)
    with pytest.raises(OSError, match="the device is gone"):
        going.run()


def test_what_is_counted():
    work = replay.work(Problem())
    assert work.bytes_read == work.bytes_written == 8 * 2 * 8 * 8
