/* Wrappers of calls that copy within the kernel: a read of one file and a write of another. */
#include "wrap.h"

struct side {
    struct slot *slot; /* NULL: not tracked, as a pipe or a socket */
    int64_t offset;
};

static struct side side_of(uint32_t serial, int fd, const off_t *offset)
{
    struct slot *slot = serial ? table_descriptor(&recorder.table, fd) : NULL;
    return (struct side){slot, offset ? *offset : FROM_POSITION};
}

/* The call's time is read time of the one and write time of the other; no memory takes part. */
static void report_copy(struct report report, struct side in, struct side out, ssize_t moved)
{
    if (moved >= 0 && in.slot != NULL)
        report_transfer(report, in.slot, READING, in.offset, moved, true);
    if (moved >= 0 && out.slot != NULL)
        report_transfer(report, out.slot, WRITING, out.offset, moved, true);
}

#define COPY(name, parameters, arguments, in_offset, out_offset)                                   \
    ssize_t hook_##name parameters                                                                 \
    {                                                                                              \
        struct report report = {.serial = recording()};                                            \
        struct side in = side_of(report.serial, from, in_offset);                                  \
        struct side out = side_of(report.serial, to, out_offset);                                  \
        if (in.slot == NULL && out.slot == NULL)                                                   \
            return real.name arguments;                                                            \
        ssize_t moved = TIMED(report, real.name arguments);                                        \
        report_copy(report, in, out, moved);                                                       \
        return moved;                                                                              \
    }
COPY(copy_file_range,
     (int from, off_t *from_at, int to, off_t *to_at, size_t size, unsigned flags),
     (from, from_at, to, to_at, size, flags), from_at, to_at)
COPY(splice, (int from, off_t *from_at, int to, off_t *to_at, size_t size, unsigned flags),
     (from, from_at, to, to_at, size, flags), from_at, to_at)
COPY(sendfile, (int to, int from, off_t *from_at, size_t size), (to, from, from_at, size), from_at,
     NULL)
COPY(sendfile64, (int to, int from, off_t *from_at, size_t size), (to, from, from_at, size),
     from_at, NULL)
