/* Wrappers of calls on names, of asynchronous I/O, and those that only keep the recording right. */
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

int hook_rename(const char *from, const char *to)
{
    struct report report = {.serial = recording()};
    if (report.serial == 0)
        return real.rename(from, to);
    int result = TIMED(report, real.rename(from, to));
    if (result == 0)
        report_rename(report, from, to);
    return result;
}

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

static void forget_descriptors(unsigned first, unsigned last)
{
    if (recording() == 0)
        return;
    for (unsigned fd = first; fd <= last && fd < DESCRIPTORS_MAX; fd++)
        table_unmap_descriptor(&recorder.table, (int)fd);
}

int hook_close_range(unsigned first, unsigned last, int flags)
{
    int result = real.close_range(first, last, flags);
    if (result == 0 && flags == 0)
        forget_descriptors(first, last);
    return result;
}

void hook_closefrom(int first)
{
    forget_descriptors(first < 0 ? 0 : (unsigned)first, DESCRIPTORS_MAX - 1);
    real.closefrom(first);
}

/* The following must stay tail calls: the real call looks at who called it (its RPATH, RTLD_NEXT,
 * and vfork returns twice into that frame). A test holds them to it. */
void *hook_dlopen(const char *path, int mode)
{
    thread_flags |= LOADED;
    return real.dlopen(path, mode);
}

void *hook_dlmopen(long space, const char *path, int mode)
{
    thread_flags |= LOADED;
    return real.dlmopen(space, path, mode);
}

/* A loaded object can be called from its first dlsym on. */
void *hook_dlsym(void *handle, const char *name)
{
    if (thread_flags & LOADED)
        recording();
    return real.dlsym(handle, name);
}

void *hook_dlvsym(void *handle, const char *name, const char *version)
{
    if (thread_flags & LOADED)
        recording();
    return real.dlvsym(handle, name, version);
}

pid_t hook_vfork(void)
{
    thread_flags |= VFORKED;
    return real.vfork();
}
