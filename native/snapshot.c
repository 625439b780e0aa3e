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

/* NOTE: like Darshan, records of the standard streams show only once something was moved. */
static bool shows(struct slot *slot, enum module module, bool lately)
{
    uint32_t touched = atomic_load_explicit(&slot->touched, memory_order_relaxed);
    if (!(touched & (lately ? TOUCHED_LATELY : TOUCHED_EVER)))
        return false;
    if (module != STDIO_MODULE || slot->file->name[0] != '<')
        return true;
    spin_acquire(&slot->lock);
    bool moved = slot->stdio.moved[READING].calls > 0 || slot->stdio.moved[WRITING].calls > 0;
    spin_release(&slot->lock);
    return moved;
}

static uint32_t slots_of(enum module module)
{
    return atomic_load_explicit(&recorder.table.modules[module].n, memory_order_acquire);
}

static void export(const struct slot *slot, enum module module, int64_t *counters,
                   double *fcounters)
{
    if (module == POSIX_MODULE)
        posix_export(&slot->posix, arena_at(&recorder.arena, slot->posix.accesses.more),
                     arena_at(&recorder.arena, slot->posix.strides.more), counters, fcounters);
    else
        stdio_export(&slot->stdio, counters, fcounters);
}

size_t snapshot_count(enum module module, bool lately)
{
    size_t n = 0;
    uint32_t slots = slots_of(module);
    for (uint32_t i = 0; i < slots; i++)
        n += shows(table_slot_at(&recorder.table, module, i), module, lately);
    return n;
}

size_t snapshot_copy(enum module module, bool lately, struct record_copies *out)
{
    size_t n = 0;
    uint32_t slots = slots_of(module);
    size_t counters = (size_t)counters_of(module), fcounters = (size_t)fcounters_of(module);
    for (uint32_t i = 0; i < slots && n < out->room; i++) {
        struct slot *slot = table_slot_at(&recorder.table, module, i);
        if (!shows(slot, module, lately))
            continue;
        spin_acquire(&slot->lock);
        export(slot, module, out->counters + n * counters, out->fcounters + n * fcounters);
        if (lately)
            atomic_store_explicit(&slot->touched, TOUCHED_EVER, memory_order_relaxed);
        spin_release(&slot->lock);
        out->indices[n] = i;
        out->ids[n] = slot->file->id;
        n++;
    }
    return n;
}

/* Counts access sizes over records: a table of bounded size; sizes that find no place in it, of
 * which there must be thousands before, are left out. */
enum { SIZES = 8192, PROBES = 64 };

static void count_sizes(struct value_count *sizes, const struct value_set *set)
{
    value_room more = arena_at(&recorder.arena, set->more);
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

void snapshot_totals(enum module module, struct totals *totals)
{
    int64_t counters[POSIX_COUNTERS];
    double fcounters[POSIX_FCOUNTERS];
    uint32_t slots = slots_of(module);
    struct value_count *sizes = calloc(SIZES, sizeof(*sizes));
    memset(totals, 0, sizeof(*totals));
    for (uint32_t i = 0; i < slots; i++) {
        struct slot *slot = table_slot_at(&recorder.table, module, i);
        if (!shows(slot, module, false))
            continue;
        spin_acquire(&slot->lock);
        export(slot, module, counters, fcounters);
        if (module == POSIX_MODULE && sizes != NULL)
            count_sizes(sizes, &slot->posix.accesses);
        spin_release(&slot->lock);
        add_record(totals, module, counters, fcounters);
        totals->records++;
    }
    if (sizes != NULL) {
        qsort(sizes, SIZES, sizeof(*sizes), by_count);
        memcpy(totals->common_sizes, sizes, sizeof(totals->common_sizes));
    }
    free(sizes);
}

char *snapshot_names(enum module module, const uint32_t *places, size_t n)
{
    uint32_t slots = slots_of(module);
    size_t size = 0;
    for (size_t i = 0; i < n; i++) {
        if (places[i] >= slots) {
            errno = ERANGE;
            return NULL;
        }
        size += table_slot_at(&recorder.table, module, places[i])->file->name_length + (size_t)1;
    }
    char *names = malloc(size > 0 ? size : 1), *end = names;
    for (size_t i = 0; names != NULL && i < n; i++) {
        const struct file *file = table_slot_at(&recorder.table, module, places[i])->file;
        memcpy(end, file->name, file->name_length + (size_t)1);
        end += file->name_length + (size_t)1;
    }
    return names;
}
