/* What wrappers share: the seven steps of a wrapper (see hooks_posix.c). */
#ifndef DARSHAN_WRAP_H
#define DARSHAN_WRAP_H

#include "hooks.h"
#include "recorder.h"

/* Runs `invocation` between two readings of the clock, into `report`. */
#define TIMED(report, invocation)                                                                   \
    __extension__({                                                                                \
        (report).call.start = recorder_now();                                                      \
        __typeof__(invocation) result_ = (invocation);                                             \
        (report).call.end = recorder_now();                                                        \
        result_;                                                                                   \
    })

/* The POSIX record behind a descriptor, NULL where the call is not to be recorded. */
static inline struct slot *tracked(struct report *report, int fd)
{
    report->serial = recording();
    return report->serial ? table_descriptor(&recorder.table, fd) : NULL;
}

/* The STDIO record behind a stream, NULL where the call is not to be recorded. */
static inline struct slot *tracked_stream(struct report *report, FILE *stream)
{
    report->serial = recording();
    return report->serial ? table_stream(&recorder.table, stream) : NULL;
}

static inline bool is_aligned(const void *memory)
{
    return (uintptr_t)memory % DEFAULT_MEMORY_ALIGNMENT == 0;
}

#endif
