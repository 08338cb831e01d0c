/* The block-tridiagonal sweep of BT along eight lines at once: the algorithm of
   kernels/bt/elimination.py in C with the compiler's vector type, so that the
   compilers and not the algorithms are compared.  Tiles are [cell][5][8]. */

#include <stdint.h>

typedef double v8 __attribute__((vector_size(64), aligned(8)));

#define C1 1.4
#define C2 0.4
#define C3C4 0.1
#define C1345 (1.4 * 1.4 * C3C4)

typedef struct { v8 t2, c1t2, c2t2, along, dd, k, k4, sigma, kd, kd4, one; } constants;
typedef struct { v8 inverse, a, b, c, p, w, g; } cell;
typedef struct { v8 l10, l20, l30, l40, l21, l31, l41, l32, l42, l43, d[5],
                    u01, u02, u03, u04, u12, u13, u14, u23, u24, u34; } triangles;
typedef struct { v8 a10, a20, a30, a40, a11, a31, a41, a32, a42, a13, a23, a33, a43, a44; } below;

static inline v8 spread(double x) { return (v8){x, x, x, x, x, x, x, x}; }

static inline cell describe(const v8 *u, const constants *f)
{
    cell s;
    v8 e, twice;
    s.inverse = spread(1.0) / u[0];
    s.a = u[1] * s.inverse;
    s.b = u[2] * s.inverse;
    s.c = u[3] * s.inverse;
    e = u[4] * s.inverse;
    twice = s.a * s.a + s.b * s.b + s.c * s.c;
    s.p = f->c2t2 * (spread(0.5) * twice);
    s.w = f->c1t2 * e - s.p;
    s.g = s.inverse * (f->kd * twice + (f->k4 - f->k) * (s.c * s.c) + f->sigma * e);
    return s;
}

static inline void minus_product(v8 *m, const below *q, const constants *f, const v8 *x)
{
    m[0] = m[0] - f->t2 * x[3] - f->dd * x[0];
    m[1] = m[1] - q->a13 * x[3] - q->a11 * x[1] - q->a10 * x[0];
    m[2] = m[2] - q->a23 * x[3] - q->a11 * x[2] - q->a20 * x[0];
    m[3] = m[3] - f->c2t2 * x[4] - q->a33 * x[3] - q->a32 * x[2] - q->a31 * x[1] - q->a30 * x[0];
    m[4] = m[4] - q->a44 * x[4] - q->a43 * x[3] - q->a42 * x[2] - q->a41 * x[1] - q->a40 * x[0];
}

static inline void solve(v8 *x, v8 v0, v8 v1, v8 v2, v8 v3, v8 v4, const triangles *t)
{
    v0 = v0 * t->d[0];
    v1 = (v1 - t->l10 * v0) * t->d[1];
    v2 = (v2 - t->l20 * v0 - t->l21 * v1) * t->d[2];
    v3 = (v3 - t->l30 * v0 - t->l31 * v1 - t->l32 * v2) * t->d[3];
    v4 = (v4 - t->l40 * v0 - t->l41 * v1 - t->l42 * v2 - t->l43 * v3) * t->d[4];
    v3 = v3 - t->u34 * v4;
    v2 = v2 - t->u24 * v4 - t->u23 * v3;
    v1 = v1 - t->u14 * v4 - t->u13 * v3 - t->u12 * v2;
    v0 = v0 - t->u04 * v4 - t->u03 * v3 - t->u02 * v2 - t->u01 * v1;
    x[0] = v0; x[1] = v1; x[2] = v2; x[3] = v3; x[4] = v4;
}

static inline void decompose(triangles *t, const cell *s, const below *q, const constants *f, const v8 *x)
{
    const v8 zero = spread(0.0), two = spread(2.0), one = spread(1.0);
    v8 v = two * f->k * s->inverse, v4 = two * f->k4 * s->inverse, ve = two * f->kd * s->inverse;
    v8 m[5] = {f->one, -(v * s->a), -(v * s->b), -(v4 * s->c), -(two * s->g)};
    v8 n[5] = {zero, f->one + v, zero, zero, ve * s->a};
    v8 o[5] = {zero, zero, f->one + v, zero, ve * s->b};
    v8 p[5] = {zero, zero, zero, f->one + v4, two * f->kd4 * s->inverse * s->c};
    v8 r[5] = {zero, zero, zero, zero, f->one + two * f->sigma * s->inverse};
    minus_product(m, q, f, x);
    t->l10 = m[1]; t->l20 = m[2]; t->l30 = m[3]; t->l40 = m[4];
    minus_product(n, q, f, x + 5);
    t->d[1] = m[0] / (n[1] * m[0] - t->l10 * n[0]);
    t->d[0] = one / m[0];
    t->u01 = n[0] * t->d[0];
    t->l21 = n[2] - t->l20 * t->u01; t->l31 = n[3] - t->l30 * t->u01; t->l41 = n[4] - t->l40 * t->u01;
    minus_product(o, q, f, x + 10);
    t->u02 = o[0] * t->d[0];
    t->u12 = (o[1] - t->l10 * t->u02) * t->d[1];
    o[2] = o[2] - t->l20 * t->u02 - t->l21 * t->u12;
    t->l32 = o[3] - t->l30 * t->u02 - t->l31 * t->u12;
    t->l42 = o[4] - t->l40 * t->u02 - t->l41 * t->u12;
    minus_product(p, q, f, x + 15);
    t->u03 = p[0] * t->d[0];
    t->u13 = (p[1] - t->l10 * t->u03) * t->d[1];
    p[2] = p[2] - t->l20 * t->u03 - t->l21 * t->u13;
    t->d[3] = o[2] / ((p[3] - t->l30 * t->u03 - t->l31 * t->u13) * o[2] - t->l32 * p[2]);
    t->d[2] = one / o[2];
    t->u23 = p[2] * t->d[2];
    t->l43 = p[4] - t->l40 * t->u03 - t->l41 * t->u13 - t->l42 * t->u23;
    minus_product(r, q, f, x + 20);
    t->u04 = r[0] * t->d[0];
    t->u14 = (r[1] - t->l10 * t->u04) * t->d[1];
    t->u24 = (r[2] - t->l20 * t->u04 - t->l21 * t->u14) * t->d[2];
    t->u34 = (r[3] - t->l30 * t->u04 - t->l31 * t->u14 - t->l32 * t->u24) * t->d[3];
    t->d[4] = one / (r[4] - t->l40 * t->u04 - t->l41 * t->u14 - t->l42 * t->u24 - t->l43 * t->u34);
}

static inline below block_below(const cell *s, const constants *f)
{
    v8 q = f->k * s->inverse + f->t2 * s->c, q4 = f->k4 * s->inverse + f->t2 * s->c;
    v8 t = f->kd * s->inverse - f->c2t2 * s->c;
    below m = {-(s->a * q), -(s->b * q), s->p - s->c * q4, (s->p - s->w) * s->c - s->g, q + f->dd,
               -(f->c2t2 * s->a), s->a * t, -(f->c2t2 * s->b), s->b * t, f->t2 * s->a, f->t2 * s->b,
               q4 + f->along * s->c + f->dd, s->w + s->c * (f->kd4 * s->inverse - f->c2t2 * s->c),
               f->c1t2 * s->c + f->sigma * s->inverse + f->dd};
    return m;
}

/* One cell of the forward elimination: x is X of the cell before, next receives X of this one. */
static inline void forward(const cell *behind, const cell *middle, const cell *front, const constants *f,
                           const v8 *x, v8 *next, const v8 *previous, v8 *r)
{
    const v8 zero = spread(0.0);
    v8 s = f->k * front->inverse - f->t2 * front->c, s4 = f->k4 * front->inverse - f->t2 * front->c;
    v8 e = f->kd * front->inverse + f->c2t2 * front->c, a = front->a, b = front->b, c = front->c;
    below q = block_below(behind, f);
    triangles t;
    v8 y[5];
    decompose(&t, middle, &q, f, x);
    solve(next, f->dd, -(a * s), -(b * s), -front->p - c * s4, (front->w - front->p) * c - front->g, &t);
    solve(next + 5, zero, s + f->dd, zero, f->c2t2 * a, a * e, &t);
    solve(next + 10, zero, zero, s + f->dd, f->c2t2 * b, b * e, &t);
    solve(next + 15, -f->t2, -(f->t2 * a), -(f->t2 * b), s4 - f->along * c + f->dd,
          c * (f->kd4 * front->inverse + f->c2t2 * c) - front->w, &t);
    solve(next + 20, zero, zero, zero, -f->c2t2, f->sigma * front->inverse - f->c1t2 * c + f->dd, &t);
    for (int m = 0; m < 5; m++)
        y[m] = -previous[m];
    minus_product(r, &q, f, y);
    solve(r, r[0], r[1], r[2], r[3], r[4], &t);
}

/* Sweep `count` tiles of `points` cells; r is replaced by the solution, upper is 25·points vectors. */
void bt_sweep(const v8 *u, v8 *r, uint64_t count, uint64_t points, double dt, double second, v8 *upper)
{
    double h = 1.0 / (points - 1.0), t1 = dt / (h * h), t2 = dt / (2.0 * h);
    double k = t1 * C3C4, k4 = t1 * (4.0 / 3.0) * C3C4, sigma = t1 * C1345;
    constants f = {spread(t2), spread(C1 * t2), spread(C2 * t2), spread((1.0 - C2) * t2), spread(t1 * second),
                   spread(k), spread(k4), spread(sigma), spread(k - sigma), spread(k4 - sigma),
                   spread(1.0 + 2.0 * t1 * second)};
    for (uint64_t tile = 0; tile < count; tile++, u += 5 * points, r += 5 * points) {
        cell behind = describe(u, &f), middle = describe(u + 5, &f), front;
        for (int m = 0; m < 25; m++)
            upper[m] = spread(0.0);
        for (uint64_t n = 1; n + 1 < points; n++) {
            front = describe(u + 5 * (n + 1), &f);
            forward(&behind, &middle, &front, &f, upper + 25 * (n - 1), upper + 25 * n, r + 5 * (n - 1), r + 5 * n);
            behind = middle;
            middle = front;
        }
        for (uint64_t n = points - 3; n >= 1; n--)
            for (int c = 4; c >= 0; c--)
                for (int m = 0; m < 5; m++)
                    r[5 * n + m] += upper[25 * n + 5 * c + m] * r[5 * (n + 1) + c];
    }
}
