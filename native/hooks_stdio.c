/* Wrappers of <stdio.h>; the pattern is that of hooks_posix.c. */
#include <errno.h>
#include <string.h>

#include "wrap.h"

#define OPENED_STREAM(name)                                                                        \
    FILE *hook_##name(const char *path, const char *mode)                                          \
    {                                                                                              \
        struct report report = {.serial = recording()};                                            \
        if (report.serial == 0)                                                                    \
            return real.name(path, mode);                                                          \
        FILE *stream = TIMED(report, real.name(path, mode));                                       \
        if (stream != NULL)                                                                        \
            report_stream_open(report, stream, path);                                              \
        return stream;                                                                             \
    }
OPENED_STREAM(fopen)
OPENED_STREAM(fopen64)

/* NOTE: Darshan keeps the descriptors of closed streams and then charges whatever gets the number
 * next to the file; that harm is not reproduced. Without a path only the mode changes, and the stream keeps its record. */
#define REOPENED_STREAM(name)                                                                      \
    FILE *hook_##name(const char *path, const char *mode, FILE *stream)                            \
    {                                                                                              \
        struct report report = {.serial = recording()};                                            \
        if (report.serial == 0 || path == NULL)                                                    \
            return real.name(path, mode, stream);                                                  \
        give_up(report.serial, stream_descriptor(stream));                                         \
        table_unmap_stream(&recorder.table, stream);                                               \
        FILE *reopened = TIMED(report, real.name(path, mode, stream));                             \
        if (reopened != NULL)                                                                      \
            report_stream_open(report, reopened, path);                                            \
        return reopened;                                                                           \
    }
REOPENED_STREAM(freopen)
REOPENED_STREAM(freopen64)

FILE *hook_fdopen(int fd, const char *mode)
{
    struct report report = {.serial = recording()};
    if (report.serial == 0)
        return real.fdopen(fd, mode);
    FILE *stream = TIMED(report, real.fdopen(fd, mode));
    if (stream != NULL)
        report_stream_fdopen(report, stream, fd);
    return stream;
}

#define FILENO(name)                                                                               \
    int hook_##name(FILE *stream)                                                                  \
    {                                                                                              \
        struct report report;                                                                      \
        struct slot *slot = tracked_stream(&report, stream);                                       \
        if (slot == NULL)                                                                          \
            return real.name(stream);                                                              \
        int fd = TIMED(report, real.name(stream));                                                 \
        if (fd >= 0)                                                                               \
            report_stream_fileno(report, stream, fd);                                              \
        return fd;                                                                                 \
    }
FILENO(fileno)
FILENO(fileno_unlocked)

int hook_fclose(FILE *stream)
{
    struct report report = {.serial = recording()};
    struct slot *slot = report.serial ? table_unmap_stream(&recorder.table, stream) : NULL;
    give_up(report.serial, stream_descriptor(stream));
    if (slot == NULL)
        return real.fclose(stream);
    int result = TIMED(report, real.fclose(stream));
    report_stream_close(report, slot);
    return result;
}

/* A call that moves `moved` bytes (an expression of `result`) when `counts` holds. */
#define MOVES(direction, type, name, parameters, arguments, stream, counts, moved)                 \
    type hook_##name parameters                                                                    \
    {                                                                                              \
        struct report report;                                                                      \
        struct slot *slot = tracked_stream(&report, stream);                                       \
        if (slot == NULL)                                                                          \
            return real.name arguments;                                                            \
        type result = TIMED(report, real.name arguments);                                          \
        if (counts)                                                                                \
            report_stream_transfer(report, slot, direction, (int64_t)(moved));                     \
        return result;                                                                             \
    }

MOVES(READING, size_t, fread, (void *to, size_t size, size_t n, FILE *stream),
      (to, size, n, stream), stream, result > 0, size * result)
MOVES(READING, size_t, fread_unlocked, (void *to, size_t size, size_t n, FILE *stream),
      (to, size, n, stream), stream, result > 0, size * result)
MOVES(READING, size_t, __fread_chk, (void *to, size_t limit, size_t size, size_t n, FILE *stream),
      (to, limit, size, n, stream), stream, result > 0, size * result)
MOVES(READING, size_t, __fread_unlocked_chk,
      (void *to, size_t limit, size_t size, size_t n, FILE *stream), (to, limit, size, n, stream),
      stream, result > 0, size * result)
MOVES(WRITING, size_t, fwrite, (const void *from, size_t size, size_t n, FILE *stream),
      (from, size, n, stream), stream, result > 0, size * result)
MOVES(WRITING, size_t, fwrite_unlocked, (const void *from, size_t size, size_t n, FILE *stream),
      (from, size, n, stream), stream, result > 0, size * result)

#define GETS_BYTE(name)                                                                            \
    MOVES(READING, int, name, (FILE * stream), (stream), stream, result != EOF, 1)
GETS_BYTE(fgetc)
GETS_BYTE(_IO_getc)
GETS_BYTE(getc)
GETS_BYTE(fgetc_unlocked)
GETS_BYTE(getc_unlocked)
MOVES(READING, int, getchar, (void), (), stdin, result != EOF, 1)

#define PUTS_BYTE(name)                                                                            \
    MOVES(WRITING, int, name, (int byte, FILE *stream), (byte, stream), stream, result != EOF, 1)
PUTS_BYTE(fputc)
PUTS_BYTE(_IO_putc)
PUTS_BYTE(putc)
PUTS_BYTE(fputc_unlocked)
PUTS_BYTE(putc_unlocked)
MOVES(WRITING, int, putchar, (int byte), (byte), stdout, result != EOF, 1)
MOVES(WRITING, int, puts, (const char *text), (text), stdout, result != EOF, strlen(text) + 1)

/* NOTE: a plain end of file counts, as in Darshan: EOF is a value that a word may have. */
MOVES(READING, int, getw, (FILE * stream), (stream), stream, result != EOF || !ferror(stream),
      sizeof(int))
MOVES(WRITING, int, putw, (int word, FILE *stream), (word, stream), stream, result != EOF,
      sizeof(int))

#define GETS_LINE(name, parameters, arguments)                                                     \
    MOVES(READING, char *, name, parameters, arguments, stream, result != NULL, strlen(result))
GETS_LINE(fgets, (char *to, int limit, FILE *stream), (to, limit, stream))
GETS_LINE(fgets_unlocked, (char *to, int limit, FILE *stream), (to, limit, stream))
GETS_LINE(__fgets_chk, (char *to, size_t size, int limit, FILE *stream), (to, size, limit, stream))
GETS_LINE(__fgets_unlocked_chk, (char *to, size_t size, int limit, FILE *stream),
          (to, size, limit, stream))
MOVES(READING, ssize_t, getline, (char **to, size_t *size, FILE *stream), (to, size, stream),
      stream, result >= 0, result)
MOVES(READING, ssize_t, getdelim, (char **to, size_t *size, int delimiter, FILE *stream),
      (to, size, delimiter, stream), stream, result >= 0, result)
MOVES(READING, ssize_t, __getdelim, (char **to, size_t *size, int delimiter, FILE *stream),
      (to, size, delimiter, stream), stream, result >= 0, result)

MOVES(WRITING, int, fputs, (const char *text, FILE *stream), (text, stream), stream, result > 0,
      strlen(text))
MOVES(WRITING, int, fputs_unlocked, (const char *text, FILE *stream), (text, stream), stream,
      result > 0, strlen(text))

MOVES(WRITING, int, vfprintf, (FILE * stream, const char *format, va_list values),
      (stream, format, values), stream, result > 0, result)
MOVES(WRITING, int, vprintf, (const char *format, va_list values), (format, values), stdout,
      result > 0, result)
MOVES(WRITING, int, __vfprintf_chk, (FILE * stream, int flag, const char *format, va_list values),
      (stream, flag, format, values), stream, result > 0, result)
MOVES(WRITING, int, __vprintf_chk, (int flag, const char *format, va_list values),
      (flag, format, values), stdout, result > 0, result)

/* A variadic call is made through the one that takes a list. */
#define THROUGH_LIST(name, parameters, last, invocation)                                           \
    int hook_##name parameters                                                                     \
    {                                                                                              \
        va_list values;                                                                            \
        va_start(values, last);                                                                    \
        int result = invocation;                                                                   \
        va_end(values);                                                                            \
        return result;                                                                             \
    }
THROUGH_LIST(fprintf, (FILE * stream, const char *format, ...), format,
             hook_vfprintf(stream, format, values))
THROUGH_LIST(printf, (const char *format, ...), format, hook_vprintf(format, values))
THROUGH_LIST(__fprintf_chk, (FILE * stream, int flag, const char *format, ...), format,
             hook___vfprintf_chk(stream, flag, format, values))
THROUGH_LIST(__printf_chk, (int flag, const char *format, ...), format,
             hook___vprintf_chk(flag, format, values))

/* What a scan consumed is the difference of positions. NOTE: a scan that reaches the end of the file
 * counts, one that matches nothing does not. */
#define SCAN(name)                                                                                 \
    int hook_##name(FILE *stream, const char *format, va_list values)                              \
    {                                                                                              \
        struct report report;                                                                      \
        struct slot *slot = tracked_stream(&report, stream);                                       \
        if (slot == NULL)                                                                          \
            return real.name(stream, format, values);                                              \
        int kept = errno;                                                                          \
        long before = ftell(stream);                                                               \
        errno = kept;                                                                              \
        int result = TIMED(report, real.name(stream, format, values));                             \
        if (result == 0)                                                                           \
            return result;                                                                         \
        kept = errno;                                                                              \
        long after = ftell(stream);                                                                \
        errno = kept;                                                                              \
        report_stream_transfer(report, slot, READING,                                              \
                               before >= 0 && after >= 0 ? after - before : 0);                    \
        return result;                                                                             \
    }
SCAN(__isoc99_vfscanf)
SCAN(__isoc23_vfscanf)
SCAN(vfscanf)
THROUGH_LIST(__isoc99_fscanf, (FILE * stream, const char *format, ...), format,
             hook___isoc99_vfscanf(stream, format, values))
THROUGH_LIST(__isoc23_fscanf, (FILE * stream, const char *format, ...), format,
             hook___isoc23_vfscanf(stream, format, values))
THROUGH_LIST(fscanf, (FILE * stream, const char *format, ...), format,
             hook_vfscanf(stream, format, values))

#define FLUSH(name)                                                                                \
    int hook_##name(FILE *stream)                                                                  \
    {                                                                                              \
        struct report report;                                                                      \
        struct slot *slot = tracked_stream(&report, stream);                                       \
        if (slot == NULL)                                                                          \
            return real.name(stream);                                                              \
        int result = TIMED(report, real.name(stream));                                             \
        if (result == 0)                                                                           \
            report_stream_flush(report, slot);                                                     \
        return result;                                                                             \
    }
FLUSH(fflush)
FLUSH(fflush_unlocked)

static void report_new_position(struct report report, struct slot *slot, FILE *stream)
{
    int kept = errno;
    report_stream_seek(report, slot, ftell(stream));
    errno = kept;
}

#define SEEKS(name, parameters, arguments)                                                         \
    int hook_##name parameters                                                                     \
    {                                                                                              \
        struct report report;                                                                      \
        struct slot *slot = tracked_stream(&report, stream);                                       \
        if (slot == NULL)                                                                          \
            return real.name arguments;                                                            \
        int result = TIMED(report, real.name arguments);                                           \
        if (result >= 0)                                                                           \
            report_new_position(report, slot, stream);                                             \
        return result;                                                                             \
    }
SEEKS(fseek, (FILE * stream, long offset, int from), (stream, offset, from))
SEEKS(fseeko, (FILE * stream, off_t offset, int from), (stream, offset, from))
SEEKS(fseeko64, (FILE * stream, off_t offset, int from), (stream, offset, from))
SEEKS(fsetpos, (FILE * stream, const fpos_t *position), (stream, position))
SEEKS(fsetpos64, (FILE * stream, const fpos_t *position), (stream, position))

void hook_rewind(FILE *stream)
{
    struct report report;
    struct slot *slot = tracked_stream(&report, stream);
    if (slot == NULL) {
        real.rewind(stream);
        return;
    }
    report.call.start = recorder_now();
    real.rewind(stream);
    report.call.end = recorder_now();
    report_stream_seek(report, slot, 0);
}
