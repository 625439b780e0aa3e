/* Traced accesses of the POSIX module, Darshan's DXT: each read and write with offset, length,
 * start, end and thread. Those that wait to be taken are bounded; what does not fit is counted. A
 * shard sets aside a chunk at a time, so that the bound is exact but for what other shards have set
 * aside and not yet used. All of it lies in the arena, where the process that leads can take it;
 * pointers in it are the owner's. */
#ifndef DARSHAN_SEGMENTS_H
#define DARSHAN_SEGMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "arena.h"
#include "counters.h"

enum { SEGMENTS_PER_CHUNK = 128 };

struct segment {
    uint32_t slot;      /* index of the file's POSIX record */
    uint32_t direction; /* enum direction */
    int64_t order;      /* of this record's accesses in that direction */
    int64_t offset;
    int64_t length;
    int64_t start;
    int64_t end;
    uint64_t thread; /* pthread_self(), as DXT has it */
};

struct segment_chunk {
    struct segment_chunk *next;
    uint32_t n, room;
    struct segment segments[SEGMENTS_PER_CHUNK];
};

struct segments {
    spin_lock lock;
    struct segment_chunk *full;
    struct segment_chunk *spare;
    _Atomic uint64_t allowed; /* segments that may still be kept before some are taken */
    _Atomic uint64_t dropped;
};

/* Appends to `*chunk`, which belongs to the caller's shard, replacing it when it is full. */
void segments_add(struct segments *segments, struct arena *arena, struct segment_chunk **chunk,
                  const struct segment *segment);
/* Hands over a shard's unfinished chunk. */
void segments_flush(struct segments *segments, struct segment_chunk **chunk);

/* For who holds the lock: takes all handed-over chunks. They go back with `segments_recycle`, as a
 * list from `first` to the one whose `next` is `end`, which held `n` segments. */
struct segment_chunk *segments_take(struct segments *segments);
void segments_recycle(struct segments *segments, struct segment_chunk *first,
                      struct segment_chunk **end, uint64_t n);

#endif
