"""A made sky, whose visibilities are a closed form: point sources and circular Gaussians.

    V(u, v) = Σ S exp(−2π² σ² (u² + v²)) exp(−2πi (u l + v m))

Noise and antenna gains are added from a seeded generator.
"""

from dataclasses import dataclass

import numpy as np

from supercomputers_rerun.kernels.imaging.array import ANTENNAS, BASELINE, IM, RE, TIME, U, V

__all__ = ["Sky", "corrupt", "gains", "observe", "pixels", "synthetic", "visibilities"]


@dataclass(frozen=True)
class Sky:
    """Sources; each array float64 (count,)."""

    flux: np.ndarray  # Jy
    l: np.ndarray  # noqa: E741  # radians along u
    m: np.ndarray  # radians along v
    sigma: np.ndarray  # radians; 0 for a point


def synthetic(side: int, cell: float, points: int = 24, gaussians: int = 4, seed: int = 0) -> Sky:
    """Sources within the inner half of a field of ``side`` cells of ``cell`` radians.

    Points lie on the middles of cells; their fluxes fall from 1 Jy as a power of their rank.  The Gaussians are
    three to eight cells wide, and their middles lie anywhere between cells.
    """
    generator = np.random.default_rng([seed, side, points])
    inner = side // 4
    place = generator.integers(-inner, inner, (2, points)).astype(float)
    wide = generator.uniform(-inner / 2, inner / 2, (2, gaussians))
    flux = np.concatenate([(1 + np.arange(points)) ** -0.8, generator.uniform(0.5, 1.5, gaussians)])
    sigma = np.concatenate([np.zeros(points), generator.uniform(3, 8, gaussians)])
    both = np.concatenate([place, wide], axis=1) * cell
    return Sky(flux, both[0], both[1], sigma * cell)


def pixels(sky: Sky, side: int, cell: float) -> np.ndarray:
    """The sky in Jy per pixel of ``cell`` radians, float64 (side, side): what an image of it is held to."""
    out = np.zeros((side, side))
    at = cell * (np.arange(side) - side // 2)
    for flux, l, m, sigma in zip(sky.flux, sky.l, sky.m, sky.sigma, strict=True):  # noqa: E741
        if sigma:
            up, across = (np.exp(-((at - middle) ** 2) / (2 * sigma**2)) for middle in (m, l))
            out += flux * cell**2 / (2 * np.pi * sigma**2) * np.outer(up, across)
        else:
            out[round(m / cell) + side // 2, round(l / cell) + side // 2] += flux
    return out


def visibilities(sky: Sky, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """V(u, v), complex128, of baselines in wavelengths."""
    u, v = np.asarray(u, np.float64), np.asarray(v, np.float64)
    square = u**2 + v**2
    out = np.zeros(len(u), np.complex128)
    for flux, l, m, sigma in zip(sky.flux, sky.l, sky.m, sky.sigma, strict=True):  # noqa: E741
        amplitude = flux * np.exp(-2 * np.pi**2 * sigma**2 * square) if sigma else flux
        out += amplitude * np.exp(-2j * np.pi * (u * l + v * m))
    return out


def observe(records: np.ndarray, sky: Sky, noise: float = 0.0, seed: int = 0) -> np.ndarray:
    """Fill RE and IM of ``records`` with the sky's visibilities and Gaussian noise of ``noise`` Jy each."""
    data = visibilities(sky, records[:, U], records[:, V])
    generator = np.random.default_rng([seed, len(records)])
    if noise:
        data += noise * (generator.standard_normal(len(data)) + 1j * generator.standard_normal(len(data)))
    records[:, RE], records[:, IM] = data.real, data.imag
    return records


def gains(intervals: int, phase: float = 0.8, amplitude: float = 0.1, seed: int = 0) -> np.ndarray:
    """Complex gains of every antenna, complex128 (intervals, 27): phases in radians, spread uniformly."""
    generator = np.random.default_rng([seed, intervals])
    size = (intervals, ANTENNAS)
    angle = generator.uniform(-phase, phase, size)
    return (1 + generator.uniform(-amplitude, amplitude, size)) * np.exp(1j * angle)


def antenna_numbers(records: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Antennas of every record from 0 on, int32."""
    names = records[:, BASELINE].astype(np.int32)
    return names // 256 - 1, names % 256 - 1


def interval_numbers(records: np.ndarray, intervals: int) -> np.ndarray:
    """Number of the solution interval of every record: the span of time in equal parts, int32."""
    time = records[:, TIME].astype(np.float64)
    start, span = time.min(), max(float(np.ptp(time)), 1e-12)
    return np.minimum(((time - start) / span * intervals).astype(np.int32), intervals - 1)


def factors(records: np.ndarray, gains: np.ndarray) -> np.ndarray:
    """g_i g_j* of the interval of every record, complex128 (n,); ``gains`` complex (intervals, 27)."""
    first, second = antenna_numbers(records)
    when = interval_numbers(records, len(gains))
    return gains[when, first] * gains[when, second].conj()


def corrupt(records: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Multiply every visibility by g_i g_j* of its interval."""
    data = (records[:, RE] + 1j * records[:, IM]) * factors(records, truth)
    records[:, RE], records[:, IM] = data.real, data.imag
    return records
