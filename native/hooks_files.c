/* Wrappers of calls on names and of asynchronous I/O. */
#include <errno.h>
#include <fcntl.h>

#include "wrap.h"

/* A call that asks about a name and succeeds with 0. Darshan counts regular files only. */
#define ON_NAME(name, parameters, arguments, directory, when)                                      \
    int hook_##name parameters                                                                     \
    {                                                                                              \
        struct report report = {.serial = recording()};                                            \
        if (report.serial == 0)                                                                    \
            return real.name arguments;                                                            \
        int result = TIMED(report, real.name arguments);                                           \
        if (result == 0 && (when))                                                                 \
            report_stat_path(report, directory, path);                                             \
        return result;                                                                             \
    }
#define STAT(name)                                                                                 \
    ON_NAME(name, (const char *path, struct stat *out), (path, out), AT_FDCWD,                     \
            S_ISREG(out->st_mode))
#define OLD_STAT(name)                                                                             \
    ON_NAME(name, (int version, const char *path, struct stat *out), (version, path, out),         \
            AT_FDCWD, S_ISREG(out->st_mode))
STAT(stat)
STAT(lstat)
STAT(stat64)
STAT(lstat64)
OLD_STAT(__xstat)
OLD_STAT(__lxstat)
OLD_STAT(__xstat64)
OLD_STAT(__lxstat64)

/* The same beside a directory's descriptor, or, with an empty name, on a descriptor. */
#define ON_NAME_AT(name, parameters, arguments, when)                                              \
    int hook_##name parameters                                                                     \
    {                                                                                              \
        struct report report = {.serial = recording()};                                            \
        if (report.serial == 0)                                                                    \
            return real.name arguments;                                                            \
        int result = TIMED(report, real.name arguments);                                           \
        if (result != 0 || !(when))                                                                \
            return result;                                                                         \
        struct slot *slot =                                                                        \
            path == NULL || *path == '\0' ? table_descriptor(&recorder.table, directory) : NULL;   \
        if (slot != NULL)                                                                          \
            report_stat(report, slot);                                                             \
        else if (path != NULL && *path != '\0')                                                    \
            report_stat_path(report, directory, path);                                             \
        return result;                                                                             \
    }
#define STAT_AT(name)                                                                              \
    ON_NAME_AT(name, (int directory, const char *path, struct stat *out, int flags),               \
               (directory, path, out, flags), S_ISREG(out->st_mode))
#define OLD_STAT_AT(name)                                                                          \
    ON_NAME_AT(name, (int version, int directory, const char *path, struct stat *out, int flags),  \
               (version, directory, path, out, flags), S_ISREG(out->st_mode))
STAT_AT(fstatat)
STAT_AT(fstatat64)
OLD_STAT_AT(__fxstatat)
OLD_STAT_AT(__fxstatat64)
ON_NAME_AT(statx, (int directory, const char *path, int flags, unsigned mask, struct statx *out),
           (directory, path, flags, mask, out), S_ISREG(out->stx_mode))

#define RENAME(name, parameters, arguments, from_directory, to_directory)                          \
    int hook_##name parameters                                                                     \
    {                                                                                              \
        struct report report = {.serial = recording()};                                            \
        if (report.serial == 0)                                                                    \
            return real.name arguments;                                                            \
        int result = TIMED(report, real.name arguments);                                           \
        if (result == 0)                                                                           \
            report_rename(report, from_directory, from, to_directory, to);                         \
        return result;                                                                             \
    }
RENAME(rename, (const char *from, const char *to), (from, to), AT_FDCWD, AT_FDCWD)
RENAME(renameat, (int from_at, const char *from, int to_at, const char *to),
       (from_at, from, to_at, to), from_at, to_at)
RENAME(renameat2, (int from_at, const char *from, int to_at, const char *to, unsigned flags),
       (from_at, from, to_at, to, flags), from_at, to_at)

/* A call that makes or removes an entry of a directory. */
#define ENTRY(name, parameters, arguments, directory)                                              \
    int hook_##name parameters                                                                     \
    {                                                                                              \
        struct report report = {.serial = recording()};                                            \
        if (report.serial == 0)                                                                    \
            return real.name arguments;                                                            \
        int result = TIMED(report, real.name arguments);                                           \
        if (result == 0)                                                                           \
            report_entry(report, directory, path);                                                 \
        return result;                                                                             \
    }
ENTRY(unlink, (const char *path), (path), AT_FDCWD)
ENTRY(remove, (const char *path), (path), AT_FDCWD)
ENTRY(unlinkat, (int directory, const char *path, int flags), (directory, path, flags), directory)
ENTRY(rmdir, (const char *path), (path), AT_FDCWD)
ENTRY(mkdir, (const char *path, mode_t mode), (path, mode), AT_FDCWD)
ENTRY(mkdirat, (int directory, const char *path, mode_t mode), (directory, path, mode), directory)

DIR *hook_opendir(const char *path)
{
    struct report report = {.serial = recording()};
    if (report.serial == 0)
        return real.opendir(path);
    DIR *entries = TIMED(report, real.opendir(path));
    if (entries != NULL)
        report_directory_open(report, dirfd(entries), path);
    return entries;
}

#define NEXT_ENTRY(name, type)                                                                     \
    type *hook_##name(DIR *entries)                                                                \
    {                                                                                              \
        struct report report;                                                                      \
        struct slot *slot = tracked(&report, entries ? dirfd(entries) : -1);                       \
        if (slot == NULL)                                                                          \
            return real.name(entries);                                                             \
        type *entry = TIMED(report, real.name(entries));                                           \
        report_metadata(report, slot);                                                             \
        return entry;                                                                              \
    }
NEXT_ENTRY(readdir, struct dirent)
NEXT_ENTRY(readdir64, struct dirent64)

/* Submitted requests, until aio_return fetches their results. Darshan times them from after the
 * submission to that moment, and counts none whose descriptor was closed meanwhile. */
enum { PENDING_MAX = 1024 };
static struct pending {
    const struct aiocb *request; /* NULL: free */
    struct slot *slot;
    uint32_t serial;
    int64_t submitted;
} pending[PENDING_MAX];
static spin_lock pending_lock;
static int pending_end; /* entries from here on are free */

static void remember(uint32_t serial, const struct aiocb *request, int64_t now)
{
    struct slot *slot = request ? table_descriptor(&recorder.table, request->aio_fildes) : NULL;
    if (slot == NULL)
        return;
    thread_flags |= INSIDE;
    spin_acquire(&pending_lock);
    int place = 0;
    while (place < pending_end && pending[place].request != NULL)
        place++;
    if (place < PENDING_MAX) {
        pending[place] = (struct pending){request, slot, serial, now};
        pending_end = place == pending_end ? place + 1 : pending_end;
    }
    spin_release(&pending_lock);
    thread_flags &= ~(unsigned)INSIDE;
}

static struct pending recall(uint32_t serial, const struct aiocb *request)
{
    struct pending found = {0};
    thread_flags |= INSIDE;
    spin_acquire(&pending_lock);
    for (int place = 0; place < pending_end; place++) {
        if (pending[place].request == request) {
            found = pending[place];
            pending[place].request = NULL;
            break;
        }
    }
    while (pending_end > 0 && pending[pending_end - 1].request == NULL)
        pending_end--;
    spin_release(&pending_lock);
    thread_flags &= ~(unsigned)INSIDE;
    if (found.serial != serial || found.slot == NULL ||
        table_descriptor(&recorder.table, request->aio_fildes) != found.slot)
        found.slot = NULL;
    return found;
}

void hooks_forget(void)
{
    spin_release(&pending_lock);
    pending_end = 0;
}

#define SUBMIT(name)                                                                               \
    int hook_##name(struct aiocb *request)                                                         \
    {                                                                                              \
        uint32_t serial = recording();                                                             \
        int result = real.name(request);                                                           \
        if (serial != 0 && result == 0)                                                            \
            remember(serial, request, recorder_now());                                             \
        return result;                                                                             \
    }
SUBMIT(aio_read)
SUBMIT(aio_read64)
SUBMIT(aio_write)
SUBMIT(aio_write64)

#define SUBMIT_LIST(name)                                                                          \
    int hook_##name(int mode, struct aiocb *const *requests, int n, struct sigevent *signal)       \
    {                                                                                              \
        uint32_t serial = recording();                                                             \
        int result = real.name(mode, requests, n, signal);                                         \
        int64_t now = recorder_now();                                                              \
        for (int i = 0; serial != 0 && result == 0 && i < n; i++)                                  \
            remember(serial, requests[i], now);                                                    \
        return result;                                                                             \
    }
SUBMIT_LIST(lio_listio)
SUBMIT_LIST(lio_listio64)

#define FETCH(name)                                                                                \
    ssize_t hook_##name(struct aiocb *request)                                                     \
    {                                                                                              \
        struct report report = {.serial = recording()};                                            \
        ssize_t moved = real.name(request);                                                        \
        if (report.serial == 0 || request == NULL)                                                 \
            return moved;                                                                          \
        struct pending submitted = recall(report.serial, request);                                 \
        int operation = request->aio_lio_opcode;                                                   \
        if (submitted.slot == NULL || moved < 0 ||                                                 \
            (operation != LIO_READ && operation != LIO_WRITE))                                     \
            return moved;                                                                          \
        report.call = (struct span){submitted.submitted, recorder_now()};                          \
        report_transfer(report, submitted.slot, operation == LIO_READ ? READING : WRITING,         \
                        request->aio_offset, moved, is_aligned((void *)request->aio_buf));         \
        return moved;                                                                              \
    }
FETCH(aio_return)
FETCH(aio_return64)
