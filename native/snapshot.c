#include "snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int counters_of(enum module module)
{
    return module == POSIX_MODULE ? POSIX_COUNTERS : STDIO_COUNTERS;
}

int fcounters_of(enum module module)
{
    return module == POSIX_MODULE ? POSIX_FCOUNTERS : STDIO_FCOUNTERS;
}

struct arena_view snapshot_own(void)
{
    return (struct arena_view){recorder.arena.base, recorder.arena.reserved,
                               (uint64_t)(uintptr_t)recorder.arena.base, -1};
}

enum { PATIENCE = 2000 }; /* yields until the holder of a lock is taken for dead */

/* NOTE: a child that was killed in a report leaves its lock taken; what it was writing is read as it
 * is. In this process every holder comes back. */
static bool acquire(const struct arena_view *view, spin_lock *lock)
{
    if (view->fd < 0) {
        spin_acquire(lock);
        return true;
    }
    for (int i = 0; i < PATIENCE; i++) {
        if (atomic_exchange_explicit(lock, 1, memory_order_acquire) == 0)
            return true;
        sched_yield();
    }
    return false;
}

static void release(spin_lock *lock, bool acquired)
{
    if (acquired)
        spin_release(lock);
}

static bool reaches(const struct arena_view *view, const void *address, size_t size)
{
    uint64_t offset = (uint64_t)(uintptr_t)address - view->origin;
    return offset < view->size && size <= view->size - offset;
}

static const struct module_slots *slots_of(const struct arena_view *view, enum module module)
{
    const struct module_slots *modules = shared_of(view->base)->modules;
    if (!reaches(view, modules, MODULES * sizeof(*modules)))
        return NULL;
    return (const struct module_slots *)arena_view_at(view, modules) + module;
}

uint32_t snapshot_slots(struct arena_view *view, enum module module)
{
    const struct module_slots *slots = slots_of(view, module);
    if (slots == NULL)
        return 0;
    uint32_t n = atomic_load_explicit(&slots->n, memory_order_acquire);
    arena_view_refresh(view); /* whatever these records point to was there before them */
    return n;
}

static struct slot *slot_at(const struct arena_view *view, enum module module, uint32_t i)
{
    const struct module_slots *slots = slots_of(view, module);
    struct slot_place place = table_place(slots, i);
    const char *block = slots->blocks[place.block];
    return (struct slot *)((char *)arena_view_at(view, block) + place.offset);
}

const struct file *snapshot_file(struct arena_view *view, enum module module, uint32_t i)
{
    return arena_view_at(view, slot_at(view, module, i)->file);
}

/* NOTE: like Darshan, records of the standard streams show only once something was moved. */
static bool shows(const struct arena_view *view, struct slot *slot, enum module module, bool lately)
{
    uint32_t touched = atomic_load_explicit(&slot->touched, memory_order_relaxed);
    if (!(touched & (lately ? TOUCHED_LATELY : TOUCHED_EVER)))
        return false;
    const struct file *file = arena_view_at(view, slot->file);
    if (module != STDIO_MODULE || file->name[0] != '<')
        return true;
    bool acquired = acquire(view, &slot->lock);
    bool moved = slot->stdio.moved[READING].calls > 0 || slot->stdio.moved[WRITING].calls > 0;
    release(&slot->lock, acquired);
    return moved;
}

/* Further values of a set. A room made after the view was refreshed may lie beyond it: then only
 * those inside the record are seen this time. */
static value_room room_of(const struct arena_view *view, struct value_set *set)
{
    size_t size = (VALUE_SET_MAX - VALUE_SET_INLINE) * sizeof(struct value_count);
    if (set->more != 0 && set->more + size <= view->size)
        return (value_room)(view->base + set->more);
    if (set->n > VALUE_SET_INLINE)
        set->n = VALUE_SET_INLINE;
    return NULL;
}

/* Copies a record's values out of a copy, so that its lock is held for the copying only. */
static void export(const struct arena_view *view, struct slot *slot, enum module module,
                   int64_t *counters, double *fcounters)
{
    if (module == STDIO_MODULE) {
        stdio_export(&slot->stdio, counters, fcounters);
        return;
    }
    struct value_set accesses = slot->posix.accesses, strides = slot->posix.strides;
    value_room more = room_of(view, &accesses), more_strides = room_of(view, &strides);
    posix_export(&slot->posix, &accesses, more, &strides, more_strides, counters, fcounters);
}

size_t snapshot_count(struct arena_view *view, enum module module, bool lately)
{
    size_t n = 0;
    uint32_t slots = snapshot_slots(view, module);
    for (uint32_t i = 0; i < slots; i++)
        n += shows(view, slot_at(view, module, i), module, lately);
    return n;
}

size_t snapshot_copy(struct arena_view *view, enum module module, bool lately,
                     struct record_copies *out)
{
    size_t n = 0;
    uint32_t slots = snapshot_slots(view, module);
    size_t counters = (size_t)counters_of(module), fcounters = (size_t)fcounters_of(module);
    for (uint32_t i = 0; i < slots && n < out->room; i++) {
        struct slot *slot = slot_at(view, module, i);
        if (!shows(view, slot, module, lately))
            continue;
        bool acquired = acquire(view, &slot->lock);
        export(view, slot, module, out->counters + n * counters, out->fcounters + n * fcounters);
        if (lately)
            atomic_store_explicit(&slot->touched, TOUCHED_EVER, memory_order_relaxed);
        release(&slot->lock, acquired);
        out->indices[n] = i;
        out->ids[n] = snapshot_file(view, module, i)->id;
        n++;
    }
    return n;
}

/* Counts access sizes over records: a table of bounded size; sizes that find no place in it, of
 * which there must be thousands before, are left out. */
enum { SIZES = 8192, PROBES = 64 };

static void count_sizes(struct value_count *sizes, const struct value_set *set, value_room more)
{
    for (uint32_t i = 0; i < set->n; i++) {
        const struct value_count *seen = value_set_at(set, more, i);
        size_t place = (size_t)((uint64_t)seen->value * 0x9e3779b97f4a7c15ULL >> 51);
        for (int probe = 0; probe < PROBES; probe++, place = (place + 1) % SIZES) {
            if (sizes[place].count != 0 && sizes[place].value != seen->value)
                continue;
            sizes[place].value = seen->value;
            sizes[place].count += seen->count;
            break;
        }
    }
}

static int by_count(const void *a, const void *b)
{
    const struct value_count *left = a, *right = b;
    if (left->count != right->count)
        return left->count < right->count ? 1 : -1;
    return (left->value < right->value) - (left->value > right->value);
}

static void choose_common(struct value_count sizes[SIZES], struct value_count chosen[COMMON_SIZES])
{
    size_t n = 0;
    for (size_t i = 0; i < SIZES; i++)
        if (sizes[i].count != 0)
            sizes[n++] = sizes[i];
    qsort(sizes, n, sizeof(*sizes), by_count);
    memcpy(chosen, sizes, (n < COMMON_SIZES ? n : COMMON_SIZES) * sizeof(*chosen));
}

static void add_record(struct totals *totals, enum module module, const int64_t *counters,
                       const double *fcounters)
{
    for (int i = 0; i < counters_of(module); i++) {
        totals->sums[i] += counters[i];
        if (counters[i] > totals->maxima[i])
            totals->maxima[i] = counters[i];
    }
    for (int i = 0; i < fcounters_of(module); i++) {
        totals->fsums[i] += fcounters[i];
        if (fcounters[i] > totals->fmaxima[i])
            totals->fmaxima[i] = fcounters[i];
        if (fcounters[i] > 0 && (totals->fminima[i] == 0 || fcounters[i] < totals->fminima[i]))
            totals->fminima[i] = fcounters[i];
    }
}

void snapshot_totals(struct arena_view *view, enum module module, struct totals *totals)
{
    int64_t counters[POSIX_COUNTERS];
    double fcounters[POSIX_FCOUNTERS];
    uint32_t slots = snapshot_slots(view, module);
    struct value_count *sizes =
        module == POSIX_MODULE && slots > 0 ? calloc(SIZES, sizeof(*sizes)) : NULL;
    memset(totals, 0, sizeof(*totals));
    for (uint32_t i = 0; i < slots; i++) {
        struct slot *slot = slot_at(view, module, i);
        if (!shows(view, slot, module, false))
            continue;
        bool acquired = acquire(view, &slot->lock);
        export(view, slot, module, counters, fcounters);
        if (sizes != NULL) {
            struct value_set accesses = slot->posix.accesses;
            value_room more = room_of(view, &accesses);
            count_sizes(sizes, &accesses, more);
        }
        release(&slot->lock, acquired);
        add_record(totals, module, counters, fcounters);
        totals->records++;
    }
    if (sizes != NULL)
        choose_common(sizes, totals->common_sizes);
    free(sizes);
}

void snapshot_drain_bins(struct arena_view *view, enum module module, int64_t begin, int64_t now,
                         struct bins *into, double idle[BINS_MAX])
{
    memset(into, 0, sizeof(*into));
    bins_reset(into, begin);
    for (int i = 0; i < BINS_MAX; i++)
        idle[i] = 1.0;
    arena_view_refresh(view);
    struct shared *shared = shared_of(view->base);
    bool alive = arena_view_is_alive(view);
    for (int i = 0; i < SHARDS; i++) {
        struct shard *shard = &shared->shards[i];
        bool acquired = acquire(view, &shard->lock);
        struct bins *bins = shard->bins[module];
        if (bins != NULL && (acquired || !alive) && reaches(view, bins, sizeof(*bins))) {
            bins = arena_view_at(view, bins);
            bins_merge(into, idle, bins);
            bins_reset(bins, now);
        }
        release(&shard->lock, acquired);
    }
}

static struct segment_chunk *chunk_at(const struct arena_view *view, struct segment_chunk *chunk)
{
    return chunk && reaches(view, chunk, sizeof(*chunk)) ? arena_view_at(view, chunk) : NULL;
}

/* Hands over the chunks that shards are filling; those of a shard that cannot be locked stay. */
static void hand_over(const struct arena_view *view, bool alive)
{
    struct shared *shared = shared_of(view->base);
    for (int i = 0; i < SHARDS; i++) {
        struct shard *shard = &shared->shards[i];
        bool acquired = acquire(view, &shard->lock);
        struct segment_chunk *chunk = acquired || !alive ? chunk_at(view, shard->segments) : NULL;
        bool inner = chunk != NULL && acquire(view, &shared->segments.lock);
        if (inner || (chunk != NULL && !alive)) {
            atomic_fetch_add_explicit(&shared->segments.allowed, chunk->room - chunk->n,
                                      memory_order_relaxed);
            chunk->next = shared->segments.full;
            shared->segments.full = shard->segments;
            shard->segments = NULL;
        }
        release(&shared->segments.lock, inner);
        release(&shard->lock, acquired);
    }
}

struct segment *snapshot_drain_segments(struct arena_view *view, size_t *n, uint64_t *dropped)
{
    arena_view_refresh(view);
    struct segments *segments = &shared_of(view->base)->segments;
    bool alive = arena_view_is_alive(view);
    *n = 0;
    *dropped = atomic_load(&segments->dropped);
    hand_over(view, alive);
    bool acquired = acquire(view, &segments->lock);
    struct segment_chunk *first = acquired || !alive ? segments_take(segments) : NULL;
    release(&segments->lock, acquired);
    struct segment_chunk *last = NULL;
    for (struct segment_chunk *chunk = first; (chunk = chunk_at(view, chunk)) != NULL;
         chunk = chunk->next) {
        *n += chunk->n;
        last = chunk;
    }
    struct segment *copies = *n > 0 ? malloc(*n * sizeof(*copies)) : NULL, *end = copies;
    for (struct segment_chunk *chunk = first; end && (chunk = chunk_at(view, chunk)) != NULL;
         chunk = chunk->next)
        end = mempcpy(end, chunk->segments, chunk->n * sizeof(*end));
    acquired = last != NULL && acquire(view, &segments->lock);
    if (acquired)
        segments_recycle(segments, first, &last->next, *n);
    release(&segments->lock, acquired);
    if (copies == NULL)
        *n = 0;
    return copies;
}

char *snapshot_names(struct arena_view *view, enum module module, const uint32_t *places, size_t n)
{
    uint32_t slots = snapshot_slots(view, module);
    size_t size = 0;
    for (size_t i = 0; i < n; i++) {
        if (places[i] >= slots) {
            errno = ERANGE;
            return NULL;
        }
        size += snapshot_file(view, module, places[i])->name_length + (size_t)1;
    }
    char *names = malloc(size > 0 ? size : 1), *end = names;
    for (size_t i = 0; names != NULL && i < n; i++) {
        const struct file *file = snapshot_file(view, module, places[i]);
        end = mempcpy(end, file->name, file->name_length + (size_t)1);
    }
    return names;
}
