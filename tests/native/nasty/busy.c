/* Threads that go on reading, and handlers that write, until told to stop. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>

enum { THREADS = 4 };

static pthread_t threads[THREADS];
static atomic_bool stopping;
static atomic_long reads;
static const char *path;

static void *read_on(void *unused)
{
    char buffer[512];
    while (!atomic_load(&stopping)) {
        int fd = open(path, O_RDONLY);
        for (int i = 0; i < 20; i++)
            if (pread(fd, buffer, sizeof(buffer), 0) == sizeof(buffer))
                atomic_fetch_add(&reads, 1);
        close(fd);
    }
    return unused;
}

void start_threads(const char *file)
{
    static char copy[4096];
    snprintf(copy, sizeof(copy), "%s", file);
    path = copy;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, read_on, NULL);
}

long stop_threads(void)
{
    atomic_store(&stopping, 1);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return atomic_load(&reads);
}

static int log_fd;
static atomic_long handled;

static void on_signal(int number)
{
    (void)number;
    if (write(log_fd, "x", 1) == 1)
        atomic_fetch_add(&handled, 1);
}

void start_signals(const char *file, int microseconds)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, microseconds}, {0, microseconds}};
    log_fd = open(file, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
}

/* Returns how often the handler wrote. */
long stop_signals(void)
{
    struct itimerval never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &never, NULL);
    return atomic_load(&handled);
}

long read_often(const char *file, long n)
{
    char buffer[64];
    long total = 0;
    int fd = open(file, O_RDONLY);
    for (long i = 0; i < n; i++)
        total += pread(fd, buffer, sizeof(buffer), 0);
    close(fd);
    return total;
}
