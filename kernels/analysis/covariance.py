"""Covariances of the background's errors between what is observed and what is analysed, and the work of one box.

The errors are those of a stream function ψ with variance E² and correlation exp(−½ |x − x'|²), where x has four
coordinates: a point of the sphere in space over the length scale, and ln p over the depth scale.  A datum sees

    h = α ψ + β·∇ψ         geopotential  α = f E;      wind  β = ±E/length × the unit vector at right angles to it

so that winds are non-divergent, geopotential follows them geostrophically, and for two data

    cov(h, h') = exp(−½ |x − x'|²) [(α − β·Δ)(α' + β'·Δ) + β·β'],     Δ = x − x' in space

(Lorenc, Mon. Weather Rev. 109, 1981, for the method; the Gaussian form is this program's choice.)  Points are
float64 (8, n): rows are the four coordinates, α and β.  α and β of data are divided by the datum's standard error;
then A = cov + 1 is the matrix of the departures' covariances, well conditioned whatever the units.  A datum with
α = β = 0 has no part in anything.

Arrays are float64 and may be longer than is said here: ``points`` (8, n), of data; ``departures`` (n,), observation
less background over the observation's error; ``grid`` (8, m), points of the analysis; ``weights`` (n,), A⁻¹ d; ``a``,
room for a matrix of n rows; ``out`` and ``reduction`` are written.  ``n`` is a multiple of eight, and so is m but for
:func:`evaluate`.  No function checks what it is given.
"""

from supercomputers_rerun.kernels.analysis.cholesky import STEP, backwards, factor
from supercomputers_rerun.kernels.routines.elementary import EXP_FLOPS, exp
from supercomputers_rerun.kernels.runtime.jit import CONTRACT, kernel
from supercomputers_rerun.kernels.runtime.vector import (
    LANES,
    address,
    at,
    fma,
    less,
    load,
    select,
    spread,
    store,
    total,
)

#: Exponents below this, of what is as good as uncorrelated, are raised to it.
FAR = -600.0
#: Operations of one covariance, a fused multiply-add as two.
PAIR_FLOPS = EXP_FLOPS + 4 + 8 + 6 + 6 + 2 + 2 + 1


@kernel(inline=True)
def _seen(point, p, n, i):
    """Of eight points of n from ``i`` on: Δ to ``point`` and that of ln p, exp(−½ |Δ|²), β', α' + β'·Δ."""
    x, y, z, lnp = point
    dx, dy, dz, dp = x - load(p, i), y - load(p, n + i), z - load(p, 2 * n + i), lnp - load(p, 3 * n + i)
    exponent = fma(dp, dp, fma(dz, dz, fma(dy, dy, dx * dx))) * -0.5
    near = exp(select(less(exponent, FAR), spread(FAR), exponent))
    bx, by, bz = load(p, 5 * n + i), load(p, 6 * n + i), load(p, 7 * n + i)
    return (dx, dy, dz, dp), near, (bx, by, bz), load(p, 4 * n + i) + fma(bz, dz, fma(by, dy, bx * dx))


@kernel(fastmath=CONTRACT)
def covariances(points, rows, others, columns, out, offset):
    """out[j, offset + i] = cov of point j < ``rows`` of ``points`` and i < ``columns`` of ``others``.

    ``points`` and ``others`` are float64 (8, n), ``out`` float64 (n, width); ``columns`` is a multiple of
    eight.  With ``offset`` 0 what lies left of j's own eight columns is left out: the matrix is symmetric.
    """
    p, o, q = address(points), address(others), address(out)
    np, no, ld = points.shape[1], others.shape[1], out.shape[1]
    for j in range(rows):
        point = spread(at(p, j)), spread(at(p, np + j)), spread(at(p, 2 * np + j)), spread(at(p, 3 * np + j))
        alpha = spread(at(p, 4 * np + j))
        bx, by, bz = spread(at(p, 5 * np + j)), spread(at(p, 6 * np + j)), spread(at(p, 7 * np + j))
        for i in range(j - j % LANES if offset == 0 else 0, columns, LANES):
            (dx, dy, dz, _), near, (ox, oy, oz), theirs = _seen(point, o, no, i)
            mine = alpha - fma(bz, dz, fma(by, dy, bx * dx))
            both = fma(mine, theirs, fma(bz, oz, fma(by, oy, bx * ox)))
            store(q, j * ld + offset + i, near * both)


@kernel(fastmath=CONTRACT)
def _system(points, departures, n, a):
    """The lower half of A, and the departures in column ``n``."""
    covariances(points, n, points, n, a, 0)
    for j in range(n):
        a[j, j] += 1.0
        a[j, n : n + STEP] = 0.0
        a[j, n] = departures[j]


@kernel(fastmath=CONTRACT)
def check(a, points, departures, n, out):
    """Each datum against what all others say of it, without a matrix for each.

    With w = A⁻¹ d the others miss datum i by w_i / (A⁻¹)_ii, whose variance is 1 / (A⁻¹)_ii.  ``out`` (2, n) receives
    the departure from what the others say, in units of its standard deviation, and (A⁻¹)_ii; ``a`` has 2 n + 8
    columns.  False where A is not positive definite.
    """
    room = a[:n]
    _system(points, departures, n, room)
    first = n + STEP
    for j in range(n):
        room[j, first : first + n] = 0.0
        room[j, first + j] = 1.0
    if not factor(room, first + n, first):
        return False
    p, ld = address(room), room.shape[1]
    for i in range(0, n, LANES):
        weight, square = spread(0.0), spread(0.0)
        for k in range(i, n):
            y = load(p, k * ld + first + i)
            weight = fma(y, at(p, k * ld + n), weight)
            square = fma(y, y, square)
        store(address(out), i, weight)
        store(address(out), out.shape[1] + i, square)
    for i in range(n):
        out[0, i] /= out[1, i] ** 0.5
    return True


@kernel(fastmath=CONTRACT)
def assimilate(a, points, departures, n, grid, weights, reduction):
    """``weights`` of a box's data, and by how much they lower the error's variance at grid points.

    ``reduction`` (m,) receives cᵀ A⁻¹ c of each; ``a`` has n + 8 + m columns, a multiple of eight.  False where A is
    not positive definite.
    """
    room, first, columns = a[:n], n + STEP, grid.shape[1]
    _system(points, departures, n, room)
    covariances(points, n, grid, columns, room, first)
    if not factor(room, first + columns, first + columns):
        return False
    backwards(room, n, n, weights)
    p, ld = address(room), room.shape[1]
    for i in range(0, columns, LANES):
        square = spread(0.0)
        for k in range(n):
            c = load(p, k * ld + first + i)
            square = fma(c, c, square)
        store(address(reduction), i, square)
    return True


@kernel(fastmath=CONTRACT)
def evaluate(points, weights, n, grid, out):
    """What weighted data say at grid points, of which only coordinates are read.

    ``out`` (5, m): ψ/E; the three components of length ∇ψ/E; depth ∂(ψ/E)/∂ln p.
    """
    g, p, w = address(grid), address(points), address(weights)
    ng, np = grid.shape[1], points.shape[1]
    for i in range(ng):
        point = spread(at(g, i)), spread(at(g, ng + i)), spread(at(g, 2 * ng + i)), spread(at(g, 3 * ng + i))
        value, gx, gy, gz, gp = spread(0.0), spread(0.0), spread(0.0), spread(0.0), spread(0.0)
        for j in range(0, n, LANES):
            (dx, dy, dz, dp), near, (bx, by, bz), theirs = _seen(point, p, np, j)
            near = near * load(w, j)
            theirs = near * theirs
            value, gp = value + theirs, gp - theirs * dp
            gx, gy, gz = gx + near * bx - theirs * dx, gy + near * by - theirs * dy, gz + near * bz - theirs * dz
        out[0, i], out[1, i], out[2, i] = total(value), total(gx), total(gy)
        out[3, i], out[4, i] = total(gz), total(gp)
