/* Two CPUs with three vector ports each on an interleaved memory, cycle by cycle, as one would write it in C
   once a set of banks is one 64-bit word.  Fixed priority; every job repeats one loop. */

#include <stdint.h>

struct cpu {
    uint64_t bank[3], section[2], left[3], old, by[3], chained, holds, ready;
    uint64_t vector[3], overhead, latency, passes, gap, end;
};

static inline uint64_t rotated(uint64_t word, uint64_t by)
{
    return (word << by) | (word >> ((64 - by) & 63));
}

static inline int asks(const struct cpu *c)
{
    return (c->left[0] | c->left[1] | c->left[2] | c->old) != 0;
}

static inline int due(const struct cpu *c, uint64_t t)
{
    return (c->left[0] | c->left[1] | c->old | (c->left[2] & c->holds)) == 0 && t >= c->ready;
}

static inline uint64_t ports(struct cpu *c, uint64_t t, uint64_t busy, uint64_t now, uint64_t one, uint64_t two)
{
    uint64_t granted, line[2];
    line[0] = line[1] = 0;
    for (int port = 0; port < 2; port++) {
        granted = c->left[port] ? c->bank[port] & ~(busy | now | (line[0] & one)) : 0;
        if (granted) {
            line[port] = c->section[port];
            c->bank[port] = rotated(c->bank[port], c->by[port]);
            c->section[port] = rotated(c->section[port], c->by[port]);
            c->left[port]--;
            now |= granted;
        }
    }
    uint64_t most = c->left[0] > c->left[1] ? c->left[0] : c->left[1];
    if (c->old || (c->left[2] > most && t >= c->chained)) {
        granted = c->bank[2] & ~(busy | now | ((line[0] | line[1]) & one) | (line[0] & line[1] & two));
        if (granted) {
            c->bank[2] = rotated(c->bank[2], c->by[2]);
            if (c->old)
                c->old--;
            else
                c->left[2]--;
            now |= granted;
        }
    }
    return now;
}

static void strip(struct cpu *c, uint64_t t)
{
    if (c->passes == 0) {
        c->holds = UINT64_MAX;
        if (!asks(c)) {
            c->end = t;
            c->ready = UINT64_MAX;
        }
        return;
    }
    if (!c->gap) {
        c->gap = 1;
        if (c->overhead) {
            c->ready = t + c->overhead;
            return;
        }
    }
    c->gap = 0;
    c->passes--;
    c->old = c->left[2];
    for (int port = 0; port < 3; port++)
        c->left[port] = c->vector[port];
    c->chained = t + c->latency;
    c->ready = 0;
}

/* ``cpus`` holds two structures; returns the cycles until both jobs have ended. */
uint64_t banks_run(struct cpu *cpus, uint64_t length, uint64_t one, uint64_t two)
{
    uint64_t ring[16] = {0}, t = 0, busy = 0;
    struct cpu a = cpus[0], b = cpus[1];
    const int second = !b.end;
    for (;;) {
        if (due(&a, t))
            strip(&a, t);
        if (due(&b, t))
            strip(&b, t);
        if (a.end && b.end)
            break;
        if (!asks(&a) && !asks(&b)) {
            uint64_t until = a.ready < b.ready ? a.ready : b.ready;
            if (until > t + 16 && until != UINT64_MAX) {
                t = until, busy = 0;
                for (int i = 0; i < 16; i++)
                    ring[i] = 0;
                continue;
            }
        }
        busy &= ~ring[(t - length) & 15];
        uint64_t now = ports(&a, t, busy, 0, one, two);
        if (second)
            now = ports(&b, t, busy, now, one, two);
        ring[t & 15] = now;
        busy |= now;
        t++;
    }
    cpus[0] = a, cpus[1] = b;
    return t;
}
