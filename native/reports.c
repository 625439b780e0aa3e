/* What a call does to the recording; see recorder.h. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "report.h"

__thread unsigned thread_shard;

static int32_t alignment(void *mounts, const char *name)
{
    return mounts_alignment(mounts, name);
}

/* Where a directory's descriptor leads, NULL for unknown. NOTE: Darshan knows only descriptors that
 * it saw opened, and takes names beside others for names beside the current directory. */
static const char *directory_name(int directory, char room[PATH_MAX])
{
    char link[64];
    const struct slot *slot = table_descriptor(&recorder.table, directory);
    if (slot != NULL && slot->file != recorder.table.other)
        return slot->file->name;
    if (!recorder.extended)
        return NULL;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", directory);
    ssize_t length = readlink(link, room, PATH_MAX - 1);
    if (length <= 0 || *room != '/')
        return NULL;
    room[length] = '\0';
    return room;
}

static bool is_standard_stream(const char *name)
{
    return strcmp(name, "<STDIN>") == 0 || strcmp(name, "<STDOUT>") == 0 ||
           strcmp(name, "<STDERR>") == 0;
}

/* Writes the record's name of a path, returns its length; 0: there is none. NOTE: Darshan takes any
 * name that begins with `<` for one of its own and leaves it as it is. */
static size_t name_of(int directory, const char *path, char name[NAME_LIMIT])
{
    char room[PATH_MAX], relative[PATH_MAX + 2];
    const char *start = NULL;
    if (path == NULL)
        return 0;
    if (recorder.extended && *path == '<' && !is_standard_stream(path)) {
        snprintf(relative, sizeof(relative), "./%s", path);
        path = relative;
    }
    if (directory != AT_FDCWD && *path != '/')
        start = directory_name(directory, room);
    return clean_path(path, start, name);
}

/* The record of a name in a module, or NULL where the name is left out. */
static struct slot *slot_of_name(enum module module, const char *name, size_t length, bool create)
{
    if (length == 0 || is_excluded(&recorder.exclusions, name))
        return NULL;
    struct file *file =
        table_file(&recorder.table, name, length, create, alignment, &recorder.mounts);
    if (file == NULL || (!create && file->slots[module] == NULL))
        return NULL;
    return table_slot(&recorder.table, file, module);
}

struct slot *slot_of(enum module module, int directory, const char *path, bool create)
{
    char name[NAME_LIMIT];
    return slot_of_name(module, name, name_of(directory, path, name), create);
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
        segments_add(&recorder.shared->segments, &recorder.arena, &entry.shard->segments,
                     &segment);
    }
    leave(entry);
}

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
void report_rename(struct report report, int from_directory, const char *from, int to_directory,
                   const char *to)
{
    struct entry entry = enter(report.serial);
    if (entry.shard == NULL)
        return;
    struct slot *source = slot_of(POSIX_MODULE, from_directory, from, false);
    struct slot *target = source ? slot_of(POSIX_MODULE, to_directory, to, true) : NULL;
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

static void add_metadata(struct entry entry, struct slot *slot, struct span call)
{
    if (slot == NULL)
        return;
    lock_slot(slot);
    posix_metadata(&slot->posix, call);
    unlock_slot(slot);
    bin_call(entry, POSIX_MODULE, false, call);
}

void report_directory_open(struct report report, int fd, const char *path)
{
    struct entry entry = enter(report.serial);
    if (entry.shard == NULL)
        return;
    struct slot *slot = slot_of(POSIX_MODULE, AT_FDCWD, path, true);
    table_map_descriptor(&recorder.table, fd, slot);
    add_metadata(entry, slot, report.call);
    leave(entry);
}

void report_entry(struct report report, int directory, const char *path)
{
    char name[NAME_LIMIT];
    struct entry entry = enter(report.serial);
    if (entry.shard == NULL)
        return;
    size_t length = directory_length(name, name_of(directory, path, name));
    name[length] = '\0';
    add_metadata(entry, slot_of_name(POSIX_MODULE, name, length, true), report.call);
    leave(entry);
}
