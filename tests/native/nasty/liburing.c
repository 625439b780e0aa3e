/* Stands for liburing: what is counted is that a ring was asked for. */
int io_uring_queue_init(unsigned entries, void *ring, unsigned flags)
{
    (void)ring, (void)flags;
    return entries ? 0 : -22;
}

int io_uring_queue_init_params(unsigned entries, void *ring, void *parameters)
{
    (void)ring, (void)parameters;
    return entries ? 0 : -22;
}
