/* The memory that a recording lives in: one mapped file that grows without moving.
 *
 * RATIONALE: a file and not the heap, so that another process of the same training can read what a
 * process counted until its very last call, however it ended. Space is reserved in the file system
 * before it is touched: a full /dev/shm is then an error that can be told, never a SIGBUS. */
#ifndef DARSHAN_ARENA_H
#define DARSHAN_ARENA_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "spin.h"

enum { CACHE_LINE = 64 };

/* What begins the file. Pointers in an arena count from `base`, where its own process has it. */
struct arena_head {
    char magic[8];
    int64_t pid;
    int64_t parent;
    uint64_t base;
    int64_t begin; /* monotonic time of time zero, the same in all processes of a training */
    uint32_t own_writer; /* the process writes its own recording: nobody else counts it */
    uint32_t ended;      /* enum ended */
    int32_t exit_status; /* where it is known, else 0 */
};

/* How a process ended: without a word, killed or crashed, where it is gone and did not say. */
enum ended { RUNS, EXITED, BECAME_ANOTHER_PROGRAM };

/* NOTE: the leading bytes stay mapped (zeroed) when an arena was closed, as a thread may still be on
 * its way to a lock in them. The address range is kept for the next arena. */
enum { ARENA_LEADING = 8192, ARENA_HEAD = 256, SESSION_LENGTH = 24 };

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
 * `session` is the training's; the process that began it leads, others are its children.
 * Returns 0 or -errno. */
int arena_open(struct arena *arena, const char *directory, size_t ceiling, const char *session,
               bool leads);
/* Unlinks, and gives the memory back but for the leading bytes. */
void arena_close(struct arena *arena);
/* In a forked child: gives up the parent's file without touching it. */
void arena_forget(struct arena *arena);
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

/* The same arena from another process: maps what there is, more with each refresh. */
struct arena_view {
    char *base;
    size_t size;
    uint64_t origin; /* `base` of the process that it belongs to */
    int fd;          /* -1: this process's own */
};

int arena_view_open(struct arena_view *view, const char *path);
void arena_view_close(struct arena_view *view);
/* Maps what the file has grown by. */
void arena_view_refresh(struct arena_view *view);
/* Whether the process that it belongs to lives. */
bool arena_view_is_alive(const struct arena_view *view);
/* Where an address of the other process is in this one; NULL stays NULL. */
static inline void *arena_view_at(const struct arena_view *view, const void *address)
{
    return address ? (char *)(uintptr_t)address - (uintptr_t)view->origin + (uintptr_t)view->base : NULL;
}

#endif
