/* Time as the recorder keeps it: nanoseconds since the recording began, on the monotonic clock, so
 * that a correction of the wall clock cannot make a call end before it started. */
#ifndef DARSHAN_CLOCK_H
#define DARSHAN_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NANOSECONDS 1000000000LL

static inline int64_t clock_monotonic(void)
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

#endif
