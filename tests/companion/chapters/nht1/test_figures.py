"""The figures and experiments of chapter 3 say what tables and runs say."""

import numpy as np
import pytest

from companion import tables
from companion.chapters.nht1 import figures as nht1
from companion.chapters.nht1.figures.writing import written
from companion.figures.rendering import offered as drawn
from companion.records import runs

pytestmark = pytest.mark.usefixtures("alone")


@pytest.fixture(scope="module")
def writing():
    return runs.latest("nht1-io")


def test_overhead_follows_from_the_times(writing):
    rows = nht1.runs_table(writing)
    np.testing.assert_allclose(rows["overhead"], 100 * (rows["T_T"] / rows["T_C"] - 1))
    assert (rows["overhead over the best T_C"] >= rows["overhead"] - 1e-9).all()


def test_transfer_rate_is_the_solution_over_the_elapsed_time(writing):
    written = writing.isel(case=writing["way"].values != "none")
    N, NS, IW = (written[name].values for name in ("N", "NS", "IW"))
    rows = nht1.runs_table(writing)
    np.testing.assert_allclose(1e6 * rows["R_IO"] * rows["T_T"], 5 * 8 * N**3 * (NS // IW))
    assert {"40-byte elements", "NetCDF", "Zarr"} <= set(rows["way"])


def test_overheads_draw_methods_that_wait_and_offer_all(writing):
    shown = nht1.overheads(writing)
    rows = len(nht1.runs_table(writing))
    assert len(drawn(shown)) == rows and "memory-mapped" in shown.html and "asynchronous" not in shown.html
    assert len(drawn(nht1.choice_of_base(writing))) == rows


def test_groups_curve_has_each_group_once():
    record = runs.latest("nht1-groups")
    frame = drawn(nht1.groups(tables.printed("nht1", "figure_1_axes"), 16, record))
    assert frame["group"].tolist() == record["group"].values.tolist() and (frame["ms_low"] <= frame["ms"]).all()
    np.testing.assert_allclose(frame["ms"], 1e3 * record["group_median"])


def test_field_draws_the_middle_plane_and_its_distance():
    u = np.random.default_rng(1).random((6, 6, 6, 5))
    exact = np.zeros((6, 6, 5))
    frame = drawn(nht1.field(u, exact))
    np.testing.assert_allclose(frame["density"], u[3, :, :, 0].ravel())
    np.testing.assert_allclose(frame["minus_exact"], u[3, :, :, 0].ravel())


def test_solver_figure_divides_by_the_steps():
    record = runs.latest("nht1-solver")
    frame = drawn(nht1.solver(record))
    np.testing.assert_allclose(frame["ms_per_step"], 1e3 * frame["median"] / frame["NS"])


def test_the_best_overhead_is_held_against_the_fastest_run_of_the_same_size():
    record = runs.latest("nht1-io")
    rows, found = written(record)
    alone = record["median"].values[record["way"].values == "none"]
    sizes = record["N"].values[record["way"].values == "none"]
    fastest = np.array([alone[sizes == size].min() for size in rows["N"]])
    np.testing.assert_allclose(found["zeta_best"]["middle"], 100 * (found["T_T"]["middle"] / fastest - 1))
