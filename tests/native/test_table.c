/* Names, descriptors and streams find their records; ceilings send the rest to one record. */
#include "table.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { MANY = 200000, SOME = 20000 };

static struct arena arena;
static struct table table;
static _Atomic uint32_t refused;
static int asked; /* alignments */

static int32_t alignment(void *context, const char *name)
{
    asked++;
    return *(int32_t *)context + (*name == '<' ? -1 : 0);
}

static struct file *file_of(const char *name, bool create)
{
    static int32_t answer = 512;
    return table_file(&table, name, strlen(name), create, alignment, &answer);
}

static void begin(size_t memory, uint32_t ceiling, int32_t mmaps)
{
    asked = 0;
    EQUAL(arena_open(&arena, NULL, memory, test_session(), true), 0);
    EQUAL(table_open(&table, &arena, ceiling, &refused, mmaps), 0);
}

static void end(void)
{
    table_close(&table);
    arena_close(&arena);
}

static void test_a_name_is_one_file(void)
{
    begin((size_t)64 << 20, 1000, -1);
    CHECK(file_of("/a", false) == NULL);
    struct file *a = file_of("/a", true), *b = file_of("/b", true);
    CHECK(a != NULL && b != NULL && a != b);
    CHECK(file_of("/a", true) == a && file_of("/a", false) == a);
    CHECK(strcmp(a->name, "/a") == 0);
    EQUAL(a->name_length, 2);
    EQUAL(a->alignment, 512);
    EQUAL(asked, 2); /* once for each file */
    CHECK(table_file(&table, "/abc", 2, false, alignment, NULL) == a); /* names have a length */
    struct slot *posix = table_slot(&table, a, POSIX_MODULE);
    struct slot *stdio = table_slot(&table, a, STDIO_MODULE);
    CHECK(posix != NULL && stdio != NULL && posix != stdio);
    CHECK(posix->file == a && stdio->file == a);
    CHECK(table_slot(&table, a, POSIX_MODULE) == posix);
    CHECK(table_slot_at(&table, POSIX_MODULE, posix->index) == posix);
    EQUAL(posix->posix.file_alignment, 512);
    EQUAL(posix->posix.mmaps, -1);
    EQUAL(posix->posix.last_direction, NO_DIRECTION);
    EQUAL(refused, 0);
    end();
}

/* Records stay where they are while there come to be many. */
static void test_many_files(void)
{
    static struct slot *slots[MANY];
    const int many = getenv("SLOW_MACHINE") ? SOME : MANY;
    char name[64];
    begin((size_t)1 << 30, MANY, 0);
    for (int i = 0; i < many; i++) {
        snprintf(name, sizeof(name), "/data/train/%d.jpg", i);
        slots[i] = table_slot(&table, file_of(name, true), i % 10 ? POSIX_MODULE : STDIO_MODULE);
        CHECK(slots[i] != NULL);
        if (i % 10)
            slots[i]->posix.opens = i;
    }
    EQUAL(refused, 0);
    for (int i = 0; i < many; i++) {
        enum module module = i % 10 ? POSIX_MODULE : STDIO_MODULE;
        snprintf(name, sizeof(name), "/data/train/%d.jpg", i);
        struct file *file = file_of(name, false);
        CHECK(file != NULL && file->slots[module] == slots[i]);
        CHECK(table_slot_at(&table, module, slots[i]->index) == slots[i]);
        CHECK(i % 10 == 0 || slots[i]->posix.opens == i);
    }
    CHECK(arena.used / (size_t)many < 900); /* bytes a file */
    end();
}

static void test_more_files_than_allowed(void)
{
    char name[64];
    struct slot *other = NULL;
    begin((size_t)64 << 20, 10, 0);
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof(name), "/f%d", i);
        struct slot *slot = table_slot(&table, file_of(name, true), POSIX_MODULE);
        CHECK(slot != NULL);
        slot->posix.opens++;
        if (i >= 10) {
            CHECK(other == NULL || other == slot);
            other = slot;
        }
    }
    EQUAL(refused, 90);
    CHECK(other != NULL && strcmp(other->file->name, "<other files>") == 0);
    EQUAL(other->posix.opens, 90);
    CHECK(file_of("/f5", true) != other->file); /* known ones stay known */
    CHECK(file_of("/f50", false) == NULL);
    end();
}

static void test_no_more_memory(void)
{
    char name[64];
    begin((size_t)3 << 20, 1000000, 0);
    int64_t opens = 0, own = 0;
    for (int i = 0; i < 20000; i++) {
        snprintf(name, sizeof(name), "/some/longer/name/of/a/file/%d", i);
        struct slot *slot = table_slot(&table, file_of(name, true), POSIX_MODULE);
        CHECK(slot != NULL);
        slot->posix.opens++;
        own += slot->file != table.other;
    }
    for (uint32_t i = 0; i < table.modules[POSIX_MODULE].n; i++)
        opens += table_slot_at(&table, POSIX_MODULE, i)->posix.opens;
    EQUAL(opens, 20000); /* nothing is lost */
    CHECK(own > 1000 && own < 20000);
    EQUAL(refused, 20000 - own);
    end();
}

static void test_descriptors(void)
{
    begin((size_t)64 << 20, 100, 0);
    struct slot *a = table_slot(&table, file_of("/a", true), POSIX_MODULE);
    struct slot *b = table_slot(&table, file_of("/b", true), POSIX_MODULE);
    CHECK(table_descriptor(&table, 5) == NULL);
    table_map_descriptor(&table, 5, a);
    table_map_descriptor(&table, DESCRIPTORS_MAX - 1, a);
    CHECK(table_descriptor(&table, 5) == a);
    table_map_descriptor(&table, 5, b); /* replaces: mappings do not stack up */
    CHECK(table_descriptor(&table, 5) == b);
    CHECK(table_unmap_descriptor(&table, 5) == b);
    CHECK(table_descriptor(&table, 5) == NULL && table_unmap_descriptor(&table, 5) == NULL);
    static const int impossible[] = {-1, -100, DESCRIPTORS_MAX, 0x7fffffff};
    for (size_t i = 0; i < sizeof(impossible) / sizeof(*impossible); i++) {
        table_map_descriptor(&table, impossible[i], a);
        CHECK(table_descriptor(&table, impossible[i]) == NULL);
        CHECK(table_unmap_descriptor(&table, impossible[i]) == NULL);
    }
    end();
    begin((size_t)64 << 20, 100, 0); /* the next recording knows nothing of it */
    CHECK(table_descriptor(&table, DESCRIPTORS_MAX - 1) == NULL);
    end();
}

static void test_streams(void)
{
    begin((size_t)64 << 20, 100, 0);
    struct slot *a = table_slot(&table, file_of("/a", true), STDIO_MODULE);
    FILE *one = fopen("/dev/null", "r"), *other = fopen("/dev/null", "r");
    CHECK(one != NULL && other != NULL);
    table_map_stream(&table, one, a);
    CHECK(table_stream(&table, one) == a && table_stream(&table, other) == NULL);
    CHECK(table_unmap_stream(&table, other) == NULL && table_stream(&table, one) == a);
    int number = other->_fileno;
    other->_fileno = one->_fileno; /* another stream with the same descriptor */
    CHECK(table_stream(&table, other) == NULL && table_unmap_stream(&table, other) == NULL);
    other->_fileno = number;
    CHECK(table_unmap_stream(&table, one) == a && table_stream(&table, one) == NULL);
    FILE *memory = fmemopen(NULL, 100, "w+"); /* has no descriptor */
    table_map_stream(&table, memory, a);
    CHECK(table_stream(&table, memory) == NULL && table_stream(&table, NULL) == NULL);
    fclose(memory);
    fclose(one);
    fclose(other);
    end();
}

int main(void)
{
    test_a_name_is_one_file();
    test_many_files();
    test_more_files_than_allowed();
    test_no_more_memory();
    test_descriptors();
    test_streams();
    return checks_result();
}
