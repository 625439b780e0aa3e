/* Calls with a meaning of their own. */
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static char buffer[4096];

static struct aiocb request(int fd, int operation, long offset)
{
    struct aiocb made = {.aio_fildes = fd, .aio_buf = buffer, .aio_nbytes = 100,
                         .aio_offset = offset, .aio_lio_opcode = operation};
    return made;
}

static void await(struct aiocb *submitted)
{
    const struct aiocb *const list[] = {submitted};
    while (aio_error(submitted) == EINPROGRESS)
        aio_suspend(list, 1, NULL);
}

/* One read and one write whose results are fetched `microseconds` after the submission. */
long read_and_write(const char *path, int microseconds)
{
    int fd = open(path, O_RDWR);
    struct aiocb first = request(fd, LIO_NOP, 0), second = request(fd, LIO_NOP, 1000);
    if (aio_read(&first) != 0 || aio_write(&second) != 0)
        return -1;
    usleep((useconds_t)microseconds);
    await(&first), await(&second);
    long moved = aio_return(&first) + aio_return(&second);
    close(fd);
    return moved;
}

/* Results that are never fetched, or only when the descriptor is closed. */
long fetch_too_late(const char *path)
{
    static struct aiocb lost, late;
    int fd = open(path, O_RDWR);
    lost = request(fd, LIO_READ, 0), late = request(fd, LIO_READ, 0);
    aio_read(&lost), aio_read(&late);
    await(&lost), await(&late);
    close(fd);
    return aio_return(&late);
}

long read_list(const char *path)
{
    int fd = open(path, O_RDWR);
    struct aiocb one = request(fd, LIO_READ, 0), two = request(fd, LIO_WRITE, 300);
    struct aiocb none = request(fd, LIO_NOP, 0);
    struct aiocb *list[] = {&one, &two, &none};
    if (lio_listio(LIO_WAIT, list, 3, NULL) != 0)
        return -1;
    long moved = aio_return(&one) + aio_return(&two);
    aio_return(&none);
    close(fd);
    return moved;
}

/* Offset -1 means the descriptor's own position to the kernel. */
long at_no_offset(const char *path)
{
    struct iovec part = {buffer, 100};
    int fd = open(path, O_RDWR);
    lseek(fd, 500, SEEK_SET);
    long moved = pwritev2(fd, &part, 1, -1, 0) + preadv2(fd, &part, 1, -1, 0);
    close(fd);
    return moved;
}

long write_nameless(const char *directory)
{
    int fd = open(directory, O_TMPFILE | O_RDWR, 0600);
    long written = write(fd, buffer, 50);
    close(fd);
    return written;
}

/* Streams that have no file that was seen opened. */
long use_other_streams(void)
{
    int fds[2];
    char line[100];
    FILE *memory = fmemopen(buffer, 100, "w+"), *command = popen("echo text", "r");
    FILE *temporary = tmpfile();
    long moved = fputs("text", memory) > 0 && fgets(line, 100, command) != NULL;
    moved += (long)fwrite(line, 1, 5, temporary);
    fclose(memory), pclose(command), fclose(temporary);
    if (pipe(fds) != 0)
        return -1;
    FILE *from = fdopen(fds[0], "r"), *to = fdopen(fds[1], "w");
    fputs("line\n", to);
    fclose(to);
    moved += fgets(line, 100, from) != NULL;
    fclose(from);
    return moved;
}

/* After fileno, what is written to the descriptor is the stream's. */
long write_beneath_stdout(void)
{
    return write(fileno(stdout), "beneath\n", 8);
}
