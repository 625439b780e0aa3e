/* The arena: grows without moving, tells when it cannot, leaves nothing behind.
 *
 * Usage: test_arena DIRECTORY [TINY], an empty directory and one of a file system of 2 MiB. */
#include "arena.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "check.h"

#define MIB ((size_t)1 << 20)

static struct arena arena;
static const char *directory;

static bool exists(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0;
}

static void test_grows_without_moving(void)
{
    EQUAL(arena_open(&arena, directory, 40 * MIB, test_session(), true), 0);
    const char *base = arena.base;
    char *pieces[300];
    for (int i = 0; i < 300; i++) {
        pieces[i] = arena_allocate(&arena, 100000);
        CHECK(pieces[i] != NULL && pieces[i][0] == 0 && pieces[i][99999] == 0);
        EQUAL((uintptr_t)pieces[i] % 16, 0);
        memset(pieces[i], i % 255 + 1, 100000);
    }
    CHECK(arena.base == base && arena.capacity > 28 * MIB);
    for (int i = 0; i < 300; i++)
        CHECK(pieces[i][0] == (char)(i % 255 + 1) && pieces[i][99999] == (char)(i % 255 + 1));
    EQUAL(arena_offset(&arena, arena_at(&arena, 12345)), 12345);
    CHECK(arena_at(&arena, 0) == NULL);
    EQUAL((uintptr_t)arena_allocate(&arena, 640) % CACHE_LINE, 0);
    arena_close(&arena);
}

static void test_file_is_private_and_goes(void)
{
    struct stat status;
    EQUAL(arena_open(&arena, directory, 4 * MIB, test_session(), true), 0);
    CHECK(strncmp(arena.path, directory, strlen(directory)) == 0);
    EQUAL(stat(arena.path, &status), 0);
    EQUAL(status.st_mode & 0777, 0600);
    EQUAL(fcntl(arena.fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    CHECK(arena.fd > 2);
    arena_close(&arena);
    CHECK(!exists(arena.path));
    CHECK(fcntl(arena.fd, F_GETFD) < 0);
}

static void test_ceiling(void)
{
    EQUAL(arena_open(&arena, directory, 2 * MIB, test_session(), true), 0);
    CHECK(arena_allocate(&arena, 3 * MIB) == NULL);
    CHECK(arena_allocate(&arena, MIB) != NULL);
    CHECK(arena_allocate(&arena, MIB) == NULL);
    CHECK(arena_allocate(&arena, MIB / 2) != NULL); /* what still fits is still given */
    CHECK(arena.capacity <= 2 * MIB);
    arena_close(&arena);
    EQUAL(arena_open(&arena, directory, 1000, test_session(), true), -ENOMEM); /* not even the beginning */
}

static void test_missing_directory(void)
{
    EQUAL(arena_open(&arena, "/nothing/there", MIB, test_session(), true), -ENOENT);
}

static void test_leftovers(void)
{
    char dead[PATH_MAX], held[PATH_MAX], foreign[PATH_MAX];
    snprintf(dead, sizeof(dead), "%s/tensorboard-darshan-1-dead", directory);
    snprintf(held, sizeof(held), "%s/tensorboard-darshan-1-held", directory);
    snprintf(foreign, sizeof(foreign), "%s/something-else", directory);
    close(open(dead, O_CREAT | O_RDWR, 0600));
    close(open(foreign, O_CREAT | O_RDWR, 0600));
    int holder = open(held, O_CREAT | O_RDWR, 0600);
    EQUAL(flock(holder, LOCK_EX), 0);
    EQUAL(arena_open(&arena, directory, 4 * MIB, test_session(), true), 0);
    CHECK(!exists(dead) && exists(held) && exists(foreign) && exists(arena.path));
    static struct arena second; /* the first one lives and is not touched */
    EQUAL(arena_open(&second, directory, 4 * MIB, "other", true), 0);
    CHECK(exists(arena.path) && strcmp(second.path, arena.path) != 0);
    arena_close(&second);
    arena_close(&arena);
    close(holder);
    unlink(held);
    unlink(foreign);
}

/* A child's memory is beside its leader's, or nowhere. */
static void test_children_need_a_leader(void)
{
    static struct arena child;
    struct arena_view view;
    EQUAL(arena_open(&child, directory, 40 * MIB, test_session(), false), -ENOENT);
    EQUAL(arena_open(&arena, directory, 4 * MIB, test_session(), true), 0);
    EQUAL(arena_open(&child, directory, 40 * MIB, test_session(), false), 0);
    CHECK(strncmp(child.path, arena.path, strlen(arena.path)) == 0);
    char *text = arena_allocate(&child, 2 * MIB);
    strcpy(text, "seen by others");
    EQUAL(arena_view_open(&view, child.path), 0);
    CHECK(arena_view_is_alive(&view));
    CHECK(strcmp(arena_view_at(&view, text), "seen by others") == 0);
    char *more = arena_allocate(&child, 5 * MIB);
    strcpy(more, "and this");
    arena_view_refresh(&view);
    CHECK(strcmp(arena_view_at(&view, more), "and this") == 0);
    CHECK(arena_view_at(&view, NULL) == NULL);
    CHECK(view.base != child.base);
    arena_close(&child);
    CHECK(!arena_view_is_alive(&view));
    arena_view_close(&view);
    arena_close(&arena);
    EQUAL(arena_view_open(&view, "/dev/null"), -EINVAL);
    EQUAL(arena_view_open(&view, "/nothing/there"), -ENOENT);
}

/* Programs close descriptors that they did not open, and their numbers come back as other files. */
static void test_program_takes_the_descriptor(void)
{
    char path[PATH_MAX];
    struct stat status;
    snprintf(path, sizeof(path), "%s/victim", directory);
    EQUAL(arena_open(&arena, directory, 40 * MIB, test_session(), true), 0);
    int victim = open(path, O_CREAT | O_RDWR, 0600);
    EQUAL(dup2(victim, arena.fd), arena.fd);
    CHECK(arena_allocate(&arena, 10 * MIB) == NULL);
    CHECK(arena_allocate(&arena, 1000) != NULL);
    EQUAL(fstat(arena.fd, &status), 0);
    EQUAL(status.st_size, 0); /* the program's file did not grow */
    int number = arena.fd;
    arena_close(&arena);
    CHECK(!exists(arena.path));
    CHECK(fcntl(number, F_GETFD) >= 0); /* and is still open */
    close(number);
    close(victim);
    unlink(path);
}

static void on_alarm(int number)
{
    (void)number;
}

static void test_signals_do_not_stop_growth(void)
{
    struct sigaction action = {.sa_handler = on_alarm};
    struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
    sigaction(SIGALRM, &action, NULL);
    EQUAL(arena_open(&arena, directory, 80 * MIB, test_session(), true), 0);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < 60; i++)
        CHECK(arena_allocate(&arena, MIB) != NULL);
    setitimer(ITIMER_REAL, &never, NULL);
    arena_close(&arena);
}

static void test_file_size_limit_is_not_passed(void)
{
    struct rlimit before, limit;
    EQUAL(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 3 * MIB;
    EQUAL(arena_open(&arena, directory, 40 * MIB, test_session(), true), 0);
    EQUAL(setrlimit(RLIMIT_FSIZE, &limit), 0);
    CHECK(arena_allocate(&arena, 3 * MIB) == NULL); /* and no SIGXFSZ */
    EQUAL(setrlimit(RLIMIT_FSIZE, &before), 0);
    arena_close(&arena);
}

static void test_full_file_system(const char *tiny)
{
    EQUAL(arena_open(&arena, tiny, 40 * MIB, test_session(), true), 0);
    int given = 0;
    char *piece;
    while ((piece = arena_allocate(&arena, 1000)) != NULL && given < 40000) {
        memset(piece, 1, 1000);
        given++;
    }
    CHECK(given > 900 && given < 2200); /* no SIGBUS, and no more than there is */
    static struct arena second;
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/filler", tiny);
    int filler = open(path, O_CREAT | O_RDWR, 0600);
    while (write(filler, second.path, sizeof(second.path)) > 0)
        ;
    EQUAL(arena_open(&second, tiny, 40 * MIB, "other", true), -ENOSPC);
    CHECK(!exists(second.path));
    close(filler);
    unlink(path);
    arena_close(&arena);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    directory = argv[1];
    test_grows_without_moving();
    test_file_is_private_and_goes();
    test_ceiling();
    test_missing_directory();
    test_leftovers();
    test_children_need_a_leader();
    test_program_takes_the_descriptor();
    test_signals_do_not_stop_growth();
    test_file_size_limit_is_not_passed();
    if (argc > 2)
        test_full_file_system(argv[2]);
    return checks_result();
}
