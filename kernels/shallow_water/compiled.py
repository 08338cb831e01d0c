"""Compiled loops of a time step, in two builds that differ in fast-math flags alone.

Every point and every wavenumber is computed by one thread with the same instructions whatever their number, and no
sum crosses a wavenumber, so results are the same bit for bit with any number of threads.
"""

from types import FunctionType

from supercomputers_rerun.kernels.runtime.jit import FINITE, REDUCE, STRICT, kernel

PART = 2048  # points whose share is one thread's, a multiple of what a vectorised loop takes at a time


def products(coriolis, u, v, vorticity, phi, zonal, meridional, kinetic, threads, thread):
    """Products of one time step, at every grid point: the share of a ``thread`` of ``threads``.

    With ``coriolis`` f, ``vorticity`` ζ [1/s], the wind ``u``, ``v`` [m/s] and the geopotential ``phi`` φ' [m²/s²]:
    ``zonal = ((ζ + f) v, φ' u)``, ``meridional = (-(ζ + f) u, φ' v)``, ``kinetic = (u² + v²) / 2``;
    inputs float64[points], ``zonal`` and ``meridional`` float64[2, points].
    """
    parts = (u.size + PART - 1) // PART
    for i in range(PART * (parts * thread // threads), min(PART * (parts * (thread + 1) // threads), u.size)):
        absolute = vorticity[i] + coriolis[i]
        zonal[0, i] = absolute * v[i]
        meridional[0, i] = -(absolute * u[i])
        zonal[1, i] = phi[i] * u[i]
        meridional[1, i] = phi[i] * v[i]
        kinetic[i] = 0.5 * (u[i] * u[i] + v[i] * v[i])


def advance(truncation, levels, tendencies, laplacian, damping, step, size, threads, thread):
    """Semi-implicit step, hyperdiffusion and time filter of every coefficient.

    With ``L = n(n + 1) / a²`` and ``τ = span / 2``,

        ζ⁺ = ζ⁻ + 2τ curl A
        D⁺ (1 + τ² L Φ) = D⁻ + 2τ (div A + L (K + φ_s)) + τ L (2 φ⁻ - 2τ div(φ'V) - τ Φ D⁻)
        φ⁺ = φ⁻ - 2τ div(φ'V) - τ Φ (D⁺ + D⁻),

    then each (``φ + φ_s`` in place of ``φ``) is multiplied by ``damping``, and the filter moves
    ``d = old - 2 now + new`` by ``middle · d`` into ``now`` and ``end · d`` into ``new``.

    All spectra are float64, real and imaginary parts in turn, in SI units: ``levels`` has ``old``, ``now``, which is
    filtered in place, and ``new``, which is written, ``ζ``, ``φ'`` and ``D`` each, (3, 2 ncoef); ``tendencies`` has
    curl and divergence of ``A`` and of ``φ'V``, (2, 2 ncoef), the second curl being unused, kinetic energy and
    geopotential of the ground, (2 ncoef,).  ``step`` has ``span``, the mean geopotential ``Φ``, ``middle``, ``end``.

    ``laplacian`` and ``damping``, float64 (T + 1,), have L [1/m²] and the factor of the hyperdiffusion [1] of each
    degree; ``size``, float64 (T + 1,), receives the sum of squares of ``ζ`` and ``D`` of each wavenumber, 1/s².  Each
    ``thread`` of ``threads`` takes every ``threads``-th wavenumber.
    """
    old, now, new = levels
    curl, divergence, kinetic, ground = tendencies
    span, mean, middle, end = step
    half = 0.5 * span
    for m in range(thread, truncation + 1, threads):
        first = m * (truncation + 1) - m * (m - 1) // 2
        total = 0.0
        for n in range(m, truncation + 1):
            wave = laplacian[n]
            keep = damping[n]
            inverse = 1.0 / (1.0 + half * half * wave * mean)
            for i in range(2 * (first + n - m), 2 * (first + n - m) + 2):
                vorticity = keep * (old[0, i] + span * curl[0, i])
                flux = span * divergence[1, i]
                right = (
                    old[2, i]
                    + span * (divergence[0, i] + wave * (kinetic[i] + ground[i]))
                    + half * wave * (2.0 * old[1, i] - flux - half * mean * old[2, i])
                )
                spread = right * inverse
                phi = old[1, i] - flux - half * mean * (spread + old[2, i])
                phi = keep * (phi + ground[i]) - ground[i]
                spread = keep * spread
                bend = old[0, i] - 2.0 * now[0, i] + vorticity
                now[0, i] += middle * bend
                new[0, i] = vorticity + end * bend
                bend = old[1, i] - 2.0 * now[1, i] + phi
                now[1, i] += middle * bend
                new[1, i] = phi + end * bend
                bend = old[2, i] - 2.0 * now[2, i] + spread
                now[2, i] += middle * bend
                new[2, i] = spread + end * bend
                total += vorticity * vorticity + spread * spread
        size[m] = total


def _build(function, name, flags):
    # numba names its cache file after the qualified name: two builds of one function need two names
    copy = FunctionType(function.__code__, function.__globals__, f"{function.__name__}_{name}")
    copy.__qualname__ = copy.__name__
    copy.__module__ = __name__
    return kernel(copy, fastmath=flags)


#: Fast-math flags of each build.  ``fast`` gives leave to reorder, fuse, take reciprocals and assume
#: finite numbers, what compilers do at their usual high optimisation levels.
FLAGS = {"strict": STRICT, "fast": FINITE | REDUCE}
PRODUCTS = {name: _build(products, name, flags) for name, flags in FLAGS.items()}
ADVANCE = {name: _build(advance, name, flags) for name, flags in FLAGS.items()}

#: Operations of one point and of one real number of a spectrum, counted from the loops above.
POINT_FLOPS = 10
COEFFICIENT_FLOPS = 47
