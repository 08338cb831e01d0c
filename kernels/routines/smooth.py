"""What interpolation gives of a product of three waves, in closed form: no field is read and no weight.

    f(x, y, z) = sin(kx x + a) · cos(ky y + b) · cos(kz z + c)

At the nodes of a box each factor follows from its value at the point's floor by the addition theorem, and a sum over
nodes is a product of sums along the axes.
"""

from math import cos, floor, sin

import numpy as np

from kernels.runtime.jit import STRICT, kernel


@kernel(inline=True)
def _wave(k, start, node):
    """Sine and cosine of ``k`` (node + i) + ``start`` at i = −1, 0, 1, 2."""
    s, c, ds, dc = sin(k * node + start), cos(k * node + start), sin(k), cos(k)
    s1, c1 = s * dc + c * ds, c * dc - s * ds
    return (s * dc - c * ds, s, s1, s1 * dc + c1 * ds), (c * dc + s * ds, c, c1, c1 * dc - s1 * ds)


@kernel(inline=True)
def _two(g, s):
    """Linear interpolation between the middle two of the four values ``g``, a part ``s`` of the way."""
    return (1.0 - s) * g[1] + s * g[2]


@kernel(inline=True)
def _weights(s):
    """Lagrange's weights at −1, 0, 1, 2."""
    return (
        -s * (s - 1.0) * (s - 2.0) / 6.0,
        (s + 1.0) * (s - 1.0) * (s - 2.0) / 2.0,
        -(s + 1.0) * s * (s - 2.0) / 2.0,
        (s + 1.0) * s * (s - 1.0) / 6.0,
    )


@kernel(inline=True)
def _cubic(gx, gy, gz, s, inside):
    """Quasi-cubic value: two rows and two levels near the point in full, the outer ones linear.

    ``gx``, ``gy``, ``gz``: the factor of each axis at −1, 0, 1 and 2; ``s``: where the point is between 0 and 1 on
    each; ``inside``: whether there is a level above and one below these two.
    """
    wx, wy, wz = _weights(s[0]), _weights(s[1]), _weights(s[2])
    near = wx[0] * gx[0] + wx[1] * gx[1] + wx[2] * gx[2] + wx[3] * gx[3]
    far = _two(gx, s[0])
    level = near * (wy[1] * gy[1] + wy[2] * gy[2]) + far * (wy[0] * gy[0] + wy[3] * gy[3])
    if not inside:
        return level * _two(gz, s[2])
    return level * (wz[1] * gz[1] + wz[2] * gz[2]) + far * _two(gy, s[1]) * (wz[0] * gz[0] + wz[3] * gz[3])


@kernel(fastmath=STRICT)
def farthest(values, x, y, z, waves, levels, kind):
    """Largest distance of interpolated values from the closed form; NaN if one of them is NaN.

    ``values``, ``x``, ``y``, ``z``, float64 (``levels``, columns): what was found, and where, in grid intervals;
    ``waves``, float64 (2, 3): kx, ky, kz in radians a grid interval, and a, b, c in radians; ``kind`` 0: linear,
    1: cubic, 2: cubic, held within the corners of the box.
    """
    most = 0.0
    for i, j in np.ndindex(values.shape):
        column, row = floor(x[i, j]), floor(y[i, j])
        layer = min(max(floor(z[i, j]), 0), levels - 2)
        s = (x[i, j] - column, y[i, j] - row, z[i, j] - layer)
        gx = _wave(waves[0, 0], waves[1, 0], column)[0]
        gy = _wave(waves[0, 1], waves[1, 1], row)[1]
        gz = _wave(waves[0, 2], waves[1, 2], layer)[1]
        if kind == 0:
            value = _two(gx, s[0]) * _two(gy, s[1]) * _two(gz, s[2])
        else:
            value = _cubic(gx, gy, gz, s, 0 < layer < levels - 2)
        if kind == 2:
            low, high = np.inf, -np.inf
            for n in range(8):
                corner = gx[1 + (n & 1)] * gy[1 + (n >> 1 & 1)] * gz[1 + (n >> 2)]
                low, high = min(low, corner), max(high, corner)
            value = min(max(value, low), high)
        off = abs(values[i, j] - value)
        if not off <= most:  # NaN too, and for good
            most = off
            if off != off:
                return off
    return most
