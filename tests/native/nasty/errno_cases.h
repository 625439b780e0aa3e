/* Calls each redirected function, so that it succeeds and so that it fails, and tells what it gave
 * and what errno was. All of them are weak: a C library may lack some. */
#ifndef ERRNO_CASES_H
#define ERRNO_CASES_H

#include <aio.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#undef fread_unlocked
#undef fwrite_unlocked

enum { BEFORE = 77, NO_FD = 999 };

/* `address` is where the library's calls of that name lead. */
typedef void teller(const char *name, const char *call, void *address, long result, int error);
extern teller *tell;

#define TEXT(...) #__VA_ARGS__
#define WEAK(name) _Pragma(TEXT(weak name))

/* A call whose result is compared as it is. */
#define CASE(name, call)                                                                           \
    do {                                                                                           \
        if ((void *)name == NULL)                                                                  \
            break;                                                                                 \
        errno = BEFORE;                                                                            \
        long result_ = (long)(call);                                                               \
        int error_ = errno;                                                                        \
        tell(#name, #call, (void *)name, result_, error_);                                                       \
    } while (0)

/* One that gives a descriptor (at least 0) or fails; it is kept in `fd`. */
#define OPENS(name, call) CASE(name, (fd = (int)(call)) < 0 ? -1 : 0)
/* One that gives a descriptor, which is closed again. */
#define OPENS_CLOSES(name, call)                                                                   \
    do {                                                                                           \
        fd = -1;                                                                                   \
        OPENS(name, call);                                                                         \
        if (fd >= 0)                                                                               \
            close(fd);                                                                             \
    } while (0)
/* One that gives an address or NULL. */
#define POINTS(name, call) CASE(name, (call) != NULL)

#endif
