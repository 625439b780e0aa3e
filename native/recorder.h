/* The recording: all its state, and what wrappers tell it.
 *
 * A wrapper asks `recording()` before the real call and reports after it. A report holds the lock of
 * its thread's shard from beginning to end; so once a stop has taken every shard's lock, nobody
 * is inside any more and the recording's memory can go. Threads share a shard only when there are
 * more of them than shards, so nothing process-wide is taken on the way of a read or write. */
#ifndef DARSHAN_RECORDER_H
#define DARSHAN_RECORDER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "bins.h"
#include "clock.h"
#include "counters.h"
#include "paths.h"
#include "segments.h"
#include "table.h"

enum { SHARDS = 64 };
#define FROM_POSITION INT64_MIN /* the offset of a transfer that has none of its own */

struct shard {
    _Alignas(64) spin_lock lock;
    struct bins *bins[MODULES]; /* NULL until the first call */
    struct segment_chunk *segments;
};

/* What other processes of the training read; it lies in the arena's leading bytes. */
enum { PROGRAMS = 8, PROGRAM_NAME = 32 };

struct shared {
    struct module_slots *modules;
    _Atomic uint32_t refused; /* opens that went to the common record */
    atomic_uint mappings;     /* files mapped into memory: their reads cannot be seen */
    atomic_uint rings;        /* io_uring set-ups: their reads cannot be seen */
    atomic_uint programs;     /* other programs that were started; the last ones by name */
    char program_names[PROGRAMS][PROGRAM_NAME];
    struct segments segments;
    struct shard shards[SHARDS];
};
_Static_assert(sizeof(struct shared) <= ARENA_LEADING - ARENA_HEAD, "the leading bytes hold it");

static inline struct arena_head *arena_head_of(char *base)
{
    return (struct arena_head *)base;
}
static inline struct shared *shared_of(char *base)
{
    return (struct shared *)(base + ARENA_HEAD);
}

struct recorder_options {
    char session[SESSION_LENGTH];
    bool leads;       /* began the session, and does not join that of another process */
    bool children;    /* forked children are recorded too */
    int64_t begin;    /* monotonic time zero of the session; 0: now */
    double begin_wall;
    const char *arena_directory; /* NULL: /dev/shm, else $TMPDIR */
    uint64_t arena_ceiling;      /* bytes */
    uint32_t files_ceiling;      /* files with a record of their own, beside standard streams */
    uint64_t segments_max; /* 0: do not trace */
    bool extended;
    const char *const *excluded; /* both end with NULL, kept by the caller */
    const char *const *included;
};

struct recorder {
    _Atomic uint32_t serial;  /* of the recording that goes on; 0: none */
    uint32_t last_serial;
    _Atomic int64_t begin;    /* monotonic time of the recording's time zero */
    double begin_wall;        /* the same moment, seconds since the epoch */
    struct recorder_options options; /* as given, for children */
    _Atomic bool extended;
    bool trace;
    struct exclusions exclusions;
    struct mounts mounts;
    struct arena arena;
    struct table table;
    struct shared *shared;
    atomic_uint next_shard;
    atomic_uint readers;      /* who look at records: a stop waits for them */
    void (*_Atomic objects_loaded)(void); /* called after a thread's dlopen, before its next call */
};

extern struct recorder recorder;

/* What makes a thread's calls special; nothing, most of the time. */
enum thread_flags {
    INSIDE = 1,   /* in a report: a signal handler's calls pass through */
    MUTED = 2,    /* asked not to be recorded */
    LOADED = 4,   /* called dlopen: new objects may be there */
    VFORKED = 8,  /* called vfork: may be running in the child */
};

extern __thread unsigned thread_flags;

/* For threads with flags: deals with LOADED and VFORKED. Returns what `recording` returns. */
uint32_t recording_specially(void);
/* Descriptors of a range lose their records, whether or not the thread's calls are recorded. */
void recorder_give_up(int first, int last);

/* The serial of the recording that this call belongs to, or 0: not to be recorded. */
static inline uint32_t recording(void)
{
    if (__builtin_expect(thread_flags != 0, 0))
        return recording_specially();
    return atomic_load_explicit(&recorder.serial, memory_order_acquire);
}

static inline int64_t recorder_now(void)
{
    return clock_monotonic() - atomic_load_explicit(&recorder.begin, memory_order_relaxed);
}

/* How a call went: of which recording, from when to when. */
struct report {
    uint32_t serial;
    struct span call;
};

/* Reports; all keep errno. */
void report_open(struct report report, int fd, int directory, const char *path, int32_t mode);
void report_duplicate(struct report report, struct slot *slot, int fd);
void report_transfer(struct report report, struct slot *slot, enum direction direction,
                     int64_t offset, int64_t size, bool memory_aligned);
void report_seek(struct report report, struct slot *slot, int64_t position);
void report_stat(struct report report, struct slot *slot);
void report_stat_path(struct report report, int directory, const char *path);
void report_sync(struct report report, struct slot *slot, bool data_only);
void report_close(struct report report, struct slot *slot);
void report_mmap(struct report report, struct slot *slot);
void report_rename(struct report report, int from_directory, const char *from, int to_directory,
                   const char *to);
/* A directory was opened for listing; its descriptor then leads to its record. */
void report_directory_open(struct report report, int fd, const char *path);
/* An entry of a directory was made or removed: metadata time of that directory. */
void report_entry(struct report report, int directory, const char *path);
void report_metadata(struct report report, struct slot *slot);
/* A file that was open when the recording began, as a descriptor or (not NULL) a stream: a record
 * without an open. */
void report_adopt(int fd, FILE *stream, const char *path, int64_t position);
/* Makes the records of the standard streams, as Darshan does when it begins. */
enum { STANDARD_STREAMS = 3 };
void report_standard_streams(void);

void report_stream_open(struct report report, FILE *stream, const char *path);
void report_stream_fdopen(struct report report, FILE *stream, int fd);
void report_stream_fileno(struct report report, FILE *stream, int fd);
void report_stream_transfer(struct report report, struct slot *slot, enum direction direction,
                            int64_t size);
void report_stream_flush(struct report report, struct slot *slot);
void report_stream_seek(struct report report, struct slot *slot, int64_t position);
void report_stream_close(struct report report, struct slot *slot);

/* Begins and ends a recording; hooks are somebody else's. Return 0 or -errno. */
int recorder_start(const struct recorder_options *options);
void recorder_stop(void);
/* In a forked child: leaves the parent's recording without touching its memory, and, where children
 * are recorded, begins the child's own, which knows the inherited files. */
void recorder_fork(void);
/* The process says how it ends, for those who read its memory after it. */
void recorder_note_end(enum ended how, int status);
/* Another program is started, or was not after all. */
void recorder_note_program(const char *path);
void recorder_take_back_program(void);
/* At the process's end: leaves no file behind, while other threads may still be recorded. */
void recorder_abandon(void);

/* Whoever looks at the recording does it between these two, in one thread, whose signal handlers'
 * calls pass through meanwhile: locks are held. False: nothing is being recorded. */
bool recorder_begin_reading(void);
void recorder_end_reading(void);
/* The same for who changes the recording; returns what `recorder_leave_quietly` is given. */
unsigned recorder_enter_quietly(void);
void recorder_leave_quietly(unsigned flags);

#endif
