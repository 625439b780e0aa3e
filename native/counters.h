/* The counters of a file and the rules by which calls change them: Darshan's meaning, call by call.
 *
 * Everything here is pure: no I/O, no clock, no locks, no allocation. Times are nanoseconds since
 * the recording began; a call ran from `start` to `end`. The caller holds the record's lock.
 *
 * RATIONALE: records hold only what changes. Values that Darshan's records carry but that are
 * constant (alignments, ranks) or derived (the four common sizes) are made when a record is
 * copied out, so that a file costs about 600 bytes and not 1,200. */
#ifndef DARSHAN_COUNTERS_H
#define DARSHAN_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    SIZE_BUCKETS = 10,
    COMMON_VALUES = 4,   /* shown of each value set */
    VALUE_SET_MAX = 32,  /* kept of each value set, as Darshan does */
    VALUE_SET_INLINE = 2,
    POSIX_COUNTERS = 69,
    POSIX_FCOUNTERS = 17,
    STDIO_COUNTERS = 14,
    STDIO_FCOUNTERS = 15,
    DEFAULT_MEMORY_ALIGNMENT = 8,
};

enum direction { READING, WRITING, NO_DIRECTION };

struct value_count {
    int64_t value;
    int64_t count;
};

/* The first distinct values that were seen, with their counts. Most records see very few, so only
 * those have room inside; `more` names further room once it was needed (0: none). */
struct value_set {
    uint32_t n;
    uint32_t last; /* where the last value was found: looked at first */
    uint64_t more;
    struct value_count inline_values[VALUE_SET_INLINE];
};

struct span {
    int64_t start;
    int64_t end;
};

/* Time of one kind of call on one record. NOTE: not the union of intervals; a call that began
 * before the last recorded end adds end - last end, which may be negative. */
struct timer {
    int64_t total;
    int64_t last_end;
};

enum { METADATA_TIMER = 2, TIMERS = 3 }; /* READING and WRITING are the first two */

/* One direction of a POSIX record. */
struct transfers {
    int64_t calls;
    int64_t bytes;
    int64_t max_byte;
    int64_t consecutive;
    int64_t sequential;
    int64_t last_byte; /* index of the last byte moved; 0 after open and close */
    int64_t max_time;
    int64_t max_time_size;
    struct span stamp;
    int64_t sizes[SIZE_BUCKETS];
};

/* What every transfer touches comes first: where threads share a file, the fewer cache lines the
 * better. */
struct posix_record {
    int64_t position; /* next implicit offset, shared by all descriptors of the file */
    int64_t rw_switches, memory_not_aligned, file_not_aligned;
    int32_t file_alignment; /* -1: unknown */
    uint8_t last_direction;
    struct value_set accesses, strides;
    struct timer timers[TIMERS];
    struct transfers moved[2];
    int64_t opens, seeks, stats;
    int32_t filenos, dups, mmaps, fsyncs, fdsyncs, rename_sources, rename_targets, mode;
    uint64_t renamed_from;
    struct span open_stamp, close_stamp;
};

struct stdio_transfers {
    int64_t calls;
    int64_t bytes;
    int64_t max_byte;
    struct span stamp;
};

struct stdio_record {
    int64_t opens, fdopens, seeks, flushes;
    int64_t position; /* shared by all streams of the file */
    struct stdio_transfers moved[2];
    struct span open_stamp, close_stamp;
    struct timer timers[TIMERS];
};

/* More room for a value set that is full inside; NULL while it has none. */
typedef struct value_count *value_room;

void value_set_add(struct value_set *set, value_room more, int64_t value);
const struct value_count *value_set_at(const struct value_set *set, value_room more, uint32_t i);
static inline bool value_set_wants_room(const struct value_set *set)
{
    return set->n >= VALUE_SET_INLINE && set->more == 0;
}
/* The most frequent non-zero values: by count, then by value, both falling. */
void value_set_top(const struct value_set *set, value_room more,
                   struct value_count top[COMMON_VALUES]);

int size_bucket(int64_t size);
void timer_add(struct timer *timer, struct span call);

void posix_open(struct posix_record *record, int32_t mode, struct span call);
void posix_dup(struct posix_record *record, struct span call);
void posix_fileno(struct posix_record *record, struct span call);
void posix_transfer(struct posix_record *record, enum direction direction, int64_t offset,
                    int64_t size, bool memory_aligned, value_room accesses, value_room strides,
                    struct span call);
void posix_seek(struct posix_record *record, int64_t position, struct span call);
void posix_stat(struct posix_record *record, struct span call);
void posix_sync(struct posix_record *record, bool data_only, struct span call);
void posix_close(struct posix_record *record, struct span call);
void posix_rename_source(struct posix_record *record, struct span call);
void posix_rename_target(struct posix_record *record, uint64_t source_id);
/* A call that costs metadata time but has no counter of its own in Darshan. */
void posix_metadata(struct posix_record *record, struct span call);

void stdio_open(struct stdio_record *record, struct span call);
void stdio_fdopen(struct stdio_record *record, struct span call);
void stdio_transfer(struct stdio_record *record, enum direction direction, int64_t size,
                    struct span call);
void stdio_flush(struct stdio_record *record, struct span call);
void stdio_seek(struct stdio_record *record, int64_t position, struct span call);
void stdio_close(struct stdio_record *record, struct span call);

/* Copies a record out in Darshan's order and units (seconds). The value sets are those of the record,
 * or copies of them. */
void posix_export(const struct posix_record *record, const struct value_set *accesses,
                  value_room more_accesses, const struct value_set *strides,
                  value_room more_strides, int64_t counters[POSIX_COUNTERS],
                  double fcounters[POSIX_FCOUNTERS]);
void stdio_export(const struct stdio_record *record, int64_t counters[STDIO_COUNTERS],
                  double fcounters[STDIO_FCOUNTERS]);

#endif
