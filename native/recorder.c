#include "recorder.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
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

void recorder_give_up(int first, int last)
{
    if (atomic_load_explicit(&recorder.serial, memory_order_acquire) == 0 || in_vforked_child())
        return;
    for (int fd = first; fd <= last && fd < DESCRIPTORS_MAX; fd++)
        table_unmap_descriptor(&recorder.table, fd);
}

int recorder_start(const struct recorder_options *options)
{
    recorder.begin = clock_monotonic() - 1; /* time 0 means "never" */
    recorder.begin_wall = clock_wall();
    recorder.extended = options->extended;
    recorder.exclusions = (struct exclusions){options->excluded, options->included,
                                              options->extended};
    recording_process = getpid();
    for (int i = 0; i < SHARDS; i++) { /* latecomers of the last recording may hold the lock */
        struct shard *shard = &recorder.shards[i];
        spin_acquire(&shard->lock);
        memset(shard->bins, 0, sizeof(shard->bins));
        shard->segments = NULL;
        spin_release(&shard->lock);
    }
    memset(&recorder.segments, 0, sizeof(recorder.segments));
    recorder.segments.allowed = options->segments_max;
    recorder.trace = options->segments_max > 0;
    memset(recorder.bins_begin, 0, sizeof(recorder.bins_begin));
    atomic_store(&recorder.mappings, 0);
    atomic_store(&recorder.rings, 0);
    mounts_read(&recorder.mounts);
    int error = arena_open(&recorder.arena, options->arena_directory, options->arena_ceiling);
    if (error == 0) {
        error = table_open(&recorder.table, &recorder.arena, options->files_ceiling,
                           options->extended ? 0 : -1);
        if (error != 0)
            arena_close(&recorder.arena);
    }
    if (error != 0) {
        mounts_free(&recorder.mounts);
        return error;
    }
    if (++recorder.last_serial == 0)
        recorder.last_serial = 1;
    atomic_store(&recorder.serial, recorder.last_serial);
    return 0;
}

void recorder_stop(void)
{
    atomic_store(&recorder.serial, 0);
    unsigned flags = recorder_enter_quietly();
    for (int i = 0; i < SHARDS; i++) { /* whoever was inside is out after this */
        spin_acquire(&recorder.shards[i].lock);
        spin_release(&recorder.shards[i].lock);
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

/* NOTE: the child leaks its view of the parent's recording on purpose: locks in it may be held by
 * threads that do not exist here, and its memory is shared with the parent. */
void recorder_forget(void)
{
    atomic_store(&recorder.serial, 0);
    atomic_store(&recorder.readers, 0);
    for (int i = 0; i < SHARDS; i++)
        spin_release(&recorder.shards[i].lock);
    table_forget(&recorder.table);
    thread_flags = 0;
}

void recorder_abandon(void)
{
    if (recorder_begin_reading()) {
        if (getpid() == recording_process)
            unlink(recorder.arena.path);
        recorder_end_reading();
    }
}

void recorder_drain_bins(enum module module, struct bins *into, double idle[BINS_MAX])
{
    int64_t now = recorder_now();
    memset(into, 0, sizeof(*into));
    bins_reset(into, recorder.bins_begin[module]);
    recorder.bins_begin[module] = now;
    for (int i = 0; i < BINS_MAX; i++)
        idle[i] = 1.0;
    for (int i = 0; i < SHARDS; i++) {
        struct shard *shard = &recorder.shards[i];
        spin_acquire(&shard->lock);
        struct bins *bins = shard->bins[module];
        if (bins != NULL) {
            bins_merge(into, idle, bins);
            bins_reset(bins, now);
        }
        spin_release(&shard->lock);
    }
}

struct segment_chunk *recorder_drain_segments(void)
{
    for (int i = 0; i < SHARDS; i++) {
        spin_acquire(&recorder.shards[i].lock);
        segments_flush(&recorder.segments, &recorder.shards[i].segments);
        spin_release(&recorder.shards[i].lock);
    }
    struct segment_chunk *taken = segments_take(&recorder.segments);
    return taken;
}
