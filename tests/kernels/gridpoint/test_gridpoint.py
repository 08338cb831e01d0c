"""The grid-point forecast: against NumPy, against theory, and through every kind of work file."""

import os
import threading
import zlib
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from supercomputers_rerun.kernels import gridpoint
from supercomputers_rerun.kernels.gridpoint import (
    Problem,
    cases,
    model,
    physics,
    postprocess,
    simulator,
    state,
    stores,
    writeup,
)
from supercomputers_rerun.kernels.gridpoint.levels import CP, T_REF, R, latitudes, vertical
from supercomputers_rerun.kernels.gridpoint.plan import extents
from supercomputers_rerun.kernels.runtime import resources

SHORT = Problem(hours=4.0, writeup=2.0)
NAMES = ("u", "v", "T", "q", "ps", "u_before", "T_before", "ps_before")


@pytest.fixture(scope="module")
def start():
    return gridpoint.setup(SHORT)


@pytest.fixture(scope="module")
def answer(start):
    return gridpoint.run(SHORT, start)


def distance(result, other):
    return max(np.abs(result[name] - other[name]).max() / max(np.abs(other[name]).max(), 1e-30) for name in NAMES)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"dt": 1200.0},
        {"ni": 32, "nj": 16, "levels": 7},
        {"physics": True, "radiation": 1.0},
        {"ni": 96, "nj": 12, "levels": 17, "dt": 600.0, "hours": 1.0},
    ],
)
def test_scan_gives_what_whole_arrays_give(changes):
    problem = replace(SHORT, **changes)
    initial = gridpoint.setup(problem)
    result = gridpoint.run(problem, initial)
    assert distance(result.fields, gridpoint.reference(problem, initial).fields) < 1e-11
    assert all(check.ok for check in gridpoint.verify(problem, result))


def test_levels_are_the_published_ones():
    published = [0.025, 0.077, 0.132, 0.193, 0.260, 0.334, 0.415, 0.500, 0.589, 0.678, 0.765, 0.845, 0.914, 0.967]
    published.append(0.996)
    np.testing.assert_allclose(vertical(15).full, published, atol=6e-4)
    assert (vertical(15).speed2 > 0).all() and vertical(15).half[-1] == 1.0


def test_waves_of_an_isothermal_atmosphere_are_bounded_by_the_speed_of_lambs_wave():
    assert vertical(60).speed2[0] == pytest.approx(R * T_REF * CP / (CP - R), rel=0.05)


def with_both_levels(problem, **fields):
    """A start with other fields, the same at both time levels."""
    start = gridpoint.setup(problem).fields | fields | {f"{name}_before": field for name, field in fields.items()}
    return state.State(start | {"surface": start["T"][:, -1].copy()})


def at_rest(problem):
    """Isothermal air at rest over a mountain of 2 km: dp/dz = −g p / (R T)."""
    lat, lon = latitudes(problem.nj)[:, None], np.arange(problem.ni) * 2 * np.pi / problem.ni
    cosine = 0.5 * np.sin(lat) + np.cos(np.pi / 6) * np.cos(lat) * np.cos(lon - np.pi / 2)
    phis = 9.80616 * 2000.0 * np.exp(-((4 * np.arccos(np.clip(cosine, -1, 1))) ** 2))
    shape = problem.nj, problem.levels, problem.ni
    ps = 1e5 * np.exp(-phis / (287.0 * 300.0))
    return with_both_levels(problem, u=np.zeros(shape), T=np.full(shape, 300.0), ps=ps, phis=phis)


def test_air_at_rest_stays_at_rest():
    problem = Problem(hours=24.0, dt=1200.0, writeup=0.0)
    result = gridpoint.run(problem, at_rest(problem))
    assert max(np.abs(result.fields[name]).max() for name in "uv") < 1e-10
    assert all(check.ok for check in gridpoint.verify(problem, result))


def test_steady_flow_stays():
    """Jablonowski and Williamson's flow without their bump, up to truncation."""
    problem = Problem(ni=96, nj=48, levels=10, hours=48.0, writeup=0.0)
    wind = cases.zonal_wind(latitudes(48)[:, None, None], vertical(10).full[:, None])
    initial = with_both_levels(problem, u=np.broadcast_to(wind, (48, 10, 96)).copy())
    result = gridpoint.run(problem, initial)
    assert np.abs(result.fields["u"] - result.fields["u"].mean(-1, keepdims=True)).max() < 1e-9
    change = result.fields["u"].mean(-1) - initial.fields["u"].mean(-1)
    weight = np.cos(np.linspace(-np.pi / 2, np.pi / 2, 97)[1::2])[:, None] * vertical(10).thickness
    assert np.sqrt((weight * change**2).sum() / weight.sum()) < 0.15
    assert np.abs(result.fields["ps"] - 1e5).max() < 100.0
    assert all(check.ok for check in gridpoint.verify(problem, result))


def test_wave_grows_as_it_did():
    # 3.75°, ten levels: measured once, between the fine grid's and nothing; an error of a term shows here at once
    problem = Problem(ni=96, nj=48, levels=10, hours=8 * 24.0, writeup=0.0)
    result = gridpoint.run(problem, gridpoint.setup(problem))
    assert result.fields["ps"].min() / 100 == pytest.approx(989.4, abs=1.0)
    assert all(check.ok for check in gridpoint.verify(problem, result))


# Work files


@settings(max_examples=20, deadline=None)
@given(
    st.sampled_from([1, 2, 4]),
    st.sampled_from(["memory", "cache", "paced"]),
    st.sampled_from(["none", "one", "both"]),
    st.sampled_from(["memory", "files"]),
    st.integers(1, 21),
)
def test_answer_is_the_same_bit_for_bit(start, answer, files, place, overlap, rhs, lines):
    changes = {"files": files, "place": place, "overlap": overlap, "rhs": rhs, "lines": lines}
    result = gridpoint.run(replace(SHORT, **changes), start)
    assert result.digest == answer.digest


@pytest.mark.parametrize("changes", [{}, {"physics": True, "radiation": 1.0}, {"nj": 13, "lines": 5}])
def test_answer_is_the_same_with_any_number_of_threads(changes, monkeypatch):
    problem = replace(SHORT, **changes)
    initial = gridpoint.setup(problem)
    alone = gridpoint.run(problem, initial)
    monkeypatch.setattr(model, "FEWEST", 1)
    monkeypatch.setattr(resources, "usable_cpus", lambda: 7)
    for threads in (2, 3, 7):  # seven bands of one or two rows read beyond their neighbours
        result = gridpoint.run(problem, initial, threads)
        assert result.threads == threads
        assert result.digest == alone.digest


def test_a_result_says_how_many_threads_computed(monkeypatch):
    monkeypatch.setattr(resources, "usable_cpus", lambda: 2)
    problem = Problem(ni=32, nj=48, levels=2, hours=1.0)
    for changes, threads in (({}, 2), ({"nj": 47}, 1), ({"files": 1}, 1), ({"rhs": "files"}, 1)):
        changed = replace(problem, **changes)
        assert gridpoint.run(changed, gridpoint.setup(changed), threads=2).threads == threads


def test_work_files_lie_in_the_folders_in_turn(start, answer, tmp_path):
    folders = tmp_path / "a", tmp_path / "b"
    for folder in folders:
        folder.mkdir()
    problem = replace(SHORT, files=4, place="cache", rhs="files", folder=tuple(map(str, folders)))
    found = []

    def look():
        found.extend(sorted(path.name for path in folder.glob(".forecast-*/*")) for folder in folders)

    result = gridpoint.run(problem, start, on_ready=look)
    assert found == [["rhs0", "rhs2", "work0", "work2"], ["rhs1", "work1", "work3"]]
    assert result.digest == answer.digest and [list(folder.iterdir()) for folder in folders] == [[], []]


def test_answer_is_the_same_past_the_page_cache(start, answer, tmp_path):
    from supercomputers_rerun.kernels.files.filesystem import direct_refusal

    if direct_refusal(tmp_path):
        pytest.skip("no O_DIRECT here")
    for files in (1, 2, 4):
        problem = replace(SHORT, files=files, place="direct", overlap="both", rhs="files", folder=str(tmp_path))
        assert gridpoint.run(problem, start).digest == answer.digest
    assert not list(tmp_path.iterdir())


def test_physics_gives_the_same_bits_too():
    problem = replace(SHORT, physics=True, radiation=1.0)
    initial = gridpoint.setup(problem)
    alone = gridpoint.run(problem, initial)
    other = gridpoint.run(replace(problem, files=4, overlap="both", rhs="files", lines=5), initial)
    assert other.digest == alone.digest
    assert alone.fields["rain"].max() > 0 and np.abs(alone.fields["heating"]).max() > 0
    assert {step.kind for step in alone.steps} == {"write-up", "radiation", "normal", "last and write-up"}
    assert all(check.ok for check in gridpoint.verify(problem, alone))


def test_physics_acts_for_as_long_as_a_step_lasts():
    """Air cools by its radiative heating and a little condensation; friction at the ground takes a day."""
    problem = Problem(hours=3.0)
    moist = replace(problem, physics=True, radiation=1.0)
    plain, found = (gridpoint.run(each, gridpoint.setup(each)).fields for each in (problem, moist))
    radiated = found["heating"].mean() * 3600.0 * problem.hours
    assert radiated < -0.1
    assert 0.5 < (found["T"] - plain["T"]).mean() / radiated < 1.1
    slowed = [np.sqrt((found["u"][:, k] ** 2).mean() / (plain["u"][:, k] ** 2).mean()) for k in (0, -1)]
    assert slowed[0] > 0.99 and 0.85 < slowed[1] < 0.95


def test_record_of_the_operational_grid_is_full():
    assert extents(Problem.preset("paper")).half_record == 35 * 512 == 64 + 6 * 15 * 192 + 3 * 192
    assert state.record_bytes(Problem.preset("paper")) == 8 * 3_440_640


def test_one_transfer_at_a_time_reads_ahead_and_writes_in_line():
    driver, who = stores.Driver("one"), []
    driver.finish(driver.start(lambda: who.append(threading.get_ident()), False))
    assert driver.start(lambda: who.append(threading.get_ident()), True) is None
    driver.close()
    assert who[0] != threading.get_ident() == who[1] and len(driver.moving) == 2


def test_overlap_counts_bytes_that_move_while_rows_are_computed():
    share = state.overlapped_share([(0.0, 1.0, 100, True), (2.0, 4.0, 100, False)], [(0.5, 1.5), (3.0, 3.5)])
    assert share == pytest.approx((50 + 25) / 200)


# Write-ups, post-processing


def kept(problem, initial, folder):
    """A run, and links to its write-up files in order."""
    copies = []

    def keep(path):
        copies.append(folder / f"kept{len(copies)}")
        os.link(path, copies[-1])

    return gridpoint.run(replace(problem, folder=str(folder)), initial, on_writeup=keep), copies


@pytest.mark.parametrize("files", [0, 2])
def test_write_ups_have_the_state_of_their_step(tmp_path, files):
    problem = replace(SHORT, physics=True, radiation=1.0, files=files)
    result, copies = kept(problem, gridpoint.setup(problem), tmp_path)
    assert len(copies) == len(problem.writeup_steps) == 3
    early = replace(problem, hours=2.0)
    for path, found, step in ((copies[2], result, 8), (copies[1], gridpoint.run(early, gridpoint.setup(early)), 4)):
        fields, header = writeup.read(path)
        assert header["step"] == step and header["time"] == step * problem.dt
        assert all((fields[name] == found.fields[name]).all() for name in (*writeup.NAMES, *writeup.LINES))


def test_post_processing_reads_rows_or_the_whole(tmp_path, start, monkeypatch):
    monkeypatch.setattr(postprocess, "ROWS", 5)
    _, copies = kept(SHORT, start, tmp_path)
    whole = postprocess.run(copies[2], tmp_path / "whole")
    postprocess.run(copies[2], tmp_path / "small", small=True, device=True)
    assert whole["bytes"] == 5 * 11 * SHORT.nj * (16 + 2 * SHORT.ni)
    data = (tmp_path / "whole").read_bytes()
    assert (tmp_path / "small").read_bytes() == data
    packed = np.frombuffer(data, postprocess._form(SHORT.ni)).reshape(-1, 5, 11)[:, 2, 3]
    fields, _ = writeup.read(copies[2])
    exact = postprocess.to_pressure(fields["T"], fields["ps"], SHORT.levels)[:, 3]
    assert np.abs(packed["low"][:, None] + packed["step"][:, None] * packed["numbers"] - exact).max() < 1e-3


def test_interpolation_is_exact_for_what_is_linear_in_the_logarithm():
    ps = np.full((2, 16), 101325.0)
    field = np.log(vertical(15).full)[None, :, None] * 3.0 + 2.0 + np.zeros((2, 15, 16))
    out = postprocess.to_pressure(field, ps, 15)
    inside = (postprocess.PRESSURES < vertical(15).full[-1] * 101325) & (postprocess.PRESSURES > 0.03 * 101325)
    exact = 3.0 * np.log(postprocess.PRESSURES / 101325.0) + 2.0
    assert np.abs(out - exact[:, None])[:, inside].max() < 1e-12


def test_below_the_ground_the_height_is_hydrostatic():
    """Isothermal air at rest over a mountain: Φ = −R T ln(p / 1000 hPa), to what a discrete lowest layer leaves."""
    fields = at_rest(Problem(levels=15)).fields
    found = postprocess.convert(fields, 15)
    phi, lowest = found["phi"], vertical(15).full[-1] * fields["ps"]
    depth = 287.0 * 300.0 / 9.80616 * np.log(1e5 / lowest)  # of 1000 hPa below the lowest level
    np.testing.assert_allclose(found["T"][:, 0], 300.0 + 0.0065 * depth, atol=1e-9)
    deep = postprocess.PRESSURES[:, None] > fields["ps"][:, None]  # (rows, pressures, ni)
    exact = np.broadcast_to(-287.0 * 300.0 * np.log(postprocess.PRESSURES / 1e5)[:, None], phi.shape)
    assert deep.sum() > 100 and np.abs(phi - exact)[deep].max() < 400.0  # m²/s², forty metres of up to 2000


# Radiation


@given(st.floats(180.0, 320.0), st.integers(2, 20))
@settings(max_examples=20, deadline=None)
def test_isothermal_air_loses_only_what_leaves_to_space(temperature, levels):
    columns = np.full((levels, 8), temperature)
    humidity = np.full((levels, 8), 1e-3)
    pressure = np.repeat(np.linspace(0, 1e5, levels + 1)[:, None], 8, 1)
    out, room = np.zeros((levels, 8)), np.zeros((3 * levels + 3, 8))
    physics.heating(columns, humidity, pressure, np.full(8, temperature), out, room)
    lost = (out * 1004.5 / 9.80616 * np.diff(pressure, axis=0)).sum(0)
    # layers and ground exchange nothing; all that is lost leaves to space: a black body's radiation but for what
    # the air lets through
    through = np.exp(-physics.ABSORPTION * (1e-3 + physics.Q_0) * 1e5 / 9.80616).mean()
    assert np.allclose(lost, -physics.STEFAN * temperature**4 * (1 - through), rtol=1e-9)


# Builds, the simulator


def test_a_difference_of_builds_counts_what_differs(tmp_path, start):
    from supercomputers_rerun.kernels.jobs import builds

    _, copies = kept(SHORT, start, tmp_path)
    data = np.fromfile(copies[2])
    data[writeup.HEADER] += 1e-9  # u of the first row
    data[7] = zlib.crc32(data[writeup.HEADER :])
    data.tofile(tmp_path / "other")
    (ours, header), (theirs, other) = (writeup.read(path) for path in (copies[2], tmp_path / "other"))
    assert builds.difference(ours, ours) == (0.0, 0.0)
    differing, largest_T = builds.difference(ours, theirs)
    assert 0.0 < differing < 1e-4 and largest_T == 0.0
    assert header["sum"] != other["sum"] == data[7]


@pytest.mark.parametrize(
    ("files", "place", "overlap"), [(4, "memory", "both"), (2, "cache", "none"), (1, "memory", "one")]
)
def test_simulator_and_forecast_move_what_is_counted(start, tmp_path, files, place, overlap):
    problem = replace(SHORT, files=files, place=place, overlap=overlap, folder=str(tmp_path))
    pace = simulator.Pace({"normal": 1e-4}, 1e9)
    stood_in, real, work = simulator.run(problem, pace), gridpoint.run(problem, start), gridpoint.work(problem)
    for found in (stood_in, real):
        assert (found.moved(False), found.moved(True)) == (work.bytes_read, work.bytes_written)
    assert [step.number for step in stood_in.steps] == [step.number for step in real.steps]
    assert sum("write-up" in step.kind for step in stood_in.steps) == len(problem.writeup_steps)
    assert all(check.ok for check in simulator.verify(problem, stood_in))
    assert not list(tmp_path.iterdir())
