/* What reports share: how they are entered and left. See recorder.h for what they are. */
#ifndef DARSHAN_REPORT_H
#define DARSHAN_REPORT_H

#include <errno.h>

#include "recorder.h"

/* A report in progress. */
struct entry {
    struct shard *shard; /* NULL: the recording that the call belonged to is over */
    int kept_errno;
};

extern __thread unsigned thread_shard; /* plus one; 0: none yet */

static inline struct shard *own_shard(void)
{
    if (__builtin_expect(thread_shard == 0, 0)) {
        unsigned next = atomic_fetch_add_explicit(&recorder.next_shard, 1, memory_order_relaxed);
        thread_shard = next % SHARDS + 1;
    }
    return &recorder.shared->shards[thread_shard - 1];
}

static inline struct entry enter(uint32_t serial)
{
    struct entry entry = {own_shard(), errno};
    thread_flags |= INSIDE;
    spin_acquire(&entry.shard->lock);
    if (atomic_load_explicit(&recorder.serial, memory_order_acquire) != serial) {
        spin_release(&entry.shard->lock);
        thread_flags &= ~(unsigned)INSIDE;
        entry.shard = NULL;
    }
    return entry;
}

static inline void leave(struct entry entry)
{
    spin_release(&entry.shard->lock);
    thread_flags &= ~(unsigned)INSIDE;
    errno = entry.kept_errno;
}

static inline struct bins *own_bins(struct shard *shard, enum module module, int64_t start)
{
    if (__builtin_expect(shard->bins[module] == NULL, 0)) {
        shard->bins[module] = arena_allocate(&recorder.arena, sizeof(struct bins));
        if (shard->bins[module] != NULL)
            bins_reset(shard->bins[module], start);
    }
    return shard->bins[module];
}

static inline void bin_call(struct entry entry, enum module module, bool counted, struct span call)
{
    struct bins *bins = own_bins(entry.shard, module, call.start);
    if (bins != NULL)
        bins_metadata(bins, counted, call);
}

static inline void bin_transfer(struct entry entry, enum module module,
                                enum direction direction, int64_t size, struct span call)
{
    struct bins *bins = own_bins(entry.shard, module, call.start);
    if (bins != NULL)
        bins_transfer(bins, direction, size, call);
}

static inline void lock_slot(struct slot *slot)
{
    spin_acquire(&slot->lock);
    atomic_store_explicit(&slot->touched, TOUCHED_EVER | TOUCHED_LATELY, memory_order_relaxed);
}

static inline void unlock_slot(struct slot *slot)
{
    spin_release(&slot->lock);
}

/* The record of a path in a module, made if need be and `create`; NULL where it is left out. */
struct slot *slot_of(enum module module, int directory, const char *path, bool create);

/* Reports that only change a record's counters: RULE uses `record`. */
#define REPORT(module, kind, counted, rule)                                                        \
    do {                                                                                           \
        struct entry entry = enter(report.serial);                                                 \
        if (entry.shard == NULL)                                                                   \
            return;                                                                                \
        lock_slot(slot);                                                                           \
        struct kind##_record *record = &slot->kind;                                                \
        rule;                                                                                      \
        unlock_slot(slot);                                                                         \
        bin_call(entry, module, counted, report.call);                                             \
        leave(entry);                                                                              \
    } while (0)

#endif
