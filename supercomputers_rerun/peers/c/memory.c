/* Memory kernels as one would write them in C: strided sums, a pointer chase, STREAM's triad. */

#include <stdint.h>

#if defined(__AVX__)
#include <immintrin.h>
#endif

/* Keeps the compiler from merging or dropping passes; costs no instruction. */
#define BARRIER(p) __asm__ volatile("" : : "r"(p) : "memory")
#define INLINE static inline __attribute__((always_inline))

/* All strided sums take the same: out[0] becomes the sum of every stride-th of the first items, out[1] counts passes. */
#define SUM(NAME, TOTAL)                                                                                           \
    void NAME(const uint32_t *a, int64_t items, int64_t stride, int64_t passes, uint64_t *out)                     \
    {                                                                                                              \
        for (int64_t pass = 0; pass < passes; pass++) {                                                            \
            out[0] = TOTAL(a, items, stride);                                                                      \
            out[1] = pass + 1;                                                                                     \
            BARRIER(a);                                                                                            \
        }                                                                                                          \
    }

INLINE uint32_t plain(const uint32_t *a, int64_t items, int64_t stride)
{
    uint32_t total = 0;
    if (stride == 1)
        for (int64_t i = 0; i < items; i++)
            total += a[i];
    else
        for (int64_t i = 0; i < items; i += stride)
            total += a[i];
    return total;
}

SUM(stride_sum, plain)

INLINE uint32_t eight_items(const uint32_t *a, int64_t items, int64_t stride)
{
    int64_t n = (items + stride - 1) / stride, blocks = n / 8;
    uint32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0;
    const uint32_t *p = a, *q;
    for (int64_t block = 0; block < blocks; block++, p = q + 4 * stride) {
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
    for (int64_t rest = n - 8 * blocks; rest > 0; rest--, p += stride)
        s0 += p[0];
    return s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7;
}

SUM(stride_sum_items, eight_items)

/* Whole cache lines, a sum for each line of a turn, of which only the wanted lanes are added up: strides 1 to 8. */
typedef uint32_t line __attribute__((vector_size(64), aligned(4)));

INLINE uint32_t lines_by(int lines, int step, const uint32_t *a, int64_t items)
{
    const int64_t size = 16 * lines, turns = items / size;
    line sum[8] = {{0}};
    uint32_t total = 0;
    for (int64_t turn = 0; turn < turns; turn++)
        for (int l = 0; l < lines; l++)
            sum[l] += *(const line *)(a + turn * size + 16 * l);
    for (int l = 0; l < lines; l++)
        for (int lane = 0; lane < 16; lane++)
            if ((16 * l + lane) % step == 0)
                total += sum[l][lane];
    for (int64_t i = size * turns; i < items; i += step)
        total += a[i];
    return total;
}

INLINE uint32_t all_lines(const uint32_t *a, int64_t items, int64_t stride)
{
    switch (stride) {
    case 1: return lines_by(4, 1, a, items);
    case 2: return lines_by(4, 2, a, items);
    case 3: return lines_by(6, 3, a, items);
    case 4: return lines_by(4, 4, a, items);
    case 5: return lines_by(5, 5, a, items);
    case 6: return lines_by(6, 6, a, items);
    case 7: return lines_by(7, 7, a, items);
    default: return lines_by(4, 8, a, items);
    }
}

SUM(stride_sum_lines, all_lines)

/* next[p] is the item that follows item p; returns where the chase stands after the loads. */
int64_t chase(const uint32_t *next, int64_t position, int64_t loads)
{
    for (int64_t i = 0; i < loads; i++)
        position = next[position];
    return position;
}

void triad(double *a, const double *b, const double *c, double s, int64_t n, int64_t passes)
{
    for (int64_t pass = 0; pass < passes; pass++) {
        for (int64_t i = 0; i < n; i++)
            a[i] = b[i] + s * c[i];
        BARRIER(a);
    }
}

/* As triad, past the caches.  The arrays begin on a cache line and n is a multiple of 8. */
void triad_nontemporal(double *a, const double *b, const double *c, double s, int64_t n, int64_t passes)
{
    for (int64_t pass = 0; pass < passes; pass++) {
#if defined(__AVX512F__)
        for (int64_t i = 0; i < n; i += 8)
            _mm512_stream_pd(a + i, _mm512_fmadd_pd(_mm512_load_pd(c + i), _mm512_set1_pd(s), _mm512_load_pd(b + i)));
        _mm_sfence();
#elif defined(__AVX__)
        for (int64_t i = 0; i < n; i += 4)
            _mm256_stream_pd(a + i, _mm256_add_pd(_mm256_mul_pd(_mm256_load_pd(c + i), _mm256_set1_pd(s)),
                                                  _mm256_load_pd(b + i)));
        _mm_sfence();
#endif
    }
}

int has_nontemporal(void)
{
#if defined(__AVX__)
    return 1;
#else
    return 0;
#endif
}
