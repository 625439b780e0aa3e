/* What a libdarshan does call by call, which its records do not tell: when, and where in a file.
 *
 * The library tells its own modules for traces and heat maps of each access, through slots like any
 * other call between objects; these are redirected. It does so whether or not the modules are on. */
#ifndef DARSHAN_LIBDARSHAN_EVENTS_H
#define DARSHAN_LIBDARSHAN_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bins.h"

/* Modules with time bins. */
enum event_module {
    EVENTS_POSIX,
    EVENTS_STDIO,
    EVENTS_MPIIO,
    EVENTS_DFS,
    EVENTS_DAOS,
    EVENT_MODULES,
};

/* One access; times are nanoseconds since the events began. */
struct event_segment {
    uint64_t record;
    uint32_t module; /* EVENTS_POSIX or EVENTS_MPIIO */
    uint32_t direction;
    int64_t offset, length, start, end;
    uint64_t thread;
};

/* Begins to watch the library that holds `within`, loaded as `handle`. `library_zero` is its time
 * zero and `begin` that of the events, in seconds since the epoch. Returns which of the calls could
 * be redirected, a bit each in the order of `event_call_names`. */
unsigned events_begin(void *handle, const void *within, double library_zero, double begin,
                      uint64_t segments_max);
int64_t events_now(void);
extern const char *const event_call_names[];
extern const size_t n_event_calls;
void events_end(void);
/* Empties the bins of a module into `into` and `idle` (see bins_merge). */
void events_drain_bins(enum event_module module, struct bins *into, double idle[BINS_MAX]);
/* Takes up to `room` segments, the oldest first; returns how many. */
size_t events_take_segments(struct event_segment *to, size_t room);
size_t events_segments_waiting(void);
uint64_t events_segments_dropped(void);
/* Records that muted threads made: the recorder's own files. Returns how many, at most `room`. */
size_t events_own_records(uint64_t *to, size_t room);
/* Processes that were forked since, and their children. Returns how many; may exceed `room`. */
size_t events_forked(pid_t *to, size_t room);

#endif
