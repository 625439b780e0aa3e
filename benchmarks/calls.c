/* The calls that benchmarks/recorder.py times: `run(workload, path, calls)` gives nanoseconds of CPU
 * time a call. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK = 4096, BLOCKS = 256, ITEM = 512 };

struct job {
    const char *path;
    int fd;
    long calls;
};

/* CPU time of all threads, waiting for each other's cache lines and locks included: another load on
 * the machine changes it little. */
static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void *read_blocks(void *argument)
{
    struct job *job = argument;
    char block[BLOCK] __attribute__((aligned(64)));
    for (long i = 0; i < job->calls; i++)
        if (pread(job->fd, block, BLOCK, (i % BLOCKS) * BLOCK) != BLOCK)
            return argument;
    return NULL;
}

static double threads(const char *path, long calls, int n, int shared)
{
    pthread_t ids[8];
    struct job jobs[8];
    char name[4096];
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof(name), "%s%d", path, shared ? 0 : i);
        jobs[i] = (struct job){path, shared && i ? jobs[0].fd : open(name, O_RDONLY), calls};
    }
    double start = now();
    for (int i = 0; i < n; i++)
        pthread_create(&ids[i], NULL, read_blocks, &jobs[i]);
    for (int i = 0; i < n; i++)
        pthread_join(ids[i], NULL);
    double spent = now() - start;
    for (int i = 0; i < (shared ? 1 : n); i++)
        close(jobs[i].fd);
    return spent / (double)(calls * n);
}

double run(const char *workload, const char *path, long calls)
{
    char name[4096], item[ITEM];
    snprintf(name, sizeof(name), "%s0", path);
    if (strcmp(workload, "pread") == 0)
        return threads(path, calls, 1, 0);
    if (strcmp(workload, "pread, two threads, own files") == 0)
        return threads(path, calls, 2, 0);
    if (strcmp(workload, "pread, two threads, one file") == 0)
        return threads(path, calls, 2, 1);
    double start = now();
    if (strcmp(workload, "open+close") == 0) {
        for (long i = 0; i < calls; i++)
            close(open(name, O_RDONLY));
        return (now() - start) / (double)calls;
    }
    FILE *stream = fopen(name, "r");
    start = now();
    for (long i = 0; i < calls; i++) {
        if (strcmp(workload, "fread") == 0 ? fread(item, 1, ITEM, stream) == 0
                                           : fgetc(stream) == EOF)
            rewind(stream);
    }
    double spent = now() - start;
    fclose(stream);
    return spent / (double)calls;
}
