/* Calls on descriptors and names; see errno_cases.h. */
#include "errno_cases.h"

teller *tell;

int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int directory, const char *path, int flags);
int __openat64_2(int directory, const char *path, int flags);
ssize_t __read_chk(int fd, void *to, size_t size, size_t room);
ssize_t __pread_chk(int fd, void *to, size_t size, off_t offset, size_t room);
ssize_t __pread64_chk(int fd, void *to, size_t size, off_t offset, size_t room);
int __xstat(int version, const char *path, struct stat *out);
int __lxstat(int version, const char *path, struct stat *out);
int __fxstat(int version, int fd, struct stat *out);
int __xstat64(int version, const char *path, struct stat64 *out);
int __lxstat64(int version, const char *path, struct stat64 *out);
int __fxstat64(int version, int fd, struct stat64 *out);
int __fxstatat(int version, int directory, const char *path, struct stat *out, int flags);
int __fxstatat64(int version, int directory, const char *path, struct stat64 *out, int flags);
WEAK(__xstat) WEAK(__lxstat) WEAK(__fxstat) WEAK(__xstat64) WEAK(__lxstat64) WEAK(__fxstat64)
WEAK(__fxstatat) WEAK(__fxstatat64) WEAK(stat) WEAK(lstat) WEAK(fstat) WEAK(fstatat)
WEAK(stat64) WEAK(lstat64) WEAK(fstat64) WEAK(fstatat64) WEAK(close_range) WEAK(closefrom)

static char buffer[8192];
static struct iovec parts[2] = {{buffer, 10}, {buffer + 10, 20}};
static int fd;

static void opens(void)
{
    OPENS_CLOSES(open, open("new", O_CREAT | O_RDWR, 0600));
    OPENS_CLOSES(open, open("missing/x", O_RDONLY));
    OPENS_CLOSES(open, open(NULL, O_RDONLY));
    OPENS_CLOSES(open64, open64("data", O_RDWR));
    OPENS_CLOSES(open64, open64("data", O_CREAT | O_EXCL, 0600));
    OPENS_CLOSES(openat, openat(AT_FDCWD, "data", O_RDONLY));
    OPENS_CLOSES(openat, openat(NO_FD, "data", O_RDONLY));
    OPENS_CLOSES(openat64, openat64(AT_FDCWD, "data", O_RDONLY));
    OPENS_CLOSES(openat64, openat64(AT_FDCWD, "data/x", O_RDONLY));
    OPENS_CLOSES(__open_2, __open_2("data", O_RDONLY));
    OPENS_CLOSES(__open_2, __open_2("missing", O_RDONLY));
    OPENS_CLOSES(__open64_2, __open64_2("data", O_RDONLY));
    OPENS_CLOSES(__open64_2, __open64_2("missing", O_RDONLY));
    OPENS_CLOSES(__openat_2, __openat_2(AT_FDCWD, "data", O_RDONLY));
    OPENS_CLOSES(__openat_2, __openat_2(AT_FDCWD, "missing", O_RDONLY));
    OPENS_CLOSES(__openat64_2, __openat64_2(AT_FDCWD, "data", O_RDONLY));
    OPENS_CLOSES(__openat64_2, __openat64_2(NO_FD, "missing", O_RDONLY));
    OPENS_CLOSES(creat, creat("new", 0600));
    OPENS_CLOSES(creat, creat("missing/x", 0600));
    OPENS_CLOSES(creat64, creat64("new", 0600));
    OPENS_CLOSES(creat64, creat64(".", 0600));
}

#define TEMPORARY(name, ...)                                                                       \
    do {                                                                                           \
        char good[] = "t-XXXXXX__", bad[] = "t-XX", *path = good;                                  \
        if (strchr(#name, 's') && !strstr(#name, "temps"))                                         \
            good[8] = '\0';                                                                        \
        OPENS_CLOSES(name, name(path __VA_ARGS__));                                                \
        path = bad;                                                                                \
        OPENS_CLOSES(name, name(path __VA_ARGS__));                                                \
    } while (0)

static void temporaries(void)
{
    TEMPORARY(mkstemp);
    TEMPORARY(mkstemp64);
    TEMPORARY(mkostemp, , O_CLOEXEC);
    TEMPORARY(mkostemp64, , O_CLOEXEC);
    TEMPORARY(mkstemps, , 2);
    TEMPORARY(mkstemps64, , 2);
    TEMPORARY(mkostemps, , 2, O_CLOEXEC);
    TEMPORARY(mkostemps64, , 2, O_CLOEXEC);
}

static void copies_of_descriptors(void)
{
    int data = open("data", O_RDWR);
    OPENS_CLOSES(dup, dup(data));
    OPENS_CLOSES(dup, dup(NO_FD));
    OPENS_CLOSES(dup2, dup2(data, 500));
    OPENS_CLOSES(dup2, dup2(NO_FD, 500));
    OPENS_CLOSES(dup3, dup3(data, 500, O_CLOEXEC));
    OPENS_CLOSES(dup3, dup3(data, data, 0));
    OPENS_CLOSES(fcntl, fcntl(data, F_DUPFD, 500));
    OPENS_CLOSES(fcntl, fcntl(NO_FD, F_DUPFD_CLOEXEC, 500));
    CASE(fcntl, fcntl(data, F_GETFL) & O_ACCMODE);
    CASE(fcntl, fcntl(data, -5));
    OPENS_CLOSES(fcntl64, fcntl64(data, F_DUPFD, 500));
    OPENS_CLOSES(fcntl64, fcntl64(NO_FD, F_DUPFD, 500));
    CASE(close, close(data));
    CASE(close, close(NO_FD));
    int first = dup2(open("data", O_RDWR), 900);
    dup2(first, 901);
    CASE(close_range, close_range(900, 901, 0));
    CASE(close_range, close_range(901, 900, 0));
    CASE(closefrom, (closefrom(950), 0));
}

#define BOTH(name, good, bad)                                                                      \
    CASE(name, name good);                                                                         \
    CASE(name, name bad)

static void transfers(void)
{
    int data = open("data", O_RDWR), pipes[2], none = NO_FD;
    BOTH(write, (data, buffer, 5000), (none, buffer, 10));
    BOTH(lseek, (data, 0, SEEK_SET), (data, -1, SEEK_SET));
    BOTH(lseek64, (data, 10, SEEK_SET), (data, 0, 77));
    BOTH(read, (data, buffer, 10), (none, buffer, 10));
    CASE(read, read(data, (void *)1, 10));
    BOTH(readv, (data, parts, 2), (data, parts, -1));
    BOTH(writev, (data, parts, 2), (none, parts, 2));
    BOTH(pread, (data, buffer, 10, 0), (data, buffer, 10, -1));
    BOTH(pread64, (data, buffer, 10, 0), (none, buffer, 10, 0));
    BOTH(pwrite, (data, buffer, 10, 0), (data, buffer, 10, -1));
    BOTH(pwrite64, (data, buffer, 10, 0), (none, buffer, 10, 0));
    BOTH(preadv, (data, parts, 2, 0), (data, parts, 2, -5));
    BOTH(preadv64, (data, parts, 2, 0), (none, parts, 2, 0));
    BOTH(pwritev, (data, parts, 2, 0), (data, parts, 2, -5));
    BOTH(pwritev64, (data, parts, 2, 0), (none, parts, 2, 0));
    BOTH(preadv2, (data, parts, 2, -1, 0), (data, parts, 2, 0, 1 << 20));
    BOTH(preadv64v2, (data, parts, 2, 0, 0), (none, parts, 2, 0, 0));
    BOTH(pwritev2, (data, parts, 2, -1, 0), (data, parts, 2, 0, 1 << 20));
    BOTH(pwritev64v2, (data, parts, 2, 0, 0), (none, parts, 2, 0, 0));
    BOTH(__read_chk, (data, buffer, 10, sizeof(buffer)), (none, buffer, 10, sizeof(buffer)));
    BOTH(__pread_chk, (data, buffer, 10, 0, sizeof(buffer)), (data, buffer, 10, -1, 100));
    BOTH(__pread64_chk, (data, buffer, 10, 0, sizeof(buffer)), (none, buffer, 10, 0, 100));
    BOTH(fsync, (data), (none));
    BOTH(fdatasync, (data), (none));
    BOTH(ftruncate, (data, 4000), (data, -1));
    BOTH(ftruncate64, (data, 4000), (none, 0));
    int other = open("other", O_CREAT | O_RDWR, 0600);
    off_t from = 0, to = 0;
    BOTH(copy_file_range, (data, &from, other, &to, 100, 0), (data, NULL, none, NULL, 100, 0));
    BOTH(sendfile, (other, data, &from, 100), (other, none, NULL, 100));
    BOTH(sendfile64, (other, data, NULL, 100), (none, data, NULL, 100));
    CASE(pipe, pipe(pipes));
    BOTH(splice, (data, &from, pipes[1], NULL, 100, 0), (data, NULL, other, NULL, 100, 0));
    close(pipes[0]), close(pipes[1]);
    POINTS(mmap, munmap(mmap(NULL, 4096, PROT_READ, MAP_SHARED, data, 0), 4096) ? NULL : buffer);
    CASE(mmap, mmap(NULL, 4096, PROT_READ, MAP_SHARED, none, 0) == MAP_FAILED);
    POINTS(mmap64, mmap64(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    CASE(mmap64, mmap64(NULL, 0, PROT_READ, MAP_SHARED, data, 0) == MAP_FAILED);
    close(data), close(other);
}

static void stats(void)
{
    struct stat plain;
    struct stat64 wide;
    struct statx extended;
    int data = open("data", O_RDONLY), at = AT_FDCWD;
    BOTH(stat, ("data", &plain), ("missing", &plain));
    BOTH(lstat, ("data", &plain), ("missing", &plain));
    BOTH(fstat, (data, &plain), (NO_FD, &plain));
    BOTH(fstatat, (at, "data", &plain, 0), (at, "missing", &plain, 0));
    CASE(fstatat, fstatat(data, "", &plain, AT_EMPTY_PATH));
    BOTH(stat64, ("data", &wide), ("missing", &wide));
    BOTH(lstat64, ("data", &wide), (".", NULL));
    BOTH(fstat64, (data, &wide), (NO_FD, &wide));
    BOTH(fstatat64, (at, "data", &wide, 0), (at, "missing", &wide, 0));
    BOTH(statx, (at, "data", 0, STATX_ALL, &extended), (at, "missing", 0, STATX_ALL, &extended));
    BOTH(__xstat, (1, "data", &plain), (1, "missing", &plain));
    BOTH(__lxstat, (1, "data", &plain), (1, "missing", &plain));
    BOTH(__fxstat, (1, data, &plain), (1, NO_FD, &plain));
    BOTH(__xstat64, (1, "data", &wide), (1, "missing", &wide));
    BOTH(__lxstat64, (1, "data", &wide), (1, "missing", &wide));
    BOTH(__fxstat64, (1, data, &wide), (1, NO_FD, &wide));
    BOTH(__fxstatat, (1, at, "data", &plain, 0), (1, at, "missing", &plain, 0));
    BOTH(__fxstatat64, (1, at, "data", &wide, 0), (1, NO_FD, "missing", &wide, 0));
    close(data);
}

static void names(void)
{
    int at = AT_FDCWD;
    DIR *entries = NULL;
    close(open("a", O_CREAT | O_RDWR, 0600));
    BOTH(rename, ("a", "b"), ("missing", "c"));
    BOTH(renameat, (at, "b", at, "a"), (NO_FD, "b", at, "a"));
    BOTH(renameat2, (at, "a", at, "b", 0), (at, "b", at, "data", RENAME_NOREPLACE));
    BOTH(unlink, ("b"), ("missing"));
    BOTH(mkdir, ("folder", 0700), ("folder", 0700));
    BOTH(mkdirat, (at, "folder/inner", 0700), (at, "missing/inner", 0700));
    BOTH(rmdir, ("folder/inner"), ("missing"));
    close(open("folder/a", O_CREAT | O_RDWR, 0600));
    BOTH(unlinkat, (at, "folder/a", 0), (at, "folder", 0));
    POINTS(opendir, entries = opendir("folder"));
    POINTS(opendir, opendir("missing"));
    POINTS(readdir, readdir(entries));
    POINTS(readdir64, readdir64(entries));
    POINTS(readdir64, readdir64(entries)); /* the end */
    CASE(closedir, closedir(entries));
    CASE(closedir, closedir(NULL));
    BOTH(remove, ("folder"), ("missing"));
}

static void not_files(void)
{
    int pair[2];
    struct sockaddr address;
    socklen_t size = sizeof(address);
    OPENS_CLOSES(socket, socket(AF_UNIX, SOCK_STREAM, 0));
    OPENS_CLOSES(socket, socket(-1, SOCK_STREAM, 0));
    BOTH(socketpair, (AF_UNIX, SOCK_STREAM, 0, pair), (-1, 0, 0, pair));
    OPENS_CLOSES(accept, accept(pair[0], &address, &size));
    OPENS_CLOSES(accept4, accept4(NO_FD, NULL, NULL, 0));
    close(pair[0]), close(pair[1]);
    BOTH(pipe, (pair), (NULL));
    close(pair[0]), close(pair[1]);
    BOTH(pipe2, (pair, O_CLOEXEC), (pair, -1));
    close(pair[0]), close(pair[1]);
    OPENS_CLOSES(eventfd, eventfd(0, 0));
    OPENS_CLOSES(eventfd, eventfd(0, -1));
    OPENS_CLOSES(epoll_create, epoll_create(1));
    OPENS_CLOSES(epoll_create, epoll_create(-1));
    OPENS_CLOSES(epoll_create1, epoll_create1(0));
    OPENS_CLOSES(epoll_create1, epoll_create1(-1));
    OPENS_CLOSES(inotify_init, inotify_init());
    OPENS_CLOSES(inotify_init1, inotify_init1(-1));
    OPENS_CLOSES(memfd_create, memfd_create("name", 0));
    OPENS_CLOSES(memfd_create, memfd_create("name", 1u << 31));
    OPENS_CLOSES(timerfd_create, timerfd_create(CLOCK_MONOTONIC, 0));
    OPENS_CLOSES(timerfd_create, timerfd_create(12345, 0));
}

void run_files(teller *teller)
{
    tell = teller;
    opens();
    temporaries();
    copies_of_descriptors();
    transfers();
    stats();
    names();
    not_files();
}
