#include "clock.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct clock_tie clock_ties[CLOCK_TIES];
atomic_uint clock_current;

static const int64_t shortest_stretch = 2000000; /* 2 ms: a rate right to some 20 millionths */

/* One moment on both clocks. */
static struct moment {
    uint64_t ticks;
    int64_t nanoseconds;
} last;

/* The kernel keeps time by the counter only where it found it steady and equal on all cores. */
static bool counter_is_trusted(void)
{
#if defined(__x86_64__)
    char name[16] = "";
    FILE *source = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
    if (source == NULL)
        return false;
    bool found = fgets(name, sizeof(name), source) != NULL && strcmp(name, "tsc\n") == 0;
    fclose(source);
    return found;
#else
    return true; /* the architecture's generic timer */
#endif
}

/* The reading of the kernel's clock that took least, of a few: nothing came between. */
static struct moment read_both(void)
{
    struct moment best = {0, 0};
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < 5; i++) {
        uint64_t before = clock_ticks();
        int64_t nanoseconds = clock_kernel();
        uint64_t after = clock_ticks();
        if (after - before < least) {
            least = after - before;
            best = (struct moment){before + least / 2, nanoseconds};
        }
    }
    return best;
}

void clock_tie_anew(void)
{
    struct moment now = read_both();
    int64_t passed = now.nanoseconds - last.nanoseconds;
    if (last.ticks == 0 || passed < shortest_stretch || now.ticks <= last.ticks)
        return;
    unsigned place = atomic_load(&clock_current) % CLOCK_TIES;
    struct clock_tie *tie = &clock_ties[place];
    __int128 rate = ((__int128)passed << 32) / (int64_t)(now.ticks - last.ticks);
    atomic_store_explicit(&tie->ticks, now.ticks, memory_order_relaxed);
    atomic_store_explicit(&tie->nanoseconds, now.nanoseconds, memory_order_relaxed);
    atomic_store_explicit(&tie->rate, (int64_t)rate, memory_order_relaxed);
    atomic_store_explicit(&clock_current, place + 1, memory_order_release);
    last = now;
}

void clock_begin(void)
{
    if (atomic_load(&clock_current) == 0) {
        if (!counter_is_trusted())
            return;
        last = read_both();
        const struct timespec stretch = {0, 2 * shortest_stretch};
        nanosleep(&stretch, NULL);
    }
    clock_tie_anew();
}
