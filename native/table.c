#include "table.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "paths.h"

static const size_t first_index_size = 4096;
static const char other_name[] = "<other files>";

static void *map_zeroed(size_t size)
{
    void *address = mmap(NULL, size, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return address == MAP_FAILED ? NULL : address;
}

static size_t slot_size(enum module module)
{
    size_t record =
        module == POSIX_MODULE ? sizeof(struct posix_record) : sizeof(struct stdio_record);
    /* whole cache lines, so that threads on files of their own do not disturb each other */
    return (offsetof(struct slot, posix) + record + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

static int32_t no_alignment(void *context, const char *name)
{
    (void)context, (void)name;
    return -1;
}

int table_open(struct table *table, struct arena *arena, uint32_t ceiling,
               _Atomic uint32_t *refused, int32_t mmaps_at_first)
{
    table->arena = arena;
    table->ceiling = ceiling;
    table->mmaps_at_first = mmaps_at_first;
    table->n_files = 0;
    table->refused = refused;
    atomic_store(refused, 0);
    atomic_store(&table->lock, 0);
    table->index_size = first_index_size;
    table->index = map_zeroed(table->index_size * sizeof(*table->index));
    if (table->descriptors == NULL)
        table->descriptors = map_zeroed(DESCRIPTORS_MAX * sizeof(*table->descriptors));
    if (table->streams == NULL)
        table->streams = map_zeroed(DESCRIPTORS_MAX * sizeof(*table->streams));
    table->modules = arena_allocate(arena, MODULES * sizeof(*table->modules));
    if (!table->index || !table->descriptors || !table->streams || !table->modules)
        return -ENOMEM;
    for (int module = 0; module < MODULES; module++)
        table->modules[module].slot_size = slot_size(module);
    /* made now, because there may be no room left when it is needed */
    table->other = NULL;
    table->other = table_file(table, other_name, strlen(other_name), true, no_alignment, NULL);
    if (table->other == NULL)
        return -ENOMEM;
    for (int module = 0; module < MODULES; module++)
        if (table_slot(table, table->other, module) == NULL)
            return -ENOMEM;
    return 0;
}

void table_close(struct table *table)
{
    if (table->index)
        munmap(table->index, table->index_size * sizeof(*table->index));
    table->index = NULL;
    atomic_store(&table->end, 0);
    if (table->descriptors)
        madvise(table->descriptors, DESCRIPTORS_MAX * sizeof(*table->descriptors), MADV_DONTNEED);
    if (table->streams)
        madvise(table->streams, DESCRIPTORS_MAX * sizeof(*table->streams), MADV_DONTNEED);
}

void table_forget(struct table *table)
{
    spin_release(&table->lock);
    table->index = NULL;
    table_close(table);
}

static struct file **place_of(struct file **index, size_t size, uint64_t id)
{
    size_t place = (size_t)id & (size - 1);
    while (index[place] != NULL && index[place]->id != id)
        place = (place + 1) & (size - 1);
    return &index[place];
}

static bool grow_index(struct table *table)
{
    size_t size = 2 * table->index_size;
    struct file **index = map_zeroed(size * sizeof(*index));
    if (index == NULL)
        return false;
    for (size_t i = 0; i < table->index_size; i++)
        if (table->index[i] != NULL)
            *place_of(index, size, table->index[i]->id) = table->index[i];
    munmap(table->index, table->index_size * sizeof(*table->index));
    table->index = index;
    table->index_size = size;
    return true;
}

static struct file *new_file(struct table *table, uint64_t id, const char *name, size_t length)
{
    if (table->n_files > table->ceiling)
        return NULL;
    if (2 * table->n_files >= table->index_size && !grow_index(table))
        return NULL;
    struct file *file = arena_allocate(table->arena, sizeof(*file) + length + 1);
    if (file == NULL)
        return NULL;
    file->id = id;
    file->name_length = (uint32_t)length;
    memcpy(file->name, name, length);
    return file;
}

struct file *table_file(struct table *table, const char *name, size_t length, bool create,
                        int32_t (*alignment)(void *, const char *), void *context)
{
    uint64_t id = name_id(name, length);
    spin_acquire(&table->lock);
    struct file *file = *place_of(table->index, table->index_size, id);
    if (file == NULL && create) {
        file = new_file(table, id, name, length);
        if (file != NULL) {
            file->alignment = alignment(context, file->name);
            *place_of(table->index, table->index_size, id) = file;
            table->n_files++;
        } else {
            file = table->other;
            if (file != NULL)
                atomic_fetch_add_explicit(table->refused, 1, memory_order_relaxed);
        }
    }
    spin_release(&table->lock);
    return file;
}

struct place {
    uint32_t block, slot, size; /* size: slots of the block */
};

static struct place place_of_slot(uint32_t i)
{
    if (i >= DOUBLED_SLOTS) {
        i -= DOUBLED_SLOTS;
        return (struct place){DOUBLING_BLOCKS + i / FULL_BLOCK, i % FULL_BLOCK, FULL_BLOCK};
    }
    uint32_t block = 31u - (uint32_t)__builtin_clz(i / FIRST_BLOCK + 1);
    return (struct place){block, i - FIRST_BLOCK * ((1u << block) - 1), FIRST_BLOCK << block};
}

struct slot_place table_place(const struct module_slots *slots, uint32_t i)
{
    struct place place = place_of_slot(i);
    return (struct slot_place){place.block, place.slot * slots->slot_size};
}

struct slot *table_slot_at(const struct table *table, enum module module, uint32_t i)
{
    const struct module_slots *slots = &table->modules[module];
    struct slot_place place = table_place(slots, i);
    return (struct slot *)(slots->blocks[place.block] + place.offset);
}

static struct slot *new_slot(struct table *table, struct file *file, enum module module)
{
    struct module_slots *slots = &table->modules[module];
    uint32_t n = atomic_load_explicit(&slots->n, memory_order_relaxed);
    struct place place = place_of_slot(n);
    if (place.block >= BLOCKS_MAX)
        return NULL;
    char **block = &slots->blocks[place.block];
    if (*block == NULL)
        *block = arena_allocate(table->arena, place.size * slots->slot_size);
    if (*block == NULL)
        return NULL;
    struct slot *slot = table_slot_at(table, module, n);
    slot->file = file;
    slot->index = n;
    if (module == POSIX_MODULE) {
        slot->posix.file_alignment = file->alignment;
        slot->posix.last_direction = NO_DIRECTION;
        slot->posix.mmaps = table->mmaps_at_first;
    }
    atomic_store_explicit(&slots->n, n + 1, memory_order_release);
    return slot;
}

struct slot *table_slot(struct table *table, struct file *file, enum module module)
{
    spin_acquire(&table->lock);
    struct slot *slot = atomic_load_explicit(&file->slots[module], memory_order_relaxed);
    if (slot == NULL) {
        slot = new_slot(table, file, module);
        atomic_store_explicit(&file->slots[module], slot, memory_order_release);
    }
    if (slot == NULL && table->other != NULL) {
        atomic_fetch_add_explicit(table->refused, 1, memory_order_relaxed);
        slot = table->other->slots[module];
    }
    spin_release(&table->lock);
    return slot;
}

void table_map_stream(struct table *table, FILE *stream, struct slot *slot)
{
    int fd = stream_descriptor(stream);
    if ((unsigned)fd >= DESCRIPTORS_MAX)
        return;
    table_reaches(table, fd);
    atomic_store_explicit(&table->streams[fd].slot, slot, memory_order_release);
    atomic_store_explicit(&table->streams[fd].stream, stream, memory_order_release);
}

struct slot *table_unmap_stream(struct table *table, FILE *stream)
{
    struct slot *slot = table_stream(table, stream);
    if (slot != NULL)
        atomic_store_explicit(&table->streams[stream_descriptor(stream)].stream, NULL,
                              memory_order_release);
    return slot;
}
