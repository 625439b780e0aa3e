/* The memory that a recording lives in: one mapped file that grows without moving.
 *
 * RATIONALE: a file and not the heap, so that another process of the same training can read what a
 * process counted until its very last call, however it ended. Space is reserved in the file system
 * before it is touched: a full /dev/shm is then an error that can be told, never a SIGBUS. */
#ifndef DARSHAN_ARENA_H
#define DARSHAN_ARENA_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "spin.h"

enum { CACHE_LINE = 64 };

struct arena {
    char *base;
    size_t reserved; /* address space */
    size_t capacity; /* backed by the file */
    size_t ceiling;  /* most that may be backed */
    size_t used;
    spin_lock lock;
    int fd;
    dev_t device; /* what `fd` must still be: a program may close it and reuse the number */
    ino_t inode;
    char path[PATH_MAX];
};

/* Creates the file in `directory`, or, where that is NULL, in /dev/shm or else $TMPDIR or /tmp.
 * Returns 0 or -errno. */
int arena_open(struct arena *arena, const char *directory, size_t ceiling);
/* Unmaps and unlinks. Nobody may use the arena any more. */
void arena_close(struct arena *arena);
/* Zeroed memory, aligned to 16 bytes, or to a cache line where it fills whole ones. NULL when the
 * ceiling is reached or the file system is full. */
void *arena_allocate(struct arena *arena, size_t size);
/* Bytes given out so far. */
size_t arena_used(struct arena *arena);
static inline uint64_t arena_offset(const struct arena *arena, const void *address)
{
    return (uint64_t)((const char *)address - arena->base);
}
static inline void *arena_at(const struct arena *arena, uint64_t offset)
{
    return offset ? arena->base + offset : NULL;
}

#endif
