/* Memory kernels as one would write them in C: strided sums, a pointer chase, STREAM's triad. */

#include <stddef.h>
#include <stdint.h>

#if defined(__AVX512F__) || defined(__AVX__) || defined(__SSE2__)
#include <immintrin.h>
#endif

/* Keeps the compiler from merging or dropping passes; costs no instruction. */
#define BARRIER(p) __asm__ volatile("" : : "r"(p) : "memory")

void stride_sum(const uint32_t *a, uint64_t items, uint64_t stride, uint64_t passes, uint32_t *out)
{
    for (uint64_t pass = 0; pass < passes; pass++) {
        if (stride == 1) {
            uint32_t total = 0;
            for (uint64_t i = 0; i < items; i++)
                total += a[i];
            out[0] = total;
        } else {
            uint64_t n = (items + stride - 1) / stride, blocks = n / 8;
            uint32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0;
            const uint32_t *p = a, *q;
            for (uint64_t block = 0; block < blocks; block++, p = q + 4 * stride) {
                q = p + 4 * stride;
                s0 += p[0];
                s1 += p[stride];
                s2 += p[2 * stride];
                s3 += p[3 * stride];
                s4 += q[0];
                s5 += q[stride];
                s6 += q[2 * stride];
                s7 += q[3 * stride];
            }
            for (uint64_t rest = n - 8 * blocks; rest > 0; rest--, p += stride)
                s0 += p[0];
            out[0] = s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7;
        }
        out[1]++;
        BARRIER(a);
    }
}

/* next[p] is the item that follows item p; returns where the chase stands after the loads. */
uint64_t chase(const uint32_t *next, uint64_t position, uint64_t loads)
{
    for (uint64_t i = 0; i < loads; i++)
        position = next[position];
    return position;
}

void triad(double *a, const double *b, const double *c, double s, uint64_t n, uint64_t passes)
{
    for (uint64_t pass = 0; pass < passes; pass++) {
        for (uint64_t i = 0; i < n; i++)
            a[i] = b[i] + s * c[i];
        BARRIER(a);
    }
}

/* As triad, past the caches.  The arrays begin on a cache line and n is a multiple of 8.
   Returns 0 where this CPU has no such stores, and then does nothing. */
int triad_nontemporal(double *a, const double *b, const double *c, double s, uint64_t n, uint64_t passes)
{
#if defined(__AVX512F__)
    const __m512d factor = _mm512_set1_pd(s);
    for (uint64_t pass = 0; pass < passes; pass++) {
        for (uint64_t i = 0; i < n; i += 8)
            _mm512_stream_pd(a + i, _mm512_fmadd_pd(_mm512_load_pd(c + i), factor, _mm512_load_pd(b + i)));
        _mm_sfence();
    }
    return 1;
#elif defined(__AVX__)
    const __m256d factor = _mm256_set1_pd(s);
    for (uint64_t pass = 0; pass < passes; pass++) {
        for (uint64_t i = 0; i < n; i += 4)
            _mm256_stream_pd(a + i, _mm256_add_pd(_mm256_mul_pd(_mm256_load_pd(c + i), factor),
                                                  _mm256_load_pd(b + i)));
        _mm_sfence();
    }
    return 1;
#elif defined(__SSE2__)
    const __m128d factor = _mm_set1_pd(s);
    for (uint64_t pass = 0; pass < passes; pass++) {
        for (uint64_t i = 0; i < n; i += 2)
            _mm_stream_pd(a + i, _mm_add_pd(_mm_mul_pd(_mm_load_pd(c + i), factor), _mm_load_pd(b + i)));
        _mm_sfence();
    }
    return 1;
#elif defined(__aarch64__)
    for (uint64_t pass = 0; pass < passes; pass++) {
        for (uint64_t i = 0; i < n; i += 2) {
            double low = b[i] + s * c[i], high = b[i + 1] + s * c[i + 1];
            __asm__ volatile("stnp %d1, %d2, [%0]" : : "r"(a + i), "w"(low), "w"(high) : "memory");
        }
        __asm__ volatile("dmb ishst" : : : "memory");
    }
    return 1;
#else
    (void)a, (void)b, (void)c, (void)s, (void)n, (void)passes;
    return 0;
#endif
}
