#include "segments.h"

static struct segment_chunk *new_chunk(struct segments *segments, struct arena *arena)
{
    struct segment_chunk *chunk = NULL;
    if (atomic_load_explicit(&segments->allowed, memory_order_relaxed) == 0)
        return NULL; /* no lock on the way of what is dropped anyway */
    spin_acquire(&segments->lock);
    uint64_t allowed = atomic_load_explicit(&segments->allowed, memory_order_relaxed);
    if (allowed > 0) {
        chunk = segments->spare;
        if (chunk != NULL)
            segments->spare = chunk->next;
        else
            chunk = arena_allocate(arena, sizeof(*chunk));
    }
    if (chunk != NULL) {
        chunk->n = 0;
        chunk->room = allowed < SEGMENTS_PER_CHUNK ? (uint32_t)allowed : SEGMENTS_PER_CHUNK;
        atomic_fetch_sub_explicit(&segments->allowed, chunk->room, memory_order_relaxed);
    }
    spin_release(&segments->lock);
    return chunk;
}

void segments_flush(struct segments *segments, struct segment_chunk **chunk)
{
    if (*chunk == NULL)
        return;
    spin_acquire(&segments->lock);
    atomic_fetch_add_explicit(&segments->allowed, (*chunk)->room - (*chunk)->n,
                              memory_order_relaxed);
    (*chunk)->next = segments->full;
    segments->full = *chunk;
    spin_release(&segments->lock);
    *chunk = NULL;
}

void segments_add(struct segments *segments, struct arena *arena, struct segment_chunk **chunk,
                  const struct segment *segment)
{
    if (*chunk != NULL && (*chunk)->n == (*chunk)->room)
        segments_flush(segments, chunk);
    if (*chunk == NULL)
        *chunk = new_chunk(segments, arena);
    if (*chunk == NULL) {
        atomic_fetch_add_explicit(&segments->dropped, 1, memory_order_relaxed);
        return;
    }
    (*chunk)->segments[(*chunk)->n++] = *segment;
}

struct segment_chunk *segments_take(struct segments *segments)
{
    struct segment_chunk *taken = segments->full;
    segments->full = NULL;
    return taken;
}

void segments_recycle(struct segments *segments, struct segment_chunk *first,
                      struct segment_chunk **end, uint64_t n)
{
    *end = segments->spare;
    segments->spare = first;
    atomic_fetch_add_explicit(&segments->allowed, n, memory_order_relaxed);
}
