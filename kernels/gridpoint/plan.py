"""Where the numbers of a forecast lie, in memory and in records, and the coefficients that its compiled rows need.

No step is made here.  The equations are in ``rows`` and ``helmholtz``; the factors of the filter near the poles and the
pivots of the elimination, which the latter takes, are worked out here ahead (``polar_filter``, ``pivots``).  Symbols
are those of ``rows``, in SI units::

    X           each of u, v (wind to the east, to the north), T, q and p_s (temperature, humidity, surface pressure)
    X⁰, X⁻      the present state, and that of the step before after the time filter, whose factor ε is 0.05
    c           the semi-implicit correction, known when the Helmholtz equations of a step are solved for all rows
    P, Q        what is known before c is: P + c will be X⁰, Q + ε c will be X⁻ of the next step
    Yᵉ          P − 2X⁰ + X⁻, of which the Helmholtz equations' right-hand sides are made; D: divergence of its wind
    G           potential that these equations give, m²/s²; c of the wind is −Δt ∇G
    K, Φ, Φ_s   kinetic energy, geopotential, that of the ground, m²/s²
    σ, ṁ, ω, κ  p/p_s, p_s dσ/dt, dp/dt, R/c_p of air; half levels of σ bound the levels, which are Δσ thick
    ζ, f        vorticity; 2Ω sinφ, with Ω of the rotating Earth, 1/s
    a, φ, λ     the Earth's radius; latitude and longitude in radians, rows Δφ and points Δλ apart
    Δt          time step, s

The grid is a C grid: mass rows at φ_j = −π/2 + (j + ½) Δφ, no row on a pole; u half a grid length east of the
mass points, v half a grid length south (the *south face* of the row; on the poles v is zero).

A row of latitude passes several stages (``rows``), between which it lies in the window: fields [level][longitude]
with ``HALO`` places on either side of each level, then *rows of longitude* (no levels, as p_s).  ``window_row``
and ``record_row`` give the place of everything by name, which is how the stages find it::

    row j of the window, at (j mod ``ring``) · ``row``
      field 0   level 0    HALO | ni longitudes, west to east | HALO      ``pitch`` numbers
                level 1    …                                              ``field`` = levels · pitch
      … the fields in the order of ``WindowRow``
      then lines of a pitch: p_s of Yᵉ, p_s, p_s of X⁻, ln p_s, ∂p_s/∂t

    the ring of five rows (``Extents.ring``), while row j is the newest:

      row      its stage now        which reads, of the ring, rows
      j        complete             none: its record, and G of j − 1, j, j + 1
      j − 1    flow                 j − 2, j − 1, j
      j − 2    tendency, advance    j − 3, j − 2, j − 1
      j − 3    implicit             j − 3, j − 2
      j − 4    none                 spare, which no stage reads: j + 1 takes its place (four rows would be enough)

Fields that a stage leaves for the next, eighteen a row, exist in the window alone, which stays in the cache where that
is large enough (``scan`` has sizes): the scan over all rows moves no more than their records, G and right-hand sides.
What this, ``HALO``, the fifth row and sixteen transforms at once gain or cost has no number; ``book/peers.md``, *Whole
forecasts*, has days of a forecast beside another program's.  Work files hold the records, and three more files the
right-hand sides where the problem says so.

The record of a row, in memory as in the work files, is two halves of whole blocks of eight-byte words:

==============================  ==================================================================================
half A                          64 words that nothing uses, then P of u, v, T, q; D; radiative heating (K/s), each
                                [level][longitude]; then rows of longitude: P of p_s, Φ_s, surface temperature
half B                          Q of u, v, T, q; cloud water (kg/kg); room for ω, which stays zero; then Q of p_s,
                                fallen rain (kg/m²), wetness, which no stage changes
==============================  ==================================================================================

What is left of the last block of a half is not used.  With 192 points and 15 levels a half has exactly 35 blocks of
512 words, of which half B leaves 64 unused at its end.

In all stages ``plan`` is the ``ForecastPlan`` of the run, ``arrays`` its ``ForecastArrays``, both of which
``model.Model`` owns, ``size`` its ``Extents``, ``j`` the number of a row from south to north, ``k`` that of a level,
from the top down; ``w`` is the address of a window or scratch, ``o`` an offset in it and ``ni`` the points of one of
its rows.
"""

import math
from typing import NamedTuple

import numpy as np

from supercomputers_rerun.kernels.contract import ceil_div
from supercomputers_rerun.kernels.fft import factorise, roots
from supercomputers_rerun.kernels.gridpoint.levels import DAMPING, OMEGA, P_REF, RADIUS, T_REF, Levels, R, vertical
from supercomputers_rerun.kernels.gridpoint.problem import LAG, Problem
from supercomputers_rerun.kernels.runtime.jit import kernel
from supercomputers_rerun.kernels.runtime.vector import LANES, address, load, store

#: Places on either side of a row in memory, for neighbours across the ends of a row.  Stages read two at most; with
#: a vector of them ``wrap`` is one copy a side, and each level begins on a cache line.
HALO = LANES
#: Numbers of one element of a Fourier transform: eight real parts, then eight imaginary parts.  Each of the sixteen
#: belongs to a real row of longitude, or mode, of its own: so many are transformed at once.
PAIR = 2 * LANES
#: Words of a block of a work file.
BLOCK = 512
#: Words of half A of a record before its first field: at the size of 1982, 192 points and 15 levels, its fields fill
#: all but these of its blocks.
HEADER = 64


class Extents(NamedTuple):
    """Counts and distances, in doubles where nothing else is said."""

    ni: int  # a multiple of 16 (``Problem``): loops take 8 or 16 points at once, and levels begin on cache lines
    nj: int
    levels: int
    pitch: int  # between levels in the window
    field: int  # of a field in the window
    row: int  # of one row in the window: its fields and the rows of longitude behind them
    ring: int  # rows of the window: the newest, three behind it, a spare; to read a state (``model``) those of a group
    slots: int  # records in memory: nj, with work files the groups under way and the three rows behind them
    spectra: int  # rows of right-hand sides in memory, half a spectrum each, in ``ForecastArrays.spectra``
    half_record: int  # of half a record, A or B
    groups: int  # of sixteen modes
    spectrum: int  # of a row of ``spectra``, which is cut in three, a file each, of whole blocks
    depth: int  # of a row of G: whole groups of four levels
    tendency: int  # rows of longitude of one field's tendency, a multiple of sixteen
    fourier: int  # where the Fourier transform's work space begins in the scratch: behind tendencies and modes


class ForecastArrays(NamedTuple):
    """Memory of a run: C-contiguous float64 arrays of the shapes that ``shapes`` gives, ``meetings`` and the band of
    rows that a thread has.

    Arrays "of each thread" have the thread's number as first index until ``scan`` takes it; stages see the part of
    their own thread, without it.
    """

    window: np.ndarray  # of each thread, rows of the window
    records: np.ndarray  # records of the rows that are in memory
    #: of each thread, copies of records (no ``HALO``), rows south − 2, south − 1, north, north + 1, north + 2 of a band
    halo: np.ndarray
    G: np.ndarray  # implicit correction's potential of the step before, [level][longitude] with ``HALO`` in each row
    spectra: np.ndarray  # of each row, right-hand sides: [ni/2 + 1][groups][re, im of modes 0–7, re, im of 8–15][8]
    scratch: np.ndarray  # of each thread
    columns: np.ndarray  # of each thread, work space of ``physics.radiation``
    meetings: np.ndarray  # int64 (1,): arrivals of threads that wait for each other
    south: int = 0  # a thread's band: from this row
    north: int = 0  # to the one before this


class WindowRow(NamedTuple):
    """Where a level of each field of a row begins in the window, and each row of longitude behind the fields.

    Yᵉ takes the place of X⁻, which nothing reads once its own row has made its explicit step.  The order counts:
    ``rows`` goes from u to v, T, q by ``size.field``, and ``implicit`` takes T_change, divergence and ps_change as
    2 · levels + 1 lines.
    """

    u: int  # X⁰
    v: int
    T: int
    q: int
    u_delta2: int  # second differences of X⁻ in latitude
    v_delta2: int
    T_delta2: int
    q_delta2: int
    flux_u: int  # p_s u
    flux_v: int  # p_s v cosφ
    flux_down: int  # ṁ = p_s dσ/dt at the half level below
    bernoulli: int  # K + Φ
    eta: int  # (f + ζ)/p̄_s of the south face
    conversion: int  # κ T ω/p but for κ T V·∇ ln p_s, V being the wind, which ``rows.tendency`` adds
    u_before: int  # X⁻
    v_before: int
    T_before: int
    q_before: int
    u_change: int  # Yᵉ, where X⁻ was
    v_change: int
    T_change: int
    divergence: int  # of Yᵉ
    ps_change: int  # rows of longitude; the first belongs to Yᵉ and follows its divergence
    ps: int
    ps_before: int
    log_ps: int
    ps_rate: int  # ∂p_s/∂t = −Σ Δσ ∇·(p_s V)


#: Number of the first field of X⁻, which is that of Yᵉ too.
BEFORE = WindowRow._fields.index("u_before")
#: Fields [level][longitude] of a row of the window.  ``u_change`` and the three names after it add none: they are of Yᵉ
#: and lie where X⁻ was.
FIELDS = WindowRow._fields.index("u_change")
#: Rows of longitude behind the fields.
LINES = len(WindowRow._fields) - WindowRow._fields.index("ps_change")


class RecordRow(NamedTuple):
    """Where a level of each field begins in a record, and each row of longitude."""

    P_u: int
    P_v: int
    P_T: int
    P_q: int
    D: int
    heating: int
    P_ps: int
    phis: int
    surface: int
    Q_u: int
    Q_v: int
    Q_T: int
    Q_q: int
    cloud: int
    omega: int
    Q_ps: int
    rain: int
    wetness: int


#: Of these, rows of longitude; the others are fields [level][longitude].
RECORD_LINES = ("P_ps", "phis", "surface", "Q_ps", "rain", "wetness")


@kernel(inline=True)
def window_row(size, j, k):
    """The ``WindowRow`` of row ``j`` at level ``k``."""
    start = (j % size.ring) * size.row + HALO
    f = size.field
    p = size.pitch
    o = start + k * p
    line = start + FIELDS * f
    return WindowRow(
        u=o,
        v=o + f,
        T=o + 2 * f,
        q=o + 3 * f,
        u_delta2=o + 4 * f,
        v_delta2=o + 5 * f,
        T_delta2=o + 6 * f,
        q_delta2=o + 7 * f,
        flux_u=o + 8 * f,
        flux_v=o + 9 * f,
        flux_down=o + 10 * f,
        bernoulli=o + 11 * f,
        eta=o + 12 * f,
        conversion=o + 13 * f,
        u_before=o + BEFORE * f,
        v_before=o + (BEFORE + 1) * f,
        T_before=o + (BEFORE + 2) * f,
        q_before=o + (BEFORE + 3) * f,
        u_change=o + BEFORE * f,
        v_change=o + (BEFORE + 1) * f,
        T_change=o + (BEFORE + 2) * f,
        divergence=o + (BEFORE + 3) * f,
        ps_change=line,
        ps=line + p,
        ps_before=line + 2 * p,
        log_ps=line + 3 * p,
        ps_rate=line + 4 * p,
    )


@kernel(inline=True)
def record_row(size, k):
    """The ``RecordRow`` of level ``k``."""
    ni = size.ni
    f = size.levels * ni
    a = HEADER + k * ni  # the first field of half A, and its first row of longitude
    a_line = HEADER + 6 * f
    b = size.half_record + k * ni  # of half B
    b_line = size.half_record + 6 * f
    return RecordRow(
        P_u=a,
        P_v=a + f,
        P_T=a + 2 * f,
        P_q=a + 3 * f,
        D=a + 4 * f,
        heating=a + 5 * f,
        P_ps=a_line,
        phis=a_line + ni,
        surface=a_line + 2 * ni,
        Q_u=b,
        Q_v=b + f,
        Q_T=b + 2 * f,
        Q_q=b + 3 * f,
        cloud=b + 4 * f,
        omega=b + 5 * f,
        Q_ps=b_line,
        rain=b_line + ni,
        wetness=b_line + 2 * ni,
    )


@kernel(inline=True)
def record(arrays, size, j):
    """Address of the record of row ``j``; of its copy, where the row belongs to the band of another thread.

    Copies of the two rows to the south come before those of the rows to the north (``ForecastArrays.halo``).
    """
    if j < arrays.south:
        return address(arrays.halo[j - arrays.south + 2])
    if j >= arrays.north:
        return address(arrays.halo[j - arrays.north + 2])
    return address(arrays.records[j % size.slots])


@kernel(inline=True)
def neighbours(size, j):
    """Numbers of the rows to the south and to the north; at a pole of the row itself."""
    return max(j - 1, 0), min(j + 1, size.nj - 1)


@kernel(inline=True)
def wrap(w, o, ni):
    """Repeat both ends of the row at ``o`` beside the other end: neighbours across the ends of a row."""
    store(w, o + ni, load(w, o))
    store(w, o - HALO, load(w, o + ni - HALO))


def views(records: np.ndarray, size: Extents) -> dict[str, np.ndarray]:
    """The fields of many records, float64 (rows, words), as arrays (rows, levels, ni) or (rows, ni)."""
    fields = {}
    for name, start in record_row.py_func(size, 0)._asdict().items():
        shape = (size.ni,) if name in RECORD_LINES else (size.levels, size.ni)
        fields[name] = records[:, start : start + math.prod(shape)].reshape(len(records), *shape)
    return fields


class RowCoefficients(NamedTuple):
    """Coefficients by row, float64 (nj + 1,); *south* and *north* are the row's faces.

    Of what belongs to south faces, entry nj is that of the northern pole; of what belongs to rows, nobody reads it.
    """

    cos: np.ndarray  # cosφ_j
    inverse_cos: np.ndarray
    south: np.ndarray  # cosφ at the south face, 0 at the pole
    north: np.ndarray
    per_dx: np.ndarray  # 1/(a cosφ Δλ), 1/m
    per_dy: np.ndarray  # 1/(a cosφ Δφ), 1/m: factor of differences of v cosφ
    per_dy_face: np.ndarray  # 1/(a Δφ) at the south face, 0 at the pole, 1/m
    laplace_south: np.ndarray  # ∇² in latitude: weight of the row to the south, 1/m²
    laplace_north: np.ndarray
    f: np.ndarray  # 2Ω sinφ at the south face, 1/s
    curl_v: np.ndarray  # ζ at the south face: factor of the difference of v in longitude, 1/m
    curl_u: np.ndarray  # and of that of u cosφ in latitude, which is subtracted
    pole: np.ndarray  # ζ at a pole: factor of the mean of u beside it, 1/m
    damp_south: np.ndarray  # second difference in latitude of u, T, q: factor of X − X south, cosφ_face/cosφ_j
    damp_north: np.ndarray  # and of X north − X
    # of v, which lies on faces: cosφ of the mass row between over cosφ of its own face, 0 across the rows at the poles
    damp_south_v: np.ndarray
    damp_north_v: np.ndarray
    filtered: np.ndarray  # int64: bit 0 if u, T, q and p_s are filtered, bit 1 if v is


class WaveTables(NamedTuple):
    """What works in wavenumber space: the filter, the Helmholtz equations, the Fourier transforms."""

    filter: np.ndarray  # float64 (2, nj, ni): factor/ni (there and back is times ni) by wavenumber, mass rows and v
    forward: np.ndarray  # float64 (groups · 16, 2 · levels + 1): T, D, p_s of Yᵉ → right-hand sides by vertical mode
    backward: np.ndarray  # float64 (groups · 16, groups · 16): modes → G
    inverse: np.ndarray  # float64 (nj, ni/2 + 1, groups, 16): inverse pivots
    speed2: np.ndarray  # float64 (groups · 16,): Δt² c_m² of mode m, c_m its phase speed; ``Levels.speed2`` is c_m²
    radices: np.ndarray  # int64: factors of ni, of the Fourier transform, and 0 as the end
    roots: np.ndarray  # float64: roots of unity for the same transform


class ForecastPlan(NamedTuple):
    """All that the compiled stages need to know."""

    size: Extents
    rows: RowCoefficients
    column: Levels
    waves: WaveTables
    dt: float  # s
    damp: float  # factor of δ⁴ in the diffusion, 1/s


def row_coefficients(problem: Problem) -> RowCoefficients:
    """Coefficients of all rows and of the northern pole's face."""
    nj = problem.nj
    ni = problem.ni
    dphi = np.pi / nj
    dlam = 2 * np.pi / ni
    phi = -np.pi / 2 + (np.arange(nj + 1) + 0.5) * dphi
    face = -np.pi / 2 + np.arange(nj + 2) * dphi
    cos = np.cos(phi)
    sin = np.sin(phi)
    edge = np.cos(face)
    edge[[0, nj]] = 0.0
    cos[nj] = cos[nj - 1]  # there is no mass row nj: it has the last one's, which ``pole`` takes for the northern pole
    sin[nj] = sin[nj - 1]
    south = edge[: nj + 1]
    north = np.append(edge[1 : nj + 1], 0.0)
    before_cos = np.append(cos[0], cos[:-1])
    before_sin = np.append(sin[0], sin[:-1])
    # what has no meaning at a pole is divided by infinity, and becomes zero
    gap = sin - before_sin
    gap[[0, nj]] = np.inf
    inner = np.ones(nj + 1)
    inner[[0, nj]] = 0.0
    safe = np.where(south > 0, south, np.inf)
    damp_north_v = cos / safe
    damp_south_v = before_cos / safe
    damp_north_v[nj - 1] = 0.0  # no flux over the poles
    damp_south_v[1] = 0.0
    sign = np.zeros(nj + 1)
    sign[0] = -1.0
    sign[nj] = 1.0
    # beyond 60° short waves are damped; two bits
    filtered = np.where(cos < 0.5, 1, 0) | np.where((south < 0.5) & (south > 0), 2, 0)
    return RowCoefficients(
        cos=cos,
        inverse_cos=1 / cos,
        south=south,
        north=north,
        per_dx=1 / (RADIUS * cos * dlam),
        per_dy=1 / (RADIUS * cos * dphi),
        per_dy_face=inner / (RADIUS * dphi),
        laplace_south=south / (cos * (RADIUS * dphi) ** 2),
        laplace_north=north / (cos * (RADIUS * dphi) ** 2),
        f=2 * OMEGA * np.sin(face[: nj + 1]),
        curl_v=dphi / (RADIUS * dlam * gap),
        curl_u=1 / (RADIUS * gap),
        pole=sign * cos / (RADIUS * (1 - np.abs(sin))),
        damp_south=south / cos,
        damp_north=north / cos,
        damp_south_v=damp_south_v,
        damp_north_v=damp_north_v,
        filtered=filtered.astype(np.int64),
    )


def polar_filter(problem: Problem, rows: RowCoefficients) -> np.ndarray:
    """min(1, cosφ/(cos 60° sin(sΔλ/2))) at wavenumber s, by place in the spectrum, float64 (2, nj, ni): for mass rows,
    and for v with cosφ of its faces.  ``RowCoefficients.filtered`` says where it is applied."""
    s = np.arange(problem.ni)
    s = np.minimum(s, problem.ni - s)
    wave = np.maximum(np.sin(s * np.pi / problem.ni), 1e-300)
    cos = np.stack([rows.cos[: problem.nj], rows.south[: problem.nj]])
    return np.minimum(1.0, cos[:, :, None] / (0.5 * wave))


def pivots(problem: Problem, rows: RowCoefficients, speed2: np.ndarray) -> np.ndarray:
    """Inverse pivots of (1 − Δt²c_m²∇²) g = rhs, float64 (nj, ni/2 + 1, modes): by row, wavenumber s and vertical mode.

    ``speed2`` has Δt²c_m² of the modes m, c_m being their phase speeds.  At row j ∇² g is a_j g_{j−1} + b_j g_{j+1} −
    (w_j + a_j + b_j) g_j, with w_j = (2 sin(πs/ni)/(a cosφ_j Δλ))² and, as a_j and b_j, ``laplace_south`` and
    ``laplace_north`` of ``rows``.  Hence::

        pivot_j = 1 + Δt²c_m² (w_j + a_j + b_j) − (Δt²c_m²)² a_j b_{j−1}/pivot_{j−1}
    """
    ni = problem.ni
    nj = problem.nj
    s = np.arange(ni // 2 + 1)
    symbol = (2 * np.sin(np.pi * s / ni)) ** 2
    inverse = np.empty((nj, len(s), len(speed2)))
    upper = 0.0
    for j in range(nj):
        weight = symbol * rows.per_dx[j] ** 2 + rows.laplace_south[j] + rows.laplace_north[j]
        inverse[j] = 1 / (1 + weight[:, None] * speed2 - speed2 * rows.laplace_south[j] * upper)
        upper = speed2 * rows.laplace_north[j] * inverse[j]
    return inverse


def _matrices(problem: Problem, column) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """``WaveTables.speed2``, ``forward`` and ``backward``.

    ``forward`` makes of Yᵉ the right-hand sides E⁻¹ [γT + R T_REF p_s/P_REF − Δt B D], ``backward`` of their answers g
    the potential G = E g.  The columns of E are the modes m, eigenvectors of B = γτ + R T_REF 1⊗Δσ, and c_m² its
    eigenvalues; hence (1 − Δt²B∇²) G = E · (right-hand sides).  By level, from the top, with r = σ below/σ above::

        (γT)_k = R T_k α_k + Σ_{l>k} R T_l ln r_l                        Φ − Φ_s;   α_k = 1 − σ above/Δσ_k · ln r_k
        (τD)_k = κ T_REF [α_k D_k + ln r_k/Δσ_k Σ_{l<k} D_l Δσ_l]        −∂T/∂t;    at the top ln r = 0, α = ln 2
        (BD)_k = (γτD)_k + R T_REF Σ_l D_l Δσ_l                          T_REF = 300 K, P_REF = 10⁵ Pa (``levels``)
    """
    levels = problem.levels
    modes = PAIR * ceil_div(levels, PAIR)  # in groups of sixteen, the last filled up with modes that are zero
    speed2 = np.zeros(modes)
    forward = np.zeros((modes, 2 * levels + 1))
    backward = np.zeros((modes, modes))
    speed2[:levels] = problem.dt**2 * column.speed2
    forward[:levels, :levels] = column.inverse @ column.gamma
    forward[:levels, levels:-1] = -problem.dt * column.inverse @ column.gravity
    forward[:levels, -1] = column.inverse @ np.full(levels, R * T_REF / P_REF)
    backward[:levels, :levels] = column.modes
    return speed2, forward, backward


def extents(problem: Problem) -> Extents:
    """The ``Extents`` of a forecast."""
    ni = problem.ni
    nj = problem.nj
    levels = problem.levels
    groups = ceil_div(levels, PAIR)
    pitch = ni + 2 * HALO
    tendency = PAIR * ceil_div(levels + 1, PAIR)
    # Where transfers overlap, four groups of rows are in memory at the same time: one is read, one computed, two are
    # written.  LAG: rows from the newest to the one in the last stage.
    lines = problem.lines * (1 if problem.overlap == "none" else 4)
    return Extents(
        ni=ni,
        nj=nj,
        levels=levels,
        pitch=pitch,
        field=levels * pitch,
        row=(FIELDS * levels + LINES) * pitch,
        ring=LAG + 2,
        slots=min(nj, lines + LAG) if problem.files else nj,
        spectra=min(nj, lines + 2 * LAG) if problem.rhs == "files" else nj,
        half_record=BLOCK * ceil_div(HEADER + (6 * levels + 3) * ni, BLOCK),
        groups=groups,
        spectrum=3 * BLOCK * ceil_div((ni // 2 + 1) * groups * 2 * PAIR, 3 * BLOCK),
        depth=4 * ceil_div(levels, 4) * pitch,
        tendency=tendency,
        fourier=(4 * tendency + PAIR * groups) * pitch,
    )


def shapes(size: Extents, threads: int = 1) -> dict[str, tuple[int, ...]]:
    """Shapes of the arrays of numbers in ``ForecastArrays``, by name."""
    return {
        "window": (threads, size.ring * size.row),
        "records": (size.slots, 2 * size.half_record),
        "halo": (threads, 2 + LAG if threads > 1 else 0, 2 * size.half_record),
        "G": (size.nj, size.depth),
        "spectra": (size.spectra, size.spectrum),
        "scratch": (threads, size.fourier + 2 * PAIR * size.ni),  # two places to transform between
        "columns": (threads, 7 * size.levels + 5, LANES),  # cut up in ``physics.radiation``
    }


def make(problem: Problem) -> ForecastPlan:
    """The plan of a forecast.

    ``damp``: the shortest wave, which δ⁴ in longitude multiplies by 16, falls by the factor e in DAMPING, 3 h.
    """
    ni = problem.ni
    nj = problem.nj
    size = extents(problem)
    column = vertical(problem.levels)
    rows = row_coefficients(problem)
    speed2, forward, backward = _matrices(problem, column)
    waves = WaveTables(
        filter=polar_filter(problem, rows) / ni,
        forward=forward,
        backward=backward,
        inverse=pivots(problem, rows, speed2).reshape(nj, ni // 2 + 1, size.groups, PAIR),
        speed2=speed2,
        radices=np.array([*factorise(ni), 0]),
        roots=roots(ni).ravel(),
    )
    return ForecastPlan(size, rows, column, waves, problem.dt, 1 / (16 * DAMPING))
