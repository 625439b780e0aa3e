/* Wrappers that count nothing and keep the recording right: what descriptors stand for, what is
 * loaded, and what cannot be seen. */
#include <limits.h>

#include "wrap.h"

int hook_close_range(unsigned first, unsigned last, int flags)
{
    enum { ONLY_MARKS_THEM = 4 }; /* CLOSE_RANGE_CLOEXEC */
    if (recording() != 0 && !(flags & ONLY_MARKS_THEM) && first < INT_MAX)
        recorder_give_up((int)first, last < INT_MAX ? (int)last : INT_MAX);
    return real.close_range(first, last, flags);
}

void hook_closefrom(int first)
{
    if (recording() != 0)
        recorder_give_up(first < 0 ? 0 : first, INT_MAX);
    real.closefrom(first);
}

int hook_closedir(DIR *entries)
{
    struct report report = {.serial = recording()};
    struct slot *slot = give_up(report.serial, entries ? dirfd(entries) : -1);
    if (slot == NULL || !recorder.extended)
        return real.closedir(entries);
    int result = TIMED(report, real.closedir(entries));
    report_metadata(report, slot);
    return result;
}

/* Descriptors that are not files. Their numbers may have been a file's that was closed unseen. */
#define NOT_A_FILE(name, parameters, arguments)                                                    \
    int hook_##name parameters                                                                     \
    {                                                                                              \
        int fd = real.name arguments;                                                              \
        if (fd >= 0)                                                                               \
            give_up(recording(), fd);                                                              \
        return fd;                                                                                 \
    }
NOT_A_FILE(socket, (int domain, int type, int protocol), (domain, type, protocol))
NOT_A_FILE(accept, (int fd_, struct sockaddr *address, socklen_t *size), (fd_, address, size))
NOT_A_FILE(accept4, (int fd_, struct sockaddr *address, socklen_t *size, int flags),
           (fd_, address, size, flags))
NOT_A_FILE(eventfd, (unsigned value, int flags), (value, flags))
NOT_A_FILE(epoll_create, (int size), (size))
NOT_A_FILE(epoll_create1, (int flags), (flags))
NOT_A_FILE(inotify_init, (void), ())
NOT_A_FILE(inotify_init1, (int flags), (flags))
NOT_A_FILE(memfd_create, (const char *name, unsigned flags), (name, flags))
NOT_A_FILE(timerfd_create, (int clock, int flags), (clock, flags))

#define NOT_FILES(name, parameters, arguments)                                                     \
    int hook_##name parameters                                                                     \
    {                                                                                              \
        int result = real.name arguments;                                                          \
        for (int i = 0; result == 0 && i < 2; i++)                                                 \
            give_up(recording(), fds[i]);                                                          \
        return result;                                                                             \
    }
NOT_FILES(pipe, (int fds[2]), (fds))
NOT_FILES(pipe2, (int fds[2], int flags), (fds, flags))
NOT_FILES(socketpair, (int domain, int type, int protocol, int fds[2]),
          (domain, type, protocol, fds))

/* What goes through such a ring cannot be seen; that there is one can be told. */
#define RING(name, parameters, arguments)                                                          \
    int hook_##name parameters                                                                     \
    {                                                                                              \
        int result = real.name arguments;                                                          \
        if (result >= 0 && recording() != 0)                                                       \
            atomic_fetch_add_explicit(&recorder.shared->rings, 1, memory_order_relaxed);                   \
        return result;                                                                             \
    }
RING(io_uring_queue_init, (unsigned entries, void *ring, unsigned flags), (entries, ring, flags))
RING(io_uring_queue_init_params, (unsigned entries, void *ring, void *parameters),
     (entries, ring, parameters))

#define ENDS(name)                                                                                 \
    void hook_##name(int status)                                                                   \
    {                                                                                              \
        recorder_note_end(EXITED, status);                                                         \
        real.name(status);                                                                         \
        __builtin_unreachable();                                                                   \
    }
ENDS(_exit)
ENDS(_Exit)

/* Returns only where it fails. */
#define BECOMES(name, parameters, arguments)                                                       \
    int hook_##name parameters                                                                     \
    {                                                                                              \
        recorder_note_program(path);                                                               \
        recorder_note_end(BECAME_ANOTHER_PROGRAM, 0);                                              \
        int result = real.name arguments;                                                          \
        recorder_note_end(RUNS, 0);                                                                \
        recorder_take_back_program();                                                              \
        return result;                                                                             \
    }
BECOMES(execv, (const char *path, char *const *values), (path, values))
BECOMES(execvp, (const char *path, char *const *values), (path, values))
BECOMES(execve, (const char *path, char *const *values, char *const *variables),
        (path, values, variables))
BECOMES(execvpe, (const char *path, char *const *values, char *const *variables),
        (path, values, variables))

#define SPAWNS(name)                                                                               \
    int hook_##name(pid_t *pid, const char *path, const void *actions, const void *attributes,     \
                    char *const *values, char *const *variables)                                   \
    {                                                                                              \
        int error = real.name(pid, path, actions, attributes, values, variables);                  \
        if (error == 0)                                                                            \
            recorder_note_program(path);                                                           \
        return error;                                                                              \
    }
SPAWNS(posix_spawn)
SPAWNS(posix_spawnp)

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
