/* One function for each call that random programs are made of, so that Python can make the call
 * through a library of its own. Each fills in what the call gave, and what else a model needs. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

struct answer {
    long result;
    long extra;
};

enum { STREAMS = 16, PARTS = 4, ROOM = 1 << 18 };

static char buffer[ROOM] __attribute__((aligned(64)));
static FILE *streams[STREAMS];
static fpos_t marks[STREAMS];
static struct iovec parts[PARTS];

/* `size` bytes in `n` parts that follow each other in memory, the first at `shift`. */
static struct iovec *in_parts(long size, long n, long shift)
{
    char *at = buffer + shift;
    for (long i = 0; i < n; i++) {
        size_t length = (size_t)(i == n - 1 ? size - size / n * (n - 1) : size / n);
        parts[i] = (struct iovec){at, length};
        at += length;
    }
    return parts;
}

#define CALL(name, body)                                                                           \
    void call_##name(const long *a, char *path, const char *other, struct answer *out)             \
    {                                                                                              \
        (void)a, (void)path, (void)other;                                                          \
        out->extra = 0;                                                                            \
        body;                                                                                      \
    }
#define RETURNS(name, call) CALL(name, out->result = (long)(call))
#define STREAM (streams[a[0]])

void fill(int byte)
{
    memset(buffer, byte, sizeof(buffer));
}

RETURNS(open, open(path, (int)a[0], (mode_t)a[1]))
RETURNS(open64, open64(path, (int)a[0], (mode_t)a[1]))
RETURNS(openat, openat((int)a[0], path, (int)a[1], (mode_t)a[2]))
RETURNS(creat, creat(path, (mode_t)a[0]))
RETURNS(mkstemp, mkstemp(path))
RETURNS(close, close((int)a[0]))
RETURNS(dup, dup((int)a[0]))
RETURNS(dup2, dup2((int)a[0], (int)a[1]))
RETURNS(dup3, dup3((int)a[0], (int)a[1], O_CLOEXEC))
RETURNS(fcntl, fcntl((int)a[0], F_DUPFD, (int)a[1]))
RETURNS(read, read((int)a[0], buffer + a[2], (size_t)a[1]))
RETURNS(write, write((int)a[0], buffer + a[2], (size_t)a[1]))
RETURNS(pread, pread((int)a[0], buffer + a[2], (size_t)a[1], a[3]))
RETURNS(pwrite, pwrite((int)a[0], buffer + a[2], (size_t)a[1], a[3]))
RETURNS(readv, readv((int)a[0], in_parts(a[1], a[4], a[2]), (int)a[4]))
RETURNS(writev, writev((int)a[0], in_parts(a[1], a[4], a[2]), (int)a[4]))
RETURNS(preadv, preadv((int)a[0], in_parts(a[1], a[4], a[2]), (int)a[4], a[3]))
RETURNS(pwritev, pwritev((int)a[0], in_parts(a[1], a[4], a[2]), (int)a[4], a[3]))
RETURNS(lseek, lseek((int)a[0], a[1], (int)a[2]))
RETURNS(fsync, fsync((int)a[0]))
RETURNS(fdatasync, fdatasync((int)a[0]))
RETURNS(ftruncate, ftruncate((int)a[0], a[1]))
RETURNS(rename, rename(path, other))
RETURNS(renameat, renameat(AT_FDCWD, path, AT_FDCWD, other))
RETURNS(unlink, unlink(path))
RETURNS(copy, copy_file_range((int)a[0], NULL, (int)a[1], NULL, (size_t)a[2], 0))
RETURNS(sendfile, sendfile((int)a[0], (int)a[1], (off_t *)(a[3] < 0 ? NULL : &a[3]), (size_t)a[2]))

CALL(stat, {
    struct stat status;
    out->result = stat(path, &status);
    out->extra = S_ISREG(status.st_mode);
})
CALL(fstat, {
    struct stat status;
    out->result = fstat((int)a[0], &status);
    out->extra = S_ISREG(status.st_mode);
})
CALL(mmap, {
    void *at = mmap(NULL, 4096, PROT_READ, MAP_SHARED, (int)a[0], 0);
    out->result = at == MAP_FAILED ? -1 : munmap(at, 4096);
})

static long opened(FILE **place, FILE *stream, long *extra)
{
    *place = stream;
    *extra = stream ? stream->_fileno : -1;
    return stream ? 0 : -1;
}
RETURNS(fopen, opened(&STREAM, fopen(path, other), &out->extra))
RETURNS(fdopen, opened(&STREAM, fdopen((int)a[1], other), &out->extra))
RETURNS(freopen, opened(&STREAM, freopen(path, other, STREAM), &out->extra))
RETURNS(fclose, fclose(STREAM))
RETURNS(fileno, fileno(STREAM))
RETURNS(fread, fread(buffer, (size_t)a[1], (size_t)a[2], STREAM))
RETURNS(fwrite, fwrite(buffer, (size_t)a[1], (size_t)a[2], STREAM))
RETURNS(fgetc, fgetc(STREAM))
RETURNS(fputc, fputc((int)a[1], STREAM))
RETURNS(getc, getc(STREAM))
RETURNS(putc, putc((int)a[1], STREAM))
RETURNS(putw, putw((int)a[1], STREAM))
RETURNS(fputs, fputs(path, STREAM))
RETURNS(fprintf, fprintf(STREAM, "%*ld\n", (int)a[2], a[1]))
RETURNS(fflush, fflush(STREAM))

/* What getw gave is no use: whether the stream is in error tells an end from a word. */
CALL(getw, {
    out->result = getw(STREAM);
    out->extra = ferror(STREAM);
})
CALL(fgets, {
    char *line = fgets(buffer, (int)a[1], STREAM);
    out->result = line ? (long)strlen(line) : -1;
})
CALL(fscanf, {
    long before = ftell(STREAM);
    int value;
    out->result = fscanf(STREAM, "%d", &value);
    long after = ftell(STREAM);
    out->extra = before >= 0 && after >= 0 ? after - before : 0;
})

/* Moves of the position: the new one is extra. */
#define MOVES(name, call) CALL(name, out->result = (call); out->extra = ftell(STREAM))
MOVES(fseek, fseek(STREAM, a[1], (int)a[2]))
MOVES(fseeko, fseeko(STREAM, a[1], (int)a[2]))
MOVES(fsetpos, fsetpos(STREAM, &marks[a[0]]))
CALL(fgetpos, out->result = fgetpos(STREAM, &marks[a[0]]))
CALL(rewind, rewind(STREAM); out->result = 0)
