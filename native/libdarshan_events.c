#include "libdarshan_events.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "clock.h"
#include "object.h"
#include "paths.h"
#include "recorder.h"
#include "spin.h"

#if defined(__x86_64__)
enum { RELOCATION_JUMP = R_X86_64_JUMP_SLOT, RELOCATION_GLOBAL = R_X86_64_GLOB_DAT };
#else
enum { RELOCATION_JUMP = R_AARCH64_JUMP_SLOT, RELOCATION_GLOBAL = R_AARCH64_GLOB_DAT };
#endif

enum { EVENT_SHARDS = 16, OWN_MAX = 256, FORKED_MAX = 4096, CALLS = 6, CHUNK_SEGMENTS = 4096 };

typedef void access_call(uint64_t id, int64_t offset, int64_t length, double start, double end);
typedef void heatmap_call(uint64_t id, int direction, int64_t size, double start, double end);
typedef void *register_call(uint64_t id, const char *name, int module, size_t size, void *fs);

struct event_shard {
    _Alignas(64) spin_lock lock;
    struct bins *bins[EVENT_MODULES];
};

struct chunk {
    struct chunk *next;
    size_t n, taken;
    struct event_segment segments[CHUNK_SEGMENTS];
};

struct forked {
    atomic_uint n;
    pid_t ids[FORKED_MAX];
};

static struct {
    atomic_bool active;
    bool traces;
    double time_zero, begin;
    int64_t drained[EVENT_MODULES]; /* when their bins were emptied last */
    uint64_t heatmaps[EVENT_MODULES];
    struct event_shard shards[EVENT_SHARDS];
    atomic_uint next_shard;
    spin_lock lock; /* of all that follows */
    struct chunk *first, *last, *spare;
    size_t waiting;
    uint64_t allowed, dropped;
    uint64_t own[OWN_MAX];
    size_t n_own;
    struct forked *forked; /* shared with children */
} events;

static struct {
    access_call *posix_read, *posix_write, *mpiio_read, *mpiio_write;
    heatmap_call *heatmap;
    register_call *add_record;
} real_calls;

static __thread unsigned shard_of_thread;

static void *map(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static bool is_watched(void)
{
    return atomic_load_explicit(&events.active, memory_order_acquire) && !(thread_flags & MUTED);
}

static struct span span_of(double start, double end)
{
    double from = (start - events.time_zero) * 1e9, to = (end - events.time_zero) * 1e9;
    struct span call = {from > 0 ? (int64_t)from : 0, to > 0 ? (int64_t)to : 0};
    return call;
}

static void count(enum event_module module, enum direction direction, int64_t size, bool is_call,
                  struct span call)
{
    if (shard_of_thread == 0)
        shard_of_thread = 1 + atomic_fetch_add(&events.next_shard, 1) % EVENT_SHARDS;
    struct event_shard *shard = &events.shards[shard_of_thread - 1];
    spin_acquire(&shard->lock);
    if (shard->bins[module] == NULL && (shard->bins[module] = map(sizeof(struct bins))) != NULL)
        bins_reset(shard->bins[module], 0);
    if (shard->bins[module] != NULL && is_call)
        bins_transfer(shard->bins[module], direction, size, call);
    else if (shard->bins[module] != NULL)
        bins_metadata(shard->bins[module], false, call);
    spin_release(&shard->lock);
}

static struct event_segment *next_segment(void)
{
    struct chunk *chunk = events.last;
    if (chunk == NULL || chunk->n == CHUNK_SEGMENTS) {
        chunk = events.spare ? events.spare : map(sizeof(*chunk));
        if (chunk == NULL)
            return NULL;
        events.spare = chunk->next;
        chunk->next = NULL;
        chunk->n = chunk->taken = 0;
        if (events.last != NULL)
            events.last->next = chunk;
        else
            events.first = chunk;
        events.last = chunk;
    }
    return &chunk->segments[chunk->n++];
}

static void keep(const struct event_segment *segment)
{
    spin_acquire(&events.lock);
    struct event_segment *place = events.allowed > 0 ? next_segment() : NULL;
    if (place != NULL) {
        *place = *segment;
        events.allowed--;
        events.waiting++;
    } else {
        events.dropped++;
    }
    spin_release(&events.lock);
}

/* NOTE: called with the library's lock of the module held: nothing here that it wraps. */
static void see(enum event_module module, enum direction direction, uint64_t id, int64_t offset,
                int64_t length, double start, double end)
{
    if (!is_watched())
        return;
    struct span call = span_of(start, end);
    count(module, direction, length, true, call);
    if (!events.traces)
        return;
    struct event_segment segment = {id,     module,     direction, offset,
                                    length, call.start, call.end,  (uint64_t)pthread_self()};
    keep(&segment);
}

#define ACCESS(name, module, direction)                                                            \
    static void hook_##name(uint64_t id, int64_t offset, int64_t length, double start, double end) \
    {                                                                                              \
        see(module, direction, id, offset, length, start, end);                                    \
        real_calls.name(id, offset, length, start, end);                                           \
    }
ACCESS(posix_read, EVENTS_POSIX, READING)
ACCESS(posix_write, EVENTS_POSIX, WRITING)
ACCESS(mpiio_read, EVENTS_MPIIO, READING)
ACCESS(mpiio_write, EVENTS_MPIIO, WRITING)

/* Modules that are not traced. A flush shows here as a write of nothing: time, but not a call. */
static void hook_heatmap(uint64_t id, int direction, int64_t size, double start, double end)
{
    enum { LIBRARY_READS = 1 };
    for (int module = 0; is_watched() && module < EVENT_MODULES; module++)
        if (id == events.heatmaps[module] && module != EVENTS_POSIX && module != EVENTS_MPIIO)
            count((enum event_module)module, direction == LIBRARY_READS ? READING : WRITING, size,
                  size > 0, span_of(start, end));
    real_calls.heatmap(id, direction, size, start, end);
}

static void *hook_add_record(uint64_t id, const char *name, int module, size_t size, void *fs)
{
    if ((thread_flags & MUTED) && atomic_load(&events.active)) {
        spin_acquire(&events.lock);
        if (events.n_own < OWN_MAX)
            events.own[events.n_own++] = id;
        spin_release(&events.lock);
    }
    return real_calls.add_record(id, name, module, size, fs);
}

const char *const event_call_names[CALLS] = {
    "dxt_posix_read",  "dxt_posix_write", "dxt_mpiio_read",
    "dxt_mpiio_write", "heatmap_update",  "darshan_core_register_record",
};
const size_t n_event_calls = CALLS;

static struct {
    void *hook;
    void **real;
    void **slot; /* NULL: not redirected */
    void *before;
} calls[CALLS] = {
    {(void *)hook_posix_read, (void **)&real_calls.posix_read, NULL, NULL},
    {(void *)hook_posix_write, (void **)&real_calls.posix_write, NULL, NULL},
    {(void *)hook_mpiio_read, (void **)&real_calls.mpiio_read, NULL, NULL},
    {(void *)hook_mpiio_write, (void **)&real_calls.mpiio_write, NULL, NULL},
    {(void *)hook_heatmap, (void **)&real_calls.heatmap, NULL, NULL},
    {(void *)hook_add_record, (void **)&real_calls.add_record, NULL, NULL},
};

static void change(const struct object *object, void **slot, void *value)
{
    size_t size = object->relro_end - object->relro_start;
    bool is_protected = (uintptr_t)slot >= object->relro_start && (uintptr_t)slot < object->relro_end;
    void *pages = (void *)object->relro_start;
    if (is_protected && mprotect(pages, size, PROT_READ | PROT_WRITE) != 0)
        return;
    __atomic_store_n(slot, value, __ATOMIC_RELEASE);
    if (is_protected)
        mprotect(pages, size, PROT_READ);
}

static void look_at(const struct object *object, const ElfW(Rela) * relocation, bool restores)
{
    unsigned type = (unsigned)ELF64_R_TYPE(relocation->r_info);
    if (type != RELOCATION_JUMP && type != RELOCATION_GLOBAL)
        return;
    const char *name =
        object->strings + object->symbols[ELF64_R_SYM(relocation->r_info)].st_name;
    void **slot = (void **)(object->base + relocation->r_offset);
    for (size_t i = 0; i < CALLS; i++) {
        if (strcmp(name, event_call_names[i]) != 0 || *calls[i].real == NULL)
            continue;
        if (restores && calls[i].slot == slot && *slot == calls[i].hook) {
            change(object, slot, calls[i].before);
            calls[i].slot = NULL;
        } else if (!restores && calls[i].slot == NULL) {
            calls[i].before = *slot;
            change(object, slot, calls[i].hook);
            calls[i].slot = *slot == calls[i].hook ? slot : NULL;
        }
    }
}

struct search {
    const void *within;
    bool restores;
};

static int visit(struct dl_phdr_info *info, size_t size, void *data)
{
    const struct search *search = data;
    struct object object;
    (void)size;
    if (!object_describe(info, &object) || (uintptr_t)search->within < object.start ||
        (uintptr_t)search->within >= object.end)
        return 0;
    for (size_t i = 0; i < object.n_relocations; i++)
        look_at(&object, &object.relocations[i], search->restores);
    for (size_t i = 0; i < object.n_jumps; i++)
        look_at(&object, &object.jumps[i], search->restores);
    return 1;
}

static void in_child(void)
{
    unsigned place;
    if (!atomic_exchange(&events.active, false) || events.forked == NULL)
        return;
    memset(events.shards, 0, sizeof(events.shards)); /* the parent's threads may hold locks */
    atomic_store(&events.lock, 0);
    place = atomic_fetch_add(&events.forked->n, 1);
    if (place < FORKED_MAX)
        events.forked->ids[place] = getpid();
}

static const void *watched;

int64_t events_now(void)
{
    double seconds = clock_wall() - events.begin;
    return seconds > 0 ? (int64_t)(seconds * 1e9) : 0;
}

unsigned events_begin(void *handle, const void *within, double library_zero, double begin,
                      uint64_t segments_max)
{
    static const char *const heatmaps[EVENT_MODULES] = {
        "heatmap:POSIX", "heatmap:STDIO", "heatmap:MPIIO", "heatmap:DFS", "heatmap:DAOS"};
    static bool handles_forks;
    unsigned redirected = 0;
    for (int module = 0; module < EVENT_MODULES; module++)
        events.heatmaps[module] = name_id(heatmaps[module], strlen(heatmaps[module]));
    events.begin = begin;
    events.time_zero = begin - library_zero;
    events.traces = segments_max > 0;
    memset(events.drained, 0, sizeof(events.drained));
    for (int i = 0; i < EVENT_SHARDS; i++)
        for (int module = 0; module < EVENT_MODULES; module++)
            if (events.shards[i].bins[module] != NULL)
                bins_reset(events.shards[i].bins[module], 0);
    events.allowed = segments_max;
    events.dropped = events.n_own = 0;
    if (events.forked == NULL) {
        void *memory = mmap(NULL, sizeof(struct forked), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        events.forked = memory == MAP_FAILED ? NULL : memory;
    }
    if (events.forked != NULL)
        atomic_store(&events.forked->n, 0);
    if (!handles_forks)
        pthread_atfork(NULL, NULL, in_child);
    handles_forks = true;
    for (size_t i = 0; i < CALLS; i++)
        *calls[i].real = dlsym(handle, event_call_names[i]);
    atomic_store(&events.active, true);
    watched = within;
    dl_iterate_phdr(visit, &(struct search){within, false});
    for (size_t i = 0; i < CALLS; i++)
        redirected |= calls[i].slot != NULL ? 1u << i : 0u;
    return redirected;
}

void events_end(void)
{
    atomic_store(&events.active, false);
    dl_iterate_phdr(visit, &(struct search){watched, true});
}

void events_drain_bins(enum event_module module, struct bins *into, double idle[BINS_MAX])
{
    int64_t now = events_now();
    memset(into, 0, sizeof(*into));
    bins_reset(into, events.drained[module]);
    events.drained[module] = now;
    for (int i = 0; i < BINS_MAX; i++)
        idle[i] = 1.0;
    for (int i = 0; i < EVENT_SHARDS; i++) {
        struct event_shard *shard = &events.shards[i];
        spin_acquire(&shard->lock);
        if (shard->bins[module] != NULL) {
            bins_merge(into, idle, shard->bins[module]);
            bins_reset(shard->bins[module], now);
        }
        spin_release(&shard->lock);
    }
}

size_t events_take_segments(struct event_segment *to, size_t room)
{
    size_t n = 0;
    spin_acquire(&events.lock);
    while (events.first != NULL && n < room) {
        struct chunk *chunk = events.first;
        while (chunk->taken < chunk->n && n < room)
            to[n++] = chunk->segments[chunk->taken++];
        if (chunk->taken < chunk->n)
            break;
        events.first = chunk->next;
        if (events.first == NULL)
            events.last = NULL;
        chunk->next = events.spare;
        events.spare = chunk;
    }
    events.waiting -= n;
    events.allowed += n;
    spin_release(&events.lock);
    return n;
}

size_t events_segments_waiting(void)
{
    spin_acquire(&events.lock);
    size_t waiting = events.waiting;
    spin_release(&events.lock);
    return waiting;
}

uint64_t events_segments_dropped(void)
{
    return events.dropped;
}

size_t events_own_records(uint64_t *to, size_t room)
{
    spin_acquire(&events.lock);
    size_t n = events.n_own < room ? events.n_own : room;
    memcpy(to, events.own, n * sizeof(*to));
    spin_release(&events.lock);
    return n;
}

size_t events_forked(pid_t *to, size_t room)
{
    size_t n = events.forked ? atomic_load(&events.forked->n) : 0, kept = n < room ? n : room;
    if (events.forked != NULL)
        memcpy(to, events.forked->ids, (kept < FORKED_MAX ? kept : FORKED_MAX) * sizeof(*to));
    return n;
}
