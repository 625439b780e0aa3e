/* What wrappers share: the seven steps of a wrapper (see hooks_posix.c). */
#ifndef DARSHAN_WRAP_H
#define DARSHAN_WRAP_H

#include "hooks.h"
#include "recorder.h"

/* Runs `invocation` between two readings of the clock, into `report`. NOTE: where the clock is tied
 * anew in between, it may seem to run backwards for a moment. */
#define TIMED(report, invocation)                                                                   \
    __extension__({                                                                                \
        (report).call.start = recorder_now();                                                      \
        __typeof__(invocation) result_ = (invocation);                                             \
        int64_t end_ = recorder_now();                                                             \
        (report).call.end = end_ > (report).call.start ? end_ : (report).call.start;               \
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

/* A descriptor is about to be closed or to become something else: it loses its record, which is
 * returned where the call is to be recorded. It loses it also where the call is not: else the next
 * file, pipe or socket of that number would be taken for this one. To be called before the real
 * call: after it, another thread may have the number. */
static inline struct slot *give_up(uint32_t serial, int fd)
{
    if (serial != 0)
        return table_unmap_descriptor(&recorder.table, fd);
    if (__builtin_expect(thread_flags != 0, 0))
        recorder_give_up(fd, fd);
    return NULL;
}

static inline bool is_aligned(const void *memory)
{
    return (uintptr_t)memory % DEFAULT_MEMORY_ALIGNMENT == 0;
}

#endif
