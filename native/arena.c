#include "arena.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define MIB ((size_t)1024 * 1024)
#define PREFIX "tensorboard-darshan-"

static const size_t growth_min = MIB / 4, growth_max = 4 * MIB;
enum { HIGH_DESCRIPTOR = 700, ATTEMPTS = 100, LEADING = 64 };

struct arena_head {
    char magic[8];
    int64_t pid;
};

/* Removes arenas that no living process holds: whoever uses one holds a lock on it. */
static void remove_leftovers(const char *directory)
{
    DIR *entries = opendir(directory);
    if (entries == NULL)
        return;
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        struct stat status;
        if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) != 0)
            continue;
        int fd = openat(dirfd(entries), entry->d_name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
        if (fd < 0)
            continue;
        if (fstat(fd, &status) == 0 && status.st_uid == geteuid() &&
            flock(fd, LOCK_EX | LOCK_NB) == 0)
            unlinkat(dirfd(entries), entry->d_name, 0);
        close(fd);
    }
    closedir(entries);
}

/* NOTE: a file that passes RLIMIT_FSIZE would get the process a signal that ends it. */
static int reserve(int fd, size_t offset, size_t size)
{
    struct rlimit limit;
    int error;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && offset + size > limit.rlim_cur)
        return EFBIG;
    do
        error = posix_fallocate(fd, (off_t)offset, (off_t)size);
    while (error == EINTR);
    return error;
}

static int grow(struct arena *arena, size_t capacity)
{
    struct stat status;
    size_t added = capacity - arena->capacity;
    if (capacity > arena->ceiling || capacity > arena->reserved)
        return -ENOMEM;
    if (fstat(arena->fd, &status) != 0 || status.st_dev != arena->device ||
        status.st_ino != arena->inode)
        return -EBADF;
    int error = reserve(arena->fd, arena->capacity, added);
    if (error != 0)
        return -error;
    void *piece = mmap(arena->base + arena->capacity, added, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_FIXED, arena->fd, (off_t)arena->capacity);
    if (piece == MAP_FAILED)
        return -errno;
    arena->capacity = capacity;
    return 0;
}

/* A file of its own name, locked before anyone else can find it unlocked and remove it. */
static int create_file(struct arena *arena, const char *directory)
{
    struct stat status;
    for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
        unsigned salt = (unsigned)getpid() * 2654435761u + attempt * 40503u;
        snprintf(arena->path, sizeof(arena->path), "%s/" PREFIX "%d-%08x", directory, getpid(),
                 salt);
        int fd = open(arena->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0 && errno == EEXIST)
            continue;
        if (fd < 0)
            return -errno;
        int high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR);
        if (high >= 0) {
            close(fd);
            fd = high;
        }
        if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &status) == 0 && status.st_nlink == 1) {
            arena->fd = fd;
            arena->device = status.st_dev;
            arena->inode = status.st_ino;
            return 0;
        }
        close(fd);
    }
    return -EEXIST;
}

static int open_in(struct arena *arena, const char *directory)
{
    remove_leftovers(directory);
    int error = create_file(arena, directory);
    if (error != 0)
        return error;
    error = grow(arena, growth_min);
    if (error != 0) {
        unlink(arena->path);
        close(arena->fd);
        return error;
    }
    struct arena_head *head = (struct arena_head *)arena->base;
    memcpy(head->magic, "DSHNREC1", sizeof(head->magic));
    head->pid = getpid();
    arena->used = LEADING;
    return 0;
}

int arena_open(struct arena *arena, const char *directory, size_t ceiling)
{
    const char *temporary = getenv("TMPDIR");
    const char *places[] = {"/dev/shm", temporary && *temporary ? temporary : "/tmp"};
    memset(arena, 0, sizeof(*arena));
    arena->ceiling = ceiling;
    for (arena->reserved = 65536 * MIB; arena->reserved >= 256 * MIB; arena->reserved /= 4) {
        arena->base = mmap(NULL, arena->reserved, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (arena->base != MAP_FAILED)
            break;
    }
    if (arena->base == MAP_FAILED)
        return -ENOMEM;
    int error = -ENOENT;
    if (directory != NULL)
        error = open_in(arena, directory);
    for (size_t i = 0; directory == NULL && error != 0 && i < 2; i++)
        error = open_in(arena, places[i]);
    if (error != 0)
        munmap(arena->base, arena->reserved);
    return error;
}

void arena_close(struct arena *arena)
{
    struct stat status;
    unlink(arena->path);
    if (fstat(arena->fd, &status) == 0 && status.st_dev == arena->device &&
        status.st_ino == arena->inode)
        close(arena->fd);
    munmap(arena->base, arena->reserved);
    arena->base = NULL;
}

void *arena_allocate(struct arena *arena, size_t size)
{
    void *address = NULL;
    size_t alignment = size % CACHE_LINE == 0 ? CACHE_LINE : 16;
    spin_acquire(&arena->lock);
    size_t start = (arena->used + alignment - 1) & ~(alignment - 1);
    size_t wanted = start + size;
    if (wanted > arena->capacity) {
        size_t growth = arena->capacity < growth_max ? growth_min : growth_max;
        size_t capacity = (wanted + growth - 1) / growth * growth;
        if (capacity > arena->ceiling)
            capacity = arena->ceiling;
        /* what failed once is not tried again: nobody waits for it at every call */
        if (capacity >= wanted && grow(arena, capacity) != 0)
            arena->ceiling = arena->capacity;
    }
    if (wanted <= arena->capacity) {
        address = arena->base + start;
        arena->used = wanted;
    }
    spin_release(&arena->lock);
    return address;
}

size_t arena_used(struct arena *arena)
{
    spin_acquire(&arena->lock);
    size_t used = arena->used;
    spin_release(&arena->lock);
    return used;
}
