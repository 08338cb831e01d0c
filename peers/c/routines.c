/* The work of kernels/routines as one would write it in C: plain loops along a row of NPROMA columns,
   the compiler's vectoriser and the C library's exp, on the same blocked arrays. */

#include <math.h>
#include <stdint.h>

typedef int64_t whole;

#define E0 611.21
#define A 17.502
#define T0 273.16
#define T1 32.19
#define EPS (287.0597 / 461.5250)
#define CP 1004.7088
#define L 2.5008e6

/* One Newton step of all columns of a row; the same rearranged quotients as ours. */
static inline double newton(double t, double q, double p)
{
    double x = 1.0 / (t - T1);
    double n = EPS * E0 * exp(A * ((t - T0) * x));
    double d = p - n * ((1.0 - EPS) / EPS);
    double slope = n * p * (L / CP * A * (T0 - T1)) * (x * x);
    return d * (q * d - n) / (d * d + slope);
}

void saturation(const double *restrict t, const double *restrict q, const double *restrict p,
                double *restrict t_new, double *restrict q_new, whole first, whole end, whole levels,
                whole row, whole count, whole iterations)
{
    for (whole line = first * levels; line < end * levels; line++) {
        whole start = line * row;
        for (whole i = start; i < start + count; i++) {
            double c = newton(t[i], q[i], p[i]);
            c = c > 0 ? c : 0;
            t_new[i] = t[i] + L / CP * c;
            q_new[i] = q[i] - c;
        }
        for (whole step = 1; step < iterations; step++)
            for (whole i = start; i < start + count; i++) {
                double c = newton(t_new[i], q_new[i], p[i]);
                c = q_new[i] < q[i] ? c : 0;
                t_new[i] += L / CP * c;
                q_new[i] -= c;
            }
    }
}

void vertical(const double *restrict weights, whole stride, const double *restrict f,
              double *restrict integral, whole first, whole end, whole levels, whole row, whole count)
{
    for (whole b = first; b < end; b++)
        for (whole j = 0; j <= levels; j++) {
            double *restrict out = integral + (b * (levels + 1) + j) * row;
            for (whole i = 0; i < count; i++)
                out[i] = 0;
            for (whole k = 0; k < levels; k++) {
                double w = weights[k * stride + j];
                const double *restrict in = f + (b * levels + k) * row;
                for (whole i = 0; i < count; i++)
                    out[i] += w * in[i];
            }
        }
}

void matmul(const whole *restrict terms, whole products, const double *restrict spectrum, whole line,
            const double *restrict p, whole row, double *restrict out, whole first, whole step,
            whole latitudes, whole fields)
{
    whole done = 0;
    for (whole number = 0; number < products; done += terms[number++]) {
        if (number % step != first)
            continue;
        double *restrict to = out + number * fields * row;
        for (whole j = 0; j < fields; j++) {
            for (whole i = 0; i < latitudes; i++)
                to[j * row + i] = 0;
            for (whole k = done; k < done + terms[number]; k++) {
                double w = spectrum[k * line + j];
                for (whole i = 0; i < latitudes; i++)
                    to[j * row + i] += w * p[k * row + i];
            }
        }
    }
}

void linear(const double *restrict field, const double *restrict stencil, double *restrict values,
            whole start, whole along, whole up, whole first, whole end, whole levels, whole row, whole count)
{
    for (whole l = first * levels; l < end * levels; l++) {
        const double *restrict s = stencil + 16 * l * row;
        for (whole i = 0; i < count; i++) {
            const double *f = field + start + (whole)s[i];
            double dx = s[row + i], dy = s[2 * row + i], dz = s[3 * row + i], v[2];
            for (int k = 0; k < 2; k++, f += up) {
                double near = f[0] + dx * (f[1] - f[0]);
                double far = f[along] + dx * (f[along + 1] - f[along]);
                v[k] = near + dy * (far - near);
            }
            values[l * row + i] = v[0] + dz * (v[1] - v[0]);
        }
    }
}

void cubic(const double *restrict field, const double *restrict stencil, double *restrict values,
           whole start, whole along, whole up, whole first, whole end, whole levels, whole row, whole count)
{
    for (whole l = first * levels; l < end * levels; l++) {
        const double *restrict s = stencil + 16 * l * row;
        for (whole i = 0; i < count; i++) {
            const double *f = field + start + (whole)s[i] - up;
            double dx = s[row + i], dy = s[2 * row + i];
            const double *wx = s + 4 * row + i, *wy = s + 8 * row + i, *wz = s + 12 * row + i;
            double least = f[up], most = f[up], v[4], r[4];
            for (int k = 0; k < 4; k++, f += up) {
                if (k == 0 || k == 3) {
                    double near = f[0] + dx * (f[1] - f[0]);
                    double far = f[along] + dx * (f[along + 1] - f[along]);
                    v[k] = near + dy * (far - near);
                    continue;
                }
                for (int j = 0; j < 4; j++) {
                    const double *g = f + (j - 1) * along;
                    if (j == 0 || j == 3) {
                        r[j] = g[0] + dx * (g[1] - g[0]);
                        continue;
                    }
                    r[j] = wx[0] * g[-1] + wx[row] * g[0] + wx[2 * row] * g[1] + wx[3 * row] * g[2];
                    for (int m = 0; m < 2; m++) {
                        least = g[m] < least ? g[m] : least;
                        most = g[m] > most ? g[m] : most;
                    }
                }
                v[k] = wy[0] * r[0] + wy[row] * r[1] + wy[2 * row] * r[2] + wy[3 * row] * r[3];
            }
            double value = wz[0] * v[0] + wz[row] * v[1] + wz[2 * row] * v[2] + wz[3 * row] * v[3];
            value = value < least ? least : value;
            values[l * row + i] = value > most ? most : value;
        }
    }
}

#define G 9.80665
#define LF 3.337e5
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

/* Level by level, along the row; rain and snow wait in their rows of the output for the next level. */
void cloud(const double *restrict given, double *restrict new, double *restrict fallen, whole field,
           whole ground, whole first, whole end, whole levels, whole row, whole count, double dt)
{
    for (whole b = first; b < end; b++) {
        double *restrict rains = fallen + b * row, *restrict snows = fallen + ground + b * row;
        for (whole i = 0; i < count; i++)
            rains[i] = snows[i] = 0;
        for (whole level = 0; level < levels; level++) {
            const double *restrict in = given + (b * levels + level) * row;
            double *restrict out = new + (b * levels + level) * row;
            for (whole i = 0; i < count; i++) {
                double t = in[i], q = in[field + i], water = in[2 * field + i], p = in[3 * field + i];
                double mass = in[4 * field + i] * (1.0 / (G * dt)), rain = rains[i], snow = snows[i];
                double x = 1.0 / (t - T1), n = EPS * E0 * exp(A * ((t - T0) * x));
                double qs = n / (p - n * ((1.0 - EPS) / EPS)), cover = 0;
                double slope = p * (L / CP * A * (T0 - T1)) * (qs * qs) * (x * x);
                int wet = q > qs, clear = q < qs;
                if (q > 0.8 * qs)
                    cover = clear ? 1.0 - sqrt((qs - q) / (qs * (1.0 - 0.8))) : 1.0;
                if (wet) {
                    double c = n * (q - qs) / (n + slope);
                    t += L / CP * c, q -= c, water += c;
                }
                if (water > 0 && clear) {
                    double c = (1.0 - cover) * (qs - q) * (1.0e-4 * dt);
                    c = MIN(c, water);
                    t -= L / CP * c, q += c, water -= c;
                }
                if (water > 1e-12) {
                    double inside = water / (MAX(cover, 0.05) * 3.0e-4);
                    inside = MIN(inside, 6.0);
                    double rate = (sqrt(rain + snow) * (300.0 / 15.0) + 1.0) * (1.0e-4 * dt)
                                  * (1.0 - exp(-(inside * inside)));
                    double c = water - water / (1.0 + rate), frozen = t < T0 ? c : 0;
                    water -= c;
                    t += LF / CP * frozen;
                    snow += frozen * mass, rain += (c - frozen) * mass;
                }
                if (snow > 0 && t > T0) {
                    double c = (t - T0) * mass * (CP / LF);
                    c = MIN(c, snow);
                    t -= LF / CP * (c / mass), snow -= c, rain += c;
                }
                if (rain > 0 && clear) {
                    double r = 6.0e-3 * dt * sqrt(rain);
                    double c = mass * ((1.0 - cover) * (qs - q) * r) / (1.0 + r);
                    c = MIN(c, rain);
                    rain -= c, c /= mass;
                    t -= L / CP * c, q += c;
                }
                out[i] = t, out[field + i] = q, out[2 * field + i] = water, out[3 * field + i] = cover;
                rains[i] = rain, snows[i] = snow;
            }
        }
    }
}
