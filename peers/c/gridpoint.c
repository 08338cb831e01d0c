/* Stages of a row of the out-of-core forecast, and the elimination of its Helmholtz equations: the algorithm of
   kernels/gridpoint in C with the compiler's vector type, over the same memory, so that compilers are compared and
   not algorithms.  Fourier transforms and the filter near the poles are left out. */

#include <math.h>
#include <stdint.h>

typedef double v8 __attribute__((vector_size(64), aligned(8), may_alias));
#ifdef __AVX512F__
typedef v8 part; /* of which eight sums stay in the registers */
#else
typedef double part __attribute__((vector_size(32), aligned(8), may_alias));
#endif
typedef int64_t n;

#define L(p) (*(const v8 *)(p))
#define S(p, x) (*(v8 *)(p) = (x))
#define P(p) (*(part *)(p))
#define HEADER 64

enum { U0, V0, T0, Q0, LU, LV, LT, LQ, FU, FV, MD, PH, ET, WT, UM, VM, TM, QM, ROW0 };
enum { YU = UM, YV, YT, YD }; /* the explicit change takes the place of the time level before */
enum { YP, PS, PM, LN, PT };
enum { DT, EPS, DAMP, R_GAS, TAU_T, P_MEAN, KAP };

typedef struct {
    n ni, nj, levels, pitch, field, row, ring, slots, halves, half, groups, tendency, fourier;
    const double *cos, *inverse_cos, *south, *north, *dx, *dy, *face, *laplace_south, *laplace_north, *f, *curl_v,
        *curl_u, *pole, *damp_south, *damp_north, *damp_south_v, *damp_north_v;
    const double *thickness, *half_level, *log, *log_per, *alpha, *half_per, *sigma;
    const double *forward, *backward, *inverse, *speed2, *scale;
    double *window, *records, *G, *hat, *scratch;
} plan;

static inline v8 spread(double x) { return (v8){x, x, x, x, x, x, x, x}; }
static inline n most(n a, n b) { return a > b ? a : b; }
static inline n least(n a, n b) { return a < b ? a : b; }
static inline double *at(const plan *p, n j, n field)
{
    return p->window + (j % p->ring) * p->row + field * p->field + 8;
}
static inline double *at_row(const plan *p, n j, n row)
{
    return p->window + (j % p->ring) * p->row + ROW0 * p->field + row * p->pitch + 8;
}
static inline double *record(const plan *p, n j) { return p->records + (j % p->slots) * 2 * p->half; }
static inline void wrap(double *o, n ni)
{
    S(o + ni, L(o));
    S(o - 8, L(o + ni - 8));
}

static void complete(const plan *p, n j)
{
    const n ni = p->ni, fld = p->levels * ni;
    double *sum = p->scratch, *rec = record(p, j), *a = rec + HEADER, *b = rec + p->half;
    const double *g = p->G + j * p->field + 8;
    const double *gs = j > 0 ? g - p->field : g, *gn = j < p->nj - 1 ? g + p->field : g;
    const double dt = p->scale[DT], eps = p->scale[EPS], dx = p->dx[j], dx2 = dx * dx;
    const double ls = p->laplace_south[j], ln = p->laplace_north[j];
    const double cu = -dt * dx, cv = -dt * p->face[j], ct = -dt * p->scale[TAU_T];
    for (n i = 0; i < ni; i += 8) S(sum + i, spread(0.0));
    for (n k = 0; k < p->levels; k++) {
        const n o = k * p->pitch, s = k * ni;
        double *w = at(p, j, U0) + o;
        const double lag = p->log_per[k], alpha = p->alpha[k], thick = p->thickness[k];
        for (n i = 0; i < ni; i += 8) {
            const v8 here = L(g + o + i), east = L(g + o + i + 1), west = L(g + o + i - 1);
            const v8 south = L(gs + o + i), north = L(gn + o + i);
            const v8 cx = cu * (east - here), cy = cv * (here - south);
            const v8 lap = dx2 * ((east - here) - (here - west)) + (ln * (north - here) - ls * (here - south));
            const v8 div = L(a + 4 * fld + s + i) - dt * lap, above = L(sum + i);
            const v8 heat = ct * (lag * above + alpha * div);
            S(sum + i, above + thick * div);
            S(w + U0 * p->field + i, L(a + s + i) + cx);
            S(w + V0 * p->field + i, L(a + fld + s + i) + cy);
            S(w + T0 * p->field + i, L(a + 2 * fld + s + i) + heat);
            S(w + Q0 * p->field + i, L(a + 3 * fld + s + i));
            S(w + UM * p->field + i, L(b + s + i) + eps * cx);
            S(w + VM * p->field + i, L(b + fld + s + i) + eps * cy);
            S(w + TM * p->field + i, L(b + 2 * fld + s + i) + eps * heat);
            S(w + QM * p->field + i, L(b + 3 * fld + s + i));
        }
        for (n field = 0; field < 4; field++) {
            wrap(w + field * p->field, ni);
            wrap(w + (UM + field) * p->field, ni);
        }
    }
    double *ps = at_row(p, j, PS), *pm = at_row(p, j, PM), *lnp = at_row(p, j, LN);
    const double rate = -dt * p->scale[P_MEAN];
    for (n i = 0; i < ni; i += 8) {
        const v8 change = rate * L(sum + i);
        S(ps + i, L(a + 6 * fld + i) + change);
        S(pm + i, L(b + 6 * fld + i) + eps * change);
    }
    for (n i = 0; i < ni; i++) lnp[i] = log(ps[i]);
    wrap(ps, ni);
    wrap(pm, ni);
    wrap(lnp, ni);
}

static void vorticity(const plan *p, n j)
{
    const n ni = p->ni;
    double *scratch = p->scratch;
    if (j == 0 || j == p->nj) {
        const n near = j == 0 ? 0 : p->nj - 1;
        double sum = 0.0;
        for (n i = 0; i < ni; i++) sum += at_row(p, near, PS)[i];
        for (n k = 0; k < p->levels; k++) {
            double mean = 0.0;
            for (n i = 0; i < ni; i++) mean += at(p, near, U0)[k * p->pitch + i];
            const double eta = (p->f[j] + p->pole[j] * (mean / ni)) / (sum / ni);
            for (n i = -8; i < ni + 8; i += 8) S(at(p, j, ET) + k * p->pitch + i, spread(eta));
        }
        return;
    }
    const double *here = at_row(p, j, PS), *south = at_row(p, j - 1, PS);
    for (n i = 0; i < ni; i += 8)
        S(scratch + i, 4.0 / (L(here + i) + L(here + i + 1) + (L(south + i) + L(south + i + 1))));
    const double cv = p->curl_v[j], cu = p->curl_u[j], c = p->cos[j], cs = p->cos[j - 1];
    for (n k = 0; k < p->levels; k++) {
        const n o = k * p->pitch;
        const double *u = at(p, j, U0) + o, *us = at(p, j - 1, U0) + o, *v = at(p, j, V0) + o;
        double *e = at(p, j, ET) + o;
        for (n i = 0; i < ni; i += 8) {
            const v8 zeta = cv * (L(v + i + 1) - L(v + i)) - cu * (c * L(u + i) - cs * L(us + i));
            S(e + i, (zeta + p->f[j]) * L(scratch + i));
        }
        wrap(e, ni);
    }
}

static void second_differences(const plan *p, n j)
{
    const n south = most(j - 1, 0), north = least(j + 1, p->nj - 1);
    for (n field = 0; field < 4; field++) {
        const double ds = field == 1 ? p->damp_south_v[j] : p->damp_south[j];
        const double dn = field == 1 ? p->damp_north_v[j] : p->damp_north[j];
        for (n k = 0; k < p->levels; k++) {
            const n o = k * p->pitch;
            const double *x = at(p, j, UM + field) + o, *s = at(p, south, UM + field) + o;
            const double *north_x = at(p, north, UM + field) + o;
            double *out = at(p, j, LU + field) + o;
            for (n i = 0; i < p->ni; i += 8) {
                const v8 here = L(x + i);
                S(out + i, dn * (L(north_x + i) - here) - ds * (here - L(s + i)));
            }
        }
    }
}

static void flow(const plan *p, n j)
{
    const n ni = p->ni, pitch = p->pitch, north = least(j + 1, p->nj - 1), south = most(j - 1, 0);
    double *x = p->scratch, *y = x + pitch, *sum = y + pitch, *cs = sum + pitch, *cn = cs + pitch, *phi = cn + pitch;
    const double *ps = at_row(p, j, PS), *psn = at_row(p, north, PS), *pss = at_row(p, south, PS);
    const double *phis = record(p, j) + HEADER + 6 * p->levels * ni + ni;
    const double hs = 0.5 * p->south[j], hn = 0.5 * p->north[j], dx = p->dx[j], dy = p->dy[j];
    for (n i = 0; i < ni; i += 8) {
        const v8 here = L(ps + i);
        S(x + 8 + i, 0.5 * (here + L(ps + i + 1)));
        S(cs + i, hs * (here + L(pss + i)));
        S(cn + i, hn * (here + L(psn + i)));
        S(y + i, p->scale[KAP] / here);
        S(sum + i, spread(0.0));
        S(phi + i, L(phis + i));
    }
    wrap(x + 8, ni);
    for (n k = 0; k < p->levels; k++) {
        const n o = k * pitch;
        const double *u = at(p, j, U0) + o, *v = at(p, j, V0) + o, *vn = at(p, north, V0) + o, *t = at(p, j, T0) + o;
        double *fu = at(p, j, FU) + o, *fv = at(p, j, FV) + o, *md = at(p, j, MD) + o, *wt = at(p, j, WT) + o;
        const double lag = p->log_per[k], alpha = p->alpha[k], thick = p->thickness[k];
        for (n i = 0; i < ni; i += 8) {
            const v8 flux = L(x + 8 + i) * L(u + i), west = L(x + 7 + i) * L(u + i - 1);
            const v8 below = L(cs + i) * L(v + i), above = L(cn + i) * L(vn + i);
            const v8 div = dx * (flux - west) + dy * (above - below);
            v8 total = L(sum + i);
            S(fu + i, flux);
            S(fv + i, below);
            S(wt + i, -(L(y + i) * L(t + i)) * (lag * total + alpha * div));
            total = total + thick * div;
            S(sum + i, total);
            S(md + i, total);
        }
        wrap(fu, ni);
        wrap(fv, ni);
    }
    for (n i = 0; i < ni; i += 8) S(at_row(p, j, PT) + i, -L(sum + i));
    const double gas = p->scale[R_GAS];
    const double qs = 0.25 * p->south[j] * p->inverse_cos[j], qn = 0.25 * p->north[j] * p->inverse_cos[j];
    for (n k = p->levels - 1; k >= 0; k--) {
        const n o = k * pitch;
        const double *u = at(p, j, U0) + o, *v = at(p, j, V0) + o, *vn = at(p, north, V0) + o, *t = at(p, j, T0) + o;
        double *md = at(p, j, MD) + o, *ph = at(p, j, PH) + o;
        const double half = p->half_level[k], ra = gas * p->alpha[k], rl = gas * p->log[k];
        for (n i = 0; i < ni; i += 8) {
            S(md + i, half * L(sum + i) - L(md + i));
            const v8 here = L(u + i), west = L(u + i - 1), below = L(v + i), above = L(vn + i);
            const v8 kinetic = 0.25 * (here * here + west * west) + (qs * (below * below) + qn * (above * above));
            const v8 temperature = L(t + i), height = L(phi + i);
            S(ph + i, kinetic + (height + ra * temperature));
            S(phi + i, height + rl * temperature);
        }
        wrap(md, ni);
        wrap(ph, ni);
    }
    vorticity(p, j);
    if (j == p->nj - 1) vorticity(p, p->nj);
    second_differences(p, j);
}

static inline v8 fourth(const double *x, const double *lh, const double *ls, const double *ln, double dn, double ds,
                        double damp)
{
    const v8 far = L(x - 2) + L(x + 2), near = L(x - 1) + L(x + 1), second = L(lh);
    const v8 lat = dn * (L(ln) - second) - ds * (second - L(ls));
    return -damp * ((far - 4.0 * near + 6.0 * L(x)) + lat);
}

static void zonal(const plan *p, n j)
{
    const n pitch = p->pitch, last = p->levels - 1, north = least(j + 1, p->nj - 1), south = most(j - 1, 0);
    double *out = p->scratch, *per_ps = out + 4 * p->tendency * pitch;
    const double *ps = at_row(p, j, PS), *log_p = at_row(p, j, LN);
    for (n i = 0; i < p->ni; i += 8) S(per_ps + i, 1.0 / (L(ps + i) + L(ps + i + 1)));
    const double half_r = 0.5 * p->scale[R_GAS], dx = p->dx[j], turn = 0.125 * p->inverse_cos[j];
    const double damp = p->scale[DAMP], dn = p->damp_north[j], ds = p->damp_south[j];
    const double polar = j == p->nj - 1 ? 0.0 : 1.0;
    for (n k = 0; k <= last; k++) {
        const n o = k * pitch, up = k > 0 ? pitch : 0, down = k < last ? pitch : 0;
        const double *u = at(p, j, U0) + o, *um = at(p, j, UM) + o, *t = at(p, j, T0) + o, *b = at(p, j, PH) + o;
        const double *m = at(p, j, MD) + o, *e = at(p, j, ET) + o, *en = at(p, j + 1, ET) + o;
        const double *fv = at(p, j, FV) + o, *fvn = at(p, north, FV) + o;
        const double *lu = at(p, j, LU) + o, *lus = at(p, south, LU) + o, *lun = at(p, north, LU) + o;
        const double per = p->half_per[k], gate = k > 0 ? 1.0 : 0.0, gate_below = k < last ? 1.0 : 0.0;
        for (n i = 0; i < p->ni; i += 8) {
            const v8 eta = L(e + i) + L(en + i);
            const v8 across = (L(fv + i) + L(fv + i + 1)) + polar * (L(fvn + i) + L(fvn + i + 1));
            const v8 warmth = half_r * (L(t + i) + L(t + i + 1));
            const v8 force = (L(b + i + 1) - L(b + i)) + warmth * (L(log_p + i + 1) - L(log_p + i));
            const v8 here = L(u + i), lower = L(m + i) + L(m + i + 1), upper = L(m - up + i) + L(m - up + i + 1);
            const v8 lift = (gate_below * lower) * (L(u + down + i) - here) + (gate * upper) * (here - L(u - up + i));
            const v8 mix = fourth(um + i, lu + i, lus + i, lun + i, dn, ds, damp);
            S(out + o + 8 + i, turn * (eta * across) - dx * force - (per * L(per_ps + i)) * lift + mix);
        }
    }
}

static void meridional(const plan *p, n j)
{
    const n pitch = p->pitch, last = p->levels - 1, north = least(j + 1, p->nj - 1), south = most(j - 1, 0);
    double *out = p->scratch + p->tendency * pitch, *per_ps = p->scratch + 4 * p->tendency * pitch;
    const double *ps = at_row(p, j, PS), *pss = at_row(p, south, PS);
    const double *log_p = at_row(p, j, LN), *log_s = at_row(p, south, LN);
    for (n i = 0; i < p->ni; i += 8) S(per_ps + i, 1.0 / (L(ps + i) + L(pss + i)));
    const double half_r = 0.5 * p->scale[R_GAS], face = p->face[j], open = j > 0 ? 1.0 : 0.0;
    const double damp = p->scale[DAMP], dn = p->damp_north_v[j], ds = p->damp_south_v[j];
    for (n k = 0; k <= last; k++) {
        const n o = k * pitch, up = k > 0 ? pitch : 0, down = k < last ? pitch : 0;
        const double *v = at(p, j, V0) + o, *vm = at(p, j, VM) + o, *e = at(p, j, ET) + o;
        const double *t = at(p, j, T0) + o, *ts = at(p, south, T0) + o, *b = at(p, j, PH) + o;
        const double *bs = at(p, south, PH) + o, *m = at(p, j, MD) + o, *ms = at(p, south, MD) + o;
        const double *fu = at(p, j, FU) + o, *fus = at(p, south, FU) + o;
        const double *lv = at(p, j, LV) + o, *lvs = at(p, south, LV) + o, *lvn = at(p, north, LV) + o;
        const double per = p->half_per[k], gate = k > 0 ? 1.0 : 0.0, gate_below = k < last ? 1.0 : 0.0;
        for (n i = 0; i < p->ni; i += 8) {
            const v8 eta = L(e + i) + L(e + i - 1);
            const v8 along = (L(fu + i) + L(fu + i - 1)) + (L(fus + i) + L(fus + i - 1));
            const v8 warmth = half_r * (L(t + i) + L(ts + i));
            const v8 force = (L(b + i) - L(bs + i)) + warmth * (L(log_p + i) - L(log_s + i));
            const v8 here = L(v + i), lower = L(m + i) + L(ms + i), upper = L(m - up + i) + L(ms - up + i);
            const v8 lift = (gate_below * lower) * (L(v + down + i) - here) + (gate * upper) * (here - L(v - up + i));
            const v8 mix = fourth(vm + i, lv + i, lvs + i, lvn + i, dn, ds, damp);
            const v8 value = mix - 0.125 * (eta * along) - face * force - (per * L(per_ps + i)) * lift;
            S(out + o + 8 + i, open * value);
        }
    }
}

static void temperature(const plan *p, n j)
{
    const n pitch = p->pitch, last = p->levels - 1, north = least(j + 1, p->nj - 1), south = most(j - 1, 0);
    double *out = p->scratch + 2 * p->tendency * pitch + 8, *per_ps = p->scratch + 4 * p->tendency * pitch;
    const double *log_p = at_row(p, j, LN), *log_s = at_row(p, south, LN), *log_n = at_row(p, north, LN);
    const double hx = 0.5 * p->dx[j], hy = 0.5 * p->dy[j], kap = 0.5 * p->scale[KAP];
    const double open = j == p->nj - 1 ? 0.0 : 1.0;
    const double damp = p->scale[DAMP], dn = p->damp_north[j], ds = p->damp_south[j];
    for (n i = 0; i < p->ni; i += 8) {
        S(per_ps + i, 1.0 / L(at_row(p, j, PS) + i));
        S(out + p->levels * pitch + i, L(at_row(p, j, PT) + i));
    }
    for (n k = 0; k <= last; k++) {
        const n o = k * pitch, up = k > 0 ? pitch : 0, down = k < last ? pitch : 0;
        const double *t = at(p, j, T0) + o, *ts = at(p, south, T0) + o, *tn = at(p, north, T0) + o;
        const double *fu = at(p, j, FU) + o, *fv = at(p, j, FV) + o, *fvn = at(p, north, FV) + o;
        const double *m = at(p, j, MD) + o, *wt = at(p, j, WT) + o, *x = at(p, j, TM) + o;
        const double *lh = at(p, j, LT) + o, *ls = at(p, south, LT) + o, *ln = at(p, north, LT) + o;
        const double per = p->half_per[k], gate = k > 0 ? 1.0 : 0.0, gate_below = k < last ? 1.0 : 0.0;
        for (n i = 0; i < p->ni; i += 8) {
            const v8 here = L(t + i), east = L(t + i + 1), west = L(t + i - 1), so = L(ts + i), no = L(tn + i);
            const v8 fe = hx * L(fu + i), fw = hx * L(fu + i - 1), fs = hy * L(fv + i), fn = (open * hy) * L(fvn + i);
            const v8 lower = gate_below * L(m + i), upper = gate * L(m - up + i), middle = L(log_p + i);
            const v8 lift = lower * (L(t + down + i) - here) + upper * (here - L(t - up + i));
            const v8 moved = (fe * (east - here) + fw * (here - west)) + (fn * (no - here) + fs * (here - so)) + per * lift;
            const v8 to_east = L(log_p + i + 1) - middle, to_west = middle - L(log_p + i - 1);
            const v8 to_north = L(log_n + i) - middle, to_south = middle - L(log_s + i);
            v8 work = fe * ((here + east) * to_east) + fw * ((here + west) * to_west);
            work = work + (fn * ((here + no) * to_north) + fs * ((here + so) * to_south));
            const v8 mix = fourth(x + i, lh + i, ls + i, ln + i, dn, ds, damp);
            S(out + o + i, L(per_ps + i) * (kap * work - moved) + L(wt + i) + mix);
        }
    }
}

static void tracer(const plan *p, n j)
{
    const n pitch = p->pitch, last = p->levels - 1, north = least(j + 1, p->nj - 1), south = most(j - 1, 0);
    double *out = p->scratch + 3 * p->tendency * pitch + 8, *per_ps = p->scratch + 4 * p->tendency * pitch;
    const double hx = 0.5 * p->dx[j], hy = 0.5 * p->dy[j], open = j == p->nj - 1 ? 0.0 : 1.0;
    const double damp = p->scale[DAMP], dn = p->damp_north[j], ds = p->damp_south[j];
    for (n k = 0; k <= last; k++) {
        const n o = k * pitch, up = k > 0 ? pitch : 0, down = k < last ? pitch : 0;
        const double *q = at(p, j, Q0) + o, *qs = at(p, south, Q0) + o, *qn = at(p, north, Q0) + o;
        const double *fu = at(p, j, FU) + o, *fv = at(p, j, FV) + o, *fvn = at(p, north, FV) + o;
        const double *m = at(p, j, MD) + o, *x = at(p, j, QM) + o;
        const double *lh = at(p, j, LQ) + o, *ls = at(p, south, LQ) + o, *ln = at(p, north, LQ) + o;
        const double per = p->half_per[k], gate = k > 0 ? 1.0 : 0.0, gate_below = k < last ? 1.0 : 0.0;
        for (n i = 0; i < p->ni; i += 8) {
            const v8 here = L(q + i), east = L(q + i + 1), west = L(q + i - 1), so = L(qs + i), no = L(qn + i);
            const v8 fe = hx * L(fu + i), fw = hx * L(fu + i - 1), fs = hy * L(fv + i), fn = (open * hy) * L(fvn + i);
            const v8 lower = gate_below * L(m + i), upper = gate * L(m - up + i);
            const v8 lift = lower * (L(q + down + i) - here) + upper * (here - L(q - up + i));
            const v8 moved = (fe * (east - here) + fw * (here - west)) + (fn * (no - here) + fs * (here - so)) + per * lift;
            const v8 mix = fourth(x + i, lh + i, ls + i, ln + i, dn, ds, damp);
            S(out + o + i, mix - L(per_ps + i) * moved);
        }
    }
}

static void advance(const plan *p, n j)
{
    const n ni = p->ni, fld = p->levels * ni;
    double *rec = record(p, j);
    const double step = 2.0 * p->scale[DT], eps = p->scale[EPS];
    for (n field = 0; field < 4; field++)
        for (n k = 0; k < p->levels; k++) {
            const double *rate = p->scratch + (field * p->tendency + k) * p->pitch + 8;
            double *a = rec + HEADER + field * fld + k * ni, *b = rec + p->half + field * fld + k * ni;
            const double *x0 = at(p, j, U0 + field) + k * p->pitch, *xm = at(p, j, UM + field) + k * p->pitch;
            double *y = at(p, j, YU + field) + k * p->pitch;
            for (n i = 0; i < ni; i += 8) {
                const v8 now = L(x0 + i), before = L(xm + i), new = before + step * L(rate + i);
                const v8 explicit = (new - now) + (before - now);
                S(a + i, new);
                S(b + i, now + eps * explicit);
                S(y + i, explicit);
            }
        }
    const double *rate = p->scratch + (2 * p->tendency + p->levels) * p->pitch + 8;
    const double *ps = at_row(p, j, PS), *pm = at_row(p, j, PM);
    double *a = rec + HEADER + 6 * fld, *b = rec + p->half + 6 * fld, *y = at_row(p, j, YP);
    for (n i = 0; i < ni; i += 8) {
        const v8 now = L(ps + i), before = L(pm + i), new = before + step * L(rate + i);
        const v8 explicit = (new - now) + (before - now);
        S(a + i, new);
        S(b + i, now + eps * explicit);
        S(y + i, explicit);
    }
}

/* All rows through the explicit stages, each a row behind the one before. */
void gridpoint_explicit(const plan *p, n scans)
{
    for (n scan = 0; scan < scans; scan++)
        for (n j = 0; j < p->nj + 2; j++) {
            if (j < p->nj) complete(p, j);
            if (j > 0 && j - 1 < p->nj) flow(p, j - 1);
            if (j > 1) {
                zonal(p, j - 2);
                meridional(p, j - 2);
                temperature(p, j - 2);
                tracer(p, j - 2);
                advance(p, j - 2);
            }
        }
}

/* Elimination from south to north and substitution on the way back, all wavenumbers and modes. */
void gridpoint_helmholtz(const plan *p, n scans)
{
    const n count = (p->ni / 2 + 1) * p->groups, row = (count * 32 + 1535) / 1536 * 1536;
    for (n scan = 0; scan < scans; scan++) {
        for (n j = 0; j < p->nj; j++) {
            double *x = p->hat + j * row, *before = p->hat + most(j - 1, 0) * row;
            const double *inverse = p->inverse + j * count * 16, weight = p->laplace_south[j];
            for (n m = 0; m < count; m++)
                for (n part = 0; part < 2; part++) {
                    const v8 c = weight * L(p->speed2 + 16 * (m % p->groups) + 8 * part), q = L(inverse + 16 * m + 8 * part);
                    const n o = 32 * m + 16 * part;
                    S(x + o, (L(x + o) + c * L(before + o)) * q);
                    S(x + o + 8, (L(x + o + 8) + c * L(before + o + 8)) * q);
                }
        }
        for (n j = p->nj - 2; j >= 0; j--) {
            double *x = p->hat + j * row, *after = p->hat + (j + 1) * row;
            const double *inverse = p->inverse + j * count * 16, weight = p->laplace_north[j];
            for (n m = 0; m < count; m++)
                for (n part = 0; part < 2; part++) {
                    const v8 c = (weight * L(p->speed2 + 16 * (m % p->groups) + 8 * part)) * L(inverse + 16 * m + 8 * part);
                    const n o = 32 * m + 16 * part;
                    S(x + o, L(x + o) + c * L(after + o));
                    S(x + o + 8, L(x + o + 8) + c * L(after + o + 8));
                }
        }
    }
}

/* The vertical products of all rows: right-hand sides of the modes from the fields Y of T and D, and Y of p_s. */
void gridpoint_products(const plan *p, n scans)
{
    const n columns = 2 * p->levels + 1, pitch = p->pitch, many = sizeof(part) / sizeof(double);
    double *out = p->scratch + 4 * p->tendency * pitch + 8;
    for (n scan = 0; scan < scans; scan++)
        for (n j = 0; j < p->nj; j++)
            for (n i = 0; i < p->ni; i += 2 * many)
                for (n m = 0; m < 16 * p->groups; m += 4) {
                    const double *x = at(p, j, YT) + i, *a = p->forward + m * columns, *b = a + columns,
                                 *c = b + columns, *d = c + columns;
                    double *y = out + m * pitch + i;
                    part s0 = {0}, s1 = s0, s2 = s0, s3 = s0, t0 = s0, t1 = s0, t2 = s0, t3 = s0;
                    for (n q = 0; q < columns; q++) {
                        const part u = P(x + q * pitch), v = P(x + q * pitch + many);
                        s0 += a[q] * u, t0 += a[q] * v;
                        s1 += b[q] * u, t1 += b[q] * v;
                        s2 += c[q] * u, t2 += c[q] * v;
                        s3 += d[q] * u, t3 += d[q] * v;
                    }
                    P(y) = s0, P(y + many) = t0;
                    P(y + pitch) = s1, P(y + pitch + many) = t1;
                    P(y + 2 * pitch) = s2, P(y + 2 * pitch + many) = t2;
                    P(y + 3 * pitch) = s3, P(y + 3 * pitch + many) = t3;
                }
}
