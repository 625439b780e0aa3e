/* Traced accesses: bounded, what does not fit is counted, memory is used again. */
#include "segments.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

static struct arena arena;
static struct segments segments;
static struct segment_chunk *shards[3];

static void begin(uint64_t allowed)
{
    memset(&segments, 0, sizeof(segments));
    memset(shards, 0, sizeof(shards));
    segments.allowed = allowed;
}

static void add(int shard, int64_t order)
{
    struct segment segment = {.slot = (uint32_t)shard, .order = order, .offset = 7 * order};
    segments_add(&segments, &arena, &shards[shard], &segment);
}

static void recycle(struct segment_chunk *chunks)
{
    struct segment_chunk **end = &chunks;
    uint64_t n = 0;
    for (; *end != NULL; end = &(*end)->next)
        n += (*end)->n;
    if (n > 0)
        segments_recycle(&segments, chunks, end, n);
}

static struct segment_chunk *drain(void)
{
    for (int i = 0; i < 3; i++)
        segments_flush(&segments, &shards[i]);
    return segments_take(&segments);
}

/* How many there are of a shard; checks that each is whole. */
static int64_t count(const struct segment_chunk *chunks, uint32_t shard)
{
    int64_t n = 0;
    for (; chunks != NULL; chunks = chunks->next) {
        CHECK(chunks->n <= SEGMENTS_PER_CHUNK);
        for (uint32_t i = 0; i < chunks->n; i++) {
            CHECK(chunks->segments[i].offset == 7 * chunks->segments[i].order);
            n += chunks->segments[i].slot == shard;
        }
    }
    return n;
}

static void test_all_that_fit_are_kept(void)
{
    begin(1000);
    for (int64_t i = 0; i < 300; i++)
        add((int)(i % 3), i);
    struct segment_chunk *chunks = drain();
    for (uint32_t shard = 0; shard < 3; shard++)
        EQUAL(count(chunks, shard), 100);
    EQUAL(segments.dropped, 0);
    EQUAL(segments.allowed, 700);
    recycle(chunks);
    CHECK(segments_take(&segments) == NULL);
    CHECK(drain() == NULL);
}

static void test_bound_is_exact(void)
{
    static const uint64_t bounds[] = {1, 100, 127, 128, 129, 1000};
    for (size_t i = 0; i < sizeof(bounds) / sizeof(*bounds); i++) {
        begin(bounds[i]);
        for (int64_t order = 0; order < 1500; order++)
            add(0, order);
        struct segment_chunk *chunks = drain();
        EQUAL(count(chunks, 0), bounds[i]);
        EQUAL(segments.dropped, 1500 - bounds[i]);
        recycle(chunks);
        EQUAL(segments.allowed, bounds[i]); /* the bound is on what waits to be taken */
        add(0, 1);
        EQUAL(segments.dropped, 1500 - bounds[i]);
    }
}

static void test_nothing_is_kept_where_nothing_may(void)
{
    size_t used = arena.used;
    begin(0);
    add(0, 1);
    EQUAL(segments.dropped, 1);
    EQUAL(arena.used, used);
    CHECK(drain() == NULL);
}

static void test_memory_is_used_again(void)
{
    begin(1000000);
    size_t used = 0;
    for (int round = 0; round < 50; round++) {
        for (int64_t order = 0; order < 5 * SEGMENTS_PER_CHUNK; order++)
            add(round % 3, order);
        struct segment_chunk *chunks = drain();
        EQUAL(count(chunks, (uint32_t)(round % 3)), 5 * SEGMENTS_PER_CHUNK);
        recycle(chunks);
        if (round > 0)
            EQUAL(arena.used, used);
        used = arena.used;
    }
}

static void test_full_arena_drops(void)
{
    begin(1000000);
    arena.ceiling = arena.used;
    while (arena_allocate(&arena, 16) != NULL)
        ;
    add(0, 1);
    EQUAL(segments.dropped, 1);
    CHECK(shards[0] == NULL);
}

int main(void)
{
    EQUAL(arena_open(&arena, NULL, (size_t)64 << 20, test_session(), true), 0);
    test_all_that_fit_are_kept();
    test_bound_is_exact();
    test_nothing_is_kept_where_nothing_may();
    test_memory_is_used_again();
    test_full_arena_drops();
    arena_close(&arena);
    return checks_result();
}
