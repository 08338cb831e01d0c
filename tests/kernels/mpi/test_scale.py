"""The scale model beyond this machine: monotone, bounded, and free of the machine."""

import math

from supercomputers_rerun.kernels.mpi import halo
from supercomputers_rerun.kernels.mpi.mesh import Mesh, forecast
from supercomputers_rerun.kernels.shallow_water.problem import RADIUS


def test_a_forecast_sends_more_with_more_ranks_and_never_more_than_it_holds():
    counts = [forecast("N80", 159, 8, ranks) for ranks in (1, 2, 8, 64, 512)]
    sent = [count.bytes for count in counts]
    assert sent[0] == 0 and sent == sorted(sent)
    mesh = Mesh("N80", 159, 8, 1, 1)
    most = 10 * 8 * (8 * mesh.grid.points + 16 * int(mesh.counts.sum()))
    assert sent[-1] < most
    assert all(a.messages < b.messages for a, b in zip(counts, counts[1:], strict=False))


def test_a_halo_that_is_scaled_is_near_the_one_that_is_counted():
    for way in halo.WAYS:
        problem = halo.Problem(ranks=48, way=way)
        whole, scaled = halo.count_messages(problem), halo.count_messages(problem, most=16)
        assert abs(scaled.bytes / whole.bytes - 1) < 0.1 and abs(scaled.messages / whole.messages - 1) < 0.1


def test_points_on_demand_lie_within_the_fixed_halo():
    problem = halo.Problem(ranks=4)
    own = halo.owned(problem.mesh, 1)
    needed = set(halo.departures(problem, own).tolist())
    fixed = set(halo.fixed_halo(problem.mesh, own, problem.width).tolist())
    assert needed and needed < fixed
    assert not fixed & set(own.tolist())


def test_points_around_departures_are_those_of_a_loop():
    """Four rows by four points around where each point comes from, one point after the other; polar rows repeat."""
    problem = halo.Problem("O16", ranks=3, wind=200.0, dt=7200.0)
    grid, own = problem.mesh.grid, halo.owned(problem.mesh, 1)
    mine = set(own.tolist())
    north_of = [math.radians(value) for value in grid.latitudes]
    found = set()
    for row, length in enumerate(grid.pl.tolist()):
        for column in range(length):
            if int(grid.starts[row]) + column not in mine:
                continue
            angle, latitude = 2 * math.pi * column / length, north_of[row]
            move = problem.wind * problem.dt / RADIUS
            latitude -= 0.4 * move * math.cos(latitude) * math.sin(3 * angle)
            angle -= move
            above = sum(value > latitude for value in north_of) - 1  # the row to the north
            for near in range(above - 1, above + 3):
                near = min(max(near, 0), len(north_of) - 1)
                n = int(grid.pl[near])
                west = math.floor(angle / (2 * math.pi) * n)
                found |= {int(grid.starts[near]) + (west + side) % n for side in range(-1, 3)}
    assert sorted(found - mine) == halo.departures(problem, own).tolist()


def test_every_point_has_one_owner():
    for grid, ranks in (("N32", 6), ("O16", 4), ("F16", 5)):
        mesh = halo.Problem(grid, ranks=ranks).mesh
        pieces = [halo.owned(mesh, rank) for rank in range(ranks)]
        assert sorted(point for piece in pieces for point in piece.tolist()) == list(range(mesh.grid.points))
        assert all((halo.owners(mesh, piece) == rank).all() for rank, piece in enumerate(pieces))
