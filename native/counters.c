/* See counters.h. The rules restate Darshan's (darshan-posix.c, darshan-stdio.c, darshan-common.c)
 * as behaviour; golden recordings of the real Darshan hold them in place. */
#include "counters.h"

#include <string.h>

static struct value_count *value_at(struct value_set *set, value_room more, uint32_t i)
{
    return i < VALUE_SET_INLINE ? &set->inline_values[i] : &more[i - VALUE_SET_INLINE];
}

const struct value_count *value_set_at(const struct value_set *set, value_room more, uint32_t i)
{
    return i < VALUE_SET_INLINE ? &set->inline_values[i] : &more[i - VALUE_SET_INLINE];
}

/* NOTE: 0 takes a place like any value although it is never shown, and the 33rd distinct value is
 * ignored for ever, however frequent. Both are Darshan's. */
void value_set_add(struct value_set *set, value_room more, int64_t value)
{
    if (set->last < set->n) {
        struct value_count *found = value_at(set, more, set->last);
        if (found->value == value) {
            found->count++;
            return;
        }
    }
    for (uint32_t i = 0; i < set->n; i++) {
        struct value_count *found = value_at(set, more, i);
        if (found->value == value) {
            found->count++;
            set->last = i;
            return;
        }
    }
    if (set->n == VALUE_SET_MAX || (set->n >= VALUE_SET_INLINE && more == NULL))
        return;
    *value_at(set, more, set->n) = (struct value_count){value, 1};
    set->last = set->n++;
}

static bool is_before(struct value_count a, struct value_count b)
{
    return a.count > b.count || (a.count == b.count && a.value > b.value);
}

void value_set_top(const struct value_set *set, value_room more,
                   struct value_count top[COMMON_VALUES])
{
    memset(top, 0, COMMON_VALUES * sizeof(*top));
    for (uint32_t i = 0; i < set->n; i++) {
        struct value_count candidate = *value_set_at(set, more, i);
        if (candidate.value == 0)
            continue;
        for (int place = 0; place < COMMON_VALUES; place++) {
            if (is_before(candidate, top[place])) {
                struct value_count pushed = top[place];
                top[place] = candidate;
                candidate = pushed;
            }
        }
    }
}

int size_bucket(int64_t size)
{
    static const int64_t limits[SIZE_BUCKETS - 1] = {
        100,     1024,     10240,     102400,     1048576,
        4194304, 10485760, 104857600, 1073741824,
    };
    int bucket = 0;
    while (bucket < SIZE_BUCKETS - 1 && size > limits[bucket])
        bucket++;
    return bucket;
}

void timer_add(struct timer *timer, struct span call)
{
    if (call.start == 0 || call.end == 0)
        return;
    timer->total += call.end - (call.start > timer->last_end ? call.start : timer->last_end);
    if (call.end > timer->last_end)
        timer->last_end = call.end;
}

/* The start is the smallest so far, the end that of the call recorded last. */
static void stamp(struct span *stamp, struct span call)
{
    if (stamp->start == 0 || stamp->start > call.start)
        stamp->start = call.start;
    stamp->end = call.end;
}

static void at_least(int64_t *highest, int64_t value)
{
    if (value > *highest)
        *highest = value;
}

void posix_open(struct posix_record *record, int32_t mode, struct span call)
{
    if (mode != 0)
        record->mode = mode;
    record->position = 0;
    record->moved[READING].last_byte = 0;
    record->moved[WRITING].last_byte = 0;
    record->opens++;
    stamp(&record->open_stamp, call);
    timer_add(&record->timers[METADATA_TIMER], call);
}

void posix_dup(struct posix_record *record, struct span call)
{
    record->opens++;
    record->dups++;
    stamp(&record->open_stamp, call);
    timer_add(&record->timers[METADATA_TIMER], call);
}

void posix_fileno(struct posix_record *record, struct span call)
{
    record->opens++;
    record->filenos++;
    stamp(&record->open_stamp, call);
    timer_add(&record->timers[METADATA_TIMER], call);
}

void posix_transfer(struct posix_record *record, enum direction direction, int64_t offset,
                    int64_t size, bool memory_aligned, value_room accesses, value_room strides,
                    struct span call)
{
    struct transfers *moved = &record->moved[direction];
    int64_t last = moved->last_byte;
    int64_t stride = offset > 0 && offset > last && last != 0 ? offset - last - 1 : 0;

    moved->sequential += offset > last;
    moved->consecutive += offset == last + 1;
    moved->last_byte = offset + size - 1;
    record->position = offset + size;
    at_least(&moved->max_byte, offset + size - 1);
    moved->bytes += size;
    moved->calls++;
    moved->sizes[size_bucket(size)]++;
    value_set_add(&record->accesses, accesses, size);
    value_set_add(&record->strides, strides, stride);
    record->memory_not_aligned += !memory_aligned;
    record->file_not_aligned +=
        record->file_alignment > 0 && offset % record->file_alignment != 0;
    record->rw_switches += record->last_direction == (direction == READING ? WRITING : READING);
    record->last_direction = (uint8_t)direction;
    stamp(&moved->stamp, call);
    if (call.end - call.start > moved->max_time) {
        moved->max_time = call.end - call.start;
        moved->max_time_size = size;
    }
    timer_add(&record->timers[direction], call);
}

void posix_seek(struct posix_record *record, int64_t position, struct span call)
{
    record->position = position;
    record->seeks++;
    timer_add(&record->timers[METADATA_TIMER], call);
}

void posix_stat(struct posix_record *record, struct span call)
{
    record->stats++;
    timer_add(&record->timers[METADATA_TIMER], call);
}

/* NOTE: the time is write time, but there is no write timestamp. */
void posix_sync(struct posix_record *record, bool data_only, struct span call)
{
    if (data_only)
        record->fdsyncs++;
    else
        record->fsyncs++;
    timer_add(&record->timers[WRITING], call);
}

void posix_close(struct posix_record *record, struct span call)
{
    record->moved[READING].last_byte = 0;
    record->moved[WRITING].last_byte = 0;
    stamp(&record->close_stamp, call);
    timer_add(&record->timers[METADATA_TIMER], call);
}

void posix_rename_source(struct posix_record *record, struct span call)
{
    record->rename_sources++;
    timer_add(&record->timers[METADATA_TIMER], call);
}

void posix_rename_target(struct posix_record *record, uint64_t source_id)
{
    record->rename_targets++;
    if (record->renamed_from == 0)
        record->renamed_from = source_id;
}

void posix_metadata(struct posix_record *record, struct span call)
{
    timer_add(&record->timers[METADATA_TIMER], call);
}

void stdio_open(struct stdio_record *record, struct span call)
{
    record->position = 0;
    record->opens++;
    stamp(&record->open_stamp, call);
    timer_add(&record->timers[METADATA_TIMER], call);
}

void stdio_fdopen(struct stdio_record *record, struct span call)
{
    record->opens++;
    record->fdopens++;
    stamp(&record->open_stamp, call);
    timer_add(&record->timers[METADATA_TIMER], call);
}

void stdio_transfer(struct stdio_record *record, enum direction direction, int64_t size,
                    struct span call)
{
    struct stdio_transfers *moved = &record->moved[direction];
    at_least(&moved->max_byte, record->position + size - 1);
    record->position += size;
    moved->bytes += size;
    moved->calls++;
    stamp(&moved->stamp, call);
    timer_add(&record->timers[direction], call);
}

/* NOTE: to Darshan a flush is a write of nothing that is counted as a flush, so it too moves the
 * highest byte, as far as the position that a seek has set. */
void stdio_flush(struct stdio_record *record, struct span call)
{
    at_least(&record->moved[WRITING].max_byte, record->position - 1);
    record->flushes++;
    stamp(&record->moved[WRITING].stamp, call);
    timer_add(&record->timers[WRITING], call);
}

void stdio_seek(struct stdio_record *record, int64_t position, struct span call)
{
    record->position = position;
    record->seeks++;
    timer_add(&record->timers[METADATA_TIMER], call);
}

void stdio_close(struct stdio_record *record, struct span call)
{
    stamp(&record->close_stamp, call);
    timer_add(&record->timers[METADATA_TIMER], call);
}

static double seconds(int64_t nanoseconds)
{
    return (double)nanoseconds / 1e9;
}

static int64_t *export_top(int64_t *out, const struct value_set *set, value_room more)
{
    struct value_count top[COMMON_VALUES];
    if (set->n == 0) {
        memset(out, 0, 2 * COMMON_VALUES * sizeof(*out));
        return out + 2 * COMMON_VALUES;
    }
    value_set_top(set, more, top);
    for (int i = 0; i < COMMON_VALUES; i++) {
        out[i] = top[i].value;
        out[COMMON_VALUES + i] = top[i].count;
    }
    return out + 2 * COMMON_VALUES;
}

void posix_export(const struct posix_record *record, const struct value_set *accesses,
                  value_room more_accesses, const struct value_set *strides,
                  value_room more_strides, int64_t counters[POSIX_COUNTERS],
                  double fcounters[POSIX_FCOUNTERS])
{
    const struct transfers *read = &record->moved[READING], *written = &record->moved[WRITING];
    const int64_t head[] = {
        record->opens,          record->filenos,        record->dups,
        read->calls,            written->calls,         record->seeks,
        record->stats,          record->mmaps,          record->fsyncs,
        record->fdsyncs,        record->rename_sources, record->rename_targets,
        (int64_t)record->renamed_from, record->mode,    read->bytes,
        written->bytes,         read->max_byte,         written->max_byte,
        read->consecutive,      written->consecutive,   read->sequential,
        written->sequential,    record->rw_switches,    record->memory_not_aligned,
        DEFAULT_MEMORY_ALIGNMENT, record->file_not_aligned, record->file_alignment,
        read->max_time_size,    written->max_time_size,
    };
    int64_t *out = counters;
    memcpy(out, head, sizeof(head));
    out += sizeof(head) / sizeof(*head);
    memcpy(out, read->sizes, sizeof(read->sizes));
    out += SIZE_BUCKETS;
    memcpy(out, written->sizes, sizeof(written->sizes));
    out += SIZE_BUCKETS;
    out = export_top(out, strides, more_strides);
    out = export_top(out, accesses, more_accesses);
    memset(out, 0, sizeof(int64_t) * (size_t)(counters + POSIX_COUNTERS - out)); /* ranks */

    const int64_t times[POSIX_FCOUNTERS] = { /* none of ranks */
        record->open_stamp.start,  read->stamp.start,    written->stamp.start,
        record->close_stamp.start, record->open_stamp.end, read->stamp.end,
        written->stamp.end,        record->close_stamp.end,
        record->timers[READING].total, record->timers[WRITING].total,
        record->timers[METADATA_TIMER].total, read->max_time, written->max_time,
    };
    for (int i = 0; i < POSIX_FCOUNTERS; i++)
        fcounters[i] = seconds(times[i]);
}

void stdio_export(const struct stdio_record *record, int64_t counters[STDIO_COUNTERS],
                  double fcounters[STDIO_FCOUNTERS])
{
    const struct stdio_transfers *read = &record->moved[READING];
    const struct stdio_transfers *written = &record->moved[WRITING];
    const int64_t head[STDIO_COUNTERS] = {
        record->opens,   record->fdopens, read->calls,    written->calls,    record->seeks,
        record->flushes, written->bytes,  read->bytes,    read->max_byte,    written->max_byte,
    };
    memcpy(counters, head, sizeof(head));
    const int64_t times[STDIO_FCOUNTERS] = { /* none of ranks */
        record->timers[METADATA_TIMER].total, record->timers[WRITING].total,
        record->timers[READING].total,        record->open_stamp.start,
        record->close_stamp.start,            written->stamp.start,
        read->stamp.start,                    record->open_stamp.end,
        record->close_stamp.end,              written->stamp.end,
        read->stamp.end,
    };
    for (int i = 0; i < STDIO_FCOUNTERS; i++)
        fcounters[i] = seconds(times[i]);
}
