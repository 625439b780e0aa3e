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
#include <sys/syscall.h>
#include <unistd.h>

#define MIB ((size_t)1024 * 1024)
#define PREFIX "tensorboard-darshan-"
#define ARENA_MAGIC "DSHNREC1"

static const size_t growth_min = MIB / 4, growth_max = 4 * MIB;
enum { HIGH_DESCRIPTOR = 700, ATTEMPTS = 100 };

static bool is_held(int directory, const char *name)
{
    int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    bool held = flock(fd, LOCK_SH | LOCK_NB) != 0;
    close(fd);
    return held;
}

/* Removes arenas that no living process holds: whoever uses one holds a lock on it. Those of ended
 * children stay while the leader of their session lives, who has yet to read them. */
static void remove_leftovers(const char *directory)
{
    DIR *entries = opendir(directory);
    if (entries == NULL)
        return;
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        struct stat status;
        char leader[NAME_MAX + 1];
        if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) != 0)
            continue;
        snprintf(leader, sizeof(leader), "%s", entry->d_name);
        leader[strcspn(leader, ".")] = '\0';
        if (fstatat(dirfd(entries), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
            !is_held(dirfd(entries), leader) && !is_held(dirfd(entries), entry->d_name))
            unlinkat(dirfd(entries), entry->d_name, 0);
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

/* Maps over addresses of an arena; `fd` -1 gives zeroed memory. NOTE: by system call, since thread
 * sanitizers take a mapping for a write, and latecomers may look at a lock at that moment: they find
 * it as it was or free, and leave when they see that their recording is over. */
static bool map_over(char *at, size_t size, int protection, int fd, size_t offset)
{
    int flags = MAP_FIXED | (fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
    return syscall(SYS_mmap, at, size, protection, flags, fd, offset) != -1;
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
    if (!map_over(arena->base + arena->capacity, added, PROT_READ | PROT_WRITE, arena->fd,
                  arena->capacity))
        return -errno;
    arena->capacity = capacity;
    return 0;
}

/* A file of its own name, locked before anyone else can find it unlocked and remove it. */
static int create_file(struct arena *arena, const char *directory, const char *session, bool leads)
{
    struct stat status;
    for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
        if (leads)
            snprintf(arena->path, sizeof(arena->path), "%s/" PREFIX "%s", directory, session);
        else
            snprintf(arena->path, sizeof(arena->path), "%s/" PREFIX "%s.%d.%u", directory, session,
                     getpid(), attempt);
        int fd = open(arena->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0 && errno == EEXIST && !leads)
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
        unlink(arena->path); /* someone was just looking whether it is a leftover */
        close(fd);
    }
    return -EEXIST;
}

static bool has_leader(const char *directory, const char *session)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/" PREFIX "%s", directory, session);
    return access(path, F_OK) == 0;
}

static int open_in(struct arena *arena, const char *directory, const char *session, bool leads)
{
    if (leads)
        remove_leftovers(directory);
    else if (!has_leader(directory, session))
        return -ENOENT; /* nobody would read it, nor remove it */
    int error = create_file(arena, directory, session, leads);
    if (error != 0)
        return error;
    error = grow(arena, growth_min);
    if (error != 0) {
        unlink(arena->path);
        close(arena->fd);
        return error;
    }
    struct arena_head *head = (struct arena_head *)arena->base;
    memcpy(head->magic, ARENA_MAGIC, sizeof(head->magic));
    head->pid = getpid();
    head->parent = getppid();
    head->base = (uint64_t)(uintptr_t)arena->base;
    arena->used = ARENA_LEADING;
    return 0;
}

static int reserve_addresses(struct arena *arena)
{
    if (arena->base != NULL)
        return 0; /* kept from the last time */
    for (arena->reserved = 65536 * MIB; arena->reserved >= 256 * MIB; arena->reserved /= 4) {
        void *base = mmap(NULL, arena->reserved, PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (base != MAP_FAILED) {
            arena->base = base;
            return 0;
        }
    }
    return -ENOMEM;
}

/* Gives the pages back, but not the addresses, and leaves the leading bytes readable. */
static void clear_addresses(struct arena *arena)
{
    map_over(arena->base, ARENA_LEADING, PROT_READ | PROT_WRITE, -1, 0);
    map_over(arena->base + ARENA_LEADING, arena->reserved - ARENA_LEADING, PROT_NONE, -1, 0);
    arena->capacity = 0;
    arena->used = 0;
}

int arena_open(struct arena *arena, const char *directory, size_t ceiling, const char *session,
               bool leads)
{
    const char *temporary = getenv("TMPDIR");
    const char *places[] = {"/dev/shm", temporary && *temporary ? temporary : "/tmp"};
    arena->ceiling = ceiling;
    arena->capacity = arena->used = 0;
    atomic_store(&arena->lock, 0);
    int error = reserve_addresses(arena);
    if (error != 0)
        return error;
    error = -ENOENT;
    if (directory != NULL)
        error = open_in(arena, directory, session, leads);
    for (size_t i = 0; directory == NULL && error != 0 && i < 2; i++)
        error = open_in(arena, places[i], session, leads);
    if (error != 0)
        clear_addresses(arena);
    return error;
}

static void close_file(struct arena *arena)
{
    struct stat status;
    if (fstat(arena->fd, &status) == 0 && status.st_dev == arena->device &&
        status.st_ino == arena->inode)
        close(arena->fd);
}

void arena_close(struct arena *arena)
{
    unlink(arena->path);
    close_file(arena);
    clear_addresses(arena);
}

void arena_forget(struct arena *arena)
{
    close_file(arena);
    clear_addresses(arena);
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

int arena_view_open(struct arena_view *view, const char *path)
{
    struct arena_head head;
    struct stat status;
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return -errno;
    if (fstat(fd, &status) != 0 || status.st_uid != geteuid() || status.st_size < ARENA_LEADING ||
        pread(fd, &head, sizeof(head), 0) != sizeof(head) || head.base == 0 ||
        memcmp(head.magic, ARENA_MAGIC, sizeof(head.magic)) != 0) {
        close(fd);
        return -EINVAL;
    }
    size_t size = (size_t)status.st_size;
    void *base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED) {
        close(fd);
        return -ENOMEM;
    }
    *view = (struct arena_view){base, size, head.base, fd};
    return 0;
}

void arena_view_close(struct arena_view *view)
{
    munmap(view->base, view->size);
    close(view->fd);
    view->base = NULL;
}

void arena_view_refresh(struct arena_view *view)
{
    struct stat status;
    if (view->fd < 0 || fstat(view->fd, &status) != 0 || (size_t)status.st_size <= view->size)
        return;
    void *base = mremap(view->base, view->size, (size_t)status.st_size, MREMAP_MAYMOVE);
    if (base == MAP_FAILED)
        return;
    view->base = base;
    view->size = (size_t)status.st_size;
}

bool arena_view_is_alive(const struct arena_view *view)
{
    if (view->fd < 0)
        return true;
    if (flock(view->fd, LOCK_SH | LOCK_NB) != 0)
        return true;
    flock(view->fd, LOCK_UN);
    return false;
}
