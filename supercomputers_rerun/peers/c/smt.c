/* The five loops of kernels/processor/smt.py as one would write them in C.  KEEP makes a sum unknown to the
   compiler, at no instruction, so that the chains stay chains under every option. */

#include <stdint.h>

#if defined(__x86_64__)
#define KEEP(s) __asm__("" : "+x"(s))
#elif defined(__aarch64__)
#define KEEP(s) __asm__("" : "+w"(s))
#else
#define KEEP(s) __asm__("" : "+m"(s))
#endif
#define BARRIER(p) __asm__ volatile("" : : "r"(p) : "memory")
#define ADD(s) KEEP(s); s += 1.0

void s1_loop(int64_t n, int64_t passes, double *out)
{
    for (int64_t pass = 0; pass < passes; pass++) {
        double s1 = 0;
        for (int64_t i = 0; i < n; i++) {
            ADD(s1);
        }
        out[0] = s1;
        BARRIER(out);
    }
}

void s2_loop(int64_t n, int64_t passes, double *out)
{
    for (int64_t pass = 0; pass < passes; pass++) {
        double s1 = 0, s2 = 0;
        for (int64_t i = 0; i < n; i++) {
            ADD(s1); ADD(s2);
        }
        out[0] = s1, out[1] = s2;
        BARRIER(out);
    }
}

void s10_loop(int64_t n, int64_t passes, double *out)
{
    for (int64_t pass = 0; pass < passes; pass++) {
        double s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0, s8 = 0, s9 = 0, s10 = 0;
        for (int64_t i = 0; i < n; i++) {
            ADD(s1); ADD(s2); ADD(s3); ADD(s4); ADD(s5);
            ADD(s6); ADD(s7); ADD(s8); ADD(s9); ADD(s10);
        }
        out[0] = s1, out[1] = s2, out[2] = s3, out[3] = s4, out[4] = s5;
        out[5] = s6, out[6] = s7, out[7] = s8, out[8] = s9, out[9] = s10;
        BARRIER(out);
    }
}

void array_loop(const double *a, int64_t step, int64_t n, int64_t passes, double *out)
{
    for (int64_t pass = 0; pass < passes; pass++) {
        double s1 = 0, s2 = 0;
        const double *p = a;
        for (int64_t i = 0; i < n; i++, p += step) {
            KEEP(s1);
            s1 += 1.1 * p[0];
            KEEP(s2);
            s2 += 1.1 * p[1];
        }
        out[0] = s1, out[1] = s2;
        BARRIER(a);
    }
}
