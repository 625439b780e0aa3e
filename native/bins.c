#include "bins.h"

#include <string.h>

void bins_reset(struct bins *bins, int64_t now)
{
    memset(bins->values, 0, (size_t)bins->used * sizeof(*bins->values));
    bins->width = bin_width_at_first;
    bins->first = now / bins->width;
    bins->used = 0;
    bins->from = bins->to = 0;
}

static void double_width(struct bins *bins)
{
    int64_t first = bins->first >> 1;
    int32_t used = 0;
    for (int32_t i = 0; i < bins->used; i++) {
        int32_t place = (int32_t)(((bins->first + i) >> 1) - first);
        int64_t values[BIN_COLUMNS];
        memcpy(values, bins->values[i], sizeof(values));
        memset(bins->values[i], 0, sizeof(values));
        for (int column = 0; column < BIN_COLUMNS; column++)
            bins->values[place][column] += values[column];
        used = place + 1;
    }
    bins->first = first;
    bins->used = used;
    bins->width *= 2;
    bins->from = bins->to = 0;
}

/* The place of a time that is not before the first bin, widening the bins until it has one. */
static int32_t place_of(struct bins *bins, int64_t time)
{
    if (time >= bins->from && time < bins->to)
        return bins->last;
    int64_t place;
    while ((place = time / bins->width - bins->first) >= BINS_MAX)
        double_width(bins);
    bins->last = (int32_t)place;
    bins->from = (bins->first + place) * bins->width;
    bins->to = bins->from + bins->width;
    if (place >= bins->used)
        bins->used = (int32_t)place + 1;
    return bins->last;
}

static void add(struct bins *bins, int column, int64_t calls, int spread, int64_t bytes,
                struct span call)
{
    int64_t floor = bins->first * bins->width;
    int64_t start = call.start > floor ? call.start : floor;
    int64_t end = call.end > start ? call.end : start;
    int32_t last = place_of(bins, end);
    bins->values[last][column] += calls;
    if (start >= bins->from) {
        bins->values[last][BIN_CALL_TIME] += end - start;
        if (bytes > 0)
            bins->values[last][spread] += bytes;
        return;
    }
    int32_t first = place_of(bins, start);
    int64_t given = 0;
    for (int32_t i = first; i <= last; i++) {
        int64_t bin_end = (bins->first + i + 1) * bins->width;
        int64_t until = bin_end < end ? bin_end : end;
        int64_t from = bin_end - bins->width > start ? bin_end - bins->width : start;
        /* shares of the whole, so that rounding never loses a byte */
        double share = (double)(until - start) / (double)(end - start);
        int64_t due = i == last ? bytes : (int64_t)((double)bytes * share);
        if (bytes > 0)
            bins->values[i][spread] += due - given;
        bins->values[i][BIN_CALL_TIME] += until - from;
        given = due;
    }
}

void bins_transfer(struct bins *bins, enum direction direction, int64_t bytes, struct span call)
{
    add(bins, BIN_CALLS + (int)direction, 1, BIN_BYTES + (int)direction, bytes, call);
}

void bins_metadata(struct bins *bins, bool counted, struct span call)
{
    add(bins, BIN_METADATA_CALLS, counted, BIN_BYTES, 0, call);
}

static void double_idle(double idle[BINS_MAX], int64_t first)
{
    double wide[BINS_MAX];
    for (int i = 0; i < BINS_MAX; i++)
        wide[i] = 1.0;
    for (int i = 0; i < BINS_MAX; i++) {
        int64_t place = ((first + i) >> 1) - (first >> 1);
        wide[place] -= (1.0 - idle[i]) / 2.0;
    }
    memcpy(idle, wide, sizeof(wide));
}

/* NOTE: `from` may be narrower or wider than `into`, and begin earlier or later. */
void bins_merge(struct bins *into, double idle[BINS_MAX], const struct bins *from)
{
    if (from->used == 0)
        return;
    while (into->width < from->width) {
        double_idle(idle, into->first);
        double_width(into);
    }
    int64_t ratio = into->width / from->width;
    int64_t end = from->first + from->used;
    while (end / ratio - into->first >= BINS_MAX) {
        double_idle(idle, into->first);
        double_width(into);
        ratio *= 2;
    }
    int64_t busy[BINS_MAX] = {0};
    for (int32_t i = 0; i < from->used; i++) {
        int64_t place = (from->first + i) / ratio - into->first;
        if (place < 0)
            place = 0;
        for (int column = 0; column < BIN_COLUMNS; column++)
            into->values[place][column] += from->values[i][column];
        busy[place] += from->values[i][BIN_CALL_TIME];
        if (place >= into->used)
            into->used = (int32_t)place + 1;
    }
    for (int32_t i = 0; i < into->used; i++) {
        double share = (double)busy[i] / (double)into->width;
        idle[i] *= share < 1.0 ? 1.0 - share : 0.0;
    }
}
