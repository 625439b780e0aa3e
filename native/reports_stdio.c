/* What a call on a stream does to the recording; see recorder.h. */
#include <fcntl.h>

#include "report.h"

void report_stream_open(struct report report, FILE *stream, const char *path)
{
    struct entry entry = enter(report.serial);
    if (entry.shard == NULL)
        return;
    struct slot *slot = slot_of(STDIO_MODULE, AT_FDCWD, path, true);
    table_map_stream(&recorder.table, stream, slot);
    if (slot != NULL) {
        lock_slot(slot);
        stdio_open(&slot->stdio, report.call);
        unlock_slot(slot);
        bin_call(entry, STDIO_MODULE, true, report.call);
    }
    leave(entry);
}

void report_stream_fdopen(struct report report, FILE *stream, int fd)
{
    struct entry entry = enter(report.serial);
    if (entry.shard == NULL)
        return;
    const struct slot *opened = table_descriptor(&recorder.table, fd);
    struct slot *slot =
        opened ? table_slot(&recorder.table, opened->file, STDIO_MODULE) : NULL;
    table_map_stream(&recorder.table, stream, slot);
    if (slot != NULL) {
        lock_slot(slot);
        stdio_fdopen(&slot->stdio, report.call);
        unlock_slot(slot);
        bin_call(entry, STDIO_MODULE, true, report.call);
    }
    leave(entry);
}

void report_stream_fileno(struct report report, FILE *stream, int fd)
{
    struct entry entry = enter(report.serial);
    if (entry.shard == NULL)
        return;
    const struct slot *opened = table_stream(&recorder.table, stream);
    struct slot *slot =
        opened ? table_slot(&recorder.table, opened->file, POSIX_MODULE) : NULL;
    if (slot != NULL) {
        table_map_descriptor(&recorder.table, fd, slot);
        lock_slot(slot);
        posix_fileno(&slot->posix, report.call);
        unlock_slot(slot);
        bin_call(entry, POSIX_MODULE, true, report.call);
    }
    leave(entry);
}

void report_stream_transfer(struct report report, struct slot *slot, enum direction direction,
                            int64_t size)
{
    struct entry entry = enter(report.serial);
    if (entry.shard == NULL)
        return;
    lock_slot(slot);
    stdio_transfer(&slot->stdio, direction, size, report.call);
    unlock_slot(slot);
    bin_transfer(entry, STDIO_MODULE, direction, size, report.call);
    leave(entry);
}

void report_stream_flush(struct report report, struct slot *slot)
{
    REPORT(STDIO_MODULE, stdio, false, stdio_flush(record, report.call));
}

void report_stream_seek(struct report report, struct slot *slot, int64_t position)
{
    REPORT(STDIO_MODULE, stdio, true, stdio_seek(record, position, report.call));
}

void report_stream_close(struct report report, struct slot *slot)
{
    REPORT(STDIO_MODULE, stdio, false, stdio_close(record, report.call));
}

void report_standard_streams(void)
{
    static const char *const names[STANDARD_STREAMS] = {"<STDIN>", "<STDOUT>", "<STDERR>"};
    FILE *const streams[] = {stdin, stdout, stderr};
    for (int i = 0; i < STANDARD_STREAMS; i++) {
        struct slot *slot = slot_of(STDIO_MODULE, AT_FDCWD, names[i], true);
        if (slot == NULL)
            continue;
        slot->stdio.opens = 1;
        table_map_stream(&recorder.table, streams[i], slot);
    }
}
