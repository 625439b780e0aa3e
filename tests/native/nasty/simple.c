/* A library that reads and writes files in the plainest way. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static char buffer[1 << 16];

long read_file(const char *path)
{
    long total = 0, n;
    int fd = open(path, O_RDONLY);
    while ((n = read(fd, buffer, 1000)) > 0)
        total += n;
    close(fd);
    return total;
}

long write_file(const char *path, long size)
{
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    long written = write(fd, buffer, (size_t)size);
    close(fd);
    return written;
}

long print_lines(int n)
{
    for (int i = 0; i < n; i++)
        printf("%d\n", i);
    return fflush(stdout);
}

long close_stream(FILE *stream)
{
    return fclose(stream);
}
