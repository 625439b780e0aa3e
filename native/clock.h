/* Time as the recorder keeps it: nanoseconds on the monotonic clock, so that a correction of the
 * wall clock cannot make a call end before it started.
 *
 * RATIONALE: asking the kernel's page for the time costs more than all counting of a call. Where the
 * kernel itself keeps time by the processor's counter, that counter is read instead, and tied to the
 * kernel's time whenever records are looked at. */
#ifndef DARSHAN_CLOCK_H
#define DARSHAN_CLOCK_H

#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

#define NANOSECONDS 1000000000LL

/* The monotonic clock as the kernel tells it. */
static inline int64_t clock_kernel(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * NANOSECONDS + now.tv_nsec;
}

static inline double clock_wall(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / (double)NANOSECONDS;
}

static inline uint64_t clock_ticks(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#endif
}

/* What ties ticks to time: time = nanoseconds + (now - ticks) * rate / 2^32. */
struct clock_tie {
    _Atomic uint64_t ticks;
    _Atomic int64_t nanoseconds;
    _Atomic int64_t rate;
};

/* NOTE: a new tie takes the next place, so that a reader that was interrupted has long finished
 * before its own is written again. */
enum { CLOCK_TIES = 16 };
extern struct clock_tie clock_ties[CLOCK_TIES];
extern atomic_uint clock_current; /* place plus one; 0: ask the kernel */

/* Ties the counter to the kernel's time anew, if enough time has passed since the last. One caller
 * at a time. */
void clock_tie_anew(void);
/* Ties it for the first time, waiting for as long as that takes (a few milliseconds). */
void clock_begin(void);

static inline int64_t clock_monotonic(void)
{
    unsigned current = atomic_load_explicit(&clock_current, memory_order_acquire);
    if (current == 0)
        return clock_kernel();
    struct clock_tie *tie = &clock_ties[current - 1];
    int64_t passed =
        (int64_t)(clock_ticks() - atomic_load_explicit(&tie->ticks, memory_order_relaxed));
    int64_t rate = atomic_load_explicit(&tie->rate, memory_order_relaxed);
    return atomic_load_explicit(&tie->nanoseconds, memory_order_relaxed) +
           (int64_t)(((__int128)passed * rate) >> 32);
}

#endif
