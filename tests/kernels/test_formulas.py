"""Numbers that kernels count or time, each held by a value that was worked out by hand."""

import itertools
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from supercomputers_rerun.kernels import bt, gridpoint, jobs
from supercomputers_rerun.kernels.analysis import boxes, synthetic
from supercomputers_rerun.kernels.analysis import problem as analysis
from supercomputers_rerun.kernels.files import nodes, storm
from supercomputers_rerun.kernels.files.ways import solution_writer
from supercomputers_rerun.kernels.gridpoint import postprocess
from supercomputers_rerun.kernels.gridpoint.levels import RADIUS
from supercomputers_rerun.kernels.mpi import mesh, monitoring


def test_nodes_count_a_run_for_each_group_and_one_alone():
    """Groups of 1, 2 and 4 write two dumps of 12³ points each, 40 bytes a point."""
    problem = nodes.Problem(N=12, NS=10, IW=5, P=4)
    solver, found = bt.work(problem.solver), nodes.work(problem)
    assert (found.flops, found.bytes_read) == (4 * solver.flops, 4 * solver.bytes_read)
    assert found.bytes_written == 4 * solver.bytes_written + 3 * 2 * 40 * 12**3


def test_marching_lasts_from_the_first_step_to_the_last_dump(monkeypatch):
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(nodes.time, "perf_counter", lambda: clock.now)
    monkeypatch.setattr(nodes.bt, "march", lambda *_: setattr(clock, "now", clock.now + 3.0))
    state = SimpleNamespace(reset=lambda: setattr(clock, "now", clock.now + 50.0))
    problem = nodes.Problem(N=12, NS=10, IW=5, P=4)
    assert nodes._march(problem, state, 1, lambda index: setattr(clock, "now", clock.now + 0.5)) == 7.0


def test_other_processes_did_so_many_sets_a_second(monkeypatch):
    """120 sets in the four seconds until they have stopped."""
    clock = SimpleNamespace(now=10.0)

    class Others:
        def __init__(self, *_):
            clock.now += 5.0

        __enter__, __exit__ = lambda self: self, lambda self, *_: None

        def stop(self):
            clock.now += 4.0
            return 120

    monkeypatch.setattr(storm, "Disturbers", Others)
    monkeypatch.setattr(storm.time, "perf_counter", lambda: clock.now)
    problem = storm.Problem(steps=1, files=1, tasks=1, record_bytes=64, load=1)
    assert storm.run(problem, storm.setup(problem)).other_sets == 30.0


def test_a_step_lasts_from_its_first_call_to_its_last(monkeypatch, tmp_path):
    """A clock that ticks at every reading: a step begins, ends its small files, and ends."""
    monkeypatch.setattr(storm.time, "perf_counter", itertools.count(100.0).__next__)
    problem = storm.Problem(steps=2, files=1, tasks=1, record_bytes=64, folder=str(tmp_path))
    found = storm.run(problem, storm.setup(problem))
    assert found.seconds["before"].tolist() == [2.0, 2.0] and found.small_seconds.tolist() == [1.0, 1.0]
    assert found.seconds["after"].tolist() == [1.0, 1.0]


def test_a_writer_stalls_transfers_and_finishes_by_its_clock(monkeypatch, tmp_path):
    """A clock that ticks at every reading: a dump reads it four times, twice of them around its transfer."""
    monkeypatch.setattr("time.perf_counter", itertools.count(100.0).__next__)
    with solution_writer(tmp_path / "s", 5, 2, 1) as writer:
        for _ in range(2):
            writer.write(lambda u: u.fill(1.0))
        writer.finish()
    assert (writer.stalls, writer.transfer_seconds, writer.finish_seconds) == ([3.0, 3.0], [1.0, 1.0], 1.0)


def test_jobs_need_the_files_of_all_and_what_is_packed_of_each_write_up():
    job = jobs.Job("forecast", gridpoint.Problem.preset("quick", fsync=True, hours=13.0))
    assert job.write_ups == 3  # at 0, 6 and 12 h, or at 6, 12 and the end
    one, packed = gridpoint.footprint(job.problem), postprocess.packed_bytes(job.problem)
    found = jobs.footprint(jobs.Problem(jobs=(job, job, job)))
    assert (found.memory, found.disk) == (3 * one.memory, 3 * one.disk + 3 * job.write_ups * packed)


def test_packed_bytes_by_hand():
    problem = gridpoint.Problem.preset("quick")
    rows = problem.nj * len(postprocess.NAMES) * len(postprocess.PRESSURES)
    assert postprocess.packed_bytes(problem) == rows * postprocess._form(problem.ni).itemsize


SMALL = analysis.Problem(ni=48, nj=24)


@pytest.mark.parametrize(
    ("y", "x", "value"),
    [
        (10.25, 47.5, 1025 + 23.5),  # between rows 10 and 11; between the last column and the first
        (10.0, 3.0, 1003.0),
        (23.4, 5.25, 2305.25),  # north of the last row
        (22.75, 0.0, 2275.0),
        (-0.4, 5.25, 5.25),  # south of the first
    ],
)
def test_fields_are_bilinear_between_rows_and_columns_and_the_poles_have_the_last_row(y, x, value):
    """A field of 100 times its row and its column."""
    field = 100.0 * np.arange(24)[:, None] + np.arange(48)
    fields = np.broadcast_to(field[:, None, None], (24, len(analysis.KINDS), analysis.LN_P.size, 48))
    latitude, longitude = (y + 0.5) * np.pi / 24 - np.pi / 2, x * 2 * np.pi / 48
    one = {name: np.zeros(1) for name in synthetic.Data._fields}
    one |= {"latitude": np.array([latitude]), "longitude": np.array([longitude]), "lnp": analysis.LN_P[3:4]}
    assert boxes.at_data(SMALL, synthetic.Data(**one), fields) == pytest.approx([value])


def test_data_are_near_a_box_to_two_length_scales_beyond_it():
    """Along the meridian of a box on the equator, by chords of the unit sphere."""
    lat, lon = synthetic.rows(SMALL)
    j, i = 24 // analysis.BOX // 2, 1
    south, north = lat[j * analysis.BOX], lat[(j + 1) * analysis.BOX - 1]
    west, east = lon[i * analysis.BOX], lon[(i + 1) * analysis.BOX - 1]

    def chord(one, other, turned):
        """Of two latitudes, and longitudes that differ by so much."""
        cosine = np.sin(one) * np.sin(other) + np.cos(one) * np.cos(other) * np.cos(turned)
        return np.sqrt(2 - 2 * cosine)

    middle, length = (south + north) / 2, SMALL.length / RADIUS
    radius = max(chord(middle, end, (east - west) / 2) for end in (south, north))
    scales = np.array([-0.1, 0.5, 1.9, 2.1])
    latitudes = middle + 2 * np.arcsin((radius + scales * length) / 2)
    up = np.array([np.cos(latitudes) * np.cos((west + east) / 2), np.cos(latitudes) * np.sin((west + east) / 2)])
    near, away = boxes._near(SMALL, np.array([*up, np.sin(latitudes)]), j, i)
    assert near.tolist() == [0, 1, 2] and away == pytest.approx([0.0, 0.5, 1.9])


@pytest.mark.parametrize(("ranks", "levels", "W", "V"), [(16, 10, 4, 4), (16, 2, 8, 2), (9, 10, 3, 3), (16, 3, 8, 2)])
def test_a_forecast_is_cut_as_square_as_levels_allow(ranks, levels, W, V):
    found = mesh.forecast("F16", 15, levels, ranks)
    counts = [
        count(mesh.Mesh("F16", 15, fields * levels, W, V))
        for fields in (6, 4)
        for count in (mesh.grid_to_fourier, mesh.fourier_to_spectral)
    ]
    assert found == (sum(each.messages for each in counts), sum(each.bytes for each in counts))


def test_sensors_visit_each_rank_by_their_way():
    """Three periods of eight steps, two of four ranks."""
    problem = monitoring.Problem(steps=25, period=8, delay=1.0, ranks=4)
    places = {
        way: [np.flatnonzero(replace(problem, way=way).delays(rank)).tolist() for rank in (0, 2)]
        for way in monitoring.WAYS
        if way not in ("none", "drifting")
    }
    assert places.pop("drifted") == [[0, 8, 16], [4, 12, 20]]
    assert all(found == [[0, 8, 16], [0, 8, 16]] for found in places.values()) and places
    assert not replace(problem, way="none").delays(2).any()
    drifting = replace(problem, way="drifting").delays(1)
    slices = min(monitoring.SLICES, 8)
    due = sorted(8 * number + (number + n) % 8 for number in range(3) for n in range(slices))
    assert np.flatnonzero(drifting).tolist() == due and drifting.sum() == pytest.approx(3.0)


def test_times_of_sensors_are_means_over_the_ranks(monkeypatch):
    """Two ranks; the other one took ten seconds of each kind."""
    monkeypatch.setattr(monitoring.world, "total", lambda comm, seconds: seconds + 10.0)
    problem = monitoring.Problem(steps=5, period=2)
    seconds = np.array([[1.0, 2.0, 3.0, 4.0, 5.0], [0.5, 0.25, 0.125, 1.0, 2.0]])
    found = monitoring.times(monitoring.Result(SimpleNamespace(size=2), problem, seconds))
    assert found == {
        "compute": (15 + 10) / 2,
        "wait": (3.875 + 10) / 2,
        "wait of period 0": (0.75 + 10) / 2,
        "wait of period 1": (1.125 + 10) / 2,
    }
