/* Which record a name, a descriptor or a stream belongs to.
 *
 * Names are found under the table's lock (opens only); descriptors and streams without any (reads
 * and writes). A record is never freed while the recording lives. */
#ifndef DARSHAN_TABLE_H
#define DARSHAN_TABLE_H

#include <stdio.h>

#include "arena.h"
#include "counters.h"

enum module { POSIX_MODULE, STDIO_MODULE, MODULES };

/* Slots lie in blocks that double in size up to a point: small recordings stay small, and large ones
 * waste little. */
enum {
    FIRST_BLOCK = 64,
    DOUBLING_BLOCKS = 6,
    DOUBLED_SLOTS = FIRST_BLOCK * ((1 << DOUBLING_BLOCKS) - 1),
    FULL_BLOCK = FIRST_BLOCK << DOUBLING_BLOCKS,
    BLOCKS_MAX = 4096,
    DESCRIPTORS_MAX = 1 << 20,
};

struct file {
    uint64_t id;
    struct slot *_Atomic slots[MODULES]; /* NULL: no record in that module */
    uint32_t name_length;
    int32_t alignment;
    char name[]; /* ends with NUL */
};

/* LATELY: since the last window was cut. */
enum touched { TOUCHED_EVER = 1, TOUCHED_LATELY = 2 };

/* A file's record in one module. */
struct slot {
    spin_lock lock;
    uint32_t index;   /* within its module */
    _Atomic uint32_t touched; /* TOUCHED_EVER, TOUCHED_LATELY */
    struct file *file;
    union {
        struct posix_record posix;
        struct stdio_record stdio;
    };
};

struct module_slots {
    char *blocks[BLOCKS_MAX];
    _Atomic uint32_t n;
    size_t slot_size;
};

struct stream_entry {
    FILE *_Atomic stream;
    struct slot *_Atomic slot;
};

/* NOTE: `descriptors` and `streams` are looked at without a lock, also by a thread that just misses
 * the end of a recording; they are therefore never unmapped, only emptied. */
struct table {
    struct arena *arena;
    spin_lock lock;
    struct file **index; /* open addressing, a power of two long */
    size_t index_size;
    size_t n_files;
    uint32_t ceiling; /* most files; then `other` stands for the rest */
    struct file *other;
    _Atomic uint32_t *refused; /* counts opens that went to `other` */
    struct module_slots *modules; /* in the arena, MODULES of them */
    int32_t mmaps_at_first;       /* what POSIX_MMAPS begins with */
    struct slot *_Atomic *descriptors; /* by descriptor */
    struct stream_entry *streams;      /* by the stream's descriptor */
    _Atomic int end;                   /* descriptors from here on were never mapped */
};

int table_open(struct table *table, struct arena *arena, uint32_t ceiling,
               _Atomic uint32_t *refused, int32_t mmaps_at_first);
void table_close(struct table *table);
/* In a forked child: an empty view that shares nothing with the parent's. */
void table_forget(struct table *table);

/* The file of that name, made if there is none (`alignment` is asked then). */
struct file *table_file(struct table *table, const char *name, size_t length, bool create,
                        int32_t (*alignment)(void *, const char *), void *context);
/* The file's record in a module, made if there is none. */
struct slot *table_slot(struct table *table, struct file *file, enum module module);
/* Where a record lies: the block, and its distance from the block's begin in bytes. */
struct slot_place {
    uint32_t block;
    size_t offset;
};
struct slot_place table_place(const struct module_slots *slots, uint32_t i);
struct slot *table_slot_at(const struct table *table, enum module module, uint32_t i);

static inline struct slot *table_descriptor(const struct table *table, int fd)
{
    if ((unsigned)fd >= DESCRIPTORS_MAX)
        return NULL;
    return atomic_load_explicit(&table->descriptors[fd], memory_order_acquire);
}
static inline void table_reaches(struct table *table, int fd)
{
    int end = atomic_load_explicit(&table->end, memory_order_relaxed);
    while (end <= fd && !atomic_compare_exchange_weak(&table->end, &end, fd + 1))
        ;
}
static inline void table_map_descriptor(struct table *table, int fd, struct slot *slot)
{
    if ((unsigned)fd >= DESCRIPTORS_MAX)
        return;
    table_reaches(table, fd);
    atomic_store_explicit(&table->descriptors[fd], slot, memory_order_release);
}
static inline struct slot *table_unmap_descriptor(struct table *table, int fd)
{
    if (table_descriptor(table, fd) == NULL)
        return NULL;
    return atomic_exchange_explicit(&table->descriptors[fd], NULL, memory_order_acq_rel);
}

/* glibc keeps a stream's descriptor in its public struct; reading it takes no lock. */
static inline int stream_descriptor(FILE *stream)
{
    return stream ? stream->_fileno : -1;
}
static inline struct slot *table_stream(const struct table *table, FILE *stream)
{
    int fd = stream_descriptor(stream);
    if ((unsigned)fd >= DESCRIPTORS_MAX)
        return NULL;
    const struct stream_entry *entry = &table->streams[fd];
    if (atomic_load_explicit(&entry->stream, memory_order_acquire) != stream)
        return NULL;
    return atomic_load_explicit(&entry->slot, memory_order_acquire);
}
void table_map_stream(struct table *table, FILE *stream, struct slot *slot);
struct slot *table_unmap_stream(struct table *table, FILE *stream);

#endif
