/* HOOK(list, result, name, parameters), see hooks.h. */
#ifndef DARSHAN_HOOK_LIST_H
#define DARSHAN_HOOK_LIST_H

#define HOOK_LIST(HOOK)                                                                            \
    HOOK(DARSHAN, int, open, (const char *path, int flags, ...))                                   \
    HOOK(DARSHAN, int, open64, (const char *path, int flags, ...))                                 \
    HOOK(DARSHAN, int, openat, (int directory, const char *path, int flags, ...))                  \
    HOOK(DARSHAN, int, openat64, (int directory, const char *path, int flags, ...))                \
    HOOK(DARSHAN, int, __open_2, (const char *path, int flags))                                    \
    HOOK(EXTENDED, int, __open64_2, (const char *path, int flags))                                 \
    HOOK(EXTENDED, int, __openat_2, (int directory, const char *path, int flags))                  \
    HOOK(EXTENDED, int, __openat64_2, (int directory, const char *path, int flags))                \
    HOOK(DARSHAN, int, creat, (const char *path, mode_t mode))                                     \
    HOOK(DARSHAN, int, creat64, (const char *path, mode_t mode))                                   \
    HOOK(DARSHAN, int, mkstemp, (char *path))                                                      \
    HOOK(DARSHAN, int, mkostemp, (char *path, int flags))                                          \
    HOOK(DARSHAN, int, mkstemps, (char *path, int suffix))                                         \
    HOOK(DARSHAN, int, mkostemps, (char *path, int suffix, int flags))                             \
    HOOK(EXTENDED, int, mkstemp64, (char *path))                                                   \
    HOOK(EXTENDED, int, mkostemp64, (char *path, int flags))                                       \
    HOOK(EXTENDED, int, mkstemps64, (char *path, int suffix))                                      \
    HOOK(EXTENDED, int, mkostemps64, (char *path, int suffix, int flags))                          \
    HOOK(DARSHAN, int, dup, (int fd))                                                              \
    HOOK(DARSHAN, int, dup2, (int fd, int to))                                                     \
    HOOK(DARSHAN, int, dup3, (int fd, int to, int flags))                                          \
    HOOK(DARSHAN, int, fcntl, (int fd, int command, ...))                                          \
    HOOK(DARSHAN, int, fcntl64, (int fd, int command, ...))                                        \
    HOOK(DARSHAN, int, fileno, (FILE * stream))                                                    \
    HOOK(EXTENDED, int, fileno_unlocked, (FILE * stream))                                          \
    HOOK(DARSHAN, int, close, (int fd))                                                            \
    HOOK(DARSHAN, ssize_t, read, (int fd, void *to, size_t size))                                  \
    HOOK(DARSHAN, ssize_t, write, (int fd, const void *from, size_t size))                         \
    HOOK(DARSHAN, ssize_t, pread, (int fd, void *to, size_t size, off_t offset))                   \
    HOOK(DARSHAN, ssize_t, pread64, (int fd, void *to, size_t size, off_t offset))                 \
    HOOK(DARSHAN, ssize_t, pwrite, (int fd, const void *from, size_t size, off_t offset))          \
    HOOK(DARSHAN, ssize_t, pwrite64, (int fd, const void *from, size_t size, off_t offset))        \
    HOOK(DARSHAN, ssize_t, readv, (int fd, const struct iovec *parts, int n))                      \
    HOOK(DARSHAN, ssize_t, writev, (int fd, const struct iovec *parts, int n))                     \
    HOOK(DARSHAN, ssize_t, preadv, (int fd, const struct iovec *parts, int n, off_t offset))       \
    HOOK(DARSHAN, ssize_t, preadv64, (int fd, const struct iovec *parts, int n, off_t offset))     \
    HOOK(DARSHAN, ssize_t, pwritev, (int fd, const struct iovec *parts, int n, off_t offset))      \
    HOOK(DARSHAN, ssize_t, pwritev64, (int fd, const struct iovec *parts, int n, off_t offset))    \
    HOOK(DARSHAN, ssize_t, preadv2,                                                                \
         (int fd, const struct iovec *parts, int n, off_t offset, int flags))                      \
    HOOK(DARSHAN, ssize_t, preadv64v2,                                                             \
         (int fd, const struct iovec *parts, int n, off_t offset, int flags))                      \
    HOOK(DARSHAN, ssize_t, pwritev2,                                                               \
         (int fd, const struct iovec *parts, int n, off_t offset, int flags))                      \
    HOOK(DARSHAN, ssize_t, pwritev64v2,                                                            \
         (int fd, const struct iovec *parts, int n, off_t offset, int flags))                      \
    HOOK(EXTENDED, ssize_t, __read_chk, (int fd, void *to, size_t size, size_t room))              \
    HOOK(EXTENDED, ssize_t, __pread_chk,                                                           \
         (int fd, void *to, size_t size, off_t offset, size_t room))                               \
    HOOK(EXTENDED, ssize_t, __pread64_chk,                                                         \
         (int fd, void *to, size_t size, off_t offset, size_t room))                               \
    HOOK(DARSHAN, off_t, lseek, (int fd, off_t offset, int from))                                  \
    HOOK(DARSHAN, off_t, lseek64, (int fd, off_t offset, int from))                                \
    HOOK(DARSHAN, int, fsync, (int fd))                                                            \
    HOOK(DARSHAN, int, fdatasync, (int fd))                                                        \
    HOOK(EXTENDED, int, ftruncate, (int fd, off_t size))                                           \
    HOOK(EXTENDED, int, ftruncate64, (int fd, off_t size))                                         \
    HOOK(EXTENDED, void *, mmap, (void *at, size_t size, int prot, int flags, int fd, off_t from)) \
    HOOK(EXTENDED, void *, mmap64,                                                                 \
         (void *at, size_t size, int prot, int flags, int fd, off_t from))                         \
    HOOK(DARSHAN, int, __xstat, (int version, const char *path, struct stat *out))                 \
    HOOK(DARSHAN, int, __lxstat, (int version, const char *path, struct stat *out))                \
    HOOK(DARSHAN, int, __fxstat, (int version, int fd, struct stat *out))                          \
    HOOK(DARSHAN, int, __xstat64, (int version, const char *path, struct stat *out))               \
    HOOK(DARSHAN, int, __lxstat64, (int version, const char *path, struct stat *out))              \
    HOOK(DARSHAN, int, __fxstat64, (int version, int fd, struct stat *out))                        \
    HOOK(EXTENDED, int, __fxstatat,                                                                \
         (int version, int directory, const char *path, struct stat *out, int flags))              \
    HOOK(EXTENDED, int, __fxstatat64,                                                              \
         (int version, int directory, const char *path, struct stat *out, int flags))              \
    HOOK(EXTENDED, int, stat, (const char *path, struct stat *out))                                \
    HOOK(EXTENDED, int, lstat, (const char *path, struct stat *out))                               \
    HOOK(EXTENDED, int, fstat, (int fd, struct stat *out))                                         \
    HOOK(EXTENDED, int, fstatat, (int directory, const char *path, struct stat *out, int flags))   \
    HOOK(EXTENDED, int, stat64, (const char *path, struct stat *out))                              \
    HOOK(EXTENDED, int, lstat64, (const char *path, struct stat *out))                             \
    HOOK(EXTENDED, int, fstat64, (int fd, struct stat *out))                                       \
    HOOK(EXTENDED, int, fstatat64, (int directory, const char *path, struct stat *out, int flags)) \
    HOOK(EXTENDED, int, statx,                                                                     \
         (int directory, const char *path, int flags, unsigned mask, struct statx *out))           \
    HOOK(DARSHAN, int, rename, (const char *from, const char *to))                                 \
    HOOK(EXTENDED, int, renameat, (int from_at, const char *from, int to_at, const char *to))      \
    HOOK(EXTENDED, int, renameat2,                                                                 \
         (int from_at, const char *from, int to_at, const char *to, unsigned flags))               \
    HOOK(EXTENDED, int, unlink, (const char *path))                                                \
    HOOK(EXTENDED, int, unlinkat, (int directory, const char *path, int flags))                    \
    HOOK(EXTENDED, int, remove, (const char *path))                                                \
    HOOK(EXTENDED, int, rmdir, (const char *path))                                                 \
    HOOK(EXTENDED, int, mkdir, (const char *path, mode_t mode))                                    \
    HOOK(EXTENDED, int, mkdirat, (int directory, const char *path, mode_t mode))                   \
    HOOK(EXTENDED, DIR *, opendir, (const char *path))                                             \
    HOOK(EXTENDED, struct dirent *, readdir, (DIR * entries))                                      \
    HOOK(EXTENDED, struct dirent64 *, readdir64, (DIR * entries))                                  \
    HOOK(EXTENDED, ssize_t, copy_file_range,                                                       \
         (int from, off_t *from_at, int to, off_t *to_at, size_t size, unsigned flags))            \
    HOOK(EXTENDED, ssize_t, sendfile, (int to, int from, off_t *from_at, size_t size))             \
    HOOK(EXTENDED, ssize_t, sendfile64, (int to, int from, off_t *from_at, size_t size))           \
    HOOK(EXTENDED, ssize_t, splice,                                                                \
         (int from, off_t *from_at, int to, off_t *to_at, size_t size, unsigned flags))            \
    HOOK(DARSHAN, int, aio_read, (struct aiocb * request))                                         \
    HOOK(DARSHAN, int, aio_read64, (struct aiocb * request))                                       \
    HOOK(DARSHAN, int, aio_write, (struct aiocb * request))                                        \
    HOOK(DARSHAN, int, aio_write64, (struct aiocb * request))                                      \
    HOOK(DARSHAN, int, lio_listio,                                                                 \
         (int mode, struct aiocb *const *requests, int n, struct sigevent *signal))                \
    HOOK(DARSHAN, int, lio_listio64,                                                               \
         (int mode, struct aiocb *const *requests, int n, struct sigevent *signal))                \
    HOOK(DARSHAN, ssize_t, aio_return, (struct aiocb * request))                                   \
    HOOK(DARSHAN, ssize_t, aio_return64, (struct aiocb * request))                                 \
    HOOK(DARSHAN, FILE *, fopen, (const char *path, const char *mode))                             \
    HOOK(DARSHAN, FILE *, fopen64, (const char *path, const char *mode))                           \
    HOOK(DARSHAN, FILE *, freopen, (const char *path, const char *mode, FILE *stream))             \
    HOOK(DARSHAN, FILE *, freopen64, (const char *path, const char *mode, FILE *stream))           \
    HOOK(DARSHAN, FILE *, fdopen, (int fd, const char *mode))                                      \
    HOOK(DARSHAN, int, fclose, (FILE * stream))                                                    \
    HOOK(DARSHAN, size_t, fread, (void *to, size_t size, size_t n, FILE *stream))                  \
    HOOK(DARSHAN, size_t, fwrite, (const void *from, size_t size, size_t n, FILE *stream))         \
    HOOK(EXTENDED, size_t, fread_unlocked, (void *to, size_t size, size_t n, FILE *stream))        \
    HOOK(EXTENDED, size_t, fwrite_unlocked, (const void *from, size_t size, size_t n, FILE *stream)) \
    HOOK(EXTENDED, size_t, __fread_chk,                                                            \
         (void *to, size_t room, size_t size, size_t n, FILE *stream))                             \
    HOOK(EXTENDED, size_t, __fread_unlocked_chk,                                                   \
         (void *to, size_t room, size_t size, size_t n, FILE *stream))                             \
    HOOK(DARSHAN, int, fgetc, (FILE * stream))                                                     \
    HOOK(DARSHAN, int, _IO_getc, (FILE * stream))                                                  \
    HOOK(EXTENDED, int, getc, (FILE * stream))                                                     \
    HOOK(EXTENDED, int, fgetc_unlocked, (FILE * stream))                                           \
    HOOK(EXTENDED, int, getc_unlocked, (FILE * stream))                                            \
    HOOK(EXTENDED, int, getchar, (void))                                                           \
    HOOK(DARSHAN, int, fputc, (int byte, FILE *stream))                                            \
    HOOK(DARSHAN, int, _IO_putc, (int byte, FILE *stream))                                         \
    HOOK(EXTENDED, int, putc, (int byte, FILE *stream))                                            \
    HOOK(EXTENDED, int, fputc_unlocked, (int byte, FILE *stream))                                  \
    HOOK(EXTENDED, int, putc_unlocked, (int byte, FILE *stream))                                   \
    HOOK(EXTENDED, int, putchar, (int byte))                                                       \
    HOOK(EXTENDED, int, puts, (const char *text))                                                  \
    HOOK(DARSHAN, int, getw, (FILE * stream))                                                      \
    HOOK(DARSHAN, int, putw, (int word, FILE *stream))                                             \
    HOOK(DARSHAN, char *, fgets, (char *to, int room, FILE *stream))                               \
    HOOK(EXTENDED, char *, fgets_unlocked, (char *to, int room, FILE *stream))                     \
    HOOK(EXTENDED, char *, __fgets_chk, (char *to, size_t size, int room, FILE *stream))           \
    HOOK(EXTENDED, char *, __fgets_unlocked_chk, (char *to, size_t size, int room, FILE *stream))  \
    HOOK(EXTENDED, ssize_t, getline, (char **to, size_t *room, FILE *stream))                      \
    HOOK(EXTENDED, ssize_t, getdelim, (char **to, size_t *room, int delimiter, FILE *stream))      \
    HOOK(EXTENDED, ssize_t, __getdelim, (char **to, size_t *room, int delimiter, FILE *stream))    \
    HOOK(DARSHAN, int, fputs, (const char *text, FILE *stream))                                    \
    HOOK(EXTENDED, int, fputs_unlocked, (const char *text, FILE *stream))                          \
    HOOK(DARSHAN, int, fprintf, (FILE * stream, const char *format, ...))                          \
    HOOK(DARSHAN, int, vfprintf, (FILE * stream, const char *format, va_list values))              \
    HOOK(DARSHAN, int, printf, (const char *format, ...))                                          \
    HOOK(DARSHAN, int, vprintf, (const char *format, va_list values))                              \
    HOOK(EXTENDED, int, __fprintf_chk, (FILE * stream, int flag, const char *format, ...))         \
    HOOK(EXTENDED, int, __vfprintf_chk,                                                            \
         (FILE * stream, int flag, const char *format, va_list values))                            \
    HOOK(EXTENDED, int, __printf_chk, (int flag, const char *format, ...))                         \
    HOOK(EXTENDED, int, __vprintf_chk, (int flag, const char *format, va_list values))             \
    HOOK(DARSHAN, int, __isoc99_fscanf, (FILE * stream, const char *format, ...))                  \
    HOOK(DARSHAN, int, __isoc99_vfscanf, (FILE * stream, const char *format, va_list values))      \
    HOOK(EXTENDED, int, fscanf, (FILE * stream, const char *format, ...))                          \
    HOOK(EXTENDED, int, vfscanf, (FILE * stream, const char *format, va_list values))              \
    HOOK(EXTENDED, int, __isoc23_fscanf, (FILE * stream, const char *format, ...))                 \
    HOOK(EXTENDED, int, __isoc23_vfscanf, (FILE * stream, const char *format, va_list values))     \
    HOOK(DARSHAN, int, fflush, (FILE * stream))                                                    \
    HOOK(EXTENDED, int, fflush_unlocked, (FILE * stream))                                          \
    HOOK(DARSHAN, int, fseek, (FILE * stream, long offset, int from))                              \
    HOOK(DARSHAN, int, fseeko, (FILE * stream, off_t offset, int from))                            \
    HOOK(DARSHAN, int, fseeko64, (FILE * stream, off_t offset, int from))                          \
    HOOK(DARSHAN, int, fsetpos, (FILE * stream, const fpos_t *position))                           \
    HOOK(DARSHAN, int, fsetpos64, (FILE * stream, const fpos_t *position))                         \
    HOOK(DARSHAN, void, rewind, (FILE * stream))                                                   \
    HOOK(BOOKKEEPING, int, close_range, (unsigned first, unsigned last, int flags))                \
    HOOK(BOOKKEEPING, void, closefrom, (int first))                                                \
    HOOK(BOOKKEEPING, int, closedir, (DIR * entries))                                              \
    HOOK(BOOKKEEPING, int, pipe, (int fds[2]))                                                     \
    HOOK(BOOKKEEPING, int, pipe2, (int fds[2], int flags))                                         \
    HOOK(BOOKKEEPING, int, socket, (int domain, int type, int protocol))                           \
    HOOK(BOOKKEEPING, int, socketpair, (int domain, int type, int protocol, int fds[2]))           \
    HOOK(BOOKKEEPING, int, accept, (int fd, struct sockaddr *address, socklen_t *size))            \
    HOOK(BOOKKEEPING, int, accept4,                                                                \
         (int fd, struct sockaddr *address, socklen_t *size, int flags))                           \
    HOOK(BOOKKEEPING, int, eventfd, (unsigned value, int flags))                                   \
    HOOK(BOOKKEEPING, int, epoll_create, (int size))                                               \
    HOOK(BOOKKEEPING, int, epoll_create1, (int flags))                                             \
    HOOK(BOOKKEEPING, int, inotify_init, (void))                                                   \
    HOOK(BOOKKEEPING, int, inotify_init1, (int flags))                                             \
    HOOK(BOOKKEEPING, int, memfd_create, (const char *name, unsigned flags))                       \
    HOOK(BOOKKEEPING, int, timerfd_create, (int clock, int flags))                                 \
    HOOK(BOOKKEEPING, int, io_uring_queue_init, (unsigned entries, void *ring, unsigned flags))    \
    HOOK(BOOKKEEPING, int, io_uring_queue_init_params,                                             \
         (unsigned entries, void *ring, void *parameters))                                         \
    HOOK(BOOKKEEPING, void, _exit, (int status))                                                   \
    HOOK(BOOKKEEPING, void, _Exit, (int status))                                                   \
    HOOK(BOOKKEEPING, int, execv, (const char *path, char *const *values))                         \
    HOOK(BOOKKEEPING, int, execve,                                                                 \
         (const char *path, char *const *values, char *const *variables))                          \
    HOOK(BOOKKEEPING, int, execvp, (const char *path, char *const *values))                        \
    HOOK(BOOKKEEPING, int, execvpe,                                                                \
         (const char *path, char *const *values, char *const *variables))                          \
    HOOK(BOOKKEEPING, int, posix_spawn,                                                            \
         (pid_t * pid, const char *path, const void *actions, const void *attributes,              \
          char *const *values, char *const *variables))                                            \
    HOOK(BOOKKEEPING, int, posix_spawnp,                                                           \
         (pid_t * pid, const char *path, const void *actions, const void *attributes,              \
          char *const *values, char *const *variables))                                            \
    HOOK(BOOKKEEPING, void *, dlopen, (const char *path, int mode))                                \
    HOOK(BOOKKEEPING, void *, dlmopen, (long space, const char *path, int mode))                   \
    HOOK(BOOKKEEPING, void *, dlsym, (void *handle, const char *name))                             \
    HOOK(BOOKKEEPING, void *, dlvsym, (void *handle, const char *name, const char *version))       \
    HOOK(BOOKKEEPING, pid_t, vfork, (void))

#endif
