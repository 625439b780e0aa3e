/* Wrappers of descriptor calls. Each does the same: is there a recording and is the descriptor
 * tracked? else straight to the real call; clock; real call; clock; report, which keeps errno. */
#include <errno.h>
#include <fcntl.h>

#include "wrap.h"

struct real_calls real;

#define OPEN_MODE(flags, last)                                                                     \
    __extension__({                                                                                \
        mode_t mode_ = 0;                                                                          \
        if (((flags) & O_CREAT) || ((flags) & O_TMPFILE) == O_TMPFILE) {                           \
            va_list values_;                                                                       \
            va_start(values_, last);                                                               \
            mode_ = (mode_t)va_arg(values_, unsigned);                                             \
            va_end(values_);                                                                       \
        }                                                                                          \
        mode_;                                                                                     \
    })

/* Opens by `call`, which yields the descriptor; `path` is read after it, as mkstemp fills it in. */
#define RETURN_OPENED(call, directory, path, mode)                                                 \
    do {                                                                                           \
        struct report report = {.serial = recording()};                                            \
        if (report.serial == 0)                                                                    \
            return (call);                                                                         \
        int opened = TIMED(report, call);                                                          \
        if (opened >= 0)                                                                           \
            report_open(report, opened, directory, path, mode);                                    \
        return opened;                                                                             \
    } while (0)

static inline int32_t creation_mode(int flags, mode_t mode)
{
    return flags & O_CREAT ? (int32_t)mode : 0;
}

int hook_open(const char *path, int flags, ...)
{
    mode_t mode = OPEN_MODE(flags, flags);
    RETURN_OPENED(real.open(path, flags, mode), AT_FDCWD, path, creation_mode(flags, mode));
}

int hook_open64(const char *path, int flags, ...)
{
    mode_t mode = OPEN_MODE(flags, flags);
    RETURN_OPENED(real.open64(path, flags, mode), AT_FDCWD, path, creation_mode(flags, mode));
}

int hook_openat(int directory, const char *path, int flags, ...)
{
    mode_t mode = OPEN_MODE(flags, flags);
    RETURN_OPENED(real.openat(directory, path, flags, mode), directory, path,
                  creation_mode(flags, mode));
}

int hook_openat64(int directory, const char *path, int flags, ...)
{
    mode_t mode = OPEN_MODE(flags, flags);
    RETURN_OPENED(real.openat64(directory, path, flags, mode), directory, path,
                  creation_mode(flags, mode));
}

int hook___open_2(const char *path, int flags)
{
    RETURN_OPENED(real.__open_2(path, flags), AT_FDCWD, path, 0);
}

int hook___open64_2(const char *path, int flags)
{
    RETURN_OPENED(real.__open64_2(path, flags), AT_FDCWD, path, 0);
}

int hook___openat_2(int directory, const char *path, int flags)
{
    RETURN_OPENED(real.__openat_2(directory, path, flags), directory, path, 0);
}

int hook___openat64_2(int directory, const char *path, int flags)
{
    RETURN_OPENED(real.__openat64_2(directory, path, flags), directory, path, 0);
}

int hook_creat(const char *path, mode_t mode)
{
    RETURN_OPENED(real.creat(path, mode), AT_FDCWD, path, (int32_t)mode);
}

int hook_creat64(const char *path, mode_t mode)
{
    RETURN_OPENED(real.creat64(path, mode), AT_FDCWD, path, (int32_t)mode);
}

#define TEMPORARY(name, parameters, arguments)                                                     \
    int hook_##name parameters                                                                     \
    {                                                                                              \
        RETURN_OPENED(real.name arguments, AT_FDCWD, path, 0);                                     \
    }
TEMPORARY(mkstemp, (char *path), (path))
TEMPORARY(mkstemp64, (char *path), (path))
TEMPORARY(mkostemp, (char *path, int flags), (path, flags))
TEMPORARY(mkostemp64, (char *path, int flags), (path, flags))
TEMPORARY(mkstemps, (char *path, int suffix), (path, suffix))
TEMPORARY(mkstemps64, (char *path, int suffix), (path, suffix))
TEMPORARY(mkostemps, (char *path, int suffix, int flags), (path, suffix, flags))
TEMPORARY(mkostemps64, (char *path, int suffix, int flags), (path, suffix, flags))

/* NOTE: the target loses what it was before, also where the source is untracked. */
#define RETURN_DUPLICATE(fd, call)                                                                 \
    do {                                                                                           \
        struct report report;                                                                      \
        struct slot *slot = tracked(&report, fd);                                                  \
        int copy = TIMED(report, call);                                                            \
        if (copy >= 0 && slot != NULL)                                                             \
            report_duplicate(report, slot, copy);                                                  \
        else if (copy >= 0)                                                                        \
            give_up(report.serial, copy);                                                          \
        return copy;                                                                               \
    } while (0)

int hook_dup(int fd)
{
    RETURN_DUPLICATE(fd, real.dup(fd));
}

int hook_dup2(int fd, int to)
{
    RETURN_DUPLICATE(fd, real.dup2(fd, to));
}

int hook_dup3(int fd, int to, int flags)
{
    RETURN_DUPLICATE(fd, real.dup3(fd, to, flags));
}

#define FCNTL(name)                                                                                \
    int hook_##name(int fd, int command, ...)                                                      \
    {                                                                                              \
        va_list values;                                                                            \
        va_start(values, command);                                                                 \
        void *value = va_arg(values, void *);                                                      \
        va_end(values);                                                                            \
        if (command != F_DUPFD && command != F_DUPFD_CLOEXEC)                                      \
            return real.name(fd, command, value);                                                  \
        RETURN_DUPLICATE(fd, real.name(fd, command, value));                                       \
    }
FCNTL(fcntl)
FCNTL(fcntl64)

int hook_close(int fd)
{
    struct report report = {.serial = recording()};
    struct slot *slot = give_up(report.serial, fd);
    if (slot == NULL)
        return real.close(fd);
    int result = TIMED(report, real.close(fd));
    report_close(report, slot);
    return result;
}

#define RETURN_TRANSFER(direction, fd, call, offset, aligned)                                      \
    do {                                                                                           \
        struct report report;                                                                      \
        struct slot *slot = tracked(&report, fd);                                                  \
        if (slot == NULL)                                                                          \
            return (call);                                                                         \
        ssize_t moved = TIMED(report, call);                                                       \
        if (moved >= 0)                                                                            \
            report_transfer(report, slot, direction, offset, moved, aligned);                      \
        return moved;                                                                              \
    } while (0)

static bool are_aligned(const struct iovec *parts, int n)
{
    for (int i = 0; i < n; i++)
        if (!is_aligned(parts[i].iov_base))
            return false;
    return true;
}

ssize_t hook_read(int fd, void *to, size_t size)
{
    RETURN_TRANSFER(READING, fd, real.read(fd, to, size), FROM_POSITION, is_aligned(to));
}

ssize_t hook___read_chk(int fd, void *to, size_t size, size_t limit)
{
    RETURN_TRANSFER(READING, fd, real.__read_chk(fd, to, size, limit), FROM_POSITION,
                    is_aligned(to));
}

ssize_t hook_write(int fd, const void *from, size_t size)
{
    RETURN_TRANSFER(WRITING, fd, real.write(fd, from, size), FROM_POSITION, is_aligned(from));
}

#define AT_OFFSET(direction, name, parameters, arguments, memory)                                  \
    ssize_t hook_##name parameters                                                                 \
    {                                                                                              \
        RETURN_TRANSFER(direction, fd, real.name arguments, offset, is_aligned(memory));           \
    }
AT_OFFSET(READING, pread, (int fd, void *to, size_t size, off_t offset), (fd, to, size, offset),
          to)
AT_OFFSET(READING, pread64, (int fd, void *to, size_t size, off_t offset), (fd, to, size, offset),
          to)
AT_OFFSET(READING, __pread_chk, (int fd, void *to, size_t size, off_t offset, size_t limit),
          (fd, to, size, offset, limit), to)
AT_OFFSET(READING, __pread64_chk, (int fd, void *to, size_t size, off_t offset, size_t limit),
          (fd, to, size, offset, limit), to)
AT_OFFSET(WRITING, pwrite, (int fd, const void *from, size_t size, off_t offset),
          (fd, from, size, offset), from)
AT_OFFSET(WRITING, pwrite64, (int fd, const void *from, size_t size, off_t offset),
          (fd, from, size, offset), from)

ssize_t hook_readv(int fd, const struct iovec *parts, int n)
{
    RETURN_TRANSFER(READING, fd, real.readv(fd, parts, n), FROM_POSITION, are_aligned(parts, n));
}

ssize_t hook_writev(int fd, const struct iovec *parts, int n)
{
    RETURN_TRANSFER(WRITING, fd, real.writev(fd, parts, n), FROM_POSITION, are_aligned(parts, n));
}

#define VECTOR(direction, name)                                                                    \
    ssize_t hook_##name(int fd, const struct iovec *parts, int n, off_t offset)                    \
    {                                                                                              \
        RETURN_TRANSFER(direction, fd, real.name(fd, parts, n, offset), offset,                    \
                        are_aligned(parts, n));                                                    \
    }
VECTOR(READING, preadv)
VECTOR(READING, preadv64)
VECTOR(WRITING, pwritev)
VECTOR(WRITING, pwritev64)

/* NOTE: offset -1 means the descriptor's own position to the kernel. Darshan takes it literally; so
 * does this, where its calls and no other are recorded. */
#define VECTOR2(direction, name)                                                                   \
    ssize_t hook_##name(int fd, const struct iovec *parts, int n, off_t offset, int flags)         \
    {                                                                                              \
        RETURN_TRANSFER(direction, fd, real.name(fd, parts, n, offset, flags),                     \
                        offset == -1 && recorder.extended ? FROM_POSITION : offset,                \
                        are_aligned(parts, n));                                                    \
    }
VECTOR2(READING, preadv2)
VECTOR2(READING, preadv64v2)
VECTOR2(WRITING, pwritev2)
VECTOR2(WRITING, pwritev64v2)

#define SEEK(name)                                                                                 \
    off_t hook_##name(int fd, off_t offset, int from)                                              \
    {                                                                                              \
        struct report report;                                                                      \
        struct slot *slot = tracked(&report, fd);                                                  \
        if (slot == NULL)                                                                          \
            return real.name(fd, offset, from);                                                    \
        off_t position = TIMED(report, real.name(fd, offset, from));                               \
        if (position >= 0)                                                                         \
            report_seek(report, slot, position);                                                   \
        return position;                                                                           \
    }
SEEK(lseek)
SEEK(lseek64)

/* A call on a descriptor that succeeds with 0. */
#define ON_DESCRIPTOR(name, parameters, arguments, when, reported)                                 \
    int hook_##name parameters                                                                     \
    {                                                                                              \
        struct report report;                                                                      \
        struct slot *slot = tracked(&report, fd);                                                  \
        if (slot == NULL)                                                                          \
            return real.name arguments;                                                            \
        int result = TIMED(report, real.name arguments);                                           \
        if (result == 0 && (when))                                                                 \
            reported;                                                                              \
        return result;                                                                             \
    }
ON_DESCRIPTOR(fsync, (int fd), (fd), true, report_sync(report, slot, false))
ON_DESCRIPTOR(fdatasync, (int fd), (fd), true, report_sync(report, slot, true))
ON_DESCRIPTOR(ftruncate, (int fd, off_t size), (fd, size), true, report_metadata(report, slot))
ON_DESCRIPTOR(ftruncate64, (int fd, off_t size), (fd, size), true, report_metadata(report, slot))
ON_DESCRIPTOR(fstat, (int fd, struct stat *out), (fd, out), S_ISREG(out->st_mode),
              report_stat(report, slot))
ON_DESCRIPTOR(fstat64, (int fd, struct stat *out), (fd, out), S_ISREG(out->st_mode),
              report_stat(report, slot))
ON_DESCRIPTOR(__fxstat, (int version, int fd, struct stat *out), (version, fd, out),
              S_ISREG(out->st_mode), report_stat(report, slot))
ON_DESCRIPTOR(__fxstat64, (int version, int fd, struct stat *out), (version, fd, out),
              S_ISREG(out->st_mode), report_stat(report, slot))

#define MAPPING(name)                                                                              \
    void *hook_##name(void *at, size_t size, int prot, int flags, int fd, off_t from)              \
    {                                                                                              \
        struct report report;                                                                      \
        struct slot *slot = tracked(&report, fd);                                                  \
        if (slot == NULL)                                                                          \
            return real.name(at, size, prot, flags, fd, from);                                     \
        void *mapped = TIMED(report, real.name(at, size, prot, flags, fd, from));                  \
        if (mapped != (void *)-1)                                                                  \
            report_mmap(report, slot);                                                             \
        return mapped;                                                                             \
    }
MAPPING(mmap)
MAPPING(mmap64)
