/* Memory kernels as one would write them in C: strided sums, a pointer chase, STREAM's triad. */

#include <stddef.h>
#include <stdint.h>

#if defined(__AVX512F__) || defined(__AVX__) || defined(__SSE2__)
#include <immintrin.h>
#endif

/* Keeps the compiler from merging or dropping passes; costs no instruction. */
#define BARRIER(p) __asm__ volatile("" : : "r"(p) : "memory")

/* All strided sums take the same: out[0] becomes the sum of every stride-th of the first items, out[1] counts passes.
   Some ask for items so many steps ahead before they are read. */
#define SUM(NAME)                                                                                                  \
    void NAME(const uint32_t *a, uint64_t items, uint64_t stride, uint64_t ahead, uint64_t passes, uint32_t *out)
#define PASSES(TOTAL)                                                                                              \
    do {                                                                                                           \
        (void)ahead;                                                                                               \
        uint32_t made = out[1];                                                                                    \
        for (uint64_t pass = 0; pass < passes; pass++) {                                                           \
            out[0] = TOTAL;                                                                                        \
            out[1] = ++made;                                                                                       \
            BARRIER(a);                                                                                            \
        }                                                                                                          \
    } while (0)
#define INLINE static inline __attribute__((always_inline))

INLINE uint32_t every_item(const uint32_t *a, uint64_t items)
{
    uint32_t total = 0;
    for (uint64_t i = 0; i < items; i++)
        total += a[i];
    return total;
}

INLINE uint32_t eight_items(const uint32_t *a, uint64_t items, uint64_t stride)
{
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
    return s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7;
}

SUM(stride_sum)
{
    if (stride == 1)
        PASSES(every_item(a, items));
    else
        PASSES(eight_items(a, items, stride));
}

INLINE uint32_t items_by(int count, int asking, const uint32_t *a, uint64_t items, uint64_t stride, uint64_t ahead)
{
    uint64_t n = (items + stride - 1) / stride, blocks = n / count;
    uint32_t s[8] = {0};
    for (uint64_t block = 0; block < blocks; block++, a += count * stride)
        for (int k = 0; k < count; k++) {
            if (asking)
                __builtin_prefetch(a + (ahead + k) * stride, 0, 3);
            s[k] += a[k * stride];
        }
    for (uint64_t rest = n - count * blocks; rest > 0; rest--, a += stride)
        s[0] += a[0];
    return s[0] + s[1] + s[2] + s[3] + s[4] + s[5] + s[6] + s[7];
}

SUM(stride_sum_four)
{
    PASSES(items_by(4, 0, a, items, stride, ahead));
}

SUM(stride_sum_prefetch)
{
    PASSES(items_by(8, 1, a, items, stride, ahead));
}

/* One to eight items, without a loop. */
INLINE uint32_t few_items(const uint32_t *a, uint64_t items, uint64_t stride)
{
    uint32_t total = a[0];
    switch ((items + stride - 1) / stride) {
    default: total += a[7 * stride]; /* fall through */
    case 7: total += a[6 * stride]; /* fall through */
    case 6: total += a[5 * stride]; /* fall through */
    case 5: total += a[4 * stride]; /* fall through */
    case 4: total += a[3 * stride]; /* fall through */
    case 3: total += a[2 * stride]; /* fall through */
    case 2: total += a[stride]; /* fall through */
    case 1: return total;
    }
}

SUM(stride_sum_few)
{
    PASSES(few_items(a, items, stride));
}

/* Whole cache lines, a sum for each line of a turn, of which only the wanted lanes are added up: strides 1 to 8.
   Lines may be asked for before they are read, and parts of the way may be walked side by side. */
typedef uint32_t line __attribute__((vector_size(64), aligned(4)));

INLINE uint32_t lines_by(int lines, int step, int far, int streams, const uint32_t *a, uint64_t items)
{
    const uint64_t size = 16 * lines, turns = items / size, part = turns / streams;
    line sum[8] = {{0}};
    uint32_t total = 0;
    for (uint64_t turn = 0; turn < part; turn++)
        for (int stream = 0; stream < streams; stream++)
            for (int l = 0; l < lines; l++) {
                const uint32_t *p = a + (turn + stream * part) * size + 16 * l;
                if (far)
                    __builtin_prefetch(p + 16 * far, 0, 3);
                sum[l] += *(const line *)p;
            }
    for (uint64_t turn = streams * part; turn < turns; turn++)
        for (int l = 0; l < lines; l++)
            sum[l] += *(const line *)(a + turn * size + 16 * l);
    for (int l = 0; l < lines; l++)
        for (int lane = 0; lane < 16; lane++)
            if ((16 * l + lane) % step == 0)
                total += sum[l][lane];
    for (uint64_t i = size * turns; i < items; i += step)
        total += a[i];
    return total;
}

INLINE uint32_t all_lines(int far, int streams, const uint32_t *a, uint64_t items, uint64_t stride)
{
    switch (stride) {
    case 1: return lines_by(4, 1, far, streams, a, items);
    case 2: return lines_by(4, 2, far, streams, a, items);
    case 3: return lines_by(6, 3, far, streams, a, items);
    case 4: return lines_by(4, 4, far, streams, a, items);
    case 5: return lines_by(5, 5, far, streams, a, items);
    case 6: return lines_by(6, 6, far, streams, a, items);
    case 7: return lines_by(7, 7, far, streams, a, items);
    default: return lines_by(4, 8, far, streams, a, items);
    }
}

SUM(stride_sum_lines)
{
    PASSES(all_lines(0, 1, a, items, stride));
}

SUM(stride_sum_lines_prefetch)
{
    PASSES(all_lines(64, 1, a, items, stride));
}

SUM(stride_sum_lines_streams)
{
    PASSES(all_lines(0, 2, a, items, stride));
}

SUM(stride_sum_lines_four_streams)
{
    PASSES(all_lines(0, 4, a, items, stride));
}

/* Two or four parts of the walk side by side, as many places from which lines are on their way; eight sums in all. */
INLINE uint32_t items_in(int streams, const uint32_t *a, uint64_t items, uint64_t stride)
{
    const int each = 8 / streams;
    const uint64_t n = (items + stride - 1) / stride, part = n / streams, blocks = part / each;
    const uint32_t *p[4];
    uint32_t s[8] = {0};
    for (int stream = 0; stream < streams; stream++)
        p[stream] = a + stream * part * stride;
    for (uint64_t block = 0; block < blocks; block++)
        for (int stream = 0; stream < streams; stream++) {
            for (int k = 0; k < each; k++)
                s[each * stream + k] += p[stream][k * stride];
            p[stream] += each * stride;
        }
    for (int stream = 0; stream < streams; stream++) {
        const uint64_t length = stream < streams - 1 ? part : n - (streams - 1) * part;
        for (uint64_t i = each * blocks; i < length; i++, p[stream] += stride)
            s[0] += *p[stream];
    }
    return s[0] + s[1] + s[2] + s[3] + s[4] + s[5] + s[6] + s[7];
}

SUM(stride_sum_streams)
{
    PASSES(items_in(2, a, items, stride));
}

SUM(stride_sum_four_streams)
{
    PASSES(items_in(4, a, items, stride));
}

/* Gathers of a register of items into two sums in turn; as stride_sum where this CPU, or these options, have none. */
SUM(stride_sum_gathers)
{
#if defined(__AVX512F__) || defined(__AVX2__)
#if defined(__AVX512F__)
#define LANES 16
    typedef __m512i lanes;
#define GATHER(p) _mm512_i32gather_epi32(*(const lanes *)where, p, 4)
#define ADD _mm512_add_epi32
#else
#define LANES 8
    typedef __m256i lanes;
#define GATHER(p) _mm256_i32gather_epi32((const int *)(p), *(const lanes *)where, 4)
#define ADD _mm256_add_epi32
#endif
    const uint64_t n = (items + stride - 1) / stride, pairs = n / (2 * LANES), step = LANES * stride;
    int where[LANES] __attribute__((aligned(64)));
    uint32_t sums[LANES] __attribute__((aligned(64)));
    if (step > INT32_MAX) {
        stride_sum(a, items, stride, ahead, passes, out);
        return;
    }
    for (int lane = 0; lane < LANES; lane++)
        where[lane] = (int)(lane * stride);
    uint32_t made = out[1];
    for (uint64_t pass = 0; pass < passes; pass++) {
        lanes even = {0}, odd = {0};
        const uint32_t *p = a;
        uint32_t total = 0;
        for (uint64_t pair = 0; pair < pairs; pair++, p += 2 * step) {
            even = ADD(even, GATHER(p));
            odd = ADD(odd, GATHER(p + step));
        }
        *(lanes *)sums = ADD(even, odd);
        for (int lane = 0; lane < LANES; lane++)
            total += sums[lane];
        for (uint64_t i = 2 * LANES * pairs; i < n; i++, p += stride)
            total += *p;
        out[0] = total;
        out[1] = ++made;
        BARRIER(a);
    }
#undef LANES
#undef GATHER
#undef ADD
#else
    stride_sum(a, items, stride, ahead, passes, out);
#endif
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

/* As triad, in vectors of a whole cache line.  The arrays begin on one and n is a multiple of 8. */
typedef double words __attribute__((vector_size(64)));

void triad_lines(double *a, const double *b, const double *c, double s, uint64_t n, uint64_t passes)
{
    for (uint64_t pass = 0; pass < passes; pass++) {
        for (uint64_t i = 0; i < n; i += 8)
            *(words *)(a + i) = *(const words *)(b + i) + s * *(const words *)(c + i);
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
