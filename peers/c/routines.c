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
