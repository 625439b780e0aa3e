/* A program's library that sets up io_uring. */
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int io_uring_queue_init(unsigned entries, void *ring, unsigned flags);
int io_uring_queue_init_params(unsigned entries, void *ring, void *parameters);

long set_up(unsigned entries)
{
    char ring[1024], parameters[1024];
    int first = io_uring_queue_init(entries, ring, 0);
    int second = io_uring_queue_init_params(entries, ring, parameters);
    return first == 0 && second == 0 ? 0 : -1;
}

/* Without a library; returns the descriptor or -1. */
long set_up_directly(void)
{
    char parameters[120];
    memset(parameters, 0, sizeof(parameters));
    return syscall(SYS_io_uring_setup, 4, parameters);
}
