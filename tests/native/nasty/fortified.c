/* Compiled with -O2 -D_FORTIFY_SOURCE=2, its calls go to the variants that check sizes. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* Sizes that the compiler cannot know make it check. */
long read_checked(const char *path, size_t size)
{
    char buffer[1000];
    int fd = open(path, O_RDONLY);
    long total = read(fd, buffer, size) + pread(fd, buffer, size, 10);
    close(fd);
    return total;
}

long use_checked_streams(const char *path, size_t size, int lines)
{
    char buffer[1000];
    FILE *stream = fopen(path, "w+");
    long total = 0;
    for (int i = 0; i < lines; i++)
        total += fprintf(stream, "line %d\n", 1000 + i);
    rewind(stream);
    total += (long)fread(buffer, 1, size, stream);
    if (fgets(buffer, (int)size, stream) != NULL)
        total += 10000;
    fclose(stream);
    return total;
}
