/* Copies of records while they go on changing: each record is consistent in itself.
 *
 * Records are read through a view: this process's own arena, or that of a child, which may have been
 * killed while it held a lock; such locks are waited for a short while only. */
#ifndef DARSHAN_SNAPSHOT_H
#define DARSHAN_SNAPSHOT_H

#include <stddef.h>

#include "recorder.h"

/* Where records are copied to, each array for `room` records. */
struct record_copies {
    size_t room;
    uint32_t *indices;
    uint64_t *ids;
    int64_t *counters; /* room x counters of the module */
    double *fcounters;
};

int counters_of(enum module module);
int fcounters_of(enum module module);

/* The view of this process's own recording. */
struct arena_view snapshot_own(void);
/* How many records of a module there are, shown or not. */
uint32_t snapshot_slots(struct arena_view *view, enum module module);
/* The file of a record; its name ends with NUL. */
const struct file *snapshot_file(struct arena_view *view, enum module module, uint32_t i);
/* NOTE: to be called while reading, see `recorder_begin_reading`. */

/* How many records a copy would take now. */
size_t snapshot_count(struct arena_view *view, enum module module, bool lately);
/* Copies all records, or those touched since the last copy that asked so; returns how many. */
size_t snapshot_copy(struct arena_view *view, enum module module, bool lately,
                     struct record_copies *out);

enum { COMMON_SIZES = 64 };

/* All records of a module as one. Start stamps are the smallest that are set. */
struct totals {
    int64_t sums[POSIX_COUNTERS], maxima[POSIX_COUNTERS];
    double fsums[POSIX_FCOUNTERS], fmaxima[POSIX_FCOUNTERS], fminima[POSIX_FCOUNTERS];
    struct value_count common_sizes[COMMON_SIZES]; /* by count, falling; unused: 0 */
    uint32_t records;
};

void snapshot_totals(struct arena_view *view, enum module module, struct totals *totals);

/* Empties the time bins of a module, which began at `begin`, into `into` and `idle` (see
 * bins_merge); they begin anew at `now`. */
void snapshot_drain_bins(struct arena_view *view, enum module module, int64_t begin, int64_t now,
                         struct bins *into, double idle[BINS_MAX]);

/* Takes the traced accesses so far, in no order, into memory that the caller frees; NULL for none.
 * `dropped`: how many found no room since the recording began. */
struct segment *snapshot_drain_segments(struct arena_view *view, size_t *n, uint64_t *dropped);

/* Copies the names of the records at `places`, each with its NUL, one after the other, into memory
 * that the caller frees. NULL with errno: ERANGE where there is no such record, or ENOMEM. */
char *snapshot_names(struct arena_view *view, enum module module, const uint32_t *places, size_t n);

#endif
