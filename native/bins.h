/* Activity over time: bytes, calls and time in calls, in equal bins that double in width when a
 * window grows long. Pure; the caller holds the lock of the shard that the bins belong to. */
#ifndef DARSHAN_BINS_H
#define DARSHAN_BINS_H

#include <stdbool.h>
#include <stdint.h>

#include "counters.h"

enum { BINS_MAX = 1024 };
static const int64_t bin_width_at_first = 10000000; /* 10 ms */

enum bin_column {
    BIN_BYTES, /* + direction */
    BIN_CALLS = 2, /* + direction */
    BIN_METADATA_CALLS = 4,
    BIN_CALL_TIME,
    BIN_COLUMNS,
};

struct bins {
    int64_t width;
    int64_t first; /* place of values[0] on the grid that begins with the recording */
    int32_t used;  /* values[used..] are zero */
    int64_t from, to; /* the bin that was used last, for a quick way in */
    int32_t last;
    int64_t values[BINS_MAX][BIN_COLUMNS];
};

/* Empties the bins; they begin at `now`. */
void bins_reset(struct bins *bins, int64_t now);
/* A read or write of `bytes`: counted in the bin it ends in, bytes and time spread over all bins
 * that it covers, so that bins always add up to the bytes. What lies before the first bin goes into
 * the bins that there are. */
void bins_transfer(struct bins *bins, enum direction direction, int64_t bytes, struct span call);
/* Any other call: its time, and, unless Darshan has no counter for it, the call. */
void bins_metadata(struct bins *bins, bool counted, struct span call);
/* Adds `from` to `into`, whose width becomes the larger of the two. Call time of one source cannot
 * exceed a bin's width; `idle` [BINS_MAX], kept by the caller, is multiplied by the share of each
 * bin in which `from` was idle. */
void bins_merge(struct bins *into, double idle[BINS_MAX], const struct bins *from);

#endif
