"""The figures and experiments of chapter 3 say what tables and runs say."""

import numpy as np
import pytest

from companion import experiments, tables
from companion.chapters.nht1 import figures as nht1
from companion.figures.rendering import offered as drawn


@pytest.fixture(scope="module")
def writing():
    return experiments.run("nht1-io", preset="quick", threads=1, rounds=2, budget=5.0, progress=False)


def test_overhead_follows_from_the_times(writing):
    np.testing.assert_allclose(writing["zeta"], writing["T_T"] / writing["T_C"] - 1)
    assert (writing["zeta_best"] >= writing["zeta"] - 1e-12).all()


def test_transfer_rate_is_the_solution_over_the_elapsed_time(writing):
    N, NS, IW = (int(writing[name].values[0]) for name in ("N", "NS", "IW"))
    np.testing.assert_allclose(writing["R_IO"] * writing["T_T"], 5 * 8 * N**3 * (NS // IW))


def test_every_way_is_run_once_a_size_and_thread_count(writing):
    ways = writing["run_way"].values.tolist()
    assert len(ways) == len(set(ways)) and {"40-byte elements", "NetCDF", "Zarr"} <= set(ways)


def test_overheads_draw_ranges_above_runs(writing):
    printed = tables.printed("nht1", "overheads")
    shown = nht1.overheads(printed, writing)
    assert len(drawn(shown)) == writing.sizes["run"]
    assert all(f"{system} (1993)" in shown.html for system in printed["system"])
    assert len(drawn(nht1.choice_of_base(writing))) == writing.sizes["run"]


def test_groups_curve_has_each_group_once():
    record = experiments.run("nht1-groups", preset="quick", rounds=2, budget=5.0, progress=False)
    frame = drawn(nht1.groups(tables.printed("nht1", "figure_1_axes"), 16, record))
    assert frame["group"].tolist() == [1, 2, 4] and (frame["ms_low"] <= frame["ms"]).all()
    np.testing.assert_allclose(frame["ms"], 1e3 * record["group_median"])


def test_write_sizes_and_rates_come_from_the_tables():
    sizes = tables.printed("nht1", "write_sizes")
    frame = drawn(nht1.write_sizes(tables.printed("nht1", "table_1"), sizes))
    assert frame["bytes_per_write"].tolist() == sizes["bytes_per_write"].tolist()
    rates = drawn(nht1.io_rates(tables.load("nht1", "systems")))
    assert rates.set_index(["system", "what"]).loc[("CM-2", "peak of the I/O system"), "rate"] == 25


def test_field_draws_the_middle_plane_and_its_distance():
    u = np.random.default_rng(1).random((6, 6, 6, 5))
    exact = np.zeros((6, 6, 5))
    frame = drawn(nht1.field(u, exact))
    np.testing.assert_allclose(frame["density"], u[3, :, :, 0].ravel())
    np.testing.assert_allclose(frame["minus_exact"], u[3, :, :, 0].ravel())


def test_solver_figure_divides_by_the_steps():
    record = experiments.run("nht1-solver", preset="quick", rounds=2, budget=3.0, progress=False)
    frame = drawn(nht1.solver(record))
    np.testing.assert_allclose(frame["ms_per_step"], 1e3 * frame["median"] / frame["NS"])


def test_layout_is_described():
    assert "five components" in nht1.layout().alt
