/* What a call does to the recording; see recorder.h. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>

#include "recorder.h"

/* A report in progress. */
struct entry {
    struct shard *shard; /* NULL: the recording that the call belonged to is over */
    int kept_errno;
};

static struct shard *own_shard(void)
{
    static __thread unsigned own; /* plus one */
    if (own == 0)
        own = atomic_fetch_add_explicit(&recorder.next_shard, 1, memory_order_relaxed) % SHARDS + 1;
    return &recorder.shared->shards[own - 1];
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

static struct bins *own_bins(struct shard *shard, enum module module, int64_t start)
{
    if (shard->bins[module] == NULL) {
        shard->bins[module] = arena_allocate(&recorder.arena, sizeof(struct bins));
        if (shard->bins[module] != NULL)
            bins_reset(shard->bins[module], start);
    }
    return shard->bins[module];
}

static void bin_call(struct entry entry, enum module module, bool counted, struct span call)
{
    struct bins *bins = own_bins(entry.shard, module, call.start);
    if (bins != NULL)
        bins_metadata(bins, counted, call);
}

static void bin_transfer(struct entry entry, enum module module, enum direction direction,
                         int64_t size, struct span call)
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

static int32_t alignment(void *mounts, const char *name)
{
    return mounts_alignment(mounts, name);
}

/* The record of a path in a module, or NULL where the path is left out. */
static struct slot *slot_of(enum module module, int directory, const char *path, bool create)
{
    char name[NAME_LIMIT];
    const char *start = NULL;
    if (path == NULL)
        return NULL;
    if (directory != AT_FDCWD && *path != '/') {
        const struct slot *parent = table_descriptor(&recorder.table, directory);
        start = parent ? parent->file->name : NULL;
    }
    size_t length = clean_path(path, start, name);
    if (length == 0 || is_excluded(&recorder.exclusions, name))
        return NULL;
    struct file *file =
        table_file(&recorder.table, name, length, create, alignment, &recorder.mounts);
    if (file == NULL || (!create && file->slots[module] == NULL))
        return NULL;
    return table_slot(&recorder.table, file, module);
}

static inline value_room room(struct value_set *set)
{
    if (__builtin_expect(value_set_wants_room(set), 0)) {
        value_room more = arena_allocate(
            &recorder.arena, (VALUE_SET_MAX - VALUE_SET_INLINE) * sizeof(struct value_count));
        if (more != NULL)
            set->more = arena_offset(&recorder.arena, more);
    }
    return arena_at(&recorder.arena, set->more);
}

void report_open(struct report report, int fd, int directory, const char *path, int32_t mode)
{
    struct entry entry = enter(report.serial);
    if (entry.shard == NULL)
        return;
    struct slot *slot = slot_of(POSIX_MODULE, directory, path, true);
    table_map_descriptor(&recorder.table, fd, slot);
    if (slot != NULL) {
        lock_slot(slot);
        posix_open(&slot->posix, mode, report.call);
        unlock_slot(slot);
        bin_call(entry, POSIX_MODULE, true, report.call);
    }
    leave(entry);
}

void report_adopt(int fd, FILE *stream, const char *path, int64_t position)
{
    struct slot *slot =
        slot_of(stream ? STDIO_MODULE : POSIX_MODULE, AT_FDCWD, path, true);
    if (stream != NULL) {
        table_map_stream(&recorder.table, stream, slot);
        if (slot != NULL)
            slot->stdio.position = position;
    } else {
        table_map_descriptor(&recorder.table, fd, slot);
        if (slot != NULL && position > 0)
            slot->posix.position = position;
    }
}

void report_duplicate(struct report report, struct slot *slot, int fd)
{
    struct entry entry = enter(report.serial);
    if (entry.shard == NULL)
        return;
    table_map_descriptor(&recorder.table, fd, slot);
    lock_slot(slot);
    posix_dup(&slot->posix, report.call);
    unlock_slot(slot);
    bin_call(entry, POSIX_MODULE, true, report.call);
    leave(entry);
}

void report_transfer(struct report report, struct slot *slot, enum direction direction,
                     int64_t offset, int64_t size, bool memory_aligned)
{
    struct entry entry = enter(report.serial);
    if (entry.shard == NULL)
        return;
    lock_slot(slot);
    struct posix_record *record = &slot->posix;
    if (offset == FROM_POSITION)
        offset = record->position;
    value_room accesses = room(&record->accesses), strides = room(&record->strides);
    posix_transfer(record, direction, offset, size, memory_aligned, accesses, strides,
                   report.call);
    int64_t order = record->moved[direction].calls;
    unlock_slot(slot);
    bin_transfer(entry, POSIX_MODULE, direction, size, report.call);
    if (recorder.trace) {
        const struct segment segment = {
            slot->index,      direction,       order, offset, size, report.call.start,
            report.call.end, (uint64_t)pthread_self()};
        segments_add(&recorder.segments, &recorder.arena, &entry.shard->segments, &segment);
    }
    leave(entry);
}

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

void report_seek(struct report report, struct slot *slot, int64_t position)
{
    REPORT(POSIX_MODULE, posix, true, posix_seek(record, position, report.call));
}

void report_stat(struct report report, struct slot *slot)
{
    REPORT(POSIX_MODULE, posix, true, posix_stat(record, report.call));
}

void report_stat_path(struct report report, int directory, const char *path)
{
    struct entry entry = enter(report.serial);
    if (entry.shard == NULL)
        return;
    struct slot *slot = slot_of(POSIX_MODULE, directory, path, true);
    if (slot != NULL) {
        lock_slot(slot);
        posix_stat(&slot->posix, report.call);
        unlock_slot(slot);
        bin_call(entry, POSIX_MODULE, true, report.call);
    }
    leave(entry);
}

void report_sync(struct report report, struct slot *slot, bool data_only)
{
    REPORT(POSIX_MODULE, posix, false, posix_sync(record, data_only, report.call));
}

void report_close(struct report report, struct slot *slot)
{
    REPORT(POSIX_MODULE, posix, false, posix_close(record, report.call));
}

void report_metadata(struct report report, struct slot *slot)
{
    REPORT(POSIX_MODULE, posix, false, posix_metadata(record, report.call));
}

void report_mmap(struct report report, struct slot *slot)
{
    atomic_fetch_add_explicit(&recorder.shared->mappings, 1, memory_order_relaxed);
    REPORT(POSIX_MODULE, posix, false, record->mmaps++);
}

/* NOTE: a rename leaves no trace unless its source already has a record; open descriptors keep the
 * old one. Both are Darshan's. */
void report_rename(struct report report, const char *from, const char *to)
{
    struct entry entry = enter(report.serial);
    if (entry.shard == NULL)
        return;
    struct slot *source = slot_of(POSIX_MODULE, AT_FDCWD, from, false);
    struct slot *target = source ? slot_of(POSIX_MODULE, AT_FDCWD, to, true) : NULL;
    if (source != NULL) {
        lock_slot(source);
        posix_rename_source(&source->posix, report.call);
        unlock_slot(source);
        bin_call(entry, POSIX_MODULE, true, report.call);
    }
    if (target != NULL) {
        lock_slot(target);
        posix_rename_target(&target->posix, source->file->id);
        unlock_slot(target);
    }
    leave(entry);
}

void report_stream_open(struct report report, FILE *stream, const char *path)
{
    struct entry entry = enter(report.serial);
    if (entry.shard == NULL)
        return;
    struct slot *slot = slot_of(STDIO_MODULE, AT_FDCWD, path, true);
    table_map_stream(&recorder.table, stream, slot);
    if (slot != NULL) {
        lock_slot(slot);
        stdio_open(&slot->stdio, report.call);
        unlock_slot(slot);
        bin_call(entry, STDIO_MODULE, true, report.call);
    }
    leave(entry);
}

void report_stream_fdopen(struct report report, FILE *stream, int fd)
{
    struct entry entry = enter(report.serial);
    if (entry.shard == NULL)
        return;
    const struct slot *opened = table_descriptor(&recorder.table, fd);
    struct slot *slot =
        opened ? table_slot(&recorder.table, opened->file, STDIO_MODULE) : NULL;
    table_map_stream(&recorder.table, stream, slot);
    if (slot != NULL) {
        lock_slot(slot);
        stdio_fdopen(&slot->stdio, report.call);
        unlock_slot(slot);
        bin_call(entry, STDIO_MODULE, true, report.call);
    }
    leave(entry);
}

void report_stream_fileno(struct report report, FILE *stream, int fd)
{
    struct entry entry = enter(report.serial);
    if (entry.shard == NULL)
        return;
    const struct slot *opened = table_stream(&recorder.table, stream);
    struct slot *slot =
        opened ? table_slot(&recorder.table, opened->file, POSIX_MODULE) : NULL;
    if (slot != NULL) {
        table_map_descriptor(&recorder.table, fd, slot);
        lock_slot(slot);
        posix_fileno(&slot->posix, report.call);
        unlock_slot(slot);
        bin_call(entry, POSIX_MODULE, true, report.call);
    }
    leave(entry);
}

void report_stream_transfer(struct report report, struct slot *slot, enum direction direction,
                            int64_t size)
{
    struct entry entry = enter(report.serial);
    if (entry.shard == NULL)
        return;
    lock_slot(slot);
    stdio_transfer(&slot->stdio, direction, size, report.call);
    unlock_slot(slot);
    bin_transfer(entry, STDIO_MODULE, direction, size, report.call);
    leave(entry);
}

void report_stream_flush(struct report report, struct slot *slot)
{
    REPORT(STDIO_MODULE, stdio, false, stdio_flush(record, report.call));
}

void report_stream_seek(struct report report, struct slot *slot, int64_t position)
{
    REPORT(STDIO_MODULE, stdio, true, stdio_seek(record, position, report.call));
}

/* NOTE: the descriptor goes with its stream. Darshan keeps such mappings and then charges whatever
 * gets the number next to this file; that harm is not reproduced. */
void report_stream_close(struct report report, struct slot *slot, int fd)
{
    table_unmap_descriptor(&recorder.table, fd);
    REPORT(STDIO_MODULE, stdio, false, stdio_close(record, report.call));
}

void report_standard_streams(void)
{
    static const char *const names[] = {"<STDIN>", "<STDOUT>", "<STDERR>"};
    FILE *const streams[] = {stdin, stdout, stderr};
    for (int i = 0; i < 3; i++) {
        struct slot *slot = slot_of(STDIO_MODULE, AT_FDCWD, names[i], true);
        if (slot == NULL)
            continue;
        slot->stdio.opens = 1;
        table_map_stream(&recorder.table, streams[i], slot);
    }
}
