#include "recorder.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct recorder recorder;
__thread unsigned thread_flags;

static pid_t recording_process;

static bool in_vforked_child(void)
{
    return (thread_flags & VFORKED) && getpid() != recording_process;
}

uint32_t recording_specially(void)
{
    if (in_vforked_child()) /* it shares this memory, but its calls are not this process's */
        return 0;
    thread_flags &= ~(unsigned)VFORKED;
    if (thread_flags & (INSIDE | MUTED))
        return 0;
    if (thread_flags & LOADED) {
        thread_flags &= ~(unsigned)LOADED;
        void (*objects_loaded)(void) = atomic_load(&recorder.objects_loaded);
        if (objects_loaded != NULL) {
            int kept = errno;
            objects_loaded();
            errno = kept;
        }
    }
    return atomic_load_explicit(&recorder.serial, memory_order_acquire);
}

static int open_memory(const struct recorder_options *options)
{
    int error = arena_open(&recorder.arena, options->arena_directory, options->arena_ceiling,
                           options->session, options->leads);
    if (error != 0)
        return error;
    arena_head_of(recorder.arena.base)->begin = recorder.begin;
    if (recorder.shared == NULL) /* the addresses stay: latecomers may be reading this */
        recorder.shared = shared_of(recorder.arena.base);
    uint32_t ceiling = options->files_ceiling;
    ceiling += ceiling < UINT32_MAX - STANDARD_STREAMS ? STANDARD_STREAMS : 0;
    error = table_open(&recorder.table, &recorder.arena, ceiling, &recorder.shared->refused,
                       options->extended ? 0 : -1);
    if (error != 0) {
        table_close(&recorder.table);
        arena_close(&recorder.arena);
        return error;
    }
    recorder.shared->modules = recorder.table.modules;
    recorder.shared->segments.allowed = options->segments_max;
    return 0;
}

static void publish(void)
{
    if (++recorder.last_serial == 0)
        recorder.last_serial = 1;
    atomic_store(&recorder.serial, recorder.last_serial);
}

void recorder_give_up(int first, int last)
{
    if (atomic_load_explicit(&recorder.serial, memory_order_acquire) == 0 || in_vforked_child())
        return;
    int end = atomic_load(&recorder.table.end);
    for (int fd = first; fd <= last && fd < end; fd++)
        table_unmap_descriptor(&recorder.table, fd);
}

int recorder_start(const struct recorder_options *options)
{
    recorder.options = *options;
    clock_begin();
    /* time 0 means "never" */
    recorder.begin = options->begin ? options->begin : clock_monotonic() - 1;
    recorder.begin_wall = options->begin ? options->begin_wall : clock_wall();
    recorder.extended = options->extended;
    recorder.exclusions = (struct exclusions){options->excluded, options->included,
                                              options->extended};
    recording_process = getpid();
    recorder.trace = options->segments_max > 0;
    mounts_read(&recorder.mounts);
    /* latecomers of the last recording may hold a lock; with new memory all are free */
    for (int i = 0; recorder.shared != NULL && i < SHARDS; i++)
        spin_acquire(&recorder.shared->shards[i].lock);
    int error = open_memory(options);
    if (error != 0) {
        mounts_free(&recorder.mounts);
        return error;
    }
    publish();
    return 0;
}

void recorder_stop(void)
{
    atomic_store(&recorder.serial, 0);
    unsigned flags = recorder_enter_quietly();
    for (int i = 0; i < SHARDS; i++) { /* whoever was inside is out after this */
        spin_acquire(&recorder.shared->shards[i].lock);
        spin_release(&recorder.shared->shards[i].lock);
    }
    while (atomic_load(&recorder.readers) != 0)
        sched_yield();
    table_close(&recorder.table);
    arena_close(&recorder.arena);
    mounts_free(&recorder.mounts);
    recorder_leave_quietly(flags);
}

bool recorder_begin_reading(void)
{
    thread_flags |= INSIDE;
    atomic_fetch_add(&recorder.readers, 1);
    if (atomic_load(&recorder.serial) != 0)
        return true;
    recorder_end_reading();
    return false;
}

void recorder_end_reading(void)
{
    atomic_fetch_sub(&recorder.readers, 1);
    thread_flags &= ~(unsigned)INSIDE;
}

unsigned recorder_enter_quietly(void)
{
    unsigned flags = thread_flags;
    thread_flags |= INSIDE;
    return flags;
}

void recorder_leave_quietly(unsigned flags)
{
    if (!(flags & INSIDE))
        thread_flags &= ~(unsigned)INSIDE;
}

void recorder_note_end(enum ended how, int status)
{
    if (atomic_load(&recorder.serial) == 0 || in_vforked_child())
        return;
    struct arena_head *head = arena_head_of(recorder.arena.base);
    head->exit_status = status;
    head->ended = how;
}

/* NOTE: also called by vforked children, which share this memory and start most programs. */
void recorder_note_program(const char *path)
{
    if (atomic_load(&recorder.serial) == 0 || path == NULL)
        return;
    const char *last = strrchr(path, '/');
    unsigned n = atomic_fetch_add(&recorder.shared->programs, 1);
    char *name = recorder.shared->program_names[n % PROGRAMS];
    strncpy(name, last ? last + 1 : path, PROGRAM_NAME - 1);
}

void recorder_take_back_program(void)
{
    if (atomic_load(&recorder.serial) == 0)
        return;
    unsigned n = atomic_fetch_sub(&recorder.shared->programs, 1);
    recorder.shared->program_names[(n - 1) % PROGRAMS][0] = '\0';
}

/* NOTE: a child's file stays for the leader of its session, who has yet to read its end. */
void recorder_abandon(void)
{
    if (recorder_begin_reading()) {
        if (getpid() == recording_process && recorder.options.leads)
            unlink(recorder.arena.path);
        recorder_end_reading();
    }
}

/* Files that a child inherits open, by name: their records are the parent's. */
struct inherited {
    int fd;
    FILE *stream; /* NULL: a descriptor */
    int64_t position;
    char name[];
};

/* The record that a descriptor leads to, or (`as_stream`) the stream with that descriptor. */
static const struct slot *inherited_slot(int fd, bool as_stream, FILE **stream)
{
    struct stream_entry *entry = &recorder.table.streams[fd];
    *stream = as_stream ? atomic_load(&entry->stream) : NULL;
    if (as_stream)
        return *stream ? atomic_load(&entry->slot) : NULL;
    return atomic_load(&recorder.table.descriptors[fd]);
}

static size_t inherited_size(size_t name_length)
{
    size_t alignment = _Alignof(struct inherited);
    return (sizeof(struct inherited) + name_length + 1 + alignment - 1) & ~(alignment - 1);
}

/* Lists them in mapped memory, whose size is `*size`. NOTE: not in the heap, whose locks may be held
 * by threads that do not exist here: not every allocator deals with forks. */
static char *list_inherited(size_t *size)
{
    FILE *stream;
    int end = 2 * atomic_load(&recorder.table.end);
    *size = 0;
    for (int i = 0; i < end; i++) {
        const struct slot *slot = inherited_slot(i / 2, i % 2, &stream);
        *size += slot ? inherited_size(slot->file->name_length) : 0;
    }
    char *list = *size ? mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                       : MAP_FAILED;
    if (list == MAP_FAILED)
        *size = 0;
    for (size_t at = 0, i = 0; at < *size; i++) {
        const struct slot *slot = inherited_slot((int)(i / 2), i % 2, &stream);
        if (slot == NULL)
            continue;
        struct inherited *item = (struct inherited *)(list + at);
        *item = (struct inherited){(int)(i / 2), stream,
                                   stream ? slot->stdio.position : slot->posix.position};
        memcpy(item->name, slot->file->name, slot->file->name_length + (size_t)1);
        at += inherited_size(slot->file->name_length);
    }
    return list;
}

static void adopt_inherited(const char *list, size_t size)
{
    const struct inherited *item;
    for (size_t at = 0; at < size;) {
        item = (const struct inherited *)(list + at);
        report_adopt(item->fd, item->stream, item->name, item->position);
        at += inherited_size(strlen(item->name));
    }
}

/* NOTE: only the forking thread exists here, and locks may be held by threads that do not; all of
 * them are in memory that is given up or zeroed first. */
void recorder_fork(void)
{
    bool records = recorder.options.children;
    char *list = NULL;
    size_t size = 0;
    atomic_store(&recorder.serial, 0);
    atomic_store(&recorder.readers, 0);
    thread_flags = 0;
    if (records && recorder.extended)
        list = list_inherited(&size);
    table_forget(&recorder.table);
    arena_forget(&recorder.arena);
    recording_process = getpid();
    recorder.options.leads = false;
    records = records && open_memory(&recorder.options) == 0;
    if (records)
        adopt_inherited(list, size);
    if (size > 0)
        munmap(list, size);
    if (records)
        publish();
}
