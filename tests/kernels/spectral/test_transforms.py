"""Transforms against plain sums, SciPy's harmonics, identities, and ducc0."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import sph_harm_y

from supercomputers_rerun.kernels import fft, spectral
from supercomputers_rerun.kernels.runtime import resources
from supercomputers_rerun.kernels.runtime.jit import kernel
from supercomputers_rerun.kernels.runtime.vector import address
from supercomputers_rerun.kernels.spectral import plan as plans
from supercomputers_rerun.kernels.spectral.plain import analyse, plain, row_values, synthesise

TOLERANCE = 2e-13  # of the field's norm, at the truncations used here


def random_spectrum(plan, fields=None, seed=0):
    rng = np.random.default_rng(seed)
    shape = (plan.ncoef,) if fields is None else (fields, plan.ncoef)
    spectrum = rng.uniform(-1, 1, (*shape, 2)) @ [1, 1j]
    spectrum[..., : plan.truncation + 1].imag = 0
    return spectrum


def norm(plan, spectrum):
    return np.sqrt((np.abs(spectrum) ** 2).sum(axis=-1).max())


# Grids: full, classic with odd rows, octahedral with prime factors 7, 11, 13, 37 in its rows; more rows than a slab.
GRIDS = [
    ("F16", 31),
    ("F24", 31),
    ("N32", 63),
    ("N48", 47),
    ("O32", 31),
    ("O33", 30),
    ("F2", 2),
    ("F1", 1),
    ("F50", 45),
    ("F63", 40),
    ("F81", 45),
    ("O60", 45),
    ("N80", 45),
    ("F450", 20),
]


@pytest.mark.parametrize("cosine", [0.05, 0.3, 0.5, 0.9])
def test_plain_sums_keep_what_begins_below_all_doubles(cosine):
    """The addition theorem at a degree and latitudes at which P_m^m underflows: Σ (2 − δ_m0) P_n^m(μ)² = 2n + 1."""
    T = 2047
    m = np.arange(T + 1)
    spectrum = np.zeros((T + 1) * (T + 2) // 2, np.complex128)
    spectrum[np.cumsum(T + 1 - m) - 1] = 1.0  # n = T of each m
    functions = plain(spectrum, T, np.sqrt(1.0 - cosine**2), cosine).real
    assert (np.where(m == 0, 1, 2) @ functions**2) / (2 * T + 1) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("name, truncation", GRIDS)
def test_both_directions_agree_with_plain_sums(name, truncation):
    """Of nine fields, of the first of them alone, and of fewer than a group takes."""
    plan = spectral.Plan(name, truncation)
    whole = random_spectrum(plan, 9, seed=truncation)
    expected = synthesise(plan, whole)
    again = analyse(plan, expected)
    for chosen in (slice(9), slice(6), slice(1), 0):
        spectrum = np.ascontiguousarray(whole[chosen])
        tolerance = TOLERANCE * norm(plan, spectrum)
        values = plan.inverse(spectrum)
        assert values.shape == (*spectrum.shape[:-1], plan.grid.points)
        assert np.abs(values - expected[chosen]).max() <= tolerance, chosen
        back = plan.direct(values)
        assert back.shape == spectrum.shape
        assert np.abs(back - again[chosen]).max() <= tolerance, chosen


@settings(deadline=None, max_examples=15)
@given(st.integers(1, 45), st.sampled_from("FON"), st.integers(1, 12), st.integers(0, 1000))
def test_any_truncation_grid_and_number_of_fields(truncation, kind, fields, seed):
    name = "N48" if kind == "N" else f"{kind}{truncation // 2 + 7}"
    plan = spectral.Plan(name, truncation)
    spectrum = random_spectrum(plan, fields, seed)
    expected = synthesise(plan, spectrum)
    assert np.abs(plan.inverse(spectrum) - expected).max() <= TOLERANCE * norm(plan, spectrum)


@pytest.mark.parametrize("m, n", [(0, 0), (0, 7), (1, 1), (5, 12), (30, 31), (31, 31)])
def test_harmonics_are_scipys(m, n):
    """``P_n^m exp(imλ)`` is ``(−1)^m √4π`` times SciPy's, which are orthonormal, with Condon and Shortley's sign."""
    plan = spectral.Plan("F24", 31)
    latitude, longitude = plan.grid.coordinates()
    spectrum = np.zeros(plan.ncoef, dtype=complex)
    spectrum[plan.index(m, n)] = 0.75 - 0.25j * (m > 0)
    harmonic = (-1) ** m * np.sqrt(4 * np.pi) * sph_harm_y(n, m, np.pi / 2 - latitude, longitude)
    expected = (2 - (m == 0)) * (spectrum[plan.index(m, n)] * harmonic).real
    assert np.abs(plan.inverse(spectrum) - expected).max() <= 1e-13
    assert np.abs(plan.direct(expected) - spectrum).max() <= 1e-13


@pytest.mark.parametrize("fields", [None, 8])
def test_wind_of_solid_rotation_and_of_a_tilted_one(fields):
    """``u = U (cos φ cos α + sin φ cos λ sin α)``, ``v = -U sin λ sin α`` has vorticity
    ``2U/a (sin φ cos α - cos φ cos λ sin α)`` and no divergence."""
    radius, speed, alpha = 6.4e6, 40.0, 0.3
    plan = spectral.Plan("F24", 31, radius=radius)
    latitude, longitude = plan.grid.coordinates()
    u = speed * (np.cos(latitude) * np.cos(alpha) + np.sin(latitude) * np.cos(longitude) * np.sin(alpha))
    v = -speed * np.sin(longitude) * np.sin(alpha)
    zeta = (
        2 * speed / radius * (np.sin(latitude) * np.cos(alpha) - np.cos(latitude) * np.cos(longitude) * np.sin(alpha))
    )
    if fields:
        u, v, zeta = (np.tile(field, (fields, 1)) for field in (u, v, zeta))
    vor, div = plan.vordiv(u, v)
    assert np.abs(vor - plan.direct(zeta)).max() <= 1e-13 * speed / radius
    assert np.abs(div).max() <= 1e-13 * speed / radius
    again = plan.wind(vor, div)
    assert np.abs(again[0] - u).max() <= 1e-12 * speed
    assert np.abs(again[1] - v).max() <= 1e-12 * speed


@pytest.mark.parametrize("name, fields", [("F32", 8), ("F40", None), ("N48", 9)])
def test_wind_pair_round_trip(name, fields):
    plan = spectral.Plan(name, 42, radius=2.0)
    vor, div = random_spectrum(plan, fields, 1), random_spectrum(plan, fields, 2)
    vor[..., 0] = div[..., 0] = 0
    found = plan.vordiv(*plan.wind(vor, div))
    tolerance = 1e-11 if name[0] == "F" else 1e-4
    assert np.abs(found[0] - vor).max() <= tolerance
    assert np.abs(found[1] - div).max() <= tolerance


@pytest.mark.parametrize("name, truncation", [("F2", 1), ("F16", 21), ("F40", 47), ("N48", 47)])
@pytest.mark.parametrize("fewest", [1, plans.FEWEST_PRODUCTS])
def test_results_do_not_depend_on_threads(name, truncation, fewest, monkeypatch):
    monkeypatch.setattr(plans, "FEWEST_PRODUCTS", fewest)
    most = min(2, resources.usable_cpus())
    plan = spectral.Plan(name, truncation)
    spectrum = random_spectrum(plan, 9)  # eight together, and one
    one, two = plan.inverse(spectrum), plan.inverse(spectrum, threads=most)
    assert np.array_equal(one, two)
    assert np.array_equal(plan.direct(one), plan.direct(one, threads=most))


@pytest.mark.skipif(resources.usable_cpus() < 2, reason="needs two usable CPUs")
def test_a_small_transform_takes_one_thread_and_says_so():
    small, large = spectral.Plan("F48", 63), spectral.Plan("F80", 106)
    assert [small.team(fields, 2) for fields in (1, 5, 6, 8, 20)] == [1, 1, 2, 2, 2]  # up to five go one by one
    assert [large.team(1, threads) for threads in (1, 2)] == [1, 2]
    called = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plans, "run_parts", lambda work, threads, *arguments: called.append(threads))
        small.inverse(np.zeros((9, small.ncoef), complex), out=np.zeros((9, small.grid.points)), threads=2)
    assert called == [2, 2, 1]  # of eight fields the Legendre part and the Fourier part, of the ninth both in one call
    with pytest.raises(ValueError, match="threads"):
        small.inverse(np.zeros(small.ncoef, complex), threads=10_000)


@pytest.mark.parametrize("name, truncation", [("N200", 399), ("F320", 639)])
def test_long_rows_and_streamed_buffers(name, truncation):
    """Large buffers take non-temporal stores; a few rows against plain sums."""
    plan = spectral.Plan(name, truncation)
    assert plan._buffer(False, 8, plan._many).streaming
    spectrum = random_spectrum(plan, 8)
    values = plan.inverse(spectrum)
    for row in (0, 17, 130, 260, 380):
        start = plan.grid.starts[row]
        found = values[5, start : start + plan.grid.pl[row]]
        expected = row_values(plan, spectrum[5:6], row)[0]
        # next to the poles rounding of the latitude itself is amplified by T²
        assert np.abs(found - expected).max() <= (2e-11 if row < 4 else 1e-12) * norm(plan, spectrum)
    if plan.grid.full:
        assert np.abs(plan.direct(values) - spectrum).max() <= 1e-12


@pytest.mark.parametrize("name, truncation", [("F24", 31), ("N32", 63)])
@pytest.mark.parametrize("fields", [1, 6, 8])
def test_streaming_changes_no_bit(name, truncation, fields, monkeypatch):
    """Non-temporal stores of one field and of several write what ordinary ones write."""
    ordinary = spectral.Plan(name, truncation)
    spectrum = random_spectrum(ordinary, fields)
    values = ordinary.inverse(spectrum)
    back = ordinary.direct(values)
    monkeypatch.setattr(spectral.plan, "STREAM_FROM", 0)
    monkeypatch.setattr(spectral.plan, "STREAM_DIRECT_FROM", 0)
    streaming = spectral.Plan(name, truncation)
    for direct in (False, True):
        assert streaming._buffer(direct, 1, streaming._single).streaming
        assert streaming._buffer(direct, 8, streaming._many).streaming
    assert np.array_equal(streaming.inverse(spectrum), values)
    for skipped in (1, 2):  # at most one of them begins a cache line
        out = np.empty(values.size + skipped)[skipped:].reshape(values.shape)
        assert np.array_equal(streaming.inverse(spectrum, out=out), values)
    assert np.array_equal(streaming.direct(values), back)


def test_agrees_with_ducc0():
    sht = pytest.importorskip("ducc0").sht
    for name, truncation in (("F80", 127), ("N80", 127), ("O64", 63)):
        plan = spectral.Plan(name, truncation)
        spectrum = random_spectrum(plan)
        sign = (-1.0) ** plan.m * np.sqrt(4 * np.pi)  # Condon–Shortley and orthonormal there
        grid = plan.grid
        expected = sht.synthesis(
            alm=(spectrum * sign)[None],
            lmax=truncation,
            spin=0,
            nthreads=1,
            theta=np.pi / 2 - np.radians(grid.latitudes),
            nphi=grid.pl.astype(np.uint64),
            phi0=np.zeros(2 * grid.N),
            ringstart=grid.starts.astype(np.uint64),
        )[0]
        found = plan.inverse(spectrum)
        if name[0] == "F":
            assert np.abs(found - expected).max() <= 1e-12 * norm(plan, spectrum)
            back = np.zeros((1, plan.ncoef), dtype=complex)
            sht.analysis_2d(
                map=found.reshape(1, 2 * grid.N, -1), alm=back, lmax=truncation, spin=0, geometry="GL", nthreads=1
            )
            assert np.abs(plan.direct(found) - back[0] / sign).max() <= 1e-12
        else:  # ducc0 aliases what a short row cannot carry; rows that carry all wavenumbers agree
            for row in np.flatnonzero(grid.pl > 2 * truncation):
                here = slice(grid.starts[row], grid.starts[row] + grid.pl[row])
                assert np.abs(found[here] - expected[here]).max() <= 1e-12 * norm(plan, spectrum)


@pytest.mark.parametrize(
    "name",
    ["T399", "T799", "TL1279", "TL2047", "TL2559", "paper", "modern", "quick"],
)
def test_presets_name_a_grid_that_carries_the_truncation(name):
    problem = spectral.Problem.preset(name)
    grid = spectral.grid(problem.grid)
    assert grid.pl.max() >= 2 * problem.truncation + 1
    assert name[1] != "L" or problem.truncation == 2 * grid.N - 1


@pytest.mark.parametrize("name, truncation", [("F4", 7), ("N32", 63), ("O16", 15)])
def test_work_is_what_counting_gives(name, truncation):
    problem = spectral.Problem(truncation=truncation, grid=name, fields=3)
    grid = spectral.grid(name)
    legendre = fourier = 0
    for length in grid.pl[: grid.N]:
        for m in range(truncation + 1):
            if 2 * m < length:
                legendre += 4 * sum(1 for n in range(m, truncation + 1))
    for length in grid.pl:
        fourier += 2.5 * length * np.log2(length)
    counted = spectral.work(problem)
    parts = dict(counted.parts)
    assert parts["Legendre"] == 2 * 3 * legendre
    assert parts["FFT"] == pytest.approx(2 * 3 * fourier, abs=6)
    assert counted.flops == parts["Legendre"] + parts["FFT"]
    assert counted.bytes_read == 3 * (8 * grid.points + 8 * (truncation + 1) * (truncation + 2))


@pytest.mark.parametrize("kind, lanes, rounding", [(np.float64, 8, 1e-14), (np.float32, 16, 1e-6)])
@pytest.mark.parametrize("n", [1, 2, 6, 37, 60, 62, 200, 640, 1280])
def test_rows_in_lanes_agree_with_numpy(n, kind, lanes, rounding):
    """Every radix, one large prime, both types."""
    rng = np.random.default_rng(n)
    rows = rng.normal(size=(n, 2, lanes)).astype(kind)
    work = np.concatenate([rows.ravel(), np.empty(rows.size, kind)])
    radices = np.array([*fft.factorise(n), 0])
    place = _stockham(work, rows.size, n, radices, fft.roots(n).astype(kind).ravel())
    found = work[place : place + rows.size].reshape(rows.shape)
    expected = np.fft.ifft(rows[:, 0] + 1j * rows[:, 1], axis=0, norm="forward")
    assert np.abs(found[:, 0] + 1j * found[:, 1] - expected).max() <= rounding * np.abs(expected).max()
    assert np.abs(fft.plain(rows[:, 0] + 1j * rows[:, 1]) - expected).max() <= rounding * np.abs(expected).max()


@kernel
def _stockham(work, size, n, radices, roots):
    return fft.stockham(address(work), 0, size, n, address(radices), address(roots))


@pytest.mark.parametrize("name, truncation", [("F8", 15), ("F80", 159), ("N80", 159), ("O81", 80), ("F320", 639)])
def test_what_matters_never_begins_later_towards_the_equator(name, truncation):
    """Sums of several latitudes rely on it, and on vectors that carry a wavenumber having an l that matters."""
    tables = spectral.Plan(name, truncation)._tables
    for m, row in enumerate(tables.first_row):
        first = tables.first[m, row : tables.rows].astype(int)
        assert np.all(np.diff(first) <= 0)
        assert first[0] <= (truncation - m) // 2 + 1


@pytest.mark.parametrize("fields", [1, 8])
def test_round_trip_at_the_largest_truncation_of_2014s_forecasts(fields):
    problem = spectral.Problem(truncation=1279, grid="F640", fields=fields)
    result = spectral.run(problem, spectral.setup(problem), threads=1)
    for check in spectral.verify(problem, result):
        assert check.ok, str(check)


@pytest.mark.parametrize("name", ["F16", "N32", "O33"])
def test_what_is_not_finite_is_named_with_its_field(name):
    plan = spectral.Plan(name, 30)
    spectra = random_spectrum(plan, fields=3)
    values = plan.inverse(spectra)
    values[1, 7] = np.nan
    with pytest.warns(RuntimeWarning, match="values: field 1 has NaN or infinity in 1 places, first in 7;"):
        plan.direct(values)
    spectra[2, -1] = np.inf  # the largest wave
    with pytest.warns(
        RuntimeWarning, match=f"spec: field 2 has NaN or infinity in 1 places, first in {plan.ncoef - 1};"
    ):
        plan.inverse(spectra)
